"""Which target pieces each source piece was ever aligned to: what a shortlist is made from.

    attention     the run's own, over pairs it was trained on, read by teacher forcing: every place that had at least a
                  tenth of the weight of a step, the mean over layers and heads
    IBM model 1   for families without attention: how likely each source piece says each target piece, by five rounds
                  of expectation and maximisation over the same pairs (Brown 1993)

Both give a weight for each (source piece, target piece); of every source piece the heaviest targets are kept.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray

from seq2see.data.batch import Batch
from seq2see.data.store import encode_sources
from seq2see.engines.shortlist import Ints, Shortlist
from seq2see.errors import RunError
from seq2see.progress import ProgressDisplay
from seq2see.runs.folder import Run
from seq2see.runs.inputs import located
from seq2see.training.prepare import sources_of
from seq2see.vocabulary import EOS, UNK

PAIRS = 30_000  # that are read, spread over the corpora: a minute or two for a small model
# Targets of a source piece, and of every sentence. On Multi30k these are 1,090 words of 8,000 for a sentence, and 298
# of 300 are what they were (greedy); with 32 and 256 it is 580 words and 278.
EACH, COMMON = 64, 512
_LEAST = 0.1  # of attention: what counts as aligned
_PLACES = 65_536  # source x target places in a batch, of one head
_MOST_PIECES = 100  # a side of a pair: longer ones say little about single words
_MOST_PLACES = 16_000_000  # source x target places that model 1 counts: some hundred megabytes
_ROUNDS = 5  # of model 1
_WINDOW = 4096  # pairs that are sorted by length together

Say = Callable[[str], None]
Floats = NDArray[np.float64]
Ids = tuple[list[int], list[int]]


def aligned_targets(run: Run, say: Say) -> Shortlist:
    """RunError if its training pairs are gone."""
    attends = any(attention.kind == "cross" for attention in run.model.attentions())
    say(f"making the shortlist of {run.path} from its training pairs: once, a minute or two")
    size = run.tokenizers[1].size
    counts, alignments = np.zeros(size), _Weights(size)
    pairs: list[Ids] = []
    with ProgressDisplay() as display:
        count = display.count("pairs aligned", unit="pairs", total=None)
        for window in _windows(run):
            pairs += window
            counts += np.bincount(np.concatenate([target for _, target in window]), minlength=size)
            for batch in _batches(window) if attends else ():
                alignments.add(*_attended(run, batch))
                count.advance(len(batch))
        count.finish()
    if not pairs:
        raise RunError(f"{run.path}: has no training pairs to make a shortlist from; translate without it")
    if not attends:
        places = np.cumsum([len(source) * len(target) for source, target in pairs])
        alignments.add(*model_1(pairs[: max(1, int(np.searchsorted(places, _MOST_PLACES)))], size))
    common = np.argsort(-counts, kind="stable")[:COMMON]
    common = common[counts[common] > 0]
    return _heaviest(*alignments.sums(), common, run)


class _Weights:
    """A weight for each (source piece, target piece), as a number source x V + target."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.keys: Ints = np.empty(0, np.int64)
        self.weights: Floats = np.empty(0)

    def add(self, sources: Ints, targets: Ints, weights: Floats) -> None:
        keys = np.concatenate([self.keys, sources * self.size + targets])
        self.keys, places = np.unique(keys, return_inverse=True)
        self.weights = np.bincount(places, np.concatenate([self.weights, weights])).astype(np.float64)

    def sums(self) -> tuple[Ints, Ints, Floats]:
        return self.keys // self.size, self.keys % self.size, self.weights


def _heaviest(sources: Ints, targets: Ints, weights: Floats, common: Ints, run: Run) -> Shortlist:
    """The EACH heaviest targets of each source piece that are not common anyway, and the piece itself."""
    source, target = run.tokenizers
    place = {piece: index for index, piece in enumerate(target.written_pieces)}
    same = [
        (index, place[piece]) for index, piece in enumerate(source.written_pieces) if index > UNK and piece in place
    ]
    rare = ~np.isin(targets, common)
    sources, targets, weights = sources[rare], targets[rare], weights[rare]
    order = np.lexsort((targets, -weights, sources))
    sources, targets = sources[order], targets[order]
    first = np.searchsorted(sources, sources)  # (N,) where the targets of its source begin
    kept = np.arange(len(sources)) - first < EACH
    pairs = np.concatenate([np.stack([sources[kept], targets[kept]], axis=1), np.array(same).reshape(-1, 2)])
    pairs = np.unique(pairs, axis=0)
    return Shortlist(np.searchsorted(pairs[:, 0], np.arange(source.size + 1)), pairs[:, 1], common, target.size)


def _windows(run: Run) -> Iterator[list[Ids]]:
    """Pieces of training pairs, evenly spread over each corpus, PAIRS at most."""
    corpora, _ = sources_of(located(run.config, run.path).data) if run.config.data.train else ([], [])
    source_tokenizer, target_tokenizer = run.tokenizers
    for corpus in corpora:
        wanted = PAIRS // len(corpora)
        number = sum(1 for _ in corpus.pairs())
        texts = islice(corpus.pairs(), 0, None, max(1, -(-number // max(1, wanted))))
        while window := list(islice(texts, _WINDOW)):
            sources = encode_sources(source_tokenizer, [pair.source for pair in window])
            targets = target_tokenizer.ids_batch([pair.target for pair in window])
            short = [ids for ids in zip(sources, targets, strict=True) if 1 < max(map(len, ids)) <= _MOST_PIECES]
            if short:
                yield short


def _batches(window: Sequence[Ids]) -> Iterator[list[Ids]]:
    """Pairs of like length."""
    batch: list[Ids] = []
    for ids in sorted(window, key=lambda ids: (len(ids[0]), len(ids[1]))):
        wide, tall = (max(len(side) for side in sides) for sides in zip(*batch, ids, strict=True))
        if batch and (len(batch) + 1) * wide * (tall + 1) > _PLACES:
            yield batch
            batch = []
        batch.append(ids)
    if batch:
        yield batch


@torch.no_grad()
def _attended(run: Run, pairs: Sequence[Ids]) -> tuple[Ints, Ints, Floats]:
    """(N,) each: source piece, target piece and weight of every place that was looked at."""
    batch = Batch.of([source for source, _ in pairs], [target for _, target in pairs])
    layers = [look.weights.mean(dim=1) for look in run.model.look(batch) if look.kind == "cross"]
    weights = torch.stack(layers).mean(dim=0)  # (B, T, S)
    seen = (weights >= _LEAST) & batch.target_mask.unsqueeze(2) & (batch.target_out != EOS).unsqueeze(2)
    row, step, place = seen.nonzero(as_tuple=True)
    columns = batch.source[row, place], batch.target_out[row, step], weights[row, step, place].double()
    sources, targets, values = (column.numpy() for column in columns)
    return sources, targets, values


def model_1(pairs: Sequence[Ids], size: int) -> tuple[Ints, Ints, Floats]:
    """(N,) each: source piece, target piece, and how often the first is expected to have said the second."""
    sources = np.concatenate([np.tile(source, len(target)) for source, target in pairs]).astype(np.int64)
    targets = np.concatenate([np.repeat(target, len(source)) for source, target in pairs]).astype(np.int64)
    widths = np.concatenate([np.full(len(target), len(source)) for source, target in pairs])
    target_places = np.repeat(np.arange(len(widths)), widths)  # (N,) which target place
    keys, place = np.unique(sources * size + targets, return_inverse=True)
    source_of = keys // size
    likely = np.ones(len(keys))  # t(target | source)
    expected = likely
    for _ in range(_ROUNDS):
        share = likely[place]
        share /= np.bincount(target_places, share)[target_places]
        expected = np.bincount(place, share).astype(np.float64)
        likely = expected / np.bincount(source_of, expected)[source_of]
    return source_of, keys % size, expected
