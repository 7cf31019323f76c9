"""Constraints from a file."""

from pathlib import Path

import pytest

from seq2see.errors import DataError
from seq2see.session.constraints import read_constraints
from seq2see.session.translation import Request


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_glossary_speaks_where_the_source_holds_the_term(tmp_path: Path) -> None:
    glossary = write(tmp_path / "terms.tsv", "# ours\n서버\tserver\ncat\tKatze\n\t!Hund\n\n\tbitte\n")
    constraints = read_constraints(glossary, prefix="Also")
    assert constraints.request("서버는 멈췄다", 3) == Request(
        "서버는 멈췄다", "Also", ("server", "bitte"), ("Hund",), 3
    )
    assert constraints.request("a cat", 0).required == ("Katze", "bitte")
    assert constraints.request("concatenate", 0).required == ("bitte",)  # not within a word


@pytest.mark.parametrize("text", ["one column\n", "a\t\n", "a\t!\n"])
def test_a_bad_glossary_is_told_by_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match=r"terms\.tsv:2: expected"):
        read_constraints(write(tmp_path / "terms.tsv", "a\tb\n" + text))


def test_an_object_for_each_line(tmp_path: Path) -> None:
    path = write(tmp_path / "lines.jsonl", '{"required": ["a"], "prefix": "P"}\n\n{"forbidden": ["b", "c"]}\n')
    constraints = read_constraints(path, prefix="all")
    assert constraints.request("x", 0) == Request("x", "P", ("a",), (), 0)
    assert constraints.request("y", 1) == Request("y", "all", (), (), 1)
    assert constraints.request("z", 2) == Request("z", "all", (), ("b", "c"), 2)
    with pytest.raises(DataError, match="has 3 lines, but the input has more"):
        constraints.request("too much", 3)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ("[]", "is not one of"),
        ('{"require": []}', "require is not one of"),
        ('{"required": "a"}', "are lists of texts"),
        ('{"required": [""]}', "are lists of texts"),
        ('{"prefix": 3}', "prefix is a text"),
    ],
)
def test_a_bad_object_is_told_by_its_line(tmp_path: Path, line: str, said: str) -> None:
    constraints = read_constraints(write(tmp_path / "lines.jsonl", line + "\n"))
    with pytest.raises(DataError, match=rf"lines\.jsonl:1: .*{said}"):
        constraints.request("x", 0)
