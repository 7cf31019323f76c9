"""From pair numbers to a Batch: read the ids, pad them, and make what a loss needs beside them."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seq2see import masks
from seq2see.data.batch import Batch
from seq2see.data.order import Indices, Order
from seq2see.data.store import Store, encode_sources, rows
from seq2see.text import Tokenizer
from seq2see.vocabulary import BOS, EOS, PAD


class Loaded(NamedTuple):
    """A batch, which pairs of the store it holds, and where known what its words belong to."""

    batch: Batch
    pairs: Indices
    links: Tensor | None  # (B, T, S) rows that sum to 1, or to 0 where nobody knows
    counts: bool = True  # False: fewer pairs than processes, and another one takes this


@dataclass(frozen=True)
class Loader:
    """Reads a store in an order; with dropout the pieces are cut anew each time, as a function of seed and place."""

    order: Order
    tokenizers: tuple[Tokenizer, Tokenizer]
    dropout: tuple[float, ...] = (0.0, 0.0)  # of each side
    with_links: bool = False
    rank: int = 0  # of `processes` that share every batch: every N-th pair is ours
    processes: int = 1

    def load(self, epoch: int, first: int = 0) -> Iterator[Loaded]:
        for pairs in self.order.batches(epoch, first):
            own = pairs[self.rank :: self.processes]
            loaded = self.collate(own if len(own) else pairs[:1], epoch)
            yield loaded._replace(pairs=pairs, counts=len(own) > 0)

    def collate(self, pairs: Indices, epoch: int = 0) -> Loaded:
        store = self.order.store
        sources, targets = rows(store.source, pairs), rows(store.target, pairs)
        if any(self.dropout):
            sources, targets = self._recut(sources, targets, pairs, epoch)
        batch = make_batch(sources, targets)
        return Loaded(batch, pairs, link_matrix(store, pairs, batch) if self.with_links else None)

    def _recut(
        self, sources: list[NDArray[np.uint32]], targets: list[NDArray[np.uint32]], pairs: Indices, epoch: int
    ) -> tuple[list[NDArray[np.uint32]], list[NDArray[np.uint32]]]:
        """Subword dropout; the text comes back from the ids, which decode exactly."""
        sides = []
        for side, (tokenizer, sentences) in enumerate(zip(self.tokenizers, (sources, targets), strict=True)):
            fresh = []
            for ids, pair in zip(sentences, pairs.tolist(), strict=True):
                seed = zlib.crc32(repr((self.order.seed, epoch, pair, side)).encode())
                text = tokenizer.decode(ids.tolist())
                pieces = tokenizer.ids_batch([text], dropout=self.dropout[side], seed=seed)[0]
                fresh.append(np.asarray([*pieces, EOS] if side == 0 else pieces, dtype=np.uint32))
            sides.append(fresh)
        return sides[0], sides[1]


def make_batch(sources: Sequence[NDArray[np.uint32]], targets: Sequence[NDArray[np.uint32]]) -> Batch:
    """Ragged ids -> Batch."""
    width = max(len(ids) for ids in targets) + 1
    source = np.full((len(sources), max(len(ids) for ids in sources)), PAD, dtype=np.int64)
    target_in = np.full((len(targets), width), PAD, dtype=np.int64)
    target_out = np.full((len(targets), width), PAD, dtype=np.int64)
    target_in[:, 0] = BOS
    for row, (source_ids, target_ids) in enumerate(zip(sources, targets, strict=True)):
        end = len(target_ids)
        source[row, : len(source_ids)] = source_ids
        target_in[row, 1 : end + 1] = target_ids
        target_out[row, :end] = target_ids
        target_out[row, end] = EOS
    source_tensor, target_tensor = torch.from_numpy(source), torch.from_numpy(target_out)
    mask = masks.padding(source_tensor)
    return Batch(source_tensor, mask, torch.from_numpy(target_in), target_tensor, target_tensor != PAD)


def link_matrix(store: Store, pairs: Indices, batch: Batch) -> Tensor:
    """(B, T, S): for each target piece the source pieces that it belongs to, sharing a weight of 1."""
    matrix = torch.zeros(len(pairs), batch.target_out.size(1), batch.source.size(1))
    for row, pair in enumerate(pairs.tolist()):
        for source, target in store.links_of(pair):
            matrix[row, target, source] = 1.0
    return matrix / matrix.sum(dim=-1, keepdim=True).clamp(min=1.0)


def source_batch(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Texts -> (B, S) ids and their (B, 1, S) mask, as training saw them."""
    encoded = encode_sources(tokenizer, texts)
    source = np.full((len(encoded), max(len(ids) for ids in encoded)), PAD, dtype=np.int64)
    for row, ids in enumerate(encoded):
        source[row, : len(ids)] = ids
    words = torch.from_numpy(source)
    return words, masks.padding(words)
