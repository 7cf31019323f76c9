"""From settings to a running server: slow clients are let go, what is accepted is answered before it stops."""

import asyncio
import gc
import logging
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from seq2see.errors import ConfigError
from seq2see.serve.app import make_app
from seq2see.serve.configuration import ServerConfig
from seq2see.serve.http.refusal import Refusal
from seq2see.serve.workers.pool import Pool

HEADER_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 5
GRACEFUL_SECONDS = 25
LONGEST_HEAD = 128 * 1024  # bytes: 5,000 Hangul in a query, percent-encoded, are 45 kB
_NO_HTTP = b'{"error":"this is no HTTP/1.1; letters beyond ASCII are written as %XX in an address"}'
_BAD_REQUEST = (
    "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
    f"content-length: {len(_NO_HTTP)}\r\nconnection: close\r\n\r\n"
).encode()


class PatientProtocol(H11Protocol):
    """uvicorn waits for ever for the end of a request's headers; this one closes the connection after some seconds."""

    _deadline: asyncio.TimerHandle | None = None
    header_seconds = HEADER_SECONDS

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect()

    def _expect(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self._give_up)

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()

    def _satisfied(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def data_received(self, data: bytes) -> None:
        idle = self.cycle is None or self.cycle.response_complete
        if idle:  # the first bytes of another request on a connection that was kept
            self._expect()
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:  # the headers are whole
            self._satisfied()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP gets JSON as everything else does."""
        self.transport.write(_BAD_REQUEST + _NO_HTTP)
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._satisfied()
        super().connection_lost(exc)


class DrainingServer(uvicorn.Server):
    """Says that it is about to stop as soon as it is told to; a second signal ends it at once."""

    def __init__(self, config: uvicorn.Config, pool: Pool) -> None:
        super().__init__(config)
        self.pool = pool

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """uvicorn would raise the signal again in the end; a server that was told to stop and did exits with 0."""
        self.pool.draining = True
        self.force_exit = self.should_exit
        self.should_exit = True


def make_server(settings: ServerConfig, pool: Pool) -> DrainingServer:
    config = uvicorn.Config(
        make_app(settings, pool),
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # uvicorn would believe every program of this machine
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
        h11_max_incomplete_event_size=LONGEST_HEAD,
    )
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # whoever sends nonsense fills no log
    return DrainingServer(config, pool)


def run_server(settings: ServerConfig, pool: Pool, opened: socket.socket, ready: Callable[[], None]) -> None:
    """Returns when it was told to stop and everything accepted is answered; raises what a run cannot be loaded for."""
    server = make_server(settings, pool)
    failure: list[Refusal] = []

    async def main() -> None:
        waiting = asyncio.create_task(wait_for_models())
        await server.serve(sockets=[opened])
        waiting.cancel()

    async def wait_for_models() -> None:
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            await pool.started()
        except Refusal as refusal:
            failure.append(refusal)
            server.should_exit = True
        else:
            gc.collect()
            gc.freeze()  # what is there now stays: the garbage collector, for which all wait, need not look at it again
            ready()

    try:
        asyncio.run(main())
    finally:
        pool.kill()
        opened.close()
    if failure:
        raise ConfigError(str(failure[0]))
