"""Both trainings at the same time: a process with one thread each, and a pipe through which it says how it goes."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from seq2see import atomic
from seq2see.demo.plan import FAMILIES, Family, Plan
from seq2see.errors import RunError, Seq2SeeError
from seq2see.processes import interrupts_blocked
from seq2see.runs import folder
from seq2see.runs.checkpoint import Progress
from seq2see.training.loop import Update, Validation
from seq2see.training.reporting import Speed

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


Report = News | Note | TrainingFailure
Listener = Callable[[Family, News | Note], None]


def untrained(plan: Plan) -> list[Family]:
    return [family for family in FAMILIES if not folder.is_finished(plan.run(family))]


def train_both(plan: Plan, listener: Listener) -> None:
    """Trains what is not trained yet; what was interrupted goes on. Leaves no process behind, however it ends."""
    with _processes(plan, untrained(plan)) as running:
        while running:
            ready = wait(list(running))
            for pipe in [pipe for pipe in running if pipe in ready]:
                family, process = running[pipe]
                try:
                    report: Report = pipe.recv()
                except EOFError:
                    del running[pipe]
                    _check_end(plan, family, process)
                    continue
                if isinstance(report, TrainingFailure):
                    raise RunError(f"{family}: {report.text}")
                listener(family, report)


def _check_end(plan: Plan, family: Family, process: BaseProcess) -> None:
    process.join()
    if not folder.is_finished(plan.run(family)):
        raise RunError(
            f"{family}: its training ended without a word (exit code {process.exitcode}), perhaps for want of memory"
        )


@contextmanager
def _processes(plan: Plan, families: list[Family]) -> Iterator[dict[Connection, tuple[Family, BaseProcess]]]:
    """The running trainings by their pipes. Ctrl-C is heard here alone: a training is asked to stop by SIGTERM."""
    context = get_context("spawn")
    processes: list[BaseProcess] = []
    running: dict[Connection, tuple[Family, BaseProcess]] = {}
    try:
        for family in families:
            _sweep(plan.run(family))
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(
                target=_train, args=(plan.settings(family), plan.run(family), theirs), daemon=True
            )
            with interrupts_blocked():
                process.start()
            theirs.close()
            processes.append(process)
            running[ours] = family, process
        yield running
    finally:
        _stop(processes)


def _sweep(run: Path) -> None:
    """What a training leaves that was killed before it could be resumed."""
    if run.exists() and not (run / folder.CONFIG).exists():
        atomic.remove_folder(run)


def _stop(processes: list[BaseProcess]) -> None:
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


# ----- inside a training process


class _PipeReporter:
    """Implements training.reporting.RunReporter: everything goes into the pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._sent = 0.0
        self._speed = Speed()
        self._unsent: News | None = None

    def total(self, steps: int) -> None: ...

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
            self._pipe.send(self._unsent)
            self._unsent, self._sent = None, time.monotonic()

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None: ...

    def message(self, text: str) -> None:
        self._pipe.send(Note(text))


def _train(settings: Mapping[str, Any], out: Path, pipe: Connection) -> None:
    signal.signal(signal.SIGTERM, _leave)
    from seq2see.training.run import new_config, train_run

    reporter = _PipeReporter(pipe)
    try:
        if (out / folder.CONFIG).exists():
            ended = train_run(folder.training_config(out), out, reporter, resume=True)
        else:
            ended = train_run(new_config(settings), out, reporter)
        reporter.flush()
        if ended.interrupted:  # by us, who do not listen any more, or by somebody else
            pipe.send(
                TrainingFailure(f"was stopped from outside at step {ended.progress.step}; the same command goes on")
            )
    except Seq2SeeError as error:
        pipe.send(TrainingFailure(str(error)))
    except BrokenPipeError:  # the demo is gone, and with it the one who wanted to know
        raise SystemExit(1) from None


def _leave(number: int, frame: FrameType | None) -> None:
    """Before the first update: an exception, so that what was begun is swept up. Later training has its own way."""
    raise SystemExit(1)
