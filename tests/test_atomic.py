"""What is read back may come from anybody: plain files of a sane size, JSON that holds nothing odd."""

import os
from pathlib import Path

import pytest

from seq2see import atomic
from seq2see.errors import DataError, RunError


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


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def half_written(path: Path) -> None:
    with atomic.replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        half_written(path)
    assert path.read_text() == "old"
    with atomic.replacing(path) as temporary:
        assert temporary.parent == tmp_path
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a"]


def test_it_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, calls = tmp_path / "a", []
    monkeypatch.setattr(atomic, "sync_file", lambda place: calls.append((place.name, path.exists())))
    with atomic.replacing(path) as temporary:
        temporary.write_text("new")
    assert calls == [(temporary.name, False), (tmp_path.name, True)]


def test_what_the_system_refuses_is_our_error_and_names_the_file(tmp_path: Path) -> None:
    with (
        pytest.raises(RunError, match=r"gone/a: cannot be written \(No such file"),
        atomic.replacing(tmp_path / "gone/a"),
    ):
        raise AssertionError
    with (
        pytest.raises(DataError, match="ours"),
        atomic.replacing(tmp_path / "a", lambda path, error: DataError("ours")),
    ):
        raise OSError(28, "No space left on device")
    with pytest.raises(FileNotFoundError), atomic.replacing(tmp_path / "a"):  # of another file: not about writing
        (tmp_path / "another").read_bytes()
    assert names(tmp_path) == []


def test_a_stream_is_written_straight(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with atomic.replacing(pipe) as place:
        assert place == pipe
    assert names(tmp_path) == ["pipe"]


def test_a_lock_is_held_by_one_and_leaves_nothing(tmp_path: Path) -> None:
    first, second = atomic.Lock(tmp_path / ".lock"), atomic.Lock(tmp_path / ".lock")
    assert first.hold()
    assert not second.hold()
    second.let_go()  # which does not hold it
    assert (tmp_path / ".lock").exists()
    first.let_go()
    assert names(tmp_path) == []
    assert second.hold()
    second.let_go()


def test_a_folder_appears_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    for place in (tmp_path / "new", Path("empty")):
        with atomic.making_folder(place) as folder:
            (folder / "file").write_text("whole")
            assert not (place / "file").exists()
        assert (place / "file").read_text() == "whole"
    with pytest.raises(RunError, match="cannot be written"), atomic.making_folder(tmp_path / "new"):
        pass
    assert (tmp_path / "new" / "file").read_text() == "whole"
    with pytest.raises(KeyError), atomic.making_folder(tmp_path / "other"):
        raise KeyError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "new"]
