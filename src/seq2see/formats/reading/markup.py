"""XML as events, within limits: the parser under TMX and XLIFF.

No entity is expanded and nothing outside the file is fetched. Depth, attributes, names and the longest tag are limited,
so that a small file cannot fill the memory. XML states its own encoding (memories come in UTF-16 as often as
in UTF-8), so here the file's word is taken.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple
from xml.parsers import expat

from seq2see.errors import DataError
from seq2see.formats.reading.encodings import UTF_8, find_encoding
from seq2see.formats.reading.lines import as_utf_8

CHUNK = 2**16

DEEPEST = 256
"""Elements inside each other."""

MOST_ATTRIBUTES = 256
MOST_NAMES = 10_000
"""Different names of elements and attributes: the parser remembers each of them."""

LARGEST_TAG = 2**20
"""Bytes of a tag, a comment or a list of declarations, which the parser holds as a whole."""

LARGEST_UNIT = 16 * 2**20
"""Bytes. More is no unit of text, and would have to be held in memory."""

MOST_NODES = 10_000
"""Elements in one unit."""

NATIVE_CODE = frozenset({"bpt", "ept", "it", "ph", "ut"})
"""Inline elements of TMX and XLIFF whose content is markup of the original document, not words. Others (g, hi, mrk, pc)
hold words."""

_DECLARED = re.compile(rb"""<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_UNMARKED = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}

Start = Callable[[str, dict[str, str]], None]
"""Local name, attributes."""

End = Callable[[str], None]
Text = Callable[[str], None]


class EncodedBytes(NamedTuple):
    """An XML file as UTF-8, and how it is written."""

    mark: bytes
    codec: str
    chunks: Iterator[bytes]


def decoded(stream: IO[bytes], path: Path) -> EncodedBytes:
    """The stream in UTF-8, without its byte order mark."""
    head = stream.read(CHUNK)
    mark, codec = _encoding(head, path)
    rest = iter([head[len(mark) :]] if head[len(mark) :] else [])
    return EncodedBytes(
        mark, codec, as_utf_8(lambda: next(rest, None) or stream.read(CHUNK), codec, path, declared=True)
    )


def _encoding(head: bytes, path: Path) -> tuple[bytes, str]:
    """The byte order mark, and the encoding that it, the first bytes, or the declaration tell."""
    for mark, codec in _MARKS.items():
        if head.startswith(mark):
            return mark, codec
    if codec := _UNMARKED.get(head[:2], ""):
        return b"", codec
    declared = _DECLARED.match(head.lstrip())
    if declared is None:
        return b"", UTF_8
    name = declared[1].decode()
    encoding = find_encoding(name)
    if encoding is None:
        raise DataError(f"is in the unknown encoding {name[:40]}; convert it to UTF-8", path=path, line=1)
    if encoding.startswith(("utf-16", "utf-32")):  # those begin with a mark or with zeros
        raise DataError(f"says that it is {name[:40]}, which it is not; correct its first line", path=path, line=1)
    return b"", encoding


class Markup:
    """Calls back for each start, end and text."""

    def __init__(self, path: Path, start: Start, end: End, text: Text) -> None:
        self.path = path
        self._start, self._end = start, end
        self._depth = self._fed = 0
        self._local: dict[str, str] = {}  # of each name of an element: without its prefix
        self._attributes: set[str] = set()
        self._declaring = -1
        self._parser = parser = expat.ParserCreate(UTF_8)
        parser.buffer_text = True
        parser.StartElementHandler = self._started
        parser.EndElementHandler = self._ended
        parser.CharacterDataHandler = text
        parser.EntityDeclHandler = self._refuse_entity
        parser.SkippedEntityHandler = self._refuse_entity
        parser.StartDoctypeDeclHandler = self._begin_declarations
        parser.EndDoctypeDeclHandler = self._end_declarations

    @property
    def line(self) -> int:
        return self._parser.CurrentLineNumber

    @property
    def place(self) -> int:
        """Of the event that is called back, in bytes of UTF-8."""
        return self._parser.CurrentByteIndex

    def feed(self, data: bytes, last: bool) -> None:
        self._fed += len(data)
        try:
            self._parser.Parse(data, last)
        except expat.ExpatError as error:
            raise _syntax_error(expat.ErrorString(error.code) or "cannot be parsed", error.lineno, self.path) from None
        begun = self._declaring if self._declaring >= 0 else self._parser.CurrentByteIndex
        if self._fed - max(begun, 0) > LARGEST_TAG + len(data):
            raise self._too("a tag, a comment or the declarations are longer than", f"{LARGEST_TAG >> 10} KiB")

    def _started(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._too("elements are nested deeper than", f"{DEEPEST}")
        if len(attributes) > MOST_ATTRIBUTES:
            raise self._too("an element has more attributes than", f"{MOST_ATTRIBUTES}")
        local = self._local.get(name)
        if local is None or (attributes and not attributes.keys() <= self._attributes):
            local = self._local.setdefault(name, name.rpartition(":")[2])
            self._attributes.update(attributes)
            if len(self._local) + len(self._attributes) > MOST_NAMES:
                raise self._too("there are more different names of elements and attributes than", f"{MOST_NAMES:,}")
        self._start(local, attributes)

    def _ended(self, name: str) -> None:
        self._depth -= 1
        self._end(self._local[name])

    def _begin_declarations(self, *_: object) -> None:
        self._declaring = self.place

    def _end_declarations(self) -> None:
        self._declaring = -1

    def _refuse_entity(self, *_: object) -> None:
        raise _entity_error(self.path)

    def _too(self, what: str, limit: str) -> DataError:
        return DataError(f"{what} {limit}, which no exchange file needs", path=self.path, line=self.line)

    def too_large(self, size: int) -> DataError:
        """A unit that grows beyond all bounds: more than LARGEST_UNIT bytes, or MOST_NODES elements."""
        what = (
            f"is longer than {LARGEST_UNIT >> 20} MiB"
            if size > LARGEST_UNIT
            else f"holds more than {MOST_NODES:,} elements"
        )
        return DataError(f"a unit {what}; split it", path=self.path, line=self.line)


def _syntax_error(reason: str, line: int | None, path: Path) -> DataError:
    if "entity" in reason.lower():  # expanding too far, or never declared
        return _entity_error(path)
    reason = " ".join(reason.split())[:120]
    return DataError(f"malformed XML: {reason}; repair it or export it again", path=path, line=line or 1)


def _entity_error(path: Path) -> DataError:
    return DataError("uses XML entities of its own, which are never expanded; export it without a DTD", path=path)
