"""The graphs of a run lie in its folder: made once, and made again when the weights or the makers have changed.

RUN/engines/onnx/   encode.onnx  step.onnx  engine.json     engine.json is written last: what the graphs were made from
RUN/engines/int8/   the same

A CTranslate2 model is made in memory each time: that takes a moment, and nobody could vouch for its file either.

Nobody vouches for engine.json. So graphs that lie there are held against the torch model each time they are loaded, and
made again if they compute anything else.
"""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see import atomic
from seq2see.engines.base import ENGINES, Engine, EngineName
from seq2see.engines.graphs import Graphs, export, quantised, require
from seq2see.engines.products import weight_range
from seq2see.engines.shortlist import Shortlist
from seq2see.errors import ConfigError, RunError, Seq2SeeError, nearest
from seq2see.runs.commit import place_of
from seq2see.runs.folder import CONFIG, WEIGHTS, Run

if TYPE_CHECKING:
    from seq2see.engines.runtime import OnnxEngine

FOLDER, MANIFEST = "engines", "engine.json"
_FORMAT = 4
_FILES = {"encode": "encode.onnx", "step": "step.onnx"}
# How far from the model an engine may be, as a share of the model's numbers. float32 was measured at 1e-6, and 1e-4 for
# models that magnify every difference; eight bits at 2 % to 10 %.
_NEAR: dict[EngineName, float] = {"onnx": 1e-3, "int8": 0.3}
_SPARE = 64 * 2**20  # bytes that a graph may have beside the weights

Say = Callable[[str], None]


def make_engine(run: Run, name: EngineName, say: Say = lambda _: None, shortlist: Shortlist | None = None) -> Engine:
    """The engine of a run, from its folder or made now. What cannot be written is made in memory.

    shortlist   for CTranslate2, whose search is its own; the others are given the words of each batch
    """
    if name not in ENGINES:
        raise ConfigError(f"engine = '{name}' is unknown{nearest(name, ENGINES)}")
    if name == "torch":
        return run.model
    if name in ("ctranslate2", "ctranslate2-int8"):
        from seq2see.engines.ct2_engine import make_ctranslate2

        return make_ctranslate2(run, "float32" if name == "ctranslate2" else "int8", say, shortlist)
    require()
    return _cached(run, name, say) or _made(run, name, say)


def has_graphs(run: Run) -> bool:
    """Whether graphs in float32 lie in its folder, by their own account made from these weights."""
    return _read(run.path / FOLDER / "onnx", run.path) is not None


def _cached(run: Run, name: EngineName, say: Say) -> "OnnxEngine | None":
    """What lies in the folder, if it computes what the model does."""
    folder = run.path / FOLDER / name
    graphs = _read(folder, run.path)
    if graphs is None:
        return None
    try:
        return _proven(run, name, graphs)
    except RunError as error:
        say(f"{folder} is not the engine of this run: {error}")
        return None


def _made(run: Run, name: EngineName, say: Say) -> "OnnxEngine":
    say(f"making the engine {name} of {run.path}: once, some twenty seconds")
    graphs = export(run.model) if name == "onnx" else quantised(_float_graphs(run))
    try:
        engine = _proven(run, name, graphs)
    except RunError as error:
        better: EngineName = "torch" if name == "onnx" else "onnx"
        raise RunError(f"{run.path}: has no engine {name}: {error}; use --engine {better}") from None
    try:
        _write(run.path / FOLDER / name, graphs, run.path)
    except (Seq2SeeError, OSError) as error:
        say(f"the engine could not be kept ({error}); it is made again next time")
    return engine


def _float_graphs(run: Run) -> Graphs:
    """Those of the engine onnx, if it is there, else made now."""
    graphs = _read(run.path / FOLDER / "onnx", run.path)
    try:
        if graphs is not None:
            _proven(run, "onnx", graphs)
            return graphs
    except RunError:
        pass
    return export(run.model)


def _proven(run: Run, name: EngineName, graphs: Graphs) -> "OnnxEngine":
    """These graphs as an engine; RunError if they compute something else than the model."""
    from seq2see.engines.runtime import OnnxEngine

    engine = OnnxEngine(run.model, graphs)
    distance = engine.distance()
    if not distance <= _NEAR[name]:
        raise RunError(f"its graphs compute something else than the model (off by {distance:.2g}, not {_NEAR[name]:g})")
    return engine


def _makers(path: Path) -> dict[str, Any]:
    """What the graphs hang on."""
    packages = {package: version(package) for package in ("seq2see", "torch", "onnxscript", "onnxruntime")}
    makers = {"format": _FORMAT, "weight_range": weight_range(), **packages}
    return {**makers, **{name: atomic.digest(place_of(path, name)) for name in (CONFIG, WEIGHTS)}}


def _read(folder: Path, path: Path) -> Graphs | None:
    """Whole, by its own account made from these weights; or None."""
    try:
        manifest = atomic.read_json(folder / MANIFEST)
        if manifest["makers"] != _makers(path):
            return None
        limit = 4 * (path / WEIGHTS).stat().st_size + _SPARE
        whole = all(atomic.digest(folder / file) == manifest["files"][file] for file in _FILES.values())
        return Graphs(*(atomic.read_file(folder / file, limit) for file in _FILES.values())) if whole else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(folder: Path, graphs: Graphs, path: Path) -> None:
    if folder.resolve() != path.resolve() / FOLDER / folder.name:
        raise RunError(f"{folder}: is a link to another place")
    folder.mkdir(parents=True, exist_ok=True)
    for file in (
        MANIFEST,
        *_FILES.values(),
    ):  # from here until the end there is no engine; a pipe would be written into
        (folder / file).unlink(missing_ok=True)
    for file, content in zip(_FILES.values(), graphs, strict=True):
        atomic.write_file(folder / file, content)
    digests = {file: atomic.digest(folder / file) for file in _FILES.values()}
    atomic.write_json(folder / MANIFEST, {"makers": _makers(path), "files": digests})
