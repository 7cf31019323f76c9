"""Cells side by side on this machine: a process with one thread each, as many at once as there are jobs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from seq2see.errors import Seq2SeeError
from seq2see.processes import end_with_parent, interrupts_blocked
from seq2see.study.execution.cell_run import CellJob, CellOutcome, run_cell
from seq2see.training.process import News, Note, TrainingFailure, leave_on_sigterm, stop_processes

CellReport = News | Note | TrainingFailure | CellOutcome
Hear = Callable[[CellJob, CellReport], None]


class RunningCell(NamedTuple):
    job: CellJob
    process: BaseProcess


def run_local(jobs: Sequence[CellJob], at_once: int, hear: Hear) -> None:
    """`hear` is told of each cell how far it is, then its outcome or why there is none. Leaves no process behind."""
    waiting = list(jobs)
    with _ended() as running:
        while waiting or running:
            while waiting and len(running) < at_once:
                job = waiting.pop(0)
                pipe, process = _start(job)
                running[pipe] = RunningCell(job, process)
            ready = wait(list(running))
            for pipe in [pipe for pipe in running if pipe in ready]:
                cell = running[pipe]
                try:
                    report: CellReport = pipe.recv()
                except (EOFError, OSError):
                    report = _silent_end(cell.process)
                if isinstance(report, CellOutcome | TrainingFailure):
                    del running[pipe]
                    pipe.close()
                    cell.process.join()
                hear(cell.job, report)


@contextmanager
def _ended() -> Iterator[dict[Connection, RunningCell]]:
    """Cells by their pipes. Ctrl-C is heard here alone: a cell is asked to save and stop by SIGTERM."""
    running: dict[Connection, RunningCell] = {}
    try:
        yield running
    finally:
        stop_processes([cell.process for cell in running.values()])


def _start(job: CellJob) -> tuple[Connection, BaseProcess]:
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(job, theirs), daemon=True, name=job.name)
    with interrupts_blocked():
        process.start()
    theirs.close()
    return ours, process


def _silent_end(process: BaseProcess) -> TrainingFailure:
    process.join()
    return TrainingFailure(
        f"its process ended without a word (exit code {process.exitcode}), perhaps for want of memory"
    )


def _work(job: CellJob, pipe: Connection) -> None:
    end_with_parent()
    leave_on_sigterm()
    try:
        pipe.send(run_cell(job, pipe.send))
    except Seq2SeeError as error:  # or it was asked to stop, by us who do not listen any more, or by somebody else
        pipe.send(TrainingFailure(str(error)))
    except BrokenPipeError:
        raise SystemExit(1) from None
