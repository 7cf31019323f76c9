"""Where a query may look, beyond what the mask allows.

global           everywhere
local-m          within `window` of its own position t (Luong 2015, section 3.2, monotonic alignment)
local-p          within `window` of a predicted centre p_t, weighted by a Gaussian around it (the same, predictive)
causal           at its own position and before (Vaswani 2017, section 3.2.3)
sliding-window   at its own position and the `window` before it (Beltagy 2020, section 3.1, one-sided)
"""

from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from seq2see import masks
from seq2see.attention.formula import Formula, Quantity, array
from seq2see.attention.heads import HeadLinear
from seq2see.errors import ConfigError, nearest

ScopeName = Literal["global", "local-m", "local-p", "causal", "sliding-window"]
SCOPES: tuple[ScopeName, ...] = ("global", "local-m", "local-p", "causal", "sliding-window")


class Region(NamedTuple):
    """allowed: bool (B or 1, H or 1, Tq, Tk); gain: factor of the weights (B, H, Tq, Tk); None: no limit."""

    allowed: Tensor | None
    gain: Tensor | None


class Scope(nn.Module):
    """`forward` tells the region of every query: (B, H, Tq, Dq) queries standing at (1 or B, Tq) positions."""

    # Whether a region is a plain boolean mask, so that the fused kernel can take it.
    only_masks = True

    def __init__(self, name: ScopeName, window: int) -> None:
        super().__init__()
        if name not in SCOPES:
            raise ConfigError(f"scope = '{name}' is unknown{nearest(name, SCOPES)}")
        if window < 1:
            raise ConfigError(f"window = {window}; a scope needs a window of at least 1")
        self.name: ScopeName = name
        self.window = window

    def forward(self, query: Tensor, positions: Tensor, lengths: Tensor, keys: int) -> Region:
        if self.name == "global":
            return Region(None, None)
        places = torch.arange(keys, device=query.device)
        if self.name == "local-m":
            allowed = masks.window(positions, places, self.window)
        else:
            allowed = masks.causal(positions, places.unsqueeze(0))
        if self.name == "sliding-window":
            allowed = allowed & masks.window(positions, places, self.window)
        return Region(allowed.unsqueeze(1), None)

    def describe(self, query: Tensor, positions: Tensor, length: int, head: int) -> Formula:
        """Where one query may look: (1, H, 1, Dq) at positions (1, 1), over a source of `length` positions."""
        at = Quantity("t", "position of the query, from 0", array(positions[0, 0]))
        window = Quantity("window", "how far it may look", np.array(self.window))
        match self.name:
            case "global":
                return Formula("global", "everything that is no padding", "Luong 2015, 3.1", (), ("allowed = mask",))
            case "local-m":
                code = ("allowed = mask & (np.abs(places - t) <= window)",)
                return Formula("local-m", "|j - t| <= window", "Luong 2015, 3.2", (at, window), code)
            case "causal":
                code = ("allowed = mask & (places <= t)",)
                return Formula("causal", "j <= t: nothing that is not yet said", "Vaswani 2017, 3.2.3", (at,), code)
            case _:
                code = ("allowed = mask & (places <= t) & (t - places <= window)",)
                return Formula("sliding window", "0 <= t - j <= window", "Beltagy 2020, 3.1", (at, window), code)


class LocalPredictive(Scope):
    """p_t = S sigmoid(v_p^T tanh(W_p s_t));  weights x exp(-(j - p_t)^2 / (2 sigma^2)), sigma = window / 2.

    Luong 2015, section 3.2, equations 9 and 10. S is the true source length. As in the paper the weights are not
    normalised again after the Gaussian, so a row sums to at most 1.
    """

    only_masks = False

    def __init__(self, query_dim: int, heads: int, window: int) -> None:
        super().__init__("local-p", window)
        self.hidden = HeadLinear(heads, query_dim, query_dim)
        self.centre = HeadLinear(heads, query_dim, 1)

    def centres(self, query: Tensor, lengths: Tensor) -> Tensor:
        """(B, H, Tq, Dq), (B, 1 or Tq) -> (B, H, Tq): the place p_t that each query wants to look at."""
        ratio = torch.sigmoid(self.centre(torch.tanh(self.hidden(query)))).squeeze(-1)
        return ratio * lengths.to(ratio.dtype).unsqueeze(1)

    def forward(self, query: Tensor, positions: Tensor, lengths: Tensor, keys: int) -> Region:
        places = torch.arange(keys, device=query.device)
        centres = self.centres(query, lengths)
        distance = places - centres.unsqueeze(-1)
        sigma = self.window / 2
        return Region(
            masks.window(centres.detach(), places, self.window),
            torch.exp(-distance.square() / (2 * sigma * sigma)),
        )

    def describe(self, query: Tensor, positions: Tensor, length: int, head: int) -> Formula:
        centres = self.centres(query, torch.full((1, 1), length, device=query.device))  # (1, H, 1)
        parts = (
            Quantity("Wp_s", "the query through W_p", array(self.hidden(query)[0, head, 0])),
            Quantity("v_p", "what weighs it", array(self.centre.weight[head, 0])),
            Quantity("S", "length of the source", np.array(length)),
            Quantity("window", "how far from the centre it may look", np.array(self.window)),
            Quantity("centre", "p_t: where it wants to look", array(centres[0, head, 0]), given=False),
        )
        code = (
            "centre = S / (1 + np.exp(-(np.tanh(Wp_s) @ v_p)))",
            "allowed = mask & (np.abs(places - centre) <= window)",
            "gain = np.exp(-((places - centre) ** 2) / (2 * (window / 2) ** 2))",
        )
        text = "p_t = S sigmoid(v_p . tanh(W_p s)); |j - p_t| <= window; gain_j = exp(-(j - p_t)^2 / (2 (window/2)^2))"
        return Formula("local-p", text, "Luong 2015, eq. 9 and 10", parts, code)


def make_scope(name: ScopeName, *, window: int, query_dim: int, heads: int) -> Scope:
    return LocalPredictive(query_dim, heads, window) if name == "local-p" else Scope(name, window)
