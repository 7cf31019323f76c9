"""JSON lines, translated in place: one object a line, a field of text in, a field of text out.

Each line is edited where it stands, so numbers, spacing, escapes, repeated keys and the order of fields stay as they
are. A line that cannot be translated is never lost: an object gets a field that says why, anything else passes through.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from seq2see.errors import DataError
from seq2see.formats.documents.base import Document, Existing, Kept, Part, Segment, Slot, byte_lines
from seq2see.formats.lines import LONGEST_LINE, as_utf_8

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\n\r]*")


class _Field(NamedTuple):
    """The value of a key: what it is, and where it stands in the line."""

    value: object
    start: int
    end: int


@dataclass(frozen=True)
class Records(Document):
    """JSON lines. `field` is translated into `target`; what keeps a record from it is said in `error`.

    With `existing="keep"` a record that has a text in `target` is left alone.
    """

    path: Path
    existing: Existing = "keep"
    field: str = "source"
    target: str = "target"
    error: str = "error"
    encoding: str | None = None

    def parts(self) -> Iterator[Part]:
        number, going_on = 0, False
        checked = self.encoding is not None
        for data in byte_lines(self.path, self.encoding):
            begins, going_on = not going_on, not data.endswith(b"\n")
            number += begins
            checked = checked or self._is_utf_8(data, number)
            if len(data) > LONGEST_LINE or not begins:
                problem = self._problem(f"longer than {LONGEST_LINE >> 20} MiB; passed through", number)
                yield Kept(data, problem=problem if begins else None, line=number)
            else:
                yield self._part(data, number) if data.strip() else Kept(data)

    def _is_utf_8(self, data: bytes, line: int) -> bool:
        """Whether this line proves it. A file whose first line beyond ASCII is not UTF-8 is in another encoding."""
        if (data.isascii() and b"\0" not in data) or len(data) > LONGEST_LINE:
            return False
        for _ in as_utf_8(iter([data, b""]).__next__, None, self.path, line=line):
            pass
        return True

    def _problem(self, message: str, line: int) -> str:
        return str(DataError(message, path=self.path, line=line))

    def _part(self, data: bytes, line: int) -> Part:
        try:
            text = data.decode()
            fields, end = _fields(text)
        except UnicodeDecodeError:
            return Kept(data, problem=self._problem("not UTF-8; passed through", line), line=line)
        except (ValueError, RecursionError):
            return Kept(data, problem=self._problem("not an object of JSON; passed through", line), line=line)
        source, target = fields.get(self.field), fields.get(self.target)
        kept = target is not None and target.value not in ("", None) and self.target != self.field
        if kept and self.existing == "keep":
            return Kept(data, translated=True)
        if problem := self._why_not(source):
            edited = _with_field(text, fields, end, self.error, problem)
            return Kept(edited.encode(), problem=self._problem(problem, line), line=line)
        assert source is not None
        assert isinstance(source.value, str)
        return _Record(text, fields, end, self.target, Segment(str(line), (source.value,), "", line))

    def _why_not(self, source: _Field | None) -> str | None:
        if source is None:
            return f"no field '{self.field}'"
        if not isinstance(source.value, str):
            return f"'{self.field}' is not a text"
        if not source.value.isascii() and _SURROGATE.search(source.value):
            return f"'{self.field}' holds half of a surrogate pair, which is no character"
        return None


class _Record(Slot):
    def __init__(self, text: str, fields: dict[str, _Field], end: int, target: str, segment: Segment) -> None:
        self._text, self._fields, self._end, self._target = text, fields, end, target
        self.segment = segment

    def filled(self, translations: Sequence[str]) -> bytes:
        return _with_field(self._text, self._fields, self._end, self._target, translations[0]).encode()


def _with_field(text: str, fields: dict[str, _Field], end: int, key: str, value: str) -> str:
    """The line with this field: its value replaced, or the field added behind the others."""
    written = json.dumps(value, ensure_ascii=False)
    if old := fields.get(key):
        return text[: old.start] + written + text[old.end :]
    before = text[:end].rstrip(" \t")
    spaced = not fields or text[next(iter(fields.values())).start - 1].isspace()
    comma, colon = (", ", ": ") if spaced else (",", ":")
    name = json.dumps(key, ensure_ascii=False)
    return f"{before}{comma if fields else ''}{name}{colon}{written}{text[len(before) :]}"


def _number(_: str) -> int:
    """Numbers need no value here, and one of ten thousand digits need not be computed."""
    return 0


_DECODER = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_number)


def _fields(text: str) -> tuple[dict[str, _Field], int]:
    """The fields of the one object on this line, and where its closing brace stands. Of equal keys the last counts."""
    fields: dict[str, _Field] = {}
    place = _skip(text, _expect(text, _skip(text, 1 if text.startswith("\ufeff") else 0), "{"))
    empty = text.startswith("}", place)
    while not empty:
        key, place = _DECODER.raw_decode(text, place)
        if not isinstance(key, str):
            raise ValueError("a key that is not a text")
        start = _skip(text, _expect(text, _skip(text, place), ":"))
        value, place = _DECODER.raw_decode(text, start)
        fields[key] = _Field(value, start, place)
        place = _skip(text, place)
        if not text.startswith(",", place):
            break
        place = _skip(text, place + 1)
    if _skip(text, _expect(text, place, "}")) != len(text):
        raise ValueError("more than one object")
    return fields, place


def _skip(text: str, place: int) -> int:
    """The next place that is no white space."""
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _expect(text: str, place: int, mark: str) -> int:
    """The place behind a mark that has to stand here."""
    if not text.startswith(mark, place):
        raise ValueError(f"no {mark}")
    return place + 1
