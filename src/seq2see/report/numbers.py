"""Scores, differences, intervals and p-values as text: the same in the terminal and in report.html."""

from seq2see.evaluate.compare import Contrast
from seq2see.evaluate.resampling import Interval

UNDEFINED = "–"
COMPARISON_COLUMNS = ("metric", "A", "B", "B - A", "95 % interval", "p bootstrap", "p randomised")


def score_text(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.1f}"


def difference_text(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:+.1f}"


def interval_text(interval: Interval | None, *, signed: bool = False) -> str:
    write = difference_text if signed else score_text
    return UNDEFINED if interval is None else f"{write(interval.low)} to {write(interval.high)}"


def p_text(value: float | None) -> str:
    if value is None:
        return UNDEFINED
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def comparison_row(contrast: Contrast) -> list[str]:
    """One metric of two systems, in the order of COMPARISON_COLUMNS."""
    tests = contrast.paired
    return [
        contrast.a.label,
        score_text(contrast.a.value),
        score_text(contrast.b.value),
        difference_text(tests.difference),
        interval_text(tests.interval, signed=True),
        p_text(tests.p_bootstrap),
        p_text(tests.p_randomisation),
    ]
