"""Inline elements of exchange files <-> numbered tags in a text.

    <source>Press <g id="a">the <x id="b"/> key</g>.</source>        Press <1>the <2/> key</1>.

A translator sees the numbers; the elements come back as they stood in the source, attributes and native code included.
Numbers that the text itself spells out are not used.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

_NUMBERED = re.compile(r"</?(\d{1,9})/?>", re.ASCII)
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_FOLD = re.compile(r"[ \t]*\n\s*")


Role = Literal["opens", "closes", "stands alone"]


class Code(NamedTuple):
    """One inline element, or one of its two tags, as the file spells it."""

    raw: str
    role: Role
    link: str
    """What an opening one and the one that closes it have in common."""
    sentence: bool = False
    """<mrk mtype="seg">, which holds a sentence to be translated by itself."""


Content = list[str | Code]
"""The words and codes of a <source>, in order."""


class TaggedText(NamedTuple):
    """A text with numbered tags, and what each tag stands for."""

    text: str
    codes: dict[str, str]

    def written(self, translation: str, newline: str) -> str:
        """A translation as XML, with the elements back in their places."""
        parts, place = [], 0
        for tag in _NUMBERED.finditer(translation):
            if tag[0] in self.codes:
                parts += [escaped(translation[place : tag.start()], newline), self.codes[tag[0]]]
                place = tag.end()
        return "".join([*parts, escaped(translation[place:], newline)])


def escaped(text: str, newline: str) -> str:
    """Text as XML; what XML cannot say is left out."""
    text = _FORBIDDEN.sub("", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r", "&#13;").replace("\n", newline)


def sentences(content: Content, preserve: bool) -> list[Code | str | TaggedText]:
    """The content, with each part that is to be translated as one Sentence; the rest stays between them.

    Those are the marked sentences, or everything when none is marked. Unless white space is to be preserved, a line
    break inside a sentence is only where the file was folded, and becomes a space.
    """
    if not any(isinstance(part, Code) and part.sentence for part in content):
        return [numbered(content, preserve)]
    layout: list[Code | str | TaggedText] = []
    inner: Content | None = None
    deeper = 0  # marks inside the sentence: codes of it like others
    for part in content:
        mark = part.role if isinstance(part, Code) and part.sentence else None
        if inner is None:
            layout.append(part)
            inner = [] if mark == "opens" else None
        elif mark is not None and mark != "opens" and not deeper:
            layout += [numbered(inner, preserve), part]
            inner = None
        else:
            deeper += {"opens": 1, "closes": -1}.get(mark or "", 0)
            inner.append(part)
    return layout


def numbered(content: Content, preserve: bool) -> TaggedText:
    codes = [part for part in content if isinstance(part, Code)]
    tags = _tags(codes, (part for part in content if isinstance(part, str)))
    following = iter(tags)
    text = "".join(next(following) if isinstance(part, Code) else part for part in content)
    core = text.strip()
    if core and not preserve:
        start = text.index(core)
        text = text[:start] + _FOLD.sub(" ", core) + text[start + len(core) :]
    return TaggedText(text, {tag: code.raw for tag, code in zip(tags, codes, strict=True)})


def _tags(codes: list[Code], texts: Iterable[str]) -> list[str]:
    """A tag for each code; one that opens and the one that closes it share a number."""
    taken = {int(tag[1]) for text in texts for tag in _NUMBERED.finditer(text)}
    partner: dict[int, int] = {}
    opened: defaultdict[str, list[int]] = defaultdict(list)
    for place, code in enumerate(codes):
        if code.role == "opens":
            opened[code.link].append(place)
        elif code.role == "closes" and opened[code.link]:
            partner[place] = opened[code.link].pop()
    paired = {*partner, *partner.values()}
    numbers: dict[int, int] = {}
    tags, number = [], 0
    for place in range(len(codes)):
        if place in partner:
            tags.append(f"</{numbers[partner[place]]}>")
            continue
        number += 1
        while number in taken:
            number += 1
        numbers[place] = number
        tags.append(f"<{number}>" if place in paired else f"<{number}/>")
    return tags
