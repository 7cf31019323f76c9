"""From weights to word pairs, and which head of a model to read them from.

argmax      each target word with the source word it looked at most
threshold   every pair with at least a given share of the row
balanced    the same after every column has been scaled to one sum and every row back to 1: a word whose neighbours
            draw all eyes gets back the rows that look at it more than others do; with a model of the other direction,
            of the geometric mean of both, and by the root of the sums: the other one has balanced the columns already
symmetric   what rows and columns agree on, grown along the diagonal (Koehn 2003); columns may come from a model of
            the other direction
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from seq2see import atomic
from seq2see.errors import ConfigError, RunError, ShapeError, nearest
from seq2see.evaluate.alignment import Gold, Link, pharaoh

if TYPE_CHECKING:
    from seq2see.look.map.attention_map import AttentionMap

ALIGNMENT = "alignment.json"  # of a run folder: the head that alignments are read from
_OVERLOOKED = 1e-3

Method = Literal["argmax", "threshold", "balanced", "symmetric"]
METHODS: tuple[Method, ...] = get_args(Method)

Links = NDArray[np.bool_]
_FORMAT, _VERSION = "seq2see best head", 1
Number = TypeVar("Number", np.float32, np.float64)


@dataclass(frozen=True)
class Alignment:
    """Pairs of (source word, target word), counted from 0 between white space; `str` gives them in Pharaoh form."""

    pairs: tuple[Link, ...]
    source: tuple[str, ...]
    target: tuple[str, ...]

    def words(self) -> list[tuple[str, str]]:
        """The pairs as words."""
        return [(self.source[i], self.target[j]) for i, j in self.pairs]

    def __iter__(self) -> Iterator[Link]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __str__(self) -> str:
        return pharaoh(self.pairs)


class Best(NamedTuple):
    """The head to read alignments from, and its error on the pairs it was chosen by."""

    layer: int
    head: int
    aer: float


class Chosen(NamedTuple):
    best: Best
    how: str  # for people: by what it was chosen


def align(
    weights: NDArray[Number], method: Method, threshold: float, reverse: NDArray[Number] | None = None
) -> frozenset[Link]:
    """(T, S) between words, (S, T) of the other direction if there is one -> (source, target) links."""
    match method:
        case "argmax":
            links = row_peaks(weights)
        case "threshold":
            links = above(weights, threshold)
        case "balanced":
            scaled = balanced(weights) if reverse is None else balanced(agreed(weights, reverse), 0.5)
            links = above(scaled, threshold)
        case "symmetric":
            columns = row_peaks(weights.T if reverse is None else reverse).T
            links = grow_diagonal(row_peaks(weights), columns)
        case _:
            raise ConfigError(f"method = '{method}' is unknown{nearest(method, METHODS)}")
    return frozenset((int(i), int(j)) for j, i in np.argwhere(links))


def row_peaks(weights: NDArray[Number]) -> Links:
    """(..., T, S) -> the same shape, True at the first maximum of each row that is not empty."""
    if not weights.shape[-1]:
        return np.zeros(weights.shape, dtype=bool)
    peaks = weights.argmax(axis=-1)[..., None] == np.arange(weights.shape[-1])
    return peaks & (weights.max(axis=-1, keepdims=True) > 0)


def above(weights: NDArray[Number], threshold: float) -> Links:
    """(T, S): pairs with at least this share of what their row gives to words."""
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold = {threshold} is not in (0, 1]")
    sums = weights.sum(axis=-1, keepdims=True)
    return (weights > 0) & (weights >= threshold * sums)


def balanced(weights: NDArray[Number], power: float = 1.0) -> NDArray[np.float64]:
    """(T, S): columns divided by this power of their sums, then rows scaled to 1; what is all zero stays so.

    With 1 the first round of Sinkhorn's scaling. Further ones made words that are rightly looked at often too equal to
    others (docs/log.md).
    """
    scaled = weights.astype(np.float64)
    for axis, degree in ((0, power), (1, 1.0)):
        sums = scaled.sum(axis=axis, keepdims=True) ** degree
        scaled = np.divide(scaled, sums, out=np.zeros_like(scaled), where=sums > 0)
    return scaled


def agreed(weights: NDArray[Number], reverse: NDArray[Number]) -> NDArray[np.float64]:
    """(T, S) and (S, T) of the other direction -> (T, S), the geometric mean: high where both look.

    The small number keeps what one direction looks at and the other does not quite overlook.
    """
    backward = reverse.T.astype(np.float64)
    mean: NDArray[np.float64] = np.sqrt((weights + _OVERLOOKED) * (backward + _OVERLOOKED))
    return mean * ((weights > 0) | (backward > 0))


def grow_diagonal(forward: Links, backward: Links) -> Links:
    """(T, S): the intersection, then links of the union beside accepted ones that give a bare word its first."""
    links = forward & backward
    union = forward | backward
    rows, columns = np.array(links.any(axis=1)), np.array(links.any(axis=0))
    queue = [(int(t), int(s)) for t, s in np.argwhere(links)]
    steps = [step for step in product((-1, 0, 1), repeat=2) if step != (0, 0)]
    while queue:
        t, s = queue.pop(0)
        for down, right in steps:
            row, column = t + down, s + right
            inside = 0 <= row < links.shape[0] and 0 <= column < links.shape[1]
            if inside and union[row, column] and not (rows[row] and columns[column]):
                links[row, column] = rows[row] = columns[column] = True
                queue.append((row, column))
    return links


def head_errors(
    maps: Sequence["AttentionMap"],
    gold: Sequence[Gold] | None = None,
    reverse_maps: Sequence["AttentionMap"] | None = None,
) -> NDArray[np.float64]:
    """(L, H): the alignment error of every head over these sentences, by argmax.

    With gold, against it. Without, against the maps of the same pairs by a model of the other direction: the error to
    the head of that model which agrees most. With neither, the rows of a head against its own columns: cheap, and
    blind to a head that looks, in good order, at the wrong words.
    """
    if not maps:
        raise ConfigError("no maps to choose a head by; give at least one sentence")
    for other, name in ((gold, "gold"), (reverse_maps, "reverse_maps")):
        if other is not None and len(other) != len(maps):
            raise ShapeError(f"{len(maps)} maps but {len(other)} in {name}; one for each is needed")
    shapes = sorted({pair_map.weights.shape[:2] for pair_map in maps})
    if len(shapes) > 1:
        raise ShapeError(f"maps of different numbers of layers and heads, {shapes[0]} and {shapes[1]}, in one choice")
    forward = [pair_map.word_weights() for pair_map in maps]
    if gold is not None:
        return _errors_by_gold(forward, gold)
    if reverse_maps is not None:
        return _errors_by_other_direction(forward, [pair_map.word_weights() for pair_map in reverse_maps])
    return _errors_by_columns(forward)


def best_head(
    maps: Sequence["AttentionMap"],
    gold: Sequence[Gold] | None = None,
    reverse_maps: Sequence["AttentionMap"] | None = None,
) -> Best:
    """The head with the lowest error (see `head_errors`), the first of equals."""
    errors = head_errors(maps, gold, reverse_maps)
    layer, head = np.unravel_index(int(errors.argmin()), errors.shape)
    return Best(int(layer), int(head), float(errors[layer, head]))


def choose_head(
    path: Path,
    maps: Iterable["AttentionMap"],
    gold: Sequence[Gold] | None = None,
    reverse_maps: Iterable["AttentionMap"] | None = None,
    *,
    reverse_name: str = "",
    remember: bool = True,
) -> Chosen:
    """The head to read alignments from: the one that `path` remembers; else chosen by these maps, and remembered.

    maps, reverse_maps   of the same pairs, as for `best_head`; iterators are not touched if a head is remembered
    gold                 what people drew for the pairs; then `reverse_maps` are not needed
    """
    remembered = load_best(path)
    if remembered is not None:
        return Chosen(remembered, f"remembered in {path}")
    maps = list(maps)
    if gold is not None:
        chosen = Chosen(best_head(maps, gold), f"lowest error on {len(maps)} pairs with gold")
    elif reverse_maps is not None:
        best = best_head(maps, None, list(reverse_maps))
        chosen = Chosen(best, f"agrees most with {reverse_name} on {len(maps)} pairs")
    else:
        chosen = Chosen(best_head(maps), f"its rows and columns agree most on {len(maps)} pairs")
    if remember:
        save_best(path, chosen.best)
    return chosen


def save_best(path: str | Path, best: Best) -> None:
    """`alignment.json` of a run folder."""
    atomic.write_json(Path(path), {"format": _FORMAT, "version": _VERSION, **best._asdict()})


def load_best(path: str | Path) -> Best | None:
    """What `save_best` wrote; None if nobody has chosen a head yet."""
    try:
        saved = atomic.read_json(Path(path))
        known = saved["format"] == _FORMAT and type(saved["version"]) is int
        if known and saved["version"] > _VERSION:
            raise RunError(f"{path}: version {saved['version']} is newer than {_VERSION}: update seq2see to read it")
        best = Best(int(saved["layer"]), int(saved["head"]), float(saved["aer"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        raise RunError(f"{path}: not the choice of a head; delete it, `seq2see align` makes a new one") from None
    if not known or min(best.layer, best.head) < 0 or not 0 <= best.aer <= 1:
        raise RunError(f"{path}: not the choice of a head; delete it, `seq2see align` makes a new one")
    return best


Heads = NDArray[np.float32]  # (L, H, T, S) between words


def _errors_by_gold(forward: Sequence[Heads], gold: Sequence[Gold]) -> NDArray[np.float64]:
    sure_total, link_total, hits = 0, np.zeros(forward[0].shape[:2]), np.zeros(forward[0].shape[:2])
    for weights, right in zip(forward, gold, strict=True):
        target, source = weights.shape[2:]
        judged = _grid(right.judged(product(range(source), range(target))), target, source)
        sure = _grid(right.judged(right.sure), target, source)
        possible = _grid(right.judged(right.possible), target, source)
        links = row_peaks(weights) & judged  # (L, H, T, S)
        sure_total += len(right.judged(right.sure))
        link_total += links.sum(axis=(2, 3))
        hits += (links & sure).sum(axis=(2, 3)) + (links & possible).sum(axis=(2, 3))
    whole = link_total + sure_total
    return 1 - np.divide(hits, whole, out=np.ones_like(whole), where=whole > 0)


def _errors_by_other_direction(forward: Sequence[Heads], backward: Sequence[Heads]) -> NDArray[np.float64]:
    layers, heads = forward[0].shape[:2]
    shared: NDArray[np.float64] | float = 0.0
    whole: NDArray[np.float64] | float = 0.0
    for there, back in zip(forward, backward, strict=True):  # (L, H, T, S), (L', H', S, T)
        if there.shape[2:] != back.shape[:1:-1]:
            raise ShapeError(
                f"a map of {there.shape[3]} source and {there.shape[2]} target words meets one of {back.shape[3]} and "
                f"{back.shape[2]} from the other direction; give maps of the same pairs"
            )
        rows = row_peaks(there).reshape(layers * heads, -1).astype(np.float32)
        columns = row_peaks(back).swapaxes(2, 3).reshape(back.shape[0] * back.shape[1], -1).astype(np.float32)
        shared = shared + (rows @ columns.T).astype(np.float64)
        whole = whole + rows.sum(axis=1, dtype=np.float64)[:, None] + columns.sum(axis=1, dtype=np.float64)
    return (1 - _rate(shared, whole)).min(axis=1).reshape(layers, heads)


def _errors_by_columns(forward: Sequence[Heads]) -> NDArray[np.float64]:
    shared: NDArray[np.float64] | float = 0.0
    whole: NDArray[np.float64] | float = 0.0
    for weights in forward:
        rows, columns = row_peaks(weights), row_peaks(weights.swapaxes(2, 3)).swapaxes(2, 3)
        shared = shared + (rows & columns).sum(axis=(2, 3)).astype(np.float64)
        whole = whole + rows.sum(axis=(2, 3)) + columns.sum(axis=(2, 3))
    return 1 - _rate(shared, whole)


def _rate(shared: NDArray[np.float64] | float, whole: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """2 |A and B| / (|A| + |B|); 1 where both are empty."""
    shared, whole = np.asarray(shared), np.asarray(whole)
    return np.divide(2 * shared, whole, out=np.ones_like(shared), where=whole > 0)


def _grid(links: frozenset[Link], target: int, source: int) -> Links:
    grid = np.zeros((target, source), dtype=bool)
    for i, j in links:
        if i < source and j < target:
            grid[j, i] = True
    return grid
