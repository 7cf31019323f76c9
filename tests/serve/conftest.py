"""One live server with stand-ins for all tests that only ask it things."""

from collections.abc import Iterator

import pytest
from live_server import LiveServer, live_server


@pytest.fixture(scope="session")
def served() -> Iterator[LiveServer]:
    with live_server() as live:
        yield live
