"""A document in, the same document translated out: one pass, in chunks, written durably."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

from seq2see.formats.documents.base import Document, Kept, Part, Segment, Slot
from seq2see.formats.documents.frame import Frame, framed
from seq2see.formats.documents.placeholders import faithful
from seq2see.formats.documents.remarks import Problem, Remark
from seq2see.formats.documents.writing import new_file

Translate = Callable[[list[str]], Iterable[str]]
"""One translation for each text, in order. No text holds a line break, begins or ends with white space, or is empty."""


class Numbered(NamedTuple):
    """A text to translate. Its number is the same whenever the document is read, and no other text has it."""

    number: int
    text: str


class Finished(NamedTuple):
    """The translation of a numbered text."""

    number: int
    text: str
    problems: tuple[Problem, ...] = ()


TranslateNumbered = Callable[[list[Numbered]], Iterable[Finished]]
"""One translation for each text, in any order, each as soon as it is there."""

Wants = Callable[[int, bytes], bool]
"""Whether a part of a document, by its number and its bytes without any translation, is still to be made."""

Progress = Callable[[int, int | None], None]
"""Told (segments done, segments in all); the latter is None for what can be read only once."""

CHUNK_SEGMENTS = 1000
CHUNK_BYTES = 4 * 2**20
"""What is held at once. More segments at once let a translator make fuller batches."""
_SHOWN = 500
"""Bytes of what could not be translated that a remark shows; it may be anything, and of any length."""


@dataclass
class Outcome:
    """What became of a document."""

    translated: int = 0
    """Segments that were translated."""
    empty: int = 0
    """Segments for which nothing came back, wholly or for one of their texts; not counted as translated."""
    kept: int = 0
    """Segments that had a translation, which was kept."""
    repaired: int = 0
    """Segments that had lost placeholders, got them back, and deserve a look."""
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
    """The translated document in order, a chunk at a time; `outcome` counts along."""
    numbered = _numbered(translate)
    for chunk in _numbered_chunks(document):
        pieces = sorted(_pieces(chunk, numbered, outcome, _always))
        yield document.written(b"".join(piece.data for piece in pieces))


class Piece(NamedTuple):
    """The bytes of one part of a document as it is written."""

    number: int
    data: bytes
    remarks: tuple[Remark, ...] = ()
    made: bool = False
    """Whether a translation is in it; else it stays as it was."""


def translated_pieces(
    document: Document, translate: TranslateNumbered, outcome: Outcome, wants: Wants
) -> Iterator[Piece]:
    """The wanted parts of a document, each as soon as it is translated; `outcome` counts them all.

    `wants` is asked about every part in order, and about all of a chunk before any of it is translated.
    """
    for chunk in _numbered_chunks(document):
        for piece in _pieces(chunk, translate, outcome, wants):
            yield piece._replace(data=document.written(piece.data))


def _always(number: int, source: bytes) -> bool:
    return True


def _numbered(translate: Translate) -> TranslateNumbered:
    def call(texts: list[Numbered]) -> Iterator[Finished]:
        translations = list(translate([text for _, text in texts]))
        if len(translations) != len(texts):
            raise ValueError(f"translate gave {len(translations)} translations for {len(texts)} texts")
        return (Finished(number, text) for (number, _), text in zip(texts, translations, strict=True))

    return call


class _Chunk(NamedTuple):
    """Parts that are held at once, with the number of the first part and of each text that occurs in them.

    A text that occurs several times, as plural forms do, is translated once.
    """

    first: int
    parts: list[Part]
    frames: list[list[Frame]]
    texts: dict[str, int]


def _numbered_chunks(document: Document) -> Iterator[_Chunk]:
    first, numbers = 0, count()
    for parts in _chunks(document.parts()):
        frames = [[framed(text) for text in part.segment.texts] if isinstance(part, Slot) else [] for part in parts]
        texts = dict.fromkeys(text for slot in frames for frame in slot for text in frame.texts)
        yield _Chunk(first, parts, frames, {text: next(numbers) for text in texts})
        first += len(parts)


def _pieces(chunk: _Chunk, translate: TranslateNumbered, outcome: Outcome, wants: Wants) -> Iterator[Piece]:
    wanted = [wants(number, _untranslated(part)) for number, part in enumerate(chunk.parts, start=chunk.first)]
    lacking: dict[int, set[int]] = {}  # place of a slot -> the texts that it waits for
    for place, part in enumerate(chunk.parts):
        number = chunk.first + place
        if isinstance(part, Kept):
            remarks = _count_kept(part, outcome)
            if wanted[place]:
                yield Piece(number, part.data, remarks)
        elif not wanted[place]:
            outcome.translated += 1
        else:
            lacking[place] = {chunk.texts[text] for frame in chunk.frames[place] for text in frame.texts}
    waiting: dict[int, list[int]] = {}  # number of a text -> the places that wait for it
    for place, numbers in lacking.items():
        for number in numbers:
            waiting.setdefault(number, []).append(place)
        if not numbers:
            yield _filled(chunk, place, {}, outcome)
    known: dict[int, Finished] = {}
    untranslated = [Numbered(number, text) for text, number in chunk.texts.items() if number in waiting]
    for finished in translate(untranslated) if untranslated else ():
        known[finished.number] = finished
        for place in waiting[finished.number]:
            lacking[place].discard(finished.number)
            if not lacking[place]:
                yield _filled(chunk, place, known, outcome)
    if len(known) != len(untranslated):
        raise ValueError(f"translate gave {len(known)} translations for {len(untranslated)} texts")


def _untranslated(part: Part) -> bytes:
    """What tells that this is the part that it was when the document was read before."""
    return part.data if isinstance(part, Kept) else part.filled([""] * len(part.segment.texts))


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


def _filled(chunk: _Chunk, place: int, known: dict[int, Finished], outcome: Outcome) -> Piece:
    """A slot whose texts are all translated."""
    slot = chunk.parts[place]
    assert isinstance(slot, Slot)
    translations: list[str] = []
    remarks: dict[Problem, Remark] = {}  # of several texts with the same problem the first
    for text, frame in zip(slot.segment.texts, chunk.frames[place], strict=True):
        lines = [known[chunk.texts[line]] for line in frame.texts]
        translations.append(frame.filled([finished.text for finished in lines]))
        for problem in _problems(frame, lines):
            remarks.setdefault(problem, _remark(slot.segment, problem, text, translations[-1]))
    outcome.repaired += "repaired" in remarks
    outcome.empty += "empty" in remarks
    outcome.translated += "empty" not in remarks
    return Piece(chunk.first + place, slot.filled(translations), tuple(remarks.values()), made=True)


def _problems(frame: Frame, lines: Sequence[Finished]) -> Iterator[Problem]:
    for text, finished in zip(frame.texts, lines, strict=True):
        if not finished.text.strip():
            yield "empty"
        elif not faithful(text, finished.text):
            yield "repaired"
        yield from finished.problems


def _remark(segment: Segment, problem: Problem, source: str, translation: str) -> Remark:
    return Remark(segment.line, segment.id, problem, source, translation)


def _count_kept(part: Kept, outcome: Outcome) -> tuple[Remark, ...]:
    outcome.kept += part.translated
    if part.problem is None:
        return ()
    outcome.problems += 1
    outcome.first_problem = outcome.first_problem or part.problem
    source = part.data[:_SHOWN].decode(errors="replace").strip()
    return (Remark(part.line, "", "not translated", source, part.problem),)
