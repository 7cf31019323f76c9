"""The compiled normalisation of a SentencePiece model: a double-array trie of UTF-8 keys, and what each becomes.

    4 bytes, how many bytes of trie ─▶ the trie, 32-bit units ─▶ replacements, each ending in a NUL

The file may come from anybody: every step stays within the arrays, and what is no replacement is none.
"""

from array import array
from functools import lru_cache
from sys import byteorder

from seq2see.text.pieces import UnusableError

LARGEST_CHARSMAP = 8 * 2**20  # bytes; that of NFKC has 240,000
_LONGEST = 256  # bytes that one key may become; of NFKC, 33


class Charsmap:
    """Longest keys first, from left to right. An empty one changes nothing."""

    def __init__(self, blob: bytes) -> None:
        size = int.from_bytes(blob[:4], "little")
        if blob and (size % 4 or not 4 <= size <= len(blob) - 4 or len(blob) > LARGEST_CHARSMAP):
            raise UnusableError("its normalisation rules are damaged")
        self._units = array("I", blob[4 : 4 + size])
        if byteorder == "big":
            self._units.byteswap()
        self._replacements = blob[4 + size :]
        self._root = _offset(self._units[0]) if blob else 0
        self._begins = lru_cache(1 << 16)(self._walk)

    def replace(self, text: str, start: int) -> tuple[str, int]:
        """What stands at `start` becomes, and how many characters that are."""
        best, length = text[start], 1
        if not self._units:
            return best, length
        node, replacement = self._begins(text[start], self._root)
        for end in range(start + 1, len(text) + 1):
            if replacement is not None:
                best, length = replacement, end - start
            if node is None or end == len(text):
                break
            node, replacement = self._begins(text[end], node)
        return best, length

    def _walk(self, character: str, node: int) -> tuple[int | None, str | None]:
        """From a node along the bytes of a character: where it leads, and what a key that ends there becomes."""
        units, value = self._units, None
        for byte in character.encode():
            node ^= byte
            if node >= len(units) or units[node] & 0x800000FF != byte:
                return None, None
            unit = units[node]
            node ^= _offset(unit)
            leaf = unit >> 8 & 1 and node < len(units)
            value = units[node] & 0x7FFFFFFF if leaf else None
        return node, None if value is None else self._replacement(value)

    def _replacement(self, start: int) -> str | None:
        end = self._replacements.find(b"\0", start, start + _LONGEST)
        return self._replacements[start:end].decode(errors="replace") if end >= 0 else None


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 1 << 9) >> 6)
