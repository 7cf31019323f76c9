"""What waits for a model process: two lanes, batches of what belongs together, and an estimate of the wait.

No window: a free worker takes what is there, oldest first, as much as fits into a batch. Somebody who waits for two
sentences goes before a batch of twenty, but the twenty are not starved: at least every fifth batch is theirs.
"""

from asyncio import Event, Future
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Lane = Literal["interactive", "bulk"]
"""Few texts that somebody waits for, before many."""

INTERACTIVE_TEXTS = 2  # more of them in a request are bulk
IN_A_ROW = 4  # interactive batches while bulk is waiting
BATCH_COST = 2048  # characters in a batch: some tenths of a second, so that nobody behind it waits long
BATCH_JOBS = 64


@dataclass(eq=False)
class Waiting:
    """One job: a text, or a question of our API."""

    payload: Any
    key: tuple[str, Hashable] | None  # run and search: what shares a batch has the same; None: a batch of its own
    cost: int
    lane: Lane
    future: "Future[Any]"
    deaths: int = 0  # workers that ended while they had it and nothing else
    alone: bool = False  # something in its batch went wrong: tried again by itself, so that others do not suffer
    since: float = 0.0

    @property
    def abandoned(self) -> bool:
        return self.future.done()


@dataclass
class WaitingLine:
    """Used from the event loop alone; no locks."""

    lanes: dict[Lane, deque[Waiting]] = field(default_factory=lambda: {"interactive": deque(), "bulk": deque()})
    arrived: Event = field(default_factory=Event)
    row: int = 0  # interactive batches since bulk had its turn

    def __len__(self) -> int:
        return sum(map(len, self.lanes.values()))

    def add(self, job: Waiting, *, first: bool = False) -> None:
        lane = self.lanes[job.lane]
        if first:
            lane.appendleft(job)
        else:
            lane.append(job)
        self.arrived.set()

    def remove(self, job: Waiting) -> None:
        lane = self.lanes[job.lane]
        if job in lane:
            lane.remove(job)

    def cost_before(self, lane: Lane) -> float:
        """What is in front of a job that would come now."""
        interactive, bulk = (sum(job.cost for job in self.lanes[name]) for name in ("interactive", "bulk"))
        return interactive + bulk if lane == "bulk" else interactive + min(bulk, interactive / IN_A_ROW)

    async def take(self) -> list[Waiting]:
        """The next batch, as soon as there is one."""
        while not (batch := self._next()):
            self.arrived.clear()
            await self.arrived.wait()
        return batch

    def _next(self) -> list[Waiting]:
        for lane in self.lanes.values():
            while lane and lane[0].abandoned:
                lane.popleft()
        interactive, bulk = self.lanes["interactive"], self.lanes["bulk"]
        if not interactive and not bulk:
            return []
        turn_of_bulk = bool(bulk) and (not interactive or self.row >= IN_A_ROW)
        self.row = 0 if turn_of_bulk or not bulk else self.row + 1
        return _batch(bulk if turn_of_bulk else interactive)


def _batch(lane: deque[Waiting]) -> list[Waiting]:
    """The oldest job, and those that may share its batch, in their order; the others stay in theirs."""
    first = lane.popleft()
    if first.key is None or first.alone:
        return [first]
    batch = [first, *_fitting(lane, first)]
    taken = set(map(id, batch))
    rest = [job for job in lane if id(job) not in taken and not job.abandoned]
    lane.clear()
    lane.extend(rest)
    return batch


def _fitting(lane: deque[Waiting], first: Waiting) -> Iterator[Waiting]:
    cost, count = first.cost, 1
    for job in lane:
        if count >= BATCH_JOBS or cost >= BATCH_COST:
            return
        if job.key == first.key and not job.alone and not job.abandoned and cost + job.cost <= BATCH_COST:
            cost, count = cost + job.cost, count + 1
            yield job
