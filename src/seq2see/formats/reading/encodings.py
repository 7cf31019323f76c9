"""Which encodings text may come in, and which one a text that is not UTF-8 seems to be in.

UTF-8 is read unless a file or a person says otherwise. Nothing is ever read in a guessed encoding: a guess names the
option to add, and the person decides. Only encodings of this list are looked up; Python's own list also holds codecs
that are no encodings of text (idna, punycode, unicode_escape, rot13).
"""

import codecs
import re
from functools import cache
from typing import Literal, NamedTuple

from seq2see.errors import ConfigError, nearest

UTF_8 = "utf-8"
REPLACING = "utf-8-replace"
"""UTF-8 in which broken bytes become U+FFFD: for a person who knows that a few of them are broken."""

_ALIASES: dict[str, tuple[str, ...]] = {
    UTF_8: ("utf8", "utf-8-sig"),
    "ascii": ("us-ascii", "ansi-x3.4-1968", "646"),
    "utf-16": ("utf16", "ucs-2", "iso-10646-ucs-2"),
    "utf-16-le": ("utf-16le", "utf16-le", "utf16le"),
    "utf-16-be": ("utf-16be", "utf16-be", "utf16be"),
    "utf-32": ("utf32", "ucs-4", "iso-10646-ucs-4"),
    "cp949": ("949", "ms949", "uhc", "windows-949", "x-windows-949", "ks-c-5601-1987", "ksc5601", "ks-c-5601"),
    "euc-kr": ("euckr", "ks-x-1001"),
    "johab": ("cp1361", "ms1361"),
    "shift_jis": ("shift-jis", "shiftjis", "sjis", "s-jis"),
    "cp932": ("932", "ms932", "windows-31j", "ms-kanji"),
    "euc-jp": ("eucjp", "ujis"),
    "iso-2022-jp": ("iso2022jp", "csiso2022jp"),
    "gb18030": ("gb-18030",),
    "gbk": ("cp936", "936", "ms936", "windows-936"),
    "gb2312": ("gb-2312", "euc-cn", "euccn"),
    "big5": ("big-5", "cp950", "950", "ms950", "windows-950"),
    "big5hkscs": ("big5-hkscs",),
    "koi8-r": ("koi8r",),
    "koi8-u": ("koi8u",),
    "cp874": ("windows-874", "tis-620", "tis620", "iso-8859-11"),
    "iso-8859-1": ("latin-1", "latin1", "l1", "iso8859-1", "8859-1"),
    "iso-8859-15": ("latin-9", "latin9", "iso8859-15"),
    **{f"iso-8859-{part}": (f"iso8859-{part}", f"8859-{part}") for part in (*range(2, 11), 13, 14, 16)},
    **{f"windows-{page}": (f"cp{page}", str(page)) for page in range(1250, 1259)},
}
_CODECS = {alias: name for name, aliases in _ALIASES.items() for alias in (name.replace("_", "-"), *aliases)}
NAMES = (*_ALIASES, REPLACING)


def find_encoding(name: str) -> str | None:
    """The encoding of our list that a name means, whatever its case; None for any other."""
    plain = name.strip().lower().replace("_", "-")
    return REPLACING if plain == REPLACING else _CODECS.get(plain)


def check_encoding(name: str | None) -> str | None:
    """What a person asked for, under its own name; None is nothing asked for."""
    if name is None:
        return None
    encoding = find_encoding(name)
    if encoding is None:
        close = nearest(name.lower(), NAMES)
        hint = close if "did you mean" in close else "; such as utf-8, utf-16, cp949, shift_jis, gb18030, windows-1252"
        raise ConfigError(f"'{name[:40]}' is no encoding of text that can be read{hint}")
    return encoding


# What a text that is not UTF-8 seems to be.

_KOREAN = "이다는의에가을하고지로를은기사한도어그나자리시아인서대있정수해라일것면보들만제적여부으주게전과우장오니었스구"
_CHINESE = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
_TAIWANESE = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡"
_KANA = "".join(map(chr, range(0x3041, 0x30FF)))
_RUSSIAN = "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"
_GREEK = "αοιετνσυρκπμλςηωάόίέήθγδχφύβώξζψ"
_WESTERN = "éèêëàâäáãåçùûüúîïíìôöóòõñßæøœ"
_CENTRAL = "ąćęłńóśźżčřšžěůďťňáíéýúőűöü"

Script = Literal["hangul", "kana", "han", "alphabet", "latin"]


class _Candidate(NamedTuple):
    encoding: str
    label: str
    script: Script
    """`alphabet` has letters of its own for every word, `latin` adds some to those of ASCII."""
    common: str
    """Characters of which ordinary texts are full."""


_CANDIDATES = (
    _Candidate("cp949", "CP949 (Korean)", "hangul", _KOREAN),
    _Candidate("shift_jis", "Shift_JIS (Japanese)", "kana", _KANA),
    _Candidate("cp932", "CP932 (Japanese)", "kana", _KANA),
    _Candidate("euc-jp", "EUC-JP (Japanese)", "kana", _KANA),
    _Candidate("gb18030", "GB18030 (Chinese)", "han", _CHINESE),
    _Candidate("big5", "Big5 (Chinese)", "han", _TAIWANESE),
    _Candidate("windows-1251", "Windows-1251 (Cyrillic)", "alphabet", _RUSSIAN),
    _Candidate("koi8-r", "KOI8-R (Cyrillic)", "alphabet", _RUSSIAN),
    _Candidate("windows-1253", "Windows-1253 (Greek)", "alphabet", _GREEK),
    _Candidate("windows-1252", "Windows-1252 (Western European)", "latin", _WESTERN),
    _Candidate("windows-1250", "Windows-1250 (Central European)", "latin", _CENTRAL),
)
_LEAST = 0.25
"""A reading of which a text holds fewer of the common characters than this is no likely one."""

_SAMPLE = 1 << 13
_PLAIN = re.compile("[\t\r\n -~\u00a0-\u024f\u0370-\u052f\u2010-\u2027\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f\xa0-\xbf\u2010-\u2027\u2030-\u205e\u3000-\u3020\uff01-\uff0f\uff1a-\uff20]")
"""Without punctuation, which says nothing."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def advice(data: bytes, head: bytes = b"") -> str:
    """What to do about bytes that are not what they were taken for, from the beginning of their line on.

    `head` is the beginning of the file, where it is known.
    """
    if head.startswith(b"\x1f\x8b"):
        return "this is gzip data, add .gz to the name"
    if head and (encoding := wide_encoding(head) or _unmarked_encoding(head)):
        return f"this looks like {encoding.upper()}; add --encoding {encoding}"
    if is_utf_8(data[:_SAMPLE]):
        return "this is UTF-8; leave --encoding away"
    if _is_nearly_utf_8(data[:_SAMPLE]):
        return f"this is UTF-8 with broken bytes; mend them, or add --encoding {REPLACING} to read U+FFFD there"
    candidate = _likeliest(data[:_SAMPLE])
    if candidate is not None:
        return f"this looks like {candidate.label}; add --encoding {candidate.encoding}"
    return "name its encoding with --encoding, or convert it to UTF-8"


def wide_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32, told by a mark, or by the zeros of plain letters, which are valid UTF-8 as well."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    even, odd = data[:_SAMPLE:2], data[1:_SAMPLE:2]
    for zeros, letters, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if len(zeros) > 1 and zeros.count(0) > 0.9 * len(zeros) and 0 not in letters:
            return encoding
    return None


def _unmarked_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark: nearly all of it is ASCII, Hangul, kana or Han, with spaces or line ends."""
    for encoding in ("utf-16-le", "utf-16-be"):
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(data[:_SAMPLE])
        except UnicodeDecodeError:
            continue
        if len(_PLAIN.findall(text)) >= 0.95 * len(text) and re.search("[ \n]", text):
            return encoding
    return None


def is_utf_8(data: bytes) -> bool:
    """Whether this holds characters beyond ASCII, enough of them to be sure, all of them in UTF-8."""
    try:
        text = codecs.getincrementaldecoder(UTF_8)().decode(data)
    except UnicodeDecodeError:
        return False
    return not text.isascii() and sum(not character.isascii() for character in text) >= 4


def _is_nearly_utf_8(data: bytes) -> bool:
    text = data.decode(UTF_8, "replace")
    broken = text.count("\ufffd")
    return sum(not character.isascii() for character in text) - broken > 3 * broken


def _likeliest(data: bytes) -> _Candidate | None:
    scores = [(_score(data, candidate), -place) for place, candidate in enumerate(_CANDIDATES)]
    score, place = max(scores)
    return _CANDIDATES[-place] if score >= _LEAST else None


def _score(data: bytes, candidate: _Candidate) -> float:
    """How much of what is not ASCII is what texts in this encoding are full of; odd characters count against it."""
    try:
        text = codecs.getincrementaldecoder(candidate.encoding)().decode(data)
    except UnicodeDecodeError:
        return -1.0
    places = [character.start() for character in _BEYOND_ASCII.finditer(text)]
    if not places:
        return -1.0
    if candidate.script in ("alphabet", "latin"):
        worths = [_worth_of_letter(text, place, candidate) for place in places]
    else:
        worths = [_worth_of_character(text[place], candidate) for place in places]
    return sum(worths) / len(worths)


def _worth_of_letter(text: str, place: int, candidate: _Candidate) -> float:
    """1 for a usual letter between its neighbours, -1 for one that should not stand there."""
    letter, before, after = text[place], text[max(place - 1, 0) : place], text[place + 1 : place + 2]
    beside_ascii = any(neighbour.isascii() and neighbour.isalpha() for neighbour in (before, after))
    beside_sign = any(not neighbour.isascii() and not neighbour.isalpha() for neighbour in (before, after))
    usual = letter in candidate.common or (not before.isalpha() and letter.lower() in candidate.common)
    return 1.0 if usual and not beside_sign and beside_ascii == (candidate.script == "latin") else -1.0


def _worth_of_character(character: str, candidate: _Candidate) -> float:
    """The same in scripts of syllables and ideographs, where neighbours say nothing."""
    if character in candidate.common:
        return 1.0
    if "\uac00" <= character <= "\ud7a3":
        return 0.6 if candidate.script == "hangul" and character in _ordinary_syllables() else -0.5
    if "\u4e00" <= character <= "\u9fff":
        return -0.3 if candidate.script == "hangul" else 0.4
    return -1.0


@cache
def _ordinary_syllables() -> frozenset[str]:
    """The 2,350 of KS X 1001. The others are rare in Korean, and common in other encodings read as CP949."""
    rows = (bytes((row, cell)) for row in range(0xB0, 0xC9) for cell in range(0xA1, 0xFF))
    return frozenset(b"".join(rows).decode("euc-kr"))
