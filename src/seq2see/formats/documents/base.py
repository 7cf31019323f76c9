"""A document: a file seen as a stream of parts, bytes that stay as they are and slots that take a translation.

Every format is one walk that yields such parts, in one pass and in the file's order. Whatever is not a slot comes out
byte for byte as it went in: comments, flags, timings, key order, indentation, line ends, byte order mark. A file in
another encoding than UTF-8 is a stream of UTF-8 in between, and is written in its own again.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, Literal, NamedTuple

from seq2see.errors import DataError
from seq2see.formats.documents.frame import settled
from seq2see.formats.documents.writing import new_file
from seq2see.formats.reading.encodings import UTF_8
from seq2see.formats.reading.lines import LONGEST_LINE, file_codec, open_text, too_long
from seq2see.formats.reading.unpacking import open_bytes

Existing = Literal["keep", "replace"]
"""What happens to a translation that the file already holds."""


class Segment(NamedTuple):
    """What one slot asks to be translated."""

    id: str
    """What the file calls it: the message, the unit's id, the cue's number, the number of the line."""
    texts: tuple[str, ...]
    """One text; several for plural forms, for the sentences of a unit, or for the speakers of a cue."""
    context: str
    """What the file says about its use: the message's context, the file inside an exchange file, the cue's times."""
    line: int
    """Where it begins in the file, counted from 1."""

    @property
    def text(self) -> str:
        """The first text, for those who know that there is only one."""
        return self.texts[0]


class Kept(NamedTuple):
    """Bytes that stay."""

    data: bytes
    translated: bool = False
    """Whether they hold a translation that was there before."""
    problem: str | None = None
    """Why a translation could not be asked for, with file and line."""
    line: int = 0
    """Where that is."""


class Slot(ABC):
    """A place for a translation."""

    segment: Segment

    @abstractmethod
    def filled(self, translations: Sequence[str]) -> bytes:
        """The bytes of this place with one translation for each text of the segment; an empty one is none."""


Part = Kept | Slot


class Document(ABC):
    """A file to translate. `parts` may be called any number of times and reads the file anew."""

    path: Path
    encoding: str | None = None
    """Named by the user; None is UTF-8, or what the file itself states."""

    @abstractmethod
    def parts(self) -> Iterator[Part]:
        """The whole file in order. Malformed content is a DataError with file and line when it is reached."""

    @cached_property
    def codec(self) -> str:
        """What the file is written in."""
        return file_codec(self.path, self.encoding)

    def written(self, data: bytes) -> bytes:
        """The bytes of parts in the encoding of the file; U+FFFD, which is no character, is ? in most of them."""
        if self.codec == UTF_8:
            return data
        text = data.decode()
        try:
            return (text if self.codec.startswith("utf-") else text.replace("\ufffd", "?")).encode(self.codec)
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise DataError(
                f"'{character}' of a translation cannot be written in {self.codec.upper()}, which the file is in; "
                f"translate a copy in UTF-8, made with {self._converter()}",
                path=self.path,
            ) from None

    def _converter(self) -> str:
        return f"iconv -f {self.codec} -t utf-8"

    def segments(self) -> Iterator[Segment]:
        """What there is to translate, in order."""
        return (part.segment for part in self.parts() if isinstance(part, Slot))

    def write(self, out: str | Path, translations: Iterable[str]) -> None:
        """The file with these translations, one for each text of each segment, in order.

        Each gets the white space at both ends and the placeholders of its source. `out` appears when it is complete.
        """
        remaining = iter(translations)
        with new_file(Path(out)) as put:
            for part in self.parts():
                put(self.written(part.data if isinstance(part, Kept) else part.filled(_take(part.segment, remaining))))
            if next(remaining, None) is not None:
                raise ValueError("there are more translations than texts in the document")


def _take(segment: Segment, translations: Iterator[str]) -> list[str]:
    taken = []
    for text in segment.texts:
        translation = next(translations, None)
        if translation is None:
            raise ValueError(f"the translations end before the segment of line {segment.line}")
        taken.append(settled(text, translation))
    return taken


def byte_lines(path: Path, encoding: str | None = None) -> Iterator[bytes]:
    """Lines with their ends, cut at `\\n` and nowhere else; one that is too long comes in pieces.

    Those of a named encoding come in UTF-8; else they come as they are, whatever they are.
    """
    with open_bytes(path) if encoding is None else open_text(path, encoding) as stream:
        yield from lines_in(stream)


def lines_in(stream: IO[bytes]) -> Iterator[bytes]:
    while line := stream.readline(LONGEST_LINE + 1):
        yield line


def text_lines(path: Path, encoding: str | None = None, *, declared: bool = False) -> Iterator[tuple[int, str]]:
    """Numbered lines of text with their ends, the byte order mark of the file included."""
    with open_text(path, encoding, declared=declared) as stream:
        number = 0
        while data := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(data) > LONGEST_LINE:
                raise too_long(path, number)
            yield number, data.decode()
