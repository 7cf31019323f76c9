"""What the style tokens know: known labels of recordings read off their token weights by a linear map.

Labels are never shown to training. The read-out is ridge regression onto the classes, the largest answer wins; each
recording is read by a map that was fitted to the recordings of other texts.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import ShapeError

Array = NDArray[np.float64]
_FOLDS = 5
_RIDGE = 1e-3
_FEWEST = 30  # recordings; with fewer the share says little


class ReadOut(NamedTuple):
    """How often a label is read right, beside always saying the commonest."""

    label: str
    right: float
    commonest: float
    recordings: int


def read_out(weights: Array, texts: Sequence[str], labels: Sequence[str], name: str) -> ReadOut | None:
    """(N, heads x tokens), N texts, N labels -> the share that is read right; None with too few or all the same."""
    if not len(weights) == len(texts) == len(labels):
        raise ShapeError(f"{len(weights)} styles, {len(texts)} texts and {len(labels)} labels; one each is needed")
    kinds = sorted(set(labels))
    if len(labels) < _FEWEST or len(kinds) < 2:
        return None
    classes = np.array([kinds.index(label) for label in labels])
    folds = np.array([_fold(text) for text in texts])
    right = 0
    for fold in range(_FOLDS):
        held = folds == fold
        if held.any() and (~held).any():
            right += int((_fitted(weights[~held], classes[~held], len(kinds), weights[held]) == classes[held]).sum())
    return ReadOut(name, right / len(labels), float(np.bincount(classes).max()) / len(labels), len(labels))


def _fold(text: str) -> int:
    """By a hash of its own: held-out texts were chosen by one, and would otherwise all fall into the same fold."""
    return blake2b(text.encode(), digest_size=8, person=b"read out").digest()[0] % _FOLDS


def _fitted(known: Array, classes: NDArray[np.int64], count: int, asked: Array) -> NDArray[np.int64]:
    """Fitted to the known, answered for the asked."""
    centre, scale = known.mean(axis=0), known.std() + 1e-9
    x = np.hstack([(known - centre) / scale, np.ones((len(known), 1))])
    wanted = np.eye(count)[classes]
    map_ = np.linalg.solve(x.T @ x + _RIDGE * len(x) * np.eye(x.shape[1]), x.T @ wanted)
    answers = np.hstack([(asked - centre) / scale, np.ones((len(asked), 1))]) @ map_
    return np.asarray(answers.argmax(axis=1))


def read_styles(weights: Array, texts: Sequence[str], labels: Sequence[Mapping[str, str | float]]) -> list[ReadOut]:
    """Voice, pitch and speed, where they are known; a whisper has no pitch."""
    read_outs = []
    for name in ("voice", "pitch", "speed"):
        places = [
            n
            for n, label in enumerate(labels)
            if name in label and not (name == "pitch" and label.get("voice") == "whisper")
        ]
        chosen = [str(labels[n][name]) for n in places]
        read = read_out(weights[places], [texts[n] for n in places], chosen, name) if places else None
        read_outs += [] if read is None else [read]
    return read_outs
