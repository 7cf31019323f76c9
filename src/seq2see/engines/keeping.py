"""The graphs of a run lie in its folder: made once, and made again when the weights or the makers have changed.

RUN/engines/onnx/   encode.onnx  step.onnx  engine.json     engine.json is written last: what the graphs were made from
RUN/engines/int8/   the same
"""

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from seq2see import durable
from seq2see.engines.base import ENGINES, Engine, EngineName
from seq2see.engines.graphs import Graphs, export, in_eight_bits, require
from seq2see.errors import ConfigError, Seq2SeeError, nearest
from seq2see.models import Model
from seq2see.training.folder import CONFIG, WEIGHTS, Run

FOLDER, TOLD = "engines", "engine.json"
_FORMAT = 1
_FILES = {"encode": "encode.onnx", "step": "step.onnx"}

Say = Callable[[str], None]


def make_engine(run: Run, name: EngineName, say: Say = lambda _: None) -> Engine:
    """The engine of a run, from its folder or made now. What cannot be written is made in memory."""
    if name not in ENGINES:
        raise ConfigError(f"engine = '{name}' is unknown{nearest(name, ENGINES)}")
    if name == "torch":
        return run.model
    require()
    from seq2see.engines.runtime import OnnxEngine

    return OnnxEngine(run.model, _graphs(run, name, say))


def _graphs(run: Run, name: EngineName, say: Say) -> Graphs:
    folder = run.path / FOLDER / name
    found = _read(folder, run.path)
    if found is not None:
        return found
    say(f"making the engine {name} of {run.path}: once, some twenty seconds")
    graphs = _made(run.path, name, run.model)
    try:
        _write(folder, graphs, run.path)
    except (Seq2SeeError, OSError) as error:
        say(f"the engine could not be kept ({error}); it is made again next time")
    return graphs


def _made(path: Path, name: EngineName, model: Model[Any, Any]) -> Graphs:
    if name == "onnx":
        return export(model)
    return in_eight_bits(_read(path / FOLDER / "onnx", path) or export(model))


def _makers(path: Path) -> dict[str, Any]:
    """What the graphs hang on."""
    packages = {package: version(package) for package in ("seq2see", "torch", "onnxscript", "onnxruntime")}
    return {"format": _FORMAT, **packages, **{name: durable.digest(path / name) for name in (CONFIG, WEIGHTS)}}


def _read(folder: Path, path: Path) -> Graphs | None:
    """Whole and made from these weights, or None."""
    try:
        told = json.loads((folder / TOLD).read_text(encoding="utf-8"))
        if told["makers"] != _makers(path):
            return None
        whole = all(durable.digest(folder / file) == told["files"][file] for file in _FILES.values())
        return Graphs(*((folder / file).read_bytes() for file in _FILES.values())) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(folder: Path, graphs: Graphs, path: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TOLD).unlink(missing_ok=True)  # from here until the end there is no engine
    for file, content in zip(_FILES.values(), graphs, strict=True):
        durable.write_file(folder / file, content)
    digests = {file: durable.digest(folder / file) for file in _FILES.values()}
    durable.write_json(folder / TOLD, {"makers": _makers(path), "files": digests})
