"""From scores to weights: softmax, and its two sparse cousins.

All three get the mask and keep two promises: a hidden key has weight exactly 0.0, and a row that may look at nothing
gets zeros everywhere (with zero, finite gradients), never NaN.
"""

from typing import Literal

import torch
from torch import Tensor

from seq2see.errors import ConfigError, nearest

Normaliser = Literal["softmax", "sparsemax", "entmax15"]
NORMALISERS: tuple[Normaliser, ...] = ("softmax", "sparsemax", "entmax15")

# Below the support of sparsemax (scores within 1 of the largest) and entmax-1.5 (within 2): a hidden key put here
# can never be chosen, and stays far from overflow.
_HIDDEN = -8.0


def check_normaliser(name: str) -> None:
    if name not in NORMALISERS:
        raise ConfigError(f"normaliser = '{name}' is unknown{nearest(name, NORMALISERS)}")


def normalise(scores: Tensor, allowed: Tensor | None, kind: Normaliser = "softmax") -> Tensor:
    """(..., Tq, Tk) scores and what is allowed, broadcastable to it or None -> weights of the same shape."""
    if kind == "softmax" or scores.size(-1) == 0:
        return softmax(scores, allowed)
    if kind == "sparsemax":
        return sparsemax(scores, allowed)
    return entmax15(scores, allowed)


def softmax(scores: Tensor, allowed: Tensor | None = None) -> Tensor:
    """exp(e_j) / sum_k exp(e_k) over the allowed keys."""
    if allowed is None:
        return torch.softmax(scores, dim=-1)
    # The lowest finite number instead of -inf: exp of it is exactly 0 beside any other score, and a row that is
    # hidden as a whole stays finite until the second fill turns it into zeros.
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~allowed, lowest), dim=-1).masked_fill(~allowed, 0.0)


def sparsemax(scores: Tensor, allowed: Tensor | None = None) -> Tensor:
    """The projection of the scores onto the simplex: max(e - tau, 0) (Martins & Astudillo 2016, section 2)."""
    z, descending = _centred(scores, allowed)
    rank = _ranks(z)
    support = 1 + rank * descending > descending.cumsum(dim=-1)
    size = support.sum(dim=-1, keepdim=True).to(z.dtype)
    threshold = descending.gather(-1, size.long().clamp(min=1) - 1)  # without support are only scores that are NaN
    inside = z >= threshold
    # Gradients flow through the members of the support; which keys are members is locally constant.
    tau = ((z * inside).sum(dim=-1, keepdim=True) - 1) / inside.sum(dim=-1, keepdim=True)
    return _hide((z - tau).clamp(min=0), allowed)


def entmax15(scores: Tensor, allowed: Tensor | None = None) -> Tensor:
    """max(e/2 - tau, 0)^2, between softmax and sparsemax (Peters, Niculae & Martins 2019, section 3, alpha = 1.5)."""
    z, descending = _centred(scores, allowed)
    z, descending = z / 2, descending / 2
    rank = _ranks(z)
    mean = descending.cumsum(dim=-1) / rank
    variance = (descending.square().cumsum(dim=-1) / rank - mean.square()).clamp(min=0)
    candidates = mean - ((1 - rank * variance) / rank).clamp(min=0).sqrt()
    size = (candidates <= descending).sum(dim=-1, keepdim=True)
    threshold = descending.gather(-1, size.clamp(min=1) - 1)
    inside = (z >= threshold).to(z.dtype)
    count = inside.sum(dim=-1, keepdim=True)
    mean_inside = (z * inside).sum(dim=-1, keepdim=True) / count
    spread = ((z - mean_inside).square() * inside).sum(dim=-1, keepdim=True)
    tau = mean_inside - ((1 - spread).clamp(min=torch.finfo(z.dtype).tiny) / count).sqrt()
    return _hide((z - tau).clamp(min=0).square(), allowed)


def _centred(scores: Tensor, allowed: Tensor | None) -> tuple[Tensor, Tensor]:
    """Scores moved so that the largest allowed one is 0 (hidden ones far below), and their sorted copy.

    The sorted copy only finds the support and carries no gradient.
    """
    lowest = torch.finfo(scores.dtype).min
    visible = scores if allowed is None else scores.masked_fill(~allowed, lowest)
    z = scores - visible.amax(dim=-1, keepdim=True).detach()
    z = (z if allowed is None else z.masked_fill(~allowed, _HIDDEN)).clamp(min=_HIDDEN)
    return z, z.detach().sort(dim=-1, descending=True).values


def _ranks(z: Tensor) -> Tensor:
    return torch.arange(1, z.size(-1) + 1, device=z.device, dtype=z.dtype)


def _hide(weights: Tensor, allowed: Tensor | None) -> Tensor:
    return weights if allowed is None else weights.masked_fill(~allowed, 0.0)
