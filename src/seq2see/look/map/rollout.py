"""Attention rollout: attention followed down through the layers to the input tokens (Abnar and Zuidema 2020).

A layer's state is half what it was and half what the layer looked at; the heads of a layer are averaged. Multiplying
these half-and-half matrices from the first layer up says how much of each last state comes from each input token.

A decoder takes from two places, so two shares are followed for each of its positions: one over source tokens, one over
the target tokens it has read. In each layer first its self-attention mixes both shares of earlier positions; then its
look at the source adds half, as what the encoder's own rollout says of the states it looked at. The two shares of a
position sum to one; a cross map shows the share over source tokens, scaled to sum to one.

What rollout leaves out: values, projections, feed-forward layers and norms. It follows weights, not vectors.
"""

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import ShapeError

Matrix = NDArray[np.float64]


def roll_self(weights: NDArray[np.float32]) -> Matrix:
    """(L, H, T, T) -> (T, T)."""
    size = weights.shape[-1]
    if weights.shape[-2] != size:
        raise ShapeError(f"rollout needs a square map of self-attention, not {weights.shape[-2]} x {size}")
    rolled = np.eye(size)
    for layer in _mean_heads(weights):
        rolled = (layer @ rolled + rolled) / 2
    return rolled


def roll_cross(
    cross: NDArray[np.float32], encoder: NDArray[np.float32] | None, decoder: NDArray[np.float32] | None
) -> Matrix:
    """(L, H, T, S), (L', H', S, S) or None, (L, H', T, T) or None -> (T, S), rows sum to one.

    A self-attention that is not given counts as looking only at itself, which is how a recurrent or convolutional
    encoder is read: its state number j stands for source token j.
    """
    layers, _, target, source = cross.shape
    below = np.eye(source) if encoder is None else roll_self(encoder)
    if below.shape[0] != source:
        raise ShapeError(f"the encoder's map has {below.shape[0]} tokens, the cross map {source} columns")
    if decoder is not None and (decoder.shape[0], *decoder.shape[2:]) != (layers, target, target):
        raise ShapeError(
            f"the decoder's map is of {decoder.shape[0]} layers and {decoder.shape[2]} x {decoder.shape[3]} tokens, "
            f"the cross map of {layers} layers and {target} rows"
        )
    own = None if decoder is None else _mean_heads(decoder)
    share = np.zeros((target, source))
    for number, layer in enumerate(_mean_heads(cross)):
        share = share if own is None else (share + own[number] @ share) / 2
        share = (share + layer @ below) / 2
    sums = share.sum(axis=-1, keepdims=True)
    return np.divide(share, sums, out=np.zeros_like(share), where=sums > 0)


def _mean_heads(weights: NDArray[np.float32]) -> Matrix:
    """(L, H, T, S) -> (L, T, S)."""
    return weights.mean(axis=1, dtype=np.float64)
