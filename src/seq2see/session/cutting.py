"""Texts longer than a model has ever seen, cut where it hurts least: after sentences, else words, else letters.

All parts with the white space around them, put together, are the text again.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

# After the sign that ends a sentence and the white space behind it, or straight behind a full-width one.
_SENTENCE = re.compile(r"[^.!?…。！？]*[.!?…。！？]+[\"'”’)\]]*\s*|[^.!?…。！？]+", re.DOTALL)
_WORD = re.compile(r"\S+\s*|\s+")
_MOST_CHARACTERS = 10_000  # of a unit that is measured in one piece: keeps the cost linear in the text

Measure = Callable[[Sequence[str]], list[int]]


class TextPart(NamedTuple):
    """What a model is given, and the white space around it, which is kept as it is."""

    before: str
    text: str
    after: str


def cut(text: str, most: int, measure: Measure) -> list[TextPart]:
    """Parts of at most `most` pieces each, as `measure` counts them; one part if the text is short enough."""
    short = len(text) <= _MOST_CHARACTERS and measure([text])[0] <= most
    stretches = [text] if short else _packed(_SENTENCE.findall(text), most, measure, _words)
    return [_part(stretch) for stretch in stretches]


def _part(stretch: str) -> TextPart:
    text = stretch.strip()
    start = stretch.find(text) if text else len(stretch)
    return TextPart(stretch[:start], text, stretch[start + len(text) :])


def _packed(
    units: Sequence[str], most: int, measure: Measure, finer: Callable[[str, int, Measure], list[str]]
) -> list[str]:
    """Neighbouring units joined as long as they fit; one that does not fit by itself is cut more finely."""
    stretches: list[str] = []
    room = 0
    for unit, size in zip(units, _sizes(units, measure), strict=True):
        if size > most:
            stretches += finer(unit, most, measure)
            room = 0
        elif size <= room:
            stretches[-1] += unit
            room -= size
        else:
            stretches.append(unit)
            room = most - size
    return stretches


def _sizes(units: Sequence[str], measure: Measure) -> list[int]:
    """A unit too long to be worth measuring counts as larger than anything."""
    sizes = measure([unit if len(unit) <= _MOST_CHARACTERS else "" for unit in units])
    return [size if len(unit) <= _MOST_CHARACTERS else 2**62 for unit, size in zip(units, sizes, strict=True)]


def _words(text: str, most: int, measure: Measure) -> list[str]:
    return _packed(_WORD.findall(text), most, measure, _characters)


def _characters(text: str, most: int, measure: Measure) -> list[str]:
    """Halved until it fits: what has neither sentences nor words."""
    if len(text) <= 1 or (len(text) <= _MOST_CHARACTERS and measure([text])[0] <= most):
        return [text]
    middle = len(text) // 2
    return _characters(text[:middle], most, measure) + _characters(text[middle:], most, measure)
