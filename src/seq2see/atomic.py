"""Files that are whole or not there: written under a temporary name, flushed to the disk, then renamed.

What is read back may come from anybody: plain files of a sane size only, so that nothing blocks and nothing grows.
"""

import errno
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from seq2see.errors import ConfigError, RunError, Seq2SeeError

LARGEST_JSON = 4 * 2**20  # bytes; a config.json has two thousand
_DEEPEST = 32  # levels of nesting; a config.json has four
_LONGEST_NUMBER = 100  # digits

WriteError = Callable[[Path, OSError], Seq2SeeError]


@contextmanager
def replacing(path: Path, error: WriteError | None = None) -> Iterator[Path]:
    """Where to write what `path` will be: a new file beside it, which takes its name when the block ends.

    It is on the disk before it does, so that `path` is the old file or the whole new one at every moment. After any
    error the old file is as it was. A pipe, a terminal or /dev/stdout is no file that could be replaced: it is given as
    it is. What the system refuses is raised as `error(path, OSError)`, by default a RunError.
    """
    temporary: Path | None = None
    try:
        if is_stream(path):
            yield path
            return
        temporary = _new_beside(path)
        yield temporary
        sync_file(temporary)
        temporary.replace(path)
        sync_folder(path.parent)
    except BrokenPipeError:
        raise
    except OSError as problem:
        if problem.filename is not None and Path(problem.filename) not in (path, temporary):
            raise  # of a file that was read meanwhile
        raise (error or cannot_write)(path, problem) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _new_beside(path: Path) -> Path:
    """An empty file under a name that nobody else uses: it is created, or another name is tried.

    The name does not grow with that of `path`, which may be as long as names can be.
    """
    while True:
        temporary = path.with_name(f".seq2see-{secrets.token_hex(4)}.tmp")
        try:
            temporary.open("xb").close()
            return temporary
        except FileExistsError:
            continue
        except OSError as problem:
            problem.filename = str(path)  # the name that the caller knows
            raise


def write_file(path: Path, content: bytes) -> None:
    """The file appears under its name only when it is complete; an error leaves what was there before."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def making_folder(path: Path) -> Iterator[Path]:
    """Where to write the files of a folder that `path` will be: beside it, renamed when the block ends without error.

    `path` may be an empty folder; whatever else is there stays, and is an error.
    """
    temporary = path.with_name(f".seq2see-{secrets.token_hex(4)}.tmp")
    try:
        temporary.mkdir()
        yield temporary
        for file in temporary.rglob("*"):
            sync_file(file)
        temporary.rename(path)
        sync_folder(path.parent)
    except OSError as problem:
        raise cannot_write(path, problem) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def is_stream(path: Path) -> bool:
    """Whether this is a pipe, a terminal or /dev/stdout: written straight away, never replaced by another file.

    /dev/stdout leads to an ordinary file when it is redirected, and renaming over it would ruin it for everybody.
    """
    placed = str(path.absolute()).startswith(("/dev/", "/proc/"))
    return placed or (path.exists() and not path.is_file())


def check_output(out: Path | int, *inputs: Path | int | None) -> None:
    """Refuse to write onto what is read: the same file by any name or link, or a file of a run folder.

    Called before anything is opened. A number is a descriptor, for the standard streams; what does not exist is passed
    over.
    """
    if isinstance(out, Path):
        if out.is_dir():
            raise ConfigError(f"{out}: is a folder; name the file to write")
        if not out.absolute().parent.is_dir():
            raise ConfigError(f"{out}: there is no folder {out.parent} to write into; make it first")
    try:
        ours = os.stat(out)  # noqa: PTH116  # or a descriptor
    except OSError:
        return
    if not stat.S_ISREG(ours.st_mode):
        return
    for source in inputs:
        if source is not None and any(os.path.samestat(ours, theirs) for theirs in _files(source)):
            names = [place if isinstance(place, Path) else _STREAMS.get(place, place) for place in (out, source)]
            raise ConfigError(f"{names[0]}: is also read (as {names[1]}); write to another file")


_STREAMS = {0: "standard input", 1: "standard output"}


def _files(source: Path | int) -> Iterator[os.stat_result]:
    """The file itself, or every file of a run folder."""
    inside = os.walk(source) if isinstance(source, Path) else ()
    for place in (source, *(Path(folder, name) for folder, _, names in inside for name in names)):
        with suppress(OSError):
            yield os.stat(place)  # noqa: PTH116


def write_json(path: Path, content: Any) -> None:
    write_file(path, json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n")


def sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)  # Windows flushes only what one may write
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """A rename is safe only when its folder is on the disk too; on Windows a folder cannot be opened for that."""
    if os.name != "nt":
        sync_file(folder)


def digest(path: Path) -> str:
    """SHA-256 of a plain file; OSError if it is none."""
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_plain(path: Path) -> BufferedReader:
    """A plain file to read from; links are followed. OSError for whatever would block, never end or act when opened."""
    try:
        _check_plain(path.stat())
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError:  # a NUL, or half of a surrogate pair
        raise OSError(errno.EINVAL, "not a name that a file can have") from None
    try:
        _check_plain(os.fstat(descriptor))  # it may have been replaced in between
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check_plain(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe, a device or a socket, not a file")


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of a plain file; ValueError if there are more than `limit`."""
    with open_plain(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"it is larger than {limit:,} bytes")
    return content


def read_json(path: Path, limit: int = LARGEST_JSON) -> Any:
    """What `write_json` wrote. OSError if there is no plain file; ValueError, fit to be shown, for what is in it."""
    try:
        document = json.loads(read_file(path, limit).decode(), parse_int=_parse_integer, parse_constant=_parse_constant)
    except RecursionError:
        raise ValueError(f"it is nested more than {_DEEPEST} deep") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 at byte {error.start}") from None
    _check_document(document)
    return document


def _parse_integer(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError(f"it holds a number of {len(digits)} digits")
    return int(digits)


def _parse_constant(name: str) -> float:
    if name == "NaN":
        raise ValueError("it holds NaN, which is no number")
    return float(name)  # Infinity: training.clip may be that


def _check_document(document: Any) -> None:
    """Refuses what JSON allows but nobody expects: deep nesting, texts that are no name of a file and no UTF-8."""
    level, depth = [document], 0
    while level:
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} deep")
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.keys())
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif isinstance(value, str):
                _check_text(value)
        level, depth = inner, depth + 1


def _check_text(text: str) -> None:
    if "\0" in text:
        raise ValueError("a text in it holds a NUL")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("a text in it holds half of a surrogate pair, which is no character") from None


def cannot_write(path: Path, error: OSError) -> RunError:
    if error.errno == errno.ENOSPC:
        return RunError(f"{path}: no space left on the disk; free some and start again with --resume")
    return RunError(f"{path}: cannot be written ({error.strerror or error})")


def remove_folder(folder: Path) -> None:
    """Gone in one step under its name, then taken apart: half a folder never stands where a whole one stood."""
    doomed = folder.with_name(f".{folder.name}.{os.getpid()}.gone")
    folder.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


class Lock:
    """A file that one process holds at a time, whatever the system; it goes when it is let go."""

    def __init__(self, path: Path) -> None:
        from filelock import FileLock  # here, for it imports asyncio

        self.path = path
        self._lock = FileLock(path, blocking=False)

    @property
    def is_held(self) -> bool:
        return bool(self._lock.is_locked)

    def hold(self) -> bool:
        """False if another holds it; OSError if it cannot be made."""
        from filelock import Timeout

        try:
            self._lock.acquire()
        except Timeout:
            return False
        return True

    def let_go(self) -> None:
        if self.is_held:
            with suppress(OSError):  # Windows removes no file that is open; filelock does it there afterwards
                self.path.unlink()
            self._lock.release(force=True)
