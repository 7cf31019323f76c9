"""Sounds that were made and styles that were heard, kept in memory for a while: the newest ones, under random names."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, TypeVar

MOST_SOUNDS = 64
MOST_BYTES = 64 * 2**20  # of all sounds; a minute is about 3 MB
MOST_STYLES = 256

Thing = TypeVar("Thing")
StyleWeights = tuple[tuple[float, ...], ...]
"""(heads, tokens)."""


@dataclass
class RecentlyUsed(Generic[Thing]):
    """At most so many things of so many bytes in all; the one asked for longest ago goes first."""

    most: int
    most_bytes: int
    _things: "OrderedDict[str, tuple[Thing, int]]" = field(default_factory=OrderedDict)
    _bytes: int = 0

    def keep(self, thing: Thing, size: int = 0) -> str:
        """Under a name that cannot be guessed."""
        name = secrets.token_urlsafe(12)
        self._things[name] = thing, size
        self._bytes += size
        while len(self._things) > self.most or (self._bytes > self.most_bytes and len(self._things) > 1):
            _, (_, freed) = self._things.popitem(last=False)
            self._bytes -= freed
        return name

    def get(self, name: str) -> Thing | None:
        if name not in self._things:
            return None
        self._things.move_to_end(name)
        return self._things[name][0]


def sounds() -> RecentlyUsed[bytes]:
    return RecentlyUsed(MOST_SOUNDS, MOST_BYTES)


def styles() -> RecentlyUsed[StyleWeights]:
    return RecentlyUsed(MOST_STYLES, MOST_BYTES)
