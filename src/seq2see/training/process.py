"""A training in a process of its own: begun, or gone on with, and what it sends to whoever started it."""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from seq2see import atomic
from seq2see.runs import folder
from seq2see.runs.checkpoint import Progress
from seq2see.runs.claim import wait_until_free
from seq2see.training.loop.task import Ended, Update, Validation
from seq2see.training.reporting import Speed
from seq2see.training.run import new_config, train_run

_OFTEN = 0.2  # seconds between two lines of news
_PATIENCE = 30.0  # seconds that a training may take to save itself


class News(NamedTuple):
    """How far a training is."""

    step: int
    total: int
    loss: float
    speed: float  # target tokens a second


class Note(NamedTuple):
    """What it is doing before that."""

    text: str


class TrainingFailure(NamedTuple):
    """Why it cannot go on."""

    text: str


Send = Callable[[News | Note], None]


class SendingReporter:
    """Implements training.reporting.RunReporter: everything is sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._sent = 0.0
        self._speed = Speed()
        self._unsent: News | None = None

    def total(self, steps: int, *, at_most: bool = False) -> None: ...

    def counting(self, what: str) -> Callable[[int], None]:
        self.message(what)
        return lambda pairs: None

    def update(self, update: Update, progress: Progress) -> None:
        self._unsent = News(update.step, progress.total, update.loss, self._speed.add(update))
        if time.monotonic() - self._sent > _OFTEN:
            self.flush()

    def flush(self) -> None:
        """Sends the last update, also when the clock ended training before the last planned one."""
        if self._unsent is not None:
            self._send(self._unsent)
            self._unsent, self._sent = None, time.monotonic()

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None: ...

    def message(self, text: str) -> None:
        self._send(Note(text))


def train_or_resume(settings: Mapping[str, Any], out: Path, send: Send) -> Ended:
    """Begins the run, or goes on with it where it was stopped."""
    reporter = SendingReporter(send)
    wait_until_free(out, _PATIENCE)
    sweep(out)
    if (out / folder.CONFIG).exists():
        ended = train_run(folder.training_config(out), out, reporter, resume=True)
    else:
        ended = train_run(new_config(settings), out, reporter)
    reporter.flush()
    return ended


def sweep(run: Path) -> None:
    """Takes away what a training leaves that was killed before it could be resumed."""
    if run.exists() and not (run / folder.CONFIG).exists():
        atomic.remove_folder(run)


def leave_on_sigterm() -> None:
    """SIGTERM before the first update is an exception, so that what was begun is swept up. Training has its own way."""
    signal.signal(signal.SIGTERM, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(1)


def stop_processes(processes: Sequence[BaseProcess]) -> None:
    """Asks them to save and end; who cannot, or is not let, is ended."""
    try:
        for process in processes:
            process.terminate()
        end = time.monotonic() + _PATIENCE
        for process in processes:
            process.join(max(0.0, end - time.monotonic()))
    finally:
        for process in processes:
            process.kill()
            process.join()
