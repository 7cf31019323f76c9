"""JSON lines, one object a line: their pairs, and the same file translated in place.

Pairs are `{"source": ..., "target": ...}` or
`{"translation": {"ko": ..., "en": ...}}`, and a line that is neither is an error.

In place, a field of text goes in and a field of text comes out. Each line is edited where it stands, so numbers,
spacing, escapes, repeated keys and the order of fields stay as they are. A line that cannot be translated is never
lost: an object gets a field that says why, anything else passes through.
"""

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from seq2see.errors import DataError
from seq2see.formats.documents.base import Document, Existing, Kept, Part, Segment, Slot, byte_lines, lines_in
from seq2see.formats.pair import Languages, Pair
from seq2see.formats.reading.lines import LONGEST_LINE, as_utf_8, read_lines

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\n\r]*")


# ----- a line as an object


def _number(_: str) -> int:
    """Numbers need no value here, and one of ten thousand digits need not be computed."""
    return 0


_DECODER = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_number)


class _NotAnObjectError(ValueError):
    """JSON, but not an object."""


@dataclass
class _Record:
    """The one object on a line. Of equal keys the last counts."""

    text: str
    values: dict[str, object]

    @cached_property
    def _places(self) -> tuple[dict[str, tuple[int, int]], int]:
        """Where the value of each key begins and ends in the line, and where the closing brace stands."""
        text, places = self.text, dict[str, tuple[int, int]]()
        place = _skip(text, text.index("{") + 1)
        while not text.startswith("}", place):
            key, place = _DECODER.raw_decode(text, _skip(text, place + text.startswith(",", place)))
            start = _skip(text, _skip(text, place) + 1)  # behind the colon
            _, end = _DECODER.raw_decode(text, start)
            places[key], place = (start, end), _skip(text, end)
        return places, place

    def with_field(self, key: str, value: str) -> str:
        """The line with this field: its value replaced, or the field added behind the others."""
        text, (places, end) = self.text, self._places
        written = json.dumps(value, ensure_ascii=False)
        if old := places.get(key):
            return text[: old[0]] + written + text[old[1] :]
        before = text[:end].rstrip(" \t")
        spaced = not places or text[next(iter(places.values()))[0] - 1].isspace()
        comma, colon = (", ", ": ") if spaced else (",", ":")
        name = json.dumps(key, ensure_ascii=False)
        return f"{before}{comma if places else ''}{name}{colon}{written}{text[len(before) :]}"


def _parsed(text: str) -> _Record:
    """JSONDecodeError for what is no JSON, RecursionError for what is nested thousands deep."""
    values = _DECODER.decode(text.removeprefix("\ufeff"))
    if not isinstance(values, dict):
        raise _NotAnObjectError
    return _Record(text, values)


def _skip(text: str, place: int) -> int:
    """The next place that is no white space."""
    space = _SPACE.match(text, place)
    return space.end() if space else place


# ----- pairs


def read_jsonl(path: Path, languages: Languages, encoding: str | None) -> Iterator[Pair]:
    """The first record with a `translation` settles the languages for the file, as the first unit of a TMX does."""
    settled: tuple[str, str] | None = None
    for line, text in enumerate(read_lines(path, encoding), start=1):
        if not text.strip():
            continue
        record: Mapping[str, object] = _record_of(text, path, line).values
        source, target = "source", "target"
        if isinstance(inner := record.get("translation"), dict):
            settled = settled or languages.settle(list(inner))
            if settled is None:
                asked = " and ".join(name for name in languages if name) or "two languages"
                raise DataError(f"the translation does not hold {asked}; give other languages", path=path, line=line)
            record, (source, target) = inner, settled
        yield Pair(_text_of(record, source, path, line), _text_of(record, target, path, line), line)


def _record_of(text: str, path: Path, line: int) -> _Record:
    try:
        return _parsed(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"not JSON at column {error.colno}: {error.msg}; one whole object per line", path=path, line=line
        ) from None
    except _NotAnObjectError:
        raise DataError('not an object; each line is {"source": ..., "target": ...}', path=path, line=line) from None
    except RecursionError:  # brackets nested thousands deep
        raise DataError("not a record of texts; remove the line", path=path, line=line) from None


def _text_of(record: Mapping[str, object], key: str, path: Path, line: int) -> str:
    text = record.get(key)
    if not isinstance(text, str):
        problem = f"'{key}' is missing" if text is None else f"'{key}' is not a text"
        raise DataError(f'{problem}; each line is {{"source": ..., "target": ...}}', path=path, line=line)
    if not text.isascii() and _SURROGATE.search(text):
        raise DataError(
            f"'{key}' holds half of a surrogate pair, which is no character; repair or remove it", path=path, line=line
        )
    return text


# ----- in place


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
    held: bytes | None = None
    """Some lines of a file that was cut, and checked as a whole; `before` of them stand in front."""
    before: int = 0

    def parts(self) -> Iterator[Part]:
        number, going_on = self.before, False
        checked = self.encoding is not None or self.held is not None
        lines = byte_lines(self.path, self.encoding) if self.held is None else lines_in(io.BytesIO(self.held))
        for data in lines:
            begins, going_on = not going_on, not data.endswith(b"\n")
            number += begins
            checked = checked or proves_utf_8(data, self.path, number)
            if len(data) > LONGEST_LINE or not begins:
                problem = self._problem(f"longer than {LONGEST_LINE >> 20} MiB; passed through", number)
                yield Kept(data, problem=problem if begins else None, line=number)
            else:
                yield self._part(data, number) if data.strip() else Kept(data)

    def refused(self, data: bytes, reason: str) -> bytes:
        """A line for which nothing could be made, said where there is a place for it."""
        try:
            return _parsed(data.decode()).with_field(self.error, reason).encode()
        except (ValueError, RecursionError):
            return data

    def _problem(self, message: str, line: int) -> str:
        return str(DataError(message, path=self.path, line=line))

    def _part(self, data: bytes, line: int) -> Part:
        try:
            record = _parsed(data.decode())
        except UnicodeDecodeError:
            return Kept(data, problem=self._problem("not UTF-8; passed through", line), line=line)
        except (ValueError, RecursionError):
            return Kept(data, problem=self._problem("not an object of JSON; passed through", line), line=line)
        has_target = record.values.get(self.target) not in ("", None) and self.target != self.field
        if has_target and self.existing == "keep":
            return Kept(data, translated=True)
        source = record.values.get(self.field)
        if problem := self._why_not(record.values):
            edited = record.with_field(self.error, problem)
            return Kept(edited.encode(), problem=self._problem(problem, line), line=line)
        assert isinstance(source, str)
        return _Slot(record, self.target, Segment(str(line), (source,), "", line))

    def _why_not(self, values: Mapping[str, object]) -> str | None:
        if self.field not in values:
            return f"no field '{self.field}'"
        source = values[self.field]
        if not isinstance(source, str):
            return f"'{self.field}' is not a text"
        if not source.isascii() and _SURROGATE.search(source):
            return f"'{self.field}' holds half of a surrogate pair, which is no character"
        return None


def proves_utf_8(data: bytes, path: Path, line: int) -> bool:
    """Whether this line proves it. A file whose first line beyond ASCII is not UTF-8 is in another encoding."""
    if (data.isascii() and b"\0" not in data) or len(data) > LONGEST_LINE:
        return False
    for _ in as_utf_8(iter([data, b""]).__next__, None, path, line=line):
        pass
    return True


class _Slot(Slot):
    def __init__(self, record: _Record, target: str, segment: Segment) -> None:
        self._record, self._target = record, target
        self.segment = segment

    def filled(self, translations: Sequence[str]) -> bytes:
        return self._record.with_field(self._target, translations[0]).encode()
