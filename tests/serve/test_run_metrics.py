"""Learning curves while they grow: tails that survive resume and half lines, columns of least, mean and largest."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see import atomic
from seq2see.runs.config import METRICS, VALIDATION_MAPS
from seq2see.runs.evaluations import keep_evaluation, read_evaluations
from seq2see.serve.api.run_metrics import (
    COLUMNS,
    RunStates,
    UpdateLine,
    decimate,
    metrics_answer,
    read_metrics,
    stored_evaluations,
    stored_maps,
    watched_runs,
)


def update(step: int, loss: float = 1.0) -> dict[str, Any]:
    return {"step": step, "epoch": step // 10, "loss": loss, "positions": 7, "rate": 0.1, "norm": 2.0, "seconds": 0.5}


def validation(step: int, loss: float) -> dict[str, Any]:
    scores = {"loss": loss, "bleu": 10.0 - loss}
    return {"step": step, "elapsed": 1.5 * step, "validation": scores, "samples": [["가", "A", "B"]]}


def append(run: Path, *entries: dict[str, Any], end: str = "\n") -> None:
    with (run / METRICS).open("a", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, entries)) + end)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "runs" / "a")


def make_folder(path: Path, **data: str) -> Path:
    path.mkdir(parents=True)
    atomic.write_json(path / "config.json", {"version": 1, "model": {"family": "rnnsearch"}, "data": data})
    return path


def test_a_tail_goes_on_where_it_stopped(run: Path) -> None:
    assert metrics_answer(run, 0, None, 10)["updates"] == []
    append(run, update(1), update(2))
    first = metrics_answer(run, 0, None, 10)
    assert [row[0] for row in first["updates"]] == [1, 2]
    assert first["columns"] == list(COLUMNS)
    append(run, update(3), validation(3, 0.5))
    second = metrics_answer(run, first["next"], first["inode"], 10)
    assert [row[0] for row in second["updates"]] == [3]
    assert second["validations"] == [validation(3, 0.5)]
    assert not second["reset"]
    third = metrics_answer(run, second["next"], second["inode"], 10)
    assert (third["updates"], third["validations"], third["next"]) == ([], [], second["next"])


def test_half_a_line_is_read_when_it_is_whole(run: Path) -> None:
    append(run, update(1))
    whole = json.dumps(update(2))
    for cut in range(len(whole)):
        (run / METRICS).write_text(json.dumps(update(1)) + "\n" + whole[:cut])
        tail = read_metrics(run, 0, None)
        assert [line.step for line in tail.updates] == [1]
        (run / METRICS).write_text(json.dumps(update(1)) + "\n" + whole + "\n")
        assert [line.step for line in read_metrics(run, tail.next, None).updates] == [2]


def test_a_file_that_was_replaced_on_resume_is_read_anew(run: Path) -> None:
    append(run, *(update(step) for step in range(1, 9)))
    before = metrics_answer(run, 0, None, 100)
    kept = "".join(json.dumps(update(step, 2.0)) + "\n" for step in range(1, 5))
    atomic.write_file(run / METRICS, kept.encode())  # as training does it: another inode, shorter
    after = metrics_answer(run, before["next"], before["inode"], 100)
    assert after["reset"]
    assert [row[0] for row in after["updates"]] == [1, 2, 3, 4]
    append(run, *(update(step, 2.0) for step in range(5, 20)))
    longer = metrics_answer(run, before["next"], before["inode"], 100)  # longer than before, but another file
    assert longer["reset"]
    assert [row[0] for row in longer["updates"]] == list(range(1, 20))


def test_a_file_that_was_cut_is_read_anew_without_its_inode(run: Path) -> None:
    append(run, update(1), update(2))
    before = metrics_answer(run, 0, None, 10)
    os.truncate(run / METRICS, 0)
    append(run, update(9))
    after = metrics_answer(run, before["next"], None, 10)
    assert after["reset"]
    assert [row[0] for row in after["updates"]] == [9]


@given(st.integers(1, 400), st.integers(1, 50), st.randoms(use_true_random=False))
def test_columns_hold_least_mean_and_largest_of_every_update(count: int, points: int, chance: Any) -> None:
    losses = [round(chance.uniform(0, 9), 4) for _ in range(count)]
    updates = [UpdateLine._make(update(step, loss).values()) for step, loss in enumerate(losses, start=1)]
    rows = decimate(updates, points)
    assert len(rows) <= points
    assert rows[-1][0] == count
    named = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    assert min(row["loss_min"] for row in named) == min(losses)
    assert max(row["loss_max"] for row in named) == max(losses)
    assert sum(row["positions"] for row in named) == 7 * count
    sizes = [row["positions"] / 7 for row in named]
    mean = sum(row["loss_mean"] * size for row, size in zip(named, sizes, strict=True)) / count
    assert mean == pytest.approx(sum(losses) / count, rel=1e-4)


def test_lines_that_nobody_wrote_so_are_left_out(run: Path) -> None:
    lines = [b"\xff\xfe", b"[]", b"3", b'{"step": "x"}', b'{"step": -1, "loss": 1}', b"[" * 50_000, b'{"step": 1}']
    huge = json.dumps(update(7, 10**400)).encode()  # type: ignore[arg-type]
    (run / METRICS).write_bytes(b"\n".join([*lines, huge, json.dumps(update(5)).encode()]) + b"\n")
    answer = metrics_answer(run, 0, None, 10)
    assert [row[0] for row in answer["updates"]] == [5]


def test_numbers_that_json_lacks_are_null(run: Path) -> None:
    append(run, update(1, float("nan")), update(2, float("inf")), validation(2, float("inf")))
    answer = metrics_answer(run, 0, None, 1)
    assert answer["updates"][0][:4] == [2, None, None, None]
    assert answer["validations"][0]["validation"]["loss"] is None
    json.dumps(answer, allow_nan=False)


@pytest.mark.parametrize(
    ("training", "planned"),
    [
        ({"steps": 500, "time_limit": None}, {"steps": 500, "seconds": None}),
        ({"time_limit": 1800.0}, {"steps": None, "seconds": 1800.0}),
        ({"steps": "x", "time_limit": float("nan")}, {"steps": None, "seconds": None}),
        ([], {"steps": None, "seconds": None}),
    ],
)
def test_when_training_ends_is_told_as_far_as_its_settings_say(run: Path, training: Any, planned: Any) -> None:
    (run / "config.json").write_text(json.dumps({"model": {"family": "rnn"}, "training": training}))
    assert metrics_answer(run, 0, None, 10)["planned"] == planned


def test_states_follow_a_run_and_its_resume(run: Path) -> None:
    states = RunStates()
    assert states.state(run).step == 0  # type: ignore[union-attr]
    append(run, update(1), validation(1, 0.7), update(2), validation(2, 0.4), update(3), validation(3, 0.6))
    state = states.state(run)
    assert state is not None
    assert (state.family, state.kind, state.finished, state.step) == ("rnnsearch", "text", False, 3)
    assert state.best == {"step": 2, "loss": 0.4, "bleu": 9.6}
    atomic.write_file(run / METRICS, b"")
    append(run, update(1), validation(1, 0.7))
    resumed = states.state(run)
    assert resumed is not None
    assert (resumed.step, resumed.best and resumed.best["step"]) == (1, 1)
    (run / "manifest.json").write_text("{}")
    assert states.state(run).finished  # type: ignore[union-attr]
    (run / "config.json").write_text("[]")
    assert states.state(run) is None


def test_runs_below_a_watched_folder_are_found_by_their_paths(tmp_path: Path, run: Path) -> None:
    make_folder(tmp_path / "runs" / "b" / "c")
    make_folder(tmp_path / "runs" / "b" / "c" / "checkpoints" / "x")  # inside a run: none of its own
    make_folder(tmp_path / "runs" / ".hidden")
    make_folder(tmp_path / "runs" / "too" / "far" / "below" / "here" / "d")
    (tmp_path / "runs" / "loop").symlink_to(tmp_path / "runs")
    found = watched_runs([tmp_path / "runs", tmp_path / "nowhere"])
    assert found == {"a": run, "b/c": tmp_path / "runs" / "b" / "c"}
    assert watched_runs([run]) == {"a": run}
    other = make_folder(tmp_path / "others" / "a")
    both = [tmp_path / "runs", tmp_path / "others"]
    assert watched_runs(both, {"a": run}) == {"b/c": tmp_path / "runs" / "b" / "c", "others/a": other}
    assert watched_runs(both)["others/a"] == other


def test_maps_are_served_as_training_packed_them(run: Path) -> None:
    assert stored_maps(run) == []
    kept = [{"step": step, "number": step, "every": 1, "source": "a", "map": {"cells": []}} for step in (1, 2)]
    (run / VALIDATION_MAPS).write_text("".join(json.dumps(entry) + "\n" for entry in kept) + '{"step": 3, "ma')
    assert stored_maps(run) == kept


def test_evaluations_are_kept_by_their_test_set_the_newest_first(run: Path) -> None:
    assert stored_evaluations(run) == []
    for place, (test, score) in enumerate((("a.tsv", 1.0), ("b.tsv", 2.0), ("a.tsv", 3.0))):
        path = keep_evaluation(run, {"test": test, "score": score})
        os.utime(path, ns=(place, place))
    assert stored_evaluations(run) == [{"test": "a.tsv", "score": 3.0}, {"test": "b.tsv", "score": 2.0}]
    (run / "evaluations" / "x.json").write_text("{")
    assert len(read_evaluations(run)) == 2
