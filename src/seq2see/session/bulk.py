"""Many texts on all cores: one process with one thread on each, fed in order, emptied in order, memory flat.

Threads inside one small matrix product wait for each other more than they work; whole batches in processes do not.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import torch

from seq2see.engines import EngineName
from seq2see.errors import RunError, Seq2SeeError
from seq2see.search import SearchConfig
from seq2see.session.loading import load
from seq2see.session.translation import Request, Translation, no_map
from seq2see.session.translator import Translator

CHUNK = 1024  # requests that a worker takes at once: sorted by length among themselves
_AHEAD = 2  # chunks that wait for each worker

_translator: Translator | None = None  # of a worker process


def cores() -> int:
    """Those this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def translate_bulk(
    paths: Sequence[Path],
    requests: Iterable[Request],
    search: SearchConfig,
    *,
    workers: int,
    engine: EngineName = "torch",
    agree: bool = False,
    chunk: int = CHUNK,
) -> Iterator[Translation]:
    """One Translation for each request, in order, without their maps: those of a worker stay in the worker."""
    feed = _chunks(requests, workers, chunk)
    waiting: deque[Future[list[Translation]]] = deque()
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin, (list(paths), engine))
    try:
        while True:
            while len(waiting) < workers * _AHEAD and (given := next(feed, None)):
                waiting.append(pool.submit(_work, given, search, agree))
            if not waiting:
                return
            yield from waiting.popleft().result()
    except BrokenProcessPool:
        raise RunError("a worker process ended without a word, perhaps for want of memory; try --workers 1") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _chunks(requests: Iterable[Request], workers: int, chunk: int) -> Iterator[list[Request]]:
    """Of few requests every worker gets its share."""
    feed = iter(requests)
    first = list(islice(feed, workers * chunk))
    share = max(1, -(-len(first) // workers))
    yield from (first[start : start + share] for start in range(0, len(first), share))
    while given := list(islice(feed, chunk)):
        yield given


def _begin(paths: list[Path], engine: EngineName) -> None:
    global _translator
    torch.set_num_threads(1)
    _translator = load(paths, engine=engine, say=lambda _: None)  # the first process has told it, and made it


def _work(requests: list[Request], search: SearchConfig, agree: bool) -> list[Translation]:
    assert _translator is not None
    try:
        found = _translator.translate_all(requests, search, agree=agree, window=len(requests))
        return [detached(one) for one in found]
    except Seq2SeeError as error:
        raise RunError(str(error)) from None  # our errors with arguments of their own cannot travel


def detached(translation: Translation) -> Translation:
    """The same without the way to its map, which cannot leave its process."""
    best = replace(translation, nbest=(), parts=(), look=no_map)
    return replace(best, nbest=tuple(replace(one, nbest=(), parts=(), look=no_map) for one in translation.nbest))
