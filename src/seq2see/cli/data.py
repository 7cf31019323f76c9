"""`seq2see data`: what is in these pairs, and a cleaned copy."""

import json
from pathlib import Path
from typing import Annotated

import typer


def data(
    pairs: Annotated[list[str], typer.Argument(help="Pairs as for `train`.", show_default=False)],
    valid: Annotated[
        list[str] | None,
        typer.Option(
            help="Validation or test pairs that must not overlap; twice for two plain files.", show_default=False
        ),
    ] = None,
    clean: Annotated[
        Path | None,
        typer.Option(
            help="Write the pairs without empty, doubled, copied and far-off ones.  [default: no]", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON on stdout.")] = False,
) -> None:
    """Report on pairs: empty sides, duplicates, copies, odd lengths, shifted lines, overlap with held-out pairs.

    \b
    seq2see data train.tsv --valid dev.tsv
    seq2see data memory.tmx --clean memory.clean.tsv
    """
    from seq2see.data.report import clean as cleaned
    from seq2see.data.report import report, write_tsv
    from seq2see.data.sources import parse_sources

    sources = parse_sources(pairs)
    held_out = parse_sources(valid, split="validation") if valid else []
    found = report(
        (pair for source in sources for pair in source.pairs()),
        held_out={source.name: source.pairs() for source in held_out},
    )
    if as_json:
        typer.echo(json.dumps(json.loads(found.to_json()), ensure_ascii=False))
    else:
        for line in found.lines():
            typer.echo(line)
    if clean is not None:
        kept = write_tsv(
            cleaned(
                (pair for source in sources for pair in source.pairs()),
                found.ratio,
                held_out=(pair for source in held_out for pair in source.pairs()),
            ),
            clean,
        )
        typer.echo(f"{kept:,} of {found.pairs:,} pairs written to {clean}", err=True)
