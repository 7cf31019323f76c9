"""The formulas of the normalisers with a model's own numbers: softmax, sparsemax, entmax-1.5.

Scores and scopes describe themselves (`Mechanism.describe_score`, `Scope.describe`).
"""

import numpy as np
from numpy.typing import NDArray

from seq2see.attention.formula import Array, Formula, Quantity

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
