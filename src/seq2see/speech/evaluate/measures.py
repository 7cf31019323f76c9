"""What can be measured of speech beside other speech: spectra, pitch, duration, and how attention read the text.

Samples are (n,) in -1..1; an alignment is (T, S): decoder steps by letters, rows that sum to one.
"""

import warnings
from functools import lru_cache
from types import ModuleType
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from seq2see.errors import MissingExtraError, ShapeError
from seq2see.look.map import measures as maps
from seq2see.speech.audio import AudioConfig, Samples, log_mel

Array = NDArray[np.float64]
Path = NDArray[np.int64]

CEPSTRA = 13
SYLLABLE = 4  # letters or jamo, the space after it included: 새가_ is five, the_ is four
_AUDIBLE_DB = 60.0  # what is further below the loudest band is not heard, but would count tens of decibels
_READ = 0.1  # of a decoder step: a letter that got less in all was not looked at
_LOWEST, _HIGHEST = 60.0, 600.0  # Hz, of voices
_VOICED = 0.3  # of the frames: Harvest finds a pitch in up to 0.25 of a whisper, and in 0.76 and more of speech
_FRAME = 5.0  # milliseconds between values of F0


def mel_cepstra(samples: Samples, rate: int) -> Array:
    """(frames, 13) every 12.5 ms, scaled so that a distance between two frames is in decibels.

    The Euclidean distance is then the rms difference of the two log spectra, smoothed to 13 cepstra and without their
    level: (10 / ln 10) sqrt(2 sum (c - c')^2) in the usual scaling of cepstra (Kubichek 1993).
    """
    config = AudioConfig(rate=rate, hop=rate // 80, window=rate // 20, fft=_power(rate // 20), high=min(7600, rate / 2))
    mels = log_mel(torch.from_numpy(np.ascontiguousarray(samples, np.float32)), config).double().numpy()
    decibels = np.maximum(mels, mels.max() - _AUDIBLE_DB / config.range_db) * config.range_db
    return np.asarray(decibels @ _cosines(config.mels))


def _power(samples: int) -> int:
    return 1 << (samples - 1).bit_length()


@lru_cache(maxsize=4)
def _cosines(bands: int) -> Array:
    """(bands, 13): the orthonormal DCT-II without the level, divided by the root of the bands."""
    places = (np.arange(bands)[:, None] + 0.5) * np.arange(1, CEPSTRA + 1)[None]
    return np.sqrt(2) / bands * np.cos(np.pi * places / bands)


def matched(a: Array, b: Array) -> tuple[float, Path]:
    """(n, D), (m, D) -> the mean distance along the cheapest path, and the path (length, 2)."""
    cost = np.sqrt(np.maximum(0.0, (a**2).sum(1)[:, None] + (b**2).sum(1)[None] - 2 * a @ b.T))
    path = warped(cost)
    return float(cost[path[:, 0], path[:, 1]].mean()), path


def warped(cost: Array) -> Path:
    """(n, m) -> (length, 2): the cheapest way from the first corner to the last, by steps of one in either or both."""
    if 0 in cost.shape:
        raise ShapeError(f"dynamic time warping got {cost.shape}; both sides need a frame at least")
    total = _accumulated(cost)
    i, j = cost.shape
    path = [(i - 1, j - 1)]
    while (i, j) != (1, 1):
        before = ((i - 1, j - 1), (i - 1, j), (i, j - 1))
        i, j = min(before, key=lambda place: total[place])
        path.append((i - 1, j - 1))
    return np.array(path[::-1], dtype=np.int64)


def _accumulated(cost: Array) -> Array:
    """(n, m) -> (n + 1, m + 1): what the cheapest way to each place costs.

    One antidiagonal after another: its places do not depend on each other, and lie `columns - 1` apart in memory.
    """
    rows, columns = cost.shape[0] + 1, cost.shape[1] + 1
    total = np.full((rows, columns), np.inf)
    total[0, 0] = 0.0
    padded = np.zeros((rows, columns))
    padded[1:, 1:] = cost
    flat, price, step = total.reshape(-1), padded.reshape(-1), columns - 1
    for diagonal in range(2, rows + columns - 1):
        first, last = max(1, diagonal - step), min(rows - 1, diagonal - 1)
        start, stop = first * step + diagonal, last * step + diagonal + 1
        up = flat[start - columns : stop - columns : step]
        both = flat[start - columns - 1 : stop - columns - 1 : step]
        left = flat[start - 1 : stop - 1 : step]
        flat[start:stop:step] = price[start:stop:step] + np.minimum(np.minimum(up, both), left)
    return total


@lru_cache(maxsize=1)
def _world() -> ModuleType:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it asks pkg_resources for its own version, which is deprecated
            import pyworld  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise MissingExtraError("Measuring pitch", "speech") from None
    module: ModuleType = pyworld
    return module


def f0(samples: Samples, rate: int) -> Array:
    """(frames,) every 5 ms: the pitch in Hz, 0 where there is none (Harvest, Morise 2017).

    DIO of the same library is 25 times as fast, but hears a hiss after Griffin-Lim as a deep voice: two octaves off
    for "sisters wait".
    """
    doubles = np.ascontiguousarray(samples, np.float64)
    pitch, _ = _world().harvest(doubles, rate, f0_floor=_LOWEST, f0_ceil=_HIGHEST, frame_period=_FRAME)
    return np.asarray(pitch, dtype=np.float64)


def middle_pitch(pitch: Array) -> float | None:
    """The median of the voiced frames in Hz; None for a whisper (less than three tenths seem to be voiced)."""
    voiced = pitch[pitch > 0]
    return float(np.median(voiced)) if len(voiced) > _VOICED * len(pitch) else None


def cents(hertz: float, reference: float) -> float:
    """The interval between two pitches: 100 are a semitone."""
    return float(1200 * np.log2(hertz / reference))


def contour_error(a: Array, b: Array, path: Path) -> float | None:
    """The median difference of two F0 tracks in cents, over matched frames (12.5 ms) that are voiced in both."""
    places = np.rint(path * 12.5 / _FRAME).astype(np.int64)
    left, right = a[np.minimum(places[:, 0], len(a) - 1)], b[np.minimum(places[:, 1], len(b) - 1)]
    both = (left > 0) & (right > 0)
    return float(np.median(np.abs(1200 * np.log2(left[both] / right[both])))) if both.any() else None


class Reading(NamedTuple):
    """How attention walked through a text.

    focus          mean of the greatest weight in each row
    monotonicity   1 never goes back, -1 reads backwards
    skip, repeat   the most letters that were passed over, or gone back, at once
    """

    focus: float
    monotonicity: float
    skip: int
    repeat: int

    @property
    def clean(self) -> bool:
        """No repeat or skip longer than a syllable."""
        return max(self.skip, self.repeat) <= SYLLABLE


def reading(weights: NDArray[np.float32]) -> Reading:
    """(T, S) -> what can be said of it. Letters after the last one looked at count as passed over."""
    if weights.ndim != 2 or 0 in weights.shape:
        raise ShapeError(f"an alignment is (steps, letters), but {weights.shape} was given")
    peaks = weights.argmax(axis=1)
    back = np.maximum.accumulate(peaks) - peaks
    return Reading(
        focus=float(weights.max(axis=1).mean()),
        monotonicity=float(maps.monotonicity(weights[None, None])[0, 0]),
        skip=_longest_run(weights.sum(axis=0) < _READ),
        repeat=int(back.max()),
    )


def _longest_run(flags: NDArray[np.bool_]) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return int((edges[1::2] - edges[::2]).max(initial=0))
