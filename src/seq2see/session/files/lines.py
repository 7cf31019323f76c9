"""Lines in and lines out: as many as are there, as soon as they are there, and never one more or one less.

A line ends at `\\n` and nowhere else. Bytes that are not in the encoding end it with an error, once every line before
them was handed on; only who asked for `utf-8-replace` gets U+FFFD in their place, and those lines are counted.
"""

import json
import os
import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from seq2see.errors import DataError
from seq2see.formats.reading.encodings import REPLACING
from seq2see.formats.reading.lines import LONGEST_LINE, STANDARD_INPUT, as_utf_8, too_long
from seq2see.search import SearchConfig
from seq2see.session.translation import Translation

_READ = 1 << 16

Read = Callable[[], bytes]  # some bytes, waiting for the first; nothing at the end
Ready = Callable[[], bool]  # whether more can be read without waiting


@dataclass
class Lines:
    """A stream of lines in windows. A person who types gets an answer to each line; a file comes in large windows."""

    read: Read
    ready: Ready = lambda: True
    most: int = 2048  # lines in a window
    most_bytes: int = 1 << 20
    encoding: str | None = None
    path: Path = STANDARD_INPUT
    bytes_read: int = 0
    repaired: list[int] = field(
        default_factory=list
    )  # numbers (from 1) of the first lines with U+FFFD for broken bytes
    broken: int = 0  # how many of them there were
    count: int = 0

    def windows(self) -> Iterator[list[str]]:
        pending: list[bytes] = []
        parts: list[bytes] = []  # of a line whose end has not come
        size = length = 0
        chunks = as_utf_8(self._read, self.encoding, self.path)
        problem: DataError | None = None
        while True:
            try:
                chunk = next(chunks, b"")
            except DataError as error:
                problem = error
                break
            if not chunk:
                break
            size += len(chunk)
            first, *others = chunk.split(b"\n")
            parts.append(first)
            length += len(first)
            for other in others:
                pending.append(b"".join(parts))
                parts, length = [other], len(other)
            if length > LONGEST_LINE:
                problem = too_long(self.path, self.count + len(pending) + 1)
                break
            full = len(pending) >= self.most or size >= self.most_bytes
            if pending and (full or not self.ready()):
                yield from self._decoded(pending)
                pending, size = [], 0
        if any(parts) and problem is None:
            pending.append(b"".join(parts))
        yield from self._decoded(pending)
        if problem is not None:
            raise problem

    def _read(self) -> bytes:
        data = self.read()
        self.bytes_read += len(data)
        return data

    def _decoded(self, pending: list[bytes]) -> Iterator[list[str]]:
        for start in range(0, len(pending), self.most):
            yield [self._text(line) for line in pending[start : start + self.most]]

    def _text(self, line: bytes) -> str:
        self.count += 1
        text = line.removesuffix(b"\r").decode()
        if self.count == 1:
            text = text.removeprefix("\ufeff")
        if self.encoding == REPLACING and "\ufffd" in text:
            self.broken += 1
            if len(self.repaired) < 3:
                self.repaired.append(self.count)
        return text


def from_descriptor(descriptor: int, encoding: str | None = None) -> Lines:
    """Of a pipe or a terminal: whatever is there is one window."""

    def ready() -> bool:
        try:
            return bool(select.select([descriptor], [], [], 0)[0])
        except (OSError, ValueError):  # not something that can be waited for
            return True

    return Lines(lambda: os.read(descriptor, _READ), ready, encoding=encoding)


def one_line(text: str) -> str:
    """What a model says may hold line breaks; written as one line it must not."""
    return (
        text if not ("\n" in text or "\r" in text) else text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    )


def as_line(translation: Translation, search: SearchConfig, *, agree: bool = False, as_json: bool = False) -> bytes:
    """The one line of output that a translation is."""
    if as_json:
        text = json.dumps(translation.as_dict(), ensure_ascii=False)
    elif search.nbest == 1 or agree:
        text = one_line(translation.text)
    else:
        text = "\t".join(one_line(hypothesis.text).replace("\t", " ") for hypothesis in translation.nbest)
    return text.encode() + b"\n"
