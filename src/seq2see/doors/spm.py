"""SentencePiece's model files, read and written: Protocol Buffers, of which a few fields matter here.

ModelProto   1 pieces (1 text, 2 score, 3 kind)   2 trainer (3 kind of model, 24 spaces behind words, 35 bytes)
             3 normalizer (1 name, 2 compiled rules, 3 first space, 4 joined spaces, 5 spaces as ▁)

A file may come from anybody: it is read field by field, within its bytes.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from seq2see.errors import DataError

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
UNIGRAM, BPE = 1, 2
LARGEST_SPM = 64 * 2**20  # bytes; a model of 32,000 pieces has 800,000
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class SpmPiece(NamedTuple):
    text: str
    score: float
    kind: int


@dataclass(frozen=True)
class SpmFile:
    """What of a model file decides how texts are cut."""

    pieces: tuple[SpmPiece, ...]
    kind: int = UNIGRAM
    spaces_behind: bool = False
    byte_fallback: bool = False
    charsmap: bytes = b""
    first_space: bool = True
    joins_spaces: bool = True
    escapes_spaces: bool = True


def read_spm(content: bytes) -> SpmFile:
    """DataError for what is no model file."""
    try:
        return _read_model(content)
    except (ValueError, struct.error, IndexError):
        raise DataError("not a SentencePiece model, or a damaged one") from None


def write_spm(model: SpmFile) -> bytes:
    pieces = b"".join(_field(1, _piece(piece)) for piece in model.pieces)
    unknown = next((place for place, piece in enumerate(model.pieces) if piece.kind == UNKNOWN), 0)
    trainer = _number(3, model.kind) + _number(24, model.spaces_behind) + _number(35, model.byte_fallback)
    # Ids of <unk>, <s>, </s> and <pad> among the pieces; -1 for none.
    trainer += _number(40, unknown) + b"".join(_number(field, 2**64 - 1) for field in (41, 42, 43))
    flags = (model.first_space, model.joins_spaces, model.escapes_spaces)
    normalizer = _field(1, b"identity" if not model.charsmap else b"custom") + _field(2, model.charsmap)
    normalizer += b"".join(_number(field, flag) for field, flag in zip((3, 4, 5), flags, strict=True))
    return pieces + _field(2, trainer) + _field(3, normalizer)


def _read_model(content: bytes) -> SpmFile:
    pieces: list[SpmPiece] = []
    settings: dict[str, int] = {}
    charsmap = b""
    for field, value in _fields(content):
        if field == 1:
            pieces.append(_read_piece(_as_bytes(value)))
        elif field == 2:
            named = {3: "kind", 24: "spaces_behind", 35: "byte_fallback"}
            settings |= {named[key]: int(entry) for key, entry in _numbers(value) if key in named}
        elif field == 3:
            named = {3: "first_space", 4: "joins_spaces", 5: "escapes_spaces"}
            settings |= {named[key]: int(entry) for key, entry in _numbers(value) if key in named}
            rules = [entry for key, entry in _fields(_as_bytes(value)) if key == 2]
            charsmap = _as_bytes(rules[-1]) if rules else b""
    if not pieces:
        raise ValueError("no pieces")
    kind = settings.pop("kind", UNIGRAM)
    flags = {name: bool(value) for name, value in settings.items()}
    return SpmFile(tuple(pieces), kind, charsmap=charsmap, **flags)


def _read_piece(content: bytes) -> SpmPiece:
    text, score, kind = "", 0.0, NORMAL
    for field, value in _fields(content):
        if field == 1:
            text = _as_bytes(value).decode()
        elif field == 2:
            (score,) = struct.unpack("<f", _as_bytes(value))
        elif field == 3 and isinstance(value, int):
            kind = value
    return SpmPiece(text, score, kind)


def _numbers(value: int | bytes) -> Iterator[tuple[int, int]]:
    for field, entry in _fields(_as_bytes(value)):
        if isinstance(entry, int):
            yield field, entry


def _as_bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number in the place of bytes")
    return value


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(number, value) of each field; numbers of fixed size are bytes."""
    at = 0
    while at < len(content):
        key, at = _varint(content, at)
        wire = key & 7
        if wire == _VARINT:
            number, at = _varint(content, at)
            yield key >> 3, number
            continue
        if wire == _BYTES:
            length, at = _varint(content, at)
        elif wire in (_FIXED32, _FIXED64):
            length = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError("a field of another kind")
        if length > len(content) - at:
            raise ValueError("it ends within a field")
        yield key >> 3, content[at : at + length]
        at += length


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number of more than 64 bits")


def _piece(piece: SpmPiece) -> bytes:
    return _field(1, piece.text.encode()) + _key(2, _FIXED32) + struct.pack("<f", piece.score) + _number(3, piece.kind)


def _field(number: int, content: bytes) -> bytes:
    return _key(number, _BYTES) + _written(len(content)) + content


def _number(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _written(int(value))


def _key(number: int, wire: int) -> bytes:
    return _written(number << 3 | wire)


def _written(value: int) -> bytes:
    groups: list[int] = []
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def texts_of(pieces: Iterable[SpmPiece], *kinds: int) -> list[str]:
    return [piece.text for piece in pieces if piece.kind in kinds]
