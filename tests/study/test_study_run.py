"""Whole studies of a few updates: trained, killed, gone on with, and drawn from results.json alone."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from small_studies import CELLS, SMALL, run, table_without_clocks, without_clocks, write_study

from seq2see.errors import ConfigError, RunError, Seq2SeeError
from seq2see.runs.folder import load_run
from seq2see.study.plan import plan_study
from seq2see.study.running import draw_again

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was run once, two cells at a time."""
    folder = tmp_path_factory.mktemp("study")
    end = run(write_study(folder), folder / "out")
    assert not end.failures
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "study"))


def weights(out: Path) -> dict[str, bytes]:
    return {name: (out / "cells" / name / WEIGHTS).read_bytes() for name in CELLS}


def test_every_cell_is_an_ordinary_run(finished: Path) -> None:
    for name in CELLS:
        config = load_run(finished / "out" / "cells" / name).config
        assert config.training.steps == 6
        assert config.training.threads == 1
        assert name.startswith(str(config.model["attention"]["score"]))


def test_the_table_has_all_that_is_known(finished: Path) -> None:
    table = (finished / "out" / "table.md").read_text()
    assert "# Small" in table
    assert "4 of 4 cells, each with a budget of 6 updates." in table
    for column in ("parameters", "updates", "CER", "95 % interval", "seeds from to", "to baseline", "p |", "peak MB"):
        assert column in table
    assert "| general | 2 |" in table
    assert "## CER by length: words of the source (lower is better): validation" in table
    page = (finished / "out" / "report.html").read_text()
    for part in ("Small", "against CPU minutes", "general-seed1", "dot-seed2"):
        assert part in page


def test_results_are_small(finished: Path) -> None:
    assert (finished / "out" / "results.json").stat().st_size < 10_000


def test_two_at_once_give_the_same_bytes_as_one_by_one(finished: Path, tmp_path: Path) -> None:
    run(finished / "small.toml", tmp_path / "alone", jobs=1)
    assert weights(tmp_path / "alone") == weights(finished / "out")
    assert without_clocks(tmp_path / "alone") == without_clocks(finished / "out")
    assert table_without_clocks(tmp_path / "alone") == table_without_clocks(finished / "out")


def test_nothing_is_trained_twice(copied: Path) -> None:
    files = [copied / "out" / "cells" / name / WEIGHTS for name in CELLS]
    before = [path.stat().st_mtime_ns for path in files]
    run(copied / "small.toml", copied / "out")
    assert [path.stat().st_mtime_ns for path in files] == before


def test_what_stands_in_the_results_is_done_without_its_run(copied: Path) -> None:
    shutil.rmtree(copied / "out" / "cells")
    before = (copied / "out" / "results.json").read_bytes()
    run(copied / "small.toml", copied / "out")
    assert not (copied / "out" / "cells").exists()
    assert (copied / "out" / "results.json").read_bytes() == before


def test_committed_results_beside_the_file_count(copied: Path) -> None:
    (copied / "small").mkdir()
    (copied / "out" / "results.json").rename(copied / "small" / "results.json")
    plan = plan_study(copied / "small.toml", copied / "elsewhere")
    assert plan.count("done", test=False) == len(CELLS)
    run(copied / "small.toml", copied / "elsewhere")
    assert not (copied / "elsewhere" / "cells").exists()
    assert table_without_clocks(copied / "elsewhere") == table_without_clocks(copied / "out")


def test_a_study_that_grows_trains_only_what_is_new(copied: Path) -> None:
    text = SMALL + 'cosine = { model.attention.score = "cosine" }\n'
    write_study(copied, text)
    before = weights(copied / "out")
    plan = plan_study(copied / "small.toml", copied / "out")
    assert (plan.count("done", test=False), plan.count("waiting", test=False)) == (4, 2)
    run(copied / "small.toml", copied / "out")
    assert weights(copied / "out") == before
    assert "| cosine | 2 |" in (copied / "out" / "table.md").read_text()


def test_a_folder_of_other_settings_is_not_touched(copied: Path) -> None:
    (copied / "out" / "results.json").unlink()
    write_study(copied, SMALL.replace("warmup = 2", "warmup = 3"))
    before = weights(copied / "out")
    with pytest.raises(RunError, match="general-seed1: was trained with other settings"):
        run(copied / "small.toml", copied / "out")
    assert weights(copied / "out") == before


def test_a_failing_cell_is_named_and_the_rest_go_on(tmp_path: Path) -> None:
    """Its loss leaves the range of its type after some updates."""
    text = SMALL.replace("seeds = [1, 2]", "seeds = [1]")
    text += "wild = { training = { learning_rate = 1e30, clip = 1e30, warmup = 0 } }\n"
    end = run(write_study(tmp_path, text), tmp_path / "out")
    assert list(end.failures) == ["wild-seed1"]
    assert "\n" not in end.failures["wild-seed1"]
    table = (tmp_path / "out" / "table.md").read_text()
    assert "2 of 3 cells" in table
    assert "1 are not trained yet" in table


def test_test_sets_wait_for_the_end(copied: Path) -> None:
    text = SMALL.replace("[axes.score]", '[base.test]\nheld = ["builtin:copy"]\n\n[axes.score]')
    write_study(copied, text)
    run(copied / "small.toml", copied / "out")
    assert "Scores: held" not in (copied / "out" / "table.md").read_text()
    before = weights(copied / "out")
    run(copied / "small.toml", copied / "out", test=True)
    table = (copied / "out" / "table.md").read_text()
    assert "Scores: held" in table
    assert "Scores: validation" in table
    assert weights(copied / "out") == before
    with pytest.raises(ConfigError, match="names no test sets"):
        run(write_study(copied), copied / "out", test=True)


def test_a_test_set_that_was_never_scored_needs_its_run_again(copied: Path) -> None:
    text = SMALL.replace("[axes.score]", '[base.test]\nheld = ["builtin:copy"]\n\n[axes.score]')
    shutil.rmtree(copied / "out" / "cells")
    plan = plan_study(write_study(copied, text), copied / "out")
    assert plan.count("done", test=False) == len(CELLS)
    assert plan.count("waiting", test=True) == len(CELLS)


def test_tables_are_drawn_from_the_results_alone(copied: Path) -> None:
    draw_again(copied / "out" / "results.json", copied / "drawn", "")
    assert (copied / "drawn" / "table.md").read_bytes() == (copied / "out" / "table.md").read_bytes()
    with pytest.raises(RunError, match="no results yet"):
        draw_again(copied / "none.json", copied / "drawn", "")


@pytest.mark.parametrize("content", ["[]", "{}", '{"version": 9}', '{"version": 1, "cells": 3}', "x"])
def test_results_that_are_none_are_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(RunError, match=r"results\.json"):
        draw_again(tmp_path / "results.json", tmp_path, "")


def test_damaged_counts_are_one_line(copied: Path) -> None:
    path = copied / "out" / "results.json"
    saved = json.loads(path.read_text())
    saved["cells"][0]["scores"]["validation"]["counts"]["cer"]["data"] = "eA=="
    path.write_text(json.dumps(saved))
    with pytest.raises(RunError, match="are damaged"):
        draw_again(path, copied / "drawn", "")


# ----- killed


def _child(path: Path, out: Path) -> None:
    os.setpgid(0, 0)
    for _ in range(20):  # the cells of the study that was killed let go of its lock when they notice
        try:
            run(path, out)
            return
        except Seq2SeeError as error:
            if "another" not in str(error):
                raise
            time.sleep(0.2)
    raise AssertionError("the lock of a study that was killed is held on")


def _killed_at_random(path: Path, out: Path, kills: int) -> int:
    """How often it was killed before it was done."""
    draw = random.Random(7)
    for number in range(kills + 1):
        process = multiprocessing.get_context("fork").Process(target=_child, args=(path, out))
        process.start()
        process.join(draw.uniform(0.2, 2.5) if number < kills else 120)
        if process.exitcode is not None:
            assert process.exitcode == 0
            return number
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    raise AssertionError("it never came to its end")


def test_a_study_that_is_killed_again_and_again_ends_with_the_same_table(finished: Path, tmp_path: Path) -> None:
    _killed_at_random(finished / "small.toml", tmp_path / "out", 10)
    assert weights(tmp_path / "out") == weights(finished / "out")
    assert without_clocks(tmp_path / "out") == without_clocks(finished / "out")
    assert table_without_clocks(tmp_path / "out") == table_without_clocks(finished / "out")
