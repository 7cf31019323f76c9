"""Existing pairs, looked at: their maps in batches, which head to read alignments from, and alignments."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import torch

from seq2see.data.batch import Batch
from seq2see.data.store import encode_sources
from seq2see.errors import ConfigError
from seq2see.evaluate.alignment import Gold
from seq2see.look import AttentionMap, Best, Kind, attention_map, best_head, load_best, save_best
from seq2see.look.intervene.posterior import posterior_looks
from seq2see.look.map.alignment import ALIGNMENT
from seq2see.session.translator import Translator

CHOOSING = 200  # pairs are enough to tell heads apart
_WINDOW = 512
_BATCH_PLACES = 16_384  # source x target places in a batch, of one head

Pair = tuple[str, str]


class Chosen(NamedTuple):
    best: Best
    how: str  # for people: by what it was chosen


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
    path = translator.runs[0].path / ALIGNMENT
    known = load_best(path)
    if known is not None:
        return Chosen(known, f"remembered in {path}")
    some = slice(0, CHOOSING)
    maps = list(look_all(translator, pairs[some]))
    if gold is not None:
        chosen = Chosen(best_head(maps, gold[some]), f"lowest error on {len(maps)} pairs with gold")
    elif reverse is not None:
        back = list(look_all(reverse, [(target, source) for source, target in pairs[some]]))
        how = f"agrees most with {reverse.runs[0].path} on {len(maps)} pairs"
        chosen = Chosen(best_head(maps, None, back), how)
    else:
        chosen = Chosen(best_head(maps), f"its rows and columns agree most on {len(maps)} pairs")
    if remember:
        save_best(path, chosen.best)
    return chosen


class Occlusion(NamedTuple):
    """The second opinion: how much less likely each target piece becomes when a source word is taken away."""

    words: tuple[str, ...]  # of the source
    pieces: tuple[str, ...]  # of the target, its end included
    loss: list[list[float]]  # [word][piece]: log-probability before minus after

    def totals(self) -> list[float]:
        """Of the whole translation, for each source word."""
        return [sum(row) for row in self.loss]


def occlude(
    translator: Translator, source: str, target_ids: Sequence[int], progress: Callable[[int], None] | None = None
) -> Occlusion:
    """Each source word dropped in turn, the translation kept."""
    text = translator.clean(source).strip()
    words = text.split()
    before = translator.score_ids(text, target_ids)
    loss = []
    for dropped in range(len(words)):
        left = " ".join(word for place, word in enumerate(words) if place != dropped)
        after = translator.score_ids(left, target_ids)
        loss.append([was - now for was, now in zip(before.token_scores, after.token_scores, strict=True)])
        if progress is not None:
            progress(1)
    pieces = (*translator.runs[0].tokenizers[1].pieces(target_ids), "</s>")
    return Occlusion(tuple(words), pieces, loss)
