"""Subtitles, translated in place: SRT and WebVTT.

Only the lines of text of a cue are written anew. A text that runs over several lines is translated as one and set
again in at most as many; two speakers in one cue, each behind a dash, are translated apart.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from seq2see.errors import DataError
from seq2see.formats.documents.base import Document, Kept, Part, Segment, Slot, text_lines
from seq2see.formats.documents.placeholders import spans
from seq2see.formats.documents.wrapping import balanced, visible_columns
from seq2see.formats.lines import LONGEST_LINE
from seq2see.formats.subtitles import MOST_LINES

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[,.]\d{1,3}"
_TIMES = re.compile(rf"\s*({_TIME}\s*-->\s*{_TIME})(?:\s.*)?", re.ASCII)
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_DASH = re.compile(r"[-‐–—]\s*(?=[^-‐–—\s])")
_SPEAKER = re.compile(r"(?:<[^<>]*>|\{\\[^{}]*\})*\s*[-‐–—]\s*(?=[^-‐–—\s])")


@dataclass(frozen=True)
class Subtitles(Document):
    """SRT, or WebVTT when `web` is set."""

    path: Path
    web: bool = False
    encoding: str | None = None

    def parts(self) -> Iterator[Part]:
        for number, (line, block) in enumerate(_blocks(self.path, self.encoding)):
            if _is_blank(block[0]):
                yield Kept("".join(block).encode())
            elif self.web and number == 0:
                if not re.fullmatch(r"WEBVTT(?:[ \t].*)?", block[0].removeprefix("\ufeff").strip()):
                    raise DataError("does not begin with WEBVTT; is this a .vtt file?", path=self.path, line=line)
                yield Kept("".join(block).encode())
            elif self.web and _ASIDE.match(block[0]):
                yield Kept("".join(block).encode())
            else:
                yield self._cue(block, line)

    def _cue(self, block: list[str], line: int) -> Part:
        """A number, a line of times, lines of text. WebVTT may have a name for the number, or nothing."""
        name = block[0].removeprefix("\ufeff").strip()
        named = not (self.web and _TIMES.fullmatch(name))
        if not self.web and not name.isdecimal():
            raise DataError(
                "a cue begins with its number; check for a blank line inside a text", path=self.path, line=line
            )
        times = _TIMES.fullmatch(block[named].rstrip("\r\n")) if len(block) > named else None
        if times is None:
            raise DataError(
                "no times like 00:01:02,345 --> 00:01:04,567 above the text", path=self.path, line=line + named
            )
        head, texts = block[: named + 1], block[named + 1 :]
        for more, text in enumerate(texts, start=named + 1):
            if _TIMES.fullmatch(text.rstrip("\r\n")):
                raise DataError(
                    "two cues without a blank line between them; insert it", path=self.path, line=line + more
                )
        if not texts:
            return Kept("".join(block).encode())
        return _Cue("".join(head), texts, Segment(name if named else "", (), times[1], line), self.web)


def _blocks(path: Path, encoding: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Lines with something on them that stand together, and the blank ones between them; with the first line."""
    block: list[str] = []
    start = 1
    size = 0
    for number, line in text_lines(path, encoding):
        blank = _is_blank(line)
        if block and (blank != _is_blank(block[0]) or (blank and len(block) == MOST_LINES)):
            yield start, block
            block, start, size = [], number, 0
        size += len(line)
        if len(block) == MOST_LINES or size > LONGEST_LINE:
            raise DataError("a cue without end; is this a file of subtitles?", path=path, line=start)
        block.append(line)
    if block:
        yield start, block


def _is_blank(line: str) -> bool:
    return not line.removeprefix("\ufeff").strip()


class _Speech(NamedTuple):
    """What one speaker says in a cue: a dash, if two speak, and the lines."""

    dash: str
    lines: list[str]

    @property
    def text(self) -> str:
        return " ".join(line.strip() for line in self.lines)[len(self.dash) :].strip()


class _Cue(Slot):
    def __init__(self, head: str, lines: list[str], segment: Segment, web: bool) -> None:
        self._head, self._web = head, web
        self._last = lines[-1]
        self._speeches = _speeches(lines)
        self.segment = segment._replace(texts=tuple(speech.text for speech in self._speeches))

    def filled(self, translations: Sequence[str]) -> bytes:
        lines: list[str] = []
        for speech, translation in zip(self._speeches, translations, strict=True):
            lines += self._set(speech, translation)
        first = self._speeches[0].lines[0]
        end = first[len(first.rstrip("\r\n")) :]
        last = self._last[len(self._last.rstrip("\r\n")) :]
        text = end.join(lines) + last if lines else ""
        return (self._head + text).encode()

    def _set(self, speech: _Speech, translation: str) -> list[str]:
        if translation in ("", speech.text):
            return [line.rstrip("\r\n") for line in speech.lines]
        width = max(visible_columns(line.strip()) for line in speech.lines)
        return balanced(speech.dash + _safe(translation, self._web), len(speech.lines), width)


def _speeches(lines: list[str]) -> list[_Speech]:
    """One speech, or one for each line that begins with a dash when there are several of them."""
    starts = [place for place, line in enumerate(lines) if _SPEAKER.match(line.strip())]
    if len(starts) < 2 or starts[0] != 0:
        starts = [0]
    groups = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]
    if len(groups) == 1:
        return [_Speech("", lines)]
    dashes = [_DASH.match(group[0].strip()) for group in groups]
    return [_Speech(dash[0] if dash else "", group) for dash, group in zip(dashes, groups, strict=True)]


def _safe(text: str, web: bool) -> str:
    """Nothing that a reader of subtitles would take for the times of a cue, or for a tag."""
    text = " ".join(text.split("\n")).replace("-->", "->")
    if not web:
        return text
    parts, place = [], 0
    for start, end in spans(text):
        parts += [text[place:start].replace("<", "&lt;"), text[start:end]]
        place = end
    return "".join([*parts, text[place:].replace("<", "&lt;")])
