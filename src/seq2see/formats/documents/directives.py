"""Format directives of a message that a program will hand to printf or format: valid, and each with its own argument.

`Copied %s to %d places` becomes `%d곳에 %s 복사` in Korean, and the program would then print a text as a number. Where
the language of the program can say which argument is meant, the translation says it (`%2$d곳에 %1$s 복사`); where it
cannot (Python, Lua), the directives keep the order of the source. Where fields stand in braces (`{name}` of Python, C#,
C++, Rust), a lone brace would break the program, and goes. A catalogue says by flags which language it is.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from seq2see.formats.documents.placeholders import placeholders, spans, stray_percents

_NUMBERED = re.compile(r"(?<![\w-])(?:c|objc|php|perl|awk|tcl|java-printf|boost)-format(?![\w-])")
_BRACES = re.compile(r"(?<![\w-])(?:python-brace|csharp|c\+\+|rust)-format(?![\w-])")
_IN_ORDER = re.compile(r"(?<![\w-])(?:python|lua)-format(?![\w-])")
_TAKES_NEXT = re.compile(r"%[-+#0'*.\dhlLqjzt]*[A-Za-ln-z@]")
"""A directive that takes the next argument: not %1$s, %(name)s, %% or %m, which the C library fills in itself."""


def fit_for_program(source: str, translation: str, flags: str) -> str:
    """The translation, put right as far as the flags of its message ask for it."""
    if _BRACES.search(flags):
        translation = _without_lone_braces(source, translation)
    numbered = _NUMBERED.search(flags) is not None
    if not numbered and not _IN_ORDER.search(flags):
        return translation
    for start, end in reversed(list(stray_percents(translation))):
        if translation[start] == "%":  # a lone one would begin a directive
            translation = translation[:start] + "%%" + translation[end:]
    return _with_arguments_in_order(source, translation, numbered)


def _with_arguments_in_order(source: str, translation: str, numbered: bool) -> str:
    wanted = [directive for directive in placeholders(source) if _TAKES_NEXT.fullmatch(directive)]
    places = [(start, end) for start, end in spans(translation) if _TAKES_NEXT.fullmatch(translation, start, end)]
    directives = [translation[start:end] for start, end in places]
    if directives == wanted or sorted(directives) != sorted(wanted):
        return translation
    by_number = numbered and not any("*" in directive for directive in wanted)  # * takes an argument of its own
    for (start, end), directive in zip(
        reversed(places), reversed(_numbers(wanted, directives) if by_number else wanted), strict=True
    ):
        translation = translation[:start] + directive + translation[end:]
    return translation


def _numbers(wanted: list[str], directives: list[str]) -> list[str]:
    """Each directive with the number of its argument; equal ones keep their order among themselves."""
    arguments: defaultdict[str, list[int]] = defaultdict(list)
    for number, directive in enumerate(wanted, start=1):
        arguments[directive].append(number)
    return [f"%{arguments[directive].pop(0)}${directive[1:]}" for directive in directives]


def _without_lone_braces(source: str, translation: str) -> str:
    """Fields of the source stay, and so do doubled braces, which are printed; any other brace is left out."""
    fields = _fields(source)
    if fields is None:  # the source is no format itself
        return translation
    wanted = Counter(fields)
    longest = sorted(wanted, key=len, reverse=True)
    parts: list[str] = []
    place = 0
    while place < len(translation):
        field = next((field for field in longest if translation.startswith(field, place)), None)
        if field is not None and wanted[field] > 0:
            wanted[field] -= 1
            parts.append(field)
            place += len(field)
        elif translation.startswith(("{{", "}}"), place):
            parts.append(translation[place : place + 2])
            place += 2
        else:
            parts.append(translation[place] if translation[place] not in "{}" else "")
            place += 1
    result = "".join(parts)
    kept = _fields(result)
    return result if kept is not None and sorted(kept) == sorted(fields) else source


def _fields(text: str) -> list[str] | None:
    """The fields in braces, outermost ones with what is nested in them; None when the braces do not match."""
    fields: list[str] = []
    depth = start = 0
    for place, brace in _single_braces(text):
        if brace == "{":
            start = place if depth == 0 else start
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                fields.append(text[start : place + 1])
        if depth < 0:
            return None
    return fields if depth == 0 else None


def _single_braces(text: str) -> Iterator[tuple[int, str]]:
    """Braces that are not doubled; inside a field every brace counts."""
    place = depth = 0
    while place < len(text):
        character = text[place]
        if character in "{}":
            if depth == 0 and text.startswith(character, place + 1):
                place += 2
                continue
            depth += 1 if character == "{" else -1
            yield place, character
        place += 1
