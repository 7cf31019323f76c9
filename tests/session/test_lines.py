"""Lines in: windows as they come, and never one more or one less."""

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import DataError
from seq2see.session.files import lines as module
from seq2see.session.files.lines import Lines, from_descriptor, one_line


def read(content: bytes, size: int = 7, most: int = 3, encoding: str | None = None) -> tuple[list[list[str]], Lines]:
    chunks = iter([content[start : start + size] for start in range(0, len(content), size)])
    lines = Lines(lambda: next(chunks, b""), most=most, encoding=encoding)
    return list(lines.windows()), lines


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))),
    st.integers(1, 9),
    st.booleans(),
)
def test_every_line_once_and_in_order(texts: list[str], size: int, closed: bool) -> None:
    texts = [text.lstrip("\ufeff") if place == 0 else text for place, text in enumerate(texts)]
    content = "\n".join(texts) + ("\n" if texts and (closed or not texts[-1]) else "")
    windows, _ = read(content.encode(), size)
    assert [line for window in windows for line in window] == texts
    assert all(0 < len(window) <= 3 for window in windows)


def test_other_separators_do_not_split() -> None:
    windows, _ = read("a\u2028b\x85c\x0bd\x0ce\rf\r\nlast".encode())
    assert windows == [["a\u2028b\x85c\x0bd\x0ce\rf", "last"]]


def test_a_byte_order_mark_goes_only_at_the_start() -> None:
    windows, _ = read(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n")
    assert windows == [["a", "\ufeffb"]]


def test_broken_bytes_are_refused_behind_all_lines_before_them() -> None:
    chunks = iter([b"one\ntw", b"o\nthree\n\xff", b"four\nfive\n"])
    windows = Lines(lambda: next(chunks, b"")).windows()
    assert next(windows) == ["one", "two", "three"]
    with pytest.raises(DataError, match="standard input:4: not UTF-8 at byte 14"):
        next(windows)


def test_who_asks_for_it_gets_broken_bytes_replaced_and_counted() -> None:
    windows, lines = read(b"a\n\xff\xfeb\nc\n\xed\xa0\x80\n", most=10, encoding="utf-8-replace")
    assert windows == [["a", "\ufffd\ufffdb", "c", "\ufffd\ufffd\ufffd"]]
    assert (lines.broken, lines.repaired) == (2, [2, 4])


@pytest.mark.parametrize("encoding", ["cp949", "utf-16", "utf-16-be", "shift_jis", "utf-32"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_other_encodings_in_pieces_of_any_size(encoding: str, size: int) -> None:
    texts = ["학생" if encoding != "shift_jis" else "学生", "", "abc", "나" if encoding != "shift_jis" else "な"]
    windows, lines = read("\r\n".join(texts).encode(encoding), size, encoding=encoding)
    assert [line for window in windows for line in window] == texts
    assert lines.bytes_read == len("\r\n".join(texts).encode(encoding))
    assert not lines.broken


def test_a_line_without_end_is_refused_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_LINE", 1000)
    held = 0

    def zeros() -> bytes:
        nonlocal held
        held += 100
        assert held < 10_000
        return b"\0" * 100

    first = iter([b"one\n"])
    windows = Lines(lambda: next(first, b"") or zeros()).windows()
    assert next(windows) == ["one"]
    with pytest.raises(DataError, match="standard input:2: the line is longer than"):
        next(windows)


def test_a_person_who_types_gets_an_answer_to_each_line() -> None:
    """A pipe that stays open: the first line comes through before the second is written."""
    reading, writing = os.pipe()
    windows = from_descriptor(reading).windows()
    os.write(writing, b"first\n")
    got: list[list[str]] = []
    thread = threading.Thread(target=lambda: got.append(next(windows)))
    thread.start()
    thread.join(timeout=600)
    assert got == [["first"]]
    os.write(writing, b"second")
    os.close(writing)
    assert list(windows) == [["second"]]
    os.close(reading)


def test_one_line_stays_one() -> None:
    assert one_line("a\r\nb\nc\rd") == "a b c d"
