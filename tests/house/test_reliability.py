"""docs/reliability.md names tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py)(?:::(test_\w+))?`")


def is_there(file: str, test: str) -> bool:
    path = ROOT / "tests" / file
    return path.is_file() and (not test or f"def {test}(" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("file", "test"), sorted(set(NAMED.findall(PAGE))))
def test_every_test_that_is_named_is_there(file: str, test: str) -> None:
    assert is_there(file, test)


def test_the_page_names_many_tests() -> None:
    assert len(NAMED.findall(PAGE)) > 50


def test_a_test_that_is_not_there_is_seen() -> None:
    assert is_there("house/test_reliability.py", "test_the_page_names_many_tests")
    assert not is_there("house/test_reliability.py", "test_of_something_else")
    assert not is_there("house/test_nothing.py", "")
