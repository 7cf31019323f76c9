"""What a model is fed: sources and targets as padded id matrices, with their masks."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seq2see import masks
from seq2see.errors import ShapeError
from seq2see.vocabulary import BOS, EOS, PAD


@dataclass(frozen=True)
class Batch:
    """B pairs. The target is stored twice, shifted by one: what the decoder reads and what it has to say.

    source      (B, S) ids            source_mask  (B, 1, S) True where there is a token
    target_in   (B, T) BOS y1 .. yn   target_out   (B, T) y1 .. yn EOS     target_mask  (B, T) True on real positions
    """

    source: Tensor
    source_mask: Tensor
    target_in: Tensor
    target_out: Tensor
    target_mask: Tensor

    @staticmethod
    def of(source_ids: Sequence[Sequence[int]], target_ids: Sequence[Sequence[int]]) -> "Batch":
        """Pads lists of ids; targets come without BOS and EOS."""
        if len(source_ids) != len(target_ids):
            raise ShapeError(f"{len(source_ids)} sources but {len(target_ids)} targets")
        if not source_ids:
            raise ShapeError("an empty batch: give at least one pair")
        empty = [row for row, ids in enumerate(source_ids) if not ids]
        if empty:
            raise ShapeError(f"source {empty[0]} is empty; a source needs at least one token")
        _no_padding("source", source_ids)
        _no_padding("target", target_ids)
        source = pad(source_ids)
        target_out = pad([[*ids, EOS] for ids in target_ids])
        return Batch(
            source=source,
            source_mask=masks.padding(source),
            target_in=pad([[BOS, *ids] for ids in target_ids]),
            target_out=target_out,
            target_mask=target_out != PAD,
        )

    def __len__(self) -> int:
        return self.source.size(0)

    def to(self, device: torch.device | str) -> "Batch":
        return Batch(
            self.source.to(device),
            self.source_mask.to(device),
            self.target_in.to(device),
            self.target_out.to(device),
            self.target_mask.to(device),
        )


def _no_padding(name: str, rows: Sequence[Sequence[int]]) -> None:
    """Masks are read off the ids and padding stands behind the tokens, so PAD within them would open a hole."""
    for row, ids in enumerate(rows):
        if PAD in ids:
            raise ShapeError(f"{name} {row} holds the padding id {PAD} at place {list(ids).index(PAD)}")


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Lists of ids -> (B, longest) with PAD behind the short ones."""
    longest = max(len(row) for row in rows)
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.long)
