"""`seq2see speak`: text in, sound out."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seq2see.cli.shell.checking import check_recordings, check_run
from seq2see.cli.shell.options import Encoding
from seq2see.errors import ConfigError, DataError

if TYPE_CHECKING:
    from seq2see.speech.speech import Speech


def speak(
    run: Annotated[Path, typer.Argument(help="The run folder of a voice.", show_default=False)],
    text: Annotated[
        str | None,
        typer.Argument(help="What to say.  [default: the lines of standard input, a file each]", show_default=False),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="A .wav or .flac file; of many lines out-0001.wav, out-0002.wav, ...")
    ] = Path("out.wav"),
    style: Annotated[
        Path | None,
        typer.Option(help="A recording to sound like.  [default: the mean style of training]", show_default=False),
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(
            help="Style tokens by hand, such as 3=0.8,5=0.2, or 1:3=0.8 for head 1 alone; the other tokens share "
            "the rest.  [default: none]",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="A .png, .svg or .pdf with spectrogram, alignment and style.", show_default=False),
    ] = None,
) -> None:
    """Say a text with a trained voice.

    Long texts are said sentence by sentence. The names of the files that were written go to standard output.

    \b
    seq2see speak runs/voice "the happy birds sing" -o birds.wav
    seq2see speak runs/voice "작은 새가 노래해요" --style reference.wav --plot birds.png
    seq2see speak runs/voice "the happy birds sing" --tokens 3=0.8,5=0.2
    seq2see speak runs/voice -o lines.wav < lines.txt
    """
    from seq2see import atomic

    chosen = parse_tokens(tokens) if tokens else None
    if out.suffix.lower() not in (".wav", ".flac"):
        raise ConfigError(f"{out}: sound is written as .wav or .flac, not '{out.suffix}'")
    atomic.check_output(out, run, style)
    if plot is not None:
        from seq2see.look.draw.picture_format import picture_format

        picture_format(plot)
        atomic.check_output(plot, run, style)
    check_run(run)
    if style is not None:
        check_recordings(style)
    from seq2see.speech.synthesis import Voice

    voice = Voice.load(run)
    if text is not None:
        write(voice.speak(text, style=style, tokens=chosen), out, plot)
        return
    if sys.stdin.isatty():
        print("reading standard input: type a sentence, Ctrl-D to end", file=sys.stderr)
    number = 0
    for number, speech in enumerate(voice.speak_all(_lines(encoding), style=style, tokens=chosen), start=1):
        sound, picture = numbered(out, number), None if plot is None else numbered(plot, number)
        atomic.check_output(sound, run, style)
        write(speech, sound, picture)
    if not number:
        raise DataError("there is nothing to say: standard input is empty")


def write(speech: "Speech", out: Path, plot: Path | None) -> None:
    """The sound, the picture, and what they are called."""
    speech.save(out)
    if plot is not None:
        speech.plot(plot)
    cut_off = "" if speech.stopped else ", cut off: the voice did not find the end"
    print(f"{speech.seconds:.2f} s of speech{cut_off}", file=sys.stderr)
    print(out, flush=True)


def numbered(path: Path, number: int) -> Path:
    """out.wav -> out-0001.wav."""
    return path.with_name(f"{path.stem}-{number:04d}{path.suffix}")


def parse_tokens(text: str) -> dict[int | tuple[int, int], float]:
    """`3=0.8,1:5=0.2` -> {3: 0.8, (1, 5): 0.2}."""
    weights: dict[int | tuple[int, int], float] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        head, colon, token = name.rpartition(":")
        try:
            key = (int(head), int(token)) if colon else int(token)
            weights[key] = float(value)
        except ValueError:
            raise ConfigError(f"--tokens {text}: '{part.strip()}' is not like 3=0.8 or 1:3=0.8") from None
    return weights


def _lines(encoding: str | None) -> Iterator[str]:
    """The lines of standard input that are not empty."""
    from seq2see.formats.reading.encodings import check_encoding
    from seq2see.formats.reading.lines import read_standard_input

    return (text for line in read_standard_input(check_encoding(encoding)) if (text := line.strip()))
