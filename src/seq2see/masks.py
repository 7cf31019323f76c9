"""Who may look at what. Boolean, True = may look; made here and nowhere else.

Shapes: (B, 1 or Tq, Tk) with B batch, Tq query positions, Tk key positions. Heads are added inside attention.
"""

import torch
from torch import Tensor

from seq2see.errors import ShapeError
from seq2see.vocabulary import PAD


def padding(ids: Tensor) -> Tensor:
    """(B, T) ids -> (B, 1, T): every query may look at what is not padding."""
    return (ids != PAD).unsqueeze(1)


def positions(length: int, offset: int | Tensor, device: torch.device) -> Tensor:
    """(1, T) or (B, T): the absolute positions of `length` consecutive items, the first one at `offset`.

    While decoding the offset differs from 0, and as a (B,) tensor it may differ from row to row.
    """
    steps = torch.arange(length, device=device).unsqueeze(0)
    return steps + (offset.unsqueeze(1) if isinstance(offset, Tensor) else offset)


def causal(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """(1 or B, Tq), (1, Tk) -> (1 or B, Tq, Tk): nobody looks ahead of its own position."""
    return key_positions.unsqueeze(1) <= query_positions.unsqueeze(2)


def window(centres: Tensor, key_positions: Tensor, width: int) -> Tensor:
    """(..., Tq), (Tk,) -> (..., Tq, Tk): only keys at most `width` away from the centre of the query."""
    return (key_positions - centres.unsqueeze(-1)).abs() <= width


def both(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    """What both masks allow; None allows everything."""
    if first is None or second is None:
        return second if first is None else first
    return first & second


def seen_keys(mask: Tensor) -> Tensor:
    """(B, 1 or Tq, Tk) -> (B, Tk): the keys that at least one query may look at."""
    return mask[:, 0] if mask.size(1) == 1 else mask.any(dim=1)


def check(mask: Tensor, batch: int, queries: int | None, keys: int) -> None:
    """Refuses a mask of the wrong type or shape before it fails somewhere deep inside."""
    if mask.dtype != torch.bool:
        raise ShapeError(f"mask has dtype {mask.dtype}; masks are torch.bool with True = may look")
    fits = mask.dim() == 3 and mask.size(0) in (1, batch) and mask.size(2) == keys
    if fits and queries is not None:
        fits = mask.size(1) in (1, queries)
    if not fits:
        middle = "1 or Tq" if queries is None else f"1 or {queries}"
        raise ShapeError(f"mask has shape {tuple(mask.shape)}; expected ({batch}, {middle}, {keys})")
