"""`seq2see style`: what a recording sounds like in style tokens, and what each token does."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seq2see.cli.shell.checking import check_recordings, check_run
from seq2see.errors import ConfigError

if TYPE_CHECKING:
    from seq2see.look import AttentionMap
    from seq2see.speech.synthesis import Voice

_TEXTS = ("old farmers often sing", "작은 새가 자주 노래해요")  # said by a sweep, as far as the alphabet goes


def show_style(
    run: Annotated[Path, typer.Argument(help="The run folder of a voice.", show_default=False)],
    recordings: Annotated[list[Path] | None, typer.Argument(help="WAV or FLAC recordings.", show_default=False)] = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Instead: pitch and pace as the weight of each token grows from 0 to 1.")
    ] = False,
    by_head: Annotated[bool, typer.Option("--by-head", help="Of --sweep: each head by itself.")] = False,
    style: Annotated[
        Path | None,
        typer.Option(
            help="Of --sweep: a recording whose style the other tokens keep.  [default: the mean style of training]",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(help="Of --sweep: what to say; several are averaged.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Of --sweep: a picture, .png .svg .pdf.", show_default=False)
    ] = None,
) -> None:
    """Show the weights of the style tokens.

    A row for each recording and head, with tabs between.

    \b
    seq2see style runs/voice low.wav high.wav
    seq2see style runs/voice --sweep --style low.wav -o sweep.png
    """
    if sweep == bool(recordings):
        raise ConfigError("style needs recordings, or --sweep: seq2see style runs/voice recording.wav")
    if not sweep and (out is not None or style is not None or text or by_head):
        raise ConfigError("--out, --style, --text and --by-head belong to --sweep")
    check_run(run)
    check_recordings(*(recordings or ()), *([] if style is None else [style]))
    from seq2see import atomic
    from seq2see.look.draw.picture_format import picture_format
    from seq2see.speech.synthesis import Voice

    if out is not None:
        picture_format(out)
        atomic.check_output(out, run, style)
    voice = Voice.load(run)
    if sweep:
        _sweep(voice, None if style is None else voice.style(style), text or [], by_head, out)
    else:
        _weights(voice, recordings or [])


def _weights(voice: "Voice", recordings: list[Path]) -> None:
    styles = [voice.style(recording) for recording in recordings]
    names = styles[0].source.tokens
    typer.echo("\t".join(["recording", "head", *names]))
    for recording, style in zip(recordings, styles, strict=True):
        for head, weights in zip(style.heads, style.weights[0, :, 0], strict=True):
            typer.echo("\t".join([str(recording), str(head), *(f"{weight:.3f}" for weight in weights)]))


def _sweep(voice: "Voice", base: "AttentionMap | None", texts: list[str], by_head: bool, out: Path | None) -> None:
    from seq2see.progress import ProgressDisplay
    from seq2see.speech.evaluate.sweep import save_picture, table
    from seq2see.speech.evaluate.sweep import sweep as swept

    with ProgressDisplay() as display:
        count = display.count(unit="tokens", rate=False)
        sweeps = swept(voice, texts or _default_texts(voice), style=base, by_head=by_head, advance=count.update)
    for row in table(sweeps):
        typer.echo("\t".join(row))
    if out is not None:
        save_picture(sweeps, out)


def _default_texts(voice: "Voice") -> list[str]:
    texts = [text for text in _TEXTS if voice.letters.can_spell(text)]
    if not texts:
        raise ConfigError("this voice cannot spell the texts that a sweep says by itself; give one by --text")
    return texts
