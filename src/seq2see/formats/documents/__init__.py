"""What all documents share: parts and slots, the text of a segment, translating and writing."""

from seq2see.formats.documents.base import Document, Existing, Kept, Part, Segment, Slot
from seq2see.formats.documents.frame import Frame, framed, settled
from seq2see.formats.documents.translating import (
    Finished,
    Numbered,
    Outcome,
    Piece,
    check,
    translate_document,
    translated_bytes,
    translated_pieces,
)

__all__ = [
    "Document",
    "Existing",
    "Finished",
    "Frame",
    "Kept",
    "Numbered",
    "Outcome",
    "Part",
    "Piece",
    "Segment",
    "Slot",
    "check",
    "framed",
    "settled",
    "translate_document",
    "translated_bytes",
    "translated_pieces",
]
