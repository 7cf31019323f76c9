"""A model process as the HTTP process sees it: one pipe, one thread that waits at it, a flag to cancel what it does."""

import asyncio
import signal
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

from seq2see.processes import interrupts_blocked
from seq2see.serve.workers.worker import MakeHost, work

_SECONDS_TO_END = 0.25


class WorkerGone(Exception):  # noqa: N818
    """The process has ended."""


class ModelProcess:
    """Spawned, never forked: the event loop has threads."""

    def __init__(self, make_host: MakeHost) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.cancelled: Any = context.Value("q", -1, lock=False)
        self.process = context.Process(target=work, args=(theirs, make_host, self.cancelled), daemon=True)
        with interrupts_blocked(signal.SIGTERM):
            self.process.start()
        theirs.close()
        self.busy = False  # a thread waits at its pipe
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")

    @classmethod
    async def started(cls, make_host: MakeHost) -> "ModelProcess":
        return await asyncio.get_running_loop().run_in_executor(None, cls, make_host)

    async def receive(self) -> Any:
        return await self._in_thread(self.pipe.recv)

    async def ask(self, message: Any) -> Any:
        return await self._in_thread(self._exchange, message)

    def _exchange(self, message: Any) -> Any:
        self.pipe.send(message)
        return self.pipe.recv()

    async def _in_thread(self, call: Any, *arguments: Any) -> Any:
        self.busy = True
        try:
            answer = await asyncio.get_running_loop().run_in_executor(self._thread, call, *arguments)
        except (EOFError, OSError):
            raise WorkerGone from None
        self.busy = False
        return answer

    async def ended(self) -> None:
        """Returns when the process has ended, in whatever way."""
        loop = asyncio.get_running_loop()
        gone = asyncio.Event()
        loop.add_reader(self.process.sentinel, gone.set)
        try:
            await gone.wait()
        finally:
            loop.remove_reader(self.process.sentinel)

    @property
    def pid(self) -> int | None:
        return self.process.pid

    def close(self) -> None:
        """It holds nothing that could be lost. One that is idle ends by itself when its pipe is closed."""
        if not self.busy:
            self.pipe.close()
            self.process.join(_SECONDS_TO_END)
        self.process.kill()
        self.process.join()
        self._thread.shutdown(wait=True)  # its pipe has been closed, from one side or the other
        self.pipe.close()
        self.process.close()
