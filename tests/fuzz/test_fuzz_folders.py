"""Hostile run folders, voices, checkpoints, stores and engines, their digests made right again by the attacker."""

from collections.abc import Iterator

import pytest
from fuzzing.checking import check, names
from fuzzing.harness import Harness

pytest.importorskip("onnxruntime")
pytest.importorskip("soundfile")

# Those that take long.
SEEDS = {"resume": range(15), "resume-forged": range(10), "voice": range(60)}
SEEDS |= {"engine-onnx": range(40), "engine-int8": range(40)}
HARDLY_REFUSED = {"store"}  # built anew


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Harness() as shared:
        yield shared


@pytest.mark.parametrize("name", names("folders"))
def test_folders_are_refused_with_our_own_errors(harness: Harness, name: str) -> None:
    check(harness, name, SEEDS.get(name, range(90)), refuses=name not in HARDLY_REFUSED)
