"""Real models behind a live server, and a browser: started once for all tests of the page."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
for folder in ("serve", "serve/browser", "look", "session"):  # where helpers are
    sys.path.append(str(TESTS / folder))

from browsing import chromium  # noqa: E402
from playwright.sync_api import Browser, expect  # noqa: E402
from served_page import ServedPage, serve_page  # noqa: E402

expect.set_options(timeout=20_000)  # a machine under load is no reason to fail


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="session")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with serve_page(browser, tmp_path_factory.mktemp("runs")) as served:
        yield served
