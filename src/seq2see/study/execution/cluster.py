"""The same cells on a Ray cluster (the extra `scale`): a task each, started again when its worker dies.

Run folders lie in the folder of the study, which is to be one that all machines see at the same place; a cell that is
started again goes on from its newest checkpoint there. Data files are read by the names that the study gives them.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seq2see.cluster import connected
from seq2see.errors import Seq2SeeError
from seq2see.study.execution.cell_run import CellJob, CellOutcome, run_cell
from seq2see.study.execution.pool import Hear
from seq2see.training.process import News, Note, TrainingFailure

_RETRIES = 3  # of a cell whose worker dies
_SECONDS = 0.5  # between two looks at the board
_OPEN = 2  # tasks for each processor that are handed to Ray at once: a stop does not leave a long queue behind


class ReportBoard:
    """An actor: workers pin what they are doing to it, the first process reads it."""

    def __init__(self) -> None:
        self._reports: dict[str, tuple[Any, ...]] = {}

    def pin(self, name: str, kind: str, fields: tuple[Any, ...], process: int) -> None:
        self._reports[name] = (kind, fields, process)

    def read(self) -> dict[str, tuple[Any, ...]]:
        return dict(self._reports)


def run_on_ray(jobs: Sequence[CellJob], address: str, at_once: int | None, hear: Hear) -> None:
    """`address`: `local` starts Ray here with `at_once` workers; else that of a cluster, which decides by itself."""
    with connected(address, at_once) as ray:
        board = ray.remote(num_cpus=0)(ReportBoard).remote()
        task = ray.remote(num_cpus=1, max_retries=_RETRIES, max_calls=1)(_work)
        most = _OPEN * max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting = list(jobs)
        running: dict[Any, CellJob] = {}
        while waiting or running:
            while waiting and len(running) < most:
                job = waiting.pop(0)
                running[task.remote(job, board, str(Path.cwd()))] = job
            ready, _ = ray.wait(list(running), timeout=_SECONDS)
            _tell(ray.get(board.read.remote()), running.values(), hear)
            for reference in ready:
                hear(running.pop(reference), _outcome(ray, reference))


def _work(job: CellJob, board: Any, place: str) -> CellOutcome | TrainingFailure:
    """In a worker. Our errors are no reason to try again, and are handed back; a worker that dies is one.

    place   the folder that the names of files begin from
    """

    def send(report: News | Note) -> None:
        board.pin.remote(job.name, type(report).__name__, tuple(report), os.getpid())

    send(Note("started"))
    try:
        os.chdir(place)
    except OSError as error:
        return TrainingFailure(f"{place}: is not there on a machine of the cluster ({error.strerror})")
    for _ in range(20):  # the worker that died may hold the lock of the folder for a moment
        try:
            return run_cell(job, send)
        except Seq2SeeError as error:
            if "another training is running" not in str(error):
                return TrainingFailure(str(error))
            time.sleep(0.5)
    return TrainingFailure(f"{job.name}: another training is running in its folder")


def _tell(reports: dict[str, tuple[Any, ...]], jobs: Any, hear: Hear) -> None:
    for job in list(jobs):
        if job.name in reports:
            kind, fields, _ = reports[job.name]
            hear(job, News(*fields) if kind == "News" else Note(*fields))


def _outcome(ray: Any, reference: Any) -> CellOutcome | TrainingFailure:
    try:
        outcome: CellOutcome | TrainingFailure = ray.get(reference)
        return outcome
    except ray.exceptions.RayError as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        return TrainingFailure(f"its worker died {_RETRIES + 1} times, or could not start ({first[:200]})")
