"""Fonts for pictures: matplotlib's own for Latin, then one that has Hangul, kana and kanji, wherever it can be found.

The extra `plot` brings a package with such a font. Nothing is imported from it: these packages change the settings of
matplotlib for the whole program as they load, so only the file inside is used. A family of the system helps out. The
font manager is told of the file; rcParams stay as they are.
"""

import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from matplotlib.font_manager import FontProperties, fontManager, get_font

_FIRST = "DejaVu Sans"  # comes with matplotlib
_PACKAGED = (
    ("notojp_matplotlib", "fonts/NotoSansCJKjp-Regular.otf"),
    ("koreanize_matplotlib", "fonts/NanumGothic.ttf"),
    ("matplotlib_fontja", "fonts/ipaexg.ttf"),
)
_SYSTEM = (
    "Noto Sans CJK KR",
    "Noto Sans CJK JP",
    "Noto Sans KR",
    "Noto Sans JP",
    "NanumGothic",
    "Malgun Gothic",
    "Apple SD Gothic Neo",
    "Hiragino Sans",
    "Yu Gothic",
    "Noto Emoji",
    "Symbola",
    "Segoe UI Emoji",
    "Segoe UI Symbol",
)
# Invisible by nature: joiners and variation selectors. Fonts without them would draw a box.
_UNSEEN = frozenset([0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10)])
_LONGEST = 18


def font(size: float) -> FontProperties:
    """The families in the order in which a character looks for its glyph."""
    return FontProperties(family=list(families()), size=size)


@cache
def families() -> tuple[str, ...]:
    """Each is known to matplotlib's font manager."""
    names = [_FIRST]
    for path in _packaged():
        fontManager.addfont(path)
        names.append(get_font(path).family_name)
    known = {entry.name for entry in fontManager.ttflist}
    names += [system_name for system_name in _SYSTEM if system_name in known and system_name not in names]
    return tuple(names)


@cache
def covered() -> frozenset[int]:
    """Every code point that one of the families has a glyph for."""
    points: set[int] = set()
    for name in families():
        path = fontManager.findfont(FontProperties(family=[name]), fallback_to_default=False)
        points.update(get_font(path).get_charmap())
    return frozenset(points)


def drawable(text: str, longest: int = _LONGEST) -> str:
    """The text with U+XXXX for what no font can draw, and cut to a readable length."""
    shown = "".join(_characters(text))
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _characters(text: str) -> Iterator[str]:
    for character in text:
        point = ord(character)
        if point in _UNSEEN:
            continue
        unseen = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        yield character if point in covered() and not unseen else f"U+{point:04X}"


def _packaged() -> Iterator[Path]:
    for package, file in _PACKAGED:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            path = Path(folder) / file
            if path.is_file():
                yield path
