"""Maps of other people's models: encoder-decoder models of `transformers`, with words, alignments and drawings as ours.

A row is what was being said, as everywhere: the decoder reads the token before it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seq2see.errors import ConfigError
from seq2see.look.map.attention_map import AttentionMap, Kind
from seq2see.look.map.side import Side, Span, shifted, words_of

_MARKS = str.maketrans({"▁": " ", "Ġ": " ", "Ċ": "\n"})  # what pieces write for white space
_JOINED = ("##", "@@", "</w>")  # what pieces write where a word goes on, or ends
_AHEAD = 12  # characters that a piece may lie behind the one before it


@torch.no_grad()
def from_transformers(model: Any, tokenizer: Any, source: str, target: str, *, kind: Kind = "cross") -> AttentionMap:
    """What an encoder-decoder model of `transformers` looks at while it says `target`.

    model       such as MarianMTModel, T5ForConditionalGeneration; loaded with attn_implementation="eager", as the other
                kernels give no weights
    tokenizer   its own
    """
    if not getattr(model.config, "is_encoder_decoder", False):
        raise ConfigError(
            f"{type(model).__name__} is no encoder-decoder model, so it has no target that looks at a source"
        )
    source_ids = list(tokenizer(source)["input_ids"])
    target_ids = list(tokenizer(text_target=target)["input_ids"])
    labels = torch.tensor([target_ids], device=model.device)
    with _evaluating(model):
        output = model(
            input_ids=torch.tensor([source_ids], device=model.device),
            decoder_input_ids=_shifted_ids(model, labels),
            output_attentions=True,
        )
    names = {"cross": "cross_attentions", "encoder": "encoder_attentions", "decoder": "decoder_attentions"}
    layers = output.get(names[kind])
    if not layers or any(weights is None for weights in layers):
        raise ConfigError(
            f'{type(model).__name__} gives no {kind} weights; load it with attn_implementation="eager": '
            f'{type(model).__name__}.from_pretrained(..., attn_implementation="eager")'
        )
    vocabulary = {index: token for token, index in tokenizer.get_vocab().items()}
    sides = (
        _side(tokenizer, source, source_ids, [str(vocabulary.get(index, index)) for index in source_ids]),
        _side(tokenizer, target, target_ids, tokenizer.convert_ids_to_tokens(target_ids)),
    )
    rows = sides[0] if kind == "encoder" else sides[1]
    columns = shifted(sides[1]) if kind == "decoder" else sides[0]
    return AttentionMap(columns, rows, kind, np.stack([weights[0].float().cpu().numpy() for weights in layers]))


def _shifted_ids(model: Any, labels: Tensor) -> Tensor:
    """(1, T): what the decoder reads while it says the labels."""
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):
        shifted_labels: Tensor = model.prepare_decoder_input_ids_from_labels(labels=labels)
        return shifted_labels
    start = torch.full_like(labels[:, :1], model.config.decoder_start_token_id)
    return torch.cat([start, labels[:, :-1]], dim=1)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)


def _side(tokenizer: Any, text: str, ids: Sequence[int], tokens: Sequence[str]) -> Side:
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    if getattr(tokenizer, "is_fast", False):
        found: list[Span | None] = list(tokenizer(text, return_offsets_mapping=True)["offset_mapping"])
        found = [None if index in special else span for index, span in zip(ids, found, strict=True)]
    else:
        found = _search(text, [None if index in special else token for index, token in zip(ids, tokens, strict=True)])
    spans = _filled(text, found, [index in special for index in ids])
    shown = tuple(token.translate(_MARKS).replace(" ", "▁") for token in tokens)
    return Side(text, shown, tuple(spans), words_of(text, spans))


def _search(text: str, tokens: Sequence[str | None]) -> list[Span | None]:
    """Where each piece lies, one behind the other; None for special ones, and for what the text spells otherwise."""
    spans: list[Span | None] = []
    at = 0
    for token in tokens:
        piece = "" if token is None else token.translate(_MARKS).strip()
        for mark in _JOINED:
            piece = piece.removeprefix(mark).removesuffix(mark)
        start = text.find(piece, at, at + _AHEAD + len(piece)) if piece else -1
        spans.append((start, start + len(piece)) if start >= 0 else None)
        at = start + len(piece) if start >= 0 else at
    return spans


def _filled(text: str, spans: Sequence[Span | None], special: Sequence[bool]) -> list[Span]:
    """Pieces without a place lie between their neighbours, or share one's; special ones have an empty span."""
    filled: list[Span] = []
    for place, span in enumerate(spans):
        before = filled[-1][1] if filled else 0
        if span is None:
            later = (other[0] for other in spans[place + 1 :] if other is not None)
            least = before if special[place] else min(before + 1, len(text))
            span = (before, least if special[place] else max(least, next(later, len(text))))
        filled.append((int(span[0]), int(span[1])))
    return filled
