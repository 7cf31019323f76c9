"""The spelling of a text: the characters a subword model is given, and the way back.

    text      나는 ᛗ a          what people write
    spelling  ᄂ ᅡ ᄂ ᅳ ᆫ ▁ ⟨E1⟩⟨9B⟩⟨97⟩ ▁ a

A character of the alphabet spells itself; a Hangul syllable may be spelled in jamo; everything else is spelled in
bytes, each byte a symbol of its own from a private plane of Unicode. Should such a symbol stand in a text, it is
spelled in bytes as well, so no text can be taken for another one and reading back is exact. A first space is put in
front where words are marked by their leading space, so that a word is the same piece at the start as elsewhere.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from seq2see.errors import DataError
from seq2see.text import jamo

_FIRST_BYTE = 0xF0000
BYTES = tuple(chr(_FIRST_BYTE + byte) for byte in range(256))
_BYTE_RUN = re.compile(f"[{BYTES[0]}-{BYTES[-1]}]+")
SURROGATE = "the text holds half of a surrogate pair, which is no character: leave it out"
_BYTE_SET = frozenset(BYTES)


def learnable(text: str, *, in_jamo: bool) -> str:
    """The spelling of a text before there is an alphabet: what a vocabulary is learned from."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise DataError(SURROGATE) from None
    return _BYTE_RUN.sub(" ", jamo.decompose(text) if in_jamo else text)


class Spelling:
    """Writes texts in an alphabet and reads them back; with offsets when somebody wants to point at characters."""

    def __init__(self, alphabet: Iterable[str], *, in_jamo: bool, in_bytes: bool, first_space: bool) -> None:
        self._in_jamo, self._in_bytes = in_jamo, in_bytes
        self._first = " " if first_space else ""
        self._known = frozenset(alphabet) - (_BYTE_SET if in_bytes else frozenset())
        units = [_BYTE_RUN.pattern] * in_bytes + [jamo.JAMO.pattern] * in_jamo
        self._unit = re.compile("|".join([*units, "."]), re.DOTALL)
        self._syllables = dict(self._spellable_syllables()) if in_jamo else {}

    def _spellable_syllables(self) -> Iterable[tuple[str, str]]:
        """A syllable with one jamo outside the alphabet goes to bytes whole: half of it would read back as another."""
        for syllable in map(chr, jamo.SYLLABLES):
            letters = jamo.decompose_syllable(syllable)
            if self._known.issuperset(letters):
                yield syllable, letters

    def write(self, text: str) -> str:
        """The spelling of a text; an empty text has none."""
        if not text:
            return ""
        if self._known.issuperset(text) and not (self._in_jamo and jamo.UNSTABLE.search(text)):
            return self._first + text
        return self._first + "".join(self._characters(text))

    def write_with_origins(self, text: str) -> tuple[str, list[int]]:
        """The spelling, and for each of its characters the index of the character of the text it comes from."""
        characters = self._characters(text)
        origins = [index for index, spelled in enumerate(characters) for _ in spelled]
        first = self._first if text else ""
        return first + "".join(characters), [0] * len(first) + origins

    def _characters(self, text: str) -> list[str]:
        known, syllables = self._known, self._syllables
        spelled = [syllables.get(c, c) if c in known or c in syllables else self._unknown(c) for c in text]
        if self._in_jamo and self._in_bytes:
            for sequence in jamo.UNSTABLE.finditer(text):  # not in NFC, but exact all the same
                spelled[sequence.start()] = self._unknown(sequence.group())
        return spelled

    def _unknown(self, character: str) -> str:
        spelled = _spell_in_bytes(character)
        return spelled if self._in_bytes else character

    def read(self, spelling: str) -> str:
        """The text that is spelled; bytes that are no UTF-8, as a model may write them, become U+FFFD."""
        text = spelling.removeprefix(self._first)
        if self._in_jamo:
            text = jamo.compose(text)
        return _BYTE_RUN.sub(_read_bytes, text) if self._in_bytes else text

    def read_with_origins(self, spelling: str) -> tuple[str, list[int]]:
        """The text, and for each character of the spelling the index of the character of the text it belongs to."""
        body = spelling.removeprefix(self._first)
        origins = [0] * (len(spelling) - len(body))
        parts: list[str] = []
        length = 0
        for match in self._unit.finditer(body):
            unit = match.group()
            text = _read_bytes(match) if self._in_bytes and unit[0] in _BYTE_SET else jamo.compose(unit)
            origins.extend(length + owner for owner in _owners(unit, text))
            parts.append(text)
            length += len(text)
        return "".join(parts), origins


@lru_cache(maxsize=4096)
def _spell_in_bytes(character: str) -> str:
    try:
        return "".join(BYTES[byte] for byte in character.encode())
    except UnicodeEncodeError:
        raise DataError(SURROGATE) from None


def _read_bytes(run: re.Match[str]) -> str:
    return bytes(ord(symbol) - _FIRST_BYTE for symbol in run.group()).decode(errors="replace")


def _owners(unit: str, text: str) -> list[int]:
    """Which character of `text` each character of `unit` belongs to: jamo share one, bytes follow UTF-8."""
    if len(text) == 1:
        return [0] * len(unit)
    owners = [index for index, character in enumerate(text) for _ in character.encode()]
    return owners if len(owners) == len(unit) else [min(index, len(text) - 1) for index in range(len(unit))]
