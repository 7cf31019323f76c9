"""Damaged documents translated in place by the worst of translators, and damaged sound.

What is not a slot stays byte for byte; nothing is left behind when a document is refused.
"""

from collections.abc import Iterator

import pytest
from fuzzing.checking import check, names
from fuzzing.harness import Harness

pytest.importorskip("lxml.etree")
pytest.importorskip("soundfile")

SEEDS = pytest.mark.parametrize("seeds", [range(36), pytest.param(range(36, 90), marks=pytest.mark.slow)], ids=str)
HARDLY_REFUSED = {"jsonl-in-place", "jsonl-replaced", "spectrograms"}  # what is damaged passes through, or is made anew


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Harness() as shared:
        yield shared


@SEEDS
@pytest.mark.parametrize("name", names("documents"))
def test_documents_keep_what_is_not_translated(harness: Harness, name: str, seeds: range) -> None:
    check(harness, name, seeds, refuses=name not in HARDLY_REFUSED)


@SEEDS
@pytest.mark.parametrize("name", names("sound"))
def test_sound_is_refused_with_our_own_errors(harness: Harness, name: str, seeds: range) -> None:
    check(harness, name, seeds, refuses=name not in HARDLY_REFUSED)
