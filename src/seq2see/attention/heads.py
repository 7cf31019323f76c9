"""A linear map of its own for every head, and the cut of a vector into heads."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class HeadLinear(nn.Module):
    """(B, H, T, inputs) -> (B, H, T, outputs); weight (H, outputs, inputs), initialised like nn.Linear."""

    def __init__(self, heads: int, inputs: int, outputs: int, *, bias: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads, outputs, inputs))
        self.bias = nn.Parameter(torch.empty(heads, outputs)) if bias else None
        bound = 1 / math.sqrt(inputs)
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        if self.weight.size(0) == 1:  # one head: a plain matrix product, which folds batch and time together
            return F.linear(x, self.weight[0], None if self.bias is None else self.bias[0])
        mapped = torch.matmul(x, self.weight.transpose(1, 2))
        return mapped if self.bias is None else mapped + self.bias.unsqueeze(1)


def split(x: Tensor, heads: int) -> Tensor:
    """(B, T, heads * d) -> (B, heads, T, d)."""
    if x.size(1) == 1:  # nothing to turn around
        return x.reshape(x.size(0), heads, 1, x.size(-1) // heads)
    return x.unflatten(-1, (heads, x.size(-1) // heads)).transpose(1, 2)


def merge(x: Tensor) -> Tensor:
    """(B, heads, T, d) -> (B, T, heads * d)."""
    if x.size(2) == 1:
        return x.reshape(x.size(0), 1, x.size(1) * x.size(3))
    return x.transpose(1, 2).flatten(-2)
