"""Graphs in a run folder that somebody put there: held against the torch model, and made again if they are not it.

Exporting takes long, so that what would be made again is what was made first.
"""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "contracts"))
sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

from folders import SOURCES, make_run
from fuzzing.checking import check as check_inputs
from fuzzing.harness import Harness

import seq2see
from seq2see import atomic
from seq2see.engines import cache, make_engine
from seq2see.engines.cache import FOLDER, MANIFEST
from seq2see.engines.graphs import Graphs
from seq2see.errors import RunError, ShapeError
from seq2see.runs.folder import load_run

try:
    import numpy as np
    import onnx
    import onnxruntime  # noqa: F401
    import onnxscript  # noqa: F401
    from onnx import helper, numpy_helper
except ImportError as missing:
    if os.environ.get("CI") == "true":
        raise
    pytest.skip(f"{missing.name} is not installed: pip install 'seq2see[fast]'", allow_module_level=True)

# The most unusual of the recurrent families: a window that is predicted, cells with two states.
SMALL: dict[str, Any] = {"embedding": 8, "hidden": 32, "cell": "lstm", "attention": {"scope": "local-p", "window": 2}}
SMALL["encoder"] = {"embedding": 8, "hidden": 16, "cell": "lstm"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run with both engines, and another one of the same shape with graphs of other weights."""
    folder = tmp_path_factory.mktemp("runs")
    run = make_run(folder / "run", "luong", sharp=1.5, **SMALL)
    for name in ("onnx", "int8"):
        make_engine(load_run(run), name)
    other = shutil.copytree(run, folder / "other")
    for path in (other / FOLDER).glob("*/*.onnx"):
        graph = onnx.load(path)
        for tensor in graph.graph.initializer:
            if tensor.data_type == onnx.TensorProto.FLOAT and np.prod(tensor.dims) > 1:  # not the mark of a hidden key
                tensor.CopyFrom(numpy_helper.from_array(1.6 * numpy_helper.to_array(tensor), tensor.name))
        path.write_bytes(graph.SerializeToString())
    return run, other


@pytest.fixture
def run(made: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    graphs = {name: graphs_of(made[0], name) for name in ("onnx", "int8")}
    monkeypatch.setattr(cache, "export", lambda model: graphs["onnx"])
    monkeypatch.setattr(cache, "quantised", lambda given: graphs["int8"])
    return shutil.copytree(made[0], tmp_path / "run")


def graphs_of(run: Path, name: str) -> Graphs:
    folder = run / FOLDER / name
    return Graphs((folder / "encode.onnx").read_bytes(), (folder / "step.onnx").read_bytes())


def refit(run: Path, name: str = "onnx") -> None:
    """engine.json as if these graphs were its own."""
    folder = run / FOLDER / name
    told = atomic.read_json(folder / MANIFEST)
    told["files"] = {file: atomic.digest(folder / file) for file in told["files"]}
    atomic.write_json(folder / MANIFEST, told)


def check(run: Path, name: Any = "onnx") -> list[str]:
    """The engine computes what the model does; what was said on the way."""
    said: list[str] = []
    engine, model = make_engine(load_run(run), name, said.append), load_run(run).model
    source, mask = torch.tensor([[5, 6, 2], [7, 8, 2]]), torch.ones(2, 1, 3, dtype=torch.bool)
    with torch.no_grad():
        memory, outside = model.encode(source, mask), engine.encode(source, mask)
        expected, _ = model.step(torch.tensor([1, 1]), memory, model.start(memory))
        logits, _ = engine.step(torch.tensor([1, 1]), outside, engine.start(outside))
    tolerance = 1e-4 if name == "onnx" else 0.1 * float(expected.abs().max())
    torch.testing.assert_close(logits, expected, rtol=0, atol=tolerance)
    return said


def test_an_engine_of_this_run_is_taken_as_it_is(run: Path) -> None:
    assert check(run) == check(run, "int8") == []


def test_luong_with_a_predicted_window_says_what_torch_says(run: Path) -> None:
    from agreeing import compare_all

    compare_all(load_run(run).model, make_engine(load_run(run), "onnx"))


@pytest.mark.parametrize("name", ["onnx", "int8"])
@pytest.mark.parametrize("file", ["encode.onnx", "step.onnx"])
def test_a_graph_of_another_run_is_made_again(run: Path, made: tuple[Path, Path], name: str, file: str) -> None:
    shutil.copy(made[1] / FOLDER / name / file, run / FOLDER / name / file)
    refit(run, name)
    said = check(run, name)
    assert len(said) == 2
    assert "not the engine of this run: its graphs compute something else than the model" in said[0]
    assert f"making the engine {name}" in said[1]
    assert check(run, name) == []  # and it is kept


def test_eight_bits_are_not_made_from_a_graph_of_another_run(
    run: Path, made: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(made[1] / FOLDER / "onnx" / "step.onnx", run / FOLDER / "onnx" / "step.onnx")
    refit(run)
    shutil.rmtree(run / FOLDER / "int8")
    given: list[Graphs] = []
    eight = graphs_of(made[0], "int8")
    monkeypatch.setattr(cache, "quantised", lambda graphs: given.append(graphs) or eight)
    check(run, "int8")
    assert given == [graphs_of(made[0], "onnx")]


def _weights_moved(graph: onnx.ModelProto) -> None:
    """The logit of one word is higher, all else is right."""
    (bias,) = [one for one in graph.graph.initializer if one.name.endswith("vocabulary.bias")]
    changed = numpy_helper.to_array(bias).copy()
    changed[7] += 0.5
    bias.CopyFrom(numpy_helper.from_array(changed, bias.name))


def _external(graph: onnx.ModelProto) -> None:
    tensor = graph.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../../etc/passwd")


def _external_constant(graph: onnx.ModelProto) -> None:
    """Inside the attribute of a node that nobody reads."""
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[1], data_location=onnx.TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="weights")
    graph.graph.node.append(helper.make_node("Constant", [], ["unused"], value=tensor))


def _endless(graph: onnx.ModelProto) -> None:
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"])],
        "body",
        [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("go", 9, [])],
        [helper.make_tensor_value_info("on", 9, [])],
    )
    graph.graph.node.append(helper.make_node("Loop", ["", ""], [], body=body))


def _own_operators(graph: onnx.ModelProto) -> None:
    graph.opset_import.append(helper.make_opsetid("somebody", 1))


def _fewer_inputs(graph: onnx.ModelProto) -> None:
    del graph.graph.input[-1]


def _more_outputs(graph: onnx.ModelProto) -> None:
    graph.graph.output.append(graph.graph.output[0])


def _no_outputs(graph: onnx.ModelProto) -> None:
    del graph.graph.output[:]


def _other_types(graph: onnx.ModelProto) -> None:
    graph.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT


def _unknown_operator(graph: onnx.ModelProto) -> None:
    graph.graph.node[0].op_type = "Nothing"


def _other_shape(graph: onnx.ModelProto) -> None:
    """Logits for half of the words."""
    name = graph.graph.output[0].name
    for node in graph.graph.node:
        node.output[:] = ["all words" if one == name else one for one in node.output]
    for number, value in (("zero", 0), ("half", 100), ("last", -1)):
        graph.graph.initializer.append(numpy_helper.from_array(np.array([value]), number))
    graph.graph.node.append(helper.make_node("Slice", ["all words", "zero", "half", "last"], [name]))


CHANGES: list[Callable[[onnx.ModelProto], None]] = [
    _weights_moved,
    _external,
    _external_constant,
    _endless,
    _own_operators,
    _fewer_inputs,
    _more_outputs,
    _no_outputs,
    _other_types,
    _unknown_operator,
    _other_shape,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_changed_graph_is_made_again(run: Path, change: Callable[[onnx.ModelProto], None]) -> None:
    path = run / FOLDER / "onnx" / "step.onnx"
    graph = onnx.load(path)
    change(graph)
    path.write_bytes(graph.SerializeToString())
    refit(run)
    said = check(run)
    assert "is not the engine of this run" in said[0]
    assert "\n" not in said[0]


@pytest.mark.parametrize("content", [b"", b"\xff" * 100, b"\x08" * 100_000, b"x"], ids=["empty", "ones", "eights", "x"])
@pytest.mark.parametrize("file", ["encode.onnx", "step.onnx"])
def test_what_is_no_graph_is_made_again(run: Path, file: str, content: bytes) -> None:
    (run / FOLDER / "onnx" / file).write_bytes(content)
    refit(run)
    assert len(check(run)) == 2


def test_a_changed_byte_is_never_a_traceback(run: Path) -> None:
    """All over a graph: it is made again, or what the byte was for is too small to be seen by the probe."""
    path = run / FOLDER / "onnx" / "step.onnx"
    whole, outcomes = path.read_bytes(), set()
    for place in range(0, len(whole), len(whole) // 40):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        refit(run)
        said: list[str] = []
        make_engine(load_run(run), "onnx", said.append)
        outcomes.add(len(said))
    assert outcomes <= {0, 2}
    assert 2 in outcomes


def test_a_graph_may_be_no_file(run: Path) -> None:
    folder = run / FOLDER / "onnx"
    for place in (
        lambda path: os.mkfifo(path),
        lambda path: path.symlink_to("/dev/zero"),
    ):
        for file in ("step.onnx", MANIFEST):
            (folder / file).unlink()
            place(folder / file)
            assert "making the engine" in check(run)[0]
            assert (folder / file).is_file()
            assert not (folder / file).is_symlink()


def test_engines_that_lie_elsewhere_are_not_written_to(run: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "onnx").mkdir(parents=True)
    (elsewhere / "onnx" / "step.onnx").write_text("mine")
    shutil.rmtree(run / FOLDER)
    (run / FOLDER).symlink_to(elsewhere)
    said = check(run)
    assert "could not be kept" in said[1]
    assert (elsewhere / "onnx" / "step.onnx").read_text() == "mine"
    assert len(list((elsewhere / "onnx").iterdir())) == 1


@pytest.mark.parametrize(
    "content",
    ["[" * 100_000, '{"makers": ' + "9" * 5000, "null", '{"makers": {}, "files": []}', '{"files": "\\ud800"}'],
)
def test_an_engine_json_may_hold_anything(run: Path, content: str) -> None:
    (run / FOLDER / "onnx" / MANIFEST).write_text(content)
    assert "making the engine" in check(run)[0]


def test_an_engine_that_is_made_wrong_is_refused(
    run: Path, made: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(run / FOLDER)
    monkeypatch.setattr(cache, "export", lambda model: graphs_of(made[1], "onnx"))
    with pytest.raises(RunError, match=r"has no engine onnx: .*; use --engine torch"):
        make_engine(load_run(run), "onnx")
    assert not (run / FOLDER).exists()


def test_folders_are_refused_with_our_own_errors(made: tuple[Path, Path]) -> None:
    """As fuzz/test_fuzz_folders.py does with all that is not exported."""
    with Harness(engines=made[0]) as harness:
        check_inputs(harness, "engine-onnx", range(16))


def test_the_translator_never_speaks_by_another_graph(run: Path, made: tuple[Path, Path]) -> None:
    expected = [one.text for one in seq2see.load(run).translate(SOURCES)]
    shutil.copytree(made[1] / FOLDER / "onnx", run / FOLDER / "onnx", dirs_exist_ok=True)
    told = atomic.read_json(made[0] / FOLDER / "onnx" / MANIFEST)
    atomic.write_json(run / FOLDER / "onnx" / MANIFEST, told)
    refit(run)
    translator = seq2see.load(run, engine="onnx", say=lambda _: None)
    assert [one.text for one in translator.translate(SOURCES)] == expected


def test_an_empty_source_is_our_own_error(run: Path) -> None:
    engine = make_engine(load_run(run), "onnx")
    with pytest.raises(ShapeError, match="holds no piece"):
        engine.encode(torch.zeros(2, 0, dtype=torch.long), torch.ones(2, 1, 0, dtype=torch.bool))
