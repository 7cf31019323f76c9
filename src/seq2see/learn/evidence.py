"""The claims of the lessons, each as one figure with the command that computes it: docs/evidence.md.

Nothing here is typed by hand but the claims themselves. A figure is a section of a lesson; what the lesson trains is
kept, so that a second time takes seconds.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import StringIO

from rich.console import Console, RenderableType

from seq2see.learn.blocks import (
    Block,
    Curves,
    Drawing,
    Equation,
    LessonTable,
    MapView,
    Matrix,
    Section,
    TableColumn,
    decimal,
)
from seq2see.learn.catalogue import load_lesson
from seq2see.learn.lesson import LessonPage
from seq2see.learn.render.plot import plotted
from seq2see.learn.wording import Wording, said, say
from seq2see.learn.workshop import Workshop

COLUMNS = 76


@dataclass(frozen=True)
class EvidenceClaim:
    """What is claimed, the lesson that measures it, and the title of the section that holds the figure."""

    claim: str
    lesson: str
    section: str


CLAIMS = (
    EvidenceClaim("Without attention, quality falls as sentences grow; with it, little", "bottleneck", "QUALITY_TITLE"),
    EvidenceClaim("A reordered word is found: alignment error with each way of looking", "when", "ERROR_TITLE"),
    EvidenceClaim("Attention and convolution are parallel in length, recurrence is not", "order", "TIME_TITLE"),
    EvidenceClaim(
        "With attention the path between two words is short, and the gradient arrives", "order", "GRADIENT_TITLE"
    ),
    EvidenceClaim("Dilation sees far with few layers", "convolution", "DILATION_TITLE"),
    EvidenceClaim("Heads differ", "heads", "TABLE_TITLE"),
    EvidenceClaim("Which parts of a block are needed", "block", "TRAINED_TITLE"),
    EvidenceClaim("A beam finds likelier sentences than greedy search", "search", "BEAM_TITLE"),
    EvidenceClaim("Tokens carry style", "style", "READ_TITLE"),
)

_HEAD = """# Evidence

What the lessons claim, measured. This page is written by

```
seq2see learn --evidence
```

and every figure by the command below it. Nothing is downloaded; what has to be trained is trained on the spot, on the
CPU, and kept in the cache folder, so that a second time takes seconds. Seconds depend on the machine, and what was
trained for a minute is a small model: read the figures for their shape.
"""


def evidence(workshop: Workshop, *, advance: Callable[[int, int], None] = lambda done, total: None) -> str:
    """The page, in Markdown."""
    pages: dict[str, LessonPage] = {}
    parts = [_HEAD]
    for place, claim in enumerate(CLAIMS):
        advance(place, len(CLAIMS))
        if claim.lesson not in pages:
            pages[claim.lesson] = load_lesson(claim.lesson).page(workshop)
        parts.append("\n".join(_claimed(claim, _section(pages[claim.lesson], claim), place + 1)))
    return "\n".join(parts)


def _section(page: LessonPage, claim: EvidenceClaim) -> Section:
    title = getattr(import_module(f"seq2see.learn.texts.{claim.lesson}"), claim.section)
    return next(section for section in page.sections if section.title == title)


def _claimed(claim: EvidenceClaim, section: Section, number: int) -> Iterator[str]:
    yield f"## {number}. {claim.claim}\n"
    for block in section.blocks:
        yield from _written(block)
    yield f"`seq2see learn {claim.lesson}`\n"


def _written(block: Block) -> Iterator[str]:
    """A block in Markdown; code beside formulas stays in the lesson."""
    match block:
        case Wording():
            yield f"{block.en}\n"
        case LessonTable():
            columns = block.columns
            rows = [[_value(*cell) for cell in zip(row, columns, strict=True)] for row in block.rows]
            yield from _table([say(column.name, "en") for column in block.columns], rows)
        case Matrix():
            names = [say(name, "en") for name in block.columns]
            rows = [
                [say(name, "en"), *(block.shown(place, column) for column in range(len(names)))]
                for place, name in enumerate(block.rows)
            ]
            yield from _table([say(block.name, "en"), *names], rows)
        case Curves():
            yield "```"
            yield from _lines(plotted(block, "en", COLUMNS))
            yield "```\n"
        case Equation():
            yield f"    {block.text}"
        case Drawing():
            yield "\n".join(["```", *block.lines, "```\n"])
        case MapView():
            if block.example.tree is not None:
                yield "```"
                yield from _lines([block.example.tree])
                yield "```\n"
        case _:
            return


def _value(value: object, column: TableColumn) -> str:
    if value is None:
        return ""
    return decimal(value, column.spec) if isinstance(value, float) else str(said(value, "en"))


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield ""
    yield "| " + " | ".join(names) + " |"
    yield "|" + "---|" + "---:|" * (len(names) - 1)
    yield from ("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    yield ""


def _lines(renderables: Iterable[RenderableType]) -> Iterator[str]:
    console = Console(file=StringIO(), width=COLUMNS, color_system=None, highlight=False, markup=False, emoji=False)
    for renderable in renderables:
        console.print(renderable)
    out = console.file
    assert isinstance(out, StringIO)
    yield from (line.rstrip() for line in out.getvalue().rstrip().split("\n"))
