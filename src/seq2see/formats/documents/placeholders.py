"""What a translation has to carry over literally: format directives, variables, tags, entities, escapes, addresses.

    %s %1$s %(name)s %-5.2f %% %1 %@     printf of C, Python, Java, Qt and Objective-C, and strftime (%Y-%m-%d)
    {0} {name} {x:>5} {{ x }} ${x} %{x}  format, templates; $name of a shell, %NAME% of Windows
    {n, plural, one {...} other {...}}   ICU messages, as a whole: they stay untranslated rather than broken
    <b> </b> <a href="x"> <1> </1> <2/>  tags, numbered inline tags of exchange files, <!-- comments -->, {\\an8}
    &amp; &#39; \\n \\t \\" \\u00e9          entities and escapes that the text spells out
    https://example.org a@example.org    addresses
    [X0X] [X15X]                         what Weblate puts in the place of a placeholder, with its offset

A space is no flag here (`50% discount` is prose, not `% d`), and a digit right before `%` makes it a percentage
(`50%off`). Accelerators (`_File`, `&File`) are not placeholders: they belong to a word and change with it.

`repaired` is the last resort for a translation that lost some: it guarantees the same placeholders, each as often as
the source has it, tags nested, at places that are a guess unless an alignment is given.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

__all__ = [
    "Align",
    "faithful",
    "gaps_between_words",
    "has_words",
    "is_unspaced",
    "missing",
    "placeholders",
    "repaired",
    "spans",
    "stray_percents",
    "tag_pairs",
]

_Edit = tuple[int, int, int]
"""From where to where, and how long what stands there instead is."""

Align = Callable[[int], int]
"""From a place in the source to the corresponding place in the translation, both counted in code points."""

_URL = r"[\w\-.~:/?#\[\]@!$&'()*+,;=%]*[\w\-~/#@$&*+=%]"

_KINDS = (
    rf"(?:https?|ftp)://{_URL}|(?<![\w.])www\.{_URL}",
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+",
    r"(?P<icu>\{\s*\w+\s*,\s*(?:plural|selectordinal|select|choice)\s*,)",
    r"\{\{\{?[^{}]*\}\}\}?",  # {{ x }}
    r"\{%[^{}]*%\}",  # {% tag %}
    r"[$#%]\{[^{}]*\}",  # ${x} #{x} %{x}
    r"\{\\[^{}]*\}",  # {\an8}
    r"\{\s?[$@-]?[\w.\[\]'-]*(?:![rsa])?(?::(?:[^{}\s]*|%[^{}]*))?\s?\}",  # {0} {name} {x:>5} {day:%d %b} {}
    r"\{\s?\w+,\s*(?:number|date|time|spellout|ordinal|duration)(?:,[^{}]*)?\s?\}",  # {n, number}
    r"<!--(?:[^<-]|-(?!->)|<(?!!--))*-->",
    r"</?\d{1,9}/?>",  # <1> </1> <2/>
    r"<\d[\d:.]*>",  # <00:01.000> of WebVTT
    r"""</?[A-Za-z][\w:.-]*(?:\s(?=[^<>]*=)(?:[^<>"']|"[^"<]*"|'[^'<]*')*)?\s?/?>""",
    r"<(?:v|lang)(?:\.[\w.]+)?\s[^<>]+>",  # <v Roger> of WebVTT
    r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});",
    r"""\\(?:[nrt"'\\]|u[\da-fA-F]{4}|x[\da-fA-F]{2})""",
    r"%%|%[A-Z][A-Z\d_]+%",
    r"(?:%\d{1,2}\$|%\([A-Za-z_][\w.-]*\)|%<[A-Za-z_]\w*>|(?<!\d)%)"  # whose,
    r"(?:[+#0']|-(?=[+#\d'*]))*(?:\d{1,4}|\*)?(?:\.(?:\d{1,4}|\*)?)?(?:hh|h|ll|l|L|q|j|z|t)?"  # how long,
    r"[diouxXeEfFgGaAcCsSpnm@bBYyHIMjkPrRTUVwWZ]",  # of what kind
    r"(?<!\d)%L?[1-9](?![\d.,]*\d)",  # %1 of Qt
    r"(?<![\w$])\$[A-Za-z_]\w*",
    r"\[X\d{1,6}X\]",  # of Weblate
)
_PLACEHOLDER = re.compile("|".join(_KINDS), re.ASCII)
_TAG = re.compile(r"<(/?)([A-Za-z\d][\w:.-]*).*?(/?)>", re.ASCII | re.DOTALL)
_STARTERS = re.compile(r"[%{}<>&$\\@#]|\[(?=X)|://|(?<=www)\.")
"""Every placeholder holds one of these: what a text without them is spared, and what is taken out in the worst case."""

_CLOSING = re.compile(r"""(?<=\S)[.,!?:;…。、，！？：；)\]"'»”’」』]+(?=\s|$)""")
_UNSPACED = re.compile("[\u3001-\u30ff\u3400-\u9fff\uff00-\uff65\U00020000-\U0003ffff]")
_MANGLED, _LONGEST_MANGLED = 50, 200
"""Lost placeholders that are looked for in a mangled spelling, and the characters of each; more is no sentence."""


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the placeholders stand, from left to right, never overlapping. Linear in the length of the text."""
    if not _STARTERS.search(text):
        return
    place = 0
    braces: dict[int, int] | None = None
    while match := _PLACEHOLDER.search(text, place):
        start, place = match.span()
        if match.lastgroup == "icu":
            braces = _matching_braces(text) if braces is None else braces
            if start not in braces:
                place = start + 1
                continue
            place = braces[start]
        yield start, place


def _matching_braces(text: str) -> dict[int, int]:
    """Where the brace that opens there has been closed."""
    opened: list[int] = []
    ends = {}
    for brace in re.finditer("[{}]", text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            ends[opened.pop()] = brace.end()
    return ends


def placeholders(text: str) -> tuple[str, ...]:
    """The placeholders of a text in their order, each as often as it occurs."""
    return tuple(text[start:end] for start, end in spans(text))


def missing(source: str, translation: str) -> tuple[str, ...]:
    """What the translation lacks of the source's placeholders, in the source's order."""
    return _lacking(placeholders(source), Counter(placeholders(translation)))


def faithful(source: str, translation: str) -> bool:
    """Whether the translation holds exactly the source's placeholders, and its tags are as well nested."""
    wanted, translated = placeholders(source), placeholders(translation)
    return wanted == translated or (Counter(wanted) == Counter(translated) and _nested_alike(wanted, translated))


def has_words(text: str) -> bool:
    """Whether a letter or a digit stands outside the placeholders: without one there is nothing to translate."""
    if _STARTERS.search(text):
        text = "".join(text[place] for place in _Parsed.of(text).letters)
    return any(map(str.isalnum, text))


def repaired(source: str, translation: str, align: Align | None = None) -> str:
    """The translation with exactly the source's placeholders; the same object when nothing has to be done.

    Misspelt ones (`% s`, `％S`, `</ b>`) are put right, others that the source does not have are removed, those still
    missing inserted: where `align` says, or in proportion to the words before them.
    """
    if faithful(source, translation):
        return translation
    wanted = _Parsed.of(source)
    cleared = _STARTERS.sub(lambda match: " " * len(match[0]), translation)
    for attempt, edits in (_respelt(source, translation), (translation, []), (cleared, [])):
        places = _places(wanted, _Parsed.of(attempt), edits, align)
        pruned = _pruned(attempt, Counter(wanted.placeholders))
        result = _in_order(wanted.placeholders, _inserted(wanted, pruned, places))
        if faithful(source, result):
            return result
    spaced = " ".join([cleared.strip(), *wanted.placeholders]).strip()
    return spaced if faithful(source, spaced) else source


class _Parsed(NamedTuple):
    """A text with its placeholders found. `letters` are the places of all other characters but white space."""

    text: str
    spans: list[tuple[int, int]]
    placeholders: tuple[str, ...]
    letters: list[int]

    @classmethod
    def of(cls, text: str) -> "_Parsed":
        places = list(spans(text))
        letters: list[int] = []
        ends, starts = [0, *(end for _, end in places)], [*(start for start, _ in places), len(text)]
        for end, start in zip(ends, starts, strict=True):
            letters += [place for place in range(end, start) if not text[place].isspace()]
        return cls(text, places, tuple(text[start:end] for start, end in places), letters)

    def letters_before(self, place: int) -> int:
        return bisect_left(self.letters, place)

    def place_behind(self, count: int) -> int:
        """The place behind so many letters."""
        return self.letters[min(count, len(self.letters)) - 1] + 1 if count and self.letters else 0


def _lacking(wanted: tuple[str, ...], present: Counter[str]) -> tuple[str, ...]:
    present = present.copy()
    lacking = []
    for placeholder in wanted:
        if present[placeholder] > 0:
            present[placeholder] -= 1
        else:
            lacking.append(placeholder)
    return tuple(lacking)


def _places(source: _Parsed, text: _Parsed, edits: list[_Edit], align: Align | None) -> list[int]:
    """For each placeholder of the source, how many letters of the text belong before it."""
    if align is None:
        share = len(text.letters) / max(len(source.letters), 1)
        return [round(source.letters_before(start) * share) for start, _ in source.spans]
    return [text.letters_before(_moved(align(start), edits)) for start, _ in source.spans]


def _moved(place: int, edits: list[_Edit]) -> int:
    """Where a place is after the edits."""
    for start, end, length in edits:
        place = place + length - (end - start) if place >= end else min(place, start)
    return place


def _respelt(source: str, translation: str) -> tuple[str, list[_Edit]]:
    """Placeholders found in another case, with spaces inside, or in full-width letters, as the source spells them."""
    lost = Counter(missing(source, translation))
    edits: list[_Edit] = []
    for placeholder in [placeholder for placeholder in lost if len(placeholder) <= _LONGEST_MANGLED][:_MANGLED]:
        places = list(islice(_misspellings(placeholder, translation), lost[placeholder]))
        for start, end in reversed(places):
            translation = translation[:start] + placeholder + translation[end:]
            edits.append((start, end, len(placeholder)))
    return translation, edits


def _misspellings(placeholder: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the text seems to mean this placeholder."""
    if placeholder == "%%":  # what a translator makes of it is a percent sign of its own
        return stray_percents(text)
    letters = r"\s?".join(_any_width(character) for character in placeholder if not character.isspace())
    before = r"(?<![^\W_])" if placeholder[0].isalnum() else ""
    after = r"(?![^\W_])" if placeholder[-1].isalnum() and placeholder[-1].isascii() else ""
    return (match.span() for match in re.finditer(before + letters + after, text, re.IGNORECASE | re.ASCII))


def stray_percents(text: str) -> Iterator[tuple[int, int]]:
    """Where a percent sign stands that is no part of a placeholder."""
    taken = {place for start, end in spans(text) for place in range(start, end)}
    return (sign.span() for sign in re.finditer("[%％]", text) if sign.start() not in taken)


def _any_width(character: str) -> str:
    wide = chr(ord(character) + 0xFEE0) if "!" <= character <= "~" else ""
    return f"(?:{re.escape(character)}|{re.escape(wide)})" if wide else re.escape(character)


def _pruned(text: str, wanted: Counter[str]) -> str:
    """Without the placeholders that are more than wanted, and without the double space that one leaves behind."""
    left = wanted.copy()
    parts, place = [], 0
    for start, end in spans(text):
        left[text[start:end]] -= 1
        if left[text[start:end]] >= 0:
            continue
        parts.append(text[place:start])
        alone = (start == 0 or text[start - 1].isspace()) and (end == len(text) or text[end].isspace())
        place = end + 1 if alone and end < len(text) else end
    return "".join([*parts, text[place:]])


def _inserted(source: _Parsed, text: str, places: list[int]) -> str:
    """With every placeholder of the source that the text lacks."""
    parts: list[str] = []
    place = 0
    opening = {number for number, _ in tag_pairs(source.placeholders)}
    for gap, number in sorted((gap, number) for number, gap in _chosen_gaps(source, text, places).items()):
        parts.append(text[place:gap])
        left, right = _spacing(source, number)
        behind = text[gap : gap + 1]
        if (left or number in opening) and not right and behind.isspace():  # an opening tag leans on the word behind it
            parts.append(behind)
            behind, gap = text[gap + 1 : gap + 2], gap + 1
        before = next((part[-1] for part in reversed(parts) if part), " ")
        closing = _CLOSING.match(text, gap)
        parts += [
            " " if left and not before.isspace() and not is_unspaced(before) else "",
            source.placeholders[number],
            " " if right and behind and not closing and not behind.isspace() and not is_unspaced(behind) else "",
        ]
        place = max(place, gap)
    return "".join([*parts, text[place:]])


def _chosen_gaps(source: _Parsed, text: str, places: list[int]) -> dict[int, int]:
    """Number of a lacking placeholder -> where to insert it."""
    parsed = _Parsed.of(text)
    lacking = Counter(_lacking(source.placeholders, Counter(parsed.placeholders)))
    gaps = _gaps(parsed)
    chosen = {}
    for number in reversed(range(len(source.placeholders))):  # of equal ones the first are taken to stand already
        if lacking[source.placeholders[number]] > 0:
            lacking[source.placeholders[number]] -= 1
            chosen[number] = _nearest(gaps, parsed.place_behind(places[number]))
    for opening, closing in tag_pairs(source.placeholders):
        starts = [source.letters_before(source.spans[number][0]) for number in (opening, closing)]
        around = opening in chosen and closing in chosen and starts[0] < starts[1]
        if around and not text[chosen[opening] : chosen[closing]].strip():
            chosen[opening], chosen[closing] = _around_a_word(text, gaps, chosen[opening])
        if closing in chosen and not _spacing(source, closing)[0]:  # it leans on the word before it
            chosen[closing] = len(text[: chosen[closing]].rstrip()) or chosen[closing]
    return chosen


def _around_a_word(text: str, gaps: list[int], gap: int) -> tuple[int, int]:
    """The word behind this gap, or the last one before it, so that a pair of tags does not stand around nothing."""
    index = bisect_left(gaps, gap)
    for behind in gaps[index + 1 : index + 8]:
        if text[gap:behind].strip():
            return gap, behind
    for before in reversed(gaps[max(index - 8, 0) : index]):
        if text[before:gap].strip():
            return before, gap
    return gap, gap


def _spacing(source: _Parsed, number: int) -> tuple[bool, bool]:
    """Whether the source has white space before and behind this placeholder, or ends there."""
    start, end = source.spans[number]
    before, behind = source.text[max(start - 1, 0) : start], source.text[end : end + 1]
    return not before or before.isspace(), not behind or behind.isspace()


def gaps_between_words(text: str) -> list[int]:
    """Places where something may be put in, sorted."""
    return _gaps(_Parsed.of(text))


def _gaps(parsed: _Parsed) -> list[int]:
    """Places between words, sorted: never inside a word or a placeholder. Han and kana have a gap everywhere."""
    text = parsed.text
    inside = {place for start, end in parsed.spans for place in range(start + 1, end)}
    gaps = {0, len(text)} | {closing.start() for closing in _CLOSING.finditer(text)}
    for place in range(1, len(text)):
        if text[place].isspace() or text[place - 1].isspace() or is_unspaced(text[place - 1]):
            gaps.add(place)
    gaps |= {place for span in parsed.spans for place in span}
    return sorted(gaps - inside)


def is_unspaced(character: str) -> bool:
    """Whether it belongs to a script without spaces between words: kana, Han, their punctuation. Hangul has spaces."""
    return _UNSPACED.match(character) is not None


def _nearest(gaps: list[int], place: int) -> int:
    index = bisect_left(gaps, place)
    around = gaps[max(index - 1, 0) : index + 1]
    return min(around, key=lambda gap: abs(gap - place))


# Tags: open before close, and no two pairs crossing.


def _nested_alike(wanted: tuple[str, ...], present: tuple[str, ...]) -> bool:
    if _tags(wanted) == _tags(present):
        return True
    single = _unpaired(wanted)
    crossing = {name for close, name in single if close} & {name for close, name in single if not close}
    return not crossing and Counter(single) == Counter(_unpaired(present))


def _tags(present: tuple[str, ...]) -> list[str]:
    return [placeholder for placeholder in present if _opens_or_closes(placeholder)]


def _opens_or_closes(placeholder: str) -> "re.Match[str] | None":
    tag = _TAG.fullmatch(placeholder)
    return tag if tag and not tag[3] else None


def tag_pairs(present: tuple[str, ...]) -> list[tuple[int, int]]:
    """Numbers of the placeholders that are an opening tag and the tag that closes it."""
    opened: list[int] = []
    names: list[str] = []
    depth: Counter[str] = Counter()
    pairs = []
    for number, placeholder in enumerate(present):
        tag = _opens_or_closes(placeholder)
        name = tag[2].lower() if tag else ""
        if tag and not tag[1]:
            opened.append(number)
            names.append(name)
            depth[name] += 1
        elif tag and depth[name]:
            while (inner := names.pop()) != name:
                opened.pop()
                depth[inner] -= 1
            depth[name] -= 1
            pairs.append((opened.pop(), number))
    return pairs


def _unpaired(present: tuple[str, ...]) -> list[tuple[bool, str]]:
    """Tags that no other one answers, as (closes, name): <br>, or what is left of two pairs that cross."""
    paired = {number for pair in tag_pairs(present) for number in pair}
    tags = (_opens_or_closes(placeholder) for number, placeholder in enumerate(present) if number not in paired)
    return [(bool(tag[1]), tag[2].lower()) for tag in tags if tag]


def _in_order(wanted: tuple[str, ...], text: str) -> str:
    """Tags that are badly nested take the source's order, each at the place of another one."""
    present = placeholders(text)
    if Counter(present) != Counter(wanted) or _nested_alike(wanted, present):
        return text
    ordered = iter(_tags(wanted))
    parts, place = [], 0
    for start, end in spans(text):
        parts += [text[place:start], next(ordered) if _opens_or_closes(text[start:end]) else text[start:end]]
        place = end
    return "".join([*parts, text[place:]])
