"""What translations must and must not say, from a file.

glossary.tsv      source term <tab> target term: where the source holds the first, the translation holds the second
                  (nothing in front of the tab: every translation;  !term behind it: the translation never holds it)
lines.jsonl       one object for each input line: {"prefix": "", "required": [], "forbidden": []}, all optional
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from seq2see.errors import DataError
from seq2see.session.decoding import whole_words
from seq2see.session.translation import Request
from seq2see.text import normalise
from seq2see.text.lines import read_lines

_NAMES = {"prefix", "required", "forbidden"}


class Constraints(Protocol):
    def request(self, text: str, number: int) -> Request: ...


@dataclass(frozen=True)
class Term:
    source: re.Pattern[str] | None  # None: any source
    target: str
    forbidden: bool


@dataclass(frozen=True)
class Glossary:
    """The same terms for every line."""

    terms: tuple[Term, ...] = ()
    prefix: str = ""

    def request(self, text: str, number: int) -> Request:
        text = normalise(text)
        found = [term for term in self.terms if term.source is None or term.source.search(text)]
        return Request(
            text,
            self.prefix,
            tuple(dict.fromkeys(term.target for term in found if not term.forbidden)),
            tuple(dict.fromkeys(term.target for term in found if term.forbidden)),
            number,
        )


class PerLine:
    """A line of constraints for each line of input."""

    def __init__(self, path: Path, prefix: str) -> None:
        self.path, self.prefix = path, prefix
        self._lines: Iterator[str] = read_lines(path)
        self._numbers = count(1)

    def request(self, text: str, number: int) -> Request:
        line, given = next(self._numbers), next(self._lines, None)
        if given is None:
            raise DataError(f"has {line - 1} lines, but the input has more; one object for each line", path=self.path)
        told = _object(given, self.path, line)
        return Request(
            text,
            told.get("prefix", "") or self.prefix,
            tuple(told.get("required", ())),
            tuple(told.get("forbidden", ())),
            number,
        )


def read_constraints(path: Path | None, prefix: str = "") -> Constraints:
    if path is None:
        return Glossary(prefix=prefix)
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        return PerLine(path, prefix)
    return Glossary(tuple(_terms(path)), prefix)


def _terms(path: Path) -> Iterator[Term]:
    for line, text in enumerate(read_lines(path), start=1):
        if not text.strip() or text.startswith("#"):
            continue
        source, _, rest = normalise(text).partition("\t")
        source, target = source.strip(), rest.partition("\t")[0].strip()
        word = target.removeprefix("!").strip()
        if not word:
            raise DataError("expected: source term<tab>target term, or <tab>!term to forbid one", path=path, line=line)
        # Korean and other languages put particles straight behind a word, so only where it begins matters.
        pattern = re.compile(r"(?<!\w)" + re.escape(source)) if source and not source.isascii() else None
        pattern = pattern or (whole_words(source) if source else None)
        yield Term(pattern, word, forbidden=target.startswith("!"))


def _object(text: str, path: Path, line: int) -> dict[str, Any]:
    try:
        told = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise DataError('not JSON; expected such as {"required": ["word"]}', path=path, line=line) from None
    wrong = set(told) - _NAMES if isinstance(told, dict) else {"it"}
    if wrong:
        raise DataError(f"{sorted(wrong)[0]} is not one of {', '.join(sorted(_NAMES))}", path=path, line=line)
    lists = (told.get(name, []) for name in ("required", "forbidden"))
    whole = isinstance(told.get("prefix", ""), str)
    if not whole or not all(isinstance(x, list) and all(isinstance(p, str) and p for p in x) for x in lists):
        raise DataError("required and forbidden are lists of texts, prefix is a text", path=path, line=line)
    return told
