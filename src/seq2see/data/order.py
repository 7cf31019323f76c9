"""Which pairs come when: a pure function of (seed, epoch, step), so that a resumed run needs two numbers and no more.

An epoch is a permutation of the pairs, computed index by index (a Feistel network), so nothing is kept that grows
with the corpus. It is read in pools; a pool is sorted by length, cut into batches of a token budget, and the batches
are shuffled.
"""

import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from seq2see.data.store import CorpusRange, Store

POOL = 1 << 15
Indices = NDArray[np.int64]


class Order:
    """The batches of a store under one seed and budget."""

    def __init__(self, store: Store, *, seed: int, batch_tokens: int) -> None:
        self.store = store
        self.seed = seed
        self.batch_tokens = batch_tokens
        self.counts = [max(1, round((group.end - group.start) * group.weight)) for group in store.groups]
        self.pairs = sum(self.counts)  # in one epoch, the weights of the mixture taken into account

    def batches(self, epoch: int, first: int = 0) -> Iterator[Indices]:
        """The batches of an epoch as pair numbers, from batch `first` on."""
        number = 0
        for pool in range((self.pairs + POOL - 1) // POOL):
            batches = self._pool(epoch, pool)
            skipped = min(max(first - number, 0), len(batches))
            number += len(batches)
            yield from batches[skipped:]

    def count(self, epoch: int) -> int:
        """How many batches an epoch has."""
        return sum(len(self._pool(epoch, pool)) for pool in range((self.pairs + POOL - 1) // POOL))

    def _pool(self, epoch: int, pool: int) -> list[Indices]:
        places = np.arange(pool * POOL, min((pool + 1) * POOL, self.pairs), dtype=np.int64)
        indices = self._real(permute(places, self.pairs, (self.seed, epoch)), epoch)
        source = self.store.source.lengths(indices)
        target = self.store.target.lengths(indices) + 1
        by_length = np.lexsort((source, target))
        cuts = _cut(source[by_length], target[by_length], self.batch_tokens)
        batches = np.split(indices[by_length], cuts)
        shuffled = np.random.default_rng((self.seed, epoch, pool)).permutation(len(batches))
        return [batches[place] for place in shuffled]

    def _real(self, places: Indices, epoch: int) -> Indices:
        """Places in the epoch's mixture -> pairs of the store; what a weight leaves out differs from epoch to epoch."""
        indices = np.empty_like(places)
        start = 0
        for group, count in zip(self.store.groups, self.counts, strict=True):
            inside = (places >= start) & (places < start + count)
            size = max(1, group.end - group.start)
            indices[inside] = group.start + (places[inside] - start + epoch * _turn(group, count)) % size
            start += count
        return indices


def _turn(group: CorpusRange, count: int) -> int:
    """How far each epoch starts behind the last, where a weight is not a whole number."""
    return count if count % max(1, group.end - group.start) else 0


def _cut(source: Indices, target: Indices, budget: int) -> list[int]:
    """Where batches end in pairs sorted by length: rows x longest side stays within the budget."""
    cuts, start, longest = [], 0, 0
    for place, length in enumerate(np.maximum(source, target).tolist()):
        longest = max(longest, length)
        if place > start and (place - start + 1) * longest > budget:
            cuts.append(place)
            start, longest = place, length
    return cuts


def permute(places: Indices, size: int, key: tuple[int, ...]) -> Indices:
    """A permutation of 0 .. size - 1, at the given places: a Feistel network, walked until it lands inside."""
    half = max(1, ((max(size - 1, 1)).bit_length() + 1) // 2)
    rounds = [zlib.crc32(repr((*key, number)).encode()) for number in range(4)]
    result = _shuffle(places, half, rounds)
    while (outside := result >= size).any():
        result[outside] = _shuffle(result[outside], half, rounds)
    return result


def _shuffle(places: Indices, half: int, rounds: list[int]) -> Indices:
    low_bits = np.int64((1 << half) - 1)
    left, right = places >> half, places & low_bits
    for salt in rounds:
        mixed = (right.astype(np.uint64) + np.uint64(salt)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        left, right = right, left ^ ((mixed >> np.uint64(32)).astype(np.int64) & low_bits)
    return (left << half) | right
