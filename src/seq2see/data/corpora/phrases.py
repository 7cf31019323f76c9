"""`phrases`: Korean and English sentences from one grammar, with the word alignment the grammar knows.

Tokens are words between spaces; the final mark and the English comma stand alone (`I am a student .`), so that
words of the text are the words of the alignment. Every word of both sides is aligned. Function words go where their
meaning is carried: articles with their noun, prepositions with the noun that carries the particle, *be*, *do*,
*will*, *not*, *that*, *because* with the eojeol whose ending says so.

Korean -> English: politeness, negation and adverb order vary freely in Korean, English is a function of it.
English -> Korean: Korean keeps to one way of saying (polite 해요체), so that it is a function of the English.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

from seq2see.data.corpora.sentence import sentence
from seq2see.data.corpora.structure import Draw, Word

Pair = tuple[str, str, tuple[tuple[int, int], ...]]

LONGEST = 40
"""No side has more words, the final mark included."""

# Aimed lengths in English words, in buckets of five. The demo wants to see what length does, so long ones are common.
_BUCKETS = ((3, 5), (6, 10), (11, 15), (16, 20), (21, 25), (26, 30), (31, 35), (36, 40))
_SHARES = (0.1, 0.16, 0.17, 0.15, 0.13, 0.11, 0.1, 0.08)


def _aim(random: Callable[[], float]) -> int:
    roll = random()
    for (low, high), share in zip(_BUCKETS, _SHARES, strict=True):
        if roll < share:
            return low + int(random() * (high - low + 1))
        roll -= share
    return LONGEST


def alignment(source: list[Word], target: list[Word]) -> tuple[tuple[int, int], ...]:
    """The pairs of positions whose words share a concept."""
    where: dict[int, list[int]] = {}
    for position, (_, concept) in enumerate(target):
        where.setdefault(concept, []).append(position)
    return tuple((position, other) for position, (_, concept) in enumerate(source) for other in where.get(concept, ()))


def pairs(random: Callable[[], float], *, into: str = "english") -> Iterator[Pair]:
    """An endless stream of (source, target, alignment), with repetitions."""
    to_english = into == "english"
    while True:
        draw = Draw(random, canonical=not to_english)
        built = sentence(draw, _aim(random))
        if len(built.english) >= LONGEST or len(built.korean) >= LONGEST:
            continue
        if any(one[0] == two[0] == "that" for one, two in pairwise(built.english)):  # correct, and hard on the eye
            continue
        korean = [*built.korean, (built.mark, -1)]
        english = [*built.english, (built.mark, -1)]
        first = english[0][0]
        english[0] = (first[0].upper() + first[1:], english[0][1])
        source, target = (korean, english) if to_english else (english, korean)
        yield " ".join([w for w, _ in source]), " ".join([w for w, _ in target]), alignment(source, target)
