"""Lines in and lines out: as many as are there, as soon as they are there, and never one more or one less.

A line ends at `\\n` and nowhere else. Bytes that are no UTF-8 become U+FFFD and are counted, so that no line is lost.
"""

import codecs
import os
import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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
    bytes_read: int = 0
    repaired: list[int] = field(default_factory=list)  # numbers (from 1) of the first lines with broken UTF-8
    broken: int = 0  # how many of them there were
    count: int = 0

    def windows(self) -> Iterator[list[str]]:
        pending: list[bytes] = []
        parts: list[bytes] = []  # of a line whose end has not come
        size = 0
        for chunk in iter(self.read, b""):
            self.bytes_read += len(chunk)
            size += len(chunk)
            first, *others = chunk.split(b"\n")
            parts.append(first)
            for other in others:
                pending.append(b"".join(parts))
                parts = [other]
            full = len(pending) >= self.most or size >= self.most_bytes
            if pending and (full or not self.ready()):
                yield from self._decoded(pending)
                pending, size = [], 0
        if any(parts):
            pending.append(b"".join(parts))
        yield from self._decoded(pending)

    def _decoded(self, pending: list[bytes]) -> Iterator[list[str]]:
        for start in range(0, len(pending), self.most):
            yield [self._text(line) for line in pending[start : start + self.most]]

    def _text(self, line: bytes) -> str:
        self.count += 1
        if self.count == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        line = line.removesuffix(b"\r")
        try:
            return line.decode()
        except UnicodeDecodeError:
            self.broken += 1
            if len(self.repaired) < 3:
                self.repaired.append(self.count)
            return line.decode(errors="replace")


def from_descriptor(descriptor: int) -> Lines:
    """Of a pipe or a terminal: whatever is there is one window."""

    def ready() -> bool:
        try:
            return bool(select.select([descriptor], [], [], 0)[0])
        except (OSError, ValueError):  # not something that can be waited for
            return True

    return Lines(lambda: os.read(descriptor, _READ), ready)


def one_line(text: str) -> str:
    """What a model says may hold line breaks; written as one line it must not."""
    return (
        text if not ("\n" in text or "\r" in text) else text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    )
