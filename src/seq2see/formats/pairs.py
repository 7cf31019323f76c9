"""Files -> pairs.

    pairs.tsv                 source <tab> target; further columns are ignored, nothing is quoted
    pairs.csv                 RFC 4180, with or without a `source,target` header
    pairs.jsonl               {"source": ..., "target": ...} or {"translation": {"ko": ..., "en": ...}}
    text.ko text.en           two plain files, line by line
    film.ko.srt film.en.srt   two subtitle files, by time
    .tmx .xlf .xliff          translation memories and exchange files
    .po .mo                   gettext catalogues

Each of them plain or .gz, in UTF-8 unless another encoding is named or the file states one itself (TMX, XLIFF, PO, MO).
Read as a stream: memory does not grow with the file (but MO and SRT, which are small and need to be seen whole). A pair
is yielded as the file holds it, empty sides too, so that `seq2see data` can report it; only the normal form is changed.
"""

import csv
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from seq2see.errors import DataError
from seq2see.formats.jsonl import read_jsonl
from seq2see.formats.mo import read_mo
from seq2see.formats.pair import Languages, Pair
from seq2see.formats.po import read_po
from seq2see.formats.reading.encodings import check_encoding
from seq2see.formats.reading.lines import LONGEST_LINE, read_lines, read_raw_lines
from seq2see.formats.reading.unpacking import check_file
from seq2see.formats.subtitles import read_srt
from seq2see.formats.tmx import read_tmx
from seq2see.formats.xliff import read_xliff
from seq2see.text.normalise import NormalForm, normal_form, normalise

__all__ = ["Pair", "read_pairs"]

FORMATS = (".tsv", ".csv", ".jsonl", ".tmx", ".xlf", ".xliff", ".po", ".mo")


def read_pairs(
    paths: str | Path | Sequence[str | Path],
    *,
    form: NormalForm = "NFC",
    source_language: str | None = None,
    target_language: str | None = None,
    encoding: str | None = None,
) -> Iterator[Pair]:
    """Read the pairs of one file, or of two files that hold the source and the target side.

    The languages choose the sides of a file that names its languages (`ko` also means `ko-KR`); other formats have none
    to choose from. The encoding is that of files which do not state one themselves, None is UTF-8. A missing file is
    reported by the call itself, anything inside the file when it is reached.
    """
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    for path in files:
        check_file(path)
    pairs = _choose_reader(files, Languages(source_language, target_language), check_encoding(encoding))
    return _normalised(pairs, normal_form(form), files)


def _normalised(pairs: Iterator[Pair], form: NormalForm, files: list[Path]) -> Iterator[Pair]:
    empty = True
    for pair in pairs:
        empty = False
        yield Pair(normalise(pair.source, form), normalise(pair.target, form), pair.line)
    if empty:
        raise DataError("holds no pairs; check that this is the file you meant", path=files[0])


def _choose_reader(files: list[Path], languages: Languages, encoding: str | None) -> Iterator[Pair]:
    match files:
        case [path]:
            return _read_one(path, languages, encoding)
        case [source, target]:
            kinds = {_kind(source), _kind(target)}
            if kinds == {".srt"}:
                return read_srt(source, target, encoding)
            if kinds & {*FORMATS, ".srt"}:
                raise DataError(
                    "two files are read as plain source and target lines, or as two .srt; give a "
                    f"{_kind(source)} file and a {_kind(target)} file one at a time",
                    path=source,
                )
            return _read_text(source, target, encoding)
    raise DataError(f"pairs come from one file or from two (source, target); got {len(files)}")


def _kind(path: Path) -> str:
    """The suffix that tells the format, in lower case; .gz only says that the file is packed."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def _read_one(path: Path, languages: Languages, encoding: str | None) -> Iterator[Pair]:
    match _kind(path):
        case ".tsv":
            return _read_tsv(path, encoding)
        case ".csv":
            return _read_csv(path, encoding)
        case ".jsonl":
            return read_jsonl(path, languages, encoding)
        case ".tmx":
            return read_tmx(path, languages)
        case ".xlf" | ".xliff":
            return read_xliff(path, languages)
        case ".po":
            return read_po(path, languages, encoding)
        case ".mo":
            return read_mo(path, languages, encoding)
        case ".srt":
            raise DataError("subtitles come in two files; add the one of the other language", path=path)
        case _:
            raise DataError(
                f"one file has to be one of {' '.join(FORMATS)}, plain or .gz; plain text comes in two files", path=path
            )


def _read_text(source: Path, target: Path, encoding: str | None) -> Iterator[Pair]:
    """Line by line, and never a silent `zip`: one line lost on one side would shift every pair after it."""
    left, right = read_lines(source, encoding), read_lines(target, encoding)
    for line, (source_text, target_text) in enumerate(zip_longest(left, right), start=1):
        if source_text is None or target_text is None:
            # zip_longest has taken `line` lines from the longer side and line - 1 from the shorter one
            source_count = line - (source_text is None) + sum(1 for _ in left)
            target_count = line - (target_text is None) + sum(1 for _ in right)
            raise DataError(
                f"{source_count} lines, but {target} has {target_count}; the two must match line by line: look for a "
                "line that was lost or split on one side",
                path=source,
                line=line,
            )
        yield Pair(source_text, target_text, line)


def _read_tsv(path: Path, encoding: str | None) -> Iterator[Pair]:
    for line, text in enumerate(read_lines(path, encoding), start=1):
        source, tab, rest = text.partition("\t")
        if not tab:
            raise DataError(
                "one column where source<tab>target is needed; put a tab between the two or remove the line",
                path=path,
                line=line,
            )
        yield Pair(source, rest.partition("\t")[0], line)


def _read_csv(path: Path, encoding: str | None) -> Iterator[Pair]:
    """Rows of at least two columns; a header that names `source` and `target` may put them in any column."""
    source, target = 0, 1
    for number, (line, row) in enumerate(_csv_rows(path, encoding)):
        names = [cell.strip().lower() for cell in row] if number == 0 else []
        if "source" in names and "target" in names:
            source, target = names.index("source"), names.index("target")
            continue
        if len(row) <= max(source, target):
            raise DataError(
                f"{len(row)} column(s) where {max(source, target) + 1} are needed; separate source and target with a "
                "comma, and quote a text that holds a comma",
                path=path,
                line=line,
            )
        yield Pair(row[source], row[target], line)


def _csv_rows(path: Path, encoding: str | None) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the line it begins on: a quoted text may run over several lines."""
    line, size = 1, 0

    def lines() -> Iterator[str]:
        nonlocal size
        for text in read_raw_lines(path, encoding):
            size += len(text)
            if size > LONGEST_LINE:
                raise DataError("a row without end; is a quotation mark missing?", path=path, line=line)
            yield text

    rows = csv.reader(lines(), strict=True)
    try:
        for row in rows:
            if row:
                yield line, row
            line, size = rows.line_num + 1, 0
    except csv.Error as error:
        raise DataError(
            f"not CSV: {error}; a text with quotes is quoted as a whole and its quotes doubled", path=path, line=line
        ) from None


def is_one_file(path: str | Path) -> bool:
    """Whether this file holds both sides, going by its name; a plain text file holds one."""
    return _kind(Path(path)) in FORMATS
