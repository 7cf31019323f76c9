"""A server at a port of this machine, in a thread of the tests, for as long as a block runs."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import httpx2
from stand_in_host import EN_ES, KO_EN, make_host

from seq2see.serve.configuration import ServerConfig
from seq2see.serve.listening import bind
from seq2see.serve.server import make_server
from seq2see.serve.workers.pool import Pool

CONFIG = ServerConfig((KO_EN, EN_ES), metrics=True)


@dataclass
class LiveServer:
    """Where it is, and what is inside."""

    port: int
    pool: Pool
    client: httpx2.Client

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def translate(self, q: Any, **others: Any) -> httpx2.Response:
        return self.client.post("/translate", json={"q": q, "source": "en", "target": "es", **others})


@contextmanager
def live_server(
    config: ServerConfig = CONFIG, make: Any = None, workers: int = 1, port: int = 0
) -> Iterator[LiveServer]:
    opened = bind("127.0.0.1", port)
    port = opened.getsockname()[1]
    config = replace(config, port=port)
    pool = Pool(make or partial(make_host, config.runs), workers)
    server = make_server(config, pool)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[opened])))
    thread.start()
    client = httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False)
    try:
        wait_until(
            lambda: server.started and client.get("/ready").status_code == 200, 300
        )  # torch takes its time under load
        yield LiveServer(port, pool, client)
    finally:
        client.close()
        server.should_exit = True
        thread.join(60)
        stopped = not thread.is_alive()
        pool.kill()
        opened.close()
        assert stopped, "the server does not stop"


def wait_until(condition: Any, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.01)
