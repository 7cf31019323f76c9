"""Both trainings at the same time: a process with one thread each, and a pipe through which it says how it goes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from seq2see.demo.plan import FAMILIES, Family, Plan
from seq2see.errors import RunError, Seq2SeeError
from seq2see.processes import interrupts_blocked
from seq2see.runs import folder
from seq2see.training.process import (
    News,
    Note,
    TrainingFailure,
    leave_on_sigterm,
    stop_processes,
    sweep,
    train_or_resume,
)

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
            sweep(plan.run(family))
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
        stop_processes(processes)


# ----- inside a training process


def _train(settings: Mapping[str, Any], out: Path, pipe: Connection) -> None:
    leave_on_sigterm()
    try:
        ended = train_or_resume(settings, out, pipe.send)
        if ended.interrupted:  # by us, who do not listen any more, or by somebody else
            pipe.send(
                TrainingFailure(f"was stopped from outside at step {ended.progress.step}; the same command goes on")
            )
    except Seq2SeeError as error:
        pipe.send(TrainingFailure(str(error)))
    except BrokenPipeError:  # the demo is gone, and with it the one who wanted to know
        raise SystemExit(1) from None
