"""One call of `seq2see translate`: what was asked for, its files, and the messages at its end."""

import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch
import typer

from seq2see import atomic
from seq2see.cli.shell.messages import say
from seq2see.engines import EngineChoice
from seq2see.errors import ConfigError
from seq2see.formats.reading.lines import check_text
from seq2see.runs.folder import run_digest
from seq2see.search import SearchConfig
from seq2see.session import load
from seq2see.session.files.output import OrderedOutput, Tally
from seq2see.session.terms import TermTally

# Bytes of a file from which on making the graphs of ONNX Runtime, some twenty seconds, is less than they save.
_WORTH_GRAPHS = 500_000


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
    engine: EngineChoice = "auto"
    shortlist: bool = False
    encoding: str | None = None

    def settings(self) -> dict[str, object]:
        """What makes the result what it is, besides the input: an interrupted file goes on with the same ones only."""
        return {
            "run": [run_digest(run) for run in self.runs],
            "engine": self.engine,
            **({"shortlist": True} if self.shortlist else {}),
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
    large = job.file is not None and job.file.is_file() and job.file.stat().st_size >= _WORTH_GRAPHS
    translator = load(job.runs, engine=job.engine, make_graphs=large, shortlist=job.shortlist)
    job = replace(job, engine=translator.engine_of(job.search))  # the same in every process, and when it is resumed
    if job.form == "text":
        from seq2see.cli.translate.lines import translate_lines

        translate_lines(job, translator)
    else:
        from seq2see.cli.translate.documents import translate_file

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


def warn_of_terms(terms: TermTally, what: str = "line") -> None:
    """A line for each required term that the vocabulary lacks; exit code 1 if one is missing from the output."""
    for warning in terms.warnings(what):
        say(f"warning: {warning}")
    if terms.missing:
        raise typer.Exit(1)
