"""The folder of a run, ours alone while it trains.

A fresh run takes a folder that is new, empty, or holds a run that never came to its first checkpoint: there is nothing
to lose there, and the command that was interrupted can simply be given again.
"""

import contextlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from seq2see import atomic
from seq2see.errors import ConfigError, RunError
from seq2see.runs import checkpoint, folder
from seq2see.runs.commit import recover
from seq2see.runs.config import METRICS, TAKEN, VALIDATION_MAPS
from seq2see.runs.inputs import INPUTS

_LOCK = ".lock"
_BEGUN = (*folder.TOKENIZERS, folder.LETTERS, INPUTS, ".*.tmp")  # written before config.json
_WRITTEN = (
    *_BEGUN,
    folder.CONFIG,
    METRICS,
    VALIDATION_MAPS,
    "data/train",
    "data/valid",
    *(f"data/{name}.{kind}" for name in ("train", "test", "reference") for kind in ("npy", "json")),
    "data/.*",
    "checkpoints/best-*",
    "checkpoints/plan.json",
    "checkpoints/.*",
    "samples/step-*.wav",
    "tensorboard/events.*",
)
_FOLDERS = ("data", "checkpoints", "samples", "tensorboard")

Say = Callable[[str], None]


@contextmanager
def claimed(out: Path, say: Say, *, resume: bool, pairs: Mapping[str, bytes] | None = None) -> Iterator[None]:
    """Nobody else trains here until this ends; a fresh run finds the folder empty.

    pairs   files that the run will bring along, by name: an older run of the same command may have left them
    """
    if not resume:
        _make(out)
    with locked(out):
        if resume:
            recover(out)
        else:
            _clear(out, say, pairs or {})
        yield


def wait_until_free(out: Path, seconds: float) -> None:
    """A training whose parent was killed lets go of its folder as soon as it notices: that is waited for."""
    end = time.monotonic() + seconds
    while out.is_dir() and (out / _LOCK).exists() and time.monotonic() < end:
        lock = atomic.Lock(out / _LOCK)
        if lock.hold():
            lock.let_go()
            return
        time.sleep(0.05)


@contextmanager
def beginning(out: Path, *, fresh: bool, pairs: Iterable[str] = ()) -> Iterator[None]:
    """A run that cannot begin, or is interrupted meanwhile, leaves no half of itself behind."""
    try:
        yield
    except BaseException:
        if fresh:
            _remove(out, [*_WRITTEN, *pairs])
            with contextlib.suppress(OSError):  # somebody else's file lies there
                (out / _LOCK).unlink(missing_ok=True)
                out.rmdir()
        raise


def _make(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise RunError(f"{out}: is a file; --out names a folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise atomic.cannot_write(out, error) from None


def _clear(out: Path, say: Say, pairs: Mapping[str, bytes]) -> None:
    """Takes away a run that never came to its first checkpoint; refuses anything else."""
    if folder.is_finished(out) or checkpoint.paths(out / "checkpoints"):
        raise RunError(f"{out}: {TAKEN}")
    begun = _is_run(out)
    others = _others(out, pairs, begun=begun)
    if others and begun:
        raise RunError(f"{out}: holds {others[0].name} beside a run; choose a new folder for --out")
    if others:
        raise RunError(f"{out}: is not empty and holds no run; choose a new folder for --out")
    if begun:
        say(f"{out} holds a run that was stopped before its first checkpoint; it is started again")
    _remove(out, _WRITTEN if begun else _BEGUN)


def _others(out: Path, pairs: Mapping[str, bytes], *, begun: bool) -> list[Path]:
    """What lies there that training did not write."""
    patterns = (*_WRITTEN, *_FOLDERS) if begun else _BEGUN
    ours = {path for pattern in (*patterns, _LOCK) for path in out.glob(pattern)}
    for name in folder.PAIRS:
        if begun or name not in pairs or _content(out / name) in (None, pairs[name]):
            ours.add(out / name)
    inside = [path for name in _FOLDERS if begun for path in (out / name).glob("*")]
    return sorted(path for path in (*out.iterdir(), *inside) if path not in ours)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _is_run(out: Path) -> bool:
    """Whether its config.json is one of ours."""
    try:
        folder.read_run_config(out)
    except (RunError, ConfigError):
        return False
    return True


def _remove(out: Path, patterns: Iterable[str]) -> None:
    for pattern in patterns:
        for path in out.glob(pattern):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    for name in _FOLDERS:
        with contextlib.suppress(OSError):  # not there, or not empty
            (out / name).rmdir()


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Two trainings in one folder would ruin each other."""
    if not out.is_dir():
        raise RunError(f"{out}: no such run to resume")
    lock = atomic.Lock(out / _LOCK)
    try:
        held = lock.hold()
    except OSError as error:
        raise atomic.cannot_write(lock.path, error) from None
    if not held:
        raise RunError(f"{out}: another training is running in this folder")
    try:
        yield
    finally:
        lock.let_go()
