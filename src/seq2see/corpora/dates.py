"""`dates`: a day as people write it in Korean, English or German, and its ISO 8601 form.

The patterns are CLDR's own four lengths of each language and others written in CLDR's pattern letters; Babel spells
them out. Days lie in the hundred years from 1950, so that a year of two digits means one year only. Numeric formats
differ in their separators (3/5/24 is English, 05.03.24 German, 24. 3. 5. Korean), so every text means one day.
"""

from collections.abc import Callable, Iterator
from datetime import date

FIRST, LAST = date(1950, 1, 1), date(2049, 12, 31)

_CLDR = ("short", "medium", "long", "full")
FORMATS = {
    "ko": (
        *_CLDR, "y년 M월 d일", "y년 M월 d일 (EEE)", "yy년 M월 d일", "y.MM.dd", "y년 MM월 dd일", "EEEE, y년 M월 d일",
    ),
    "en_US": (
        *_CLDR, "d MMMM y", "EEEE, d MMMM y", "EEE, MMM d, y", "EEE d MMM y", "d MMM y", "M/d/y", "MM/dd/y", "MMMM d y",
        "y MMMM d", "d-MMM-y",
    ),
    "de": (
        *_CLDR, "EEEE, dd.MM.y", "d.M.y", "d.M.yy", "d. MMM y", "EEE, d. MMM y", "'den' d. MMMM y",
        "EEEE, 'den' d. MMMM y",
    ),
}  # fmt: skip
_PAIRS = tuple((locale, pattern) for locale, patterns in FORMATS.items() for pattern in patterns)


def write(day: date, locale: str, pattern: str) -> str:
    """The day in one format, with ordinary spaces."""
    from babel.dates import format_date

    return str(format_date(day, pattern, locale)).replace("\u202f", " ").replace("\xa0", " ")


def days(random: Callable[[], float]) -> Iterator[tuple[str, str]]:
    """An endless stream of (written, ISO)."""
    first, span = FIRST.toordinal(), LAST.toordinal() - FIRST.toordinal() + 1
    while True:
        day = date.fromordinal(first + int(random() * span))
        locale, pattern = _PAIRS[int(random() * len(_PAIRS))]
        yield write(day, locale, pattern), day.isoformat()
