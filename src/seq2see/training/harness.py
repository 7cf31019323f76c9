"""The one path from settings to a finished run folder, whatever is trained.

    claim      the folder is ours alone
    begin      tokenizers (of a voice: letters) and config.json; from here on the run can be resumed
    inputs     the data files are what they were
    make       stores, model, task
    resume     the newest checkpoint, if there is one
    plan       a few updates are timed: how many there will be
    train      the loop
    finish     weights and manifest

What differs between text and voice is a `TaskSetup`: training/run.py, speech/training.py.
"""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple, Protocol, TypeVar

import torch
from torch import distributed

from seq2see.errors import ConfigError, RunError
from seq2see.models import parameters
from seq2see.progress import duration
from seq2see.runs import folder, inputs
from seq2see.runs.checkpoint import Progress
from seq2see.runs.claim import beginning, claimed
from seq2see.runs.config import RunConfig, TrainingConfig
from seq2see.runs.inputs import Input
from seq2see.training.loop.clock import clock_of
from seq2see.training.loop.plan import fitted, may_end_early, plan_updates, remember_plan
from seq2see.training.loop.task import Ended, Task
from seq2see.training.loop.trainer import Trainer
from seq2see.training.parallel.group import Follow, Launched, LaunchedGroup, LocalGroup
from seq2see.training.reporting import RunReporter, memory

TaskType = TypeVar("TaskType", bound=Task[Any])


class Estimate(NamedTuple):
    """What timing a few updates has shown."""

    most: int  # updates, by steps or epochs
    per_epoch: int
    seconds: float  # of one update
    threads: int


class TaskSetup(Protocol[TaskType]):
    """What text and voice do each in their own way."""

    @property
    def pairs(self) -> Mapping[str, bytes]:
        """Data files that are not on the disk yet, by name: they are kept in the run folder."""

    @property
    def listed(self) -> Sequence[str]:
        """The files of a finished run that its manifest vouches for."""

    @property
    def update_share(self) -> float:
        """Of a time limit, for updates; the rest is for validations."""

    @property
    def follow(self) -> Follow | None:
        """What the other processes of a group do; None: it is trained in one process."""

    def begin(self, config: RunConfig, out: Path) -> RunConfig:
        """Writes what the run consists of before its first update; config.json last."""

    def files(self, config: RunConfig) -> list[Path]:
        """The data files."""

    def make_task(self, config: RunConfig, out: Path, files: Sequence[Input], device: torch.device) -> TaskType: ...

    def estimate(self, task: TaskType, config: TrainingConfig, progress: Progress) -> Estimate:
        """Times a few updates without changing anything; sets torch's threads."""

    def settle(self, task: TaskType, total: int) -> None:
        """How many updates there will be is known."""


def run_task(
    setup: TaskSetup[TaskType],
    config: RunConfig,
    out: Path,
    reporter: RunReporter,
    *,
    resume: bool,
    changed_data: bool = False,
    plan_only: bool = False,
) -> Ended:
    """Trains into `out`; with `resume` goes on from its newest checkpoint, bit by bit the same.

    changed_data   a resumed run goes on although its data has changed or is gone
    plan_only      says what it would do, and trains nothing
    """
    clock = clock_of(config.training)
    began = clock()
    device = choose_device(config.training)  # said before anything is written
    _check_processes(setup, config.training, device)
    with restored_torch(), claimed(out, reporter.message, resume=resume, pairs=setup.pairs):
        with beginning(out, fresh=not resume, pairs=setup.pairs):
            config = inputs.located(config, out)
            if not resume:
                config = setup.begin(config, out)
            files = inputs.check(out, setup.files(config), reporter.message, accept=changed_data)
            task = setup.make_task(config, out, files, device)
            inputs.check_unchanged(files)
        with Stop() as stop:
            trainer = Trainer[Any](task, config.training, out, reporter, stop)
            if resume:
                _take_up(trainer, out)
            elif (limit := config.training.time_limit) is not None:  # it is for the whole, reading the pairs included
                trainer.progress = replace(trainer.progress, seconds=min(clock() - began, limit / 2))
            total, threads = _plan(setup, task, config, out, trainer.progress, device, reporter)
            if plan_only:
                return Ended(trainer.progress, False, "planned")
            _remember(config, out, threads, total, files)
            reporter.total(total, at_most=may_end_early(config.training, total))
            ended = _train(setup, trainer, config.training, out, total)
        if not ended.interrupted:
            folder.finish(out, task.model.to("cpu"), setup.listed)
        return ended


def _train(setup: TaskSetup[TaskType], trainer: Trainer[Any], config: TrainingConfig, out: Path, total: int) -> Ended:
    """In this process alone, or as the first of several."""
    if config.processes == 1:
        return trainer.train(total)
    launched = Launched.read()
    assert setup.follow is not None
    together: LaunchedGroup | LocalGroup = (
        LaunchedGroup(launched)
        if launched is not None
        else LocalGroup(out, config.processes, setup.follow, trainer.reporter.message)
    )
    with together as group:
        trainer.join(group, together.restart)
        return trainer.train(total)


@contextmanager
def restored_torch() -> Iterator[None]:
    """Seeds and threads, which torch keeps for the whole process, may be set in here; afterwards they are as before."""
    threads = torch.get_num_threads()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        torch.set_num_threads(threads)


def _check_processes(setup: TaskSetup[Any], config: TrainingConfig, device: torch.device) -> None:
    if config.processes > 1 and setup.follow is None:
        raise ConfigError(f"training.processes = {config.processes}: a voice is trained in one process")
    on_own_gpus = device.type == "cuda" and Launched.read() is not None
    if config.processes > 1 and device.type != "cpu" and not on_own_gpus:
        how = "; torchrun starts one for each GPU" if device.type == "cuda" else ""
        raise ConfigError(f"training.processes = {config.processes} is for the CPU; {device.type} has one process{how}")
    if config.processes > 1 and not distributed.is_available():
        raise ConfigError("training.processes: this torch was built without torch.distributed")


def _take_up(trainer: Trainer[Any], out: Path) -> None:
    """The newest checkpoint. A run that has none yet starts at step 0; one that has finished never does."""
    if trainer.resume():
        return
    if folder.is_finished(out):
        raise RunError(
            f"{out}: has finished, and its checkpoints are gone, so it cannot be trained on; a model of text can start "
            f"from its weights by --from {out}"
        )
    trainer.reporter.message("there is no checkpoint yet: training starts at step 0")


def _plan(
    setup: TaskSetup[TaskType],
    task: TaskType,
    config: RunConfig,
    out: Path,
    progress: Progress,
    device: torch.device,
    reporter: RunReporter,
) -> tuple[int, int]:
    """How many updates there will be, and on how many threads; says what is coming."""
    training, before = config.training, folder.training_config(out).training
    most, per_epoch, seconds, threads = setup.estimate(task, training, progress)
    total = plan_updates(
        out,
        training,
        before,
        progress,
        most=most,
        cost=seconds,
        share=setup.update_share,
        say=reporter.message,
    )
    setup.settle(task, total)
    at_most = "at most " if may_end_early(training, total) else ""
    reporter.message(
        f"{config.model['family']} with {parameters(task.model):,} parameters on {device.type}, "
        f"{_workers(training.processes, threads)}, {memory():,.0f} MB; "
        f"{at_most}{total:,} updates{fitted(total, most)} ({total / per_epoch:.1f} epochs), "
        f"{at_most or 'about '}{duration(max(0, total - progress.step) * seconds)}"
    )
    return total, threads


def _workers(processes: int, threads: int) -> str:
    if processes > 1:
        return f"{processes} processes"
    return f"{threads} thread{'s' if threads > 1 else ''}"


def _remember(config: RunConfig, out: Path, threads: int, total: int, files: Sequence[Input]) -> None:
    """From here on a run that is killed goes on by the same settings, threads and plan, on the same data.

    The plan comes first: it counts only for the settings it was made for.
    """
    remember_plan(out, config.training, total)
    training = config.training.model_copy(update={"threads": threads})
    folder.remember(out, config.model_copy(update={"training": training}))
    inputs.remember(out, files)


def choose_device(config: TrainingConfig) -> torch.device:
    if config.device != "auto":
        available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        if not available[config.device]:
            raise ConfigError(f"training.device = {config.device} is not available here; use cpu or auto")
        return _own_gpu() if config.device == "cuda" else torch.device(config.device)
    if torch.cuda.is_available():
        return _own_gpu()
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _own_gpu() -> torch.device:
    """Of processes that torchrun starts on one machine each has its own."""
    return torch.device("cuda" if Launched.read() is None else f"cuda:{os.environ.get('LOCAL_RANK', '0')}")


class Stop:
    """Ctrl-C and SIGTERM ask training to stop after the update at hand; a second Ctrl-C means it."""

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[int, Any] = {}

    def asked(self) -> bool:
        return self._asked

    def __enter__(self) -> "Stop":
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                self._before[number] = signal.signal(number, self._note)
            except ValueError:  # not the main thread, as in a notebook's worker: nobody can press Ctrl-C there
                return self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._asked = True
