"""What lessons train and measure: once, resumed where it was stopped, made anew where it is damaged."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from seq2see.errors import RunError
from seq2see.learn.lessons.memory import recall_pairs, recall_settings
from seq2see.learn.workshop import LessonReporter, Workshop
from seq2see.runs import folder
from seq2see.session.loading import load

SETTINGS = recall_settings("gru", quick=True)
PAIRS = recall_pairs(200, seed=1)


def steps_of(monkeypatch: pytest.MonkeyPatch, stop_at: int | None) -> list[int]:
    """The updates that are made from here on; at one of them somebody presses Ctrl-C."""
    steps: list[int] = []

    def update(self: LessonReporter, update: Any, progress: Any) -> None:
        steps.append(update.step)
        if update.step == stop_at:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(LessonReporter, "update", update)
    return steps


def test_training_that_was_stopped_goes_on_and_is_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop = Workshop(tmp_path / "new" / "lessons", quick=True)
    first = steps_of(monkeypatch, stop_at=5)
    with pytest.raises(KeyboardInterrupt):
        workshop.trained("gru", SETTINGS, PAIRS)
    assert first == [1, 2, 3, 4, 5]
    then = steps_of(monkeypatch, stop_at=None)
    run = workshop.trained("gru", SETTINGS, PAIRS)
    assert then == list(range(6, 21))
    assert folder.is_finished(run)
    assert load(run).translate("a b c").text is not None
    assert workshop.trained("gru", SETTINGS, PAIRS) == run
    assert len(then) == 15
    again = Workshop(tmp_path / "at once", quick=True).trained("gru", SETTINGS, PAIRS)
    assert (again / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()


def test_other_pairs_settings_or_sizes_are_another_run(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    places = {
        workshop.place("gru", {"a": 1}),
        workshop.place("gru", {"a": 2}),
        workshop.place("lstm", {"a": 1}),
        Workshop(tmp_path, quick=True).place("gru", {"a": 1}),
    }
    assert len(places) == 4


def test_what_was_measured_is_kept_and_made_anew_if_damaged(tmp_path: Path) -> None:
    workshop, calls = Workshop(tmp_path), []

    def measure() -> dict[str, Any]:
        calls.append(1)
        return {"aer": 0.25, "rows": (1, 2)}

    for _ in range(2):
        assert workshop.measured("aer", {"a": 1}, measure) == {"aer": 0.25, "rows": [1, 2]}
    assert len(calls) == 1
    file = next(tmp_path.glob("*.json"))
    file.write_text('{"aer": 0.')
    assert workshop.measured("aer", {"a": 1}, measure)["aer"] == 0.25
    assert len(calls) == 2
    with pytest.raises(ValueError, match="JSON"):
        workshop.measured("other", {}, lambda: float("nan"))
    assert len(list(tmp_path.iterdir())) == 1


def test_a_cache_folder_that_cannot_be_made_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        Workshop(tmp_path / "file" / "lessons").measured("aer", {}, dict)
