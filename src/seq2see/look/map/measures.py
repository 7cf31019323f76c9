"""What a map can be asked in numbers. Arrays in, arrays out: L layers, H heads, T target rows, S source columns."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Flags = NDArray[np.bool_]


class Summary(NamedTuple):
    """One line for a head.

    entropy        in nats, the mean of its rows: 0 looks at one token
    monotonicity   1 reads forward, -1 backward
    sink_share     of the weight on tokens that stand for no text, the mean of its rows
    coverage       the share of the text that it looked at in all: 1 for all tokens alike, 1/S for one of S
    """

    layer: str
    head: str
    entropy: float
    monotonicity: float
    sink_share: float
    coverage: float


def entropy(weights: Array) -> NDArray[np.float64]:
    """(L, H, T, S) -> (L, H, T), in nats: 0 looks at one token, log S at all of them alike; 0 for an empty row."""
    rows = weights.astype(np.float64)
    sums = rows.sum(axis=-1, keepdims=True)
    shares = np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.maximum(0.0, -(shares * logs).sum(axis=-1))


def coverage(weights: Array) -> NDArray[np.float64]:
    """(L, H, T, S) -> (L, H, S): how much each source token was looked at in all (Tu 2016)."""
    return weights.sum(axis=-2, dtype=np.float64)


def evenness(coverage: NDArray[np.float64]) -> NDArray[np.float64]:
    """(L, H, S) -> (L, H): how many tokens share the looks, as a share of S; exp of their entropy. 0 for no look."""
    tokens = coverage.shape[-1]
    spread = np.exp(entropy(coverage[..., None, :].astype(np.float32)))[..., 0] / max(1, tokens)
    return np.where(coverage.sum(axis=-1) > 0, spread, 0.0)


def monotonicity(weights: Array) -> NDArray[np.float64]:
    """(L, H, T, S) -> (L, H), from 1 (never goes back) to -1 (reads backwards): Kendall's tau of where rows peak.

    Two rows that peak at the same column say nothing about order and are left out; 1 when no two rows differ. Empty
    rows are left out as well.
    """
    if not weights.size:  # nothing but special tokens on a side
        return np.ones(weights.shape[:2])
    peaks = weights.argmax(axis=-1)
    seen = weights.max(axis=-1, initial=0.0) > 0
    taus = np.ones(peaks.shape[:2])
    for place in np.ndindex(*taus.shape):
        path = peaks[place][seen[place]]
        forth = int(np.triu(path[None, :] > path[:, None], 1).sum())
        back = int(np.triu(path[None, :] < path[:, None], 1).sum())
        taus[place] = (forth - back) / (forth + back) if forth + back else 1.0
    return taus


def sink_share(weights: Array, special: Flags, hidden: Array | None = None) -> NDArray[np.float64]:
    """(L, H, T, S), (S,) -> (L, H, T): the weight of each row on tokens that stand for no text, hidden ones too."""
    share = weights[..., special].sum(axis=-1, dtype=np.float64)
    return share if hidden is None else share + hidden
