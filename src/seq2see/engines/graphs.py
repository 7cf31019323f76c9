"""`encode` and `step` of any family as ONNX graphs, in float32 or with their weights in eight bits.

Batch, source length and steps made are dynamic: each dimension in which two examples differ.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from seq2see.engines.products import in_eight_bits, joined
from seq2see.errors import MissingExtraError, RunError
from seq2see.models import Model, map_tensors
from seq2see.vocabulary import BOS, EOS

_DOMAINS = ("", "ai.onnx", "com.microsoft")  # of operators
_ENDLESS = ("Loop", "SequenceMap")
_OPSET = 23  # the first with attention as one operator; for programs of others an older one, which more of them know
_ONE, _OTHER = (3, 5, 3), (4, 7, 4)  # batch, source length, steps made: two examples that differ in all of them


class Graphs(NamedTuple):
    """Two ONNX models, serialised."""

    encode: bytes
    step: bytes


class _Encode(nn.Module):
    def __init__(self, model: Model[Any, Any]) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Tensor, mask: Tensor) -> Any:
        return self.model.encode(source, mask)


class _EncodeAndStart(nn.Module):
    """`encode`, and behind it the tensors of the first state that hold anything."""

    def __init__(self, model: Model[Any, Any], held: list[bool]) -> None:
        super().__init__()
        self.model, self.held = model, held

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        memory = self.model.encode(source, mask)
        first = zip(leaves(self.model.start(memory)), self.held, strict=True)
        return (*leaves(memory), *(x for x, held in first if held))


class _Step(nn.Module):
    def __init__(self, model: Model[Any, Any]) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor, memory: Any, state: Any) -> Any:
        return self.model.step(tokens, memory, state)


def leaves(tree: Any) -> list[Tensor]:
    """The tensors of a Memory or State, in order."""
    tensors: list[Tensor] = []

    def take(x: Tensor) -> Tensor:
        tensors.append(x)
        return x

    map_tensors(tree, take)
    return tensors


def grown(tree: Any, values: list[Tensor]) -> Any:
    """The same tree with other leaves."""
    waiting = iter(values)
    return map_tensors(tree, lambda _: next(waiting))


def export(model: Model[Any, Any]) -> Graphs:
    """The model as it stands, in float32."""
    require()
    with torch.no_grad(), _quiet():
        encode = _export(_Encode(model), example_source(*_ONE[:2]), example_source(*_OTHER[:2]), opset=_OPSET)
        step = _export(_Step(model), example_step(model, *_ONE), example_step(model, *_OTHER), opset=_OPSET)
    return Graphs(joined(encode), joined(step))


def quantised(graphs: Graphs) -> Graphs:
    """The same graphs with every product with a constant matrix in integers."""
    require()
    return Graphs(*map(in_eight_bits, graphs))


class Standalone(NamedTuple):
    """Graphs that need nothing of ours: where decoding starts is computed by the first of them."""

    graphs: Graphs
    memory: int  # tensors of the memory
    state: tuple[
        tuple[int, ...] | None, ...
    ]  # None: given by encode; else it begins empty, with this shape (-1: batch)


def export_standalone(model: Model[Any, Any]) -> Standalone:
    """The model as it stands, in float32, for programs of others; inputs and outputs have names."""
    require()
    with torch.no_grad(), _quiet():
        example, other = (example_source(*sizes[:2]) for sizes in (_ONE, _OTHER))
        memory = model.encode(*example)
        first = leaves(model.start(memory))
        held = [x.numel() > 0 for x in first]
        memories = [f"memory.{number}" for number in range(len(leaves(memory)))]
        states = [f"state.{number}" for number in range(len(first))]
        started = [name for name, kept in zip(states, held, strict=True) if kept]
        names = ["source", "source_mask"], [*memories, *started]
        encode = _export(_EncodeAndStart(model, held), example, other, names)
        names = ["token", *memories, *states], ["logits", *(f"next.{name}" for name in states)]
        step = _export(_Step(model), example_step(model, *_ONE), example_step(model, *_OTHER), names)
    shapes = tuple(None if kept else (-1, *x.shape[1:]) for x, kept in zip(first, held, strict=True))
    return Standalone(Graphs(encode, step), len(memories), shapes)


def require() -> None:
    try:
        import onnx  # noqa: F401
        import onnxruntime  # type: ignore[import-untyped]  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError:
        raise MissingExtraError("the engines onnx and int8", "fast") from None


def example_source(batch: int, length: int) -> tuple[Tensor, Tensor]:
    """Sources of one word, again and again, with nothing masked."""
    return torch.full((batch, length), EOS), torch.ones(batch, 1, length, dtype=torch.bool)


def example_step(model: Model[Any, Any], batch: int, length: int, steps: int) -> tuple[Tensor, Any, Any]:
    """The arguments of `step` after a few steps."""
    memory = model.encode(*example_source(batch, length))
    state = model.start(memory)
    tokens = torch.full((batch,), BOS)
    for _ in range(steps):
        _, state = model.step(tokens, memory, state)
    return tokens, memory, state


def _export(
    module: nn.Module,
    example: tuple[Any, ...],
    other_example: tuple[Any, ...],
    names: tuple[list[str], list[str]] | None = None,
    opset: int | None = None,
) -> bytes:
    """names: of the inputs and outputs, if anybody but us will read them."""
    program = torch.onnx.export(
        module.eval(),
        example,
        dynamo=True,
        opset_version=opset,
        dynamic_shapes=_dynamic(example, other_example),
        verbose=False,
        input_names=None if names is None else names[0],
        output_names=None if names is None else names[1],
    )
    assert program is not None
    content: bytes = program.model_proto.SerializeToString()
    return content


def _dynamic(first: Any, second: Any) -> Any:
    """For each tensor of two like trees the dimensions in which they differ."""
    if isinstance(first, Tensor):
        sizes = enumerate(zip(first.shape, second.shape, strict=True))
        return {place: torch.export.Dim.DYNAMIC for place, (here, there) in sizes if here != there}
    branches = [_dynamic(*both) for both in zip(first, second, strict=True)]
    return type(first)(*branches) if hasattr(first, "_fields") else tuple(branches)


def check_graph(content: bytes) -> None:
    """RunError for a graph that no model of ours is exported to: damaged, or one that reads files or may never end."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model = onnx.load_model_from_string(content)
    except (DecodeError, ValueError, RecursionError):
        raise RunError("it is not an ONNX graph") from None
    if model.functions or any(opset.domain not in _DOMAINS for opset in model.opset_import):
        raise RunError("it has operators of its own")
    graphs = [model.graph]
    while graphs:
        graph = graphs.pop()
        tensors = [*graph.initializer]
        tensors += [part for sparse in graph.sparse_initializer for part in (sparse.values, sparse.indices)]
        for node in graph.node:
            if node.op_type in _ENDLESS:
                raise RunError(f"it has the operator {node.op_type}, which no model needs")
            for attribute in node.attribute:
                graphs += [attribute.g, *attribute.graphs]
                tensors += [attribute.t, *attribute.tensors]
                sparses = (attribute.sparse_tensor, *attribute.sparse_tensors)
                tensors += [part for sparse in sparses for part in (sparse.values, sparse.indices)]
        if any(tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data for tensor in tensors):
            raise RunError("it keeps its numbers in another file")


@contextmanager
def _quiet() -> Iterator[None]:
    """torch's exporter and the quantiser say much that nobody can act on, also through the root logger."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
