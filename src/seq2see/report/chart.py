"""Quality by length as a chart for the terminal: a curve for each system, told apart without colour too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from seq2see.evaluate.evaluation import LengthTable
from seq2see.evaluate.length import LengthScore
from seq2see.visible import shortened

MARKS = ("●", "○", "▲", "△", "■", "□", "◆", "◇")
_STYLES = ("bold cyan", "bold magenta", "bold yellow", "bold green", "bold blue", "bold red", "bold", "dim")
_STEPS = 12  # rows above the axis; a multiple of four, so that quarters have rows of their own
_TOPS = (4, 8, 20, 40, 60, 80, 100, 120, 160, 200, 400)  # values that can be quartered by eye
_WIDEST = 12  # columns of a bucket

_Cell = tuple[str, str]  # character, style


@dataclass(frozen=True)
class LengthChart:
    """Tables of the same metric over the same buckets; `names` say whose they are. Marks stand at the score, the line
    through a mark is its interval, dots only lead the eye."""

    tables: Sequence[LengthTable]
    names: Sequence[str]
    width: int | None = None  # columns; None: as wide as the terminal

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(min(options.max_width, self.width or options.max_width))

    def lines(self, width: int) -> Iterator[Text]:
        """The chart, no line wider than `width`; buckets that do not fit side by side go into a second panel."""
        yield Text(shortened(self.tables[0].title, width), style="bold", no_wrap=True)
        yield from self._legend(width)
        top = _top([row for table in self.tables for row in table.rows])
        margin = len(str(top)) + 2
        buckets = len(self.tables[0].rows)
        most = max(1, (width - margin) // (len(self.tables) + 2))
        for start in range(0, buckets, most):
            panel = _Panel([table.rows[start : start + most] for table in self.tables], top, margin, width)
            yield from panel.lines()

    def _legend(self, width: int) -> Iterator[Text]:
        line = Text(no_wrap=True)
        for place, name in enumerate(self.names):
            entry = shortened(f"{MARKS[place % len(MARKS)]} {name}", width)
            if line.cell_len and line.cell_len + 3 + cell_len(entry) > width:
                yield line
                line = Text(no_wrap=True)
            line.append("   " if line.cell_len else "").append(entry, style=_STYLES[place % len(_STYLES)])
        yield line


class _Panel:
    """One pair of axes. Cells are kept as (row, column) -> character; what is drawn later lies on top."""

    def __init__(self, curves: Sequence[Sequence[LengthScore]], top: int, margin: int, width: int) -> None:
        self.curves, self.top, self.margin = curves, top, margin
        self.slot = min(_WIDEST, (width - margin) // max(1, len(curves[0])))
        self.width = self.slot * len(curves[0])
        self.cells: dict[tuple[int, int], _Cell] = {}

    def lines(self) -> Iterator[Text]:
        for column in range(self.width):
            self.cells[_STEPS, column] = ("─", "dim")
        for draw in (self._draw_paths, self._draw_intervals, self._draw_marks):
            for place in range(len(self.curves)):
                draw(place)
        for row in range(_STEPS + 1):
            line = Text(self._scale(row), style="dim", no_wrap=True)
            for column in range(self.width):
                line.append(*self.cells.get((row, column), (" ", "")))
            line.rstrip()
            yield line
        yield Text(self._labels().rstrip(), style="dim", no_wrap=True)

    def _scale(self, row: int) -> str:
        """What stands left of a row: a number at every quarter."""
        if row % (_STEPS // 4):
            return " " * (self.margin - 1) + "│"
        value = self.top * (_STEPS - row) // _STEPS
        return f"{value:>{self.margin - 2}} " + ("┼" if row == _STEPS else "┤")

    def _labels(self) -> str:
        """As many labels as there is room for, below the middle of their buckets."""
        labels = [row.bucket.label for row in self.curves[0]]
        each = -(-(max(map(len, labels)) + 1) // self.slot)  # every bucket, every second, ...
        line = " " * self.margin
        for place, label in enumerate(labels):
            middle = self.margin + place * self.slot + self.slot // 2
            if place % each == 0:
                line = line.ljust(max(len(line), middle - len(label) // 2)) + label
        return line if len(line) <= self.margin + self.width else line[: self.margin + self.width]

    def _column(self, curve: int, bucket: int) -> int:
        """Systems stand side by side, so that equal scores do not hide each other."""
        apart = 2 if self.slot > 2 * len(self.curves) else 1
        return bucket * self.slot + self.slot // 2 + apart * curve - apart * (len(self.curves) - 1) // 2

    def _row(self, score: float) -> int:
        return round(_STEPS * (1 - min(score, self.top) / self.top))

    def _draw_marks(self, curve: int) -> None:
        for bucket, row in enumerate(self.curves[curve]):
            if row.score is not None:
                cell = self._row(row.score), self._column(curve, bucket)
                self.cells[cell] = MARKS[curve % len(MARKS)], _STYLES[curve % len(_STYLES)]

    def _draw_intervals(self, curve: int) -> None:
        for bucket, row in enumerate(self.curves[curve]):
            if row.interval is None:
                continue
            for place in range(self._row(row.interval.high), self._row(row.interval.low) + 1):
                self.cells[place, self._column(curve, bucket)] = "│", _STYLES[curve % len(_STYLES)]

    def _draw_paths(self, curve: int) -> None:
        """Straight from each mark to the next, unless a bucket between them has none."""
        marks = [(self._column(curve, place), row.score) for place, row in enumerate(self.curves[curve])]
        for (left, start), (right, end) in pairwise(marks):
            if start is None or end is None:
                continue
            for column in range(left + 1, right):
                score = start + (end - start) * (column - left) / (right - left)
                self.cells[self._row(score), column] = "·", _STYLES[curve % len(_STYLES)]


def _top(rows: Sequence[LengthScore]) -> int:
    """The end of the scale: the first round number that nothing goes beyond."""
    scores = [row.score for row in rows if row.score is not None]
    highest = max([0.0, *scores, *(row.interval.high for row in rows if row.interval is not None)])
    # a perfect score can come out a hair above 100
    return next((top for top in _TOPS if highest <= top + 1e-6), -(-int(highest + 1) // 400) * 400)
