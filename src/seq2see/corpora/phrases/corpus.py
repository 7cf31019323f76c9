"""`phrases`: Korean and English sentences from one grammar, with the word alignment the grammar knows.

Tokens are words between spaces; the final mark and the English comma stand alone (`I am a student .`), so that
words of the text are the words of the alignment. Every word of both sides is aligned. Function words go where their
meaning is carried: articles with their noun, prepositions with the noun that carries the particle, *be*, *do*,
*will*, *not*, *that*, *because* with the eojeol whose ending says so.

Korean -> English: politeness, negation and adverb order vary freely in Korean, English is a function of it.
English -> Korean: Korean keeps to one way of saying (polite 해요체), so that it is a function of the English.
"""

from collections.abc import Callable, Iterator

from seq2see.corpora.phrases.interrogative import question, request
from seq2see.corpora.phrases.sentence import Sentence, statement
from seq2see.corpora.phrases.structure import Draw, Word

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


def sentence(draw: Draw, words: int) -> Sentence:
    """A sentence that aims at so many English words, final mark included."""
    roll = draw.random()
    if words <= 12 and roll < (0.3 if words <= 5 else 0.08):
        return request(draw, words - 1)
    if words <= 14 and roll < (0.55 if words <= 5 else 0.2):
        return question(draw, words - 1)
    return statement(draw, words - 1)


def alignment(source: list[Word], target: list[Word]) -> tuple[tuple[int, int], ...]:
    """The pairs of positions whose words share a concept."""
    where: dict[int, list[int]] = {}
    for position, (_, concept) in enumerate(target):
        if concept in where:
            where[concept].append(position)
        else:
            where[concept] = [position]
    links: list[tuple[int, int]] = []
    for position, (_, concept) in enumerate(source):
        for other in where[concept]:
            links.append((position, other))
    return tuple(links)


def pairs(random: Callable[[], float], *, into: str = "english", most: int | None = None) -> Iterator[Pair]:
    """An endless stream of (source, target, alignment), with repetitions; `most`: words used of each list."""
    to_english = into == "english"
    while True:
        built = sentence(Draw(random, canonical=not to_english, most=most), _aim(random))
        korean, english = built.korean, built.english
        if len(english) >= LONGEST or len(korean) >= LONGEST:
            continue
        korean.append((built.mark, -1))
        english.append((built.mark, -1))
        korean_text = " ".join([word for word, _ in korean])
        english_text = " ".join([word for word, _ in english])
        if " that that " in english_text:  # correct, and hard on the eye
            continue
        english_text = english_text[0].upper() + english_text[1:]
        if to_english:
            yield korean_text, english_text, alignment(korean, english)
        else:
            yield english_text, korean_text, alignment(english, korean)
