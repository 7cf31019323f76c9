"""Texts longer than a model has ever seen, cut where it hurts least: after sentences, else words, else letters.

All parts with the white space around them, put together, are the text again.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

# After the sign that ends a sentence and the white space behind it, or straight behind a full-width one.
_SENTENCE = re.compile(r"[^.!?…。！？]*[.!?…。！？]+[\"'”’)\]]*\s*|[^.!?…。！？]+", re.DOTALL)
_WORD = re.compile(r"\S+\s*|\s+")
_MOST_CHARACTERS = 10_000  # of a unit that is tokenised in one go: keeps the cost linear in the text

Tokenize = Callable[[Sequence[str]], list[list[int]]]


class TextPart(NamedTuple):
    """What a model is given, and the white space around it, which is kept as it is."""

    before: str
    text: str
    after: str
    ids: list[int]  # the pieces of `text`


def cut(texts: Sequence[str], most: int, tokenize: Tokenize) -> list[list[TextPart]]:
    """The parts of each text, of at most `most` pieces each; one part if the text without its margins is short enough.

    A text that fits is tokenised once, together with the others. Of one that does not, its sentences are tokenised to
    find the places to cut, then each part as it is translated.
    """
    trimmed = [_trim(text) for text in texts]
    whole = tokenize([text if len(text) <= _MOST_CHARACTERS else "" for _, text, _ in trimmed])
    parts = []
    for (before, text, after), ids in zip(trimmed, whole, strict=True):
        if len(text) <= _MOST_CHARACTERS and len(ids) <= most:
            parts.append([TextPart(before, text, after, ids)])
        else:
            stretches = _packed(_SENTENCE.findall(before + text + after), most, tokenize, _words)
            parts.append(_parts([_trim(stretch) for stretch in stretches], tokenize))
    return parts


def _parts(trimmed: Sequence[tuple[str, str, str]], tokenize: Tokenize) -> list[TextPart]:
    tokenized = tokenize([text for _, text, _ in trimmed])
    return [TextPart(*stretch, ids) for stretch, ids in zip(trimmed, tokenized, strict=True)]


def _trim(stretch: str) -> tuple[str, str, str]:
    """The white space before, the text, the white space after."""
    text = stretch.strip()
    start = stretch.find(text) if text else len(stretch)
    return stretch[:start], text, stretch[start + len(text) :]


def _packed(
    units: Sequence[str], most: int, tokenize: Tokenize, finer: Callable[[str, int, Tokenize], list[str]]
) -> list[str]:
    """Neighbouring units joined as long as they fit; one that does not fit by itself is cut more finely."""
    stretches: list[str] = []
    room = 0
    for unit, size in zip(units, _sizes(units, tokenize), strict=True):
        if size > most:
            stretches += finer(unit, most, tokenize)
            room = 0
        elif size <= room:
            stretches[-1] += unit
            room -= size
        else:
            stretches.append(unit)
            room = most - size
    return stretches


def _sizes(units: Sequence[str], tokenize: Tokenize) -> list[int]:
    """Pieces of each unit; one too long to be worth tokenising counts as larger than anything."""
    tokenized = tokenize([unit if len(unit) <= _MOST_CHARACTERS else "" for unit in units])
    return [len(ids) if len(unit) <= _MOST_CHARACTERS else 2**62 for unit, ids in zip(units, tokenized, strict=True)]


def _words(text: str, most: int, tokenize: Tokenize) -> list[str]:
    return _packed(_WORD.findall(text), most, tokenize, _characters)


def _characters(text: str, most: int, tokenize: Tokenize) -> list[str]:
    """Halved until it fits: what has neither sentences nor words."""
    if len(text) <= 1 or (len(text) <= _MOST_CHARACTERS and len(tokenize([text])[0]) <= most):
        return [text]
    middle = len(text) // 2
    return _characters(text[:middle], most, tokenize) + _characters(text[middle:], most, tokenize)
