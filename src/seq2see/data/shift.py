"""Runs of pairs whose targets have slipped by a few lines.

One line lost in one of two files, one line too many further down: the counts agree, no reader complains, and every
pair between the two is wrong. What betrays such a run is that the length, the numbers and the end mark of a source
agree better with the target a line or two away than with its own. For one line that is a weak sign; summed over a run
it is a strong one, and the sum also says where the run begins (a CUSUM test).
"""

import math
import re
from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FARTHEST = 3
"""Slips of up to this many lines are looked for."""

CERTAIN = 30.0
"""How much better, summed over a run, the slipped reading has to fit: some thirty to fifty lines of prose."""

DOUBT = 0.25
"""Taken off at every line, so that neighbours which fit equally well never add up to a run."""

_NUMBER = re.compile(r"\d+")
_END_MARKS = {"?": 1, "？": 1, "!": 2, "！": 2, ":": 3, "：": 3, ".": 4, "。": 4, "…": 4}

Floats = NDArray[np.float32]


class Shift(NamedTuple):
    """From line `first` to line `last` the target of a source seems to stand `by` lines further down (up if < 0)."""

    first: int
    last: int
    by: int
    file: str = ""


class Shape:
    """All that is kept of a side to recognise its counterpart: log length, numbers, end mark; 13 bytes a line."""

    def __init__(self) -> None:
        self.length = array("f")
        self.numbers = array("q")
        self.end_mark = array("b")

    def add(self, text: str) -> None:
        """Take in the next line."""
        numbers = _NUMBER.findall(text)
        self.length.append(math.log1p(len(text)))
        self.numbers.append(hash(tuple(sorted(numbers))) if numbers else 0)
        self.end_mark.append(_END_MARKS.get(text.rstrip(" \"'”’»)")[-1:], 0))


def find_shifts(source: Shape, target: Shape, lines: NDArray[np.int64], file: str = "") -> tuple[Shift, ...]:
    """Runs that fit better when slipped, in the order of the file; where two overlap, the better one."""
    length = np.frombuffer(target.length, np.float32) - np.frombuffer(source.length, np.float32)
    if len(length) <= FARTHEST:
        return ()
    usual = float(np.median(length))
    spread = max(1.4826 * float(np.median(np.abs(length - usual))), 0.1)
    runs: list[tuple[float, int, int, int]] = []
    straight = _misfit(source, target, 0, usual, spread)
    for by in (*range(-FARTHEST, 0), *range(1, FARTHEST + 1)):
        first = max(0, -by)
        slipped = _misfit(source, target, by, usual, spread)
        gain = straight[first : first + len(slipped)] - slipped - DOUBT
        runs += [(total, first + start, first + stop, by) for total, start, stop in _runs(gain)]
    shifts: list[Shift] = []
    taken: list[tuple[int, int]] = []
    for _, start, stop, by in sorted(runs, reverse=True):
        if all(stop <= begin or start >= end for begin, end in taken):
            taken.append((start, stop))
            shifts.append(Shift(int(lines[start]), int(lines[stop - 1]), by, file))
    return tuple(sorted(shifts))


def _misfit(source: Shape, target: Shape, by: int, usual: float, spread: float) -> Floats:
    """How badly each source fits the target `by` lines further down; 0 is a perfect fit, 6 as bad as it gets."""
    count = len(source.length) - abs(by)
    here = slice(max(0, -by), max(0, -by) + count)
    there = slice(here.start + by, here.stop + by)
    longer = np.frombuffer(target.length, np.float32)[there] - np.frombuffer(source.length, np.float32)[here]
    numbers = np.frombuffer(source.numbers, np.int64)[here] != np.frombuffer(target.numbers, np.int64)[there]
    marks = np.frombuffer(source.end_mark, np.int8)[here] != np.frombuffer(target.end_mark, np.int8)[there]
    odd = np.minimum(np.abs(longer - usual) / spread, 3)
    return np.asarray(odd + 2 * numbers + marks, np.float32)


def _runs(gain: Floats) -> list[tuple[float, int, int]]:
    """(total gain, start, stop) of the stretches whose gains add up to CERTAIN; losing as much again ends one."""
    runs: list[tuple[float, int, int]] = []
    total = best = 0.0
    start = stop = 0
    for place, step in enumerate(gain.data, start=1):
        total += step
        if total > best:
            best, stop = total, place
        elif total <= 0 or best - total > CERTAIN:
            if best > CERTAIN:
                runs.append((best, start, stop))
            total, best, start = 0.0, 0.0, place
    return [*runs, (best, start, stop)] if best > CERTAIN else runs
