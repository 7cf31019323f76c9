"""The words of a text, and what stands around them.

A translator sees one line of words at a time. Line breaks, white space at both ends and tags around the whole line are
taken off before and put back afterwards; lines without a word (`%s: %d`, `---`) are not shown to it at all.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from seq2see.formats.documents.placeholders import has_words, repaired, spans

_WRAPPER = re.compile(r"\{\\[^{}]*\}|<v[.\s][^<>]*>")
"""Marks at the start of a line that speak of all of it: position in subtitles, the speaker in WebVTT."""

_OPENING = re.compile(r"<([A-Za-z\d][\w:.-]*)(?:\s.*)?(?<!/)>", re.ASCII | re.DOTALL)
_DEEPEST = 20
"""Tags around tags that are taken off; more are left to the translator."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class Frame(NamedTuple):
    """A text taken apart: `kept[0] texts[0] kept[1] texts[1] ... kept[-1]`."""

    source: str
    kept: tuple[str, ...]
    texts: tuple[str, ...]

    def filled(self, translations: Sequence[str]) -> str:
        """The whole text again, translated; empty when no line was given a translation."""
        if self.texts and not any(translation.strip() for translation in translations):
            return ""
        parts = [self.kept[0]]
        for text, translation, after in zip(self.texts, translations, self.kept[1:], strict=True):
            parts += [settled(text, translation.replace("\n", " ")), after]
        return repaired(self.source, "".join(parts))


def framed(text: str) -> Frame:
    """Line by line: what to translate, and what to keep."""
    kept, texts = [""], []
    for number, line in enumerate(text.split("\n")):
        before, words, after = _peeled(line)
        kept[-1] += ("\n" if number else "") + before
        if words:
            texts.append(words)
            kept.append("")
        kept[-1] += after
    return Frame(text, tuple(kept), tuple(texts))


def settled(source: str, translation: str) -> str:
    """A translation that fits where its source stood: the same white space at both ends, the same placeholders.

    Halves of surrogate pairs, which no file can hold, become U+FFFD. An empty translation stays empty.
    """
    words = _SURROGATE.sub("\ufffd", translation).strip()
    core = source.strip()
    if not words or not core:
        return ""
    start = source.index(core)
    return source[:start] + repaired(core, words) + source[start + len(core) :]


def _peeled(line: str) -> tuple[str, str, str]:
    """(before, words, after): white space, and tags that hold the whole line, taken off from both ends."""
    if not has_words(line):
        return line, "", ""
    start, end = 0, len(line)
    places = list(spans(line))
    for _ in range(_DEEPEST):
        start += len(line[start:end]) - len(line[start:end].lstrip())
        end -= len(line[start:end]) - len(line[start:end].rstrip())
        if not places or places[0][0] != start:
            break
        first = line[slice(*places[0])]
        if _WRAPPER.fullmatch(first):
            start = places.pop(0)[1]
        elif len(places) > 1 and places[-1][1] == end and _holds_all(line, places):
            start, end = places.pop(0)[1], places.pop()[0]
        else:
            break
    return line[:start], line[start:end], line[end:]


def _holds_all(line: str, places: list[tuple[int, int]]) -> bool:
    """Whether the first placeholder is an opening tag and the last one closes it, and not another of its name."""
    opening = _OPENING.fullmatch(line[slice(*places[0])])
    if not opening or line[slice(*places[-1])] != f"</{opening[1]}>":
        return False
    depth = 0
    for place in places[:-1]:
        inner = _OPENING.fullmatch(tag := line[slice(*place)])
        depth += (inner is not None and inner[1] == opening[1]) - (tag == f"</{opening[1]}>")
        if depth == 0:
            return False
    return True
