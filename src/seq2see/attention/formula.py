"""A formula with a model's own numbers in it: how mechanisms, scopes and decoders describe what they compute.

A formula is given three times: as text, as named arrays, and as NumPy lines that compute the arrays. A part that is
`given` comes from the model; the others follow from it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

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
