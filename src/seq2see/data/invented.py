"""Invented pairs for tasks that copy most of a word: real pairs with another stem put into both sides.

`Abmachung N;ACC(PL)` -> `Abmachungen` becomes `Verkelung N;ACC(PL)` -> `Verkelungen`. A model that has seen few stems
learns from them to copy any stem, instead of the stems by heart (Anastasopoulos & Neubig 2019; Silfverberg 2017).
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from seq2see.data.profile import longest_common_run
from seq2see.formats import Pair

_SHORTEST = 4  # characters that both sides must share to be called a stem
_KEPT = 3  # characters at the end of a stem, which often decide how it is inflected
_PARTS = (2, 6)  # lengths of the part that takes the place of the rest


class CopiedStem(NamedTuple):
    """A run of characters that a pair copies."""

    pair: Pair
    source: int  # where it begins
    target: int
    length: int

    @property
    def text(self) -> str:
        return self.pair.source[self.source : self.source + self.length]


def find_stems(pairs: Iterable[Pair]) -> list[CopiedStem]:
    """The pairs that copy a run long enough."""
    stems = (CopiedStem(pair, *longest_common_run(pair.source, pair.target)) for pair in pairs)
    return [stem for stem in stems if stem.length >= _SHORTEST and not stem.text.isspace()]


def invent(stems: Sequence[CopiedStem], count: int, seed: int) -> Iterator[Pair]:
    """`count` pairs: the beginning of a stem is replaced by parts of other stems; the same seed, the same pairs."""
    if not stems:
        return
    draw = random.Random(seed)
    for _ in range(count):
        stem = draw.choice(stems)
        kept = stem.text[-_KEPT:]
        new = _beginning(draw, stems) + kept
        if stem.text[:1].isupper():
            new = new[:1].upper() + new[1:]
        yield Pair(
            _replaced(stem.pair.source, stem.source, stem.length, new),
            _replaced(stem.pair.target, stem.target, stem.length, new),
            stem.pair.line,
        )


def _beginning(draw: random.Random, stems: Sequence[CopiedStem]) -> str:
    """Two parts of other stems, so that it looks like a word of the language."""
    parts = []
    for stem in (draw.choice(stems), draw.choice(stems)):
        length = draw.randint(*_PARTS)
        start = draw.randrange(max(1, stem.length - length + 1))
        parts.append(stem.text[start : start + length])
    return "".join(parts).lower().strip() or draw.choice(stems).text[0]


def _replaced(text: str, start: int, length: int, new: str) -> str:
    return text[:start] + new + text[start + length :]
