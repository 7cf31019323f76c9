"""Plain search in ONNX Runtime: the choice of candidates is part of the graph, state and memory stay there.

The step graph of a run is extended when it is loaded: log-softmax and the K best of each row behind its logits, and for
beams a gather in front of the state. So search gets K numbers a row, and copies nothing.
"""

from math import inf
from typing import Any

import numpy as np

from seq2see.engines.graphs import leaves
from seq2see.search.choosing import Floats, Ints
from seq2see.vocabulary import BOS, PAD

_BANNED = (PAD, BOS)  # the first two tokens: never said
_TOKENS, _COUNT, _ORDER = "chosen.tokens", "chosen.count", "chosen.order"
_VALUES = "chosen.log_probs"


def with_choice(step: bytes, *, gather: bool) -> bytes:
    """The step graph with (R, K) log-probabilities and tokens instead of (R, V) logits.

    gather   an input (R',) says which row of the state each row goes on with
    """
    import onnx
    from onnx import TensorProto, helper

    model = onnx.load_model_from_string(step)
    graph = model.graph
    logits, *states = graph.output
    nodes = []
    count = helper.make_tensor_value_info(_COUNT, TensorProto.INT64, [1])
    graph.input.append(count)
    if gather:
        graph.input.append(helper.make_tensor_value_info(_ORDER, TensorProto.INT64, [None]))
        for entry in list(graph.input)[-len(states) - 2 : -2] if states else []:
            name = entry.name  # the graph goes on reading this name, now of rows in their new order
            entry.name = f"{name}.before"
            nodes.append(helper.make_node("Gather", [entry.name, _ORDER], [name], axis=0))
            entry.type.tensor_type.shape.dim[0].Clear()  # as many rows as there were before
    scores = helper.make_node("LogSoftmax", [logits.name], [f"{_VALUES}.all"], axis=-1)
    chosen = helper.make_node("TopK", [f"{_VALUES}.all", _COUNT], [_VALUES, _TOKENS], axis=-1)
    graph_nodes = [*nodes, *graph.node, scores, chosen]
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
    return content


class OnnxChooser:
    """A batch while it is searched; see `seq2see.search.choosing.Chooser`."""

    def __init__(self, session: Any, memory: Any, state: Any, *, gather: bool) -> None:
        """session: of `with_choice`, with the same `gather`."""
        self.session, self.gather = session, gather
        names = [end.name for end in session.get_inputs()]
        sources, states = leaves(memory), leaves(state)
        self.tokens, *others = names[: 1 + len(sources) + len(states)]
        self.memory_names, self.state_names = others[: len(sources)], others[len(sources) :]
        self.outputs = [end.name for end in session.get_outputs()]
        self.arrays = [x.contiguous().numpy() for x in sources]  # OrtValues read them where they lie
        self.memory = dict(zip(self.memory_names, map(_value, self.arrays), strict=True))
        self.state = [_value(x.contiguous().numpy()) for x in states]
        self.order: Ints | None = None
        self.counts: dict[int, Any] = {}

    def choose(self, tokens: Ints, count: int) -> tuple[Floats, Ints]:
        if count not in self.counts:
            self.counts[count] = _value(np.array([count + len(_BANNED)]))
        feed = {
            **self.memory,
            **dict(zip(self.state_names, self.state, strict=True)),
            self.tokens: _value(tokens),
            _COUNT: self.counts[count],
        }
        if self.gather:
            order = np.arange(len(tokens)) if self.order is None else self.order
            feed[_ORDER] = _value(order)
            self.order = None
        values, ids, *self.state = self.session.run_with_ort_values(self.outputs, feed)
        return _allowed(values.numpy(), ids.numpy(), count)

    def move(self, rows: Ints) -> None:
        self.order = rows
        if not self.gather:
            self._reorder_state(rows)

    def pack(self, rows: Ints) -> None:
        self.arrays = [np.ascontiguousarray(x[rows]) for x in self.arrays]
        self.memory = dict(zip(self.memory_names, map(_value, self.arrays), strict=True))
        self.move(rows)

    def _reorder_state(self, rows: Ints) -> None:
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
