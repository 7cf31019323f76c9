"""`seq2see import`: a model of another program as a run."""

from pathlib import Path
from typing import Annotated

import typer


def import_model(
    folder: Annotated[
        Path,
        typer.Argument(
            help="A Marian folder as transformers saves it: config.json, model.safetensors, source.spm, target.spm, "
            "vocab.json.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder to make.", show_default=False)],
    language: Annotated[
        str | None,
        typer.Option(
            help="Of a model for several target languages: the one that texts are translated into, such as deu; a text "
            "may begin with another one, as in >>fra<< Hello.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a run of a Marian (OPUS-MT) translator.

    Translate, look, explain, align, serve and fine-tune it.

    Nothing in the folder is executed; pytorch_model.bin is not opened.

    \b
    seq2see import opus-mt-ko-en -o runs/opus
    seq2see import opus-mt-en-mul -o runs/opus-de --language deu
    """
    from seq2see.doors.marian_in import import_marian

    import_marian(folder, out, language=language)
    typer.echo(str(out))
