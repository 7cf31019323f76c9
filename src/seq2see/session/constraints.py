"""What translations must and must not say, from a file.

glossary.tsv      source term <tab> target term: where the source holds the first, the translation holds the second
                  (nothing in front of the tab: every translation;  !term behind it: the translation never holds it)
lines.jsonl       one object for each input line: {"prefix": "", "required": [], "forbidden": []}, all optional;
                  "required": {"source term": "target term"} as in a glossary
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any, Protocol

from seq2see.errors import DataError
from seq2see.formats.reading.lines import at_most, encoding_of, read_lines
from seq2see.session.decoding import whole_words
from seq2see.session.translation import Request
from seq2see.text import normalise

MOST_TERMS = 100_000  # of a glossary: each is a pattern that is held, and looked for in every line
LONGEST_TERM = 1000  # characters

_SURROGATE = re.compile("[\ud800-\udfff]")
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
        spelled = normalise(text) if self.terms else text
        terms = [term for term in self.terms if term.source is None or term.source.search(spelled)]
        return Request(
            text,
            self.prefix,
            tuple(dict.fromkeys(term.target for term in terms if not term.forbidden)),
            tuple(dict.fromkeys(term.target for term in terms if term.forbidden)),
            number,
            {term.target: term.source for term in terms if term.source is not None},
        )


class PerLine:
    """A line of constraints for each line of input."""

    def __init__(self, path: Path, prefix: str, encoding: str | None = None) -> None:
        self.path, self.prefix = path, prefix
        self._lines: Iterator[str] = read_lines(path, encoding)
        self._numbers = count(1)

    def request(self, text: str, number: int) -> Request:
        line, content = next(self._numbers), next(self._lines, None)
        if content is None:
            raise DataError(f"has {line - 1} lines, but the input has more; one object for each line", path=self.path)
        wishes = _object(content, self.path, line)
        prefix = wishes.get("prefix", "") or self.prefix
        return make_glossary(wishes.get("required", ()), wishes.get("forbidden", ()), prefix).request(text, number)


def make_glossary(
    required: Sequence[str] | Mapping[str, str], forbidden: Sequence[str] = (), prefix: str = ""
) -> Glossary:
    """For every text: phrases; or, as in a glossary, source terms and what they become."""
    pairs = required.items() if isinstance(required, Mapping) else (("", phrase) for phrase in required)
    terms = [Term(_source_pattern(normalise(source)), target, forbidden=False) for source, target in pairs]
    return Glossary((*terms, *(Term(None, phrase, forbidden=True) for phrase in forbidden)), prefix)


def read_constraints(path: Path | None, prefix: str = "", encoding: str | None = None) -> Constraints:
    """The encoding is that of the texts; a file that is UTF-8 is read as such all the same."""
    if path is None:
        return Glossary(prefix=prefix)
    encoding = encoding_of(path, encoding)
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        return PerLine(path, prefix, encoding)
    return Glossary(tuple(at_most(MOST_TERMS, _terms(path, encoding), "terms", path)), prefix)


def _terms(path: Path, encoding: str | None) -> Iterator[Term]:
    for line, text in enumerate(read_lines(path, encoding), start=1):
        if not text.strip() or text.startswith("#"):
            continue
        source, _, rest = normalise(text).partition("\t")
        source, target = source.strip(), rest.partition("\t")[0].strip()
        word = target.removeprefix("!").strip()
        if not word:
            raise DataError("expected: source term<tab>target term, or <tab>!term to forbid one", path=path, line=line)
        if max(len(source), len(word)) > LONGEST_TERM:
            raise DataError(
                f"a term of more than {LONGEST_TERM:,} characters; is this a glossary?", path=path, line=line
            )
        yield Term(_source_pattern(source), word, forbidden=target.startswith("!"))


def _source_pattern(term: str) -> re.Pattern[str] | None:
    """Where a text holds a source term; None for no term, which any text holds."""
    if not term:
        return None
    # Korean and other languages put particles straight behind a word, so only where it begins matters.
    return whole_words(term) if term.isascii() else re.compile(r"(?<!\w)" + re.escape(term))


def _object(text: str, path: Path, line: int) -> dict[str, Any]:
    try:
        wishes = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        raise DataError('not JSON; expected such as {"required": ["word"]}', path=path, line=line) from None
    wrong = set(wishes) - _NAMES if isinstance(wishes, dict) else {"it"}
    if wrong:
        raise DataError(f"{sorted(wrong)[0][:40]} is not one of {', '.join(sorted(_NAMES))}", path=path, line=line)
    required, forbidden = wishes.get("required", []), wishes.get("forbidden", [])
    pairs = list(chain(*required.items())) if isinstance(required, dict) else required
    prefix = wishes.get("prefix", "")
    if not isinstance(prefix, str) or not all(map(_are_texts, (pairs, forbidden))):
        raise DataError(
            'required and forbidden are lists of texts (or required {"source term": "target term"}), prefix is a text',
            path=path,
            line=line,
        )
    if any(_SURROGATE.search(phrase) for phrase in (prefix, *pairs, *forbidden)):
        raise DataError("a phrase holds half of a surrogate pair, which is no character", path=path, line=line)
    return wishes


def _are_texts(phrases: Any) -> bool:
    return isinstance(phrases, list) and all(isinstance(phrase, str) and phrase for phrase in phrases)
