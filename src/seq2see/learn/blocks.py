"""What a lesson is made of. Terminal, page and notebook show the same blocks, each in its own way."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import ShapeError
from seq2see.learn.quoting import Quote
from seq2see.learn.wording import Label, Wording
from seq2see.look.draw.page import PageExample

Array = NDArray[np.float64]
Value = Label | float | None


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers with names: a row for each of `rows`; where `hidden`, nothing is shown.

    shaded   they are weights from 0 to 1, and are coloured by their size
    """

    name: Label
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    values: Array
    hidden: NDArray[np.bool_] | None = None
    digits: int = 2
    shaded: bool = False

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.rows), len(self.columns)):
            raise ShapeError(f"{self.name}: {self.values.shape} for {len(self.rows)} rows, {len(self.columns)} columns")

    def shown(self, row: int, column: int) -> str:
        """One number as it is printed."""
        if self.hidden is not None and self.hidden[row, column]:
            return "--"
        return decimal(float(self.values[row, column]), f".{self.digits}f")


@dataclass(frozen=True)
class TableColumn:
    """Of a table.

    spec   how its numbers are written, as Python formats them; a text is written as it is
    bar    each number, from 0 to 1, has a bar behind it
    """

    name: Label
    spec: str = ""
    bar: bool = False


@dataclass(frozen=True)
class LessonTable:
    """Names and numbers of several kinds; None is left empty."""

    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ShapeError(f"a table of {len(self.columns)} columns has a row of another length")


@dataclass(frozen=True)
class Equation:
    """A line that is not to be broken: a formula, or a sum with its numbers."""

    text: str


@dataclass(frozen=True)
class Drawing:
    """A picture made of characters, all of one width."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class ShellLine:
    """A line for the shell."""

    text: str


@dataclass(frozen=True)
class Series:
    """One line of a chart, through its points (x, y).

    arrow   only its last point is marked
    """

    name: Label
    points: tuple[tuple[float, float], ...]
    dashed: bool = False
    arrow: bool = False


@dataclass(frozen=True)
class Curves:
    """A chart.

    across   what x is; y is the title
    log      the y axis is logarithmic
    ticks    names of x = 0, 1, 2, ...; without them x is a number
    low      where the y axis begins, if not at the lowest value
    """

    title: Label
    across: Label
    series: tuple[Series, ...]
    digits: int = 2
    log: bool = False
    ticks: tuple[Label, ...] | None = None
    low: float | None = None


@dataclass(frozen=True)
class MapView:
    """What attention looked at, or what a search considered: maps and trees, as `seq2see look` draws them."""

    example: PageExample


@dataclass(frozen=True)
class Sounds:
    """Recordings to be heard, each with its name and the bytes of a WAV file in base64. They play on the page."""

    recordings: tuple[tuple[Label, str], ...]


Block = Wording | Matrix | LessonTable | Equation | Drawing | ShellLine | Curves | Quote | MapView | Sounds


@dataclass(frozen=True)
class Section:
    """A step of a lesson.

    code   lines for a cell of the notebook. Names that the lesson's module defines or imports are known: the notebook
           copies what it needs of them into the cell (render/notebook.py)
    """

    title: Wording
    blocks: tuple[Block, ...]
    code: str = field(default="")


def decimal(value: float, spec: str) -> str:
    """A number as text, without the sign of a zero that is left after rounding."""
    text = format(value, spec)
    return text.removeprefix("-") if text.startswith("-") and not text.strip("-0.") else text
