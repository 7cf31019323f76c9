"""Hangul syllables as conjoining jamo and back, by the arithmetic of the Unicode standard (section 3.12).

A corpus shows a few hundred of the 11,172 syllables often and the rest hardly ever, while 67 jamo spell them all:
한 and 했 share their first two letters once they are written ᄒ ᅡ ᆫ and ᄒ ᅢ ᆻ. Only syllables are touched.
"""

import re

SYLLABLES = range(0xAC00, 0xD7A4)
_LEAD, _VOWEL, _TAIL = 0x1100, 0x1161, 0x11A7  # the tail counts from one: zero means there is none
_VOWELS, _TAILS = 21, 28

_SYLLABLE = re.compile("[가-힣]")
JAMO = re.compile("([\u1100-\u1112])([\u1161-\u1175])([\u11a8-\u11c2]?)")
_OPEN = "".join(map(chr, SYLLABLES[::_TAILS]))

UNSTABLE = re.compile(f"(?<=[\u1100-\u1112])[\u1161-\u1175]|(?<=[{_OPEN}])[\u11a8-\u11c2]")
"""A jamo that `compose` would join to its left neighbour. None exists in NFC text: there it is joined already."""


def decompose_syllable(syllable: str) -> str:
    """한 -> ᄒ ᅡ ᆫ, two or three jamo."""
    index = ord(syllable) - SYLLABLES.start
    lead, vowel = chr(_LEAD + index // (_VOWELS * _TAILS)), chr(_VOWEL + index // _TAILS % _VOWELS)
    return lead + vowel + (chr(_TAIL + index % _TAILS) if index % _TAILS else "")


def decompose(text: str) -> str:
    """Every syllable of a text in jamo; jamo that stand in it already stay as they are."""
    return _SYLLABLE.sub(lambda syllable: decompose_syllable(syllable.group()), text)


def compose(text: str) -> str:
    """Every lead, vowel and perhaps tail that stand together become one syllable; the rest stays."""
    return JAMO.sub(_syllable, text)


def _syllable(jamo: re.Match[str]) -> str:
    lead, vowel, tail = jamo.groups()
    index = ((ord(lead) - _LEAD) * _VOWELS + ord(vowel) - _VOWEL) * _TAILS
    return chr(SYLLABLES.start + index + (ord(tail) - _TAIL if tail else 0))
