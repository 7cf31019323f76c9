"""Many texts on all cores: one process with one thread on each, fed in order, emptied in order, memory flat.

Threads inside one small matrix product wait for each other more than they work; whole batches in processes do not.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

import torch

from seq2see.engines import EngineChoice
from seq2see.errors import ConfigError, RunError, Seq2SeeError
from seq2see.processes import cores, end_with_parent, interrupts_blocked
from seq2see.search import SearchConfig
from seq2see.session.loading import load
from seq2see.session.translation import Request, Translation, detached
from seq2see.session.translator import in_order
from seq2see.text import normalise

CHUNK = 1024  # requests that a worker takes at once: sorted by length among themselves
_AHEAD = 2  # chunks for each worker that are taken before the first of them is whole: what memory holds
_WORTH_WORKERS = 100_000  # bytes of text; starting a process takes seconds
_SECONDS = 0.2  # between two messages of a worker

Finished = list[tuple[int, Translation]]
"""Some of a chunk, each with its place in it."""


class WorkerFailure(NamedTuple):
    """Why a worker cannot go on."""

    text: str


def translate_bulk(
    paths: Sequence[Path],
    requests: Iterable[Request],
    search: SearchConfig,
    *,
    workers: int,
    engine: EngineChoice = "torch",
    shortlist: bool = False,
    agree: bool = False,
    chunk: int = CHUNK,
) -> Iterator[Translation]:
    """One Translation for each request, in order, without their maps: those of a worker stay in the worker."""
    finished = translate_unordered(
        paths, requests, search, workers=workers, engine=engine, shortlist=shortlist, agree=agree, chunk=chunk
    )
    return in_order(finished)


def translate_unordered(
    paths: Sequence[Path],
    requests: Iterable[Request],
    search: SearchConfig,
    *,
    workers: int,
    engine: EngineChoice = "torch",
    shortlist: bool = False,
    agree: bool = False,
    need_scores: bool = True,
    chunk: int = CHUNK,
) -> Iterator[tuple[int, Translation]]:
    """(place among the requests, translation), each soon after it is finished. Leaves no process behind.

    shortlist            as of `load`, which has made it
    agree, need_scores   as of `Translator.translate_unordered`
    """
    if workers < 1:
        raise ConfigError(f"workers = {workers}: at least one is needed")
    settings = list(paths), engine, shortlist, search, agree, need_scores
    team: list[_Worker] = []
    feed, following = _chunks(requests, workers, chunk), 0
    try:
        while True:
            busy = [worker for worker in team if worker.lacking]
            idle = [worker for worker in team if not worker.lacking]
            oldest = min((worker.first for worker in busy), default=following)
            taken = []
            while len(busy) < workers and following - oldest < workers * _AHEAD * chunk:
                if not (requested := next(feed, None)):
                    break
                if not idle:  # of few requests there are few workers
                    idle.append(_Worker(settings))
                    team += idle
                busy.append(idle.pop())
                taken.append((busy[-1], following, requested))
                following += len(requested)
            for worker, first, requested in taken:  # when all are started: one that is not ready yet is waited for
                worker.take(first, requested)
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe in ready:
                    yield from worker.finished()
    finally:
        for worker in team:
            worker.process.kill()  # it holds nothing that could be lost
        for worker in team:
            worker.process.join()
            worker.pipe.close()


def translate_texts(
    paths: Sequence[Path],
    texts: Sequence[str],
    search: SearchConfig,
    *,
    workers: int | None = None,
    advance: Callable[[int], None] = lambda done: None,
) -> list[str]:
    """An output for each text, in order, in the normal form that references are read in.

    workers   processes; if not given, all cores where there is enough to do
    advance   is told how many more are done
    """
    large = sum(len(text.encode()) for text in texts) >= _WORTH_WORKERS
    workers = workers or (cores() if large else 1)
    if workers == 1:
        torch.set_num_threads(1)
        translations = load(paths, engine="torch").translate_all(texts, search, window=256)
    else:
        load(paths, engine="torch")  # complains here about a run that is damaged, rather than in every process
        requests = (Request(text, number=number) for number, text in enumerate(texts))
        chunk = max(32, min(512, len(texts) // (4 * workers)))
        translations = translate_bulk(paths, requests, search, workers=workers, chunk=chunk)
    outputs = []
    for translation in translations:
        outputs.append(normalise(translation.text))
        advance(1)
    return outputs


class _Worker:
    """A process that translates a chunk at a time."""

    def __init__(self, settings: tuple[list[Path], EngineChoice, bool, SearchConfig, bool, bool]) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, *settings), daemon=True)
        with interrupts_blocked():
            self.process.start()
        theirs.close()
        self.first = 0  # place of the first request of its chunk
        self.lacking = 0  # translations of it that have not come back

    def take(self, first: int, requests: list[Request]) -> None:
        """Only while it has none: it is listening then, and a chunk may be more than a pipe holds."""
        self.first, self.lacking = first, len(requests)
        try:
            self.pipe.send(requests)
        except OSError:
            raise _gone() from None

    def finished(self) -> Iterator[tuple[int, Translation]]:
        try:
            message: Finished | WorkerFailure = self.pipe.recv()
        except (EOFError, OSError):
            raise _gone() from None
        if isinstance(message, WorkerFailure):
            raise RunError(message.text)
        self.lacking -= len(message)
        yield from ((self.first + place, translation) for place, translation in message)


def _gone() -> RunError:
    return RunError("a worker process ended without a word, perhaps for want of memory; try --workers 1")


def _chunks(requests: Iterable[Request], workers: int, chunk: int) -> Iterator[list[Request]]:
    """Of few requests every worker gets its share."""
    feed = iter(requests)
    first = list(islice(feed, workers * chunk))
    share = max(1, -(-len(first) // workers))
    yield from (first[start : start + share] for start in range(0, len(first), share))
    while requested := list(islice(feed, chunk)):
        yield requested


def _work(
    pipe: Connection,
    paths: list[Path],
    engine: EngineChoice,
    shortlist: bool,
    search: SearchConfig,
    agree: bool,
    need_scores: bool,
) -> None:
    """A worker: chunks come in, translations go out as batches are finished, until nobody is there any more."""
    end_with_parent()
    torch.set_num_threads(1)
    try:
        translator = load(
            paths, engine=engine, shortlist=shortlist, say=lambda _: None
        )  # the first process has told it, and made it
        while True:
            done: Finished = []
            sent = time.monotonic()
            finished = translator.translate_unordered(pipe.recv(), search, agree=agree, need_scores=need_scores)
            for place, translation in finished:
                done.append((place, detached(translation)))
                if time.monotonic() - sent > _SECONDS:
                    pipe.send(done)
                    done, sent = [], time.monotonic()
            if done:
                pipe.send(done)
    except (EOFError, BrokenPipeError):
        return
    except Seq2SeeError as error:
        pipe.send(WorkerFailure(str(error)))  # our errors with arguments of their own cannot travel
