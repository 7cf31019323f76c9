"""Files that are whole or not there: written under a temporary name, flushed to the disk, then renamed."""

import errno
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from seq2see.errors import RunError


def write_file(path: Path, content: bytes) -> None:
    """The file appears under its name only when it is complete; an error leaves what was there before."""
    if is_stream(path):
        _write_straight(path, content)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
        sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        temporary.unlink(missing_ok=True)


def _write_straight(path: Path, content: bytes) -> None:
    try:
        with path.open("wb") as file:
            file.write(content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from None


def is_stream(path: Path) -> bool:
    """Whether this is a pipe, a terminal or /dev/stdout: written straight away, never replaced by another file.

    /dev/stdout leads to an ordinary file when it is redirected, and renaming over it would ruin it for everybody.
    """
    placed = str(path.absolute()).startswith(("/dev/", "/proc/"))
    return placed or (path.exists() and not path.is_file())


def write_json(path: Path, content: Any) -> None:
    write_file(path, json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n")


def sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """A rename is safe only when its folder is on the disk too."""
    sync_file(folder)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cannot_write(path: Path, error: OSError) -> RunError:
    if error.errno == errno.ENOSPC:
        return RunError(f"{path}: no space left on the disk; free some and start again with --resume")
    return RunError(f"{path}: cannot be written ({error.strerror or error})")


def remove_folder(folder: Path) -> None:
    """Gone in one step under its name, then taken apart: half a folder never stands where a whole one stood."""
    doomed = folder.with_name(f".{folder.name}.{os.getpid()}.gone")
    folder.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)
