"""Compiled gettext catalogues (MO) -> pairs. Their header states their encoding, as that of a PO file does."""

import struct
from collections.abc import Iterator
from pathlib import Path

from seq2see.errors import DataError
from seq2see.formats.pair import Languages, Pair
from seq2see.formats.po import Message, pairs_of, stated_encoding
from seq2see.formats.reading.encodings import REPLACING, UTF_8, advice
from seq2see.formats.reading.lines import codec_of
from seq2see.formats.reading.unpacking import CHUNK, open_bytes

LARGEST_MO = 64 * 2**20
"""Bytes. An MO file is addressed by offsets and has to be held whole."""


def read_mo(path: Path, languages: Languages, encoding: str | None = None) -> Iterator[Pair]:
    """Every translated message; the compiler has already left out obsolete and fuzzy ones."""
    return pairs_of(_messages(path, encoding), languages, path)


def _messages(path: Path, encoding: str | None) -> Iterator[Message]:
    """The layout: seven words of header, then two tables of (length, offset), originals and translations."""
    data = bytearray()
    with open_bytes(path) as stream:
        while len(data) <= LARGEST_MO and (chunk := stream.read(CHUNK)):
            data += chunk
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(bytes(data[:4]))
    if order is None or len(data) < 28 or len(data) > LARGEST_MO:
        raise DataError("not a compiled gettext catalogue; make one with msgfmt, or give the .po", path=path)
    revision, count, originals, translations = struct.unpack_from(f"{order}4I", data, 4)
    if revision >> 16 > 1 or max(originals, translations) + 8 * count > len(data):
        raise _damaged(path)
    codec = _encoding(data, order, originals, translations, path) if count else None
    codec = codec_of(b"", codec or encoding or UTF_8)
    spent = 0
    for number in range(count):
        places = [struct.unpack_from(f"{order}2I", data, table + 8 * number) for table in (originals, translations)]
        spent += sum(length for length, _ in places)
        if spent > len(data):  # texts that share their bytes: no compiler does it, and it could go on for ever
            raise _damaged(path)
        texts = [_text(data, length, offset, codec, path, number + 1) for length, offset in places]
        _, separator, original = texts[0].rpartition("\x04")
        text, zero, plural = original.partition("\0")
        if text or not separator:
            yield Message(number + 1, text, plural if zero else None, texts[1].split("\0"))


def _encoding(data: bytearray, order: str, originals: int, translations: int, path: Path) -> str | None:
    """What the header states; it translates the empty text, and originals are sorted, so it comes first."""
    length, offset = struct.unpack_from(f"{order}2I", data, translations)
    (original,) = struct.unpack_from(f"{order}I", data, originals)
    return None if original else stated_encoding(bytes(data[offset : offset + min(length, CHUNK)]), path)


def _text(data: bytearray, length: int, offset: int, codec: str, path: Path, number: int) -> str:
    if offset + length > len(data):
        raise _damaged(path)
    text = bytes(data[offset : offset + length])
    try:
        return text.decode(UTF_8 if codec == REPLACING else codec, "replace" if codec == REPLACING else "strict")
    except UnicodeDecodeError as error:
        raise DataError(
            f"message {number} is not {codec.upper()} at byte {offset + error.start}; {advice(text)}, or give the .po",
            path=path,
        ) from None


def _damaged(path: Path) -> DataError:
    return DataError("the catalogue is cut short or damaged; compile it again with msgfmt", path=path)
