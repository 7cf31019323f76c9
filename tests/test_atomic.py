"""What is read back may come from anybody: plain files of a sane size, JSON that holds nothing odd."""

import os
from pathlib import Path

import pytest

from seq2see import atomic


def test_what_was_written_is_read(tmp_path: Path) -> None:
    document = {"name": "막걸리", "sizes": [1, 2.5, None, True], "inner": {"limit": float("inf")}}
    atomic.write_json(tmp_path / "a.json", document)
    assert atomic.read_json(tmp_path / "a.json") == document


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "nested more than 32 deep"),
        (b"[" * 40 + b"]" * 40, "nested more than 32 deep"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "nested more than 32 deep"),
        (b"9" * 5000, "a number of 5000 digits"),
        (b"[NaN]", "NaN"),
        (b'["\\ud800"]', "half of a surrogate pair"),
        (b'{"\\udc00": 1}', "half of a surrogate pair"),
        (b'["a\\u0000"]', "a NUL"),
        (b"\xff{}", "not UTF-8 at byte 0"),
        (b"[1, 2", "line 1 column"),
        (b" " * 2000, "larger than 1,000 bytes"),
    ],
)
def test_odd_json_gives_a_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=reason):
        atomic.read_json(path, 1_000 if content.isspace() else atomic.LARGEST_JSON)


def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe", tmp_path / "device"):
        with pytest.raises(OSError, match="a pipe, a device or a socket"):
            atomic.digest(path)
    with pytest.raises(IsADirectoryError):
        atomic.digest(tmp_path)
    for name in ("a\0b", "a\ud800"):
        with pytest.raises(OSError, match="not a name that a file can have"):
            atomic.digest(tmp_path / name)
