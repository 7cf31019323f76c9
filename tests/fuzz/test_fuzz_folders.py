"""Hostile run folders, voices, checkpoints, stores and engines, their digests made right again by the attacker."""

from collections.abc import Iterator

import pytest
from fuzzing.checking import check, names
from fuzzing.harness import Harness

pytest.importorskip("onnxruntime")
pytest.importorskip("soundfile")
pytest.importorskip("sentencepiece")

# How many seeds there are: of those that take long fewer. The first part of them is tried by `make test`, and of those
# named here more: most folders of theirs are refused, and some have to be accepted.
SEEDS = {
    "run": 200,
    "tokenizer": 240,
    "marian": 150,
    "resume": 15,
    "resume-forged": 10,
    "voice": 60,
    "engine-onnx": 40,
    "engine-int8": 40,
}
ELSEWHERE = {"engine-onnx", "engine-int8"}  # exporting takes long: the first by engines/test_hostile_engines.py
PARTS = pytest.mark.parametrize("part", ["first", pytest.param("rest", marks=pytest.mark.slow)])
HARDLY_REFUSED = {"store"}  # built anew


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Harness() as shared:
        yield shared


@PARTS
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in ELSEWHERE else []) for name in names("folders")],
)
def test_folders_are_refused_with_our_own_errors(harness: Harness, name: str, part: str) -> None:
    count = SEEDS.get(name, 90)
    middle = max(4, count // 5 if name in SEEDS else count // 8)
    check(harness, name, range(middle) if part == "first" else range(middle, count), refuses=name not in HARDLY_REFUSED)
