"""gettext catalogues -> pairs: PO (text) and MO (compiled).

Read by hand rather than with a library because the libraries hold the whole catalogue and lose the line numbers. A
catalogue says only what it translates *to* (`Language:` in its header), so asking for that language as the source turns
the pairs around.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from seq2see.errors import DataError
from seq2see.text.lines import open_bytes, read_lines
from seq2see.text.pair import Languages, Pair

LARGEST_MO = 256 * 2**20
"""Bytes. An MO file is addressed by offsets and has to be held whole."""

_KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(".*)')
_QUOTED = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\"}
_CHARSET = re.compile(r"^Content-Type:.*charset=([^\s;]+)", re.MULTILINE | re.IGNORECASE)
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


def read_po(path: Path, languages: Languages) -> Iterator[Pair]:
    """Translated messages; obsolete, fuzzy and untranslated ones are no translations and are left out."""
    return _pairs(_po_messages(path), languages, path)


def read_mo(path: Path, languages: Languages) -> Iterator[Pair]:
    """Every translated message; the compiler has already left out obsolete and fuzzy ones."""
    return _pairs(_mo_messages(path), languages, path)


def _pairs(messages: Iterator[Message], languages: Languages, path: Path) -> Iterator[Pair]:
    turned = False
    for message in messages:
        if not message.text:
            turned = _read_header("".join(message.translations), languages, path, message.line)
            continue
        for text, translation in message.pairs():
            source, target = (translation, text) if turned else (text, translation)
            yield Pair(source, target, message.line)


def _read_header(header: str, languages: Languages, path: Path, line: int) -> bool:
    """Refuse other encodings before they are read as UTF-8; say whether the pairs have to be turned around."""
    charset = _CHARSET.search(header)
    if charset and charset[1].lower().replace("_", "-") not in ("utf-8", "utf8", "us-ascii", "ascii", "charset"):
        raise DataError(
            "the header declares another encoding than UTF-8; convert it with msgconv --to-code=UTF-8",
            path=path,
            line=line,
        )
    language = _LANGUAGE.search(header)
    return languages.turned(None, language[1] if language else None, path)


@dataclass
class _Entry:
    """A message of a PO file while its lines come in."""

    line: int = 0
    fuzzy: bool = False
    parts: dict[str, list[str]] = field(default_factory=dict)

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


def _po_messages(path: Path) -> Iterator[Message]:
    entry, keyword = _Entry(), ""
    for line, raw in enumerate(read_lines(path), start=1):
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
    if message := entry.message(path):
        yield message


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


def _mo_messages(path: Path) -> Iterator[Message]:
    """The layout: seven words of header, then two tables of (length, offset), originals and translations."""
    with open_bytes(path) as stream:
        data = stream.read(LARGEST_MO + 1)
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(data[:4])
    if order is None or len(data) < 28 or len(data) > LARGEST_MO:
        raise DataError("not a compiled gettext catalogue; make one with msgfmt, or give the .po", path=path)
    revision, count, originals, translations = struct.unpack_from(f"{order}4I", data, 4)
    if revision >> 16 > 1 or max(originals, translations) + 8 * count > len(data):
        raise _damaged(path)
    spent = 0
    for number in range(count):
        places = [struct.unpack_from(f"{order}2I", data, table + 8 * number) for table in (originals, translations)]
        spent += sum(length for length, _ in places)
        if spent > len(data):  # texts that share their bytes: no compiler does it, and it could go on for ever
            raise _damaged(path)
        texts = [_mo_text(data, length, offset, path, number + 1) for length, offset in places]
        _, separator, original = texts[0].rpartition("\x04")
        text, zero, plural = original.partition("\0")
        if text or not separator:
            yield Message(number + 1, text, plural if zero else None, texts[1].split("\0"))


def _mo_text(data: bytes, length: int, offset: int, path: Path, number: int) -> str:
    if offset + length > len(data):
        raise _damaged(path)
    try:
        return data[offset : offset + length].decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"message {number} is not UTF-8 at byte {offset + error.start}; compile it again from a UTF-8 .po",
            path=path,
        ) from None


def _damaged(path: Path) -> DataError:
    return DataError("the catalogue is cut short or damaged; compile it again with msgfmt", path=path)
