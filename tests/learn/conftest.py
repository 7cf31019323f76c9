"""What lessons train is trained once for all their tests, a few updates each."""

from collections.abc import Iterator

import pytest

from learning import Taught, taught_lessons


@pytest.fixture(scope="session")
def taught() -> Iterator[Taught]:
    yield from taught_lessons()
