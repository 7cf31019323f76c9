"""What `seq2see translate` does once its options are read: input, translations, output, progress."""

import json
import shlex
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from seq2see import atomic
from seq2see.cli.saying import say
from seq2see.engines import EngineName
from seq2see.errors import ConfigError
from seq2see.formats.lines import check_text, open_bytes
from seq2see.formats.remarks import Remark
from seq2see.runs.folder import run_digest
from seq2see.search import SearchConfig
from seq2see.session import Request, Translation, Translator, load
from seq2see.session.bulk import cores, translate_unordered
from seq2see.session.constraints import read_constraints
from seq2see.session.lines import Lines, from_descriptor, one_line
from seq2see.session.output import OrderedOutput, Tally
from seq2see.session.terms import TermTally

_LARGE = 200_000  # bytes of input that are worth starting further processes for, each of which takes seconds
_PLAIN_SECONDS = 10.0


@dataclass(frozen=True)
class Job:
    """One call of `seq2see translate`."""

    runs: tuple[Path, ...]
    search: SearchConfig
    file: Path | None
    out: Path | None
    report: Path | None
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
    encoding: str | None = None

    def settings(self) -> dict[str, object]:
        """What makes the result what it is, besides the input: an interrupted file goes on with the same ones only."""
        return {
            "run": [run_digest(run) for run in self.runs],
            "engine": self.engine,
            "format": self.form,
            "json": self.as_json,
            "mbr": self.agree,
            "prefix": self.prefix,
            "constraints": _digest(self.constraints),
            "existing": self.existing,
            "fields": list(self.fields),
            **self.search.model_dump(mode="json"),
        }


def _digest(path: Path | None) -> str | None:
    """Of a file; what can be read only once goes by its name."""
    return None if path is None else atomic.digest(path) if path.is_file() else str(path)


def run_job(job: Job) -> None:
    if job.resume and job.out is None:
        raise ConfigError("--resume goes on with a file that was interrupted; it needs --out")
    _check_files(job)
    torch.set_num_threads(1)
    translator = load(job.runs, engine=job.engine)
    if job.form == "text":
        _translate_lines(job, translator)
    else:
        from seq2see.cli.documents import translate_file

        translate_file(job, translator)


def _check_files(job: Job) -> None:
    """What is read is there, and nothing of it is written to: said before anything is opened."""
    if job.file is not None and job.form == "text":
        check_text(job.file, job.encoding)
    inputs = (job.file if job.file is not None else 0, job.constraints, *job.runs)
    atomic.check_output(job.out if job.out is not None else 1, *inputs)
    if job.report is not None:
        atomic.check_output(job.report, *inputs)
        if job.out is not None and job.report.resolve() == job.out.resolve():
            raise ConfigError(f"--report and --out name the same file, {job.out}; name two")


def open_output(job: Job, unit: str) -> OrderedOutput:
    """Where the results go. `unit` is what is counted in messages."""
    words = [word for word in sys.argv[1:] if word != "--resume"]
    go_on = shlex.join(["seq2see", *words, "--resume"])
    return OrderedOutput(job.out, job.settings(), report=job.report, resume=job.resume, unit=unit, go_on=go_on)


def deserve_a_look(tally: Tally, report: Path | None) -> str:
    """How many results of each kind deserve it, the first lines, and where all of them are; empty if none do."""
    kinds = []
    for problem, count in tally.counts.items():
        if problem != "not translated":  # told with its reason
            lines = ", ".join(map(str, tally.lines[problem]))
            kinds.append(f"{count:,} {problem} (line {lines}{', ...' if count > len(tally.lines[problem]) else ''})")
    where = f"{report} lists them" if report is not None else "--report FILE lists them"
    return f"look at {', '.join(kinds)}; {where}" if kinds else ""


def _translate_lines(job: Job, translator: Translator) -> None:
    terms = TermTally()
    with ExitStack() as stack:
        lines = _input(job, stack)
        output = stack.enter_context(open_output(job, "lines"))
        told = stack.enter_context(LineProgress(job.file, lines, output.made))
        finished = stack.enter_context(closing(_translations(job, translator, _requests(job, lines, output))))
        for request, translation in finished:
            about = [
                Remark(request.number + 1, "", problem, request.text, translation.text)
                for problem in translation.problems()
            ]
            output.put(request.number, _line(job, translation).encode() + b"\n", about)
            terms.add(request.number + 1, translation.unknown_terms)
            told.advance()
    if lines.broken:
        some = ", ".join(map(str, lines.repaired)) + ("" if lines.broken <= len(lines.repaired) else ", ...")
        say(
            f"{lines.broken} line{'s are' if lines.broken > 1 else ' is'} not valid UTF-8 (line {some}); what could "
            "not be read became U+FFFD"
        )
    piped = job.file is None and job.out is None and job.report is None
    if (look := deserve_a_look(output.tally, job.report)) and not piped:
        say(look)
    tell_terms(terms)


def tell_terms(terms: TermTally, what: str = "line") -> None:
    """A line for each required term that the vocabulary lacks; exit code 1 if one is missing from the output."""
    for warning in terms.warnings(what):
        say(f"warning: {warning}")
    if terms.missing:
        raise typer.Exit(1)


def _translations(
    job: Job, translator: Translator, windows: Iterator[list[Request]]
) -> Generator[tuple[Request, Translation]]:
    """Each as soon as it is finished."""
    workers = job.workers if job.workers is not None else cores() if _is_large(job.file) else 1
    if workers == 1:
        for window in windows:
            for place, translation in translator.translate_unordered(window, job.search, agree=job.agree):
                yield window[place], translation
        return
    under_way: dict[int, Request] = {}
    requests = _remembered((request for window in windows for request in window), under_way)
    for place, translation in translate_unordered(
        job.runs, requests, job.search, workers=workers, engine=job.engine, agree=job.agree
    ):
        yield under_way.pop(place), translation


def _remembered(requests: Iterator[Request], under_way: dict[int, Request]) -> Iterator[Request]:
    for place, request in enumerate(requests):
        under_way[place] = request
        yield request


def _requests(job: Job, lines: Lines, output: OrderedOutput) -> Iterator[list[Request]]:
    """Those that are still to be made, in windows; none before the input has proven to be the right one."""
    constraints = read_constraints(job.constraints, job.prefix, job.encoding)
    number = 0
    waiting: list[Request] = []
    for window in lines.windows():
        for text in window:
            request = constraints.request(text, number)
            if output.wants(number, text.encode(errors="surrogatepass")):
                waiting.append(request)
            number += 1
        if output.proven:
            yield waiting
            waiting = []


def _is_large(file: Path | None) -> bool:
    return file is not None and file.stat().st_size >= (_LARGE if file.suffix != ".gz" else _LARGE // 3)


def _input(job: Job, stack: ExitStack) -> Lines:
    if job.file is None:
        return from_descriptor(sys.stdin.fileno(), job.encoding)
    stream = stack.enter_context(open_bytes(job.file))
    return Lines(lambda: stream.read(1 << 16), encoding=job.encoding, path=job.file)


def _line(job: Job, translation: Translation) -> str:
    if job.as_json:
        return json.dumps(translation.as_dict(), ensure_ascii=False)
    if job.search.nbest == 1 or job.agree:
        return one_line(translation.text)
    return "\t".join(one_line(one.text).replace("\t", " ") for one in translation.nbest)


class LineProgress:
    """Progress on stderr while a file is translated: a bar in a terminal, a line now and then elsewhere."""

    def __init__(self, file: Path | None, lines: Lines, before: int = 0) -> None:
        """before: lines that an earlier call has done."""
        self._size = None if file is None or file.suffix == ".gz" else file.stat().st_size
        self._lines, self._began, self._told = lines, time.monotonic(), time.monotonic()
        self._before = self._count = before
        self._bar: Progress | None = None
        console = Console(stderr=True)
        self._quiet = file is None
        if file is not None and console.is_terminal:
            speed = TextColumn("{task.fields[count]:,} lines  {task.fields[speed]:,.0f} a second")
            columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), speed)
            self._bar = Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task("", total=self._size, count=before, speed=0.0)

    def advance(self) -> None:
        self._count += 1
        if self._quiet or (self._count % 16 and self._bar is None):
            return
        now = time.monotonic()
        speed = (self._count - self._before) / max(now - self._began, 1e-9)
        if self._bar is not None:
            # What was read runs ahead of what is done, by the lines that are under way.
            share = self._lines.bytes_read * self._count / max(1, self._lines.count)
            self._bar.update(self._task, completed=share, count=self._count, speed=speed)
        elif now - self._told > _PLAIN_SECONDS:
            self._told = now
            print(f"{self._count:,} lines ({speed:,.0f} a second)", file=sys.stderr)

    def __enter__(self) -> "LineProgress":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()
