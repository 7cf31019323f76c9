"""Formulas beside the lines that compute them. The lines are read from the source as it is installed, never retyped."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import seq2see
from seq2see.errors import ConfigError


@dataclass(frozen=True)
class Quote:
    """A formula and the lines of the library that compute it; `place` is their file and first line."""

    formula: str
    code: str
    place: str


def quote(formula: str, source: Callable[..., Any] | type, first: str = "", last: str = "") -> Quote:
    """The lines of a function or class from the one that holds `first` to the one that holds `last`.

    Without `first` it begins behind the docstring; without `last` it is one line, or with neither all of it.
    ConfigError if they are not there any more: a lesson that quotes them has to be looked at.
    """
    lines, number = inspect.getsourcelines(source)
    start = _place(lines, first, 0, source) if first else _behind_docstring(lines)
    end = _place(lines, last, start, source) if last else start if first else len(lines) - 1
    code = textwrap.dedent("".join(lines[start : end + 1])).rstrip()
    file = Path(inspect.getsourcefile(source) or "").relative_to(Path(seq2see.__file__).parent)
    return Quote(formula, code, f"seq2see/{file.as_posix()}:{number + start}")


def _place(lines: list[str], text: str, start: int, source: Callable[..., Any] | type) -> int:
    for place in range(start, len(lines)):
        if text in lines[place]:
            return place
    raise ConfigError(f"{source.__qualname__} has no line with '{text}' any more")


def _behind_docstring(lines: list[str]) -> int:
    """The first line of the body, or the signature where the docstring is missing."""
    quotes = '"""'
    for place, line in enumerate(lines):
        stripped = line.strip()
        if not stripped.startswith(quotes):
            continue
        end = place
        if stripped == quotes or stripped.count(quotes) == 1:
            end = next(later for later in range(place + 1, len(lines)) if quotes in lines[later])
        return end + 1
    return 0
