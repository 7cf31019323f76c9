"""What a model and its ONNX graphs have to agree on: memory, states and logits, whatever the sizes."""

from typing import Any

import torch
from torch import Tensor

from seq2see.engines.graphs import leaves
from seq2see.engines.runtime import OnnxEngine
from seq2see.models import Model
from seq2see.vocabulary import BOS, PAD

WORDS = 15
TOLERANCE = 1e-4

# Batch, source length, steps: one word alone, past the end of the source, a wide batch, shapes unlike the example's.
SHAPES = [(1, 1, 5), (2, 9, 14), (6, 4, 3), (3, 5, 7)]


def sources(batch: int, length: int) -> tuple[Tensor, Tensor]:
    """Ids and their mask; from the second row on each is a word shorter than the one before."""
    generator = torch.Generator().manual_seed(batch * 100 + length)
    ids = torch.randint(4, WORDS, (batch, length), generator=generator)
    lengths = (length - torch.arange(batch)).clamp(min=1)
    mask = torch.arange(length) < lengths[:, None]
    return ids.masked_fill(~mask, PAD), mask.unsqueeze(1)


@torch.no_grad()
def compare_all(model: Model[Any, Any], engine: OnnxEngine) -> None:
    for batch, length, steps in SHAPES:
        compare(model, engine, *sources(batch, length), steps)


def compare(model: Model[Any, Any], engine: OnnxEngine, source: Tensor, mask: Tensor, steps: int) -> None:
    memory, outside = model.encode(source, mask), engine.encode(source, mask)
    agree(outside, memory)
    state, state_outside = model.start(memory), engine.start(outside)
    tokens = torch.full((source.size(0),), BOS)
    for _ in range(steps):
        logits, state = model.step(tokens, memory, state)
        logits_outside, state_outside = engine.step(tokens, outside, state_outside)
        agree((logits_outside,), (logits,))
        agree(state_outside, state)
        tokens = logits.argmax(dim=-1)


def agree(got: Any, expected: Any) -> None:
    assert type(got) is type(expected)
    for one, other in zip(leaves(got), leaves(expected), strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=0, atol=TOLERANCE)
