"""`encode` and `step` of any family as ONNX graphs, in float32 or with their weights in eight bits.

Batch, source length and steps made are dynamic: each dimension in which two examples differ. Weights in eight bits are
scaled column by column, activations row by row.
"""

import functools
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from seq2see.errors import MissingExtraError, RunError
from seq2see.models import Model, map_tensors
from seq2see.vocabulary import BOS, EOS

_DOMAINS = ("", "ai.onnx", "com.microsoft")  # of operators
_ENDLESS = ("Loop", "SequenceMap")
_WORTH = 32  # rows and columns of a matrix below which eight bits cost more than they save
_LEAST = 1e-20  # of a scale: a row of zeros stays one
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
        encode = _export(_Encode(model), example_source(*_ONE[:2]), example_source(*_OTHER[:2]))
        step = _export(_Step(model), example_step(model, *_ONE), example_step(model, *_OTHER))
    return Graphs(encode, step)


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
) -> bytes:
    """names: of the inputs and outputs, if anybody but us will read them."""
    program = torch.onnx.export(
        module.eval(),
        example,
        dynamo=True,
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


def in_eight_bits(graphs: Graphs) -> Graphs:
    """The same graphs with every product with a constant matrix in integers, activations scaled as they come."""
    require()
    with _quiet():
        return Graphs(*(_quantised(graph) for graph in graphs))


def _quantised(content: bytes) -> bytes:
    """Every product with a constant matrix in integers. Activations are scaled row by row: the numbers of a sentence
    do not depend on its neighbours. What several products read is rounded once."""
    import onnx
    from onnx import helper, numpy_helper

    model = _plain_products(onnx.load_from_string(content))
    graph = model.graph
    matrices = {
        weight.name: weight for weight in graph.initializer if len(weight.dims) == 2 and min(weight.dims) >= _WORTH
    }
    constants = {
        "rows.axes": np.array([-1]),
        "rows.least": np.array(_LEAST, np.float32),
        "rows.step": np.array(1 / 127, np.float32),
        "rows.zero": np.array(128, np.uint8),
        "rows.one": np.array(1.0, np.float32),
    }
    rounded: set[str] = set()  # activations
    quantised: set[str] = set()  # matrices
    nodes = []
    for node in graph.node:
        if node.op_type != "MatMul" or node.input[1] not in matrices:
            nodes.append(node)
            continue
        x, name = node.input
        if x not in rounded:  # x / its row's largest, in steps of 1/127
            rounded.add(x)
            nodes += [
                helper.make_node("Abs", [x], [f"{x}.sizes"]),
                helper.make_node("ReduceMax", [f"{x}.sizes", "rows.axes"], [f"{x}.largest"], keepdims=1),
                helper.make_node("Max", [f"{x}.largest", "rows.least"], [f"{x}.scale"]),
                helper.make_node("Div", [x, f"{x}.scale"], [f"{x}.scaled"]),
                helper.make_node("QuantizeLinear", [f"{x}.scaled", "rows.step", "rows.zero"], [f"{x}.rounded"]),
            ]
        if name not in quantised:
            quantised.add(name)
            matrix = numpy_helper.to_array(matrices[name])
            scale = np.maximum(np.abs(matrix).max(axis=0), _LEAST).astype(np.float32) / weight_range()
            constants |= {
                f"{name}.int8": np.round(matrix / scale).astype(np.int8),
                f"{name}.columns": (scale / 127).astype(np.float32),
            }
        product, y = f"{node.output[0]}.product", node.output[0]
        integers = [f"{x}.rounded", f"{name}.int8", "rows.one", f"{name}.columns", "rows.zero"]
        nodes += [
            helper.make_node("MatMulIntegerToFloat", integers, [product], domain="com.microsoft"),
            helper.make_node("Mul", [product, f"{x}.scale"], [y]),
        ]
    if not quantised:
        return content
    del graph.node[:]
    graph.node.extend(nodes)
    read = _names_read(graph)
    weights = [weight for weight in graph.initializer if weight.name in read]
    del graph.initializer[:]
    graph.initializer.extend([*weights, *(numpy_helper.from_array(value, name) for name, value in constants.items())])
    if all(opset.domain != "com.microsoft" for opset in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    result: bytes = model.SerializeToString()
    return result


def _names_read(graph: Any) -> set[str]:
    """What the nodes of a graph and of the graphs within them read, and what it hands out."""
    names = {name for node in graph.node for name in node.input} | {end.name for end in graph.output}
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
                names |= _names_read(inner)
    return names


@functools.cache
def weight_range() -> int:
    """The largest integer of a weight. Without VNNI, processors add two products in 16 bits, which overflow with eight
    bits of weight: 127 where this one computes such a product rightly, else 63."""
    import onnxruntime
    from onnx import TensorProto, helper

    node = helper.make_node("MatMulInteger", ["a", "b"], ["y"])
    ends = [
        helper.make_tensor_value_info(*end)
        for end in (("a", TensorProto.UINT8, [1, 64]), ("b", TensorProto.INT8, [64, 64]))
    ]
    output = helper.make_tensor_value_info("y", TensorProto.INT32, [1, 64])
    model = helper.make_model(
        helper.make_graph([node], "probe", ends, [output]), opset_imports=[helper.make_opsetid("", 18)]
    )
    model.ir_version = 10
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    product = session.run(None, {"a": np.full((1, 64), 255, np.uint8), "b": np.full((64, 64), 127, np.int8)})[0]
    return 127 if (product == 64 * 255 * 127).all() else 63


def _plain_products(model: Any) -> Any:
    """`Gemm` with a constant matrix as MatMul and Add, which the quantiser knows.

    Its own rewriting turns the matrix around where it lies, and ruins it for others: tied word vectors.
    """
    from onnx import helper, numpy_helper

    graph = model.graph
    del graph.value_info[:]  # shapes that would no longer be true
    weights = {weight.name: weight for weight in graph.initializer}
    nodes = []
    for node in graph.node:
        attributes = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
        scaled = (
            attributes.get("alpha", 1.0) != 1.0 or attributes.get("beta", 1.0) != 1.0 or attributes.get("transA", 0)
        )
        if node.op_type != "Gemm" or node.input[1] not in weights or scaled:
            nodes.append(node)
            continue
        matrix = numpy_helper.to_array(weights[node.input[1]])
        turned = matrix.T.copy() if attributes.get("transB", 0) else matrix
        name = f"{node.name}.matrix"
        graph.initializer.append(numpy_helper.from_array(turned, name))
        biased = len(node.input) > 2
        product = f"{node.name}.product" if biased else node.output[0]
        nodes.append(helper.make_node("MatMul", [node.input[0], name], [product], f"{node.name}.matmul"))
        if biased:
            nodes.append(helper.make_node("Add", [product, node.input[2]], [node.output[0]], f"{node.name}.bias"))
    del graph.node[:]
    graph.node.extend(nodes)
    return model


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
