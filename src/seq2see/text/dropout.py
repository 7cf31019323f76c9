"""Subword dropout (Provilkov 2020): cutting a word by byte pair merges, some of them left out by chance.

The library has it too, but draws from a generator nobody can seed; a training run of ours must come out the same
from the same seed. The merges are those the library learned, and without dropout the cut is the library's own.
"""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from random import Random


class Merges:
    """The learned merges by the ids they join."""

    def __init__(self, ids: Mapping[str, int], merges: Sequence[tuple[str, str]]) -> None:
        self._ranked = {
            (ids[left], ids[right]): (rank, ids[left + right])
            for rank, (left, right) in reversed(list(enumerate(merges)))  # of doubles, the first one counts
        }

    def cut(self, symbols: Sequence[int], dropout: float, random: Random) -> list[tuple[int, int]]:
        """The pieces of one word as (id, start), from the ids of its characters.

        Each time a merge is due, every candidate is left out with probability `dropout`; the word is done when none
        is left. A heap and linked neighbours keep it n log n for a word of any length.
        """
        ids, count = list(symbols), len(symbols)
        before, after = list(range(-1, count - 1)), [*range(1, count), -1]
        due: list[tuple[int, int, int]] = []
        for left in range(count - 1):
            if merge := self._ranked.get((ids[left], ids[left + 1])):
                due.append((merge[0], left, merge[1]))
        heapify(due)
        left_out: list[tuple[int, int, int]] = []
        while due:
            rank, left, merged = due[0]
            right = after[left]
            if right < 0 or self._ranked.get((ids[left], ids[right])) != (rank, merged):
                heappop(due)  # a neighbour was merged since
                continue
            if random.random() < dropout:
                left_out.append(heappop(due))
                continue
            heappop(due)
            while left_out:
                heappush(due, left_out.pop())
            ids[left], ids[right], after[left] = merged, -1, after[right]
            if after[left] >= 0:
                before[after[left]] = left
            for first, second in ((before[left], left), (left, after[left])):
                if first >= 0 <= second and (merge := self._ranked.get((ids[first], ids[second]))):
                    heappush(due, (merge[0], first, merge[1]))
        return [(piece, start) for start, piece in enumerate(ids) if piece >= 0]
