"""Lines in: windows as they come, and never one more or one less."""

import os
import threading

from hypothesis import given
from hypothesis import strategies as st

from seq2see.session.lines import Lines, from_descriptor, one_line


def read(content: bytes, size: int = 7, most: int = 3) -> tuple[list[list[str]], Lines]:
    chunks = iter([content[start : start + size] for start in range(0, len(content), size)])
    lines = Lines(lambda: next(chunks, b""), most=most)
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


def test_broken_bytes_are_counted_and_lose_no_line() -> None:
    windows, lines = read(b"a\n\xff\xfeb\nc\n\xed\xa0\x80\n", most=10)
    assert windows == [["a", "\ufffd\ufffdb", "c", "\ufffd\ufffd\ufffd"]]
    assert (lines.broken, lines.repaired) == (2, [2, 4])


def test_a_person_who_types_gets_an_answer_to_each_line() -> None:
    """A pipe that stays open: the first line comes through before the second is written."""
    reading, writing = os.pipe()
    windows = from_descriptor(reading).windows()
    os.write(writing, b"first\n")
    got: list[list[str]] = []
    thread = threading.Thread(target=lambda: got.append(next(windows)))
    thread.start()
    thread.join(timeout=30)
    assert got == [["first"]]
    os.write(writing, b"second")
    os.close(writing)
    assert list(windows) == [["second"]]
    os.close(reading)


def test_one_line_stays_one() -> None:
    assert one_line("a\r\nb\nc\rd") == "a b c d"
