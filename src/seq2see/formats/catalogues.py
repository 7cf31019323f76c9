"""gettext catalogues -> pairs: PO (text) and MO (compiled).

Read by hand rather than with a library because the libraries hold the whole catalogue and lose the line numbers. Both
state their encoding in their header, and are read in it. A catalogue says only what it translates *to* (`Language:` in
its header), so asking for that language as the source turns the pairs around.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from seq2see.errors import DataError
from seq2see.formats.encodings import REPLACING, UTF_8, advice, find_encoding
from seq2see.formats.lines import LONGEST_LINE, codec_of, open_bytes, read_lines
from seq2see.formats.pair import Languages, Pair
from seq2see.formats.unpacking import CHUNK

LARGEST_MO = 64 * 2**20
"""Bytes. An MO file is addressed by offsets and has to be held whole."""

MOST_LINES = 100_000
"""Of one entry of a PO file."""

_KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(".*)')
_QUOTED = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\"}
_CHARSET = re.compile(rb"^\s*\"?\s*Content-Type:[^\n]*?charset=([A-Za-z\d][\w.:-]*)", re.MULTILINE | re.IGNORECASE)
_PO_HEADER = re.compile(rb'^[ \t]*msgid[ \t]*""[ \t\r]*\n[ \t]*msgstr((?:[ \t]*".*"[ \t\r]*\n?)+)', re.MULTILINE)
_LANGUAGE = re.compile(r"^Language:[ \t]*([A-Za-z][\w@.-]*)", re.MULTILINE | re.IGNORECASE)


class Message(NamedTuple):
    """One entry of a catalogue; the header is the one whose `text` is empty."""

    line: int
    text: str
    plural: str | None
    translations: list[str]

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Translated forms only. The singular goes with the first form, the plural with the last.

        Those two are right whatever the number of forms: a language with one form (Korean) uses it for both, and where
        there are more, what lies between depends on the number, which the text does not show.
        """
        if self.translations[0]:
            yield self.text, self.translations[0]
        if self.plural is not None and self.translations[-1]:
            yield self.plural, self.translations[-1]


def read_po(path: Path, languages: Languages, encoding: str | None = None) -> Iterator[Pair]:
    """Translated messages; obsolete, fuzzy and untranslated ones are no translations and are left out."""
    return _pairs(_po_messages(path, encoding), languages, path)


def read_mo(path: Path, languages: Languages, encoding: str | None = None) -> Iterator[Pair]:
    """Every translated message; the compiler has already left out obsolete and fuzzy ones."""
    return _pairs(_mo_messages(path, encoding), languages, path)


def po_encoding(path: Path) -> str | None:
    """What the header of a PO file states; None when it states nothing, as in a template."""
    if not path.is_file():
        return None
    with open_bytes(path) as stream:
        header = _PO_HEADER.search(stream.read(CHUNK))
    return None if header is None else _stated_encoding(header[1].replace(b"\\n", b"\n"), path)


def _stated_encoding(header: bytes, path: Path) -> str | None:
    charset = _CHARSET.search(header)
    if charset is None or charset[1].upper() == b"CHARSET":
        return None
    name = charset[1].decode()
    encoding = find_encoding(name)
    if encoding is None:
        raise DataError(f"its header states the unknown encoding {name[:40]}; correct the header", path=path)
    return UTF_8 if encoding == "ascii" else encoding  # templates say ASCII, and get translations all the same


def _pairs(messages: Iterator[Message], languages: Languages, path: Path) -> Iterator[Pair]:
    turned = False
    for message in messages:
        if not message.text:
            turned = _is_turned("".join(message.translations), languages, path)
            continue
        for text, translation in message.pairs():
            source, target = (translation, text) if turned else (text, translation)
            yield Pair(source, target, message.line)


def _is_turned(header: str, languages: Languages, path: Path) -> bool:
    """Say whether the pairs have to be turned around."""
    language = _LANGUAGE.search(header)
    return languages.turned(None, language[1] if language else None, path)


@dataclass
class _Entry:
    """A message of a PO file while its lines come in."""

    line: int = 0
    fuzzy: bool = False
    parts: dict[str, list[str]] = field(default_factory=dict)
    size: int = 0
    lines: int = 0

    @property
    def translated(self) -> bool:
        """The translation comes last, so any line but its continuation begins another entry."""
        return any(keyword.startswith("msgstr") for keyword in self.parts)

    def message(self, path: Path) -> Message | None:
        """The finished message, None when there is nothing to use."""
        if not self.parts:
            return None
        if "msgid" not in self.parts or not self.translated:
            raise DataError("the entry lacks its msgid or msgstr; complete or remove it", path=path, line=self.line)
        if self.fuzzy and any(self.parts["msgid"]):
            return None
        texts = {keyword: "".join(parts) for keyword, parts in self.parts.items()}
        forms = [text for keyword, text in texts.items() if keyword.startswith("msgstr")]
        if not texts["msgid"] and "msgctxt" in texts:
            return None
        return Message(self.line, texts["msgid"], texts.get("msgid_plural"), forms)


def _po_messages(path: Path, encoding: str | None) -> Iterator[Message]:
    entry, keyword = _Entry(), ""
    stated = po_encoding(path)
    for line, raw in enumerate(read_lines(path, stated or encoding, declared=stated is not None), start=1):
        text = raw.strip()
        found = _KEYWORD.fullmatch(text)
        if text.startswith("#") or (found and entry.translated and not found[1].startswith("msgstr")):
            if entry.parts:
                if message := entry.message(path):
                    yield message
                entry, keyword = _Entry(), ""
            if text.startswith("#"):
                # the flags of an obsolete entry (#~) are not those of the next one
                entry.fuzzy = not text.startswith("#~") and (entry.fuzzy or _is_fuzzy(text))
        if found:
            keyword = found[1]
            if keyword in entry.parts:
                raise DataError(f"a second {keyword} in one entry; remove one of the two", path=path, line=line)
            entry.line = entry.line or line
            entry.parts[keyword] = [_unquote(found[2], path, line)]
        elif text.startswith('"') and keyword:
            entry.parts[keyword].append(_unquote(text, path, line))
        elif text and not text.startswith("#"):
            raise DataError("not a line of a PO file; check it with msgfmt --check", path=path, line=line)
        if entry.parts:
            entry.size += len(raw)
            entry.lines += 1
            check_entry(entry.size, entry.lines, path, line)
    if message := entry.message(path):
        yield message


def check_entry(size: int, lines: int, path: Path, line: int) -> None:
    """Complain about an entry that grows beyond all bounds; it has to be held."""
    if size > LONGEST_LINE or lines > MOST_LINES:
        raise DataError("an entry without end; is this a PO file?", path=path, line=line)


def _is_fuzzy(comment: str) -> bool:
    return comment.startswith("#,") and "fuzzy" in comment[2:].replace(",", " ").split()


def _unquote(text: str, path: Path, line: int) -> str:
    quoted = _QUOTED.fullmatch(text)
    if not quoted:
        raise DataError('a text has to stand between two "; close it, or write \\" inside it', path=path, line=line)
    if "\\" not in quoted[1]:
        return quoted[1]

    def character(escape: re.Match[str]) -> str:
        octal, hexadecimal, letter = escape.groups()
        code = int(octal, 8) if octal else int(hexadecimal, 16) if hexadecimal else None
        if letter in _ESCAPED:
            return _ESCAPED[letter]
        if code is None or code > 127:  # escapes are bytes: past ASCII they are pieces of characters
            raise DataError("unknown escape; write the character itself in UTF-8", path=path, line=line)
        return chr(code)

    return _ESCAPE.sub(character, quoted[1])


def _mo_messages(path: Path, encoding: str | None) -> Iterator[Message]:
    """The layout: seven words of header, then two tables of (length, offset), originals and translations."""
    data = bytearray()
    with open_bytes(path) as stream:
        while len(data) <= LARGEST_MO and (chunk := stream.read(CHUNK)):
            data += chunk
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(bytes(data[:4]))
    if order is None or len(data) < 28 or len(data) > LARGEST_MO:
        raise DataError("not a compiled gettext catalogue; make one with msgfmt, or give the .po", path=path)
    revision, count, originals, translations = struct.unpack_from(f"{order}4I", data, 4)
    if revision >> 16 > 1 or max(originals, translations) + 8 * count > len(data):
        raise _damaged(path)
    codec = _mo_encoding(data, order, originals, translations, path) if count else None
    codec = codec_of(b"", codec or encoding or UTF_8)
    spent = 0
    for number in range(count):
        places = [struct.unpack_from(f"{order}2I", data, table + 8 * number) for table in (originals, translations)]
        spent += sum(length for length, _ in places)
        if spent > len(data):  # texts that share their bytes: no compiler does it, and it could go on for ever
            raise _damaged(path)
        texts = [_mo_text(data, length, offset, codec, path, number + 1) for length, offset in places]
        _, separator, original = texts[0].rpartition("\x04")
        text, zero, plural = original.partition("\0")
        if text or not separator:
            yield Message(number + 1, text, plural if zero else None, texts[1].split("\0"))


def _mo_encoding(data: bytearray, order: str, originals: int, translations: int, path: Path) -> str | None:
    """What the header states; it translates the empty text, and originals are sorted, so it comes first."""
    length, offset = struct.unpack_from(f"{order}2I", data, translations)
    (original,) = struct.unpack_from(f"{order}I", data, originals)
    return None if original else _stated_encoding(bytes(data[offset : offset + min(length, CHUNK)]), path)


def _mo_text(data: bytearray, length: int, offset: int, codec: str, path: Path, number: int) -> str:
    if offset + length > len(data):
        raise _damaged(path)
    text = bytes(data[offset : offset + length])
    try:
        return text.decode(UTF_8 if codec == REPLACING else codec, "replace" if codec == REPLACING else "strict")
    except UnicodeDecodeError as error:
        raise DataError(
            f"message {number} is not {codec.upper()} at byte {offset + error.start}; {advice(text)}, or give the .po",
            path=path,
        ) from None


def _damaged(path: Path) -> DataError:
    return DataError("the catalogue is cut short or damaged; compile it again with msgfmt", path=path)
