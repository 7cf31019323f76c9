"""The products of an ONNX graph with constant matrices: what reads the same becomes one product, and eight bits.

x ─┬▶ Q x + b        x ─▶ [Q K V] x + b ─▶ Split
   ├▶ K x + c   ─▶
   └▶ V x + d
"""

import functools
from collections import Counter
from typing import Any

import numpy as np

_WORTH = 32  # rows and columns of a matrix below which eight bits cost more than they save
_LEAST = 1e-20  # of a scale: a row of zeros stays one


def joined(content: bytes) -> bytes:
    """Products that read the same activation as one, and what they add with it: queries, keys and values of a layer; in
    an encoder the keys and values that all layers of the decoder will look at."""
    import onnx
    from onnx import helper, numpy_helper

    model = _plain_products(_folded(onnx.load_from_string(content)))
    graph = model.graph
    constants = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    readers = Counter(name for node in graph.node for name in node.input) + Counter(end.name for end in graph.output)
    adding = {name: node for node in graph.node if node.op_type == "Add" for name in node.input}
    groups: dict[str, list[Any]] = {}
    for node in graph.node:
        if node.op_type == "MatMul" and constants.get(node.input[1], np.empty(0)).ndim == 2:
            groups.setdefault(node.input[0], []).append(node)
    instead: dict[str, list[Any]] = {}  # output of the first product of a group -> what is computed in its place
    gone: set[str] = set()  # outputs of nodes that are no longer needed
    for x, group in groups.items():
        if len(group) < 2:
            continue
        biases = [_bias(node, adding, readers, constants) for node in group]
        biased = all(bias is not None for bias in biases)
        outputs = [adding[node.output[0]].output[0] if biased else node.output[0] for node in group]
        matrices = [constants[node.input[1]] for node in group]
        name = f"{group[0].output[0]}.joined"
        tensors = {
            f"{name}.matrix": np.concatenate(matrices, axis=1),
            f"{name}.sizes": np.array([matrix.shape[1] for matrix in matrices]),
        }
        nodes = [helper.make_node("MatMul", [x, f"{name}.matrix"], [name])]
        last = name
        if biased:
            tensors[f"{name}.bias"] = np.concatenate([bias for bias in biases if bias is not None])
            last = f"{name}.sum"
            nodes.append(helper.make_node("Add", [name, f"{name}.bias"], [last]))
        nodes.append(helper.make_node("Split", [last, f"{name}.sizes"], outputs, axis=-1))
        graph.initializer.extend(numpy_helper.from_array(tensor, key) for key, tensor in tensors.items())
        instead[group[0].output[0]] = nodes
        gone.update(node.output[0] for node in group)
        if biased:
            gone.update(outputs)
    nodes = []
    for node in graph.node:
        nodes += instead.get(node.output[0], [] if node.output[0] in gone else [node])
    _replace(graph, nodes)
    result: bytes = model.SerializeToString()
    return result


def _bias(node: Any, adding: dict[str, Any], readers: Counter[str], constants: dict[str, Any]) -> Any:
    """The vector that is added to a product, if nothing else reads the product; else None."""
    output = node.output[0]
    if readers[output] != 1 or output not in adding:
        return None
    (other,) = (name for name in adding[output].input if name != output)
    bias = constants.get(other)
    return bias if bias is not None and bias.ndim == 1 and len(bias) == constants[node.input[1]].shape[1] else None


def _replace(graph: Any, nodes: list[Any]) -> None:
    """These nodes, and of the constants those that they read."""
    del graph.node[:]
    graph.node.extend(nodes)
    read = _names_read(graph)
    kept = [entry for entry in graph.initializer if entry.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def in_eight_bits(content: bytes) -> bytes:
    """Every product with a constant matrix in integers. Activations are scaled row by row: the numbers of a sentence
    do not depend on its neighbours. What several products read is rounded once."""
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load_from_string(content)
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
    graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in constants.items())
    _replace(graph, nodes)
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
    import onnxruntime  # type: ignore[import-untyped]
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


def _folded(model: Any) -> Any:
    """What is computed from constants alone, computed now: above all weights that are kept as direction and length."""
    from onnx import TensorProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator

    graph = model.graph
    constant = {entry.name for entry in graph.initializer}
    early: list[Any] = []
    late: list[Any] = []
    for node in graph.node:
        known = node.op_type != "Constant" and all(name in constant for name in node.input if name)
        (early if known and node.input else late).append(node)
        if known and node.input:
            constant.update(node.output)
    read = {name for node in late for name in node.input} | {end.name for end in graph.output}
    wanted = [name for node in early for name in node.output if name in read]
    if not wanted:
        return model
    ends = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in wanted]
    inner = helper.make_graph(early, "constants", [], ends, initializer=graph.initializer)
    values = ReferenceEvaluator(helper.make_model(inner, opset_imports=model.opset_import)).run(None, {})
    graph.initializer.extend(
        numpy_helper.from_array(np.asarray(x), name) for name, x in zip(wanted, values, strict=True)
    )
    _replace(graph, late)
    return model


def _plain_products(model: Any) -> Any:
    """`Gemm` with a constant matrix as MatMul and Add."""
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
