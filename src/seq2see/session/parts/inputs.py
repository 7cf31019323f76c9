"""Files as streams of lines, wherever they lie, cut into ranges of lines that are the same whoever cuts them.

A local file or an address of fsspec (s3://, gs://, https://, ...). Plain text and JSON lines, packed or not, are what
they are; a Parquet file is read as JSON lines, an object of two fields for each row.
"""

import errno
import hashlib
import io
import json
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal, NamedTuple, cast

from seq2see.errors import ConfigError, DataError, MissingExtraError
from seq2see.formats import format_of
from seq2see.formats.jsonl import proves_utf_8
from seq2see.formats.reading.encodings import REPLACING, UTF_8
from seq2see.formats.reading.lines import LONGEST_LINE, as_utf_8, buffered, too_long
from seq2see.formats.reading.unpacking import CHUNK, check_file, is_packed, open_bytes, unpacked

Form = Literal["text", "jsonl", "parquet"]
_MOST_BYTES = 1 << 20  # of a range, unless a single line is longer
_ROWS = 1024  # of a Parquet file that are held at once


@dataclass(frozen=True)
class InputFile:
    """A file to translate.

    source   a path, or an address of fsspec
    output   what it is called in the folder of the outputs
    fields   of JSON lines and Parquet: the one to translate, and the one the translation goes to
    """

    source: str
    output: str
    form: Form
    encoding: str | None
    fields: tuple[str, str]

    @property
    def path(self) -> Path:
        """For messages, and for what its name says."""
        return Path(self.source)

    @property
    def is_remote(self) -> bool:
        return "://" in self.source

    @property
    def _seekable(self) -> bool:
        """Whether a place in its stream of lines is that place in the file."""
        return self.form != "parquet" and not is_packed(self.path) and self.encoding in (None, UTF_8)

    def read(self, offset: int, size: int) -> bytes | None:
        """A stretch of its stream straight from the file; None where it has to be read from its beginning."""
        if not self._seekable:
            return None
        with self._opened() as file:
            try:
                file.seek(offset)
            except (OSError, ValueError, NotImplementedError):  # a server that sends whole files only
                return None
            return _exactly(file, size)

    @contextmanager
    def stream(self) -> Iterator[IO[bytes]]:
        """Its lines: of text in UTF-8, of JSON lines as they are."""
        with ExitStack() as stack:
            if self.form == "parquet":
                yield buffered(self._records(stack))
                return
            opened = unpacked(self._opened(), self.path) if self.is_remote else open_bytes(self.path)
            raw = stack.enter_context(opened)
            if self.form == "jsonl":
                yield cast(IO[bytes], raw)
            else:
                yield buffered(as_utf_8(lambda: raw.read1(CHUNK), self.encoding, self.path))

    def _opened(self) -> io.RawIOBase:
        if self.is_remote:
            return _Remote(self.source)
        check_file(self.path)
        return self.path.open("rb", buffering=0)

    # ----- Parquet

    @contextmanager
    def table(self) -> Iterator[Any]:
        """As pyarrow reads it."""
        try:
            import pyarrow
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise MissingExtraError(f"{self.source}: a Parquet file", "scale") from None
        with ExitStack() as stack:
            opened = stack.enter_context(self._opened())
            try:
                table = stack.enter_context(ParquetFile(opened))
            except pyarrow.ArrowException as error:
                raise DataError(f"is no Parquet file ({_first_line(error)})", path=self.path) from None
            for name in self.fields:
                self._check_column(name, table.schema_arrow)
            yield table

    def _check_column(self, name: str, schema: Any) -> None:
        import pyarrow

        if name not in schema.names:
            if name == self.fields[0]:
                some = ", ".join(schema.names[:10])
                raise DataError(f"has no column '{name}'; --field names one of {some}", path=self.path)
            return
        kind = schema.field(name).type
        if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
            raise DataError(f"the column '{name}' holds {kind}, not text", path=self.path)

    def _records(self, stack: ExitStack) -> Iterator[bytes]:
        table = stack.enter_context(self.table())
        columns = [name for name in dict.fromkeys(self.fields) if name in table.schema_arrow.names]
        for batch in table.iter_batches(_ROWS, columns=columns):
            yield b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in batch.to_pylist())


class _Remote(io.RawIOBase):
    """A file of fsspec. Whatever goes wrong in its file system is an OSError, as of any other file."""

    def __init__(self, source: str) -> None:
        import fsspec

        try:
            self._file: Any = fsspec.open(source, "rb").open()
        except ImportError as error:
            raise ConfigError(f"{source}: {_first_line(error)}") from None
        except ValueError as error:
            raise ConfigError(f"{source}: cannot be opened ({_first_line(error)})") from None
        except FileNotFoundError:
            raise DataError("no such file; check the address", path=source) from None
        except Exception as error:  # of whatever library speaks to that store
            raise DataError(f"cannot be opened ({_first_line(error)})", path=source) from None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        try:
            data = self._file.read(len(buffer))
        except OSError:
            raise
        except Exception as error:
            raise OSError(errno.EIO, _first_line(error)) from None
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _exactly(file: Any, size: int) -> bytes:
    """So many bytes; fewer only at the end of the file."""
    parts: list[bytes] = []
    while size and (data := file.read(size)):
        parts.append(data)
        size -= len(data)
    return b"".join(parts)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


# ----- which files, and what their outputs are called


def input_files(
    sources: Sequence[str],
    form: str = "auto",
    encoding: str | None = None,
    fields: tuple[str, str] = ("source", "target"),
) -> tuple[InputFile, ...]:
    """Outputs are called as their inputs; by their folders as well where names alone are not enough."""
    if not sources:
        raise ConfigError("name the files to translate")
    files = [source if "://" in source else str(Path(source).absolute()) for source in sources]
    if len(set(files)) < len(files):
        twice = next(file for place, file in enumerate(files) if file in files[:place])
        raise ConfigError(f"{twice}: is named twice")
    names = [_parts(file)[-1] for file in files]
    if len(set(names)) < len(names):
        parts = [_parts(file) for file in files]
        shared = 0
        while len({one[shared] for one in parts}) == 1:
            shared += 1
        names = ["/".join(one[shared:]) for one in parts]
    return tuple(
        InputFile(file, name, (kind := _form(name, form)), _encoding(file, kind, encoding), fields)
        for file, name in zip(files, names, strict=True)
    )


def _parts(file: str) -> tuple[str, ...]:
    scheme, _, rest = file.rpartition("://")
    parts = tuple(part for part in PurePosixPath(rest).parts if part not in ("/", ".."))
    return (scheme, *parts) if scheme else parts


def _form(name: str, form: str) -> Form:
    plain = Path(name[:-3]) if name.lower().endswith(".gz") else Path(name)
    if plain.suffix.lower() == ".parquet":
        return "parquet"
    known = format_of(plain) if form == "auto" else None if form == "text" else form
    if known is None:
        return "text"
    if known == "jsonl":
        return "jsonl"
    raise ConfigError(f"{name}: a {known} document is not cut into parts; translate it without --ray")


def _encoding(file: str, form: Form, encoding: str | None) -> str | None:
    if form != "text" and encoding not in (None, UTF_8):
        raise ConfigError(f"{file}: is not cut into parts in {encoding}; convert it to UTF-8, or leave --ray away")
    return encoding


# ----- ranges


def lines_at(first: int) -> int:
    """How many lines a range has that begins with this one: few at the beginning, for small files and early results."""
    return 32 if first < 2048 else 256 if first < 16384 else 1024


class Range(NamedTuple):
    """Some lines of a file: the number of the first, how many, where their bytes lie in its stream, their checksum."""

    first: int
    lines: int
    offset: int
    size: int
    checksum: int


@dataclass
class Cut:
    """A file as it was read once: its ranges, five numbers each, and what tells it from any other file."""

    lines: int = 0
    digest: str = ""
    broken: int = 0  # lines with U+FFFD for broken bytes, of `utf-8-replace`
    repaired: list[int] = field(default_factory=list)  # the first of them, from 1
    _numbers: "array[int]" = field(default_factory=lambda: array("q"))

    def __len__(self) -> int:
        return len(self._numbers) // len(Range._fields)

    def __getitem__(self, part: int) -> Range:
        width = len(Range._fields)
        return Range(*self._numbers[part * width : (part + 1) * width])

    def __iter__(self) -> Iterator[Range]:
        return (self[part] for part in range(len(self)))

    def add(self, cut: Range) -> None:
        self._numbers.extend(cut)


def cut_into_ranges(file: InputFile, advance: Callable[[int], None] = lambda lines: None) -> Cut:
    """Reads a file once; nothing of it is held. What cannot be read is said before anything is translated."""
    cut, whole = Cut(), hashlib.sha256()
    first = count = offset = size = checksum = 0
    proven, begins = file.form != "jsonl", True
    with file.stream() as stream:
        while data := stream.readline(LONGEST_LINE + 1):
            if begins and (count >= lines_at(first) or size >= _MOST_BYTES):
                cut.add(Range(first, count, offset, size, checksum))
                advance(count)
                first, count, offset, size, checksum = first + count, 0, offset + size, 0, 0
            count += begins
            size += len(data)
            checksum = zlib.crc32(data, checksum)
            whole.update(data)
            proven = proven or proves_utf_8(data, file.path, first + count)
            if file.form == "text":
                if len(data) > LONGEST_LINE:
                    raise too_long(file.path, first + count)
                if file.encoding == REPLACING and b"\xef\xbf\xbd" in data:
                    cut.broken += 1
                    cut.repaired = [*cut.repaired, first + count][:3]
            begins = data.endswith(b"\n")
    if count:
        cut.add(Range(first, count, offset, size, checksum))
        advance(count)
    cut.lines, cut.digest = first + count, whole.hexdigest()
    return cut


class RangeReader:
    """Ranges of files, straight from their place where that is known; else the file is read on, as far as it is still
    in front: whoever asks for ranges in order reads it once."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._file: InputFile | None = None
        self._stream: IO[bytes] | None = None
        self._place = 0

    def read(self, file: InputFile, wanted: Range) -> bytes:
        data = file.read(wanted.offset, wanted.size)
        if data is None:
            data = self._read_on(file, wanted)
        if zlib.crc32(data) != wanted.checksum:
            raise DataError("was changed while it was being translated; start again", path=file.path)
        return data

    def _read_on(self, file: InputFile, wanted: Range) -> bytes:
        if self._stream is None or file != self._file or self._place > wanted.offset:
            self._stack.close()
            self._file, self._stream, self._place = file, self._stack.enter_context(file.stream()), 0
        while self._place < wanted.offset and (skipped := self._stream.read(min(wanted.offset - self._place, 1 << 20))):
            self._place += len(skipped)
        data = _exactly(self._stream, wanted.size)
        self._place += len(data)
        return data
