"""Processes that train one model together: data parallelism over gloo.

Every process has the whole model. Of each batch it takes every N-th pair; the gradients are summed over all processes,
and each makes the same update from the same sum. The first process decides everything: rates, validations, when to
save and to stop. Before each update it announces which one it is, and the others follow.

    --processes N     this process is the first, and starts the others itself (`LocalGroup`)
    torchrun          the processes are there already, on one machine or on several (`LaunchedGroup`)
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import NamedTuple

import torch
from torch import Tensor, distributed

from seq2see.errors import TrainingError
from seq2see.processes import end_with_parent, interrupts_blocked

TIMEOUT = 120.0  # seconds that a process may take to answer
_PATIENT = timedelta(days=30)  # the others wait while the first one reads, validates and saves
_RESTARTS = 3
_SIGN = "alive"
_BEATS = 4  # signs of life within the time that a process may take

Say = Callable[[str], None]


class Announcement(NamedTuple):
    """What the first process says before an update: which one, from which batch on, at which rate."""

    step: int
    epoch: int
    batch: int
    rate: float


COLLECT = Announcement(0, 0, 0, 0.0)
"""No update is coming: what each process holds of the optimiser's state is to be collected."""


class LostProcessError(TrainingError):
    """Another process of the group has ended, or does not answer."""


class ProcessGroup:
    """This process among those that train together."""

    def __init__(self, rank: int, size: int, seconds: float) -> None:
        self.rank = rank
        self.size = size
        self._seconds = seconds
        with self._named():
            self._sums = distributed.new_group(timeout=timedelta(seconds=seconds))
            # The others wait as long as it takes; the first is told of one that does not listen any more.
            self._orders = distributed.new_group(timeout=timedelta(seconds=seconds) if rank == 0 else _PATIENT)

    def announce(self, coming: Announcement | None) -> None:
        """To the others, by the first process; None: training has ended."""
        values = [0.0] * 5 if coming is None else [1.0, *coming]
        with self._named():
            distributed.broadcast(torch.tensor(values, dtype=torch.float64), 0, group=self._orders)

    def hear(self) -> Announcement | None:
        """What the first process announces."""
        values = torch.zeros(5, dtype=torch.float64)
        with self._named():
            distributed.broadcast(values, 0, group=self._orders)
        going, step, epoch, batch, rate = values.tolist()
        return Announcement(int(step), int(epoch), int(batch), rate) if going else None

    def add_up(self, values: Tensor) -> None:
        """Every process has the sum afterwards, in place."""
        with self._named():
            distributed.all_reduce(values, group=self._sums)

    def add_up_at(self, values: Tensor, rank: int) -> None:
        """One process has the sum afterwards, in place; what the others have then is of no use."""
        with self._named():
            distributed.reduce(values, rank, group=self._sums)

    def spread(self, tensors: Iterable[Tensor], rank: int = 0) -> None:
        """Every process has what one has, in place."""
        with self._named():
            for tensor in tensors:
                distributed.broadcast(tensor, rank, group=self._sums)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            late = "timed out" in str(error).lower()
            what = f"does not answer within {self._seconds:.0f} s" if late else "has ended"
            raise LostProcessError(f"a process of the {self.size} that train together {what}") from None


Follow = Callable[[Path, ProcessGroup], None]
"""What the other processes do, in a run folder whose config.json is written."""


class LocalGroup:
    """This process and others that it starts on this machine; where one is lost, all others are started again.

    As nothing is updated before all gradients are there, the update at hand is then simply made again.
    """

    def __init__(self, out: Path, size: int, follow: Follow, say: Say, seconds: float = TIMEOUT) -> None:
        self.out = out
        self.size = size
        self._follow = follow
        self._say = say
        self._seconds = seconds
        self._started = 0
        self._others: list[BaseProcess] = []
        self._meeting: TemporaryDirectory[str] | None = None

    def __enter__(self) -> ProcessGroup:
        try:
            return self.start()
        except BaseException:
            self._end()
            raise

    def __exit__(self, *problem: object) -> None:
        self._end()

    def start(self) -> ProcessGroup:
        """The group, with processes of its own."""
        if distributed.is_initialized():
            raise TrainingError("torch.distributed is in use in this process; train with processes=1")
        self._started += 1
        self._meeting = TemporaryDirectory(prefix="seq2see-group-")
        meeting = f"{self._meeting.name}/store"  # a file that all of them open: a fresh one for every start
        context = get_context("spawn")
        for rank in range(1, self.size):
            work = (self._follow, self.out, meeting, rank, self.size, self._seconds)
            process = context.Process(target=_work, args=work, daemon=True, name=f"seq2see-train-{rank}")
            with interrupts_blocked(signal.SIGTERM):
                process.start()
            self._others.append(process)
        return _join(meeting, 0, self.size, self._seconds)

    def restart(self, problem: LostProcessError) -> ProcessGroup:
        """After a process was lost. A `TrainingError` where that happens too often."""
        for process in self._others:
            process.join(0.2)  # one that was killed is gone in a moment
        lost = [f"process {rank}" for rank, process in enumerate(self._others, 1) if process.exitcode is not None]
        self._end()
        if self._started > _RESTARTS:
            raise TrainingError(f"{problem}, for the {self._started}th time; what was saved goes on with --resume")
        self._say(f"{problem} ({', '.join(lost) or 'stopped or stuck'}); starting again")
        return self.start()

    def _end(self) -> None:
        for process in self._others:
            if process.exitcode is None:
                process.join(1.0)  # it has heard that training ended
            process.kill()
            process.join()
        self._others.clear()
        _leave()
        if self._meeting is not None:
            self._meeting.cleanup()


def _work(follow: Follow, out: Path, meeting: str, rank: int, size: int, seconds: float) -> None:
    """One of the others, from its start to its end."""
    end_with_parent()
    torch.set_num_threads(1)
    with suppress(LostProcessError):  # the first process starts all others again, or says what went wrong
        follow(out, _join(meeting, rank, size, seconds))
    os._exit(0)  # a group that has lost a member cannot be left in an orderly way


def _join(meeting: str, rank: int, size: int, seconds: float) -> ProcessGroup:
    loopback = {"linux": "lo", "darwin": "lo0"}.get(sys.platform)
    if loopback is not None:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback)  # else the machine's name has to resolve
    patience = timedelta(seconds=max(seconds, TIMEOUT))  # starting takes its time, however short an answer may
    try:
        distributed.init_process_group("gloo", f"file://{meeting}", patience, size, rank)
    except RuntimeError as error:
        raise LostProcessError(
            f"{size} processes could not meet ({_first_line(error)}); --processes 1 trains in one"
        ) from None
    return ProcessGroup(rank, size, seconds)


def _leave() -> None:
    if distributed.is_initialized():
        with suppress(RuntimeError):
            distributed.destroy_process_group()


def time_all_reduce(numbers: int, size: int, repeats: int = 10) -> float:
    """Seconds in which so many processes of this machine sum so many numbers."""
    with TemporaryDirectory(prefix="seq2see-group-") as folder:
        context = get_context("spawn")
        pipe, theirs = context.Pipe(duplex=False)
        work = (f"{folder}/store", size, numbers, repeats, theirs)
        processes = [context.Process(target=_reduce, args=(rank, *work), daemon=True) for rank in range(size)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        return float(pipe.recv())


def _reduce(rank: int, meeting: str, size: int, numbers: int, repeats: int, pipe: Connection) -> None:
    torch.set_num_threads(1)
    group = _join(meeting, rank, size, TIMEOUT)
    values = torch.zeros(numbers)
    group.add_up(values)  # the first one opens connections
    began = time.monotonic()
    for _ in range(repeats):
        group.add_up(values)
    if rank == 0:
        pipe.send((time.monotonic() - began) / repeats)
    _leave()


# ----- under torchrun


class Launched(NamedTuple):
    """What torchrun says in the environment."""

    rank: int
    size: int
    restarts: int  # how often torchrun has started all of them again

    @staticmethod
    def read(environment: Mapping[str, str] = os.environ) -> "Launched | None":
        """None for a process that torchrun has not started, or that it has started alone."""
        if "TORCHELASTIC_RUN_ID" not in environment or int(environment.get("WORLD_SIZE", "1")) < 2:
            return None
        restarts = int(environment.get("TORCHELASTIC_RESTART_COUNT", "0"))
        return Launched(int(environment["RANK"]), int(environment["WORLD_SIZE"]), restarts)


class LaunchedGroup:
    """Processes that torchrun has started, and starts again: a lost one ends all of them."""

    def __init__(self, launched: Launched, seconds: float = TIMEOUT) -> None:
        self.launched = launched
        self.size = launched.size
        self._seconds = seconds
        self._left = Event()
        self._seen = 0.0  # when the first process gave its last sign

    def __enter__(self) -> ProcessGroup:
        rank, size = self.launched.rank, self.size
        try:
            distributed.init_process_group(
                _backend(), store=self._store(), timeout=_PATIENT, world_size=size, rank=rank
            )
            signs = self._store(is_another=True)  # others wait on the first connection
        except RuntimeError as error:
            raise LostProcessError(f"process {rank} of {size} cannot reach the others ({_first_line(error)})") from None
        group = ProcessGroup(rank, size, self._seconds)
        self._seen = time.monotonic()
        for work in (self._beat,) if rank == 0 else (self._listen, self._watch):
            Thread(target=work, args=(signs,), daemon=True).start()
        return group

    def _beat(self, signs: distributed.Store) -> None:
        """Signs of life of the first process: however long it validates, the others see that it has not stopped."""
        beats = 0
        with suppress(RuntimeError):
            while not self._left.wait(self._seconds / _BEATS):
                beats += 1
                signs.set(_SIGN, str(beats))

    def _listen(self, signs: distributed.Store) -> None:
        last = b""
        with suppress(RuntimeError):  # the store is gone with its process
            while not self._left.wait(self._seconds / _BEATS):
                sign = signs.get(_SIGN) if signs.check([_SIGN]) else b""
                if sign != last:
                    last, self._seen = sign, time.monotonic()

    def _watch(self, signs: distributed.Store) -> None:
        """Of the others, which wait for an announcement as long as it takes: what nothing else would end."""
        pause = self._seconds / _BEATS
        looked = time.monotonic()
        while not self._left.wait(pause):
            now = time.monotonic()
            if now - looked > 2 * pause:  # this process was stopped itself
                self._seen = now
            looked = now
            if now - self._seen > self._seconds:
                lost = f"the first of the {self.size} processes that train together does not answer within"
                print(f"seq2see: {lost} {self._seconds:.0f} s", file=sys.stderr, flush=True)
                os._exit(1)

    def _store(self, *, is_another: bool = False) -> distributed.Store:
        """Where they find each other: under a name of its own after every restart, for the addresses of processes that
        are gone stay in torchrun's store, and gloo would go on calling them."""
        place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        is_first = self.launched.rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
        is_server = is_first and not is_another
        store = distributed.TCPStore(*place, self.size, is_server, _PATIENT, wait_for_workers=False)
        return distributed.PrefixStore(f"seq2see-{self.launched.restarts}", store)

    def __exit__(self, *problem: object) -> None:
        self._left.set()
        _leave()

    def restart(self, problem: LostProcessError) -> ProcessGroup:
        raise problem


def _backend() -> str:
    """Tensors on the CPU go over gloo, those of GPUs over nccl, by the same calls."""
    if not (torch.cuda.is_available() and distributed.is_nccl_available()):
        return "gloo"
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    return "cpu:gloo,cuda:nccl"


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
