"""A map small enough to travel inside a page: each weight one byte, each layer one string.

A row is cut in two. Its columns that stand for text are scaled by the largest of them (`top`), so that a row that looks
everywhere a little keeps its shape; its special columns by their sum (`rest`), so that a head that rests on `</s>` can
be shown without it and still has all its steps. Bytes are rounded along the row by running sums: the error of any
weight, and of any sum over neighbours such as the pieces of a word, is less than one step of 1/255.
"""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import ConfigError
from seq2see.look.map.attention_map import AttentionMap
from seq2see.look.map.side import Side
from seq2see.visible import visible

MOST_BYTES = 16_000_000  # of weights in one page
_LONGEST = 60  # characters of a token that are shown
_STEPS = 255


def pack(attention: AttentionMap) -> dict[str, Any]:
    """What view/weights.js unpacks: always the model's own weights; the page rescales rows if it is asked to."""
    rescaled, attention = attention.rescaled, attention.unscaled()
    # Layer by layer: in double precision all of a long map at once would take gigabytes.
    layers = [quantise(attention.layer(number)) for number in range(len(attention.layers))]
    return {
        "kind": attention.kind,
        "level": attention.level,
        "layers": list(attention.layers),
        "heads": list(attention.heads),
        "source": _side(attention.source),
        "target": _side(attention.target),
        "cells": [_base64(cells) for cells, _ in layers],
        "scales": [_base64(scales) for _, scales in layers],
        "hidden": attention.hidden is not None,
        "hidden_tokens": [visible(token, _LONGEST) for token in attention.hidden_tokens],
        "rescaled": rescaled,
        "summary": [[round(number, 4) for number in line[2:]] for line in attention.summary()],
    }


def quantise(attention: AttentionMap) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """(layers, heads, rows, columns) bytes, and (.., rows, 3): top and sum of a row's text, sum of its special tokens.

    Of a map whose special tokens were taken away, what is hidden is counted with the third number.
    """
    weights = attention.weights.astype(np.float64)
    special = attention.source.special
    text, rest = weights[..., ~special], weights[..., special].sum(axis=-1)
    top = text.max(axis=-1, initial=0.0)
    cells = np.zeros(weights.shape, dtype=np.uint8)
    cells[..., ~special] = _rounded(text, top)
    cells[..., special] = _rounded(weights[..., special], rest)
    hidden = rest if attention.hidden is None else rest + attention.hidden
    return cells, np.stack([top, text.sum(axis=-1), hidden], axis=-1).astype(np.float32)


def fit(maps: Sequence[AttentionMap], most: int = MOST_BYTES) -> tuple[list[AttentionMap], str]:
    """The maps as they are, or with heads or layers averaged if there are too many weights; then what was done."""
    if _size(maps) <= most:
        return list(maps), ""
    by_layer = [_mean_heads(attention) for attention in maps]
    if _size(by_layer) <= most:
        return by_layer, "The heads of each layer are averaged, because all of them would not fit into a page."
    means = [attention.mean() for attention in maps]
    if _size(means) <= most:
        return means, "All layers and heads are averaged, because they would not fit into a page."
    raise ConfigError(
        f"maps of {_size(means):,} weights do not fit into a page, which holds {most:,}; show fewer or shorter "
        "sentences, or save them as .npz"
    )


def _size(maps: Iterable[AttentionMap]) -> int:
    return sum(attention.weights.size for attention in maps)


def _mean_heads(attention: AttentionMap) -> AttentionMap:
    layers = [attention.layer(number).mean() for number in range(len(attention.layers))]
    hidden = [layer.hidden for layer in layers if layer.hidden is not None]
    return replace(
        layers[0],
        weights=np.concatenate([layer.weights for layer in layers]),
        hidden=np.concatenate(hidden) if hidden else None,
        layers=attention.layers,
    )


def _rounded(values: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.uint8]:
    """(.., n), (..) -> (.., n): steps of scale / 255, so that no running sum is off by more than half a step."""
    shares = np.divide(values, scale[..., None], out=np.zeros_like(values), where=scale[..., None] > 0)
    sums = np.floor(shares.cumsum(axis=-1) * _STEPS + 0.5)
    steps = np.diff(sums, axis=-1, prepend=0.0)
    return steps.clip(0, _STEPS).astype(np.uint8)  # clip: sums of floats can be a hair off


def _side(side: Side) -> dict[str, Any]:
    words, groups = side.grouped()
    return {
        "tokens": [visible(token, _LONGEST) for token in side.tokens],
        "special": [int(place) for place in np.flatnonzero(side.special)],
        "words": [visible(token, _LONGEST) for token in words.tokens],
        "groups": groups,
    }


def _base64(values: NDArray[Any]) -> str:
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return base64.b64encode(np.ascontiguousarray(little).tobytes()).decode("ascii")
