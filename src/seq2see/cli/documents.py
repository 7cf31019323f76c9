"""`seq2see translate` for files with structure: .po .xlf .srt .jsonl, translated in place."""

import sys
import time
from typing import cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from seq2see.cli.translating import Job
from seq2see.errors import ConfigError
from seq2see.session import Translator
from seq2see.session.constraints import PerLine, read_constraints
from seq2see.session.documents import FaithfulTranslator
from seq2see.text.documents import Format, Outcome, format_of, open_document, translate_document, translated_bytes

_PLAIN_SECONDS = 10.0


def translate_file(job: Job, translator: Translator) -> None:
    if job.file is None:
        raise ConfigError(f"--format {job.form} needs a file, not standard input")
    if job.as_json or (job.search.nbest > 1 and not job.agree):
        raise ConfigError(f"--json and --nbest are for plain text; a {job.form} file keeps its own form")
    constraints = read_constraints(job.constraints, job.prefix)
    if isinstance(constraints, PerLine):
        raise ConfigError("a .jsonl of constraints goes line by line with plain text; use a glossary (.tsv) here")
    known = format_of(job.file)
    document = open_document(
        job.file,
        known if job.form in (known, "srt") and known is not None else cast(Format, job.form),
        existing=job.existing,
        field=job.fields[0],
        target=job.fields[1],
        target_language=translator.runs[0].config.data.target_language,
    )
    faithful = FaithfulTranslator(translator, job.search, constraints, agree=job.agree)
    if job.out is None:
        outcome = Outcome()
        for data in translated_bytes(document, faithful, outcome):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    else:
        with Told() as told:
            outcome = translate_document(document, faithful, job.out, told.advance)
    _say(outcome, faithful.again)


def _say(outcome: Outcome, again: int) -> None:
    parts = [f"{outcome.translated} translated"]
    if outcome.kept:
        parts.append(f"{outcome.kept} kept as they were (--existing replace translates them too)")
    if again:
        parts.append(
            f"{again} translated again to keep placeholders, {outcome.repaired} of them repaired: look at those"
        )
    if outcome.problems:
        parts.append(f"{outcome.problems} could not be translated, the first: {outcome.first_problem}")
    print("seq2see: " + "; ".join(parts), file=sys.stderr)


class Told:
    """Progress on stderr: a bar in a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bar: Progress | None = None
        if console.is_terminal:
            self._bar = Progress(
                BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console, transient=True
            )
            self._task = self._bar.add_task("", total=None)
        self._told = time.monotonic()

    def advance(self, done: int, total: int | None) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)
        elif time.monotonic() - self._told > _PLAIN_SECONDS:
            self._told = time.monotonic()
            print(f"{done:,} of {total:,} segments" if total else f"{done:,} segments", file=sys.stderr)

    def __enter__(self) -> "Told":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()
