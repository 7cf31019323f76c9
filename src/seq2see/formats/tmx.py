"""Translation memories (TMX 1.x) -> pairs.

Only the unit that is being read is held, and what stands outside of units is passed over, so memory stays flat. A
memory is not translated: it holds nothing but translations.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from seq2see.errors import DataError
from seq2see.formats.pair import Languages, Pair, find_language
from seq2see.formats.reading.markup import LARGEST_UNIT, MOST_NODES, NATIVE_CODE, Markup, decoded
from seq2see.formats.reading.unpacking import open_bytes


@dataclass(slots=True)
class _Element:
    """The header or a unit, or an element inside it: its attributes, and what it holds in order."""

    name: str
    attributes: dict[str, str]
    content: "list[str | _Element]" = field(default_factory=list)

    def children(self, name: str) -> "Iterator[_Element]":
        return (part for part in self.content if isinstance(part, _Element) and part.name == name)

    @property
    def words(self) -> str:
        """The text with its inline elements taken off and the words inside them kept."""
        parts = (part if isinstance(part, str) else part.words for part in self.content)
        return "" if self.name in NATIVE_CODE else "".join(parts)


def read_tmx(path: Path, languages: Languages) -> Iterator[Pair]:
    """Units that hold both languages. By default those are the source language of the header and the next one."""
    header_language: str | None = None
    settled: tuple[str, str] | None = None
    seen: dict[str, None] = {}
    number, paired = 0, False
    for element in _elements(path):
        if element.name == "header":
            header_language = element.attributes.get("srclang")
            continue
        number += 1
        variants = _variants(element)
        settled = settled or languages.settle(list(variants), None if header_language == "*all*" else header_language)
        if len(seen) < 10:
            seen.update(dict.fromkeys(variants))
        if settled is None:
            continue
        source, target = (find_language(language, variants) for language in settled)
        if source is not None and target is not None and source != target:
            paired = True
            yield Pair(variants[source].words, variants[target].words, number)
    if number and not paired:
        asked = " and ".join(language for language in languages if language) or "two languages"
        raise DataError(
            f"no unit holds {asked}; the file holds {', '.join(name[:40] for name in seen) or 'none'}", path=path
        )


def _variants(unit: _Element) -> dict[str, _Element]:
    """Language -> its segment. Of two variants in one language the first counts."""
    variants: dict[str, _Element] = {}
    for variant in unit.children("tuv"):
        language = variant.attributes.get("xml:lang") or variant.attributes.get("lang")
        segment = next(variant.children("seg"), None)
        if language and segment is not None:
            variants.setdefault(language, segment)
    return variants


def _elements(path: Path) -> Iterator[_Element]:
    """The header and each unit as it closes."""
    walk = _Walk(path)
    with open_bytes(path) as stream:
        for chunk in decoded(stream, path).chunks:
            yield from walk.feed(chunk)
        yield from walk.feed(b"", last=True)


class _Walk:
    """From events of the parser to elements."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._markup = Markup(path, self._start, self._end, self._text)
        self._outside = 0  # open elements outside of units
        self._open: list[_Element] = []  # the unit, and the elements inside it that are open
        self._size = self._nodes = 0
        self._closed: list[_Element] = []

    def feed(self, data: bytes, last: bool = False) -> list[_Element]:
        """The units that are complete once these bytes have been read, too."""
        self._markup.feed(data, last)
        closed, self._closed = self._closed, []
        return closed

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._open:
            self._nodes += 1
            self._size += sum(map(len, attributes.values())) if attributes else 0
            if self._nodes > MOST_NODES or self._size > LARGEST_UNIT:
                raise self._markup.too_large(self._size)
            inner = _Element(name, attributes)
            self._open[-1].content.append(inner)
            self._open.append(inner)
        elif name in ("header", "tu") and self._outside:
            self._size = self._nodes = 0
            self._open.append(_Element(name, attributes))
        else:
            if not self._outside and name != "tmx":
                message = "is not TMX: it has no <tmx> at its root; check the file's suffix"
                raise DataError(message, path=self._path)
            self._outside += 1

    def _end(self, name: str) -> None:
        if not self._open:
            self._outside -= 1
            return
        element = self._open.pop()
        if not self._open:
            self._closed.append(element)

    def _text(self, text: str) -> None:
        if self._open:
            self._size += len(text)
            if self._size > LARGEST_UNIT:
                raise self._markup.too_large(self._size)
            self._open[-1].content.append(text)
