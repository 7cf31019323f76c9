"""How attention can know where a word stands. Attention alone does not: it treats its keys as a bag.

sinusoidal   added to the input      Vaswani 2017, section 3.5
learned      added to the input      Gehring 2017, section 3.1
rotary       turns query and key     Su 2021, section 3.2
ALiBi        bias on the scores      Press 2022, section 3
relative     bias on the scores      Raffel 2020 (T5), section 2.1
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from seq2see.errors import ConfigError, nearest

PositionName = Literal["none", "sinusoidal", "learned", "rotary", "alibi", "relative"]
POSITIONS: tuple[PositionName, ...] = ("none", "sinusoidal", "learned", "rotary", "alibi", "relative")


def check_positions(name: str) -> None:
    if name not in POSITIONS:
        raise ConfigError(f"positions = '{name}' is unknown{nearest(name, POSITIONS)}")


def sinusoidal(positions: Tensor, width: int, dtype: torch.dtype) -> Tensor:
    """(..., T) positions -> (..., T, width): sin and cos of position / 10000^(2i / width), sines first."""
    angles = _angles(positions, (width + 1) // 2, dtype)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)[..., :width].to(dtype)


def _angles(positions: Tensor, count: int, dtype: torch.dtype) -> Tensor:
    """(..., T) -> (..., T, count): position x 10000^(-i / count), never in half precision, which skips positions."""
    dtype = torch.promote_types(dtype, torch.float32)
    rates = torch.exp(torch.arange(count, device=positions.device, dtype=dtype) * (-math.log(10_000.0) / count))
    return positions.unsqueeze(-1).to(dtype) * rates


class LearnedPositions(nn.Module):
    """A trained vector for each position; positions past the last one share its vector."""

    def __init__(self, max_length: int, width: int) -> None:
        super().__init__()
        if max_length < 1 or width < 1:
            raise ConfigError(f"max_length = {max_length}, width = {width}; learned positions need at least 1 of both")
        self.max_length = max_length
        self.table = nn.Embedding(max_length, width)
        nn.init.normal_(self.table.weight, std=width**-0.5)

    def forward(self, positions: Tensor) -> Tensor:
        """(..., T) -> (..., T, width)."""
        vectors: Tensor = self.table(positions.clamp(max=self.max_length - 1))
        return vectors


class AddedPositions(nn.Module):
    """Adds sinusoidal or learned positions to vectors; any other scheme adds nothing here."""

    def __init__(self, scheme: PositionName, max_length: int, width: int) -> None:
        super().__init__()
        check_positions(scheme)
        self.scheme: PositionName = scheme
        self.learned = LearnedPositions(max_length, width) if scheme == "learned" else None

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        """(B, T, width), (1 or B, T) -> (B, T, width)."""
        if self.learned is not None:
            learned: Tensor = x + self.learned(positions)
            return learned
        return x + sinusoidal(positions, x.size(-1), x.dtype) if self.scheme == "sinusoidal" else x


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """(B, H, T, d), (1 or B, T) -> the same with each pair (x_i, x_{i + d/2}) turned by position x 10000^(-2i/d).

    q_m . k_n then depends on m - n alone.
    """
    half = x.size(-1) // 2
    angles = _angles(positions, half, x.dtype).unsqueeze(1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def alibi_slopes(heads: int) -> list[float]:
    """2^(-8/n), 2^(-16/n), ...: for a number of heads that is not a power of two, the paper's interleaving."""
    closest = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (head + 1) / closest) for head in range(closest)]
    between = [2 ** (-4 * (2 * head + 1) / closest) for head in range(heads - closest)]
    return slopes + between


class Alibi(nn.Module):
    """bias = -slope_h |i - j|: the farther away, the lower the score."""

    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        # On the CPU whatever the default device: a model that is loaded is built on `meta`, and no file holds these.
        self.register_buffer("slopes", torch.tensor(alibi_slopes(heads), device="cpu"), persistent=False)

    def forward(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """(1 or B, Tq), (Tk,) -> (1 or B, H, Tq, Tk)."""
        distance = (query_positions.unsqueeze(-1) - key_positions).abs().unsqueeze(1)
        return -self.slopes[:, None, None] * distance.to(self.slopes.dtype)


class RelativeBuckets(nn.Module):
    """bias = a learned number per head and bucket of (j - i): near offsets exact, far ones in widening buckets."""

    def __init__(self, heads: int, *, buckets: int = 32, furthest: int = 128, two_sided: bool = True) -> None:
        super().__init__()
        self.two_sided = two_sided
        self.buckets = buckets
        self.furthest = furthest
        self.table = nn.Embedding(buckets, heads)
        nn.init.normal_(self.table.weight, std=0.1)

    def bucket(self, offset: Tensor) -> Tensor:
        """Key position minus query position -> bucket. One-sided: everything ahead shares bucket 0."""
        count = self.buckets // 2 if self.two_sided else self.buckets
        base = (offset > 0).long() * count if self.two_sided else torch.zeros_like(offset)
        distance = offset.abs() if self.two_sided else (-offset).clamp(min=0)
        exact = count // 2
        ratio = torch.log(distance.clamp(min=1).float() / exact) / math.log(self.furthest / exact)
        far = exact + (ratio * (count - exact)).long()
        return base + torch.where(distance < exact, distance, far.clamp(max=count - 1))

    def forward(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """(1 or B, Tq), (Tk,) -> (1 or B, H, Tq, Tk)."""
        offset = key_positions - query_positions.unsqueeze(-1)
        bias: Tensor = self.table(self.bucket(offset)).movedim(-1, 1)
        return bias
