"""The demo from start to end: for seconds, to see that every part is there; at full length, to see that it is true."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seq2see.demo import Plan, find, train_both, untrained
from seq2see.demo.corpus import write_test
from seq2see.demo.parallel import Listener, News, Note
from seq2see.demo.plan import FAMILIES, claim
from seq2see.errors import RunError
from seq2see.training import folder

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "80"}
# The verb itself, as the command line calls it.
VERB = "import typer; from seq2see.cli.demo import demo; typer.run(demo)"
SHORT = ("--seconds", "2", "--pairs", "400")
Short = tuple[Path, "subprocess.CompletedProcess[str]"]  # where it is, and what was said


def command(out: Path, *words: str) -> list[str]:
    return [sys.executable, "-c", VERB, "--out", str(out), *words]


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Short:
    out = tmp_path_factory.mktemp("demo") / "runs" / "demo"
    done = subprocess.run(command(out, *SHORT), env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out, done


def test_every_part_is_shown(short: Short) -> None:
    out, done = short
    told = done.stdout
    for part in (
        "BLEU by length: words of the reference",
        "25 words and more (240 sentences): BLEU",
        "A typical long sentence",
        "What rnnsearch looked at",
        "★ most of its row",
        "Try next",
        f"seq2see compare {out / 'rnn'} {out / 'rnnsearch'} {out / 'test.tsv'}",
    ):
        assert part in told
    for row in ("1-8", "9-16", "17-24", "25-32", "33+"):
        assert re.search(rf"^ *{re.escape(row)} +120 ", told, flags=re.MULTILINE)
    for family in FAMILIES:
        assert re.search(rf"^{family} ", told, flags=re.MULTILINE)
    assert re.search(r"[\uac00-\ud7a3]", told), "a Korean sentence is shown"


def test_progress_of_both_goes_to_stderr(short: Short) -> None:
    _, done = short
    assert re.search(r"rnn \d+/\d+ loss \d.*rnnsearch \d+/\d+ loss \d", done.stderr)
    assert "tokens/s" not in done.stdout
    assert "Traceback" not in done.stderr


def test_two_runs_and_a_report_are_left(short: Short) -> None:
    out, _ = short
    for family in FAMILIES:
        run = folder.load_run(out / family)
        assert run.config.model["family"] == family
        assert run.config.training.threads == 1
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "With and without attention" in page
    assert "25 words and more" in page


def test_the_same_command_shows_it_again_without_training(
    short: Short,
) -> None:
    out, first = short
    before = {path: path.stat().st_mtime_ns for path in out.glob("*/*") if path.is_file()}
    again = subprocess.run(command(out, *SHORT), env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert again.stdout == first.stdout
    assert "training" not in again.stderr
    assert {path: path.stat().st_mtime_ns for path in out.glob("*/*") if path.is_file()} == before


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for_updates(out: Path, process: "subprocess.Popen[str]") -> None:
    metrics = [out / family / "metrics.jsonl" for family in FAMILIES]
    for _ in range(6000):
        if process.poll() is not None:
            raise AssertionError(process.stderr.read() if process.stderr else "ended")
        if all(path.exists() and path.stat().st_size for path in metrics):
            return
        time.sleep(0.05)
    raise AssertionError("training makes no updates")


def test_ctrl_c_stops_both_and_the_same_command_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    words = ("--seconds", "20", "--pairs", "400")
    process = subprocess.Popen(
        command(out, *words), env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for_updates(out, process)
    started = children(process.pid)
    assert len(started) >= 2
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all of them
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert not [child for child in started if Path(f"/proc/{child}").exists()]
    plan = Plan(out, 20.0, 1, 400)
    assert untrained(plan) == list(FAMILIES)
    for family in FAMILIES:
        assert len(list((out / family / "checkpoints").glob("step-*"))) == 1
    claim(plan)
    heard: dict[str, list[int]] = {family: [] for family in FAMILIES}
    with pytest.raises(InterruptedError):
        train_both(plan, _until_updates(heard))
    for family in FAMILIES:
        assert heard[family][0] > 1, "goes on from its checkpoint"


def _until_updates(heard: dict[str, list[int]]) -> Listener:
    def listen(family: str, said: News | Note) -> None:
        if isinstance(said, News):
            heard[family].append(said.step)
        if all(heard.values()):
            raise InterruptedError

    return listen


def test_a_training_that_fails_is_said_in_one_line_and_the_other_is_stopped(tmp_path: Path) -> None:
    plan = Plan(tmp_path / "demo", seconds=60.0, pairs=400)
    claim(plan)  # and no pairs.tsv
    with pytest.raises(RunError, match=r"^rnn(search)?: .*pairs\.tsv"):
        train_both(plan, lambda family, said: None)
    assert not list(plan.out.glob("*/.lock"))


def test_what_was_killed_before_it_began_is_swept_up(tmp_path: Path) -> None:
    plan = Plan(tmp_path / "demo", seconds=60.0, pairs=400)
    claim(plan)
    for family in FAMILIES:
        plan.run(family).mkdir()
        (plan.run(family) / folder.TOKENIZERS[0]).write_text("{")
    with pytest.raises(RunError, match=r"pairs\.tsv"):  # and not: the folder is not empty
        train_both(plan, lambda family, said: None)


@pytest.mark.slow
def test_attention_is_worth_thirty_bleu_on_long_sentences(tmp_path: Path) -> None:
    plan = Plan(tmp_path / "demo")
    began = time.monotonic()
    done = subprocess.run(command(plan.out), env=ENVIRONMENT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    print(f"{time.monotonic() - began:.0f} s\n{done.stdout}")
    without, with_, between = (found := find(plan, write_test(plan))).long
    assert between.difference is not None
    assert without.score is not None
    assert with_.score is not None
    assert between.difference >= 30
    lengths = found.comparison.by_length
    falls = [row.score or 0.0 for row in lengths.a.rows]
    stays = [row.score or 0.0 for row in lengths.b.rows]
    assert falls[-1] < 0.6 * falls[0], "without attention quality falls with length"
    assert stays[-1] > 0.75 * max(stays), "with attention it stays"
