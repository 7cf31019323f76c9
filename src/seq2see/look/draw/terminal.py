"""The heatmap of an attention map in the terminal: a row for each target token, a column for each source token.

Colours where the terminal has them (rich turns them into 256 or 16 where it must), shades under NO_COLOR or into a
file, digits where the output is ASCII. Cells are measured in columns of the terminal, of which a Hangul syllable takes
two. A map wider than the terminal is folded into panels; one too big to read is drawn as an overview, several tokens
to a cell.
"""

import io
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.color import Color, ColorSystem
from rich.console import Console, ConsoleOptions
from rich.style import Style
from rich.text import Text

from seq2see.look.map.attention_map import AttentionMap
from seq2see.visible import shortened

Ink = Literal["truecolor", "256", "standard", "shades", "digits"]

_LABEL = 18  # columns that the name of a row may take
_COLUMN = (3, 14)  # narrowest and widest cell
_NARROWEST = 24  # nothing is drawn narrower than this; the terminal may cut it
_LINES = 400  # a drawing that would take more becomes an overview
_OVERVIEW_ROWS = 60
_SHADES = " ░▒▓█"
_STEPS = 32
_SYSTEMS: dict[Ink, ColorSystem] = {
    "truecolor": ColorSystem.TRUECOLOR,
    "256": ColorSystem.EIGHT_BIT,
    "standard": ColorSystem.STANDARD,
}
_RAMP = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))  # dark to bright, from few to many


@dataclass(frozen=True)
class _Chart:
    """What is drawn: one matrix and its names, cut to width already."""

    weights: NDArray[np.float32]  # (rows, columns)
    rows: Sequence[str]
    columns: Sequence[str]
    peaks: NDArray[np.intp]  # (rows,): the column of the star, -1 for none
    hidden: NDArray[np.float32] | None  # (rows,)
    ink: Ink

    @property
    def most(self) -> float:
        return float(self.weights.max(initial=0.0))

    @property
    def label(self) -> int:
        return max((cell_len(name) for name in self.rows), default=0)


def draw(attention: AttentionMap, console: Console, options: ConsoleOptions) -> Iterator[Text]:
    """The lines of the drawing, for rich. Of several layers and heads the mean is drawn."""
    mean_map = attention.mean()
    width = max(_NARROWEST, options.max_width)
    ink = _ink(console, options)
    chart = _Chart(
        mean_map.weights[0, 0],
        [_name(token, min(_LABEL, width // 3)) for token in mean_map.target.tokens],
        [_name(token, _COLUMN[1]) for token in mean_map.source.tokens],
        mean_map.peaks()[0, 0],
        None if mean_map.hidden is None else mean_map.hidden[0, 0],
        ink,
    )
    yield Text(mean_map.title, style="bold", no_wrap=True, overflow="ellipsis")
    panels = _fold(chart, width)
    if len(panels) * (len(chart.rows) + 2) <= _LINES:
        for panel in panels:
            yield from _panel(chart, panel)
    else:
        yield from _overview(chart, width)
    yield _legend(chart)
    if mean_map.footnote:
        yield Text(mean_map.footnote, style="dim")


def _ink(console: Console, options: ConsoleOptions) -> Ink:
    if options.ascii_only:
        return "digits"
    if console.no_color:
        return "shades"
    match console.color_system:
        case None:
            return "shades"
        case "truecolor":
            return "truecolor"
        case "256":
            return "256"
    return "standard"


def plain(attention: AttentionMap, width: int | None = None) -> str:
    """The same in shades, as a string."""
    width = shutil.get_terminal_size().columns if width is None else width
    console = Console(
        file=io.StringIO(), width=max(_NARROWEST, width), color_system=None, no_color=True, force_terminal=False
    )
    lines = draw(attention, console, console.options)
    return "\n".join(line.plain.rstrip() for line in lines)


# ----- panels, a column for each token


def _fold(chart: _Chart, width: int) -> list[list[int]]:
    """Columns, panel by panel, as many as fit."""
    room = width - chart.label - (0 if chart.hidden is None else _COLUMN[0] + 4)
    panels: list[list[int]] = []
    left = 0
    for column, name in enumerate(chart.columns):
        cells = _cells(name) + 1
        if not panels or cells > left:
            panels.append([])
            left = room
        panels[-1].append(column)
        left -= cells
    return panels


def _panel(chart: _Chart, columns: list[int]) -> Iterator[Text]:
    label, sizes = chart.label, [_cells(chart.columns[column]) for column in columns]
    head = Text(" " * label, no_wrap=True)
    for column, size in zip(columns, sizes, strict=True):
        head.append(" " + _centred(chart.columns[column], size))
    if chart.hidden is not None:
        head.append(" hidden", style="dim")
    yield Text("", no_wrap=True)
    yield head
    for row, name in enumerate(chart.rows):
        line = Text(" " * (label - cell_len(name)) + name, no_wrap=True)
        for column, size in zip(columns, sizes, strict=True):
            weight = float(chart.weights[row, column])
            line.append(" ")
            line.append_text(_cell(weight, chart.most, column == chart.peaks[row], size, chart.ink))
        if chart.hidden is not None:
            line.append(f" {chart.hidden[row]:6.0%}", style="dim")
        yield line


# ----- an overview, several tokens to a cell


def _overview(chart: _Chart, width: int) -> Iterator[Text]:
    rows, columns = chart.weights.shape
    label = chart.label + len(str(rows)) + 1
    across = -(-columns // max(1, width - label - 1))
    down = -(-rows // _OVERVIEW_ROWS)
    sums = np.add.reduceat(chart.weights, np.arange(0, columns, across), axis=1)
    starts = np.arange(0, rows, down)
    sizes = np.diff(np.append(starts, rows))
    pooled = np.add.reduceat(sums, starts, axis=0) / sizes[:, None]
    most, peaks = float(pooled.max(initial=0.0)), pooled.argmax(axis=1)
    yield Text("", no_wrap=True)
    yield Text(" " * label + " " + _ruler(pooled.shape[1], across), style="dim", no_wrap=True)
    for row, start in enumerate(starts):
        name = f"{start} {chart.rows[start]}"
        line = Text(" " * max(0, label - cell_len(name)) + name + " ", no_wrap=True)
        for column in range(pooled.shape[1]):
            weight = float(pooled[row, column])
            line.append_text(_cell(weight, most, weight > 0 and column == peaks[row], 1, chart.ink))
        yield line
    yield Text(f"each cell: {down} rows (their mean), {across} columns (their sum)", style="dim")


def _ruler(cells: int, across: int) -> str:
    """The number of the source token at every tenth cell."""
    marks = [str(cell * across).ljust(10) for cell in range(0, cells, 10)]
    return "".join(marks)[:cells]


# ----- cells


def _cell(weight: float, most: float, peak: bool, size: int, ink: Ink) -> Text:
    """`size` columns wide. A weight is shown as a share of the greatest one in the map."""
    level = weight / most if most else 0.0
    star = "*" if ink == "digits" else "★"
    if ink in _SYSTEMS:
        return Text(_centred(star if peak else "", size), style=_shade(round(level * _STEPS), ink))
    if ink == "digits":
        digit = str(min(9, int(level * 10))) if weight > 0 else "."
        return Text(_centred(star + digit if peak and size > 1 else star if peak else digit, size))
    fill = _SHADES[min(4, int(np.ceil(level * 4 - 0.2)))]
    if not peak:
        return Text(fill * size if fill.strip() else _centred("·" if weight > 0 else "", size))
    left = (size - 1) // 2
    return Text(fill * left + star + fill * (size - 1 - left))


@cache
def _shade(step: int, ink: Ink) -> Style:
    """The colour of a step of the ramp, with a star that can be seen on it; nothing for next to nothing.

    Brought down to what the terminal has here and not by rich: a rich Style remembers the first terminal it met.
    """
    if step == 0:
        return Style()
    place = step / _STEPS * (len(_RAMP) - 1)
    low = min(int(place), len(_RAMP) - 2)
    red, green, blue = (round(a + (b - a) * (place - low)) for a, b in zip(_RAMP[low], _RAMP[low + 1], strict=True))
    bright = 0.3 * red + 0.6 * green + 0.1 * blue > 110
    letters = (0, 0, 0) if bright else (255, 255, 255)
    system = _SYSTEMS[ink]
    return Style(
        bgcolor=Color.from_rgb(red, green, blue).downgrade(system), color=Color.from_rgb(*letters).downgrade(system)
    )


def _legend(chart: _Chart) -> Text:
    star = "*" if chart.ink == "digits" else "★"
    line = Text(f"{star} the word looked at most   ", style="dim")
    if chart.ink == "shades":
        line.append(f"░▒▓█ quarters of {chart.most:.2f}")
    elif chart.ink == "digits":
        line.append(f"0-9 tenths of {chart.most:.2f}")
    else:
        line.append("0 ")
        for step in range(4, _STEPS + 1, 4):
            line.append(" ", style=_shade(step, chart.ink))
        line.append(f" {chart.most:.2f}")
    return line


def _name(token: str, cells: int) -> str:
    """A token that takes at most so many columns and cannot move the cursor or turn the direction of writing."""
    shown = "".join(_visible(character) for character in token)
    return shortened(shown, cells)


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace():
        return "▁" if character == " " else f"<{ord(character):X}>"
    joiner = character in "\u200c\u200d"
    return f"<{ord(character):X}>" if category in ("Cc", "Cf", "Cs", "Co", "Cn") and not joiner else character


def _cells(name: str) -> int:
    return max(_COLUMN[0], cell_len(name))


def _centred(text: str, size: int) -> str:
    left = (size - cell_len(text)) // 2
    return " " * left + text + " " * (size - cell_len(text) - left)
