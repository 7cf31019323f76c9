"""One live server with stand-ins for all tests that only ask it things; and nobody talks to another machine."""

import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from live_server import LiveServer, live_server
from small_runs import make_text_runs, make_voice

from seq2see.serve.api.requests import ServedRun


@pytest.fixture(scope="session")
def served() -> Iterator[LiveServer]:
    with live_server() as live:
        yield live


LOCAL = ("127.0.0.1", "::1", "localhost")
watching = False  # a hook cannot be removed


def refuse_others(event: str, arguments: tuple[Any, ...]) -> None:
    """The server asks nobody anything, and a client with its own idea of where to ask is stopped before it does."""
    if not watching:
        return
    if event == "socket.connect" and arguments[0].family in (socket.AF_INET, socket.AF_INET6):
        assert arguments[1][0] in LOCAL, f"a connection to {arguments[1]}"
    if event == "socket.getaddrinfo":
        assert arguments[0] in (*LOCAL, None, b"127.0.0.1"), f"a question about {arguments[0]}"


sys.addaudithook(refuse_others)


@pytest.fixture(autouse=True)
def on_this_machine_alone() -> Iterator[None]:
    global watching
    watching = True
    yield
    watching = False


@pytest.fixture(scope="session")
def text_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[ServedRun, ...]:
    """Untrained, and real in everything else."""
    return make_text_runs(tmp_path_factory.mktemp("text_runs"))


@pytest.fixture(scope="session")
def voice_run(tmp_path_factory: pytest.TempPathFactory) -> ServedRun:
    return make_voice(tmp_path_factory.mktemp("voice_run"))
