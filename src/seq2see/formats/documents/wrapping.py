"""Columns and line breaks: how wide a text is on a screen, and where it may be broken."""

import re
import unicodedata
from itertools import pairwise
from typing import NamedTuple

from seq2see.formats.documents.placeholders import is_unspaced, spans

_SPACE = re.compile(r"\s+(?=\S)")
_NEVER_FIRST = frozenset(
    "、。，．・：；？！‐ー々〜）］｝〉》」』】〕…”’ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ!?,.:;)]}"
)
_NEVER_LAST = frozenset("（［｛〈《「『【〔“‘([{")


def columns(text: str) -> int:
    """Cells of a terminal: two for a wide character, none for a mark that combines."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def balanced(text: str, most: int, width: int) -> list[str]:
    """At most so many lines of about equal length; fewer when the text fits into `width` columns with fewer.

    Breaks fall at spaces, and between the characters of scripts without spaces; never inside a placeholder.
    """
    words = _words(text)
    if not words:
        return []
    fits = max(word.size for word in words) <= width
    return _evenly(words, min(most, len(_set(words, width))) if fits else most)


class _Word(NamedTuple):
    """What is never broken, with the space that follows it; `size` is its width without that space."""

    text: str
    size: int
    size_with_space: int


def _words(text: str) -> list[_Word]:
    inside = {place for start, end in spans(text) for place in range(start + 1, end)}
    breaks = sorted(_breaks(text) - inside)
    pieces = [text[start:end] for start, end in pairwise([0, *breaks, len(text)])]
    return [_Word(piece, visible_columns(piece.rstrip()), visible_columns(piece)) for piece in pieces if piece.strip()]


def _breaks(text: str) -> set[int]:
    """Behind white space, and where two characters of a script without spaces meet and allow it."""
    places = {space.end() for space in _SPACE.finditer(text)}
    for place in range(1, 0 if text.isascii() else len(text)):
        before, behind = text[place - 1], text[place]
        if is_unspaced(before) and is_unspaced(behind) and behind not in _NEVER_FIRST and before not in _NEVER_LAST:
            places.add(place)
    return places


def visible_columns(text: str) -> int:
    """Columns without tags, which the screen does not show."""
    tags = [(start, end) for start, end in spans(text) if text.startswith(("<", "{\\"), start)]
    return columns(text) - sum(columns(text[start:end]) for start, end in tags)


def _evenly(words: list[_Word], count: int) -> list[str]:
    """The narrowest way to set the words in so many lines, found by halving."""
    narrow, wide = max(word.size for word in words), sum(word.size_with_space for word in words)
    while narrow < wide:
        middle = (narrow + wide) // 2
        if len(_set(words, middle)) <= count:
            wide = middle
        else:
            narrow = middle + 1
    return _set(words, wide)


def _set(words: list[_Word], width: int) -> list[str]:
    """Line after line, each as full as it gets."""
    lines: list[list[str]] = []
    used = 0
    for word in words:
        if lines and used + word.size <= width:
            lines[-1].append(word.text)
        else:
            lines.append([word.text])
            used = 0
        used += word.size_with_space
    return ["".join(line).strip() for line in lines]
