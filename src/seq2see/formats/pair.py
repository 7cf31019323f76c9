"""What every reader yields, and how it decides which side is which when a file names its languages."""

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from seq2see.errors import DataError


class Pair(NamedTuple):
    """A source text and its translation.

    `line` says where to find it, counted from 1: the line of the file (TSV, CSV, JSONL, PO, plain text, SRT), or the
    number of the unit where lines mean little (TMX, XLIFF, MO).
    """

    source: str
    target: str
    line: int


class Languages(NamedTuple):
    """The languages a user asked for; None leaves the choice to the file."""

    source: str | None = None
    target: str | None = None

    def settle(self, tags: Sequence[str], preferred: str | None = None) -> "tuple[str, str] | None":
        """Choose two of the tags, source first; None when these tags do not hold a pair.

        What the user asked for wins, then the file's own source language, then the order of the tags.
        """
        if self.source is not None:
            source = find_language(self.source, tags)
        else:
            taken = find_language(self.target, tags) if self.target else None
            free = [tag for tag in tags if tag != taken]
            source = (find_language(preferred, free) if preferred else None) or next(iter(free), None)
        others = [tag for tag in tags if tag != source]
        target = find_language(self.target, others) if self.target else next(iter(others), None)
        return (source, target) if source is not None and target is not None else None

    def turned(self, source: str | None, target: str | None, path: Path) -> bool:
        """Whether a file from `source` to `target` has to be read backwards to give what the user asked for.

        A language that the file does not state is believed to be the right one, unless the other way round the stated
        one fits: a catalogue into Korean, asked for Korean as the source, has to be turned.
        """
        straight = _fit(self.source, source) + _fit(self.target, target)
        backwards = _fit(self.source, target) + _fit(self.target, source)
        if max(straight, backwards) >= 0:
            return backwards > straight
        raise DataError(
            f"translates {source or 'an unnamed language'} to {target or 'an unnamed language'}, asked for "
            f"{self.source or 'any'} to {self.target or 'any'}; give other languages or another file",
            path=path,
        )


def find_language(wanted: str, tags: Collection[str]) -> str | None:
    """The tag that means the wanted language: the same one, or one that is wider or narrower (`ko`, `ko-KR`)."""
    if wanted in tags:
        return wanted
    near = [tag for tag in tags if _same_language(wanted, tag)]
    exact = [tag for tag in near if _subtags(tag) == _subtags(wanted)]
    return next(iter(exact + near), None)


def _subtags(tag: str) -> list[str]:
    return tag.strip().lower().replace("_", "-").split("-")


def _same_language(tag: str, other: str) -> bool:
    return all(a == b for a, b in zip(_subtags(tag), _subtags(other), strict=False))


def _fit(wanted: str | None, stated: str | None) -> float:
    """1 for the same language, 0 when one of the two is not known, and no way for another language."""
    if not wanted or not stated:
        return 0
    return 1 if _same_language(wanted, stated) else -math.inf
