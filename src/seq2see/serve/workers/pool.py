"""The model processes, and the one queue in front of them.

    values = await pool.translate("ko-en", [TextJob("나는 학생입니다")], SearchOptions())     batched with others
    value = await pool.answer(LookRequest(...))                                              by itself

An answer does not depend on what else is in its batch. A worker that dies is replaced, and what it had is tried again,
each text by itself; only a text that two workers died of while they had nothing else is refused. So whatever is
accepted is answered, as long as there is a worker again before its deadline; where none can be expected in time,
nothing is accepted.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from seq2see.serve.api.requests import SearchOptions, TextJob
from seq2see.serve.http.refusal import Failed, Overloaded, Refusal, Starting, TooLate, WorkerDied
from seq2see.serve.workers.cache import AnswerCache, answer_key
from seq2see.serve.workers.process import ModelProcess, WorkerGone
from seq2see.serve.workers.queue import BATCH_COST, INTERACTIVE_TEXTS, Lane, Waiting, WaitingLine
from seq2see.serve.workers.worker import Answered, Crashed, Declined, HostLoaded, MakeHost, Question, TextBatch

DEADLINE = 15.0  # seconds: Weblate gives up after 20
QUESTION_DEADLINE = 60.0  # of one map, one beam, one sentence spoken
LONGEST_WAIT = 8.0  # estimated seconds until it is answered; above it a request is refused
MOST_CALLS = 256  # requests at once, waiting or in work
DEATHS = 2  # of workers that had nothing else, before a text is blamed
RESTARTS = (5, 60.0)  # so many in so many seconds are replaced at once
PAUSE = 4.0  # seconds before a further one is: what was accepted still finds it before its deadline
_QUESTION_COST = 400  # characters that a question counts as
_FIRST_RATE = 1500.0  # characters a second and worker, before anything was measured
_ENOUGH = 0.3  # weight of the newest batch in the measured rate


@dataclass
class PoolFigures:
    """What the pool has done, for /metrics."""

    batches: int = 0
    rows: int = 0
    characters: int = 0
    seconds: float = 0.0  # of model processes at work
    waited: float = 0.0  # seconds of all jobs in the queue
    restarts: int = 0
    cached: int = 0
    refused: int = 0
    late: int = 0
    cancelled: int = 0


@dataclass(eq=False)
class _Slot:
    """A place for a worker."""

    process: ModelProcess | None = None
    loaded: bool = False
    expected: float = 0.0  # when its next worker should be loaded, by the monotonic clock
    number: int = -1  # of the batch in work
    batch: list[Waiting] = field(default_factory=list)


class Pool:
    """Lives in one event loop. `start` returns at once; `started` when a worker has loaded every run."""

    def __init__(self, make_host: MakeHost, workers: int, cache: AnswerCache | None = None) -> None:
        self.make_host, self.slots = make_host, [_Slot() for _ in range(workers)]
        self.line, self.cache, self.figures = WaitingLine(), cache or AnswerCache(), PoolFigures()
        self.draining = False
        self.calls = 0
        self.descriptions: list[dict[str, Any]] = []
        self.rate = _FIRST_RATE  # characters a second of one worker
        self.loading = 0.0  # seconds that the newest worker took to load every run
        self._first: asyncio.Future[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._restarts: deque[float] = deque(maxlen=RESTARTS[0] + 1)
        self._numbers = 0

    # ----- from the first process to the last

    def begin(self) -> None:
        """The first process, before there is an event loop: it imports torch while its parent imports FastAPI."""
        self.slots[0].process = ModelProcess(self.make_host)

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._first = loop.create_future()
        self._tasks = [loop.create_task(self._keep(slot, number)) for number, slot in enumerate(self.slots)]

    async def started(self) -> None:
        """Raises what the first worker said, if it cannot load a run."""
        assert self._first is not None
        await asyncio.shield(self._first)

    @property
    def ready(self) -> bool:
        return self._has_started and not self.draining and any(slot.loaded for slot in self.slots)

    @property
    def _has_started(self) -> bool:
        first = self._first
        return first is not None and first.done() and not first.cancelled() and first.exception() is None

    async def close(self) -> None:
        self.draining = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        processes = [slot.process for slot in self.slots if slot.process is not None]
        await asyncio.gather(*(asyncio.to_thread(process.close) for process in processes))
        for slot in self.slots:
            slot.process = None
        for lane in self.line.lanes.values():
            for job in lane:
                job.future.cancel()

    def kill(self) -> None:
        """What is left of the model processes when the event loop is gone."""
        for slot in self.slots:
            if slot.process is not None:
                slot.process.close()
                slot.process = None

    # ----- what is asked

    async def translate(
        self,
        run: str,
        jobs: Sequence[TextJob],
        search: SearchOptions,
        *,
        lane: Lane | None = None,
        seconds: float = DEADLINE,
    ) -> list[dict[str, Any]]:
        """One dictionary for each text, in order. Cancelling this call takes its texts out of the queue."""
        keys = [answer_key(run, job, search) for job in jobs]
        known = [self.cache.get(key) for key in keys]
        lacking = [place for place, value in enumerate(known) if value is None]
        self.figures.cached += len(jobs) - len(lacking)
        if lacking:
            lane = lane or ("interactive" if len(lacking) <= INTERACTIVE_TEXTS else "bulk")
            waiting = [self._waiting(jobs[place], (run, search), _cost(jobs[place]), lane) for place in lacking]
            values = await self._all(waiting, lane, seconds)
            for place, value in zip(lacking, values, strict=True):
                known[place] = value
                self.cache.put(keys[place], value)
        return [value for value in known if value is not None]

    async def answer(self, request: Any, *, seconds: float = QUESTION_DEADLINE) -> dict[str, Any]:
        """One request of our API."""
        waiting = self._waiting(request, None, _QUESTION_COST, "interactive")
        return (await self._all([waiting], "interactive", seconds))[0]

    @property
    def workers(self) -> int:
        """Those that are there, and not still loading."""
        return sum(slot.loaded for slot in self.slots)

    def estimated_wait(self, lane: Lane) -> float:
        """Seconds until a job that comes now would be answered: what is before it, and the batch that it will be in."""
        before = self.line.cost_before(lane)
        working = sum(job.cost for slot in self.slots for job in slot.batch)
        nobody = 0.0 if self.workers else min(slot.expected for slot in self.slots) - time.monotonic()
        wait = (before + working) / (self.rate * max(1, self.workers)) + min(before, BATCH_COST) / self.rate
        return max(0.0, nobody) + wait

    # ----- below: how it is done

    def _waiting(self, payload: Any, key: tuple[str, SearchOptions] | None, cost: int, lane: Lane) -> Waiting:
        future = asyncio.get_running_loop().create_future()
        return Waiting(payload, key, cost, lane, future, since=time.monotonic())

    def _admit(self, lane: Lane) -> None:
        if not self._has_started:  # one that is about to stop has taken this request, and answers it
            raise Starting("the models are being loaded; try again in some seconds")
        self.check_room()
        if (wait := self.estimated_wait(lane)) > LONGEST_WAIT:
            raise self._overloaded(wait - LONGEST_WAIT / 2)

    def check_room(self) -> None:
        """Raises if nothing more is taken. Asked before a request is read: under overload most of the time of the HTTP
        process goes into refusals."""
        if self.calls >= MOST_CALLS:
            raise self._overloaded(1.0)

    def _overloaded(self, seconds: float) -> Overloaded:
        self.figures.refused += 1
        return Overloaded(f"Slowdown: {self.calls} requests are waiting", max(1.0, seconds))

    async def _all(self, waiting: Sequence[Waiting], lane: Lane, seconds: float) -> list[dict[str, Any]]:
        self._admit(lane)
        self.calls += 1
        try:
            for job in waiting:
                self.line.add(job)
            async with asyncio.timeout(seconds):
                return [await job.future for job in waiting]
        except TimeoutError:
            self.figures.late += 1
            raise TooLate(f"not finished within {seconds:.0f} s; try a shorter text, or later") from None
        except asyncio.CancelledError:
            self.figures.cancelled += 1
            raise
        finally:
            self.calls -= 1
            self._abandon(waiting)

    def _abandon(self, waiting: Sequence[Waiting]) -> None:
        """Nobody waits for these any more: they leave the queue, and a batch of nothing else is cut short."""
        # A call that is cancelled has cancelled the future it was waiting for.
        abandoned = [job for job in waiting if not job.future.done() or job.future.cancelled()]
        for job in abandoned:
            job.future.cancel()
            self.line.remove(job)
        for job in waiting:
            if job.future.done() and not job.future.cancelled():
                job.future.exception()  # seen: another one of this call was raised first
        for slot in self.slots if abandoned else ():
            if slot.process is not None and slot.batch and all(job.abandoned for job in slot.batch):
                slot.process.cancelled.value = slot.number

    async def _keep(self, slot: _Slot, number: int) -> None:
        """One worker after the other, for as long as the server runs."""
        if number:  # the first one makes what all of them read, such as the graphs of an engine
            await self.started()
        while True:
            start = time.monotonic()
            slot.expected = start + self.loading
            slot.process = slot.process or await ModelProcess.started(self.make_host)
            try:
                if not await self._load(slot):
                    return
                self.loading = time.monotonic() - start
                await self._serve(slot)
            except WorkerGone:
                pass
            slot.loaded = False
            slot.expected = time.monotonic() + self._pause() + self.loading
            await asyncio.to_thread(slot.process.close)
            slot.process = None
            await asyncio.sleep(max(0.0, slot.expected - self.loading - time.monotonic()))

    async def _load(self, slot: _Slot) -> bool:
        assert slot.process is not None
        assert self._first is not None
        try:
            message = await slot.process.receive()
        except WorkerGone:
            message = Crashed("a model process ended while it loaded the runs, perhaps for want of memory")
            if self._first.done():
                raise
        if isinstance(message, HostLoaded):
            slot.loaded = True
            self.descriptions = message.runs
            if not self._first.done():
                self._first.set_result(None)
            return True
        if not self._first.done():
            self._first.set_exception(Refusal(message.text))
            return False
        raise WorkerGone  # it could be loaded before: tried again

    def _pause(self) -> float:
        """Seconds before a worker is replaced: none, unless that happens all the time."""
        self.figures.restarts += 1
        count, seconds = RESTARTS
        self._restarts.append(time.monotonic())
        recent = sum(1 for when in self._restarts if when > self._restarts[-1] - seconds)
        return PAUSE if recent > count else 0.0

    async def _serve(self, slot: _Slot) -> None:
        assert slot.process is not None
        ended = asyncio.create_task(slot.process.ended())
        try:
            while True:
                batch = await self._take(ended)
                try:
                    await self._do(slot, slot.process, batch)
                except WorkerGone:
                    self._after_death(batch)
                    raise
        finally:
            ended.cancel()

    async def _take(self, ended: "asyncio.Task[None]") -> list[Waiting]:
        """The next batch, unless the worker ends before there is one."""
        taking = asyncio.create_task(self.line.take())
        try:
            await asyncio.wait((taking, ended), return_when=asyncio.FIRST_COMPLETED)
            if taking.done():
                return taking.result()
            raise WorkerGone
        finally:
            taking.cancel()

    async def _do(self, slot: _Slot, process: ModelProcess, batch: list[Waiting]) -> None:
        self._numbers += 1
        slot.number, slot.batch = self._numbers, batch
        now = time.monotonic()
        self.figures.waited += sum(now - job.since for job in batch)
        first = batch[0]
        message: TextBatch | Question = Question(slot.number, first.payload)
        if first.key is not None:
            run, search = first.key
            assert isinstance(search, SearchOptions)
            message = TextBatch(slot.number, run, tuple(job.payload for job in batch), search)
        try:
            self._settle(batch, await process.ask(message))
        finally:
            slot.batch = []

    def _settle(self, batch: list[Waiting], answer: Any) -> None:
        match answer:
            case Answered(values, seconds):
                for job, value in zip(batch, values, strict=True):
                    if not job.future.done():
                        job.future.set_result(value)
                self._count(batch, seconds)
            case Declined() | Crashed() if len(batch) > 1:
                for job in reversed(batch):  # one of them is to blame, and only that one is refused
                    job.alone = True
                    self.line.add(job, first=True)
            case Declined(text):
                _refuse(batch, Refusal(text))
            case Crashed(text):
                _refuse(batch, Failed(f"the model process could not answer ({text}); the server's log says more"))

    def _count(self, batch: list[Waiting], seconds: float) -> None:
        cost = sum(job.cost for job in batch)
        self.figures.batches += 1
        self.figures.rows += len(batch)
        self.figures.seconds += seconds
        if batch[0].key is not None:
            self.figures.characters += cost
            self.rate += _ENOUGH * (min(cost / max(seconds, 1e-3), 1e6) - self.rate)

    def _after_death(self, batch: list[Waiting]) -> None:
        """One that died alone goes behind the others: if somebody else kills workers, the next one has another text."""
        for job in reversed(batch):
            job.deaths += len(batch) == 1
            job.alone = True
            if job.deaths < DEATHS:
                self.line.add(job, first=len(batch) > 1)
            else:
                _refuse([job], WorkerDied("the model process ended twice while it had this text and nothing else"))


def _refuse(batch: Sequence[Waiting], error: Refusal) -> None:
    for job in batch:
        if not job.future.done():
            job.future.set_exception(error)


def _cost(job: TextJob) -> int:
    return len(job.text) + 8
