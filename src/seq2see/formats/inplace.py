"""Files -> documents to translate in place: everything but the translations stays byte for byte as it was.

    .po .pot      gettext catalogues          .srt .vtt            subtitles
    .xlf .xliff   exchange files 1.2 and 2    .jsonl .ndjson       one JSON object a line

Each of them plain or .gz.

    document = open_document("ko.po")
    for segment in document.segments(): ...
    translate_document(document, translator, Path("out.po"))
"""

from pathlib import Path
from typing import Literal, get_args

from seq2see.errors import ConfigError, DataError, nearest
from seq2see.formats.documents.base import Document, Existing
from seq2see.formats.jsonl import Records
from seq2see.formats.po import Catalogue
from seq2see.formats.reading.encodings import UTF_8, check_encoding
from seq2see.formats.reading.unpacking import check_file
from seq2see.formats.subtitles import Subtitles
from seq2see.formats.xliff import Xliff

Format = Literal["po", "xliff", "srt", "vtt", "jsonl"]

_SUFFIXES: dict[str, Format] = {
    ".po": "po",
    ".pot": "po",
    ".xlf": "xliff",
    ".xliff": "xliff",
    ".srt": "srt",
    ".vtt": "vtt",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


def format_of(path: str | Path) -> Format | None:
    """The format that a file's name tells, None when it is not the name of a document; .gz only says it is packed."""
    name = Path(path)
    return _SUFFIXES.get(Path(name.stem if name.suffix.lower() == ".gz" else name.name).suffix.lower())


def open_document(
    path: str | Path,
    format: Format | None = None,
    *,
    existing: Existing = "keep",
    review: bool = True,
    field: str = "source",
    target: str = "target",
    target_language: str | None = None,
    encoding: str | None = None,
) -> Document:
    """A file to translate, in the format that its name tells unless another is given.

    existing         translations that are there already: keep them, or replace them (PO, XLIFF, JSONL)
    review           mark translations as a machine's: fuzzy in PO, needs-review-translation in XLIFF 1.2
    field, target    JSONL: the field to translate, and the one to put the translation in
    target_language  XLIFF: stated where the file does not state it
    encoding         of SRT, VTT and JSONL, and of PO where its header does not state it; UTF-8 if None
    """
    file = Path(path)
    if existing not in get_args(Existing):
        raise ConfigError(f"existing = '{existing}'{nearest(existing, get_args(Existing))}")
    if format is not None and format not in get_args(Format):
        raise ConfigError(f"unknown format '{format}'{nearest(format, get_args(Format))}")
    encoding = check_encoding(encoding)
    check_file(file)
    match format or format_of(file):
        case "po":
            return Catalogue(file, existing, review, encoding)
        case "xliff":
            return Xliff(file, existing, review, target_language)
        case "srt":
            return Subtitles(file, encoding=encoding)
        case "vtt":
            return Subtitles(file, web=True, encoding=encoding)
        case "jsonl":
            return Records(file, existing, field, target, encoding=None if encoding == UTF_8 else encoding)
    raise DataError(f"is none of {' '.join(_SUFFIXES)}, plain or .gz; name its format", path=file)
