"""What a worker makes of a range: as many lines as came in, in order, whatever they hold.

A line at which the model fails becomes a placeholder and a row of the report; which one it is, is found by halving.
A line that kills its worker is found out by a worker that writes down what it is about to do (`careful`).
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch

from seq2see import atomic
from seq2see.engines import EngineName
from seq2see.errors import RunError, printable
from seq2see.formats.documents.base import Existing
from seq2see.formats.documents.remarks import Remark
from seq2see.formats.documents.translating import Outcome, translated_pieces
from seq2see.formats.jsonl import Records
from seq2see.search import SearchConfig
from seq2see.session.constraints import Glossary
from seq2see.session.documents import FaithfulTranslator
from seq2see.session.files.lines import as_line
from seq2see.session.loading import load
from seq2see.session.parts.inputs import InputFile, Range, RangeReader

PLACEHOLDER = "[[not translated]]"
CAREFUL, ROWS = ".careful", ".rows"
_TRIES = 2  # of a line that its worker does not survive
_MOST_FAILED = 16  # lines of a range at which the model fails; where it is more than half of them it is not the lines
_SHOWN = 500  # characters of such a line in the report


@dataclass(frozen=True)
class Work:
    """What makes the result what it is, besides the inputs; told to every worker once."""

    runs: tuple[Path, ...]
    search: SearchConfig
    engine: EngineName
    agree: bool
    as_json: bool
    prefix: str
    existing: Existing
    shortlist: bool = False


class Made(NamedTuple):
    """Some lines of output, and what there is to say about them."""

    data: bytes
    remarks: tuple[Remark, ...] = ()


class PartMade(NamedTuple):
    """A part that lies on the disk, whole."""

    size: int
    digest: str
    remarks: tuple[tuple[int, str], ...]  # line and problem of each, from 1
    rows: bool  # whether there is a file of rows beside it


class PartFailure(NamedTuple):
    """Why no part can be made. It is no matter of one line."""

    text: str


class PartTranslator:
    """The run, loaded once."""

    def __init__(self, work: Work) -> None:
        torch.set_num_threads(1)
        self.work = work
        # The first process has told what is used, and has made it.
        self._translator = load(work.runs, engine=work.engine, shortlist=work.shortlist, say=lambda _: None)
        self._constraints = Glossary(prefix=work.prefix)
        self._reader = RangeReader()
        self._failed = self._of = 0

    def make(self, file: InputFile, cut: Range, place: Path, *, careful: bool) -> PartMade:
        """Translates a range into a file of that name, which is whole or not there; rows of the report stand beside."""
        lines = _lines(self._reader.read(file, cut))
        self._failed, self._of = 0, len(lines)
        if careful:
            made = self._carefully(file, lines, cut.first, place.with_suffix(CAREFUL))
        else:
            made = self.translate(file, lines, cut.first)
        if (found := len(_lines(made.data))) != cut.lines:
            raise AssertionError(f"{found} lines for {cut.lines}")
        if made.remarks:
            atomic.write_file(place.with_suffix(ROWS), b"".join(remark.jsonl for remark in made.remarks))
        atomic.write_file(place, made.data)
        remarks = tuple((remark.line, remark.problem) for remark in made.remarks)
        return PartMade(len(made.data), hashlib.sha256(made.data).hexdigest(), remarks, bool(made.remarks))

    def translate(self, file: InputFile, lines: Sequence[bytes], first: int) -> Made:
        """Of lines that begin with this number (from 0)."""
        try:
            return self._records(file, lines, first) if file.form != "text" else self._texts(lines, first)
        except (_HopelessError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # a panic of Rust is no Exception
            if len(lines) > 1:
                middle = len(lines) // 2
                halves = (lines[:middle], first), (lines[middle:], first + middle)
                return _joined(self.translate(file, *half) for half in halves)
            return self._poison(file, lines[0], first, (str(error).strip() or type(error).__name__).splitlines()[0])

    def _texts(self, lines: Sequence[bytes], first: int) -> Made:
        numbered = enumerate(lines, start=first)
        requests = [self._constraints.request(_text(line, number), number) for number, line in numbered]
        outputs: dict[int, Made] = {}
        for place, translation in self._translator.translate_unordered(
            requests, self.work.search, agree=self.work.agree, need_scores=self.work.as_json
        ):
            remarks = [
                Remark(first + place + 1, "", problem, requests[place].text, translation.text)
                for problem in translation.problems()
            ]
            data = as_line(translation, self.work.search, agree=self.work.agree, as_json=self.work.as_json)
            outputs[place] = Made(data, tuple(remarks))
        return _joined(outputs[place] for place in range(len(lines)))

    def _records(self, file: InputFile, lines: Sequence[bytes], first: int) -> Made:
        field, target = file.fields
        document = Records(file.path, self.work.existing, field, target, held=b"".join(lines), before=first)
        faithful = FaithfulTranslator(self._translator, self.work.search, self._constraints, agree=self.work.agree)
        pieces = translated_pieces(document, faithful.numbered, Outcome(), lambda number, source: True)
        return _joined(Made(piece.data, piece.remarks) for piece in sorted(pieces))

    def _poison(self, file: InputFile, line: bytes, number: int, reason: str) -> Made:
        """A placeholder, with a row that says why."""
        reason = printable(reason)[:200]
        self._failed += 1
        if self._failed > max(_MOST_FAILED, self._of // 2):
            raise _HopelessError(f"{self._failed} of {self._of} lines in a row of {file.source} failed: {reason}")
        text = _text(line, number)
        if file.form != "text":
            data = Records(file.path).refused(line, reason)
        elif self.work.as_json:
            data = (
                json.dumps({"source": text, "text": PLACEHOLDER, "error": reason}, ensure_ascii=False).encode() + b"\n"
            )
        else:
            data = PLACEHOLDER.encode() + b"\n"
        return Made(data, (Remark(number + 1, "", "not translated", text[:_SHOWN], reason),))

    def _carefully(self, file: InputFile, lines: Sequence[bytes], first: int, journal: Path) -> Made:
        """Line by line, after workers have died. The journal says what was tried and what came of it, so that the next
        worker goes on behind this one's last line."""
        tries, done = _read_journal(journal)
        with journal.open("ab") as file_of_journal:

            def put(entry: object) -> None:
                file_of_journal.write(json.dumps(entry).encode() + b"\n")
                file_of_journal.flush()
                os.fsync(file_of_journal.fileno())  # the next worker may be on another machine

            file_of_journal.write(b"\n")  # the last entry may be torn
            for place, line in enumerate(lines):
                if place in done:
                    continue
                if tries[place] >= _TRIES:
                    reason = f"{tries[place]} workers died over it"
                    done[place] = self._poison(file, line, first + place, reason)
                else:
                    put({"tried": place})
                    done[place] = self.translate(file, [line], first + place)
                data, remarks = done[place]
                put({"done": place, "data": data.decode(errors="surrogateescape"), "remarks": remarks})
        return _joined(done[place] for place in range(len(lines)))


class _HopelessError(RunError):
    """It is not the lines."""


def _read_journal(path: Path) -> tuple[Counter[int], dict[int, Made]]:
    """How often each line was tried, and those that are done."""
    tries, done = Counter[int](), dict[int, Made]()
    for line in path.read_bytes().split(b"\n") if path.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:  # torn
            continue
        if "tried" in entry:
            tries[entry["tried"]] += 1
        else:
            data = entry["data"].encode(errors="surrogateescape")
            done[entry["done"]] = Made(data, tuple(Remark(*remark) for remark in entry["remarks"]))
    return tries, done


def _lines(data: bytes) -> list[bytes]:
    """With their ends, cut at `\\n` and nowhere else."""
    lines = data.split(b"\n")
    return [*(line + b"\n" for line in lines[:-1]), *([lines[-1]] if lines[-1] else [])]


def _text(line: bytes, number: int) -> str:
    """As `files.lines` gives it to one process."""
    text = line.removesuffix(b"\n").removesuffix(b"\r").decode(errors="replace")
    return text.removeprefix("\ufeff") if number == 0 else text


def _joined(pieces: Iterable[Made]) -> Made:
    data, remarks = [], list[Remark]()
    for piece in pieces:
        data.append(piece.data)
        remarks.extend(piece.remarks)
    return Made(b"".join(data), tuple(remarks))
