"""Format directives of a message that a program will hand to printf: valid, and each with its own argument.

`Copied %s to %d places` becomes `%d곳에 %s 복사` in Korean, and the program would then print a text as a number. Where
the language of the program can say which argument is meant, the translation says it (`%2$d곳에 %1$s 복사`); where it
cannot (Python, Lua), the directives keep the order of the source. A catalogue says by flags which language it is.
"""

import re
from collections import defaultdict

from seq2see.text.placeholders import placeholders, spans, stray_percents

_NUMBERED = re.compile(r"(?<![\w-])(?:c|objc|php|perl|awk|tcl|java-printf|boost)-format(?![\w-])")
_IN_ORDER = re.compile(r"(?<![\w-])(?:python|lua)-format(?![\w-])")
_TAKES_NEXT = re.compile(r"%[-+#0'*.\dhlLqjzt]*[A-Za-ln-z@]")
"""A directive that takes the next argument: not %1$s, %(name)s, %% or %m, which the C library fills in itself."""


def fit_for_printf(source: str, translation: str, flags: str) -> str:
    """The translation, put right as far as the flags of its message ask for it."""
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
    found = [translation[start:end] for start, end in places]
    if found == wanted or sorted(found) != sorted(wanted):
        return translation
    by_number = numbered and not any("*" in directive for directive in wanted)  # * takes an argument of its own
    for (start, end), directive in zip(
        reversed(places), reversed(_numbers(wanted, found) if by_number else wanted), strict=True
    ):
        translation = translation[:start] + directive + translation[end:]
    return translation


def _numbers(wanted: list[str], found: list[str]) -> list[str]:
    """Each directive with the number of its argument; equal ones keep their order among themselves."""
    arguments: defaultdict[str, list[int]] = defaultdict(list)
    for number, directive in enumerate(wanted, start=1):
        arguments[directive].append(number)
    return [f"%{arguments[directive].pop(0)}${directive[1:]}" for directive in found]
