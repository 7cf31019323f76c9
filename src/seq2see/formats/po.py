"""gettext catalogues (PO): their pairs, and the same catalogue translated in place.

One walk cuts the file into entries; pairs and documents are two views of them. Read by hand rather than with a library
because the libraries hold the whole catalogue and lose the line numbers. A catalogue states its encoding in its header,
and is read in it. It says only what it translates *to* (`Language:` in its header), so asking for that language as the
source turns the pairs around.

In place, only the lines of `msgstr` and the flag `fuzzy` are ever written anew. Comments, contexts, previous messages,
obsolete entries, the header and the order of everything stay as they are.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from seq2see.errors import DataError
from seq2see.formats.documents.base import Document, Existing, Kept, Part, Segment, Slot, text_lines
from seq2see.formats.documents.directives import fit_for_program
from seq2see.formats.documents.placeholders import placeholders
from seq2see.formats.documents.plurals import PluralForms, plural_forms
from seq2see.formats.documents.wrapping import columns
from seq2see.formats.pair import Languages, Pair
from seq2see.formats.reading.encodings import UTF_8, find_encoding
from seq2see.formats.reading.lines import LONGEST_LINE, file_codec
from seq2see.formats.reading.unpacking import CHUNK, open_bytes

WIDTH = 79
"""Columns after which gettext's own tools break a long text."""

MOST_LINES = 100_000
"""Of one entry, its comments included: they are held together."""

_KEYWORD = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(".*)')
_QUOTED = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\"}
_ESCAPES = {character: f"\\{letter}" for letter, character in _ESCAPED.items()}
_TO_ESCAPE = re.compile(r'[\\"\x00-\x1f\x7f]')
_CHARSET = re.compile(rb"^\s*\"?\s*Content-Type:[^\n]*?charset=([A-Za-z\d][\w.:-]*)", re.MULTILINE | re.IGNORECASE)
_HEADER = re.compile(rb'^[ \t]*msgid[ \t]*""[ \t\r]*\n[ \t]*msgstr((?:[ \t]*".*"[ \t\r]*\n?)+)', re.MULTILINE)
_LANGUAGE = re.compile(r"^Language:[ \t]*([A-Za-z][\w@.-]*)", re.MULTILINE | re.IGNORECASE)


# ----- the file as entries


@dataclass
class _Text:
    """The lines of one keyword: where they stand in the entry, and what they say."""

    first: int
    count: int
    pieces: list[str]

    @cached_property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass
class _Entry:
    """The lines of one entry, with their ends, and where its texts are among them."""

    start: int
    lines: list[str] = field(default_factory=list)
    texts: dict[str, _Text] = field(default_factory=dict)
    flags: list[int] = field(default_factory=list)
    fuzzy: bool = False
    translated: bool = False
    """Whether a msgstr has come. It comes last, so any line but its continuation begins another entry."""

    @property
    def forms(self) -> dict[int, _Text]:
        """Form -> its text; a `msgstr` without number is form 0."""
        return {int(word[7:-1] or 0): text for word, text in self.texts.items() if word.startswith("msgstr")}

    @property
    def line(self) -> int:
        """Of the first keyword in the file."""
        return self.start + min((text.first for text in self.texts.values()), default=0)

    @property
    def data(self) -> bytes:
        return "".join(self.lines).encode()

    @property
    def is_empty_message(self) -> bool:
        """The header, or an empty message in a context, which is nothing."""
        return bool(self.texts) and not self.texts["msgid"].text

    @property
    def is_header(self) -> bool:
        return self.is_empty_message and "msgctxt" not in self.texts

    @property
    def message(self) -> "Message":
        forms = [text.text for word, text in self.texts.items() if word.startswith("msgstr")]
        plural = self.texts.get("msgid_plural")
        return Message(self.line, self.texts["msgid"].text, plural.text if plural else None, forms)


def po_encoding(path: Path) -> str | None:
    """What the header of a PO file states; None when it states nothing, as in a template."""
    if not path.is_file():
        return None
    with open_bytes(path) as stream:
        header = _HEADER.search(stream.read(CHUNK))
    return None if header is None else stated_encoding(header[1].replace(b"\\n", b"\n"), path)


def stated_encoding(header: bytes, path: Path) -> str | None:
    charset = _CHARSET.search(header)
    if charset is None or charset[1].upper() == b"CHARSET":
        return None
    name = charset[1].decode()
    encoding = find_encoding(name)
    if encoding is None:
        raise DataError(f"its header states the unknown encoding {name[:40]}; correct the header", path=path)
    return UTF_8 if encoding == "ascii" else encoding  # templates say ASCII, and get translations all the same


def _entries(path: Path, encoding: str | None, *, declared: bool) -> Iterator[_Entry]:
    """Every line of the file, in entries; what stands between two of them belongs to the one above or below.

    An entry without texts is nothing but comments and blank lines.
    """
    entry, keyword, size = _Entry(1), "", 0
    for number, raw in text_lines(path, encoding, declared=declared):
        if number == 1 and raw.startswith("\ufeff"):  # a line of its own, so that a flag may come behind it
            entry, raw = _Entry(0, ["\ufeff"]), raw[1:]
        text = raw.strip()
        comment = text.startswith("#")
        match = None if comment else _KEYWORD.fullmatch(text)
        if entry.texts and (comment or (match and entry.translated and not match[1].startswith("msgstr"))):
            yield _checked(entry, path)
            entry, keyword = _Entry(number), ""
        if match:
            keyword = match[1]
            if keyword in entry.texts:
                raise DataError(f"a second {keyword} in one entry; remove one of the two", path=path, line=number)
            entry.texts[keyword] = _Text(len(entry.lines), 1, [_unquote(match[2], path, number)])
            entry.translated = entry.translated or keyword.startswith("msgstr")
        elif text.startswith('"') and keyword:
            continued = entry.texts[keyword]
            continued.pieces.append(_unquote(text, path, number))
            continued.count = len(entry.lines) + 1 - continued.first
        elif text and not comment:
            raise DataError("not a line of a PO file; check it with msgfmt --check", path=path, line=number)
        size = size + len(raw) if entry.lines else len(raw)
        entry.lines.append(raw)
        if size > LONGEST_LINE or len(entry.lines) > MOST_LINES:
            raise DataError("an entry without end; is this a PO file?", path=path, line=number)
        if text.startswith("#,"):
            entry.flags.append(len(entry.lines) - 1)
            entry.fuzzy = entry.fuzzy or "fuzzy" in text[2:].replace(",", " ").split()
        elif text.startswith("#~"):  # obsolete: whatever stood above belongs to it and not to the next entry
            yield entry
            entry = _Entry(number + 1)
    if entry.lines:
        yield _checked(entry, path)


def _checked(entry: _Entry, path: Path) -> _Entry:
    if entry.texts and ("msgid" not in entry.texts or not entry.translated):
        raise DataError("the entry lacks its msgid or msgstr; complete or remove it", path=path, line=entry.line)
    return entry


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


# ----- pairs


class Message(NamedTuple):
    """One message of a catalogue, PO or MO; the header is the one whose `text` is empty."""

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
    return pairs_of(_po_messages(path, encoding), languages, path)


def _po_messages(path: Path, encoding: str | None) -> Iterator[Message]:
    stated = po_encoding(path)
    for entry in _entries(path, stated or encoding, declared=stated is not None):
        if entry.is_header or (entry.texts and not entry.is_empty_message and not entry.fuzzy):
            yield entry.message


def pairs_of(messages: Iterator[Message], languages: Languages, path: Path) -> Iterator[Pair]:
    """The pairs of the messages of a catalogue, whose header comes first."""
    turned = False
    for message in messages:
        if not message.text:
            language = _LANGUAGE.search("".join(message.translations))
            turned = languages.turned(None, language[1] if language else None, path)
            continue
        for text, translation in message.pairs():
            source, target = (translation, text) if turned else (text, translation)
            yield Pair(source, target, message.line)


# ----- in place


@dataclass(frozen=True)
class Catalogue(Document):
    """PO. With `existing="keep"` only empty and fuzzy messages are translated. `review` flags what was as fuzzy."""

    path: Path
    existing: Existing = "keep"
    review: bool = True
    encoding: str | None = None

    @cached_property
    def stated(self) -> str | None:
        """The encoding that the header states."""
        return po_encoding(self.path)

    @cached_property
    def codec(self) -> str:
        return file_codec(self.path, self.stated or self.encoding)

    def _converter(self) -> str:
        return "msgconv --to-code=UTF-8" if self.stated else super()._converter()

    def parts(self) -> Iterator[Part]:
        plurals: PluralForms | None = None
        for entry in _entries(self.path, self.stated or self.encoding, declared=self.stated is not None):
            if entry.is_header:
                plurals = plural_forms("".join(text.text for text in entry.forms.values()))
            if entry.is_empty_message:
                yield Kept(entry.data)
                continue
            sources = self._sources(entry, plurals)
            yield _Slot(entry, sources, self.review) if sources else Kept(entry.data, translated=bool(entry.texts))

    def _sources(self, entry: _Entry, plurals: PluralForms | None) -> dict[int, str]:
        """Form to fill -> the text it is translated from."""
        if not entry.texts:
            return {}
        singular, plural = entry.texts["msgid"].text, entry.texts.get("msgid_plural")
        translations = entry.forms
        forms = set(translations)
        if plural is not None and plurals is not None:
            forms |= set(range(plurals.count))
        every = self.existing == "replace" or entry.fuzzy
        empty = {form for form in forms if form not in translations or not translations[form].text}
        return {
            form: singular if plural is None else _source_of_form(form, len(forms), singular, plural.text, plurals)
            for form in sorted(forms if every else empty)
        }


def _source_of_form(form: int, count: int, singular: str, plural: str, plurals: PluralForms | None) -> str:
    """What a plural form is translated from.

    The only form of a language (Korean) serves every number, so it comes from the plural. The form for one thing comes
    from the singular, but if it also serves other numbers (21 in Russian) only when the singular shows the number, too:
    "One file" must not be said of 21.
    """
    one, only_one = (plurals.one, plurals.only_one) if plurals is not None else (0, True)
    if count == 1 or form != one:
        return plural
    alike = Counter(placeholders(singular)) == Counter(placeholders(plural))
    return singular if only_one or alike else plural


class _Slot(Slot):
    """One entry, and the forms of it that are to be filled."""

    def __init__(self, entry: _Entry, sources: dict[int, str], review: bool) -> None:
        self._entry, self._sources, self._review = entry, sources, review
        context = entry.texts.get("msgctxt")
        message = entry.texts["msgid"].text
        self.segment = Segment(message, tuple(sources.values()), context.text if context else "", entry.line)

    def filled(self, translations: Sequence[str]) -> bytes:
        entry = self._entry
        flags = "".join(entry.lines[place] for place in entry.flags)
        fitted = {
            form: fit_for_program(source, text, flags)
            for (form, source), text in zip(self._sources.items(), translations, strict=True)
            if text
        }
        if not fitted:
            return entry.data
        lines: list[list[str]] = [[line] for line in entry.lines]  # an edit changes one item, so the places stay true
        forms = entry.forms
        for form, text in fitted.items():
            if form in forms and text != forms[form].text:
                old = forms[form]
                head = entry.lines[old.first]
                lines[old.first] = self._written(head[: head.index('"')], text)
                for more in range(old.first + 1, old.first + old.count):
                    lines[more] = []
        last = max(text.first + text.count for text in forms.values()) - 1
        for form in sorted(fitted.keys() - forms.keys()):
            lines[last] += self._written(f"msgstr[{form}] ", fitted[form])
        self._mark(lines)
        return _joined(lines, entry.lines).encode()

    def _written(self, head: str, text: str) -> list[str]:
        """`msgstr "text"`, over several lines where the message itself is."""
        message = self._entry.texts["msgid_plural" if "msgid_plural" in self._entry.texts else "msgid"]
        lines = self._entry.lines[message.first : message.first + message.count]
        end = lines[0][len(lines[0].rstrip("\r\n")) :] or "\n"
        wide = len(lines) == 1 or max(columns(line.strip()) for line in lines) > WIDTH + 1
        return [line + end for line in quoted_lines(head, text, 0 if wide else WIDTH)]

    def _mark(self, lines: list[list[str]]) -> None:
        """The flag `fuzzy` on, or off."""
        entry = self._entry
        if self._review and not entry.fuzzy:
            if entry.flags:
                lines[entry.flags[0]] = [entry.lines[entry.flags[0]].replace("#,", "#, fuzzy,", 1)]
            else:
                place = next(place for place, line in enumerate(entry.lines) if not _stands_above_flags(line))
                line = entry.lines[place]
                lines[place].insert(0, "#, fuzzy" + (line[len(line.rstrip("\r\n")) :] or "\n"))
        elif not self._review and entry.fuzzy:
            for place in entry.flags:
                lines[place] = _without_fuzzy(entry.lines[place])


def _stands_above_flags(line: str) -> bool:
    """Comments and references do; the previous message and the message itself stand below."""
    text = line.lstrip("\ufeff \t")
    return not text.strip() or (text.startswith("#") and not text.startswith("#|"))


def _without_fuzzy(line: str) -> list[str]:
    body = line.rstrip("\r\n")
    flags = [flag.strip() for flag in body.strip()[2:].split(",")]
    left = [flag for flag in flags if flag and flag != "fuzzy"]
    if len(left) == len(flags):
        return [line]
    return [f"#, {', '.join(left)}" + line[len(body) :]] if left else []


def _joined(lines: list[list[str]], before: list[str]) -> str:
    """The entry again; where the file had no line end at its end, it gets none."""
    flat = [line for edited in lines for line in edited]
    if before[-1].endswith("\n"):
        return "".join(flat)
    ends = [line[len(line.rstrip("\r\n")) :] for line in flat]
    end = next((end for end in ends if end), "\n")  # a form may have been added behind the unended last line
    return "".join(line if line.endswith(("\n", "\ufeff")) else line + end for line in flat).removesuffix(end)


def quoted_lines(head: str, text: str, width: int) -> list[str]:
    """A text as the lines of a PO file: one, or an empty one and then a line for each line of the text.

    With a width, longer lines are broken behind spaces, as gettext does.
    """
    whole = f'{head}"{_escaped(text)}"'
    if "\n" not in text.rstrip("\n") and (not width or columns(whole) <= width):
        return [whole]
    return [f'{head}""', *(f'"{piece}"' for piece in _broken(text, width))]


def _broken(text: str, width: int) -> list[str]:
    pieces = []
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        piece = ""
        for word in re.findall(r"[^ ]* *", line)[:-1]:
            escaped = _escaped(word)
            if width and piece and columns(piece) + columns(escaped.rstrip(" ")) + 2 > width:
                pieces.append(piece)
                piece = ""
            piece += escaped
        pieces.append(piece)
    return pieces


def _escaped(text: str) -> str:
    return _TO_ESCAPE.sub(lambda match: _ESCAPES.get(match[0], f"\\{ord(match[0]):03o}"), text)
