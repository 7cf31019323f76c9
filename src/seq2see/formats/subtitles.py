"""Two subtitle files -> pairs.

Two languages rarely cut a dialogue at the same places, so numbers do not pair cues: time does. Cues that are on the
screen together belong together, and what one language says in two cues joins what the other says in one.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from seq2see.errors import DataError
from seq2see.formats.lines import LONGEST_LINE, at_most, read_lines
from seq2see.formats.pair import Pair

MOST_LINES = 10_000
"""Of one cue. Every block of lines has to be held."""

MOST_CUES = 500_000
"""A film has some 2,000; all of them have to be held."""

SHARED = 0.5
"""Two cues belong together when they share this much of the shorter one."""

_TIME = r"(\d{1,3}):(\d{2}):(\d{2})[,.](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?", re.ASCII)
_MARKUP = re.compile(r"</?(?:[bius]|font)(?:\s[^<>]*)?>|\{\\[^{}]*\}", re.IGNORECASE)


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
    """The cues of one file: a number, a line of times, lines of text, a blank line."""
    block: list[str] = []
    earliest = 0
    line = 0
    size = 0
    for line, text in enumerate(read_lines(path, encoding), start=1):
        size = size + len(text) if block else 0
        if len(block) == MOST_LINES or size > LONGEST_LINE:
            raise DataError("a cue without end; is this a file of subtitles?", path=path, line=line - len(block))
        if text.strip():
            block.append(text)
        elif block:
            cue = _read_cue(block, path, line - len(block), earliest)
            block, earliest = [], cue.start
            yield cue
    if block:
        yield _read_cue(block, path, line - len(block) + 1, earliest)


def _read_cue(block: list[str], path: Path, line: int, earliest: int) -> Cue:
    if not block[0].strip().isdecimal():
        raise DataError("a cue begins with its number; check for a blank line inside a text", path=path, line=line)
    times = _TIMES.fullmatch(block[1]) if len(block) > 1 else None
    if times is None:
        raise DataError("no times like 00:01:02,345 --> 00:01:04,567 after the number", path=path, line=line + 1)
    start, end = _milliseconds(*times.groups()[:4]), _milliseconds(*times.groups()[4:])
    if end < start or start < earliest:
        what = "the cue ends before it begins" if end < start else "the cue begins before the one above it"
        raise DataError(f"{what}; save the file again in a subtitle editor, which sorts it", path=path, line=line + 1)
    for more, text in enumerate(block[2:], start=2):
        if _TIMES.fullmatch(text):
            raise DataError("two cues without a blank line between them; insert it", path=path, line=line + more)
    text = " ".join(_MARKUP.sub("", text).strip() for text in block[2:])
    return Cue(start, end, text.strip(), line)


def _milliseconds(hours: str, minutes: str, seconds: str, fraction: str) -> int:
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 1000 + int(fraction.ljust(3, "0"))


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
