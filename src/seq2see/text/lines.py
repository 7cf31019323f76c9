"""Bytes on disk -> lines of text: the one place where a text file is opened, unpacked, decoded and split.

A line ends at `\\n` and nowhere else. Python's own text mode and `splitlines` also split at U+2028, U+0085, a form feed
or a lone `\\r`, which tears pairs apart; here those characters stay inside the line.
"""

import gzip
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from seq2see.errors import DataError

LONGEST_LINE = 16 * 2**20
"""Bytes. More is not a line of text, and a small .gz could otherwise unpack to a line that fills the memory."""


def check_file(path: Path) -> None:
    """Complain now about a file that cannot be there to read, rather than at its first line."""
    with _reading(path):
        if path.is_dir():
            raise IsADirectoryError
        path.stat()


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked when it is named .gz; whatever goes wrong while reading is a DataError."""
    with _reading(path), _open(path) as stream:
        yield stream


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


def _open(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def read_raw_lines(path: Path) -> Iterator[str]:
    """Decoded lines with their line ends, without a byte order mark at the start of the file."""
    offset = 0
    with open_bytes(path) as stream:
        number = 0
        while data := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(data) > LONGEST_LINE:
                raise DataError(
                    f"the line is longer than {LONGEST_LINE >> 20} MiB; is this a text file?", path=path, line=number
                )
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                raise DataError(
                    f"not UTF-8 at byte {offset + error.start}{_encoding_hint(data, number)}", path=path, line=number
                ) from None
            offset += len(data)
            if number == 1 and text.startswith("\ufeff"):
                text = text[1:]
                if not text:  # nothing but the mark: an empty file
                    return
            yield text


def read_lines(path: Path) -> Iterator[str]:
    """Lines without `\\n` and without one `\\r` before it, as Windows leaves it."""
    for text in read_raw_lines(path):
        yield text.removesuffix("\n").removesuffix("\r")


def _encoding_hint(data: bytes, number: int) -> str:
    if number == 1 and data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "; this is UTF-16, save the file as UTF-8"
    if number == 1 and data.startswith(b"\x1f\x8b"):
        return "; this is gzip data, add .gz to the name"
    return "; convert the file to UTF-8, for example with iconv"
