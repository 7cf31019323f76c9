"""Exchange files (XLIFF 1.2 and 2): their pairs, and the same file translated in place.

One walk over the XML yields the bytes between units and the units; pairs and documents are two views of them. One unit
is in memory at a time; no entity is expanded and nothing outside the file is fetched.

In place, the XML is not written anew: the parser says where each element stands, and only the `<target>` of a
translated unit and the attributes that state what became of it are set into the bytes of the file.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from seq2see.errors import DataError
from seq2see.formats.documents.base import Document, Existing, Kept, Part, Segment, Slot
from seq2see.formats.documents.inline import Code, Content, Role, TaggedText, escaped, sentences
from seq2see.formats.pair import Languages, Pair
from seq2see.formats.reading.markup import LARGEST_UNIT, MOST_NODES, NATIVE_CODE, EncodedBytes, Markup, decoded
from seq2see.formats.reading.unpacking import open_bytes

UNTRANSLATED = frozenset({"new", "needs-translation", "initial"})
"""States by which XLIFF 1.2 and 2 say that the target is only a placeholder."""

_LANGUAGES = {"file": ("source-language", "target-language"), "xliff": ("srcLang", "trgLang")}
"""Where XLIFF 1.2 and 2 state the languages."""

_STATED = tuple(name for names in _LANGUAGES.values() for name in names)
_LONGEST_LANGUAGE = 100
_UNITS = frozenset({"trans-unit", "segment"})
_OPENS = frozenset({"bpt", "bx", "sc", "sm"})
_CLOSES = frozenset({"ept", "ex", "ec", "em"})
_TAG = re.compile(rb"""<[^"'>]*(?:"[^"]*"[^"'>]*|'[^']*'[^"'>]*)*>""")
_ATTRIBUTE = re.compile(r"""\s+([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')""")


# ----- the file as units, and the bytes between them


@dataclass
class _Child:
    """A <source>, <seg-source> or <target>: where it and its tag stand, and what it holds.

    `content` is for a translation, with every inline element as it is spelt; `words` are what a reader sees of it.
    """

    start: int
    tag: bytes
    attributes: dict[str, str]
    preserve: bool
    end: int = 0
    content: Content = field(default_factory=list)
    words: list[str | None] = field(default_factory=list)
    """None stands for a <cp> that names no character."""

    @property
    def empty(self) -> bool:
        return not any(isinstance(part, Code) or part.strip() for part in self.content)

    def text(self, path: Path) -> str:
        """The words, with inline elements taken off and the words inside them kept."""
        words = [word for word in self.words if word is not None]
        if len(words) < len(self.words):
            raise DataError("<cp> does not name a character; repair its hex attribute", path=path)
        return "".join(words)


@dataclass
class _Unit:
    """A <trans-unit> (1.2) or <segment> (2)."""

    name: str
    start: int
    tag: bytes
    attributes: dict[str, str]
    segment: Segment
    translate: bool
    languages: dict[str, str]
    children: dict[str, _Child] = field(default_factory=dict)
    raw: bytes = b""

    @property
    def source(self) -> _Child:
        """Where it has been cut into sentences, that version counts."""
        return self.children["seg-source" if "seg-source" in self.children else "source"]

    @property
    def is_translatable(self) -> bool:
        return self.translate and "source" in self.children and not self.source.empty

    @property
    def is_translated(self) -> bool:
        target = self.children.get("target")
        return target is not None and not target.empty and not self.is_placeholder

    @property
    def is_placeholder(self) -> bool:
        """Whether its state says that the target is none."""
        stated = self.children["target"].attributes if self.name == "trans-unit" else self.attributes
        return stated.get("state") in UNTRANSLATED

    @property
    def stated_languages(self) -> tuple[str | None, str | None]:
        source, target = _LANGUAGES["xliff" if self.name == "segment" else "file"]
        return self.languages.get(source), self.languages.get(target)


class _Open(NamedTuple):
    """An element that is not closed yet, and what those inside it inherit."""

    name: str
    translate: bool
    preserve: bool
    languages: dict[str, str]


_OUTSIDE = _Open("", translate=True, preserve=False, languages={})


class _Inline(NamedTuple):
    """An inline element that is not closed yet. One that is `held` becomes a single code with all that is in it."""

    place: int
    role: Role
    link: str
    sentence: bool
    held: bool
    alone: bool


class _Walk:
    """From events of the parser to units and the bytes between them, all in UTF-8.

    Places are counted in bytes of UTF-8 from the start of the file. With `target_language`, the tags that could state
    it and do not come with it.
    """

    def __init__(self, path: Path, target_language: str | None) -> None:
        self._path, self._target_language = path, target_language
        self._data, self._base = bytearray(), 0  # what was read and not handed on, and where it begins
        self._seen = 0  # the parser will not come back before this place
        self._parts: list[bytes | _Unit] = []
        self._stack: list[_Open] = []
        self._unit: _Unit | None = None
        self._child: _Child | None = None
        self._inline: list[_Inline] = []
        self._silent = 0  # open inline elements whose content is no words
        self._names = {"file": "", "unit": ""}
        self._nodes = 0  # of the unit
        self._markup = Markup(path, self._start, self._end, self._text)

    def feed(self, data: bytes, last: bool) -> "list[bytes | _Unit]":
        """The parts that are complete once these bytes have been read, too."""
        if b"\0" in data:  # expat would take it for UTF-16 and count in other bytes than ours
            message = "holds NUL characters, which XML forbids; is it in an encoding that it does not state?"
            raise DataError(message, path=self._path, line=1)
        self._data += data
        self._markup.feed(data, last)
        if self._unit is None:
            self._hand_on(self._base + len(self._data) if last else self._seen)
        if len(self._data) > LARGEST_UNIT:
            raise self._markup.too_large(len(self._data))
        parts, self._parts = self._parts, []
        return parts

    def _hand_on(self, end: int) -> None:
        """What stands before this place stays as it is."""
        if end > self._base:
            self._parts.append(self._taken(end))

    def _taken(self, end: int) -> bytes:
        taken = bytes(self._data[: end - self._base])
        del self._data[: end - self._base]
        self._base = end
        return taken

    def _tag(self, place: int) -> bytes:
        """The start tag at this place; the parser has read it, so it is there as a whole."""
        tag = _TAG.match(self._data, place - self._base)
        assert tag is not None
        return tag[0]

    def _behind(self, place: int) -> int:
        """The place behind the end tag that begins here."""
        return self._data.index(b">", place - self._base) + 1 + self._base

    def _start(self, local: str, attributes: dict[str, str]) -> None:
        place = self._markup.place
        outer = self._stack[-1] if self._stack else _OUTSIDE
        if not self._stack and local != "xliff":
            message = "is not XLIFF: it has no <xliff> at its root; check the file's suffix"
            raise DataError(message, path=self._path)
        translate = {"yes": True, "no": False}.get(attributes.get("translate", ""), outer.translate)
        preserve = {"preserve": True, "default": False}.get(attributes.get("xml:space", ""), outer.preserve)
        stated = {name: attributes[name][:_LONGEST_LANGUAGE] for name in _STATED if name in attributes}
        languages = outer.languages | stated if stated else outer.languages
        self._stack.append(_Open(local, translate, preserve, languages))
        self._seen = place
        self._nodes += 1
        if self._unit is not None and self._nodes > MOST_NODES:
            raise self._markup.too_large(0)
        if self._child is not None:
            self._start_code(self._child, local, attributes, place)
        elif self._unit is not None:
            if outer.name == self._unit.name and local in ("source", "seg-source", "target"):
                self._child = _Child(place, self._tag(place), attributes, preserve)
        elif local in _UNITS:
            self._unit = self._new_unit(self._stack[-1], attributes, place)
            self._nodes = 0
        else:
            self._remember(local, attributes, place)

    def _new_unit(self, opened: _Open, attributes: dict[str, str], place: int) -> _Unit:
        identity = ".".join(part for part in (self._names["unit"], attributes.get("id", "")) if part)
        segment = Segment(identity, (), self._names["file"], self._markup.line)
        return _Unit(opened.name, place, self._tag(place), attributes, segment, opened.translate, opened.languages)

    def _remember(self, local: str, attributes: dict[str, str], place: int) -> None:
        """Names for what comes inside; and the language of the targets, if the file does not say it."""
        if local in self._names:
            self._names[local] = attributes.get("original") or attributes.get("id", "")
        stated, language = _LANGUAGES.get(local), self._target_language
        if stated and language and stated[0] in attributes and stated[1] not in attributes:
            self._hand_on(place)
            tag = self._taken(place + len(self._tag(place))).decode()
            self._parts.append(with_attribute(tag, stated[1], language).encode())
            self._seen = self._base

    def _start_code(self, child: _Child, local: str, attributes: dict[str, str], place: int) -> None:
        if self._silent or local in NATIVE_CODE:
            self._silent += 1
        elif local == "cp":  # XLIFF 2 spells the characters that XML forbids
            child.words.append(_forbidden_character(attributes.get("hex", "")))
            self._silent = 1
        if self._inline and self._inline[-1].held:
            self._inline.append(self._inline[-1])
            return
        tag = self._tag(place).decode()
        protected = attributes.get("translate") == "no" or attributes.get("mtype") == "protected"
        link = attributes.get("rid") or attributes.get("startRef") or attributes.get("id", "")
        sentence = local == "mrk" and attributes.get("mtype") == "seg"
        role: Role = "opens" if local in _OPENS else "closes" if local in _CLOSES else "stands alone"
        held, alone = local in NATIVE_CODE or protected, tag.endswith("/>")
        code = _Inline(place, role, f"{local[1:]} {link}", sentence, held, alone)
        if alone:
            child.content.append(Code(tag, role, code.link))
        elif not held:
            code = code._replace(role="opens", link=f"element {place}")
            child.content.append(Code(tag, "opens", code.link, sentence))
        self._inline.append(code)

    def _end(self, name: str) -> None:
        place = self._markup.place
        closed = self._stack.pop()
        self._seen = place
        if self._child is not None and self._inline:
            self._end_code(self._child, place)
        elif self._child is not None and self._unit is not None:
            child, self._child = self._child, None
            child.end = child.start + len(child.tag) if child.tag.endswith(b"/>") else self._behind(place)
            self._unit.children.setdefault(closed.name, child)
        elif self._unit is not None and closed.name == self._unit.name:
            self._finish(self._unit, place)

    def _end_code(self, child: _Child, place: int) -> None:
        code = self._inline.pop()
        self._silent -= self._silent > 0
        if code.alone or (self._inline and self._inline[-1].held):
            return
        start = code.place if code.held else place
        raw = bytes(self._data[start - self._base : self._behind(place) - self._base]).decode()
        child.content.append(Code(raw, code.role if code.held else "closes", code.link, code.sentence))

    def _text(self, text: str) -> None:
        if self._child is None:
            if self._unit is None:  # text outside of units, such as a skeleton of any length, is not held
                self._seen = self._markup.place
            return
        if not self._silent:
            self._child.words.append(text)
        if not (self._inline and self._inline[-1].held):
            self._child.content.append(text)

    def _finish(self, unit: _Unit, place: int) -> None:
        end = unit.start + len(unit.tag) if unit.tag.endswith(b"/>") else self._behind(place)
        self._hand_on(unit.start)
        unit.raw = self._taken(end)
        self._unit, self._seen = None, end
        self._parts.append(unit)


def _units(path: Path, encoded: EncodedBytes, target_language: str | None = None) -> "Iterator[bytes | _Unit]":
    """The units of the file as each of them closes, and the bytes between them."""
    walk = _Walk(path, target_language)
    for chunk in encoded.chunks:
        yield from walk.feed(chunk, last=False)
    yield from walk.feed(b"", last=True)


def _forbidden_character(code: str) -> str | None:
    try:
        character = chr(int(code, 16))
        character.encode()
    except (ValueError, OverflowError):
        return None
    return character


# ----- pairs


def read_xliff(path: Path, languages: Languages) -> Iterator[Pair]:
    """Translated units (1.2) and segments (2); one without target, or with a placeholder for it, is left out."""
    number = 0
    with open_bytes(path) as stream:
        for unit in _units(path, decoded(stream, path)):
            if isinstance(unit, bytes):
                continue
            number += 1
            source, target = unit.children.get("source"), unit.children.get("target")
            if source is None or target is None or not unit.translate or unit.is_placeholder:
                continue
            source_text, target_text = source.text(path), target.text(path)
            if not target_text:
                continue
            if languages.turned(*unit.stated_languages, path):
                source_text, target_text = target_text, source_text
            yield Pair(source_text, target_text, number)


# ----- in place


@dataclass(frozen=True)
class Xliff(Document):
    """With `existing="keep"` only units without a target, or with one that is a placeholder for it, are translated.

    `review` states that a human has to look at the translation (1.2: needs-review-translation); 2 calls both
    "translated". `target_language` is stated where the file leaves it out: XLIFF 2 asks for it once there are targets.
    """

    path: Path
    existing: Existing = "keep"
    review: bool = True
    target_language: str | None = None

    def written(self, data: bytes) -> bytes:
        """The parts are in the encoding that the file states, and have references for what it cannot say."""
        return data

    def parts(self) -> Iterator[Part]:
        with open_bytes(self.path) as stream:
            encoded = decoded(stream, self.path)
            if encoded.mark:
                yield Kept(encoded.mark)
            for part in _units(self.path, encoded, self.target_language):
                if isinstance(part, bytes):
                    yield Kept(recoded(part, encoded.codec))
                elif part.is_translatable and (self.existing == "replace" or not part.is_translated):
                    yield _Target(part, self.review, encoded.codec)
                else:
                    yield Kept(recoded(part.raw, encoded.codec), translated=part.is_translated)


class _Target(Slot):
    """A unit that gets a target."""

    def __init__(self, unit: _Unit, review: bool, codec: str) -> None:
        self._unit, self._raw, self._review, self._codec = unit, unit.raw, review, codec
        self._source = unit.source
        self._layout = sentences(self._source.content, self._source.preserve)
        texts = tuple(part.text for part in self._layout if isinstance(part, TaggedText))
        self.segment = unit.segment._replace(texts=texts)

    def filled(self, translations: Sequence[str]) -> bytes:
        if not any(translations):
            return recoded(self._raw, self._codec)
        unit, begin = self._unit, self._unit.start
        edits = [(begin, begin + len(unit.tag), self._unit_tag()), self._target(self._content(translations))]
        parts, place = [], begin
        for start, end, text in edits:
            parts += [self._raw[place - begin : start - begin], text.encode()]
            place = end
        return recoded(b"".join([*parts, self._raw[place - begin :]]), self._codec)

    def _content(self, translations: Sequence[str]) -> str:
        newline = "\r\n" if b"\r\n" in self._raw else "\n"
        following = iter(translations)
        parts = []
        for part in self._layout:
            if isinstance(part, TaggedText):
                parts.append(part.written(next(following) or part.text, newline))
            else:
                parts.append(part.raw if isinstance(part, Code) else escaped(part, newline))
        return "".join(parts)

    def _unit_tag(self) -> str:
        """XLIFF 2 states what became of it here; 1.2 only that it was approved, which it no longer is."""
        tag = self._unit.tag.decode()
        if self._unit.name == "segment":
            return with_attribute(with_attribute(tag, "subState", None), "state", "translated")
        if self._review and self._unit.attributes.get("approved") == "yes":
            return with_attribute(tag, "approved", "no")
        return tag

    def _target(self, content: str) -> tuple[int, int, str]:
        """From where to where, and what: in place of the old one, or on a new line behind the source."""
        old = self._unit.children.get("target")
        prefix, colon, _ = re.split(r"[\s/>]", self._unit.tag.decode()[1:])[0].rpartition(":")
        name = f"{prefix}{colon}target"
        tag = old.tag.decode() if old else f"<{name}>"
        if tag.endswith("/>"):
            tag = tag[:-2].rstrip() + ">"
        if self._unit.name == "trans-unit":
            tag = with_attribute(tag, "state", "needs-review-translation" if self._review else "translated")
            tag = with_attribute(tag, "state-qualifier", "mt-suggestion")
        if old:
            name = re.split(r"[\s/>]", tag[1:])[0]
            return old.start, old.end, f"{tag}{content}</{name}>"
        before = self._raw[: self._source.start - self._unit.start]
        indent = before[len(before.rstrip()) :].decode()
        return self._source.end, self._source.end, f"{indent}{tag}{content}</{name}>"


def with_attribute(tag: str, name: str, value: str | None) -> str:
    """A start tag with this attribute, or without it; the others stay as they are."""
    written = "" if value is None else f' {name}="{escaped(value, " ").replace(chr(34), "&quot;")}"'
    for attribute in _ATTRIBUTE.finditer(tag):
        if attribute[1] == name:
            return tag[: attribute.start()] + written + tag[attribute.end() :]
    end = len(tag) - (2 if tag.endswith("/>") else 1)
    end = len(tag[:end].rstrip())
    return tag[:end] + written + tag[end:]


def recoded(data: bytes, codec: str) -> bytes:
    """UTF-8 in the file's own encoding; characters that it does not have become references."""
    return data if codec == "utf-8" else data.decode().encode(codec, "xmlcharrefreplace")
