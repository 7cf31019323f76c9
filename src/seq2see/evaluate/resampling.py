"""How sure is it: intervals and p-values by drawing the test set again and again (Koehn 2004; Riezler & Maxwell 2005).

The draws are those of sacreBLEU with the same seed, so its own `--confidence` and `--paired-bs` give the same figures;
here they are taken on the counts of sentences, in matrix products, and in pieces that keep memory flat.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import ConfigError, ShapeError
from seq2see.evaluate.metrics import Metric, Values

_CELLS = 2_000_000  # draws held at once
_SAME = 1e-9  # two differences of scores closer than this are equal; sums of floats are not exact


@dataclass(frozen=True)
class Resampling:
    """How often and from which seed; sacreBLEU's own choices."""

    resamples: int = 1_000
    trials: int = 10_000
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.resamples < 40 or self.trials < 1:
            raise ConfigError(f"{min(self.resamples, self.trials)} resamples are too few for an interval; take 1000")
        if self.seed < 0:
            raise ConfigError(f"seed = {self.seed} must not be negative")


class Interval(NamedTuple):
    """95 % of resamples score from low to high."""

    low: float
    high: float

    @property
    def half(self) -> float:
        """What stands behind ± when one number has to do."""
        return (self.high - self.low) / 2


class PairedTests(NamedTuple):
    """Significance tests of B against A on the same sentences; differences are B - A.

    p_bootstrap       how likely so large a difference is by chance, as far as these sentences tell (paired bootstrap)
    p_randomisation   the same by swapping outputs between A and B at random (approximate randomisation)
    b_wins            share of resamples in which B is the better one
    """

    difference: float | None
    interval: Interval | None
    p_bootstrap: float | None
    p_randomisation: float | None
    b_wins: float | None


def bootstrap_interval(metric: Metric, counts: Values, plan: Resampling) -> Interval | None:
    """The 95 % interval of a score. None for fewer than two sentences: every resample of one is that sentence."""
    if len(counts) < 2 or not metric.defined(counts):
        return None
    return _percentiles(metric.scores(bootstrap_sums(counts, plan)))


def paired_tests(metric: Metric, a: Values, b: Values, plan: Resampling) -> PairedTests:
    """Both systems on the same sentences, and on the same resamples of them."""
    if a.shape != b.shape:
        raise ShapeError(f"counts of {a.shape} for one system and {b.shape} for the other; score the same sentences")
    score_a, score_b = metric.score(a), metric.score(b)
    if score_a is None or score_b is None:
        return PairedTests(None, None, None, None, None)
    difference = score_b - score_a
    p_randomisation = _approximate_randomisation(metric, a, b, abs(difference), plan)
    if len(a) < 2:
        return PairedTests(difference, None, None, p_randomisation, None)
    sums_a, sums_b = np.split(bootstrap_sums(np.hstack([a, b]), plan), 2, axis=1)
    differences = metric.scores(sums_b) - metric.scores(sums_a)
    sizes = np.abs(differences)
    better = differences > _SAME if metric.higher_is_better else differences < -_SAME
    return PairedTests(
        difference,
        _percentiles(differences),
        _p_value(sizes - sizes.mean(), abs(difference)),
        p_randomisation,
        float(better.mean()),
    )


def bootstrap_sums(counts: Values, plan: Resampling) -> Values:
    """(sentences, columns) -> (resamples, columns): sums over as many sentences, drawn with replacement."""
    return np.concatenate([weights @ counts for weights in _bootstrap_weights(len(counts), plan)])


def _bootstrap_weights(sentences: int, plan: Resampling) -> Iterator[Values]:
    """(some resamples, sentences): how often each sentence was drawn."""
    generator = np.random.default_rng(plan.seed)
    chunk = max(1, _CELLS // sentences)
    for start in range(0, plan.resamples, chunk):
        rows = min(chunk, plan.resamples - start)
        drawn = generator.choice(sentences, size=(rows, sentences), replace=True)
        places = drawn + sentences * np.arange(rows)[:, None]
        yield np.bincount(places.ravel(), minlength=rows * sentences).reshape(rows, sentences).astype(np.float64)


def _approximate_randomisation(metric: Metric, a: Values, b: Values, difference: float, plan: Resampling) -> float:
    """Every sentence's outputs change sides or not; how often are the two sides as far apart as A and B?"""
    generator = np.random.default_rng(plan.seed)
    # A multiple of 32 rows takes whole words from the generator: pieces then draw the same bits as one large draw.
    chunk = max(32, _CELLS // len(a) // 32 * 32)
    differences: list[Values] = []
    for start in range(0, plan.trials, chunk):
        rows = min(chunk, plan.trials - start)
        stay: NDArray[np.bool_] = generator.integers(2, size=(rows, len(a)), dtype=np.bool_)
        moved = stay.astype(np.float64) @ (a - b)
        differences.append(np.abs(metric.scores(b.sum(axis=0) + moved) - metric.scores(a.sum(axis=0) - moved)))
    return _p_value(np.concatenate(differences), difference)


def _p_value(by_chance: Values, difference: float) -> float:
    """One is added above and below: what was observed is itself one of the ways it can come out. Ties count against
    significance (sacreBLEU leaves them out, and calls a system significantly different from itself)."""
    return float((np.sum(by_chance >= difference - _SAME) + 1) / (len(by_chance) + 1))


def _percentiles(samples: Values) -> Interval:
    """One fortieth of the resamples lies outside on each side."""
    ordered = np.sort(samples)
    outside = len(ordered) // 40
    return Interval(float(ordered[outside]), float(ordered[len(ordered) - outside - 1]))
