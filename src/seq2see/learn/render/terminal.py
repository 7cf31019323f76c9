"""A lesson in a terminal of 80 columns, of which a Hangul syllable takes two; without colour it says the same."""

from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from seq2see.learn.blocks import (
    Block,
    Curves,
    Drawing,
    Equation,
    LessonTable,
    MapView,
    Matrix,
    Section,
    ShellLine,
    Sounds,
    TableColumn,
    Value,
    decimal,
)
from seq2see.learn.catalogue import outline
from seq2see.learn.lesson import Lesson, LessonPage, LessonSettings, command_line
from seq2see.learn.listing import COLUMNS, wrapped
from seq2see.learn.quoting import Quote
from seq2see.learn.render.plot import plotted
from seq2see.learn.texts import common
from seq2see.learn.wording import Language, Wording, say

_INDENT = "    "
_NARROWEST = 7  # columns of a number
_BAR = 20
_BESIDE = 36  # where a summary stands beside its command

Part = list[RenderableType]


def parts(lesson: Lesson[LessonSettings], page: LessonPage, language: Language) -> Iterator[Part]:
    """The lesson, one screenful after the other."""
    title = Text(say(lesson.title, language), style="bold")
    notice = [] if page.notice is None else [*drawn(page.notice, language), Text()]
    yield [title, Text(), *notice, *_headed(common.QUESTION, [page.question], language)]
    for number, section in enumerate(page.sections, start=1):
        yield list(_section(section, number, language))
    yield [*_headed(common.ANSWER, [page.answer], language), *_attempts(lesson, page, language)]
    yield [*_origins(page, language), *_following(page, language)]


def _section(section: Section, number: int, language: Language) -> Iterator[RenderableType]:
    yield from _titled(f"{number}. {say(section.title, language)}", section.blocks, language)


def _headed(title: Wording, blocks: Iterable[Block], language: Language) -> Iterator[RenderableType]:
    yield from _titled(say(title, language), tuple(blocks), language)


def _titled(title: str, blocks: tuple[Block, ...], language: Language) -> Iterator[RenderableType]:
    """Sums that follow each other stand together; between all else is an empty line."""
    yield from _title(title)
    for block, behind in zip(blocks, (*blocks[1:], None), strict=True):
        yield from drawn(block, language)
        if not (isinstance(block, Equation) and isinstance(behind, Equation)):
            yield Text()


def _title(text: str) -> Iterator[Text]:
    yield Text(text, style="bold")
    yield Text("-" * cell_len(text), style="dim")


def _attempts(lesson: Lesson[LessonSettings], page: LessonPage, language: Language) -> Iterator[RenderableType]:
    blocks: list[Block] = []
    for attempt in page.attempts:
        blocks += [attempt.text, ShellLine(command_line(lesson.name, language, attempt.changes))]
    yield from _headed(common.TRY, blocks, language)


def _origins(page: LessonPage, language: Language) -> Iterator[RenderableType]:
    yield from _title(say(common.ORIGIN, language))
    for before, origin in zip((None, *page.origins), page.origins, strict=False):
        if before is None or origin.paper != before.paper:
            yield from map(Text, wrapped(origin.paper.line, hanging=_INDENT))
        yield from map(Text, wrapped(f"{_INDENT}{origin.place}: {say(origin.what, language)}", hanging=_INDENT))
    yield Text()


def _following(page: LessonPage, language: Language) -> Iterator[RenderableType]:
    yield from _title(say(common.NEXT, language))
    for name in page.following:
        command = f"{_INDENT}{command_line(name, language)}"
        line = Text(f"{command:<{_BESIDE}}", no_wrap=True)
        first, *more = wrapped(say(outline(name).summary, language), COLUMNS - _BESIDE)
        yield line.append(first, style="dim")
        yield from (Text(" " * _BESIDE + text, style="dim") for text in more)
    for command in page.commands:
        yield from _folded(command)
    yield Text()


# ----- blocks


def drawn(block: Block, language: Language) -> Iterator[RenderableType]:
    """One block, line by line; a map draws itself."""
    match block:
        case Wording():
            yield from map(Text, wrapped(say(block, language)))
        case Equation():
            yield Text(f"{_INDENT}{block.text}", style="italic", no_wrap=True)
        case Drawing():
            yield from (Text(f"{_INDENT}{line}", no_wrap=True) for line in block.lines)
        case ShellLine():
            yield from _folded(block.text)
        case Matrix():
            yield from _matrix(block, language)
        case LessonTable():
            yield from _table(block, language)
        case Curves():
            yield from plotted(block, language, COLUMNS)
        case Quote():
            yield Text(f"{_INDENT}{block.formula}", style="italic", no_wrap=True)
            yield Text(f"{_INDENT}{_INDENT}# {block.place}", style="dim", no_wrap=True)
            for line in block.code.split("\n"):
                yield from (Text(f"{_INDENT}{_INDENT}{part}", style="cyan", no_wrap=True) for part in _code(line))
        case MapView():
            example = block.example
            yield from (attention.words() for attention in example.maps)
            if example.tree is not None:
                yield example.tree
        case Sounds():
            yield from map(Text, wrapped(say(common.SOUNDS.fill({"count": len(block.recordings)}), language)))


def _matrix(matrix: Matrix, language: Language) -> Iterator[Text]:
    """The name and the columns, then a line for each row; of weights the largest of a row stands out."""
    rows, columns = ([say(name, language) for name in names] for names in (matrix.rows, matrix.columns))
    name = say(matrix.name, language)
    label = max(map(cell_len, (name, *rows)))
    width = max(_NARROWEST, *map(cell_len, columns))
    head = _INDENT + _left(name, label) + "".join("  " + _right(column, width) for column in columns)
    yield Text(head, style="dim", no_wrap=True)
    for row, row_name in enumerate(rows):
        line = Text(_INDENT + _left(row_name, label), no_wrap=True)
        largest = int(matrix.values[row].argmax()) if matrix.shaded else -1
        for column in range(len(columns)):
            number = "  " + _right(matrix.shown(row, column), width)
            line.append(number, style="bold" if column == largest else "")
        yield line


def _table(table: LessonTable, language: Language) -> Iterator[Text]:
    cells = [
        [cell_text(value, column, language) for value, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    names = [say(column.name, language) for column in table.columns]
    widths = [max(cell_len(row[place]) for row in [names, *cells]) for place in range(len(names))]
    head = "  ".join(
        _aligned(name, width, column) for name, width, column in zip(names, widths, table.columns, strict=True)
    )
    yield Text((_INDENT + head).rstrip(), style="dim", no_wrap=True)
    for row, values in zip(cells, table.rows, strict=True):
        line = _INDENT
        for cell, value, width, column in zip(row, values, widths, table.columns, strict=True):
            line += _aligned(cell, width, column) + "  "
            line += bar(value) + "  " if column.bar and isinstance(value, int | float) else ""
        yield Text(line.rstrip(), no_wrap=True)


def cell_text(value: Value, column: TableColumn, language: Language) -> str:
    """A cell of a table as it is printed."""
    if value is None:
        return ""
    if isinstance(value, str | Wording):
        return say(value, language)
    return decimal(value, column.spec)


def bar(share: float) -> str:
    """From 0 to 1, in eighths of a column."""
    eighths = round(max(0.0, min(1.0, share)) * _BAR * 8)
    return ("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()).ljust(_BAR)


def _aligned(text: str, cells: int, column: TableColumn) -> str:
    return _right(text, cells) if column.spec else _left(text, cells)


def _left(text: str, cells: int) -> str:
    return text + " " * (cells - cell_len(text))


def _right(text: str, cells: int) -> str:
    return " " * (cells - cell_len(text)) + text


# ----- lines


def _folded(command: str) -> Iterator[Text]:
    """A line for the shell; a long one goes on behind a backslash, so that it can be pasted."""
    lines = list(wrapped(_INDENT + command, COLUMNS - 2, _INDENT * 2))
    for place, line in enumerate(lines):
        yield Text(line + (" \\" if place < len(lines) - 1 else ""), style="green", no_wrap=True)


def _code(line: str) -> Iterator[str]:
    """A line of Python; one that is too long for the screen is broken, with the remark behind it above it."""
    room = COLUMNS - 2 * len(_INDENT)
    indent = line[: len(line) - len(line.lstrip())]
    code, _, comment = line.partition("  # ") if cell_len(line) > room else (line, "", "")
    if comment:
        yield f"{indent}# {comment}"
    while len(code) > room:
        cut = code.rfind(" ", room // 2, room)
        cut = cut if cut > 0 else max(code.rfind("(", 0, room) + 1, code.rfind(".", 0, room))
        yield code[:cut]
        code = indent + _INDENT + code[cut:].lstrip()
    yield code
