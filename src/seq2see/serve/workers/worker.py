"""A model process: batches and questions come in through a pipe, answers go out, until nobody is there any more.

One thread: the process is one of several, and a product of small matrices is no faster on two cores.
"""

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Protocol, cast

from seq2see.errors import Seq2SeeError
from seq2see.processes import end_with_parent
from seq2see.serve.api.requests import SearchOptions, ServedRun, TextJob

if TYPE_CHECKING:
    from seq2see.engines import EngineChoice

_NICE = 3  # so that the HTTP process answers at once, however busy the cores are with models

Cancelled = Callable[[], bool]
"""Asked once a step of a search: whether nobody waits for the answer any more."""


class ModelHost(Protocol):
    """What lives in a model process: `answers.Models`, or a stand-in in tests."""

    def translate(
        self, run: str, requests: Sequence[TextJob], search: SearchOptions, cancelled: Cancelled | None = None
    ) -> list[dict[str, Any]]: ...

    def answer(self, request: Any) -> dict[str, Any]: ...

    def describe(self) -> list[dict[str, Any]]: ...


MakeHost = Callable[[], ModelHost]
"""Travels to the new process by its name, so it is a function of a module or a partial of one."""


@dataclass(frozen=True)
class TextBatch:
    """Texts of one run that are searched together."""

    number: int
    run: str
    jobs: tuple[TextJob, ...]
    search: SearchOptions


@dataclass(frozen=True)
class Question:
    """Anything else: a request of our API, answered by itself."""

    number: int
    request: Any


@dataclass(frozen=True)
class HostLoaded:
    """The first word of a worker."""

    runs: list[dict[str, Any]]


@dataclass(frozen=True)
class Answered:
    """One value for each text of a batch, or one for a question; how long it took."""

    values: list[dict[str, Any]]
    seconds: float


@dataclass(frozen=True)
class Declined:
    """It cannot be answered, and whoever asked can put it right."""

    text: str


@dataclass(frozen=True)
class Crashed:
    """A mistake of ours; the process lives on, its standard error has the traceback."""

    text: str


Answer = Answered | Declined | Crashed


def load_models(runs: tuple[ServedRun, ...], engine: str) -> ModelHost:
    """The real ones. Imported here, in the model process: the HTTP process has no torch."""
    from seq2see.serve.api.answers import Models

    return Models(runs, cast("EngineChoice", engine))  # `load` checks the name


def work(pipe: Connection, make_host: MakeHost, cancelled: Any) -> None:
    """cancelled: a shared number, that of the batch which nobody waits for any more."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the HTTP process ends it, when everything is answered
    end_with_parent()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        host = make_host()
        pipe.send(HostLoaded(host.describe()))
    except Seq2SeeError as error:
        pipe.send(Declined(str(error)))
        return
    except Exception as error:
        traceback.print_exc()
        pipe.send(Crashed(f"{type(error).__name__}: {error}"))
        return
    os.nice(_NICE)  # not before: a busy machine would make everybody wait for the models
    with contextlib.suppress(EOFError, BrokenPipeError, OSError):
        while True:
            message: TextBatch | Question = pipe.recv()
            pipe.send(_answer(host, message, cancelled))


def _answer(host: ModelHost, message: TextBatch | Question, cancelled: Any) -> Answer:
    start = time.perf_counter()
    try:
        match message:
            case TextBatch(number, run, jobs, search):
                values = host.translate(run, jobs, search, lambda: cancelled.value == number)
            case Question(_, request):
                values = [host.answer(request)]
        return Answered(values, time.perf_counter() - start)
    except Seq2SeeError as error:
        return Declined(str(error))
    except Exception as error:
        if cancelled.value == message.number:
            return Declined("cancelled")
        traceback.print_exc()
        sys.stderr.flush()
        return Crashed(type(error).__name__)
