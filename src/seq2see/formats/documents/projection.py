"""Placeholders put into a translation that was made without them, where the model looked at the words they stood at.

    Press <1>the key</1>.     Press the key.     Drücken Sie die Taste.     Drücken Sie <1>die Taste</1>.

A pair of tags goes around the run of words that attends most to what it stood around: of all runs the one with the
greatest sum of (share of attention on the inside - 1/2), without marks at its ends that the source does not have.
Anything else goes before the word that attends most to the word behind it.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seq2see.formats.documents.placeholders import gaps_between_words, repaired, spans, tag_pairs

Span = tuple[int, int]

_WORD = re.compile(r"\S+")


class PlainText(NamedTuple):
    """A text without its placeholders, and where in it each of them stood."""

    text: str
    places: tuple[int, ...]


class Attended(NamedTuple):
    """(T, S) weights of target on source pieces, and where the pieces lie in their texts."""

    weights: NDArray[np.float64]
    target: Sequence[Span]
    source: Sequence[Span]


def without_placeholders(source: str) -> PlainText:
    """Of two spaces that a placeholder leaves behind one goes as well."""
    text, places, end_of_last = "", [], 0
    for start, end in spans(source):
        text += source[end_of_last:start]
        places.append(len(text))
        stands_alone = (not text or text[-1].isspace()) and source[end : end + 1].isspace()
        end_of_last = end + 1 if stands_alone else end
    return PlainText(text + source[end_of_last:], tuple(places))


def projected(source: str, plain: PlainText, translation: str, attended: Attended | None) -> str:
    """The translation of `plain` with the placeholders of `source`; without attention in proportion to the words."""
    if attended is None:
        return repaired(source, translation)
    words = [(start, end) for start, end in pairwise(gaps_between_words(translation)) if translation[start:end].strip()]
    if not words:
        return repaired(source, translation)
    shares = _Shares(attended, words)
    stood = list(spans(source))
    at = {start: shares.place(plain.text, place) for (start, _), place in zip(stood, plain.places, strict=True)}
    for opening, closing in tag_pairs(tuple(source[start:end] for start, end in stood)):
        inside = plain.places[opening], plain.places[closing]
        stretch = plain.text[slice(*inside)].strip()
        if stretch:
            run = _trimmed(shares.run(inside), translation, stretch)
            at[stood[opening][0]], at[stood[closing][0]] = run[0][0], run[-1][1]
    return repaired(source, translation, at.__getitem__)


def _trimmed(run: list[Span], text: str, stretch: str) -> list[Span]:
    """Without the marks at its ends, if the source has words there."""

    def is_mark(word: Span) -> bool:
        return not any(map(str.isalnum, text[slice(*word)]))

    while len(run) > 1 and stretch[0].isalnum() and is_mark(run[0]):
        run = run[1:]
    while len(run) > 1 and stretch[-1].isalnum() and is_mark(run[-1]):
        run = run[:-1]
    return run


class _Shares:
    """How much of the attention of each target word lies on a stretch of the source."""

    def __init__(self, attended: Attended, words: Sequence[Span]) -> None:
        self.words = words
        self.source = attended.source
        rows = np.array([[_meet(word, piece) for piece in attended.target] for word in words], dtype=np.float64)
        self.weights = rows @ attended.weights  # (words, S)
        says_text = np.array([start < end for start, end in attended.source])
        self.totals = (self.weights * says_text).sum(axis=1)

    def on(self, stretch: Span) -> NDArray[np.float64]:
        """(words,) between 0 and 1."""
        inside = np.array([_meet(stretch, piece) for piece in self.source], dtype=np.float64)
        shares = np.zeros(len(self.words))
        np.divide(self.weights @ inside, self.totals, out=shares, where=self.totals > 0)
        return shares

    def run(self, stretch: Span) -> list[Span]:
        """The words of the translation that speak of this stretch: one at least, side by side."""
        gains = self.on(stretch) - 0.5
        first = last = int(gains.argmax())
        greatest, total, begin = gains[first], 0.0, 0
        for place, gain in enumerate(gains):
            if total <= 0:
                total, begin = 0.0, place
            total += gain
            if total > greatest:
                greatest, first, last = total, begin, place
        return list(self.words[first : last + 1])

    def place(self, text: str, place: int) -> int:
        """Where something belongs that stands at `place` of the source: before what translates the word behind it."""
        behind = next((word.span() for word in _WORD.finditer(text, place)), None)
        if behind is not None:
            return self.words[int(self.on(behind).argmax())][0]
        before = [word.span() for word in _WORD.finditer(text, 0, place)]
        return self.words[int(self.on(before[-1]).argmax())][1] if before else self.words[-1][1]


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
