"""Bytes of a file, plain or .gz, as a stream: nothing is held, and a small .gz cannot unpack without end.

A .gz of text unpacks to 3 to 30 times its size. One that unpacks to hundreds of times is no text and would fill
the disk or keep the machine busy. Plain files have no such limit: whoever means it unpacks the file first.
"""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seq2see.errors import DataError

FREE = 32 * 2**20
"""Bytes that any .gz may unpack to."""

LARGEST_RATIO = 200
"""Beyond FREE: how many times the packed bytes. Zeros reach 1,030, an XML file of equal units 100."""

LARGEST_UNPACKED = 256 * 2**30
"""Bytes that no .gz may unpack to."""

CHUNK = 1 << 16


def check_file(path: Path) -> None:
    """Complain now about a file that cannot be there to read, rather than at its first line."""
    with _reading(path):
        if path.is_dir():
            raise IsADirectoryError
        path.stat()


@contextmanager
def open_bytes(path: Path) -> "Iterator[io.BufferedReader[_Plain | _Packed]]":
    """The bytes of a file, unpacked when it is named .gz; whatever goes wrong while reading is a DataError.

    What goes wrong in the body of the `with` for other reasons, such as a full disk, is not blamed on this file.
    """
    with _reading(path):
        file = path.open("rb", buffering=0)
    with unpacked(file, path) as stream:
        yield stream


@contextmanager
def unpacked(file: io.RawIOBase, path: Path) -> "Iterator[io.BufferedReader[_Plain | _Packed]]":
    """The same of a file that is open already, wherever it lies; it is closed at the end."""
    with file, io.BufferedReader(_Packed(file, path) if is_packed(path) else _Plain(file, path), CHUNK) as stream:
        yield stream


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise DataError("no such file; check the path", path=path) from None
    except IsADirectoryError:
        raise DataError("is a folder; name the files inside it", path=path) from None
    except PermissionError:
        raise DataError("may not be read; check its permissions", path=path) from None
    except EOFError:
        raise DataError("the gzip data ends too early; copy or download the file again", path=path) from None
    except (gzip.BadGzipFile, zlib.error):
        raise DataError(
            "is not valid gzip data; download it again, or drop .gz from the name if it is not packed", path=path
        ) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or 'input/output error'}", path=path) from None


class _Plain(io.RawIOBase):
    def __init__(self, file: io.RawIOBase, path: Path) -> None:
        self._file, self._path = file, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        with _reading(self._path):
            return self._file.readinto(buffer) or 0


class _Packed(io.RawIOBase):
    """Unpacked bytes, as long as they keep within the limits."""

    def __init__(self, file: io.RawIOBase, path: Path) -> None:
        self._path = path
        self._packed = _Counted(file)
        self._unpacked, self._count = gzip.GzipFile(fileobj=self._packed, mode="rb"), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        with _reading(self._path):
            data = self._unpacked.read1(len(buffer))
        self._count += len(data)
        if self._count > LARGEST_UNPACKED:
            limit = f"{LARGEST_UNPACKED >> 30} GiB"
            raise DataError(f"unpacks to more than {limit}; unpack it and name the plain file", path=self._path)
        if self._count > FREE and self._count > LARGEST_RATIO * self._packed.count:
            raise DataError(
                f"unpacks to more than {LARGEST_RATIO} times its size, which text does not; if it is meant, unpack it "
                "and name the plain file",
                path=self._path,
            )
        buffer[: len(data)] = data
        return len(data)


class _Counted(io.RawIOBase):
    """A file that knows how much of it was read."""

    def __init__(self, file: io.RawIOBase) -> None:
        self._file, self.count = file, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size) or b""
        self.count += len(data)
        return data
