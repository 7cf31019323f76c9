"""HTML to translate: blocks are the units, inline tags become numbered tags, everything else stays as it was.

    <p>Press <b>the</b> key.<!-- x --></p>        Press <1>the</1> key.<2/>

Entities stay as they are spelled. What the parser does not understand is text, or is returned as it is: nothing is
repaired. `translate="no"`, scripts, styles, code and preformatted text are not touched.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Literal, NamedTuple

from seq2see.formats.documents.inline import Code, Content, TaggedText, numbered
from seq2see.formats.documents.placeholders import spans

_INLINE_TAGS = """a abbr acronym b bdi bdo big cite data del dfn em font i img ins kbd label mark nobr q rb rp rt ruby s
    samp small span strike strong sub sup time tt u var wbr"""
_UNTOUCHED_TAGS = "script style code pre textarea svg math template noscript iframe object"
_INLINE, _UNTOUCHED = frozenset(_INLINE_TAGS.split()), frozenset(_UNTOUCHED_TAGS.split())
_INLINE_UNTOUCHED = frozenset({"code"})
_VOID = frozenset({"img", "wbr"})
_SPACE = re.compile(r"[ \t\n\r\f]+")

Kind = Literal["text", "opens", "closes", "alone", "other"]


class _Event(NamedTuple):
    kind: Kind
    tag: str
    start: int
    untouched: bool = False


class _Events(HTMLParser):
    """Where each tag, comment and text begins; what it spells is in the source, up to the next one."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self.events: list[_Event] = []
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.feed(text)
        self.close()

    def _add(self, kind: Kind, tag: str = "", *, untouched: bool = False) -> None:
        line, column = self.getpos()
        self.events.append(_Event(kind, tag, self._lines[line - 1] + column, untouched))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        marked = (named.get("translate") or "").lower() == "no" or "notranslate" in (named.get("class") or "").split()
        self._add("alone" if tag in _VOID else "opens", tag, untouched=tag in _UNTOUCHED or marked)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("alone", tag)

    def handle_endtag(self, tag: str) -> None:
        self._add("closes", tag)

    def handle_data(self, data: str) -> None:
        self._add("text")

    def handle_entityref(self, name: str) -> None:
        self._add("text")

    def handle_charref(self, name: str) -> None:
        self._add("text")

    def handle_comment(self, data: str) -> None:
        self._add("alone", "")

    def handle_decl(self, decl: str) -> None:
        self._add("other")

    def handle_pi(self, data: str) -> None:
        self._add("other")

    def unknown_decl(self, data: str) -> None:
        self._add("other")


class HtmlUnit(NamedTuple):
    """A run of words and inline tags, as a text with numbered tags; white space around it stays outside."""

    before: str
    tagged: TaggedText
    after: str

    @property
    def text(self) -> str:
        return self.tagged.text

    def written(self, translation: str) -> str:
        """The translation as HTML: tags back in their places, and no tag or entity that the source did not have."""
        if not translation.strip():  # nothing came back: the source is better than nothing
            return self.written(self.text)
        parts, place = [self.before], 0
        for start, end in spans(translation):
            raw = translation[start:end]
            parts += [_escaped(translation[place:start]), self.tagged.codes.get(raw, raw)]
            place = end
        return "".join([*parts, _escaped(translation[place:]), self.after])


@dataclass(frozen=True)
class HtmlText:
    """A page or a piece of one: text that stays, and units."""

    parts: tuple[str | HtmlUnit, ...]

    @property
    def units(self) -> list[HtmlUnit]:
        return [part for part in self.parts if isinstance(part, HtmlUnit)]

    @classmethod
    def read(cls, text: str) -> "HtmlText":
        pieces = _pieces(text)
        parts: list[str | HtmlUnit] = []
        content: Content = []
        for kind, tag, raw in pieces:
            if kind == "text":
                content.append(raw)
            elif kind == "alone" and (tag in _INLINE or not tag or tag in _INLINE_UNTOUCHED):
                content.append(Code(raw, "stands alone", tag))
            elif kind in ("opens", "closes") and tag in _INLINE:
                content.append(Code(raw, "opens" if kind == "opens" else "closes", tag))
            else:
                parts += [*_unit(content), raw]
                content = []
        return cls((*parts, *_unit(content)))

    def written(self, translations: Sequence[str]) -> str:
        following = iter(translations)
        return "".join(part if isinstance(part, str) else part.written(next(following)) for part in self.parts)


def _pieces(text: str) -> list[tuple[Kind, str, str]]:
    """(kind, tag, what is spelled), all of the text in order; an element that is not touched is one piece."""
    events = _Events(text).events
    if not events or events[0].start:
        events.insert(0, _Event("text", "", 0))
    ends = [*(event.start for event in events[1:]), len(text)]
    pieces: list[tuple[Kind, str, str]] = []
    number = 0
    while number < len(events):
        event, last = events[number], number
        kind, tag = event.kind, event.tag
        if event.untouched:
            last = _end_of(events, number)
            inline = tag in _INLINE or tag in _INLINE_UNTOUCHED
            kind = "alone" if inline else "other"
        pieces.append((kind, tag, text[event.start : ends[last]]))
        number = last + 1
    return pieces


def _end_of(events: Sequence[_Event], first: int) -> int:
    """The number of the tag that closes this one; of the last event, if none does."""
    depth = 0
    for number in range(first, len(events)):
        event = events[number]
        if event.tag == events[first].tag:
            depth += (event.kind == "opens") - (event.kind == "closes")
            if depth <= 0:
                return number
    return len(events) - 1


def _unit(content: Content) -> list[str | HtmlUnit]:
    """What has words is to be translated, in one line: white space means one space in HTML."""
    whole = "".join(part if isinstance(part, str) else part.raw for part in content)
    words = "".join(part for part in content if isinstance(part, str))
    if not any(map(str.isalnum, re.sub(r"&#?\w+;", "", words))):
        return [whole] if whole else []
    tagged = numbered([_SPACE.sub(" ", part) if isinstance(part, str) else part for part in content], preserve=True)
    core = tagged.text.strip(" ")
    start = len(whole) - len(whole.lstrip(" \t\n\r\f"))
    end = len(whole.rstrip(" \t\n\r\f"))
    return [HtmlUnit(whole[:start], tagged._replace(text=core), whole[end:])]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
