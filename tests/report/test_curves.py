"""Learning curves: minutes and scores are those of metrics.jsonl, and what cannot be drawn is said in one line."""

import json
from pathlib import Path

import pytest

from seq2see.errors import ConfigError
from seq2see.report.curves import curves, in_minutes, save_curves
from seq2see.report.page import Training, read_training

RUN = Training("runs/a", (), {"bleu": ((10, 3.0), (20, 9.0), (30, 8.0)), "loss": ((10, 4.0), (20, 2.0), (30, 3.0))})
TIMED = Training(RUN.name, RUN.losses, RUN.scores, {10: 60.0, 20: 150.0, 30: 240.0})


def test_points_are_minutes_and_scores() -> None:
    assert in_minutes(TIMED, "bleu") == [(1.0, 3.0), (2.5, 9.0), (4.0, 8.0)]


@pytest.mark.parametrize(("metric", "best"), [("bleu", "9 after 2.5 min"), ("loss", "2 after 2.5 min")])
def test_the_best_is_the_highest_score_or_the_lowest_loss(metric: str, best: str) -> None:
    (axes,) = curves([TIMED, TIMED], metric).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [f"runs/a: {best}"] * 2
    assert [list(line.get_xdata()) for line in axes.lines][::2] == [[1.0, 2.5, 4.0]] * 2


def test_a_metric_that_was_not_measured_is_named() -> None:
    with pytest.raises(ConfigError, match="did not measure chrf, but bleu, loss"):
        in_minutes(TIMED, "chrf")


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_every_format_is_written_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"curves.{suffix}"
    save_curves([TIMED], "bleu", path)
    assert path.stat().st_size > 1000
    assert [*tmp_path.iterdir()] == [path]


def test_times_come_from_validations_or_from_the_updates_of_older_runs(tmp_path: Path) -> None:
    entries = [
        {"step": 1, "loss": 8.0, "seconds": 30.0},
        {"step": 2, "loss": 7.0, "seconds": 30.0},
        {"step": 2, "validation": {"loss": 7.5}},
        {"step": 3, "loss": 6.0, "seconds": 30.0},
        {"step": 3, "elapsed": 120.0, "validation": {"loss": 6.5}},
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert read_training(tmp_path).elapsed == {2: 60.0, 3: 120.0}
