"""The list of lessons, and texts broken into lines. Needs no torch."""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from seq2see.learn.catalogue import CATALOGUE
from seq2see.learn.texts import common
from seq2see.learn.wording import Language, say

COLUMNS = 80


def listing(language: Language) -> Iterator[Text]:
    """Every lesson in one line; what it trains is marked."""
    yield Text(say(common.LESSONS, language), style="bold")
    yield Text()
    label = max(len(entry.name) for entry in CATALOGUE) + 2
    for number, entry in enumerate(CATALOGUE, start=1):
        star = "*" if entry.trains else " "
        line = Text(f"{number:>3}  ")
        line.append(f"{entry.name:<{label}}", style="bold").append(f"{star} ")
        first, *more = wrapped(say(entry.summary, language), COLUMNS - line.cell_len)
        yield line.append(first)
        yield from (Text(" " * (label + 7) + text) for text in more)
    yield Text()
    yield from map(Text, wrapped(say(common.TRAINS, language)))
    yield from map(Text, wrapped(say(common.HOW_TO_ASK, language)))


def wrapped(text: str, columns: int = COLUMNS, hanging: str = "") -> Iterator[str]:
    """Broken between words; a Hangul syllable takes two columns. Lines after the first begin with `hanging`."""
    line = text[: len(text) - len(text.lstrip())]
    empty = True
    for word in text.split():
        if not empty and cell_len(line) + 1 + cell_len(word) > columns:
            yield line
            line, empty = hanging, True
        line, empty = f"{line}{word}" if empty else f"{line} {word}", False
    yield line
