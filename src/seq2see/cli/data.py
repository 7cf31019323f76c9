"""`seq2see data`: what is in these pairs, and a cleaned copy."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seq2see.cli.shell.messages import say
from seq2see.cli.shell.options import Encoding
from seq2see.errors import DataError

if TYPE_CHECKING:
    from seq2see.data.sources import Source
    from seq2see.formats import Pair


def data(
    pairs: Annotated[
        list[str],
        typer.Argument(
            help="Pairs as for `train`, such as a .tsv with lines source<tab>target, or two plain files.",
            show_default=False,
        ),
    ],
    valid: Annotated[
        list[str] | None,
        typer.Option(
            help="Validation or test pairs that must not overlap; twice for two plain files.", show_default=False
        ),
    ] = None,
    clean: Annotated[
        Path | None,
        typer.Option(
            help="Write the pairs without empty, doubled, copied and far-off ones, as lines source<tab>target.  "
            "[default: no]",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON on stdout.")] = False,
) -> None:
    """Report on pairs: what is in them, and what is wrong.

    Empty sides, duplicates, copies, odd lengths, shifted lines, overlap with held-out pairs. Of several files, one that
    cannot be read is named, and the others are reported; the exit code is then 2.

    \b
    seq2see data train.tsv --valid dev.tsv
    seq2see data train.de.gz train.en.gz --valid val.de.gz --valid val.en.gz
    seq2see data memory.tmx --clean memory.clean.tsv
    """
    from seq2see import atomic
    from seq2see.data.report import clean as cleaned
    from seq2see.data.report import report_files, write_tsv
    from seq2see.data.sources import parse_sources

    sources = parse_sources(pairs, encoding=encoding)
    held_out = parse_sources(valid, split="validation", encoding=encoding) if valid else []
    if clean is not None:
        atomic.check_output(clean, *(Path(path) for source in (*sources, *held_out) for path in source.paths))
    problems: list[DataError] = []
    report = report_files(
        ((source.paths[0], _readable(source, problems, alone=len(sources) == 1)) for source in sources),
        held_out={source.name: source.pairs() for source in held_out},
    )
    if len(problems) == len(sources) and not report.pairs:
        raise problems[0]
    if as_json:
        unread = {"unread": [str(problem) for problem in problems]}
        typer.echo(json.dumps(json.loads(report.to_json()) | unread, ensure_ascii=False))
    else:
        for line in report.lines():
            typer.echo(line)
    for problem in problems:
        say(f"not read, or only up to there: {problem}")
    if clean is not None and not problems:
        kept = write_tsv(
            cleaned(
                (pair for source in sources for pair in source.pairs()),
                report.ratio,
                held_out=(pair for source in held_out for pair in source.pairs()),
            ),
            clean,
        )
        say(f"{kept:,} of {report.pairs:,} pairs written to {clean}")
    if problems:
        if clean is not None:
            say(f"{clean} was not written; mend or leave out what cannot be read")
        raise typer.Exit(2)


def _readable(source: "Source", problems: list[DataError], *, alone: bool) -> "Iterator[Pair]":
    """The pairs as far as they can be read; of several files one that cannot is remembered."""
    try:
        yield from source.pairs()
    except DataError as problem:
        if alone:
            raise
        problems.append(problem)
