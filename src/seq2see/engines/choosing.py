"""Plain search in ONNX Runtime: the choice of candidates is part of the graph, state and memory stay there.

The step graph of a run is extended when it is loaded: for beams by log-softmax and the K best of each row behind its
logits, and a gather in front of the state; for greedy search by a loop around all of it (greedy_loop.py). So search
gets K numbers a row, or whole sentences, and copies nothing. With a shortlist the last layer is an input of the graph:
the columns of the words of a batch, gathered once for all its steps.
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np

from seq2see.engines import greedy_loop
from seq2see.engines.graphs import leaves
from seq2see.engines.shortlist import Words
from seq2see.errors import ConfigError, RunError
from seq2see.search.choosing import Floats, Ints
from seq2see.vocabulary import BOS, PAD

_BANNED = (PAD, BOS)  # the first two tokens: never said
_TOKENS, _COUNT, _ORDER = "chosen.tokens", "chosen.count", "chosen.order"
_VALUES, _OWN = "chosen.log_probs", "chosen.own"
_PRODUCTS = ("MatMul", "MatMulIntegerToFloat")


class ListedLayer(NamedTuple):
    """The last layer of a step graph, column by column: by the name of the input that takes some of them."""

    columns: dict[str, Any]  # (..., V) each: the matrix, its scales, the bias

    def of(self, ids: Ints) -> dict[str, Any]:
        """(n,) -> (..., n)."""
        return {name: np.take(columns, ids, axis=-1) for name, columns in self.columns.items()}


def with_choice(step: bytes, words: int = 0) -> tuple[bytes, ListedLayer]:
    """The step graph with (R, K) log-probabilities and tokens instead of (R, V) logits, and an input (R',) that says
    which row of the state each row goes on with.

    words    V, if the last layer is an input as well, of as many tokens as a batch may say: then the tokens are places
             among these, and a further input (R, n) is added to their scores, -inf for what a row may not say
    """
    import onnx
    from onnx import TensorProto, helper

    model = onnx.load_model_from_string(step)
    graph = model.graph
    logits, *states = graph.output
    nodes, nodes_behind = [], []
    for entry in list(graph.input)[len(graph.input) - len(states) :]:
        name = entry.name  # the graph goes on reading this name, now of rows in their new order
        entry.name = f"{name}.before"
        nodes.append(helper.make_node("Gather", [entry.name, _ORDER], [name], axis=0))
        entry.type.tensor_type.shape.dim[0].Clear()  # as many rows as there were before
    graph.input.append(helper.make_tensor_value_info(_COUNT, TensorProto.INT64, [1]))
    graph.input.append(helper.make_tensor_value_info(_ORDER, TensorProto.INT64, [None]))
    layer = ListedLayer(_last_layer(graph, logits.name, words) if words else {})
    given = logits.name
    if words:
        given = f"{logits.name}.own"
        graph.input.append(helper.make_tensor_value_info(_OWN, TensorProto.FLOAT, [None, None]))
        nodes_behind.append(helper.make_node("Add", [logits.name, _OWN], [given]))
    scores = helper.make_node("LogSoftmax", [given], [f"{_VALUES}.all"], axis=-1)
    chosen = helper.make_node("TopK", [f"{_VALUES}.all", _COUNT], [_VALUES, _TOKENS], axis=-1)
    graph_nodes = [*nodes, *graph.node, *nodes_behind, scores, chosen]
    del graph.node[:]
    graph.node.extend(graph_nodes)
    outputs = [
        helper.make_tensor_value_info(_VALUES, TensorProto.FLOAT, [None, None]),
        helper.make_tensor_value_info(_TOKENS, TensorProto.INT64, [None, None]),
        *states,
    ]
    del graph.output[:]
    graph.output.extend(outputs)
    content: bytes = model.SerializeToString()
    return content, layer


def greedy_graph(step: bytes, words: int = 0) -> tuple[bytes, ListedLayer]:
    """The step graph as a loop that says the likeliest token of each row; words: as of `with_choice`."""
    import onnx
    from onnx import TensorProto, helper

    model = onnx.load_model_from_string(step)
    graph = model.graph
    layer = ListedLayer(_last_layer(graph, graph.output[0].name, words) if words else {})
    if words:
        graph.input.append(helper.make_tensor_value_info(_OWN, TensorProto.FLOAT, [None, None]))
    return greedy_loop.with_loop(model, list(layer.columns), _OWN), layer


def _last_layer(graph: Any, logits: str, words: int) -> dict[str, Any]:
    """The constants with a column for each token that make the logits, as inputs from now on; what they were."""
    from onnx import helper, numpy_helper

    made = {name: node for node in graph.node for name in node.output}
    constants = {entry.name: entry for entry in graph.initializer}
    columns = {}
    name, product = logits, False
    while not product:
        node = made.get(name)
        if node is None or node.op_type not in (*_PRODUCTS, "Add", "Mul"):
            raise RunError("its graph has no last layer that a shortlist could cut; use --engine torch")
        product = node.op_type in _PRODUCTS
        for place, entry in enumerate(node.input):
            constant = constants.get(entry)
            if constant is not None and constant.dims and constant.dims[-1] == words:
                columns[f"{entry}.listed"] = numpy_helper.to_array(constant)
                node.input[place] = f"{entry}.listed"
                shape = [*constant.dims[:-1], None]
                graph.input.append(helper.make_tensor_value_info(f"{entry}.listed", constant.data_type, shape))
        name = next(entry for entry in node.input if entry in made) if not product else ""
    if not columns:
        raise RunError("its graph has no last layer that a shortlist could cut; use --engine torch")
    return columns


class OnnxChooser:
    """A batch while it is searched with a beam; see `seq2see.search.choosing.Chooser`."""

    def __init__(
        self, session: Any, memory: Any, state: Any, words: Words | None = None, layer: ListedLayer | None = None
    ) -> None:
        """session: of `with_choice`; words and its layer: of a shortlist."""
        self.session = session
        sources, states = leaves(memory), leaves(state)
        names = [end.name for end in session.get_inputs()]
        first = names.index(_COUNT) - len(states) - len(sources)
        self.tokens, *others = names[first - 1 : first + len(sources) + len(states)]
        self._hold(others, sources, states, words, layer)

    def _hold(
        self, names: list[str], sources: Any, states: Any, words: Words | None, layer: ListedLayer | None
    ) -> None:
        """names: of the inputs for memory and state."""
        self.memory_names, self.state_names = names[: len(sources)], names[len(sources) :]
        self.outputs = [end.name for end in self.session.get_outputs()]
        self.arrays = [x.contiguous().numpy() for x in sources]  # OrtValues read them where they lie
        self.memory = dict(zip(self.memory_names, map(_value, self.arrays), strict=True))
        self.state = [_value(x.contiguous().numpy()) for x in states]
        self.binding: Any = None
        self.order: Ints | None = None
        self.counts: dict[int, Any] = {}
        self.ids: Ints | None = None  # (n,) the tokens that the graph knows by their places
        self.listed: dict[str, Any] = {}  # what the graph is given of them
        if words is not None and layer is not None:
            self.ids = words.ids
            self.own = np.where(words.own, np.float32(0), np.float32(-inf))  # (R, n)
            self.columns = layer.of(words.ids)  # OrtValues read them where they lie
            self.listed = {name: _value(columns) for name, columns in self.columns.items()}
            self.listed[_OWN] = _value(self.own)

    def choose(self, tokens: Ints, count: int) -> tuple[Floats, Ints]:
        if count not in self.counts:
            most = count + len(_BANNED) if self.ids is None else min(count, len(self.ids))
            self.counts[count] = _value(np.array([most]))
        changed = {
            **dict(zip(self.state_names, self.state, strict=True)),
            self.tokens: _value(tokens),
            _COUNT: self.counts[count],
            _ORDER: _value(np.arange(len(tokens)) if self.order is None else self.order),
        }
        if self.binding is None:  # what does not change from step to step is bound once
            self.binding = self.session.io_binding()
            changed |= self.listed | self.memory
        for name, value in changed.items():
            self.binding.bind_ortvalue_input(name, value)
        self.binding.clear_binding_outputs()
        for name in self.outputs:
            self.binding.bind_output(name, "cpu")
        self.session.run_with_iobinding(self.binding)
        self.order = None
        values, ids, *self.state = self.binding.get_outputs()
        if self.ids is not None:
            return values.numpy(), self.ids[ids.numpy()]
        return _allowed(values.numpy(), ids.numpy(), count)

    def say(self, tokens: Ints, left: Ints, needed: int, most: int) -> tuple[Floats, Ints]:
        values, ids = self.choose(tokens, 1)
        return values.T, ids.T

    def move(self, rows: Ints) -> None:
        self.order = rows

    def pack(self, rows: Ints) -> None:
        self.arrays = [np.ascontiguousarray(x[rows]) for x in self.arrays]
        self.memory = dict(zip(self.memory_names, map(_value, self.arrays), strict=True))
        if self.ids is not None:
            self.own = self.own[rows]
            self.listed[_OWN] = _value(self.own)
        self.binding = None
        self.move(rows)


class LoopChooser(OnnxChooser):
    """A batch while it is searched greedily, many steps at a time."""

    def __init__(
        self, session: Any, memory: Any, state: Any, words: Words | None = None, layer: ListedLayer | None = None
    ) -> None:
        """session: of `greedy_graph`."""
        self.session = session
        sources, states = leaves(memory), leaves(state)
        names = [end.name for end in session.get_inputs()]
        first = names.index(greedy_loop.NEEDED) + 1
        self._hold(names[first : first + len(sources) + len(states)], sources, states, words, layer)
        if self.ids is not None:
            self.listed[greedy_loop.IDS] = _value(self.ids)

    def choose(self, tokens: Ints, count: int) -> tuple[Floats, Ints]:
        if count != 1:
            raise ConfigError(f"greedy search has one candidate for each row, not {count}")
        values, ids = self.say(tokens, np.full_like(tokens, 2), 0, 1)
        return values.T, ids.T

    def say(self, tokens: Ints, left: Ints, needed: int, most: int) -> tuple[Floats, Ints]:
        feed = {
            **self.listed,
            **self.memory,
            **dict(zip(self.state_names, self.state, strict=True)),
            greedy_loop.TOKENS: _value(tokens),
            greedy_loop.LEFT: _value(left),
            greedy_loop.MOST: _value(np.array(most)),
            greedy_loop.NEEDED: _value(np.array(needed)),
        }
        ids, values, *self.state = self.session.run_with_ort_values(self.outputs, feed)
        return values.numpy(), ids.numpy()

    def move(self, rows: Ints) -> None:
        self.state = [_value(x.numpy()[rows]) for x in self.state]


def _value(array: Any) -> Any:
    import onnxruntime  # type: ignore[import-untyped]

    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def _allowed(values: Floats, ids: Ints, count: int) -> tuple[Floats, Ints]:
    """(R, K + 2) -> (R, K) without the tokens that are never said, of which a row has at most two."""
    banned = ids < len(_BANNED)  # (R, K + 2)
    if not banned[:, : count + 1].any():
        return values[:, :count], ids[:, :count]
    order = np.argsort(banned, axis=1, kind="stable")[:, :count]
    rows = np.arange(len(ids))[:, None]
    return np.where(banned, -inf, values)[rows, order], ids[rows, order]
