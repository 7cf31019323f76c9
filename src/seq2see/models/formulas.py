"""Formulas that several families share when they describe a position: norms, sums, layers passed through, read-outs."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from seq2see.attention.formula import Formula, Quantity, array

WORD = "word vector of the last piece"


def norm_formula(norm: nn.Module, x: Tensor, what: str, *, symbol: str = "normed") -> Formula:
    """(D,) -> LayerNorm or RMSNorm of it, under `symbol`; `what` says what it is for."""
    parts, code = norm_parts(norm, x)
    name = "layer norm" if isinstance(norm, nn.LayerNorm) else "RMS norm"
    text = (
        f"{symbol} = gain (x - mean) / deviation + shift"
        if len(parts) == 2
        else f"{symbol} = gain x / root mean square"
    )
    paper = "Ba 2016" if isinstance(norm, nn.LayerNorm) else "Zhang & Sennrich 2019"
    normed = Quantity(symbol, what, array(norm(x)), given=False)
    return Formula(name, text, paper, (Quantity("x", "what enters", array(x)), *parts, normed), (f"{symbol} = {code}",))


def norm_parts(norm: nn.Module, like: Tensor, *, name: str = "x") -> tuple[tuple[Quantity, ...], str]:
    """What a norm has learned, and the expression of it over the array `name`."""
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    gain = Quantity("gain", "of the norm, learned", array(norm.weight))
    if isinstance(norm, nn.LayerNorm):
        shift = Quantity("shift", "of the norm, learned", array(norm.bias))
        return (gain, shift), f"({name} - {name}.mean()) / np.sqrt({name}.var() + {norm.eps!r}) * gain + shift"
    eps = torch.finfo(like.dtype).eps if norm.eps is None else norm.eps
    return (gain,), f"{name} / np.sqrt(({name}**2).mean() + {eps!r}) * gain"


def layers_formula(passed: Mapping[int, Tensor], name: str, *, unit: str = "layer") -> tuple[Formula, ...]:
    """Layers that are only passed through: the vector (D,) after each -> one formula, or none without layers."""
    parts = tuple(Quantity(f"x_{number}", f"after {unit} {number}", array(x)) for number, x in passed.items())
    return (Formula(name, "x, the vector of this position, after each of them", "", parts, ()),) if parts else ()


def tanh_formula(name: str, text: str, paper: str, parts: Sequence[Quantity], mixed: Tensor, symbol: str) -> Formula:
    """`symbol` = tanh(a), with a (D,) the linear map of `parts` that `text` shows."""
    argument = Quantity("a", "inside tanh", array(mixed))
    result = Quantity(symbol, "what the vocabulary layer reads", array(torch.tanh(mixed)), given=False)
    return Formula(name, text, paper, (*parts, argument, result), (f"{symbol} = np.tanh(a)",))
