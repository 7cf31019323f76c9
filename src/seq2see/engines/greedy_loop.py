"""Greedy search as one graph: the step of a run inside an ONNX `Loop`, so that Python is asked once for many tokens.

    tokens, steps left, state ─▶ Loop( step ─▶ log-softmax ─▶ the best token ─▶ a step less, or none behind the end ) ─▶
    (T, R) tokens and their log-probabilities, state

The loop ends when too few rows go on, so that search packs the batch where it would have packed it step by step.
"""

from typing import Any

from seq2see.vocabulary import EOS

TOKENS, LEFT, MOST, NEEDED = "said.last", "said.left", "said.most", "said.needed"
SAID, LOG_PROBS, STATE = "said.tokens", "said.log_probs", "said.state."
IDS = "said.ids"
_SPECIALS = 2  # PAD and BOS, the first two tokens: never said


def with_loop(step: Any, columns: list[str], own: str) -> bytes:
    """The step graph run until fewer than NEEDED rows have steps LEFT, or MOST times.

    step      a graph whose first input is the tokens, whose first output is the logits, and whose last inputs, but for
              those of a shortlist, are the state that its other outputs are the next one of; it is changed
    columns   its inputs with the columns of a shortlist's words; none without
    own       the input (R, n) of 0 and -inf that goes with them

    Inputs are those of the step, tokens and state included, and LEFT (R,), MOST (), NEEDED (); IDS (n,) with a
    shortlist. Outputs are SAID (T, R), LOG_PROBS (T, R), and the state.
    """
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    graph = step.graph
    logits, *states = graph.output
    listed = [*columns, own] if columns else []
    plain = [end for end in graph.input if end.name not in listed]
    tokens, memory, before = plain[0], plain[1 : len(plain) - len(states)], plain[len(plain) - len(states) :]
    # What it is given from outside it reads as it stands; the rest goes round.
    body_inputs = [
        helper.make_tensor_value_info("loop.number", TensorProto.INT64, []),
        helper.make_tensor_value_info("loop.on", TensorProto.BOOL, []),
        tokens,
        helper.make_tensor_value_info("loop.left", TensorProto.INT64, [None]),
        *before,
    ]
    constants = {
        "loop.end": np.array(EOS),
        "loop.one": np.array(1),
        "loop.none": np.array(0),
        "loop.last": np.array([-1]),
        "loop.first": np.array([_SPECIALS]),
        "loop.furthest": np.array([2**62]),
        "loop.specials": np.array(_SPECIALS),
        "loop.rows": np.array([0]),
    }
    nodes = list(graph.node)

    def add(operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    scores = logits.name
    if columns:
        scores = add("Add", [scores, own], "loop.own")
    scores = add("LogSoftmax", [scores], "loop.scores", axis=-1)
    if not columns:
        scores = add("Slice", [scores, "loop.first", "loop.furthest", "loop.last"], "loop.allowed")
    best = add("ReduceMax", [scores, "loop.last"], "loop.best", keepdims=0)
    place = add("ArgMax", [scores], "loop.place", axis=-1, keepdims=0)
    token = add("Gather", [IDS, place], "loop.said") if columns else add("Add", [place, "loop.specials"], "loop.said")
    ended = add("Equal", [token, "loop.end"], "loop.ended")
    less = add("Max", [add("Sub", ["loop.left", "loop.one"], "loop.less"), "loop.none"], "loop.least")
    left = add("Where", [ended, "loop.none", less], "loop.after")
    active = add("Cast", [add("Greater", [left, "loop.none"], "loop.active")], "loop.counted", to=TensorProto.INT64)
    going = add("ReduceSum", [active, "loop.rows"], "loop.going", keepdims=0)
    on = add("GreaterOrEqual", [going, NEEDED], "loop.enough")
    carried = [add("Identity", [token], "loop.token"), left, *(end.name for end in states)]
    scanned = [add("Identity", [token], "loop.step.said"), best]
    ends = [
        helper.make_tensor_value_info(on, TensorProto.BOOL, []),
        helper.make_tensor_value_info(carried[0], TensorProto.INT64, [None]),
        helper.make_tensor_value_info(left, TensorProto.INT64, [None]),
        *states,
        helper.make_tensor_value_info(scanned[0], TensorProto.INT64, [None]),
        helper.make_tensor_value_info(best, TensorProto.FLOAT, [None]),
    ]
    initializers = [*graph.initializer, *(numpy_helper.from_array(value, name) for name, value in constants.items())]
    body = helper.make_graph(nodes, "step", body_inputs, ends, initializer=initializers)
    # Of the loop: the same names would hide those of the body.
    renamed = [_renamed(end, f"{STATE}before.{number}") for number, end in enumerate(before)]
    after = [f"{STATE}after.{number}" for number in range(len(states))]
    loop = helper.make_node(
        "Loop",
        [MOST, "", TOKENS, LEFT, *(end.name for end in renamed)],
        ["said.token", "said.steps", *after, SAID, LOG_PROBS],
        body=body,
    )
    inputs = [
        helper.make_tensor_value_info(TOKENS, TensorProto.INT64, [None]),
        helper.make_tensor_value_info(LEFT, TensorProto.INT64, [None]),
        helper.make_tensor_value_info(MOST, TensorProto.INT64, []),
        helper.make_tensor_value_info(NEEDED, TensorProto.INT64, []),
        *memory,
        *renamed,
        *(end for end in graph.input if end.name in listed),
        *([helper.make_tensor_value_info(IDS, TensorProto.INT64, [None])] if columns else []),
    ]
    outputs = [
        helper.make_tensor_value_info(SAID, TensorProto.INT64, [None, None]),
        helper.make_tensor_value_info(LOG_PROBS, TensorProto.FLOAT, [None, None]),
        *(_renamed(end, name) for end, name in zip(states, after, strict=True)),
    ]
    whole = helper.make_model(
        helper.make_graph([loop], "greedy", inputs, outputs),
        opset_imports=step.opset_import,
        ir_version=step.ir_version,
    )
    content: bytes = whole.SerializeToString()
    return content


def _renamed(end: Any, name: str) -> Any:
    """An input or output of the same type, of any size."""
    from onnx import helper

    kind = end.type.tensor_type
    return helper.make_tensor_value_info(name, kind.elem_type, [None] * len(kind.shape.dim))
