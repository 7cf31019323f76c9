"""Subtitles (SRT and WebVTT): the pairs of two files, and a file translated in place.

One walk cuts a file into blocks of lines, and one parser reads the cue of a block.

Pairs: two languages rarely cut a dialogue at the same places, so numbers do not pair cues: time does. Cues that are on
the screen together belong together, and what one language says in two cues joins what the other says in one.

In place, only the lines of text of a cue are written anew. A text that runs over several lines is translated as one and
set again in at most as many; two speakers in one cue, each behind a dash, are translated apart.
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
from seq2see.formats.pair import Pair
from seq2see.formats.reading.lines import LONGEST_LINE, at_most

MOST_LINES = 10_000
"""Of one cue. Every block of lines has to be held."""

MOST_CUES = 500_000
"""A film has some 2,000; all of them have to be held."""

SHARED = 0.5
"""Two cues belong together when they share this much of the shorter one."""

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[,.](\d{1,3})"
_TIMES = re.compile(rf"\s*({_TIME}\s*-->\s*{_TIME})(?:\s.*)?", re.ASCII)
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_MARKUP = re.compile(r"</?(?:[bius]|font)(?:\s[^<>]*)?>|\{\\[^{}]*\}", re.IGNORECASE)
_DASH = re.compile(r"[-‐–—]\s*(?=[^-‐–—\s])")
_SPEAKER = re.compile(r"(?:<[^<>]*>|\{\\[^{}]*\})*\s*[-‐–—]\s*(?=[^-‐–—\s])")


# ----- the file as blocks, a block as a cue


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


class _CueBlock(NamedTuple):
    """The lines of a cue: a number or a name, a line of times, lines of text."""

    line: int
    """Of its first line in the file."""
    name: str
    times: "re.Match[str]"
    head: list[str]
    """The lines above the text, with their ends."""
    texts: list[str]
    """The lines of text, with their ends."""

    @property
    def milliseconds(self) -> tuple[int, int]:
        """When it begins and ends."""
        numbers = self.times.groups()[1:]
        return _milliseconds(*numbers[:4]), _milliseconds(*numbers[4:])


def _cue_block(block: list[str], path: Path, line: int, *, web: bool) -> _CueBlock:
    """WebVTT may have a name for the number, or nothing."""
    name = block[0].removeprefix("\ufeff").strip()
    named = not (web and _TIMES.fullmatch(name))
    if not web and not name.isdecimal():
        raise DataError("a cue begins with its number; check for a blank line inside a text", path=path, line=line)
    times = _TIMES.fullmatch(block[named].rstrip("\r\n")) if len(block) > named else None
    if times is None:
        raise DataError("no times like 00:01:02,345 --> 00:01:04,567 above the text", path=path, line=line + named)
    head, texts = block[: named + 1], block[named + 1 :]
    for more, text in enumerate(texts, start=named + 1):
        if _TIMES.fullmatch(text.rstrip("\r\n")):
            raise DataError("two cues without a blank line between them; insert it", path=path, line=line + more)
    return _CueBlock(line, name if named else "", times, head, texts)


def _milliseconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> int:
    return ((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(fraction.ljust(3, "0"))


# ----- pairs


class Cue(NamedTuple):
    """One text on the screen; times in milliseconds, line of its number in the file."""

    start: int
    end: int
    text: str
    line: int

    def meets(self, other: "Cue") -> bool:
        """Whether the two are on the screen together for long enough to say the same."""
        together = min(self.end, other.end) - max(self.start, other.start)
        return together > 0 and together >= SHARED * min(self.end - self.start, other.end - other.start)


def read_srt(source: Path, target: Path, encoding: str | None = None) -> Iterator[Pair]:
    """Pairs by time, in order. A cue without a counterpart gives a pair with an empty side, for the report to see."""
    left, right = (list(at_most(MOST_CUES, read_cues(path, encoding), "cues", path)) for path in (source, target))
    groups = list(_group(left, right))
    paired = sum(len(sources) for sources, targets in groups if sources and targets)
    if left and right and paired < len(left) / 2:
        raise DataError(
            f"only {paired} of {len(left)} cues share their time with {target}; shift or stretch the times of one of "
            "the two in a subtitle editor",
            path=source,
        )
    for sources, targets in groups:
        yield Pair(_join(sources), _join(targets), (sources or targets)[0].line)


def read_cues(path: Path, encoding: str | None = None) -> Iterator[Cue]:
    """The cues of one SRT file, in time."""
    earliest = 0
    for line, block in _blocks(path, encoding):
        if _is_blank(block[0]):
            continue
        cue = _cue_block(block, path, line, web=False)
        start, end = cue.milliseconds
        if end < start or start < earliest:
            what = "the cue ends before it begins" if end < start else "the cue begins before the one above it"
            message = f"{what}; save the file again in a subtitle editor, which sorts it"
            raise DataError(message, path=path, line=line + 1)
        earliest = start
        text = " ".join(_MARKUP.sub("", text).strip() for text in cue.texts)
        yield Cue(start, end, text.strip(), line)


def _group(left: list[Cue], right: list[Cue]) -> Iterator[tuple[list[Cue], list[Cue]]]:
    """Walk both files in time; from the earliest cue, take in the next one of either side while it meets the other."""
    i = j = 0
    while i < len(left) or j < len(right):
        sources: list[Cue] = []
        targets: list[Cue] = []
        if j == len(right) or (i < len(left) and left[i].start <= right[j].start):
            sources.append(left[i])
            i += 1
        else:
            targets.append(right[j])
            j += 1
        while True:
            if j < len(right) and sources and sources[-1].meets(right[j]):
                targets.append(right[j])
                j += 1
            elif i < len(left) and targets and targets[-1].meets(left[i]):
                sources.append(left[i])
                i += 1
            else:
                break
        yield sources, targets


def _join(cues: list[Cue]) -> str:
    return " ".join(cue.text for cue in cues if cue.text)


# ----- in place


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
                cue = _cue_block(block, self.path, line, web=self.web)
                yield _CueSlot(cue, self.web) if cue.texts else Kept("".join(block).encode())


class _Speech(NamedTuple):
    """What one speaker says in a cue: a dash, if two speak, and the lines."""

    dash: str
    lines: list[str]

    @property
    def text(self) -> str:
        return " ".join(line.strip() for line in self.lines)[len(self.dash) :].strip()


class _CueSlot(Slot):
    def __init__(self, cue: _CueBlock, web: bool) -> None:
        self._head, self._web = "".join(cue.head), web
        self._last = cue.texts[-1]
        self._speeches = _speeches(cue.texts)
        self.segment = Segment(cue.name, tuple(speech.text for speech in self._speeches), cue.times[1], cue.line)

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
        return balanced(_safe(speech.dash + translation, self._web), len(speech.lines), width)


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
    text = re.sub("-{2,}>", "->", " ".join(text.split("\n")))
    if not web:
        return text
    parts, place = [], 0
    for start, end in spans(text):
        parts += [text[place:start].replace("<", "&lt;"), text[start:end]]
        place = end
    return "".join([*parts, text[place:].replace("<", "&lt;")])
