"""Every family leaves torch: `encode` and `step` as ONNX graphs say what the model says, whatever the sizes."""

import os
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from seq2see.models import Model, build, map_tensors
from seq2see.vocabulary import BOS, PAD

try:
    import onnx  # noqa: F401
    import onnxruntime
    import onnxscript  # noqa: F401
except ImportError as missing:
    if os.environ.get("CI") == "true":
        raise
    pytest.skip(f"{missing.name} is not installed: pip install 'seq2see[fast]'", allow_module_level=True)

# torch's own exporter asks torch's own tree helpers in a way that torch has deprecated.
pytestmark = pytest.mark.filterwarnings(r"ignore:`isinstance\(treespec, LeafSpec\)` is deprecated:FutureWarning")

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

# Batch, source length, steps: one word alone, past the end of the source, a wide batch, shapes unlike the example's.
SHAPES = [(1, 1, 5), (2, 9, 14), (6, 4, 3), (3, 5, 7)]


class Encode(nn.Module):
    def __init__(self, model: Model[Any, Any]) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, mask: Tensor) -> Any:
        return self.model.encode(source, mask)


class Step(nn.Module):
    def __init__(self, model: Model[Any, Any]) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, memory: Any, state: Any) -> Any:
        return self.model.step(tokens, memory, state)


def leaves(tree: Any) -> list[Tensor]:
    found: list[Tensor] = []
    map_tensors(tree, lambda x: found.append(x) or x)
    return found


def grown(tree: Any, values: list[Tensor]) -> Any:
    """The same tree with other leaves, in order."""
    waiting = iter(values)
    return map_tensors(tree, lambda _: next(waiting))


def changing(first: Any, second: Any) -> Any:
    """For each tensor of two like trees the dimensions in which they differ: those are dynamic."""
    if isinstance(first, Tensor):
        sizes = enumerate(zip(first.shape, second.shape, strict=True))
        return {place: torch.export.Dim.DYNAMIC for place, (one, other) in sizes if one != other}
    branches = [changing(one, other) for one, other in zip(first, second, strict=True)]
    return type(first)(*branches) if hasattr(first, "_fields") else tuple(branches)


def sources(batch: int, length: int) -> tuple[Tensor, Tensor]:
    """Ids and their mask; from the second row on each is a word shorter than the one before."""
    generator = torch.Generator().manual_seed(batch * 100 + length)
    ids = torch.randint(4, WORDS, (batch, length), generator=generator)
    lengths = (length - torch.arange(batch)).clamp(min=1)
    mask = torch.arange(length) < lengths[:, None]
    return ids.masked_fill(~mask, PAD), mask.unsqueeze(1)


def decoding(model: Model[Any, Any], batch: int, length: int, steps: int) -> tuple[Tensor, Any, Any]:
    """The arguments of `step` after a few steps."""
    memory = model.encode(*sources(batch, length))
    state = model.start(memory)
    tokens = torch.full((batch,), BOS)
    for _ in range(steps):
        _, state = model.step(tokens, memory, state)
    return tokens, memory, state


class Exported:
    """Both graphs of a model in ONNX Runtime."""

    def __init__(self, model: Model[Any, Any]) -> None:
        example = decoding(model, 3, 5, 3)
        encode_shapes = changing(sources(3, 5), sources(4, 7))
        self.encode = self._session(Encode(model), sources(3, 5), encode_shapes)
        self.step = self._session(Step(model), example, changing(example, decoding(model, 4, 7, 4)))

    @staticmethod
    def _session(module: nn.Module, example: tuple[Any, ...], shapes: Any) -> "onnxruntime.InferenceSession":
        program = torch.onnx.export(module.eval(), example, dynamo=True, dynamic_shapes=shapes, verbose=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        return onnxruntime.InferenceSession(program.model_proto.SerializeToString(), options)

    @staticmethod
    def run(session: "onnxruntime.InferenceSession", tensors: list[Tensor]) -> list[Tensor]:
        inputs = session.get_inputs()
        assert len(inputs) == len(tensors)  # nothing was folded into the graph
        fed = {given.name: tensor.numpy() for given, tensor in zip(inputs, tensors, strict=True)}
        return [torch.from_numpy(output) for output in session.run(None, fed)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_onnx_says_what_torch_says(variant: str):
    family, settings = VARIANTS[variant]
    torch.manual_seed(1)
    with torch.no_grad():
        model = build(family, "tiny", source_vocabulary=WORDS, target_vocabulary=WORDS + 1, **settings).eval()
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
        exported = Exported(model)
        for batch, length, steps in SHAPES:
            compare(model, exported, *sources(batch, length), steps)


def compare(model: Model[Any, Any], exported: Exported, source: Tensor, mask: Tensor, steps: int) -> None:
    memory = model.encode(source, mask)
    memory_outside = exported.run(exported.encode, [source, mask])
    agree(memory_outside, memory)
    state = model.start(memory)
    # The first state of the Transformer is a prefix of length zero.
    state_outside = leaves(model.start(grown(memory, memory_outside)))
    tokens = torch.full((source.size(0),), BOS)
    for _ in range(steps):
        logits, state = model.step(tokens, memory, state)
        outside, *state_outside = exported.run(exported.step, [tokens, *memory_outside, *state_outside])
        agree([outside], (logits,))
        agree(state_outside, state)
        tokens = logits.argmax(dim=-1)


def agree(got: list[Tensor], expected: Any) -> None:
    for one, other in zip(got, leaves(expected), strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other, rtol=0, atol=TOLERANCE)
