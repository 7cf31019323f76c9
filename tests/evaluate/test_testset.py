"""Test sets and outputs from files: the same forms as training reads, and never a shifted line."""

import gzip
import io
import sys
import unicodedata
from pathlib import Path

import pytest

from seq2see.corpora import HELD_OUT, examples
from seq2see.errors import ConfigError, DataError
from seq2see.evaluate import read_outputs, read_references, references_of

TEST = references_of([("a", "가"), ("b", "나"), ("c", "다")], "three")


def test_a_built_in_corpus_gives_its_unseen_test_split() -> None:
    found = read_references(["builtin:dates"])
    assert len(found) == HELD_OUT
    assert found.sources[:20] == tuple(example.source for example in examples("dates", "test", limit=20))
    seen = {example.source for example in examples("dates", "train")}
    assert not seen & set(found.sources)
    assert found.places[0] == "builtin:dates:test:1"
    assert len(read_references(["builtin:dates"], limit=7)) == 7


def test_files_are_read_in_every_form(tmp_path: Path) -> None:
    tsv = tmp_path / "t.tsv"
    tsv.write_text("안녕\thello\n고양이\tcat\n", encoding="utf-8")
    with gzip.open(tmp_path / "t.ko.gz", "wt", encoding="utf-8") as file:
        file.write("안녕\n고양이\n")
    (tmp_path / "t.en").write_text("hello\ncat\n")
    (tmp_path / "t.jsonl").write_text('{"translation": {"en": "hello", "ko": "안녕"}}\n', encoding="utf-8")
    one = read_references([str(tsv)])
    two = read_references([str(tmp_path / "t.ko.gz"), str(tmp_path / "t.en")])
    assert (one.sources, one.references) == (two.sources, two.references) == (("안녕", "고양이"), ("hello", "cat"))
    assert one.places == (f"{tsv}:1", f"{tsv}:2")
    turned = read_references([str(tmp_path / "t.jsonl")], source_language="ko", target_language="en")
    assert (turned.sources, turned.references) == (("안녕",), ("hello",))
    back = read_references([str(tsv)], flip=True)
    assert (back.sources, back.references) == (one.references, one.sources)
    both = read_references([str(tsv), "builtin:copy"], limit=4)
    assert len(both) == 4
    assert both.sources[:2] == one.sources


def test_test_sets_that_cannot_be_meant_are_refused(tmp_path: Path) -> None:
    tsv = tmp_path / "t.tsv"
    tsv.write_text("a\tb\n")
    with pytest.raises(ConfigError, match="leave the weight away"):
        read_references([f"{tsv}:2"])
    with pytest.raises(ConfigError, match="limit = 0"):
        read_references([str(tsv)], limit=0)
    with pytest.raises(DataError, match="no such file"):
        read_references([str(tmp_path / "none.tsv")])
    (tmp_path / "empty.tsv").write_text("")
    with pytest.raises(DataError, match="holds no pairs"):
        read_references([str(tmp_path / "empty.tsv")])


def test_outputs_are_one_line_each(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes("가\r\n\n다\u2028라\n".encode())
    assert read_outputs(path, TEST) == ("가", "", "다\u2028라")
    path.write_text(unicodedata.normalize("NFD", "가\n나\n다"), encoding="utf-8")  # no line end at the end
    assert read_outputs(path, TEST) == ("가", "나", "다")
    packed = tmp_path / "out.gz"
    packed.write_bytes(gzip.compress("가\n나\n다\n".encode()))
    assert read_outputs(packed, TEST) == ("가", "나", "다")


@pytest.mark.parametrize("lines", [0, 2, 4])
def test_another_number_of_lines_is_refused(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "out.txt"
    path.write_text("x\n" * lines)
    with pytest.raises(DataError, match=f"out.txt: {lines} lines, but three has 3 pairs") as refused:
        read_outputs(path, TEST)
    assert "\n" not in str(refused.value)


def test_standard_input_is_read_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def give(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    give("\ufeff가\n\r\n다".encode())
    assert read_outputs("-", TEST) == ("가", "", "다")
    give(b"a\n")
    with pytest.raises(DataError, match="standard input: 1 lines"):
        read_outputs("-", TEST)
    give(b"a\n\xff\nb\n")
    with pytest.raises(DataError, match="standard input:2: not UTF-8"):
        read_outputs("-", TEST)
