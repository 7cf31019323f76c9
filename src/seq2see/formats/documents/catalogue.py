"""gettext catalogues, translated in place.

Only the lines of `msgstr` and the flag `fuzzy` are ever written anew. Comments, contexts, previous messages, obsolete
entries, the header and the order of everything stay as they are.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from seq2see.errors import DataError
from seq2see.formats.catalogues import _KEYWORD, _is_fuzzy, _unquote, check_entry, po_encoding
from seq2see.formats.documents.base import Document, Existing, Kept, Part, Segment, Slot, text_lines
from seq2see.formats.documents.directives import fit_for_program
from seq2see.formats.documents.placeholders import placeholders
from seq2see.formats.documents.plurals import PluralForms, plural_forms
from seq2see.formats.documents.wrapping import columns
from seq2see.formats.lines import file_codec

WIDTH = 79
"""Columns after which gettext's own tools break a long text."""

_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r", "\a": r"\a", "\b": r"\b", "\f": r"\f"}
_ESCAPES["\v"] = r"\v"
_TO_ESCAPE = re.compile(r'[\\"\x00-\x1f\x7f]')


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

    @property
    def forms(self) -> dict[int, _Text]:
        """Form -> its text; a `msgstr` without number is form 0."""
        found = {word: text for word, text in self.texts.items() if word.startswith("msgstr")}
        return {int(word[7:-1]) if word != "msgstr" else 0: text for word, text in found.items()}

    @property
    def line(self) -> int:
        """Of the first keyword in the file."""
        return self.start + min((text.first for text in self.texts.values()), default=0)

    @property
    def data(self) -> bytes:
        return "".join(self.lines).encode()

    def check(self, path: Path) -> None:
        if self.texts and ("msgid" not in self.texts or not self.forms):
            raise DataError("the entry lacks its msgid or msgstr; complete or remove it", path=path, line=self.line)


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
        for entry in self._entries():
            entry.check(self.path)
            if "msgid" in entry.texts and not entry.texts["msgid"].text:
                if "msgctxt" not in entry.texts:
                    header = "".join(text.text for text in entry.forms.values())
                    plurals = plural_forms(header)
                yield Kept(entry.data)
                continue
            wanted = self._wanted(entry, plurals)
            yield _Message(entry, wanted, self.review) if wanted else Kept(entry.data, translated=bool(entry.texts))

    def _entries(self) -> Iterator[_Entry]:
        """Every line of the file, in entries; what stands between two of them belongs to the one above or below."""
        entry, keyword = _Entry(1), ""
        path, size = self.path, 0
        for number, raw in text_lines(path, self.stated or self.encoding, declared=self.stated is not None):
            if number == 1 and raw.startswith("\ufeff"):  # a line of its own, so that a flag may come behind it
                entry, raw = _Entry(0, ["\ufeff"]), raw[1:]
            text = raw.strip()
            found = _KEYWORD.fullmatch(text)
            if entry.texts and (text.startswith("#") or (found and not found[1].startswith("msgstr") and entry.forms)):
                yield entry
                entry, keyword = _Entry(number), ""
            if found:
                keyword = found[1]
                if keyword in entry.texts:
                    raise DataError(f"a second {keyword} in one entry; remove one of the two", path=path, line=number)
                entry.texts[keyword] = _Text(len(entry.lines), 1, [_unquote(found[2], path, number)])
            elif text.startswith('"') and keyword:
                part = entry.texts[keyword]
                part.pieces.append(_unquote(text, path, number))
                part.count = len(entry.lines) + 1 - part.first
            elif text and not text.startswith("#"):
                raise DataError("not a line of a PO file; check it with msgfmt --check", path=path, line=number)
            size = size + len(raw) if entry.lines else len(raw)
            check_entry(size, len(entry.lines), path, number)
            entry.lines.append(raw)
            if text.startswith("#,"):
                entry.flags.append(len(entry.lines) - 1)
                entry.fuzzy = entry.fuzzy or _is_fuzzy(text)
            elif text.startswith("#~"):  # obsolete: whatever stood above belongs to it and not to the next entry
                yield entry
                entry = _Entry(number + 1)
        if entry.lines:
            yield entry

    def _wanted(self, entry: _Entry, plurals: PluralForms | None) -> dict[int, str]:
        """Form to fill -> the text it is translated from."""
        if not entry.texts:
            return {}
        singular, plural = entry.texts["msgid"].text, entry.texts.get("msgid_plural")
        forms = set(entry.forms)
        if plural is not None and plurals is not None:
            forms |= set(range(plurals.count))
        every = self.existing == "replace" or entry.fuzzy
        empty = {form for form in forms if form not in entry.forms or not entry.forms[form].text}
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


class _Message(Slot):
    """One entry, and the forms of it that are to be filled."""

    def __init__(self, entry: _Entry, wanted: dict[int, str], review: bool) -> None:
        self._entry, self._wanted, self._review = entry, wanted, review
        context = entry.texts.get("msgctxt")
        identity = entry.texts["msgid"].text
        self.segment = Segment(identity, tuple(wanted.values()), context.text if context else "", entry.line)

    def filled(self, translations: Sequence[str]) -> bytes:
        entry = self._entry
        flags = "".join(entry.lines[place] for place in entry.flags)
        given = {
            form: fit_for_program(source, text, flags)
            for (form, source), text in zip(self._wanted.items(), translations, strict=True)
            if text
        }
        if not given:
            return entry.data
        lines: list[list[str]] = [[line] for line in entry.lines]  # an edit changes one item, so the places stay true
        forms = entry.forms
        for form, text in given.items():
            if form in forms and text != forms[form].text:
                old = forms[form]
                head = entry.lines[old.first]
                lines[old.first] = self._written(head[: head.index('"')], text)
                for more in range(old.first + 1, old.first + old.count):
                    lines[more] = []
        last = max(text.first + text.count for text in forms.values()) - 1
        for form in sorted(given.keys() - forms.keys()):
            lines[last] += self._written(f"msgstr[{form}] ", given[form])
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
    every = [line for some in lines for line in some]
    if before[-1].endswith("\n"):
        return "".join(every)
    ends = [line[len(line.rstrip("\r\n")) :] for line in every]
    end = next((end for end in ends if end), "\n")  # a form may have been added behind the unended last line
    return "".join(line if line.endswith(("\n", "\ufeff")) else line + end for line in every).removesuffix(end)


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
    return _TO_ESCAPE.sub(lambda found: _ESCAPES.get(found[0], f"\\{ord(found[0]):03o}"), text)
