"""Exchange files of translators -> pairs: TMX 1.x, XLIFF 1.2 and XLIFF 2.

One walk over the XML serves both: only the unit that is being read is held, and what stands outside of units is passed
over, so memory stays flat.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from seq2see.errors import DataError
from seq2see.formats.lines import open_bytes
from seq2see.formats.markup import LARGEST_UNIT, MOST_NODES, Markup, decoded
from seq2see.formats.pair import Languages, Pair, find_language

NATIVE_CODE = frozenset({"bpt", "ept", "it", "ph", "ut"})
"""Inline elements whose content is markup of the original document, not words. Others (g, hi, mrk, pc) hold words."""

UNTRANSLATED = frozenset({"new", "needs-translation", "initial"})
"""States by which XLIFF 1.2 and 2 say that the target is only a placeholder."""

_INHERITED = ("source-language", "target-language", "srcLang", "trgLang", "translate")
_LONGEST_INHERITED = 100


@dataclass(slots=True)
class Element:
    """An element inside a unit: its attributes, and what it holds in order."""

    name: str
    attributes: dict[str, str]
    content: "list[str | Element]" = field(default_factory=list)

    def children(self, name: str) -> "Iterator[Element]":
        return (part for part in self.content if isinstance(part, Element) and part.name == name)

    def child(self, name: str) -> "Element | None":
        return next(self.children(name), None)


@dataclass(slots=True)
class Unit:
    """A unit that is complete, and what the elements around it say of it."""

    element: Element
    outer: dict[str, str]
    """Attributes that hold for all that is inside an element; of the innermost one."""
    parent: dict[str, str]
    """Those of the element right around it."""


def read_tmx(path: Path, languages: Languages) -> Iterator[Pair]:
    """Units that hold both languages. By default those are the source language of the header and the next one."""
    declared: str | None = None
    settled: tuple[str, str] | None = None
    seen: dict[str, None] = {}
    number, paired = 0, False
    for unit in _units(path, "TMX", "tmx", ("header", "tu")):
        if unit.element.name == "header":
            declared = unit.element.attributes.get("srclang")
            continue
        number += 1
        variants = _variants(unit.element)
        settled = settled or languages.settle(list(variants), None if declared == "*all*" else declared)
        if len(seen) < 10:
            seen.update(dict.fromkeys(variants))
        if settled is None:
            continue
        source, target = (find_language(language, variants) for language in settled)
        if source is not None and target is not None and source != target:
            paired = True
            yield Pair(_text(variants[source], path), _text(variants[target], path), number)
    if number and not paired:
        asked = " and ".join(language for language in languages if language) or "two languages"
        raise DataError(
            f"no unit holds {asked}; the file holds {', '.join(name[:40] for name in seen) or 'none'}", path=path
        )


def read_xliff(path: Path, languages: Languages) -> Iterator[Pair]:
    """Translated units (1.2) and segments (2); one without target, or with a placeholder for it, is left out."""
    for number, unit in enumerate(_units(path, "XLIFF", "xliff", ("trans-unit", "segment")), start=1):
        source, target = unit.element.child("source"), unit.element.child("target")
        if source is None or target is None or not _is_translated(unit, target):
            continue
        pair = _text(source, path), _text(target, path)
        if not pair[1]:
            continue
        if languages.turned(*_stated_languages(unit), path):
            pair = pair[1], pair[0]
        yield Pair(*pair, number)


def _variants(unit: Element) -> dict[str, Element]:
    """Language -> its segment. Of two variants in one language the first counts."""
    variants: dict[str, Element] = {}
    for variant in unit.children("tuv"):
        language = variant.attributes.get("xml:lang") or variant.attributes.get("lang")
        segment = variant.child("seg")
        if language and segment is not None:
            variants.setdefault(language, segment)
    return variants


def _is_translated(unit: Unit, target: Element) -> bool:
    whole = unit.element.name == "trans-unit"
    state = (target if whole else unit.element).attributes.get("state")
    return state not in UNTRANSLATED and (unit.element.attributes if whole else unit.parent).get("translate") != "no"


def _stated_languages(unit: Unit) -> tuple[str | None, str | None]:
    names = ("srcLang", "trgLang") if unit.element.name == "segment" else ("source-language", "target-language")
    return unit.outer.get(names[0]), unit.outer.get(names[1])


def _text(element: Element, path: Path) -> str:
    """The words of a segment with its inline elements taken off and the words inside them kept."""
    parts = []
    for part in element.content:
        if isinstance(part, str):
            parts.append(part)
        elif part.name == "cp":  # XLIFF 2 spells the characters that XML forbids
            parts.append(_forbidden_character(part.attributes.get("hex", ""), path))
        elif part.name not in NATIVE_CODE:
            parts.append(_text(part, path))
    return "".join(parts)


def _forbidden_character(code: str, path: Path) -> str:
    try:
        character = chr(int(code, 16))
        character.encode()
    except (ValueError, OverflowError):
        raise DataError("<cp> does not name a character; repair its hex attribute", path=path) from None
    return character


def _units(path: Path, what: str, root: str, names: tuple[str, ...]) -> Iterator[Unit]:
    """Elements of these names as each of them closes."""
    walk = _Walk(path, what, root, frozenset(names))
    with open_bytes(path) as stream:
        for chunk in decoded(stream, path).chunks:
            yield from walk.feed(chunk)
        yield from walk.feed(b"", last=True)


class _Walk:
    """From events of the parser to units."""

    def __init__(self, path: Path, what: str, root: str, names: frozenset[str]) -> None:
        self._path, self._what, self._root, self._names = path, what, root, names
        self._markup = Markup(path, self._start, self._end, self._text)
        self._around: list[dict[str, str]] = []  # of each open element outside units: what holds inside of it
        self._parents: list[dict[str, str]] = []
        self._open: list[Element] = []  # the unit, and the elements inside it that are open
        self._size = self._nodes = 0
        self._done: list[Unit] = []

    def feed(self, data: bytes, last: bool = False) -> list[Unit]:
        """The units that are complete once these bytes have been read, too."""
        self._markup.feed(data, last)
        done, self._done = self._done, []
        return done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._open:
            self._nodes += 1
            self._size += sum(map(len, attributes.values())) if attributes else 0
            if self._nodes > MOST_NODES or self._size > LARGEST_UNIT:
                raise self._markup.too_large(self._size)
            inner = Element(name, attributes)
            self._open[-1].content.append(inner)
            self._open.append(inner)
        elif name in self._names and self._around:
            self._size = self._nodes = 0
            self._open.append(Element(name, attributes))
        else:
            if not self._around and name != self._root:
                message = f"is not {self._what}: it has no <{self._root}> at its root; check the file's suffix"
                raise DataError(message, path=self._path)
            own = {key: attributes[key][:_LONGEST_INHERITED] for key in _INHERITED if key in attributes}
            self._parents.append(own)
            self._around.append((self._around[-1] if self._around else {}) | own)

    def _end(self, name: str) -> None:
        if not self._open:
            self._around.pop()
            self._parents.pop()
            return
        closed = self._open.pop()
        if not self._open:
            self._done.append(Unit(closed, self._around[-1], self._parents[-1]))

    def _text(self, text: str) -> None:
        if self._open:
            self._size += len(text)
            if self._size > LARGEST_UNIT:
                raise self._markup.too_large(self._size)
            self._open[-1].content.append(text)
