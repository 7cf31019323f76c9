"""The folder of the outputs: parts, each whole or absent, a manifest of those that are made, files joined of them.

DIR/news.ko                       an output, called as its input; it appears when it is whole
DIR/seq2see-job/job.json          what is translated, and how: another job is not mixed into this one
DIR/seq2see-job/manifest.jsonl    a line for each part that is whole (range, count, SHA-256), and for each output
DIR/seq2see-job/parts/            the parts, until they are joined, and the rows of the report
DIR/seq2see-job/report.tsv        what deserves a look, if anything does
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from seq2see import atomic
from seq2see.errors import ConfigError, RunError
from seq2see.formats.documents.remarks import TSV_HEADER, Remark
from seq2see.formats.documents.writing import new_file
from seq2see.session.parts.inputs import Cut, InputFile, Range
from seq2see.session.parts.translating import ROWS, PartMade

JOB = "seq2see-job"
_FORMAT, _VERSION = "seq2see translation", 1
_SHORT = 40  # characters of a setting that a message shows
_FIRST = 3  # places of a kind that are named

Place = tuple[int, int]
"""Number of the input, number of the part."""


class Noticed(NamedTuple):
    """How many results of a kind deserve a look, and where the first ones are: number of the input, line."""

    results: int = 0
    first: tuple[tuple[int, int], ...] = ()


class JobFolder:
    """Held by one process; parts are written by workers, everything else here."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.job = out / JOB
        self.parts = self.job / "parts"
        self._looks: dict[Place, Mapping[str, tuple[int, Sequence[int]]]] = {}
        self.finished: set[int] = set()  # inputs whose output is there
        self.was_whole = False  # an earlier call had ended
        self._made: dict[Place, tuple[int, str]] = {}  # size and SHA-256 of committed parts
        self._lock = atomic.Lock(self.job / "lock")
        self._manifest: IO[bytes] | None = None

    def part(self, place: Place) -> Path:
        return self.parts / f"{place[0]}-{place[1]:06d}"

    @property
    def anew(self) -> str:
        return f"choose another folder, or delete {self.out} to start anew"

    # ----- the beginning

    def saved_settings(self) -> Mapping[str, Any] | None:
        """Of the job that this folder is of, if it is of any; a stranger's files are an error."""
        if not self.out.exists():
            return None
        if not self.out.is_dir():
            raise ConfigError(f"{self.out}: is a file; --out names a folder here")
        try:
            saved = atomic.read_json(self.job / "job.json")
        except FileNotFoundError:
            if any(entry.name != JOB for entry in self.out.iterdir()):
                raise ConfigError(f"{self.out}: holds files of others; name a new folder, or an empty one") from None
            return None
        except (OSError, ValueError):
            raise RunError(f"{self.job / 'job.json'}: cannot be read, it is damaged; {self.anew}") from None
        settings = saved.get("settings") if isinstance(saved, dict) else None
        if not isinstance(settings, dict) or (saved.get("format"), saved.get("version")) != (_FORMAT, _VERSION):
            raise RunError(f"{self.job / 'job.json'}: is of another version; {self.anew}")
        return settings

    def begin(self, settings: Mapping[str, Any], files: Sequence[InputFile], cuts: Sequence[Cut]) -> None:
        """Claims the folder for a job, or goes on with it as far as it was made."""
        self._check_names(files)
        try:
            self.was_whole = self.job.exists() and not self.parts.exists()
            self.parts.mkdir(parents=True, exist_ok=True)
            if not self._lock.hold():
                raise ConfigError(f"{self.out}: another process is translating into it; wait for it")
            wanted = json.loads(json.dumps({**settings, "inputs": _inputs(files, cuts)}))
            saved = self.saved_settings()
            if saved is None:
                atomic.write_json(self.job / "job.json", {"format": _FORMAT, "version": _VERSION, "settings": wanted})
            else:
                self._compare(saved, wanted)
            self._read_manifest(files, cuts)
            self._sweep()
            self.was_whole = self.was_whole and len(self.finished) == len(files)
            self._manifest = (self.job / "manifest.jsonl").open("ab")
        except OSError as error:
            raise atomic.cannot_write(self.out, error) from None

    def _check_names(self, files: Sequence[InputFile]) -> None:
        for file in files:
            if file.output.split("/")[0] == JOB:
                raise ConfigError(f"{file.source}: its output would be called {JOB}, which is taken; rename it")
            if not file.is_remote and self.out.absolute() in file.path.parents:
                raise ConfigError(f"{file.source}: lies in {self.out}, where outputs go; name another folder")

    def _compare(self, saved: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
        for name in {**wanted, **saved}:
            before, now = saved.get(name), wanted.get(name)
            if before != now:
                values = ["none" if value is None else str(value) for value in (before, now)]
                what = f"{name} {values[0]}, not {values[1]}" if max(map(len, values)) < _SHORT else f"another {name}"
                what = "other inputs" if name == "inputs" else what
                raise ConfigError(f"{self.out}: was begun with {what}; use the same to go on; {self.anew}")

    def _read_manifest(self, files: Sequence[InputFile], cuts: Sequence[Cut]) -> None:
        path, whole = self.job / "manifest.jsonl", 0
        if not path.exists():
            return
        with path.open("r+b") as manifest:
            for line in manifest:
                try:
                    entry = json.loads(line) if line.endswith(b"\n") else None
                except ValueError:
                    entry = None
                if not isinstance(entry, dict):  # torn when its process was killed: what follows was never promised
                    break
                whole += len(line)
                self._take(entry, files, cuts)
            manifest.truncate(whole)

    def _take(self, entry: Mapping[str, Any], files: Sequence[InputFile], cuts: Sequence[Cut]) -> None:
        """An entry that still holds. Where a file is gone, what it held is made again."""
        file = int(entry["input"])
        if "output" in entry:
            path = self.out / entry["output"]
            if not path.exists():
                return
            if atomic.digest(path) != entry["sha256"]:
                raise ConfigError(f"{path}: was changed since it was made; move it away, and it is made again")
            self.finished.add(file)
            return
        place = file, int(entry["part"])
        if tuple(entry["range"]) != cuts[file][place[1]][:2]:
            raise RunError(f"{self.job / 'manifest.jsonl'}: does not fit the inputs; {self.anew}")
        self._note(place, entry)  # of several the last: the others were damaged

    def _note(self, place: Place, entry: Mapping[str, Any]) -> None:
        self._made[place] = (int(entry["size"]), str(entry["sha256"]))
        if look := entry.get("look"):
            self._looks[place] = look

    def _sweep(self) -> None:
        """What was never committed goes; what was and is gone or cut is made again."""
        rows = {self.part(place).with_suffix(ROWS).name for place in self._made}
        names = {self.part(place).name: place for place in self._made}
        there = dict[str, int]()
        for entry in os.scandir(self.parts):
            if entry.name in names:
                there[entry.name] = entry.stat().st_size
            elif entry.name not in rows:
                Path(entry.path).unlink(missing_ok=True)
        for name, place in names.items():
            if place[0] not in self.finished and there.get(name) != self._made[place][0]:
                del self._made[place]

    # ----- the work

    def look(self) -> dict[str, Noticed]:
        """What deserves a look so far, by its kind."""
        looks: dict[str, Noticed] = {}
        for place in sorted(self._looks):
            for problem, (count, lines) in self._looks[place].items():
                before = looks.get(problem, Noticed())
                first = (*before.first, *((place[0], line) for line in lines))
                looks[problem] = Noticed(before.results + count, first[:_FIRST])
        return looks

    def is_made(self, place: Place) -> bool:
        return place[0] in self.finished or place in self._made

    def commit(self, place: Place, cut: Range, made: PartMade) -> None:
        """The part is on the disk; from now on it counts."""
        look: dict[str, tuple[int, list[int]]] = {}
        for line, problem in made.remarks:
            count, lines = look.get(problem, (0, []))
            look[problem] = count + 1, [*lines, line][:_FIRST]
        entry = {"input": place[0], "part": place[1], "range": cut[:2], "size": made.size, "sha256": made.digest}
        entry |= {"look": look} if look else {}
        self._append(entry)
        self._note(place, entry)

    def _append(self, entry: Mapping[str, Any]) -> None:
        assert self._manifest is not None
        try:
            self._manifest.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            self._manifest.flush()
            os.fsync(self._manifest.fileno())
        except OSError as error:
            raise atomic.cannot_write(self.job / "manifest.jsonl", error) from None

    def join(self, number: int, file: InputFile, cut: Cut) -> list[Place]:
        """All parts of an input as one file, counted and checked. Those that are damaged are given back, to be made
        again, and nothing is written."""
        places = [(number, part) for part in range(len(cut))]
        if damaged := [place for place in places if not self._is_sound(place, file, cut)]:
            for place in damaged:
                self._made.pop(place, None)
            return damaged
        path = self.out / file.output
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.form == "parquet":
            _join_table(path, file, self._lines(places))
        else:
            with new_file(path) as put:
                for place in places:
                    put(self.part(place).read_bytes())
        self._append({"input": number, "output": file.output, "lines": cut.lines, "sha256": atomic.digest(path)})
        self.finished.add(number)
        for place in places:
            self.part(place).unlink(missing_ok=True)
        return []

    def _is_sound(self, place: Place, file: InputFile, cut: Cut) -> bool:
        """As it was committed, and as many lines as came in."""
        try:
            data = self.part(place).read_bytes()
        except OSError:
            return False
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        return hashlib.sha256(data).hexdigest() == self._made[place][1] and lines == cut[place[1]].lines

    def _lines(self, places: Sequence[Place]) -> Iterator[bytes]:
        for place in places:
            yield from self.part(place).read_bytes().splitlines()

    # ----- the end

    def finish(self, files: Sequence[InputFile], cuts: Sequence[Cut], report: Path | None) -> Path | None:
        """The report, if there is anything to say or it was asked for; the parts go."""
        try:
            if self.was_whole:
                self.parts.rmdir()
                return None
            written = report
            if report is not None or any(self.parts.glob(f"*{ROWS}")):
                written = report or self.job / "report.tsv"
                with new_file(written) as put:
                    for row in self._rows(files, cuts, as_json=written.suffix.lower() == ".jsonl"):
                        put(row)
            elif (self.job / "report.tsv").exists():
                written = self.job / "report.tsv"
            shutil.rmtree(self.parts, ignore_errors=True)
        except OSError as error:
            raise atomic.cannot_write(self.out, error) from None
        return written

    def _rows(self, files: Sequence[InputFile], cuts: Sequence[Cut], *, as_json: bool) -> Iterator[bytes]:
        if not as_json:
            yield b"file\t" + TSV_HEADER
        for number, (file, cut) in enumerate(zip(files, cuts, strict=True)):
            for part in range(len(cut)):
                with suppress(FileNotFoundError):
                    for line in self.part((number, part)).with_suffix(ROWS).read_bytes().splitlines():
                        fields = json.loads(line)
                        name = {"file": file.output}
                        yield (
                            json.dumps(name | fields, ensure_ascii=False).encode() + b"\n"
                            if as_json
                            else file.output.encode() + b"\t" + Remark(**fields).tsv
                        )

    def close(self) -> None:
        if self._manifest is not None:
            self._manifest.close()
        self._lock.let_go()


def _inputs(files: Sequence[InputFile], cuts: Sequence[Cut]) -> list[dict[str, Any]]:
    return [
        {"name": file.output, "form": file.form, "lines": cut.lines, "sha256": cut.digest}
        for file, cut in zip(files, cuts, strict=True)
    ]


def _join_table(path: Path, file: InputFile, lines: Iterator[bytes]) -> None:
    """The rows of a Parquet file with the column of translations, replaced or behind the others."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    name = file.fields[1]
    with file.table() as table, atomic.replacing(path) as temporary:
        writer = None
        for batch in table.iter_batches(1024):
            texts = [json.loads(next(lines)).get(name) for _ in range(batch.num_rows)]
            column = pyarrow.array([text if isinstance(text, str) else None for text in texts], pyarrow.string())
            rows = pyarrow.Table.from_batches([batch])
            place = rows.schema.get_field_index(name)
            rows = rows.append_column(name, column) if place < 0 else rows.set_column(place, name, column)
            writer = writer or ParquetWriter(temporary, rows.schema)
            writer.write_table(rows)
        if writer is None:  # no rows
            schema = table.schema_arrow
            known = schema if name in schema.names else schema.append(pyarrow.field(name, pyarrow.string()))
            writer = ParquetWriter(temporary, known)
        writer.close()
