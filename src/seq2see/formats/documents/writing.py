"""Files that appear under their name only when they are complete, written piece by piece."""

import errno
import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from seq2see import atomic
from seq2see.errors import DataError


@contextmanager
def new_file(path: Path) -> Iterator[Callable[[bytes], None]]:
    """A function that adds bytes to the file, packed when it is named .gz. An error leaves what was there before.

    What is no ordinary file (a pipe, /dev/stdout) cannot be replaced by another and is written straight away.
    """
    with atomic.replacing(path, _cannot_write) as place:
        file = place.open("wb")
        packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.suffix.lower() == ".gz" else None

        def put(data: bytes) -> None:
            try:
                (packed or file).write(data)
            except BrokenPipeError:
                raise
            except OSError as error:
                raise _cannot_write(path, error) from None

        try:
            yield put
            if packed is not None:
                packed.close()
            file.close()
        finally:
            for stream in (packed, file):
                with suppress(OSError, ValueError):  # what could not be written was reported above
                    if stream is not None:
                        stream.close()


def _cannot_write(path: Path, error: OSError) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError("the folder to write into does not exist; make it first", path=path)
    if isinstance(error, IsADirectoryError):
        return DataError("is a folder; name the file to write", path=path)
    if error.errno == errno.ENOSPC:
        return DataError("no space left on the disk; free some and translate again", path=path)
    return DataError(f"cannot be written: {error.strerror or error}", path=path)
