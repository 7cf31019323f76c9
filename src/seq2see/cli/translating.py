"""What `seq2see translate` does once its options are read: input, translations, output, progress."""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Literal

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from seq2see import durable
from seq2see.engines import EngineName
from seq2see.errors import ConfigError
from seq2see.search import SearchConfig
from seq2see.session import Request, Translation, Translator, load
from seq2see.session.bulk import cores, translate_bulk
from seq2see.session.constraints import read_constraints
from seq2see.session.lines import Lines, from_descriptor, one_line
from seq2see.text.lines import check_file, open_bytes

_LARGE = 200_000  # bytes of input that are worth starting further processes for, each of which takes seconds
_PLAIN_SECONDS = 10.0


@dataclass(frozen=True)
class Job:
    """One call of `seq2see translate`."""

    runs: tuple[Path, ...]
    search: SearchConfig
    file: Path | None
    out: Path | None
    form: str
    as_json: bool
    agree: bool
    prefix: str
    constraints: Path | None
    existing: Literal["keep", "replace"]
    fields: tuple[str, str]
    workers: int | None
    resume: bool
    engine: EngineName = "torch"


def run_job(job: Job) -> None:
    if job.resume and (job.out is None or job.form != "text"):
        raise ConfigError("--resume goes on with a text file that was interrupted; it needs --out")
    if job.file is not None:
        check_file(job.file)
    torch.set_num_threads(1)
    translator = load(job.runs, engine=job.engine)
    if job.form == "text":
        _translate_lines(job, translator)
    else:
        from seq2see.cli.documents import translate_file

        translate_file(job, translator)


def _translate_lines(job: Job, translator: Translator) -> None:
    with ExitStack() as stack:
        lines = _input(job, stack)
        output = stack.enter_context(Output(job.out, resume=job.resume))
        told = stack.enter_context(Told(job.file, lines))
        for translation in _translations(job, translator, lines, output.done):
            output.write(_line(job, translation))
            told.advance()
    if lines.broken:
        some = ", ".join(map(str, lines.repaired)) + ("" if lines.broken <= len(lines.repaired) else ", ...")
        print(
            f"seq2see: {lines.broken} line{'s are' if lines.broken > 1 else ' is'} not valid UTF-8 (line {some}); what "
            "could not be read became U+FFFD",
            file=sys.stderr,
        )


def _translations(job: Job, translator: Translator, lines: Lines, skip: int) -> Iterator[Translation]:
    windows = _requests(job, lines, skip)
    workers = job.workers if job.workers is not None else cores() if _is_large(job.file) else 1
    if workers == 1:
        for window in windows:
            yield from translator.translate_all(window, job.search, agree=job.agree)
    else:
        requests = (request for window in windows for request in window)
        yield from translate_bulk(job.runs, requests, job.search, workers=workers, engine=job.engine, agree=job.agree)


def _requests(job: Job, lines: Lines, skip: int) -> Iterator[list[Request]]:
    constraints = read_constraints(job.constraints, job.prefix)
    number = 0
    for window in lines.windows():
        requests = [constraints.request(text, number + place) for place, text in enumerate(window)]
        number += len(window)
        yield [request for request in requests if request.number >= skip]


def _is_large(file: Path | None) -> bool:
    return file is not None and file.stat().st_size >= (_LARGE if file.suffix != ".gz" else _LARGE // 3)


def _input(job: Job, stack: ExitStack) -> Lines:
    if job.file is None:
        return from_descriptor(sys.stdin.fileno())
    stream = stack.enter_context(open_bytes(job.file))
    return Lines(lambda: stream.read(1 << 16))


def _line(job: Job, translation: Translation) -> str:
    if job.as_json:
        return json.dumps(translation.as_dict(), ensure_ascii=False)
    if job.search.nbest == 1 or job.agree:
        return one_line(translation.text)
    return "\t".join(one_line(one.text).replace("\t", " ") for one in translation.nbest)


class Output:
    """Standard output, or a file that gets its name when it is whole; until then it is `name.part`."""

    def __init__(self, path: Path | None, *, resume: bool) -> None:
        self.path = path
        self.straight = path is not None and durable.is_stream(path)
        self.part = path if path is None or self.straight else path.with_name(path.name + ".part")
        self.done = _whole_lines(self.part) if resume and self.part is not None else 0
        self._waiting = 0.0
        self._file: IO[bytes] = sys.stdout.buffer if self.part is None else self._open(self.part, resume=resume)

    def _open(self, part: Path, *, resume: bool) -> IO[bytes]:
        try:
            return part.open("ab" if resume else "wb")
        except OSError as error:
            raise durable.cannot_write(part, error) from None

    def write(self, line: str) -> None:
        self._file.write(line.encode() + b"\n")
        self.done += 1
        if self.path is None and time.monotonic() - self._waiting > 0.05:  # soon enough for a person, rare enough
            self._file.flush()
            self._waiting = time.monotonic()

    def __enter__(self) -> "Output":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._file.flush()
            if self.path is None or self.part is None:
                return
            if self.straight:
                self._file.close()
                return
            os.fsync(self._file.fileno())
            self._file.close()
            if kind is None:
                self.part.rename(self.path)
                durable.sync_folder(self.path.parent)
            elif not self.done:
                self.part.unlink(missing_ok=True)
            else:
                print(
                    f"seq2see: {self.done} lines are in {self.part}; the same command with --resume goes on",
                    file=sys.stderr,
                )
        except OSError as error:
            if kind is None and not isinstance(error, BrokenPipeError):
                raise durable.cannot_write(self.path or Path("standard output"), error) from None
            if kind is None:
                raise


def _whole_lines(part: Path) -> int:
    """Lines in an interrupted file, which is cut behind the last whole one."""
    if not part.exists():
        raise ConfigError(f"{part}: no such file; there is nothing to resume")
    count = end = offset = 0
    with part.open("rb") as file:
        while chunk := file.read(1 << 20):
            count += chunk.count(b"\n")
            if (last := chunk.rfind(b"\n")) >= 0:
                end = offset + last + 1
            offset += len(chunk)
    os.truncate(part, end)
    return count


class Told:
    """Progress on stderr while a file is translated: a bar in a terminal, a line now and then elsewhere."""

    def __init__(self, file: Path | None, lines: Lines) -> None:
        self._size = None if file is None or file.suffix == ".gz" else file.stat().st_size
        self._lines, self._began, self._told, self._count = lines, time.monotonic(), time.monotonic(), 0
        self._bar: Progress | None = None
        console = Console(stderr=True)
        self._quiet = file is None
        if file is not None and console.is_terminal:
            speed = TextColumn("{task.fields[count]:,} lines  {task.fields[speed]:,.0f} a second")
            columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), speed)
            self._bar = Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task("", total=self._size, count=0, speed=0.0)

    def advance(self) -> None:
        self._count += 1
        if self._quiet or (self._count % 16 and self._bar is None):
            return
        now = time.monotonic()
        speed = self._count / max(now - self._began, 1e-9)
        if self._bar is not None:
            # What was read runs ahead of what is done, by the lines that are under way.
            share = self._lines.bytes_read * self._count / max(1, self._lines.count)
            self._bar.update(self._task, completed=share, count=self._count, speed=speed)
        elif now - self._told > _PLAIN_SECONDS:
            self._told = now
            print(f"{self._count:,} lines ({speed:,.0f} a second)", file=sys.stderr)

    def __enter__(self) -> "Told":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()
