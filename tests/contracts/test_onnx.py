"""Every family leaves torch: `encode` and `step` as ONNX graphs say what the model says, whatever the sizes."""

import os
from typing import Any

import pytest
import torch
from torch import Tensor

from seq2see.engines.graphs import export, leaves
from seq2see.engines.runtime import OnnxEngine
from seq2see.models import Model, build
from seq2see.vocabulary import BOS, PAD

try:
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
    import onnxscript  # noqa: F401
except ImportError as missing:
    if os.environ.get("CI") == "true":
        raise
    pytest.skip(f"{missing.name} is not installed: pip install 'seq2see[fast]'", allow_module_level=True)

WORDS = 15
TOLERANCE = 1e-4
CELLS = {"embedding": 6, "hidden": 8, "encoder": {"embedding": 6, "hidden": 4}}
STACK = {"embedding": 6, "channels": (8, 10), "kernels": (3, 5)}
BLOCK = {"width": 8, "heads": 2, "inner": 12, "layers": 1}
BYTES = {"width": 4, "dilations": (1, 3), "sets": 1}

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "rnn-tanh": ("rnn", CELLS | {"cell": "tanh", "encoder": CELLS["encoder"] | {"cell": "tanh"}}),
    "rnnsearch": ("rnnsearch", CELLS),
    "rnnsearch-lstm": ("rnnsearch", CELLS | {"cell": "lstm", "encoder": CELLS["encoder"] | {"cell": "lstm"}}),
    "luong": ("luong", CELLS),
    "luong-local-m": ("luong", CELLS | {"attention": {"scope": "local-m", "window": 2}, "input_feeding": False}),
    "luong-local-p": ("luong", CELLS | {"attention": {"scope": "local-p", "window": 2}}),
    "convs2s": ("convs2s", {"encoder": STACK, "decoder": STACK}),
    "bytenet": ("bytenet", BYTES),
    "bytenet-50%": ("bytenet", BYTES | {"percent": 50, "extra": 0}),
    "transformer": ("transformer", BLOCK | {"layers": 2}),
    "transformer-rotary": ("transformer", BLOCK | {"positions": "rotary", "kv_heads": 1}),
}

# One of each family with the most unusual of its parts; exporting takes seconds, the others are for `make test-slow`.
LATER = {"rnnsearch", "luong", "luong-local-m", "bytenet", "transformer"}

# Batch, source length, steps: one word alone, past the end of the source, a wide batch, shapes unlike the example's.
SHAPES = [(1, 1, 5), (2, 9, 14), (6, 4, 3), (3, 5, 7)]


def sources(batch: int, length: int) -> tuple[Tensor, Tensor]:
    """Ids and their mask; from the second row on each is a word shorter than the one before."""
    generator = torch.Generator().manual_seed(batch * 100 + length)
    ids = torch.randint(4, WORDS, (batch, length), generator=generator)
    lengths = (length - torch.arange(batch)).clamp(min=1)
    mask = torch.arange(length) < lengths[:, None]
    return ids.masked_fill(~mask, PAD), mask.unsqueeze(1)


@pytest.mark.parametrize(
    "variant", [pytest.param(name, marks=pytest.mark.slow if name in LATER else []) for name in VARIANTS]
)
def test_onnx_says_what_torch_says(variant: str):
    family, settings = VARIANTS[variant]
    torch.manual_seed(1)
    with torch.no_grad():
        model = build(family, "tiny", source_vocabulary=WORDS, target_vocabulary=WORDS + 1, **settings).eval()
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
        exported = OnnxEngine(model, export(model))
        for batch, length, steps in SHAPES:
            compare(model, exported, *sources(batch, length), steps)


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
