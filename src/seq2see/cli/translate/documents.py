"""`seq2see translate` for files with structure: .po .xlf .srt .jsonl, translated in place."""

from collections.abc import Iterator
from typing import cast

from seq2see.cli.shell.messages import say
from seq2see.cli.shell.progress import DocumentProgress
from seq2see.cli.translate.job import Job, deserve_a_look, open_output, warn_of_terms
from seq2see.errors import ConfigError
from seq2see.formats import Format, format_of, open_document
from seq2see.formats.documents.translating import Finished, Numbered, Outcome, check, translated_pieces
from seq2see.session import Translator
from seq2see.session.constraints import PerLine, read_constraints
from seq2see.session.documents import FaithfulTranslator


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
        target_language=translator.target_language,
        encoding=job.encoding,
    )
    faithful = FaithfulTranslator(translator, job.search, constraints, agree=job.agree)
    total = check(document) if document.path.is_file() else None  # a malformed line costs seconds, not hours
    with open_output(job, "segments") as output, DocumentProgress(quiet=job.out is None) as progress:
        empty = output.tally.counts.get("empty", 0)  # of what was done before, all of which is counted as it is read
        outcome = Outcome(translated=-empty, empty=empty)

        def translate(texts: list[Numbered]) -> Iterator[Finished]:
            output.require_proof()
            return faithful.numbered(texts)

        for piece in translated_pieces(document, translate, outcome, output.wants):
            output.put(piece.number, piece.data, piece.remarks, made=piece.made)
            progress.advance(outcome.translated + outcome.empty, total)
    _summarise(outcome, deserve_a_look(output.tally, job.report))
    warn_of_terms(faithful.terms, "segment")


def _summarise(outcome: Outcome, look: str) -> None:
    parts = [f"{outcome.translated} translated"]
    if outcome.kept:
        parts.append(f"{outcome.kept} kept as they were (--existing replace translates them too)")
    if outcome.problems:
        parts.append(f"{outcome.problems} could not be translated, the first: {outcome.first_problem}")
    if look:
        parts.append(look)
    say("; ".join(parts))
