"""The state of training on disk: whole, checked and never the only copy.

    checkpoints/step-00001000/
        model.safetensors        weights
        optimiser.safetensors    what AdamW remembers, and the moving average if there is one
        state.json               step, epoch, batch in the epoch, scores so far, on what machine
        manifest.json            SHA-256 of the three; written last

A checkpoint is written into a folder with a temporary name, flushed, and renamed; older ones go only after that.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from seq2see import atomic
from seq2see.errors import RunError
from seq2see.runs.weights import not_finite

FILES = ("model.safetensors", "optimiser.safetensors", "state.json")


@dataclass(frozen=True)
class Progress:
    """Where training stands. With the weights and the optimiser this is all that a resumed run needs: the order of
    batches and every random number are functions of the seed and of these."""

    step: int = 0  # updates made
    epoch: int = 0
    batch: int = 0  # batches of this epoch already used
    seconds: float = 0.0  # of training, over all sessions
    best: float | None = None  # best validation score so far, higher is better
    best_step: int = 0
    stale: int = 0  # validations since then
    plateaus: int = 0
    right: int = 0  # validations in a row whose outputs were all right
    total: int = 0  # updates planned
    stopped: str = ""  # why training ended before all of them, if it did
    machine: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Checkpoint:
    """What was read back."""

    path: Path
    progress: Progress
    weights: dict[str, Tensor]
    optimiser: dict[str, Tensor]


def save(
    folder: Path, progress: Progress, weights: Mapping[str, Tensor], optimiser: Mapping[str, Tensor], *, keep: int
) -> Path:
    """Writes checkpoints/step-N and drops all but the newest `keep`."""
    folder.mkdir(parents=True, exist_ok=True)
    final = folder / f"step-{progress.step:08d}"
    temporary = folder / f".{final.name}.{os.getpid()}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        temporary.mkdir()
        _fill(temporary, progress, weights, optimiser)
        if final.exists():  # the same step again, after a resume: what is there is not better than this
            atomic.remove_folder(final)
        temporary.rename(final)
        atomic.sync_folder(folder)
    except OSError as error:
        raise atomic.cannot_write(final, error) from None
    except SafetensorError as error:
        raise _tensor_error(final, error) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    for old in list(_newest_first(folder))[keep:]:
        atomic.remove_folder(old)
    return final


def _fill(folder: Path, progress: Progress, weights: Mapping[str, Tensor], optimiser: Mapping[str, Tensor]) -> None:
    save_file(dict(weights), folder / FILES[0])
    save_file(dict(optimiser), folder / FILES[1])
    (folder / FILES[2]).write_text(json.dumps(asdict(progress), indent=1))
    manifest = {name: atomic.digest(folder / name) for name in FILES}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    for name in (*FILES, "manifest.json"):
        atomic.sync_file(folder / name)
    atomic.sync_folder(folder)


def _tensor_error(path: Path, error: SafetensorError) -> RunError:
    if "No space left" in str(error):
        return RunError(f"{path}: no space left on the disk; free some and start again with --resume")
    return RunError(f"{path}: cannot be written ({error})")


def newest(folder: Path) -> tuple[Checkpoint | None, list[str]]:
    """The newest checkpoint that can be gone on from, and what is wrong with each newer one that was passed over."""
    passed: list[str] = []
    for path in _newest_first(folder):
        problem = check(path)
        if problem is None:
            loaded = load(path)
            name = not_finite(loaded.weights) or not_finite(loaded.optimiser)
            if name is None:
                return loaded, passed
            problem = f"holds numbers that are not finite ({name})"
        passed.append(f"{path}: {problem}")
    return None, passed


def newest_progress(folder: Path) -> Progress:
    """How far the newest whole checkpoint is, without its weights; the beginning if there is none."""
    whole = next((path for path in _newest_first(folder) if check(path) is None), None)
    return Progress() if whole is None else _read_progress(whole)


def check(path: Path) -> str | None:
    """What is wrong with a checkpoint, or None if every file is what was written."""
    try:
        manifest = atomic.read_json(path / "manifest.json")
        for name in FILES:
            if atomic.digest(path / name) != manifest[name]:
                return f"{name} is damaged (its SHA-256 is not the one in the manifest)"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"incomplete or damaged ({type(error).__name__})"
    return None


def load(path: Path) -> Checkpoint:
    """Reads what `check` has found whole."""
    try:
        return Checkpoint(path, _read_progress(path), load_file(path / FILES[0]), load_file(path / FILES[1]))
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path}: cannot be read ({error})") from None


def _read_progress(path: Path) -> Progress:
    try:
        return Progress(**atomic.read_json(path / FILES[2]))
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{path}: cannot be read ({error})") from None


def paths(folder: Path) -> list[Path]:
    """The checkpoints that are there, newest first."""
    return list(_newest_first(folder))


def _newest_first(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.glob("step-*"), reverse=True)


def sweep(folder: Path) -> None:
    """Takes away what a killed process left behind under temporary names."""
    for leftover in (*folder.glob(".*.tmp"), *folder.glob(".*.gone")):
        shutil.rmtree(leftover, ignore_errors=True) if leftover.is_dir() else leftover.unlink(missing_ok=True)
