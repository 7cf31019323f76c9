"""Required terms that the target vocabulary cannot spell: no search can say them, so they are put in as they are.

A vocabulary of whole words lacks most names, and any of its pieces that stands for such a term is `<unk>`, which spells
nothing. The place of the term is where the model looked at what it translates: the `<unk>` or the words that were said
while the source term got more weight than any other source word. The term takes its place in the text; the pieces of
the translation stay what the model said. Without attention, or without a known source term, the place is not known,
and the translation says so instead of guessing.
"""

import re
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seq2see.look import AttentionMap
from seq2see.text import Encoding
from seq2see.vocabulary import UNK

Span = tuple[int, int]

NO_ATTENTION = "the model has no attention, which would tell its place"
NO_SOURCE = "it is not known which source word it translates; a glossary says it, or required={source: target}"
NOT_LOOKED_AT = "nothing was said while the model looked at its source term"
_WORD = re.compile(r"\S+")
_CORE = re.compile(r"\w(?:.*\w)?", re.DOTALL)  # a word without the marks around it


class UnknownTerm(NamedTuple):
    """What became of a term that the target vocabulary lacks."""

    text: str
    span: Span | None = None  # where it stands in the translation; None: it is not in it
    reason: str = ""  # why it is not

    def moved(self, by: int) -> "UnknownTerm":
        """The same in a text that has so many characters more in front."""
        return self if self.span is None else self._replace(span=(self.span[0] + by, self.span[1] + by))


class Place(NamedTuple):
    """A stretch of what was said that gives way to a literal text."""

    start: int
    end: int
    literal: str
    rows: tuple[int, ...]  # the pieces that give way


@dataclass(frozen=True)
class DecodedText:
    """A translation before its unknown terms are put in."""

    reading: Encoding  # the pieces that were said, and where they lie in the text they spell
    attention: AttentionMap | None  # one head, every piece and column; None: the model has none
    whole_words: bool  # of the vocabulary: `<unk>` stands for a word with the space before it

    def prefix_place(self, prefix: str, pieces: int) -> Place:
        """Of a prefix of so many pieces, whatever they spell: the beginning."""
        end = self.reading.spans[pieces - 1][1]
        return Place(0, end, prefix + self._space_behind(end), tuple(range(pieces)))

    def term_place(self, term: str, pieces: Sequence[int], source: Span, taken: set[int]) -> Place | None:
        """Of a term whose source lies there: the `<unk>` that was said for it, else the words that were.

        Words side by side that look mostly at the term go together, as "rice wine" does; if there is none, the word
        goes that looks at the term most.
        """
        if self.attention is None:
            return None
        on_term, most_elsewhere, on_text = _weights(self.attention, source)

        def strength(place: Place) -> float:
            rows = list(place.rows)
            weight = float(on_term[rows].mean())
            return weight if taken.isdisjoint(rows) and weight > most_elsewhere[rows].mean() else 0.0

        def mostly(place: Place) -> bool:
            rows = list(place.rows)
            return strength(place) > 0 and on_term[rows].mean() > on_text[rows].mean() / 2

        words = list(self._words(term))
        runs = [list(run) for joined, run in groupby(words, key=mostly) if joined]
        for candidates in (list(self._unknown_runs(term, pieces)), [_joined(run) for run in runs], words):
            best = max(candidates, key=strength, default=None)
            if best is not None and strength(best) > 0:
                return best
        return None

    def rows_of(self, phrase: str) -> set[int]:
        """The pieces that say a phrase."""
        matches = [match.span() for match in re.finditer(re.escape(phrase), self.reading.text)]
        return {row for row, span in enumerate(self.reading.spans) if _meets(span, matches)}

    def _unknown_runs(self, term: str, pieces: Sequence[int]) -> Iterator[Place]:
        """What may stand for a term of these pieces: they themselves, or `<unk>` side by side."""
        ids = self.reading.ids
        for start in range(len(ids) - len(pieces) + 1):
            if ids[start : start + len(pieces)] == list(pieces):
                yield self._run_place(term, tuple(range(start, start + len(pieces))))
        for unknown, rows in groupby(range(len(ids)), key=lambda row: ids[row] == UNK):
            if unknown:
                yield self._run_place(term, tuple(rows))

    def _run_place(self, term: str, rows: tuple[int, ...]) -> Place:
        text, spans = self.reading.text, self.reading.spans
        start, end = spans[rows[0]][0], spans[rows[-1]][1]
        while start < end and text[start].isspace():
            start += 1
        before = " " if self.whole_words and start and not text[start - 1].isspace() else ""
        return Place(start, end, before + term + self._space_behind(end), rows)

    def _space_behind(self, end: int) -> str:
        """The space that the first word of a text has lost, which it needs when something comes before it."""
        first = next(
            (token for token, span in zip(self.reading.tokens, self.reading.spans, strict=True) if span[1]), ""
        )
        return " " if self.whole_words and end == 0 and first.startswith("▁") else ""

    def _words(self, term: str) -> Iterator[Place]:
        """Every word, without the marks around it."""
        for word in _WORD.finditer(self.reading.text):
            core = _CORE.search(word.group())
            if core is not None:
                start, end = word.start() + core.start(), word.start() + core.end()
                rows = [row for row, span in enumerate(self.reading.spans) if _meets(span, [(start, end)])]
                yield Place(start, end, term, tuple(rows))


def fill(text: str, places: Iterable[Place]) -> tuple[str, dict[str, Span]]:
    """The text with every literal in its place, and where each of them stands now; of equal ones the first."""
    filled, at = "", 0
    spans: dict[str, Span] = {}
    for place in sorted(places):
        filled += text[at : place.start]
        literal = place.literal.strip()
        start = len(filled) + place.literal.index(literal)
        spans.setdefault(literal, (start, start + len(literal)))
        filled, at = filled + place.literal, place.end
    return filled + text[at:], spans


def _joined(places: Sequence[Place]) -> Place:
    """Neighbours as one."""
    rows = tuple(row for place in places for row in place.rows)
    return Place(places[0].start, places[-1].end, places[0].literal, rows)


def _weights(
    attention: AttentionMap, source: Span
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(T,) each: the weight on the words of a stretch of the source, the most on another word, that on all words."""
    side, weights = attention.source, attention.weights[0, 0].astype(np.float64)
    words = [match.span() for match in _WORD.finditer(side.text)]
    own = np.array([_meets(span, [source]) for span in words], dtype=bool)
    of_column = np.array([-1 if word is None else word for word in side.words])
    by_word = np.stack([weights[:, of_column == number].sum(axis=1) for number in range(len(words))], axis=1)
    return by_word[:, own].sum(axis=1), by_word[:, ~own].max(axis=1, initial=0.0), by_word.sum(axis=1)


def _meets(span: Span, others: Sequence[Span]) -> bool:
    return any(span[0] < end and span[1] > start for start, end in others)


@dataclass
class TermTally:
    """What became of unknown terms in a whole job: one line to tell for each."""

    placed: dict[str, list[int]] = field(default_factory=dict)  # term -> numbers of the texts
    missing: dict[str, list[int]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def add(self, number: int, terms: Sequence[UnknownTerm]) -> None:
        for term in terms:
            numbers = (self.missing if term.span is None else self.placed).setdefault(term.text, [])
            insort(numbers, number)  # texts are finished in any order
            if term.span is None:
                self.reasons.setdefault(term.text, term.reason)

    def warnings(self, what: str = "line") -> list[str]:
        return [self._warning(term, what) for term in dict.fromkeys((*self.placed, *self.missing))]

    def _warning(self, term: str, what: str) -> str:
        parts = [f"the target vocabulary lacks '{term}'"]
        if numbers := self.placed.get(term):
            parts.append(f"put in as it is in {_counted(numbers, what)}")
        if numbers := self.missing.get(term):
            parts.append(f"NOT in the translation of {_counted(numbers, what)}: {self.reasons[term]}")
        return "; ".join(parts)


def _counted(numbers: Sequence[int], what: str) -> str:
    some = ", ".join(map(str, numbers[:3])) + (", ..." if len(numbers) > 3 else "")
    return f"{what} {some}" if len(numbers) == 1 else f"{len(numbers):,} {what}s ({some})"
