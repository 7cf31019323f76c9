"""Bytes -> lines of text: the one place where text is decoded and split. `unpacking` opens the file before it.

Text is UTF-8 unless its encoding is named; bytes that are not in it are an error that says which line, and which
encoding they seem to be in. A line ends at `\\n` and nowhere else. Python's own text mode and `splitlines` also split
at U+2028, U+0085, a form feed or a lone `\\r`, which tears pairs apart; here those characters stay inside the line.
"""

import codecs
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeVar

from seq2see.errors import DataError
from seq2see.formats.reading.encodings import REPLACING, UTF_8, advice, is_utf_8, wide_encoding
from seq2see.formats.reading.unpacking import CHUNK, open_bytes

LONGEST_LINE = 16 * 2**20
"""Bytes. More is not a line of text, and would have to be held in memory."""

STANDARD_INPUT = Path("standard input")

Item = TypeVar("Item")


@contextmanager
def open_text(path: Path, encoding: str | None = None, *, declared: bool = False) -> Iterator[IO[bytes]]:
    """The text of a file as bytes of UTF-8, whatever encoding it is in; its byte order mark stays.

    `declared` says that the file itself states this encoding, so that no option can help when it lies.
    """
    with open_bytes(path) as stream:
        yield buffered(as_utf_8(lambda: stream.read1(CHUNK), encoding, path, declared=declared))


def check_text(path: Path, encoding: str | None = None) -> None:
    """Read the file through, so that a wrong encoding costs seconds and not the work that was done before it."""
    if path.is_file():
        with open_text(path, encoding) as stream:
            while stream.read(CHUNK):
                pass


def encoding_of(path: Path, encoding: str | None) -> str | None:
    """None where the file is UTF-8 all through, else the encoding: for a file beside the one it was named for."""
    if encoding is None or not path.is_file():
        return encoding
    with open_bytes(path) as stream:
        return None if fits_utf_8(lambda: stream.read1(CHUNK), path) else encoding


def fits_utf_8(read: Callable[[], bytes], path: Path) -> bool:
    try:
        for _ in as_utf_8(read, None, path):
            pass
    except DataError:
        return False
    return True


def as_utf_8(
    read: Callable[[], bytes], encoding: str | None, path: Path, *, declared: bool = False, line: int = 1
) -> Iterator[bytes]:
    """What `read` gives (some bytes; none at the end), decoded and in UTF-8. All that is right comes before the error.

    `line` is the number of the first line.
    """
    codec = encoding or UTF_8
    data = _head(read, 4 if codec in ("utf-16", "utf-32") else 1)
    if not declared:
        _check_head(data, codec, path, line)
    codec = codec_of(data, codec)
    decoder = codecs.getincrementaldecoder(UTF_8 if codec == REPLACING else codec)(
        "replace" if codec == REPLACING else "strict"
    )
    seen = 0
    while True:
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            right = error.object[: error.start].decode(codec, "ignore")
            if right:
                yield right.encode()
            message = _complaint(error, seen + len(data), codec, declared=declared)
            raise DataError(message, path=path, line=line + right.count("\n")) from None
        if text:
            yield text.encode()
        if not data:
            return
        seen += len(data)
        line += text.count("\n")
        data = read()


def _complaint(error: UnicodeDecodeError, end: int, codec: str, *, declared: bool) -> str:
    """`end` is where the bytes of the error end in the file; they may begin with a part of a character cut in two."""
    data = error.object
    begin = end - len(data)
    where = f"not {codec.upper()} at byte {begin + error.start}"
    if declared:
        return f"{where}, as the file says it is; mend it or export it again"
    line = data[data.rfind(b"\n", 0, error.start) + 1 :]
    return f"{where}; {advice(line, head=data if begin == 0 else b'')}"


def codec_of(data: bytes, encoding: str) -> str:
    """The codec that keeps the mark of UTF-16 and UTF-32 as a character; `data` begins the text."""
    if encoding not in ("utf-16", "utf-32"):
        return encoding
    big = data.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
    return f"{encoding}-{'be' if big else 'le'}"


def file_codec(path: Path, encoding: str | None) -> str:
    """The codec that writes a file as it was read; what can be read only once is not looked at."""
    if encoding in ("utf-16", "utf-32") and path.is_file():
        with open_bytes(path) as stream:
            return codec_of(stream.read(4), encoding)
    return UTF_8 if encoding in (None, REPLACING) else codec_of(b"", encoding)


def _head(read: Callable[[], bytes], least: int) -> bytes:
    data = read()
    while len(data) < least and (more := read()):
        data += more
    return data


def _check_head(data: bytes, codec: str, path: Path, line: int) -> None:
    """What decodes without an error and is something else all the same."""
    if codec in (UTF_8, REPLACING):
        if wide := wide_encoding(data):
            raise DataError(f"not UTF-8; this looks like {wide.upper()}; add --encoding {wide}", path=path, line=line)
    elif not codec.startswith("utf-") and (data.startswith(codecs.BOM_UTF8) or is_utf_8(data)):
        raise DataError(f"is UTF-8, not {codec.upper()}; leave --encoding away", path=path, line=line)


class _Chunks(io.RawIOBase):
    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        data = self._rest or next(self._chunks, b"")
        self._rest = data[len(buffer) :]
        count = min(len(buffer), len(data))
        buffer[:count] = data[:count]
        return count


def buffered(chunks: Iterator[bytes]) -> IO[bytes]:
    """Bytes that come in chunks, as a stream."""
    return io.BufferedReader(_Chunks(chunks), CHUNK)


def read_raw_lines(path: Path, encoding: str | None = None, *, declared: bool = False) -> Iterator[str]:
    """Decoded lines with their line ends, without a byte order mark at the start of the file."""
    with open_text(path, encoding, declared=declared) as stream:
        yield from _lines(stream, path)


def read_lines(path: Path, encoding: str | None = None, *, declared: bool = False) -> Iterator[str]:
    """Lines without `\\n` and without one `\\r` before it, as Windows leaves it."""
    for text in read_raw_lines(path, encoding, declared=declared):
        yield text.removesuffix("\n").removesuffix("\r")


def read_standard_input(encoding: str | None = None) -> Iterator[str]:
    """The lines of standard input as they come, as `read_lines` gives those of a file."""
    stream = standard_input()
    return lines_of(lambda: stream.read1(CHUNK), STANDARD_INPUT, encoding)


def lines_of(read: Callable[[], bytes], path: Path, encoding: str | None = None) -> Iterator[str]:
    """Lines of what `read` gives: some bytes, none at the end."""
    for text in _lines(buffered(as_utf_8(read, encoding, path)), path):
        yield text.removesuffix("\n").removesuffix("\r")


def standard_input() -> io.BufferedReader:
    if sys.stdin is None:
        raise DataError("is closed; name a file", path=STANDARD_INPUT)
    return sys.stdin.buffer  # type: ignore[return-value]


def _lines(stream: IO[bytes], path: Path) -> Iterator[str]:
    number = 0
    while data := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(data) > LONGEST_LINE:
            raise too_long(path, number)
        text = data.decode()
        if number == 1 and text.startswith("\ufeff"):
            text = text[1:]
            if not text:  # nothing but the mark: an empty file
                return
        yield text


def too_long(path: Path, line: int) -> DataError:
    limit = f"{LONGEST_LINE >> 20} MiB"
    return DataError(f"the line is longer than {limit}; is this a text file?", path=path, line=line)


def at_most(limit: int, items: Iterable[Item], what: str, path: Path) -> Iterator[Item]:
    """The same items, for a list that is held in memory: more than the limit are an error."""
    for number, item in enumerate(items):
        if number >= limit:
            raise DataError(f"holds more than {limit:,} {what}; split it", path=path)
        yield item
