"""What tells pairs apart once their texts are gone: 64-bit hashes, a few dozen bytes a pair whatever its length."""

import unicodedata
from array import array

import numpy as np
from numpy.typing import NDArray

from seq2see.formats import Pair

Mask = NDArray[np.bool_]


def loosen(text: str) -> str:
    """The text without case, white space and punctuation, to find what is nearly the same."""
    return text.casefold().translate(_LOOSE) or text


class _Loose(dict[int, int | None]):
    """A table for `str.translate` that looks each character up once: marks and letters stay, the rest goes."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code))[0] in "PZC" else code
        return self[code]


_LOOSE = _Loose()


class Keys:
    """What is kept of each pair: where it stands, and 64-bit hashes that are equal when the texts are."""

    def __init__(self, *, loose: bool) -> None:
        self.loose = loose
        self.line, self.empty, self.copy = array("q"), array("b"), array("b")
        self.source, self.pair = array("q"), array("q")
        self.loose_source, self.loose_pair = array("q"), array("q")

    def add(self, pair: Pair) -> None:
        """Take in the next pair."""
        source, target = pair.source.strip(), pair.target.strip()
        empty = not source or not target
        self.line.append(pair.line)
        self.empty.append(empty)
        self.copy.append(source == target and not empty)
        self.source.append(hash(pair.source))
        self.pair.append(hash((pair.source, pair.target)))
        if self.loose:
            source, target = loosen(source), loosen(target)
            self.loose_source.append(hash(source))
            self.loose_pair.append(hash((source, target)))


def as_mask(marks: "array[int]") -> Mask:
    """A column of yes and no."""
    return np.frombuffer(marks, np.int8) != 0


def as_numbers(column: "array[int]") -> NDArray[np.int64]:
    """A column of lines or hashes, not copied."""
    return np.frombuffer(column, np.int64)


def repeated(hashes: NDArray[np.int64], among: Mask) -> Mask:
    """Where a hash stands for the second time or later, looking only at some of the places."""
    places = np.flatnonzero(among)
    order = places[np.argsort(hashes[places], kind="stable")]
    mask = np.zeros(len(hashes), bool)
    mask[order[1:][hashes[order][1:] == hashes[order][:-1]]] = True
    return mask
