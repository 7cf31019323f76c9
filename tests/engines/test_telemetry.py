"""ONNX Runtime reports its use unless it is told not to; with this package it does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

SESSION = """
import seq2see.engines
import onnxruntime
from onnx import TensorProto, helper
sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "same", sides[:1], sides[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
"""


def test_no_identity_and_no_events_are_kept(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", SESSION], check=True, env=environment)
    assert [path for path in tmp_path.rglob("*") if "onnxruntime" in path.name or "Microsoft" in path.name] == []
