"""Quality by length: a model without attention is told by how it does on long sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import ConfigError, ShapeError
from seq2see.evaluate import script
from seq2see.evaluate.metrics import Metric, Values
from seq2see.evaluate.resampling import Interval, Resampling, bootstrap_interval

EDGES = (5, 10, 15, 20, 25, 30, 40, 50, 75, 100)
"""The last length of each bucket, unless others are asked for; those that hold nothing at either end are left out."""

Side = Literal["source", "reference"]


class Bucket(NamedTuple):
    """Lengths from low to high, both included; no high means any above."""

    low: int
    high: int | None

    @property
    def label(self) -> str:
        if self.high is None:
            return f"{self.low}+"
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"

    def holds(self, lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
        above = lengths >= self.low
        return above if self.high is None else above & (lengths <= self.high)


class LengthScore(NamedTuple):
    """One bucket of one system."""

    bucket: Bucket
    sentences: int
    score: float | None  # None: no sentences, or none that the metric can score
    interval: Interval | None


@dataclass(frozen=True)
class Lengths:
    """How long each sentence is, and the buckets they fall into."""

    side: Side
    unit: script.Unit
    values: NDArray[np.int64]  # (sentences,)
    buckets: tuple[Bucket, ...]

    @property
    def title(self) -> str:
        return f"{self.unit} of the {self.side}"


def measure_lengths(texts: Sequence[str], side: Side, edges: Sequence[int] | None = None) -> Lengths:
    """Words, or characters where the language has no spaces between words."""
    unit = script.length_unit(texts)
    values = np.array([script.length(text, unit) for text in texts], dtype=np.int64)
    return Lengths(side, unit, values, tuple(make_buckets(values, edges)))


def make_buckets(lengths: NDArray[np.int64], edges: Sequence[int] | None = None) -> list[Bucket]:
    """(sentences,) -> buckets that hold every sentence; `edges` are the last length of each."""
    if not len(lengths):
        return []
    highs = check_edges(EDGES if edges is None else edges)
    lows = [min(1, int(lengths.min())), *(edge + 1 for edge in highs)]
    buckets = [Bucket(low, high) for low, high in zip(lows, [*highs, None], strict=True)]
    if lengths.max() <= highs[-1]:
        buckets.pop()
    if edges is not None:
        return buckets
    filled = [place for place, bucket in enumerate(buckets) if bucket.holds(lengths).any()]
    return buckets[filled[0] : filled[-1] + 1]


def check_edges(edges: Sequence[int]) -> list[int]:
    """Themselves, if they rise from 1 or more."""
    rising = list(edges)
    if not rising or rising[0] < 1 or any(low >= high for low, high in pairwise(rising)):
        raise ConfigError(f"edges {','.join(map(str, rising)) or 'none'}: expected rising lengths such as 5,10,15,20")
    return rising


def score_by_length(metric: Metric, counts: Values, lengths: Lengths, plan: Resampling) -> tuple[LengthScore, ...]:
    """The score of each bucket by itself."""
    if len(counts) != len(lengths.values):
        raise ShapeError(f"counts of {len(counts)} sentences but lengths of {len(lengths.values)}")
    rows = []
    for bucket in lengths.buckets:
        inside = counts[bucket.holds(lengths.values)]
        rows.append(LengthScore(bucket, len(inside), metric.score(inside), bootstrap_interval(metric, inside, plan)))
    return tuple(rows)
