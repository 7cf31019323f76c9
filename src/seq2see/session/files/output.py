"""Results to standard output or into a file: in order, whole or not there, and never made twice.

An interrupted file can be gone on with. Its note (see `claim`) says with which settings it was made and what of the
input had been read; both have to be the same, or nothing is written.
"""

import base64
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any, NamedTuple

from pydantic import BaseModel, Field

from seq2see import atomic
from seq2see.errors import ConfigError, RunError
from seq2see.formats.documents.remarks import TSV_HEADER, Problem, Remark
from seq2see.formats.documents.writing import new_file
from seq2see.session.files.claim import Claim, Note, Written

_SECONDS = 2.0  # between two notes of how much is done; a process that is killed loses no more than that
_SHARE = 0.05  # of the time, at most, is spent on notes
_FLUSH = 0.05  # seconds between two flushes of a stream: soon enough for a person, rare enough for a file
_FIRST = 3  # remarks of a kind whose lines are named
_SHORT = 40  # characters of a setting that a message shows; a digest is longer
_BLOCK = 1 << 20


class OutputPiece(NamedTuple):
    """A result: some bytes of the file, and what there is to say about them."""

    data: bytes
    remarks: tuple[Remark, ...] = ()
    made: bool = True  # False: copied from the input, which costs nothing to do again


@dataclass(frozen=True)
class Tally:
    """How many remarks of each kind there are, and the lines of the first ones."""

    counts: Mapping[Problem, int] = field(default_factory=dict)
    lines: Mapping[Problem, tuple[int, ...]] = field(default_factory=dict)

    def plus(self, remark: Remark) -> "Tally":
        problem = remark.problem
        lines = (*self.lines.get(problem, ()), remark.line)[:_FIRST]
        return Tally({**self.counts, problem: self.counts.get(problem, 0) + 1}, {**self.lines, problem: lines})


@dataclass(frozen=True)
class _State:
    """What is written, in order. Replaced as a whole after each piece, so that Ctrl-C finds it true."""

    pieces: int = 0
    made: int = 0
    part: Written = field(default_factory=Written)
    report: Written = field(default_factory=Written)
    tally: Tally = field(default_factory=Tally)


class _File(BaseModel):
    size: int = Field(ge=0)
    sha256: str


class _Input(BaseModel):
    pieces: int = Field(ge=0)
    sha256: str


class _Note(BaseModel):
    """What `_State` and the rest come to on the disk."""

    settings: dict[str, Any]
    read: _Input
    pieces: int = Field(ge=0)
    written: int = Field(ge=0)
    part: _File
    report: _File
    counts: dict[Problem, int]
    lines: dict[Problem, tuple[int, ...]]
    early: list[tuple[int, str, bool, list[Remark]]]


class OrderedOutput:
    """Takes pieces by their number, in any order.

    path       None: standard output
    settings   what makes the result what it is: compared when it is gone on with
    report     where remarks go, a row each: JSON lines if so named, else TSV
    resume     go on with what an earlier call left
    unit       what is counted in messages
    go_on      the command that goes on, for messages
    """

    def __init__(
        self,
        path: Path | None,
        settings: Mapping[str, Any],
        *,
        report: Path | None = None,
        resume: bool = False,
        unit: str = "lines",
        go_on: str = "the same command with --resume",
    ) -> None:
        self.unit, self._report, self._go_on = unit, report, go_on
        self._row: Callable[[Remark], bytes] = _jsonl if report and report.suffix.lower() == ".jsonl" else _tsv
        form = None if report is None else "jsonl" if self._row is _jsonl else "tsv"
        self._settings = json.loads(json.dumps({**settings, "report": form}))
        self._state = _State()
        self._early: dict[int, OutputPiece] = {}  # finished before one in front of them
        self._read, self._taken = hashlib.sha256(), 0  # pieces of the input
        self._before: tuple[int, str] | None = None  # those that an earlier call had read
        self._saved, self._pause, self._kept = time.monotonic(), _SECONDS, 0
        header = TSV_HEADER if report is not None and self._row is _tsv else b""
        if path is None or atomic.is_stream(path):
            self._sink: _Stream | Claim = _Stream(path, reported=report is not None)
        else:
            self._sink = Claim(path)
        if isinstance(self._sink, Claim) and resume:
            self._take_up(self._sink)
        else:
            if isinstance(self._sink, Claim):
                self._sink.begin(self._note())
            if header:
                self._sink.write(b"", header)
                self._state = _State(report=self._state.report.plus(header))

    @property
    def tally(self) -> Tally:
        return self._state.tally

    @property
    def made(self) -> int:
        """Results that are there, also from before."""
        return self._state.made + sum(piece.made for number, piece in self._early.items() if self._is_early(number))

    @property
    def proven(self) -> bool:
        """Whether the input is the one that was read before, as far as it was read; nothing is put until then."""
        return self._before is None

    def wants(self, number: int, source: bytes) -> bool:
        """Called with every piece of the input, in order: whether its result is still to be made."""
        assert number == self._taken
        self._read.update(b"%d:%b" % (len(source), source))
        self._taken += 1
        if self._before is not None and self._taken == self._before[0]:
            if self._read.hexdigest() != self._before[1]:
                raise self._other_input()
            self._before = None
        return number >= self._state.pieces and number not in self._early

    def require_proof(self) -> None:
        """An input that ends before, or that would be asked for something before, is another one."""
        if not self.proven:
            raise self._other_input()

    def put(self, number: int, data: bytes, remarks: Iterable[Remark] = (), *, made: bool = True) -> None:
        self.require_proof()
        self._early[number] = OutputPiece(data, tuple(remarks), made)
        while (piece := self._early.get(self._state.pieces)) is not None:
            self._write(piece)
            del self._early[self._state.pieces - 1]
        if isinstance(self._sink, Claim) and time.monotonic() - self._saved > self._pause:
            began = time.monotonic()
            self._save(self._sink)
            self._saved = time.monotonic()
            self._pause = max(_SECONDS, (self._saved - began) / _SHARE)

    def _write(self, piece: OutputPiece) -> None:
        rows = b"" if self._report is None else b"".join(map(self._row, piece.remarks))
        self._sink.write(piece.data, rows)
        state, tally = self._state, self._state.tally
        for remark in piece.remarks:
            tally = tally.plus(remark)
        report = state.report.plus(rows) if rows else state.report
        self._state = _State(state.pieces + 1, state.made + piece.made, state.part.plus(piece.data), report, tally)

    def _is_early(self, number: int) -> bool:
        return number >= self._state.pieces

    # ----- notes, and going on with them

    def _save(self, claim: Claim) -> None:
        claim.save(self._note())
        self._kept = self.made

    def _note(self) -> Note:
        state = self._state
        return {
            "settings": self._settings,
            "read": {"pieces": self._taken, "sha256": self._read.hexdigest()},
            "pieces": state.pieces,
            "written": state.made,
            "made": self.made,
            "part": state.part.note(),
            "report": state.report.note(),
            "counts": state.tally.counts,
            "lines": state.tally.lines,
            "early": [
                [number, base64.b64encode(piece.data).decode(), piece.made, piece.remarks]
                for number, piece in sorted(self._early.items())
                if self._is_early(number)
            ],
        }

    def _take_up(self, claim: Claim) -> None:
        saved = claim.saved()
        if saved is None or not claim.part.exists():
            raise ConfigError(f"{claim.path}: there is nothing to resume; no call was interrupted that wrote there")
        try:
            note = _Note.model_validate_json(json.dumps(saved), strict=True)
            early = {
                number: OutputPiece(base64.b64decode(data, validate=True), tuple(remarks), made)
                for number, data, made, remarks in note.early
            }
        except ValueError:
            raise RunError(f"{claim.note}: cannot be read, it is damaged; {claim.anew}") from None
        self._compare(note.settings, claim)
        part, report = claim.take_up(note.part.model_dump(), note.report.model_dump())
        self._state = _State(note.pieces, note.written, part, report, Tally(note.counts, note.lines))
        self._early = early
        self._before = (note.read.pieces, note.read.sha256) if note.read.pieces else None
        self._kept = self.made

    def _compare(self, saved: Mapping[str, Any], claim: Claim) -> None:
        """The first setting that differs is named."""
        for name in self._settings | dict(saved):
            before, now = saved.get(name), self._settings.get(name)
            if before != now:
                values = ["none" if value is None else str(value) for value in (before, now)]
                what = f"{name} {values[0]}, not {values[1]}" if max(map(len, values)) < _SHORT else f"another {name}"
                raise ConfigError(f"{claim.part}: was begun with {what}; use the same to go on, or {claim.anew}")

    def _other_input(self) -> ConfigError:
        assert isinstance(self._sink, Claim)
        return ConfigError(
            f"{self._sink.part}: was begun with another input; use the same to go on, or {self._sink.anew}"
        )

    # ----- the end

    def __enter__(self) -> "OrderedOutput":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._keep()
        else:
            try:
                self.require_proof()
                self._sink.finish(self._report)
            except BaseException:
                self._keep()
                raise

    def _keep(self) -> None:
        """After an error, or Ctrl-C: what is done stays, and how to go on is said."""
        if not isinstance(self._sink, Claim) or not self.proven:
            self._sink.close()
            return
        if not self.made:
            self._sink.discard()
            return
        with suppress(RunError):  # a full disk, which is being reported already; the note before this one holds
            self._save(self._sink)
        self._sink.close()
        kept = f"{self._kept:,} {self.unit} are done and kept in {self._sink.part}; go on with: {self._go_on}"
        print(f"seq2see: {kept}", file=sys.stderr)


class _Stream:
    """Standard output, a pipe, a terminal: written at once, and what is written cannot be taken back."""

    def __init__(self, path: Path | None, *, reported: bool) -> None:
        self._name = "standard output" if path is None else str(path)
        self._own = path is not None
        self._flushed = 0.0
        try:
            self._file: IO[bytes] = sys.stdout.buffer if path is None else path.open("wb")
        except OSError as error:
            raise self._cannot_write(error) from None
        self._rows: IO[bytes] | None = TemporaryFile() if reported else None  # noqa: SIM115

    def write(self, data: bytes, rows: bytes = b"") -> None:
        if self._rows is not None:
            self._rows.write(rows)
        try:
            self._file.write(data)
            if time.monotonic() - self._flushed > _FLUSH:
                self._file.flush()
                self._flushed = time.monotonic()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._cannot_write(error) from None

    def finish(self, report: Path | None) -> None:
        try:
            self._file.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._cannot_write(error) from None
        if report is not None and self._rows is not None:
            self._rows.seek(0)
            with new_file(report) as put:
                while block := self._rows.read(_BLOCK):
                    put(block)
        self.close()

    def close(self) -> None:
        if self._rows is not None:
            self._rows.close()
        with suppress(OSError):  # reported when it was met
            self._file.flush()
            if self._own:
                self._file.close()

    def _cannot_write(self, error: OSError) -> RunError:
        return RunError(f"{self._name}: cannot be written ({error.strerror or error})")


def _tsv(remark: Remark) -> bytes:
    return remark.tsv


def _jsonl(remark: Remark) -> bytes:
    return remark.jsonl
