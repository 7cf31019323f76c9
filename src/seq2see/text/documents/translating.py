"""A document in, the same document translated out: one pass, in chunks, written durably."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from seq2see.text.documents.base import Document, Kept, Part, Slot
from seq2see.text.documents.frame import Frame, framed
from seq2see.text.documents.writing import new_file
from seq2see.text.placeholders import faithful

Translate = Callable[[list[str]], Iterable[str]]
"""One translation for each text, in order. No text holds a line break, begins or ends with white space, or is empty."""

Progress = Callable[[int, int | None], None]
"""Told (segments done, segments in all); the latter is None for what can be read only once."""

CHUNK_SEGMENTS = 1000
CHUNK_BYTES = 4 * 2**20
"""What is held at once. More segments at once let a translator make fuller batches."""


@dataclass
class Outcome:
    """What became of a document."""

    translated: int = 0
    """Segments that were translated."""
    kept: int = 0
    """Segments that had a translation, which was kept."""
    repaired: int = 0
    """Translations that had lost placeholders, got them back, and deserve a look."""
    problems: int = 0
    """Segments that could not be translated; the document says why where its format has a place for it."""
    first_problem: str | None = None


def translate_document(
    document: Document, translate: Translate, out: str | Path, progress: Progress | None = None
) -> Outcome:
    """Write the document with every segment translated; `out` appears when it is complete.

    The file is read through once before anything is translated, so that a malformed line costs seconds and not hours.
    """
    outcome = Outcome()
    total = check(document) if document.path.is_file() else None
    with new_file(Path(out)) as put:
        for data in translated_bytes(document, translate, outcome):
            put(data)
            if progress is not None:
                progress(outcome.translated, total)
    return outcome


def check(document: Document) -> int:
    """How many segments there are to translate. Malformed content is a DataError."""
    return sum(1 for _ in document.segments())


def translated_bytes(document: Document, translate: Translate, outcome: Outcome) -> Iterator[bytes]:
    """The translated document in pieces; `outcome` counts along."""
    for chunk in _chunks(document.parts()):
        frames = [[framed(text) for text in part.segment.texts] if isinstance(part, Slot) else [] for part in chunk]
        known = _translated(frames, translate)
        done = []
        for part, some in zip(chunk, frames, strict=True):
            if isinstance(part, Slot):
                done.append(part.filled([_filled(frame, known, outcome) for frame in some]))
                outcome.translated += 1
            else:
                done.append(part.data)
                _count_kept(part, outcome)
        yield b"".join(done)


def _chunks(parts: Iterable[Part]) -> Iterator[list[Part]]:
    chunk: list[Part] = []
    segments = size = 0
    for part in parts:
        chunk.append(part)
        if isinstance(part, Slot):
            segments += 1
            size += sum(map(len, part.segment.texts))
        else:
            size += len(part.data)
        if segments >= CHUNK_SEGMENTS or size >= CHUNK_BYTES:
            yield chunk
            chunk, segments, size = [], 0, 0
    if chunk:
        yield chunk


def _translated(frames: Iterable[list[Frame]], translate: Translate) -> dict[str, str]:
    """Text -> translation. A text that occurs several times, as plural forms do, is translated once."""
    texts = list(dict.fromkeys(text for some in frames for frame in some for text in frame.texts))
    if not texts:
        return {}
    translations = list(translate(list(texts)))
    if len(translations) != len(texts):
        raise ValueError(f"translate gave {len(translations)} translations for {len(texts)} texts")
    return dict(zip(texts, translations, strict=True))


def _filled(frame: Frame, known: dict[str, str], outcome: Outcome) -> str:
    translations = [known[text] for text in frame.texts]
    outcome.repaired += any(
        translation.strip() and not faithful(text, translation)
        for text, translation in zip(frame.texts, translations, strict=True)
    )
    return frame.filled(translations)


def _count_kept(part: Kept, outcome: Outcome) -> None:
    outcome.kept += part.translated
    if part.problem is not None:
        outcome.problems += 1
        outcome.first_problem = outcome.first_problem or part.problem
