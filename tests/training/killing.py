"""Children that train and are killed: at the K-th I/O call of saving, or at a step; with faults planted on request.

Runs in a process forked from a clean server, so that torch's threads in the test process do not matter.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from seq2see import atomic
from seq2see.runs import checkpoint, weights
from seq2see.training.loop import optimizer, trainer
from seq2see.training.reporting import RunReporter
from seq2see.training.run import new_config, resumed_config, train_run

STEPS = 6
SETTINGS: dict[str, Any] = {
    "model": {
        "family": "luong",
        "size": "tiny",
        "embedding": 12,
        "hidden": 12,
        "dropout": 0.2,
        "encoder": {"embedding": 12, "hidden": 6, "dropout": 0.2},
    },
    "tokenizer": {"scheme": "word", "byte_fallback": False},
    "training": {
        "steps": STEPS,
        "save_every": 2,
        "validate_every": 3,
        "batch_tokens": 64,
        "threads": 1,
        "ema": 0.9,
        "seed": 5,
        "warmup": 3,
        "stop_metric": "loss",
        "schedule": "inverse-sqrt",  # the same whatever the number of updates
    },
}


class Quiet(RunReporter):
    """Says nothing but keeps what it was told; kills its own process after a step if asked to."""

    def __init__(self, kill_at: int | None = None) -> None:
        self.messages: list[str] = []
        self.kill_at = kill_at

    def message(self, text: str) -> None:
        self.messages.append(text)

    def update(self, update: Any, progress: Any) -> None:
        if update.step == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def validation(self, validation: Any, progress: Any, *, better: bool) -> None: ...

    def counting(self, what: str) -> Callable[[int], None]:
        return lambda pairs: None

    def total(self, steps: int, *, at_most: bool = False) -> None: ...


def train(pairs: Path, out: Path, *, resume: bool, voice: RunReporter, training: dict[str, Any] | None = None) -> Any:
    torch.set_num_threads(1)
    if resume:
        return train_run(resumed_config(out, {}), out, voice, resume=True)
    settings = SETTINGS | {"data": {"train": [str(pairs)]}, "training": SETTINGS["training"] | (training or {})}
    return train_run(new_config(settings), out, voice)


def child(pairs: Path, out: Path, kill_step: int | None, kill_call: int | None, fault: str | None, report: Any) -> None:
    """Trains, or goes on if there is something to go on with; `report` gets the number of I/O calls seen."""
    power = PowerCut(kill_call)
    power.watch()
    if fault is not None:  # after the watch, which must not take a sync that is left out for one that was made
        plant(fault)
    train(pairs, out, resume=(out / "config.json").exists(), voice=Quiet(kill_step))
    if report is not None:
        report.put(power.calls)
    assert "torch._dynamo" not in sys.modules, "torch's compiler takes as long to import as torch, and nobody needs it"


class PowerCut:
    """Counts the I/O calls of saving and pulls the plug at one of them: what was not synced by then is lost."""

    def __init__(self, at: int | None) -> None:
        self.at = at
        self.calls = 0
        self.unsynced: set[int] = set()  # inodes written but not yet flushed to the disk
        self.folder: Path | None = None

    def watch(self) -> None:
        self._wrap(checkpoint, "save_file", written=1)
        self._wrap(weights, "save_file", written=1)
        self._wrap(Path, "write_text", written=0)
        self._wrap(Path, "rename", written=None)
        self._wrap(Path, "replace", written=None)
        self._wrap(Path, "mkdir", written=None)
        self._wrap(Path, "unlink", written=None)
        self._wrap(shutil, "rmtree", written=None)
        self._wrap(atomic, "sync_file", written=None, syncs=True)

    def _wrap(self, owner: Any, name: str, *, written: int | None, syncs: bool = False) -> None:
        original = getattr(owner, name)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            path = Path(arguments[written]) if written is not None else Path(arguments[0]) if syncs else None
            watched = any("checkpoints" in str(argument) for argument in arguments)
            if watched:
                self._count(arguments)
            result = original(*arguments, **named)
            if watched and path is not None and path.is_file():
                (self.unsynced.discard if syncs else self.unsynced.add)(path.stat().st_ino)
            return result

        setattr(owner, name, wrapped)

    def _count(self, arguments: Any) -> None:
        self.calls += 1
        for argument in arguments:
            parts = Path(argument).parts if isinstance(argument, str | Path) else ()
            if "checkpoints" in parts:
                self.folder = Path(*parts[: parts.index("checkpoints") + 1])
        if self.calls == self.at:
            self._lose()
            os.kill(os.getpid(), signal.SIGKILL)

    def _lose(self) -> None:
        """Half of every file that no fsync has reached is gone."""
        assert self.folder is not None
        for path in self.folder.rglob("*") if self.folder.exists() else ():
            if path.is_file() and path.stat().st_ino in self.unsynced:
                os.truncate(path, path.stat().st_size // 2)


def plant(fault: str) -> None:
    """The mistakes that a test of exact resume has to catch."""
    match fault:
        case "random numbers not restored":
            trainer.seed_of = lambda seed, step: int.from_bytes(os.urandom(4))  # type: ignore[assignment]
        case "data position lost":
            original = trainer.Trainer.resume

            def resume(self: Any) -> bool:
                found = original(self)
                self.progress = trainer.replace(self.progress, batch=0)
                return found

            trainer.Trainer.resume = resume  # type: ignore[method-assign]
        case "optimiser state lost":
            optimizer.Optimizer.load = lambda self, tensors: None  # type: ignore[method-assign]
        case "optimiser step lost":
            whole = optimizer.Optimizer.load

            def load(self: Any, tensors: Any) -> None:
                whole(self, {k: v.zero_() if k.endswith(":step") else v for k, v in tensors.items()})

            optimizer.Optimizer.load = load  # type: ignore[method-assign]
        case "moving average lost":
            optimizer.Average.load = lambda self, tensors: None  # type: ignore[method-assign]
        case "renamed before synced":
            atomic.sync_file = lambda path: None  # type: ignore[assignment]
        case "no checksum":
            checkpoint.check = lambda path: None  # type: ignore[assignment]
        case _:
            raise AssertionError(fault)
