"""What else could stand in the place of a word of a translation, with everything to the left of it kept."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from seq2see import masks
from seq2see.data.batch import pad
from seq2see.errors import ConfigError
from seq2see.look.map.side import side_of
from seq2see.models import reorder
from seq2see.search.candidates import best
from seq2see.session.translator import Translator
from seq2see.vocabulary import BOS, EOS, UNK

FIRST_PIECES = 12  # the likeliest that begin a word: each is gone on from
_TRIED = 8 * FIRST_PIECES  # among which they are looked for: others go on with the word before
_LONGEST = 24  # pieces of a word


class Alternative(NamedTuple):
    """A word that could be said here.

    ids           the translation up to and with it: what a new search goes on from, as `Request.prefix_ids`
    probability   of its pieces, each given everything before it; of all ways to cut it that were found
    text          what `ids` spell
    """

    word: str
    ids: tuple[int, ...]
    probability: float
    text: str


class _Row(NamedTuple):
    ids: list[int]
    score: float
    ended: bool


def alternatives(
    translator: Translator, source: str, target_ids: Sequence[int], word: int, most: int = 5
) -> list[Alternative]:
    """The likeliest words in the place of word number `word`, that word among them if it is one; likeliest first."""
    before = list(target_ids[: _first_piece(translator, target_ids, word)])
    rows = _continued(translator, source, before, word)
    words: dict[str, Alternative] = {}
    for row in sorted(rows, key=lambda row: -row.score):
        text = translator.read_target(row.ids).text.strip()
        said = text.split()[-1] if text else ""
        probability = math.exp(row.score)
        same = words.get(said)
        if same is not None:
            words[said] = same._replace(probability=same.probability + probability)
        elif said:
            words[said] = Alternative(said, tuple(row.ids), probability, text)
    return sorted(words.values(), key=lambda found: -found.probability)[:most]


def _first_piece(translator: Translator, target_ids: Sequence[int], word: int) -> int:
    """Its place; behind the last one for the word that would come next."""
    owners = side_of(translator.read_target(target_ids)).words[:-1]
    count = 1 + max((owner for owner in owners if owner is not None), default=-1)
    if word > count:
        raise ConfigError(f"word = {word}, but the translation has {count} words, counted from 0")
    return next((place for place, owner in enumerate(owners) if owner == word), len(target_ids))


@torch.no_grad()
def _continued(translator: Translator, source: str, before: Sequence[int], word: int) -> list[_Row]:
    """The likeliest first pieces, each gone on with greedily to the end of its word, all as one batch."""
    model = translator.model
    source_ids = pad([[*translator.read_source(translator.clean(source).strip()).ids, EOS]])
    memory = model.encode(source_ids, masks.padding(source_ids))
    state = model.start(memory)
    log_probs = None
    for token in (BOS, *before):
        log_probs, state = _step(translator, [token], memory, state)
    assert log_probs is not None
    rows = [row for row in _first(log_probs, before) if _words(translator, row.ids) == word + 1][:FIRST_PIECES]
    if not rows:
        return []
    together = torch.zeros(len(rows), dtype=torch.long)
    memory, state = reorder(memory, together), reorder(state, together)
    for _ in range(_LONGEST):
        if all(row.ended for row in rows):
            break
        log_probs, state = _step(translator, [row.ids[-1] for row in rows], memory, state)
        rows = [_longer(translator, row, scores, word) for row, scores in zip(rows, log_probs, strict=True)]
    return rows


def _step(translator: Translator, tokens: Sequence[int], memory: Any, state: Any) -> tuple[Tensor, Any]:
    """(R, V) log-probabilities of what comes next; marks are never said, but for the end."""
    logits, state = translator.model.step(torch.tensor(tokens), memory, state)
    log_probs = torch.log_softmax(logits, dim=-1)
    log_probs[:, [mark for mark in range(UNK + 1) if mark != EOS]] = -math.inf
    return log_probs, state


def _first(log_probs: Tensor, before: Sequence[int]) -> list[_Row]:
    values, tokens = best(log_probs, _TRIED)
    pairs = zip(tokens[0].tolist(), values[0].tolist(), strict=True)
    return [_Row([*before, token], score, False) for token, score in pairs if token != EOS and score > -math.inf]


def _longer(translator: Translator, row: _Row, log_probs: Tensor, word: int) -> _Row:
    """(V,): the next piece, unless it ends the sentence or begins another word."""
    if row.ended:
        return row
    token = int(log_probs.argmax())
    if token == EOS or _words(translator, [*row.ids, token]) > word + 1:
        return row._replace(ended=True)
    return _Row([*row.ids, token], row.score + float(log_probs[token]), False)


def _words(translator: Translator, ids: Sequence[int]) -> int:
    """How many words these pieces make up."""
    owners = [owner for owner in side_of(translator.read_target(ids)).words if owner is not None]
    return 1 + max(owners, default=-1)
