"""Models of every family and every score, with widths that a test can print, and every parameter stirred."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from seq2see.attention import Attention
from seq2see.data import Batch
from seq2see.models import Model, build
from seq2see.vocabulary import EOS

WORDS = 13

CELLS = {"embedding": 6, "hidden": 8, "encoder": {"kind": "recurrent", "embedding": 6, "hidden": 4}}
STACK = {"embedding": 6, "channels": (8, 8, 10), "kernels": (3, 1, 5)}
BLOCK = {"width": 8, "heads": 2, "inner": 12, "layers": 2}
SCORES = ("dot", "scaled_dot", "general", "additive", "cosine", "location", "location_aware")


def _variants() -> dict[str, tuple[str, dict[str, Any]]]:
    found: dict[str, tuple[str, dict[str, Any]]] = {
        "rnn": ("rnn", CELLS),
        "rnn-first state": ("rnn", CELLS | {"context": "first state", "cell": "lstm", "layers": 2}),
        "rnn-tanh": ("rnn", CELLS | {"cell": "tanh"}),
        "bytenet": ("bytenet", {"width": 4, "dilations": (1, 2), "sets": 1}),
        "rnnsearch": ("rnnsearch", CELLS),
        "rnnsearch-lstm maxout": ("rnnsearch", CELLS | {"cell": "lstm", "maxout": True}),
        "rnnsearch-cumulative": ("rnnsearch", CELLS | _looking("location_aware", cumulative=True)),
        "rnnsearch-heads": ("rnnsearch", CELLS | _looking("additive", heads=2)),
        "rnnsearch-sparsemax": ("rnnsearch", CELLS | _looking("additive", normaliser="sparsemax")),
        "luong": ("luong", CELLS),
        "luong-gru residual": ("luong", CELLS | {"cell": "gru", "layers": 2, "residual": True}),
        "luong-unfed": ("luong", CELLS | {"input_feeding": False}),
        "luong-entmax": ("luong", CELLS | _looking("general", normaliser="entmax15")),
        "luong-plain cosine": ("luong", CELLS | _looking("cosine", sharpness=None)),
        "luong-short location": ("luong", CELLS | _looking("location", max_length=3)),
        "luong-local-m": ("luong", CELLS | _looking("general", scope="local-m", window=2)),
        "luong-local-p": ("luong", CELLS | _looking("general", scope="local-p", window=2)),
        "luong-local-m heads": ("luong", CELLS | _looking("dot", scope="local-m", window=2, heads=2)),
        "luong-local-p heads": ("luong", CELLS | _looking("additive", scope="local-p", window=2, heads=2)),
        "luong-location_aware heads": (
            "luong",
            CELLS | _looking("location_aware", heads=2) | {"input_feeding": False},
        ),
        "luong-transformer encoder": ("luong", CELLS | {"encoder": {"kind": "transformer", **BLOCK}}),
        "convs2s": ("convs2s", {"encoder": STACK, "decoder": STACK}),
        "transformer": ("transformer", BLOCK),
        "transformer-rotary": (
            "transformer",
            BLOCK | {"heads": 4, "kv_heads": 2, "positions": "rotary", "qk_norm": True},
        ),
        "transformer-alibi": ("transformer", BLOCK | {"positions": "alibi", "tie": "all"}),
        "transformer-relative": ("transformer", BLOCK | {"positions": "relative", "norm_first": False}),
        "transformer-recurrent encoder": ("transformer", BLOCK | {"encoder": CELLS["encoder"]}),
    }
    for family in ("rnnsearch", "luong"):
        for score in SCORES:
            found[f"{family}-{score}"] = (family, CELLS | _looking(score))
    return found


def _looking(score: str, **settings: Any) -> dict[str, Any]:
    return {"attention": {"score": score, **settings}}


VARIANTS = _variants()
FAMILIES = list(VARIANTS)
UNATTENTIVE = [name for name in FAMILIES if VARIANTS[name][0] in ("rnn", "bytenet")]
ATTENTIVE = [name for name in FAMILIES if name not in UNATTENTIVE]
# The same scores within the other family, what is a family's own default anyway, and parts that other variants have one
# by one: for `make test-slow`.
CROSSED = {
    *(f"rnnsearch-{score}" for score in SCORES if score != "location_aware"),
    *(f"luong-{score}" for score in ("general", "scaled_dot", "location", "location_aware")),
    *(f"luong-{part}" for part in ("unfed", "plain cosine", "local-m heads", "transformer encoder")),
    *("rnnsearch-heads", "rnn-first state", "transformer-recurrent encoder"),
}


def tried(variants: Iterable[str]) -> list[Any]:
    """Parameters of a test: those that repeat others are slow."""
    return [pytest.param(name, marks=pytest.mark.slow if name in CROSSED else []) for name in variants]


SOURCE = [5, 6, 7, 8, EOS]
TARGET = [4, 9, 11, 3]
PAIR = (SOURCE, TARGET)


def batch_of(pairs: list[tuple[list[int], list[int]]]) -> Batch:
    return Batch.of([source for source, _ in pairs], [target for _, target in pairs])


BATCH = batch_of([PAIR])


@cache
def model_of(variant: str, dtype: torch.dtype = torch.float64) -> Model[Any, Any]:
    family, settings = VARIANTS[variant]
    torch.manual_seed(len(variant))
    model = build(family, "tiny", source_vocabulary=WORDS, target_vocabulary=WORDS, **settings)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return model.to(dtype).eval()


def attentions(model: Model[Any, Any]) -> dict[tuple[str, int], Attention]:
    return {layer.place: layer.module for layer in model.attentions()}


def stepped(model: Model[Any, Any], batch: Batch) -> Tensor:
    """(B, T, V): the logits of decoding the given targets one position at a time."""
    memory = model.encode(batch.source, batch.source_mask)
    state, rows = model.start(memory), []
    for tokens in batch.target_in.unbind(dim=1):
        logits, state = model.step(tokens, memory, state)
        rows.append(logits)
    return torch.stack(rows, dim=1)
