"""`seq2see style`: what a recording sounds like, in style tokens."""

from pathlib import Path
from typing import Annotated

import typer


def style(
    run: Annotated[Path, typer.Argument(help="The run folder of a voice.", show_default=False)],
    recordings: Annotated[list[Path], typer.Argument(help="WAV or FLAC recordings.", show_default=False)],
) -> None:
    """Show the weights of the style tokens, a row for each recording and head, with tabs between.

    \b
    seq2see style runs/voice low.wav high.wav
    """
    from seq2see.speech.synthesis import Voice

    voice = Voice.load(run)
    found = [voice.style(recording) for recording in recordings]
    names = found[0].source.tokens
    typer.echo("\t".join(["recording", "head", *names]))
    for recording, one in zip(recordings, found, strict=True):
        for head, weights in zip(one.heads, one.weights[0, :, 0], strict=True):
            typer.echo("\t".join([str(recording), head, *(f"{weight:.3f}" for weight in weights)]))
