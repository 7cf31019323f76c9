"""A chart for the terminal: a mark for each point, told apart without colour; dots lead the eye."""

import math
from collections.abc import Iterator
from itertools import pairwise

from rich.cells import cell_len
from rich.text import Text

from seq2see.learn.blocks import Curves
from seq2see.learn.wording import Language, say
from seq2see.report.chart import MARKS
from seq2see.visible import shortened

_STYLES = ("bold cyan", "bold magenta", "bold yellow", "bold green", "bold blue", "bold red", "bold", "dim")
_ROWS = 13
_INDENT = 4


def plotted(curves: Curves, language: Language, columns: int) -> Iterator[Text]:
    """At most so many columns wide."""
    yield Text(" " * _INDENT + shortened(say(curves.title, language), columns - _INDENT), no_wrap=True)
    yield from _legend(curves, language, columns)
    plot = _Plot(curves, language, columns)
    yield from plot.lines()
    across = shortened(say(curves.across, language), columns - plot.margin)
    yield Text(" " * (plot.margin + max(0, (plot.width - cell_len(across)) // 2)) + across, style="dim", no_wrap=True)


def _legend(curves: Curves, language: Language, columns: int) -> Iterator[Text]:
    line = Text(" " * _INDENT, no_wrap=True)
    for place, series in enumerate(curves.series):
        entry = f"{MARKS[place % len(MARKS)]} {say(series.name, language)}"
        if line.cell_len > _INDENT and line.cell_len + 3 + cell_len(entry) > columns:
            yield line
            line = Text(" " * _INDENT, no_wrap=True)
        line.append("   " if line.cell_len > _INDENT else "").append(entry, style=_STYLES[place % len(_STYLES)])
    yield line


class _Plot:
    """One pair of axes. Cells are kept as (row, column) -> character; what is drawn later lies on top."""

    def __init__(self, curves: Curves, language: Language, columns: int) -> None:
        self.curves, self.language = curves, language
        self.levels = _log_levels(curves) if curves.log else _levels(curves)
        labels = [self._label(level) for level in self.levels]
        self.margin = _INDENT + max(map(len, labels)) + 2
        self.width = columns - self.margin - 2
        xs = [x for series in curves.series for x, _ in series.points]
        self.left, self.right = (-0.5, len(curves.ticks) - 0.5) if curves.ticks else (min(xs), max(xs))
        if self.left == self.right:
            self.right = self.left + 1
        self.cells: dict[tuple[int, int], tuple[str, str]] = {}

    def lines(self) -> Iterator[Text]:
        for place, series in enumerate(self.curves.series):
            cells = [(self._column(x), self._row(y)) for x, y in series.points if self._drawable(y)]
            self._draw_path(place, cells)
            self._draw_marks(place, cells[-1:] if series.arrow else cells)
        labels = {self._row(level): self._label(level) for level in self.levels}
        for row in range(_ROWS):
            label = labels.get(row, "")
            line = Text(f"{label:>{self.margin - 2}} " + ("┤" if label else "│"), style="dim", no_wrap=True)
            for column in range(self.width):
                line.append(*self.cells.get((row, column), (" ", "")))
            line.rstrip()
            yield line
        yield Text(" " * (self.margin - 1) + "└" + "─" * self.width, style="dim", no_wrap=True)
        yield Text(self._names(), style="dim", no_wrap=True)

    def _draw_path(self, place: int, cells: list[tuple[int, int]]) -> None:
        style = _STYLES[place % len(_STYLES)]
        for (x0, y0), (x1, y1) in pairwise(cells):
            steps = max(abs(x1 - x0), abs(y1 - y0))
            for step in range(1, steps):
                column, row = round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps)
                self.cells.setdefault((row, column), ("·", style))

    def _draw_marks(self, place: int, cells: list[tuple[int, int]]) -> None:
        for column, row in cells:
            self.cells[row, column] = (MARKS[place % len(MARKS)], _STYLES[place % len(_STYLES)])

    def _drawable(self, y: float) -> bool:
        return math.isfinite(y) and (not self.curves.log or y > 0)

    def _column(self, x: float) -> int:
        return round((x - self.left) / (self.right - self.left) * (self.width - 1))

    def _row(self, y: float) -> int:
        low, high = self.levels[0], self.levels[-1]
        if self.curves.log:
            low, high, y = math.log10(low), math.log10(high), math.log10(y)
        return round((1 - (y - low) / (high - low)) * (_ROWS - 1))

    def _label(self, level: float) -> str:
        return f"1e{round(math.log10(level))}" if self.curves.log else f"{level:g}"

    def _names(self) -> str:
        """Below the axis: ticks by name, or round numbers; those that there is room for."""
        if self.curves.ticks:
            named = [(float(place), say(tick, self.language)) for place, tick in enumerate(self.curves.ticks)]
        else:
            named = [(x, f"{x:g}") for x in _round_numbers(self.left, self.right, 8) if self.left <= x <= self.right]
        line = ""
        for x, name in named:
            start = self.margin + self._column(x) - cell_len(name) // 2
            if start > cell_len(line) or not line:
                line += " " * (start - cell_len(line)) + name
        return line


def _levels(curves: Curves) -> list[float]:
    values = [y for series in curves.series for _, y in series.points if math.isfinite(y)]
    low = min([*values, *([] if curves.low is None else [curves.low])])
    return _round_numbers(low, max(values), 4)


def _log_levels(curves: Curves) -> list[float]:
    """Powers of ten around all values; at most five or so of them."""
    values = [y for series in curves.series for _, y in series.points if math.isfinite(y) and y > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    step = -(-(high - low) // 5)
    return [10.0 ** (high - step * place) for place in range(-(-(high - low) // step), -1, -1)]


def _round_numbers(low: float, high: float, count: int) -> list[float]:
    """1, 2 or 5 times a power of ten apart, from below `low` to above `high`."""
    rough = (high - low or 1.0) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{place * step:.12g}") for place in range(first, max(last, first + 1) + 1)]
