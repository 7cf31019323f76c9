"""`seq2see translate` for files with structure: .po .xlf .srt .jsonl, translated in place."""

import sys
import time
from collections.abc import Iterator
from typing import cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from seq2see.cli.saying import say
from seq2see.cli.translating import Job, deserve_a_look, open_output, tell_terms
from seq2see.errors import ConfigError
from seq2see.formats import Format, format_of, open_document
from seq2see.formats.documents import Finished, Numbered, Outcome, check, translated_pieces
from seq2see.session import Translator
from seq2see.session.constraints import PerLine, read_constraints
from seq2see.session.documents import FaithfulTranslator

_PLAIN_SECONDS = 10.0


def translate_file(job: Job, translator: Translator) -> None:
    if job.file is None:
        raise ConfigError(f"--format {job.form} needs a file, not standard input")
    if job.as_json or (job.search.nbest > 1 and not job.agree):
        raise ConfigError(f"--json and --nbest are for plain text; a {job.form} file keeps its own form")
    constraints = read_constraints(job.constraints, job.prefix, job.encoding)
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
        encoding=job.encoding,
    )
    faithful = FaithfulTranslator(translator, job.search, constraints, agree=job.agree)
    total = check(document) if document.path.is_file() else None  # a malformed line costs seconds, not hours
    with open_output(job, "segments") as output, DocumentProgress(quiet=job.out is None) as told:
        empty = output.tally.counts.get("empty", 0)  # of what was done before, all of which is counted as it is read
        outcome = Outcome(translated=-empty, empty=empty)

        def translate(texts: list[Numbered]) -> Iterator[Finished]:
            output.require_proof()
            return faithful.numbered(texts)

        for piece in translated_pieces(document, translate, outcome, output.wants):
            output.put(piece.number, piece.data, piece.remarks, made=piece.made)
            told.advance(outcome.translated + outcome.empty, total)
    _say(outcome, deserve_a_look(output.tally, job.report))
    tell_terms(faithful.terms, "segment")


def _say(outcome: Outcome, look: str) -> None:
    parts = [f"{outcome.translated} translated"]
    if outcome.kept:
        parts.append(f"{outcome.kept} kept as they were (--existing replace translates them too)")
    if outcome.problems:
        parts.append(f"{outcome.problems} could not be translated, the first: {outcome.first_problem}")
    if look:
        parts.append(look)
    say("; ".join(parts))


class DocumentProgress:
    """Progress on stderr: a bar in a terminal, a line now and then elsewhere."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        self._quiet = quiet
        self._bar: Progress | None = None
        if console.is_terminal and not quiet:
            self._bar = Progress(
                BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console, transient=True
            )
            self._task = self._bar.add_task("", total=None)
        self._told = time.monotonic()

    def advance(self, done: int, total: int | None) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)
        elif not self._quiet and time.monotonic() - self._told > _PLAIN_SECONDS:
            self._told = time.monotonic()
            print(f"{done:,} of {total:,} segments" if total else f"{done:,} segments", file=sys.stderr)

    def __enter__(self) -> "DocumentProgress":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()
