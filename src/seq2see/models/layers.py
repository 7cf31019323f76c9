"""Parts that several families share: embeddings, the read-out, causal convolution, weight normalisation."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.vocabulary import PAD


class Embedding(nn.Embedding):
    """Ids to vectors; the vector of PAD is zero and stays so."""

    def __init__(self, vocabulary: int, width: int, *, std: float | None = None) -> None:
        super().__init__(vocabulary, width, padding_idx=PAD)
        nn.init.normal_(self.weight, std=width**-0.5 if std is None else std)
        with torch.no_grad():
            self.weight[PAD].zero_()


class NormedLinear(nn.Module):
    """w = g v / |v|: the direction and the size of each row are trained apart (Salimans & Kingma 2016).

    With a kernel wider than 1 it is a convolution over time, computed by `NormedConv`.
    """

    def __init__(self, inputs: int, outputs: int, *, std: float, bias: bool = True) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.empty(outputs, inputs))
        nn.init.normal_(self.direction, std=std)
        direction = self.direction.detach()
        # A model that is about to be loaded has no numbers yet to measure.
        lengths = direction.new_empty(outputs, 1) if direction.is_meta else direction.norm(dim=1, keepdim=True)
        self.size = nn.Parameter(lengths)
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None
        self._last: tuple[object, Tensor] | None = None

    def weight(self) -> Tensor:
        """w. In `eval` mode, without gradients, it is made once and not at every step of decoding."""
        if self.training or torch.is_grad_enabled() or torch.compiler.is_exporting():
            return self.size * F.normalize(self.direction, dim=1)
        # Torch counts how often a tensor is written to; another one in its place lies elsewhere.
        written = [(part.data_ptr(), part._version, part.dtype) for part in (self.direction, self.size)]
        if self._last is None or self._last[0] != written:
            self._last = written, self.size * F.normalize(self.direction, dim=1)
        return self._last[1]

    def train(self, mode: bool = True) -> "NormedLinear":
        self._last = None  # the fused optimiser writes without being counted
        return super().train(mode)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight(), self.bias)


class NormedConv(NormedLinear):
    """A weight-normalised convolution over (B, T, inputs), as one matrix product over unfolded windows."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, std: float) -> None:
        super().__init__(inputs * kernel, outputs, std=std)
        self.inputs = inputs
        self.kernel = kernel

    def forward(self, x: Tensor) -> Tensor:
        """(B, T + kernel - 1, inputs) -> (B, T, outputs); whoever calls has padded on the side it wants."""
        return F.linear(x.unfold(1, self.kernel, 1).flatten(2), self.weight(), self.bias)


class Maxout(nn.Module):
    """The larger of each pair of outputs of a linear map (Goodfellow 2013; the read-out of Bahdanau 2014, A.2.2)."""

    def forward(self, x: Tensor) -> Tensor:
        """(..., 2 D) -> (..., D)."""
        return x.unflatten(-1, (x.size(-1) // 2, 2)).amax(dim=-1)


def pad_time(x: Tensor, left: int, right: int) -> Tensor:
    """(B, T, D) -> (B, left + T + right, D) with zeros."""
    return F.pad(x, (0, 0, left, right))


def hide(x: Tensor, mask: Tensor) -> Tensor:
    """(B, T, D) with zeros at padding; mask (B, 1, T)."""
    return x.masked_fill(~mask.transpose(1, 2), 0.0)


def scale_gradient(x: Tensor, factor: float) -> Tensor:
    """x itself; its gradient comes back multiplied by `factor`."""
    return x * factor + x.detach() * (1 - factor)


def glu_std(inputs: int, kernel: int, dropout: float) -> float:
    """The initial spread that keeps variance through a gated convolution (Gehring 2017, appendix A)."""
    return math.sqrt(4 * (1 - dropout) / (inputs * kernel))


def average(x: Tensor, mask: Tensor) -> Tensor:
    """(B, S, D), (B, 1, S) -> (B, D): the mean over real positions, for a decoder that starts from one vector."""
    weights = mask.squeeze(1).to(x.dtype)
    return (x * weights.unsqueeze(-1)).sum(dim=1) / weights.sum(dim=1, keepdim=True).clamp(min=1)
