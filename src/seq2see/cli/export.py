"""`seq2see export`: a run for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from seq2see.cli.shell.checking import check_translator
from seq2see.cli.shell.options import RunFolder
from seq2see.errors import ConfigError


def export(
    run: RunFolder,
    to: Annotated[
        str,
        typer.Option(help="ctranslate2, hf (Marian of transformers), onnx, argos (.argosmodel).", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder to make; of argos, the file.", show_default=False)
    ],
    compute_type: Annotated[
        str, typer.Option(help="Of ctranslate2 and argos: float32, or int8 for weights in eight bits.")
    ] = "float32",
    languages: Annotated[
        str | None,
        typer.Option(help="Of argos: source and target, such as ko-en.  [default: the run's]", show_default=False),
    ] = None,
) -> None:
    """Write a run as another program reads it.

    What cannot go out is refused, with the setting that stands in the way.

    \b
    seq2see export runs/ko-en --to ctranslate2 -o ko-en.ct2
    seq2see export runs/ko-en --to ctranslate2 --compute-type int8 -o ko-en.int8
    seq2see export runs/ko-en --to onnx -o ko-en.onnx
    seq2see export runs/ko-en --to argos --languages ko-en -o ko-en.argosmodel
    """
    from seq2see.doors.names import known_format

    format_name = known_format(to)
    if compute_type not in ("float32", "int8"):
        raise ConfigError(f"--compute-type {compute_type}: expected float32 or int8")
    if compute_type != "float32" and format_name not in ("ctranslate2", "argos"):
        raise ConfigError(f"--compute-type is for ctranslate2 and argos, not for {format_name}")
    if languages is not None and format_name != "argos":
        raise ConfigError(f"--languages is for argos, not for {format_name}")
    source, _, target = (languages or "").partition("-")
    check_translator(run)
    from seq2see.doors.leaving import export_run

    export_run(
        run,
        format_name,
        out,
        compute_type="int8" if compute_type == "int8" else "float32",
        languages=(source, target) if languages else None,
    )
    typer.echo(str(out))
