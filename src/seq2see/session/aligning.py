"""Existing pairs, looked at: their maps in batches, which head to read alignments from, and alignments."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import torch

from seq2see.data.batch import Batch
from seq2see.data.store import encode_sources
from seq2see.errors import ConfigError
from seq2see.evaluate.alignment import Gold
from seq2see.look import AttentionMap, Chosen, Kind, attention_map
from seq2see.look.intervene import occlusion
from seq2see.look.intervene.posterior import posterior_looks
from seq2see.look.map import alignment
from seq2see.session.translator import Translator

CHOOSING = 200  # pairs are enough to tell heads apart
_WINDOW = 512
_BATCH_PLACES = 16_384  # source x target places in a batch, of one head

Pair = tuple[str, str]


@torch.no_grad()
def look_all(
    translator: Translator, pairs: Sequence[Pair], kind: Kind = "cross", *, posterior: bool = False
) -> Iterator[AttentionMap]:
    """The map of each pair, in order, from forced passes over batches of like length; the posterior if asked."""
    run = translator.runs[0]
    todo = iter(pairs)
    while window := list(islice(todo, _WINDOW)):
        cleaned = [(translator.clean(source), translator.clean(target)) for source, target in window]
        sources = encode_sources(run.tokenizers[0], [source for source, _ in cleaned])
        targets = run.tokenizers[1].ids_batch([target for _, target in cleaned])
        maps: list[AttentionMap | None] = [None] * len(window)
        for places in _batches(
            [(len(source), len(target) + 1) for source, target in zip(sources, targets, strict=True)]
        ):
            batch = Batch.of([sources[i] for i in places], [targets[i] for i in places])
            looks = posterior_looks(run.model, batch) if posterior else run.model.look(batch)
            for row, place in enumerate(places):
                # Both as they were written: an unknown word stays a word, whatever its id would say.
                source, target = (side.encode(text) for side, text in zip(run.tokenizers, cleaned[place], strict=True))
                maps[place] = attention_map(looks, kind, source, target, row=row)
        for whole in maps:
            if whole is None:
                raise ConfigError(f"{run.path}: {translator.family} has no attention of kind '{kind}' to look at")
            yield whole


def _batches(sizes: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    order = sorted(range(len(sizes)), key=lambda place: (sizes[place], place))
    batch: list[int] = []
    for place in order:
        wide = max((sizes[other][0] for other in (*batch, place)), default=0)
        tall = max((sizes[other][1] for other in (*batch, place)), default=0)
        if batch and (len(batch) + 1) * wide * tall > _BATCH_PLACES:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def choose_head(
    translator: Translator,
    pairs: Sequence[Pair],
    gold: Sequence[Gold] | None = None,
    *,
    reverse: Translator | None = None,
    remember: bool = True,
) -> Chosen:
    """The head to read alignments from: the one that the run remembers; else chosen by these pairs, and remembered.

    gold      what people drew for the pairs;  reverse: without gold, a run of the other direction to agree with
    """
    some = pairs[:CHOOSING]
    return alignment.choose_head(
        translator.runs[0].path / alignment.ALIGNMENT,
        look_all(translator, some),
        None if gold is None else gold[:CHOOSING],
        None if reverse is None else look_all(reverse, [(target, source) for source, target in some]),
        reverse_name="" if reverse is None else str(reverse.runs[0].path),
        remember=remember,
    )


def occlude(
    translator: Translator, source: str, target_ids: Sequence[int], progress: Callable[[int], None] | None = None
) -> occlusion.Occlusion:
    """Each source word dropped in turn, the translation kept: see look.intervene.occlusion."""
    pieces = (*translator.runs[0].tokenizers[1].pieces(target_ids), "</s>")
    text = translator.clean(source).strip()
    return occlusion.occlude(
        lambda source_text: translator.score_ids(source_text, target_ids).token_scores, text, pieces, progress
    )
