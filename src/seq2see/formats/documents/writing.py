"""Files that appear under their name only when they are complete, written piece by piece."""

import errno
import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from seq2see import atomic
from seq2see.errors import DataError


@contextmanager
def new_file(path: Path) -> Iterator[Callable[[bytes], None]]:
    """A function that adds bytes to the file, packed when it is named .gz. An error leaves what was there before.

    What is no ordinary file (a pipe, /dev/stdout) cannot be replaced by another and is written straight away.
    """
    straight = atomic.is_stream(path)
    with _writing(path):
        temporary, file = (path, path.open("wb")) if straight else atomic.open_temporary(path)
    packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.suffix.lower() == ".gz" else None

    def put(data: bytes) -> None:
        with _writing(path):
            (packed or file).write(data)

    try:
        yield put
        with _writing(path):
            _finish(file, packed, straight)
            if not straight:
                temporary.replace(path)
                atomic.sync_folder(path.parent)
    finally:
        for stream in (packed, file):
            with suppress(OSError, ValueError):  # what could not be written was reported above
                if stream is not None:
                    stream.close()
        if not straight:
            temporary.unlink(missing_ok=True)


def _finish(file: IO[bytes], packed: gzip.GzipFile | None, straight: bool) -> None:
    """Everything on the disk, where there is one."""
    if packed is not None:
        packed.close()
    file.flush()
    if not straight:
        os.fsync(file.fileno())


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except FileNotFoundError:
        raise DataError("the folder to write into does not exist; make it first", path=path) from None
    except IsADirectoryError:
        raise DataError("is a folder; name the file to write", path=path) from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise DataError("no space left on the disk; free some and translate again", path=path) from None
        raise DataError(f"cannot be written: {error.strerror or error}", path=path) from None
