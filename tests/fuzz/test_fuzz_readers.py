"""Damaged files of every kind that is read: an error of ours, or it is taken in. Hours of it: tests/fuzz/run.py."""

from collections.abc import Iterator

import pytest
from fuzzing.checking import check, names
from fuzzing.harness import Harness

pytest.importorskip("lxml.etree")

SEEDS = [range(40), pytest.param(range(40, 100), marks=pytest.mark.slow)]
HARDLY_REFUSED = {"lines", "metrics"}  # text to translate may be anything; a damaged line of metrics is left out


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Harness() as shared:
        yield shared


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("name", names("readers"))
def test_readers_refuse_with_our_own_errors(harness: Harness, name: str, seeds: range) -> None:
    check(harness, name, seeds, refuses=name not in HARDLY_REFUSED)
