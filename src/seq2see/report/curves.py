"""Learning curves of several runs against the minutes they took, as one picture (matplotlib, the extra `plot`)."""

import io
from collections.abc import Sequence
from pathlib import Path

from seq2see import atomic
from seq2see.errors import ConfigError, MissingExtraError
from seq2see.look.draw.picture_format import picture_format
from seq2see.report.page import Training

try:
    from matplotlib.figure import Figure

    from seq2see.look.draw.fonts import drawable, font
except ModuleNotFoundError:
    raise MissingExtraError("A picture of learning curves", "plot") from None

_MARKERS = "osD^vP*X"
_LONGEST = 60  # characters of a run's name


def save_curves(trainings: Sequence[Training], metric: str, path: Path) -> None:
    """Written whole or not at all; the suffix is the format."""
    form = picture_format(path)
    buffer = io.BytesIO()
    curves(trainings, metric).savefig(buffer, format=form, dpi=130)
    atomic.write_file(path, buffer.getvalue())


def curves(trainings: Sequence[Training], metric: str) -> Figure:
    """A line a run: the score of each validation over the minutes until then; a ring at its best."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    best_of = min if metric == "loss" else max
    for training, marker in zip(trainings, _MARKERS * len(trainings), strict=False):
        points = in_minutes(training, metric)
        best = best_of(points, key=lambda point: point[1])
        label = f"{drawable(training.name, longest=_LONGEST)}: {best[1]:.4g} after {best[0]:.1f} min"
        (line,) = axes.plot(*zip(*points, strict=True), marker=marker, markersize=4, label=label)
        axes.plot(*best, marker="o", markersize=12, fillstyle="none", color=line.get_color())
    axes.set_xlabel("minutes of training, validations included", fontproperties=font(10))
    axes.set_ylabel(f"{metric} on the validation pairs", fontproperties=font(10))
    axes.set_xlim(left=0)
    axes.grid(alpha=0.3)
    for text in axes.legend(loc="best", prop=font(9)).get_texts():
        text.set_parse_math(False)
    return figure


def in_minutes(training: Training, metric: str) -> list[tuple[float, float]]:
    """(minutes, score) of each validation."""
    points = [(training.elapsed.get(step, 0.0) / 60, value) for step, value in training.scores.get(metric, ())]
    if not points:
        measured = ", ".join(sorted(training.scores)) or "nothing"
        raise ConfigError(f"{training.name}: its validations did not measure {metric}, but {measured}")
    return points
