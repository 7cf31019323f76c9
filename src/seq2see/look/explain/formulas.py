"""The formulas of attention with a model's own numbers in them: score, region, normaliser.

Each is told three times: as text, as named arrays, and as NumPy lines that compute the second from the first. A part
that is `given` comes from the model; the others follow from it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from seq2see.attention import Additive, Cosine, Dot, General, Location, LocationAware, Mechanism, ScaledDot
from seq2see.attention.base import Weighing
from seq2see.attention.scopes import LocalPredictive
from seq2see.errors import ConfigError

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Quantity:
    """A number, vector or matrix under the name that formula and script give it."""

    symbol: str
    meaning: str
    value: Array
    given: bool = True


@dataclass(frozen=True, eq=False)
class Formula:
    """What is computed (`text`, after `paper`), from what (`parts`), and how in NumPy (`code`)."""

    name: str
    text: str
    paper: str
    parts: tuple[Quantity, ...]
    code: tuple[str, ...]


def array(x: Tensor) -> Array:
    """The numbers of a tensor, in its own precision; nobody can change them."""
    values: Array = np.array(x.detach().cpu().numpy())
    values.flags.writeable = False
    return values


def score_formula(mechanism: Mechanism, row: Weighing, head: int) -> Formula:
    """The score of one query in one head. `row` has Tq = 1; its `query` and `keys` stand in the script already."""
    match mechanism:
        case LocationAware():
            return _location_aware(mechanism, row, head)
        case Additive():
            return _additive(mechanism, row, head)
        case Cosine():
            return _cosine(mechanism, row, head)
        case ScaledDot():
            width = Quantity("d_k", "width of a key", np.array(mechanism.key_dim))
            code = ("scores = keys @ query / np.sqrt(d_k)",)
            return Formula("scaled dot", "score_j = q . k_j / sqrt(d_k)", "Vaswani 2017, eq. 1", (width,), code)
        case Dot():
            return Formula("dot", "score_j = s . h_j", "Luong 2015, 3.1", (), ("scores = keys @ query",))
        case General():
            return Formula("general", "score_j = s . (W h_j)", "Luong 2015, 3.1", (), ("scores = keys @ query",))
        case Location():
            places = torch.arange(row.prepared.keys.size(2)).clamp(max=mechanism.max_length - 1)
            rows = Quantity("W", "a row for each place", array(mechanism.places.weight[head, places]))
            return Formula("location", "score_j = (W s)_j", "Luong 2015, eq. 8", (rows,), ("scores = W @ query",))
    raise ConfigError(f"{type(mechanism).__name__} has no formula to show")


def _additive(mechanism: Additive, row: Weighing, head: int) -> Formula:
    asked = mechanism.query_map(row.query)[0, head, 0]
    inner = torch.tanh(asked + row.prepared.keys[0, head])
    parts = (
        Quantity("W1_s", "the query through W1", array(asked)),
        Quantity("v", "weighs the hidden layer", array(mechanism.energy.weight[head, 0])),
        Quantity("inner", "tanh(W1 s + W2 h_j)", array(inner), given=False),
    )
    code = ("inner = np.tanh(W1_s + keys)", "scores = inner @ v")
    return Formula("additive", "score_j = v . tanh(W1 s + W2 h_j)", "Bahdanau 2014, A.1.2", parts, code)


def _location_aware(mechanism: LocationAware, row: Weighing, head: int) -> Formula:
    assert row.history is not None
    seen = row.history[:1, head, : 2 if mechanism.cumulative else 1]  # (1, channels, S)
    features = mechanism.filters(seen)[0].T  # (S, filters)
    lift = mechanism.filter_map.weight[head]
    asked = mechanism.query_map(row.query)[0, head, 0]
    inner = torch.tanh(asked + row.prepared.keys[0, head] + features @ lift.T)
    what = "weights of the step before" + (", and the sum of all so far" if mechanism.cumulative else "")
    parts = (
        Quantity("W1_s", "the query through W1", array(asked)),
        Quantity("v", "weighs the hidden layer", array(mechanism.energy.weight[head, 0])),
        Quantity("seen", what, array(seen[0])),
        Quantity("filters", "the convolution over them", array(mechanism.filters.weight)),
        Quantity("U", "from filters to the hidden layer", array(lift)),
        Quantity("feats", "f_j: what the filters find", array(features), given=False),
        Quantity("inner", "tanh(W1 s + W2 h_j + U f_j)", array(inner), given=False),
    )
    code = (
        "width = filters.shape[2]",
        "padded = np.pad(seen, ((0, 0), (width // 2, width // 2)))",
        "feats = np.array([(filters * padded[:, j : j + width]).sum(axis=(1, 2)) for j in range(len(keys))])",
        "inner = np.tanh(W1_s + keys + feats @ U.T)",
        "scores = inner @ v",
    )
    text = "score_j = v . tanh(W1 s + W2 h_j + U f_j)"
    return Formula("location-aware", text, "Chorowski 2015, eq. 8 and 9", parts, code)


def _cosine(mechanism: Cosine, row: Weighing, head: int) -> Formula:
    sharpness = mechanism.log_sharpness
    beta = torch.ones(()) if sharpness is None else sharpness[head].exp().squeeze()
    parts = (
        Quantity("beta", "sharpness" if sharpness is not None else "sharpness, not learned here", array(beta)),
        Quantity("unit", "the query at length 1", array(F.normalize(row.query[0, head, 0], dim=-1)), given=False),
    )
    code = ("unit = query / np.linalg.norm(query)", "scores = beta * (keys @ unit)")
    return Formula("cosine", "score_j = beta cos(s, h_j)", "Graves 2014, eq. 5 and 6", parts, code)


def region_formula(mechanism: Mechanism, row: Weighing, head: int) -> Formula:
    """Where the query may look: `allowed` from `mask`, and for local-p the `gain` as well."""
    found = _scope_formula(mechanism, row, head)
    if not isinstance(mechanism, Location):
        return found
    most = Quantity("max_length", "places that W has a row for", np.array(mechanism.max_length))
    code = (*found.code, "allowed = allowed & (places < max_length)")
    return Formula(found.name, f"{found.text}, and j < max_length", found.paper, (*found.parts, most), code)


def _scope_formula(mechanism: Mechanism, row: Weighing, head: int) -> Formula:
    scope = mechanism.scope
    if isinstance(scope, LocalPredictive):
        return _predicted(scope, row, head)
    at = Quantity("t", "position of the query, from 0", array(row.positions[0, 0]))
    window = Quantity("window", "how far it may look", np.array(scope.window))
    match scope.name:
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


def _predicted(scope: LocalPredictive, row: Weighing, head: int) -> Formula:
    mask = row.prepared.mask
    length = row.prepared.values.size(2) if mask is None else int(mask[0, 0].sum())
    lengths = torch.full((1, 1), length, device=row.query.device)
    parts = (
        Quantity("Wp_s", "the query through W_p", array(scope.hidden(row.query)[0, head, 0])),
        Quantity("v_p", "what weighs it", array(scope.centre.weight[head, 0])),
        Quantity("S", "length of the source", np.array(length)),
        Quantity("window", "how far from the centre it may look", np.array(scope.window)),
        Quantity(
            "centre", "p_t: where it wants to look", array(scope.centres(row.query, lengths)[0, head, 0]), given=False
        ),
    )
    code = (
        "centre = S / (1 + np.exp(-(np.tanh(Wp_s) @ v_p)))",
        "allowed = mask & (np.abs(places - centre) <= window)",
        "gain = np.exp(-((places - centre) ** 2) / (2 * (window / 2) ** 2))",
    )
    text = "p_t = S sigmoid(v_p . tanh(W_p s)); |j - p_t| <= window; gain_j = exp(-(j - p_t)^2 / (2 (window/2)^2))"
    return Formula("local-p", text, "Luong 2015, eq. 9 and 10", parts, code)


_SHIFT = ("largest = scores[allowed].max()", "shifted = np.where(allowed, scores - largest, -np.inf)")


def normaliser_formula(name: str, scores: Array, allowed: NDArray[np.bool_]) -> tuple[Formula, Array]:
    """From scores to weights, which come with it; hidden keys are shifted to minus infinity."""
    if not allowed.any():
        code = ("weights = np.zeros(len(scores))",)
        return Formula(name, "nothing may be looked at: every weight is 0", "", (), code), np.zeros(len(scores))
    exact = scores.astype(np.float64)
    largest = exact[allowed].max()
    shifted = np.where(allowed, exact - largest, -np.inf)
    parts = (
        Quantity("largest", "the largest score that is allowed", np.array(largest), given=False),
        Quantity("shifted", "scores below the largest", shifted, given=False),
    )
    match name:
        case "softmax":
            return _softmax(parts, shifted)
        case "sparsemax":
            return _sparsemax(parts, shifted)
        case _:
            return _entmax(parts, shifted)


def _softmax(parts: tuple[Quantity, ...], shifted: Array) -> tuple[Formula, Array]:
    exps = np.exp(shifted)
    more = (
        Quantity("exps", "exp(score_j - largest)", exps, given=False),
        Quantity("total", "their sum", np.array(exps.sum()), given=False),
    )
    code = (*_SHIFT, "exps = np.exp(shifted)", "total = exps.sum()", "weights = exps / total")
    formula = Formula("softmax", "weight_j = exp(score_j - largest) / total", "", (*parts, *more), code)
    return formula, exps / exps.sum()


def _sparsemax(parts: tuple[Quantity, ...], shifted: Array) -> tuple[Formula, Array]:
    z = np.sort(shifted[np.isfinite(shifted)])[::-1]
    k = np.arange(1, len(z) + 1)
    size = int((1 + k * z > np.cumsum(z)).sum())
    tau = (z[:size].sum() - 1) / size
    code = (
        *_SHIFT,
        "z = np.sort(shifted[allowed])[::-1]",
        "k = np.arange(1, len(z) + 1)",
        "size = int((1 + k * z > np.cumsum(z)).sum())",
        "tau = (z[:size].sum() - 1) / size",
        "weights = np.maximum(shifted - tau, 0)",
    )
    threshold = Quantity("tau", "the threshold: below it a weight is exactly 0", np.array(tau), given=False)
    text = "weight_j = max(score_j - largest - tau, 0)"
    formula = Formula("sparsemax", text, "Martins & Astudillo 2016", (*parts, threshold), code)
    return formula, np.maximum(shifted - tau, 0)


def _entmax(parts: tuple[Quantity, ...], shifted: Array) -> tuple[Formula, Array]:
    z = np.sort(shifted[np.isfinite(shifted)])[::-1] / 2
    k = np.arange(1, len(z) + 1)
    mean = np.cumsum(z) / k
    variance = np.cumsum(z * z) / k - mean**2
    candidates = mean - np.sqrt(np.maximum((1 - k * variance) / k, 0))
    tau = candidates[int((candidates <= z).sum()) - 1]
    code = (
        *_SHIFT,
        "z = np.sort(shifted[allowed])[::-1] / 2",
        "k = np.arange(1, len(z) + 1)",
        "mean = np.cumsum(z) / k",
        "variance = np.cumsum(z * z) / k - mean**2",
        "candidates = mean - np.sqrt(np.maximum((1 - k * variance) / k, 0))",
        "tau = candidates[int((candidates <= z).sum()) - 1]",
        "weights = np.maximum(shifted / 2 - tau, 0) ** 2",
    )
    threshold = Quantity("tau", "the threshold: below it a weight is exactly 0", np.array(tau), given=False)
    text = "weight_j = max((score_j - largest) / 2 - tau, 0)^2"
    formula = Formula("entmax-1.5", text, "Peters, Niculae & Martins 2019", (*parts, threshold), code)
    return formula, np.maximum(shifted / 2 - tau, 0) ** 2
