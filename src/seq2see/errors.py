"""Every error that seq2see raises on purpose.

    Seq2SeeError            something a user can put right; the command line prints it as one line, exit code 2
    ├── ShapeError          tensors that do not fit together: says what was given on both sides
    ├── NumericError        numbers that have left the range of their type, and what came of them
    ├── ConfigError         a setting that is unknown, out of range or at odds with another one
    ├── DataError           a file or a pair that cannot be used: says which file, which line, what to do
    ├── RunError            a run folder or checkpoint that is missing, damaged, or of another version
    ├── TrainingError       training that cannot start or go on (non-finite loss, nothing to learn from)
    └── MissingExtraError   an optional part that is not installed: says what to install

Anything else that escapes is a bug of ours and keeps its traceback.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_LONGEST = 80  # characters of a value that a message shows
_LONGEST_MESSAGE = 1500
# Controls, ends of lines, halves of surrogate pairs, and what turns the direction of writing around.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def printable(text: str) -> str:
    """One line that a terminal shows and does not obey: names of files and quoted input may hold anything."""
    return _UNPRINTABLE.sub(_spelled_out, text)


def _spelled_out(character: "re.Match[str]") -> str:
    code = ord(character[0])
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file's name that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return character[0].encode("unicode_escape").decode()


class Seq2SeeError(Exception):
    """Root of the family. What it says is printable and of a length to be read, whatever it quotes."""

    def __str__(self) -> str:
        text = printable(super().__str__())
        return text if len(text) <= _LONGEST_MESSAGE else f"{text[:1000]} … {text[-400:]}"


class ShapeError(Seq2SeeError, ValueError):
    """Tensors or sizes that do not fit together."""


class NumericError(Seq2SeeError, ArithmeticError):
    """Numbers that have left the range of their type: infinite, or not a number any more."""


class ConfigError(Seq2SeeError, ValueError):
    """A setting that is unknown, out of range or at odds with another one."""


class DataError(Seq2SeeError, ValueError):
    """A file or a pair that cannot be used.

    `where` is drawn in front of the message as `file`, `file:line`.
    """

    def __init__(self, message: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.line = line
        where = "" if path is None else f"{path}:{line}: " if line is not None else f"{path}: "
        super().__init__(where + message)


class RunError(Seq2SeeError):
    """A run folder or a checkpoint that is missing, damaged, or of another version."""


class TrainingError(Seq2SeeError):
    """Training that cannot start or cannot go on."""


class MissingExtraError(Seq2SeeError, ImportError):
    """An optional part that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'seq2see[{extra}]'")


def nearest(name: str, allowed: Iterable[str]) -> str:
    """A hint for a message: `; did you mean 'heads'?`, or the whole list when nothing is near."""
    names = sorted(allowed)
    close = get_close_matches(name[:_LONGEST], names, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else f"; known: {', '.join(names)}"


def brief(value: object) -> str:
    """A value in a message; it may come from a file that anybody wrote."""
    return shorten(repr(value))


def shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
