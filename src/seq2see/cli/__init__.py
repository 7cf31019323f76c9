"""The command line: one file per verb. Nothing here imports torch before a verb needs it."""

import errno
import sys

import typer

from seq2see import __version__
from seq2see.cli import (
    align,
    compare,
    data,
    demo,
    doctor,
    evaluate,
    explain,
    look,
    speak,
    style,
    train,
    translate,
    verify_resume,
)
from seq2see.errors import Seq2SeeError

app = typer.Typer(
    name="seq2see",
    help="Sequence-to-sequence models that you can see through.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)
app.command("demo")(demo.demo)
app.command("train")(train.train)
app.command("translate")(translate.translate)
app.command("look")(look.look)
app.command("explain")(explain.explain)
app.command("align")(align.align)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("speak")(speak.speak)
app.command("style")(style.show_style)
app.command("data")(data.data)
app.command("verify-resume")(verify_resume.verify_resume)
app.command("doctor")(doctor.doctor)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Say the version and stop.")) -> None:
    if version:
        typer.echo(f"seq2see {__version__}")
        raise typer.Exit


def main() -> None:
    """Our own errors are one line and exit code 2; anything else is a bug of ours and keeps its traceback."""
    try:
        app()
    except Seq2SeeError as error:
        print(f"seq2see: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print("seq2see: no space left on the disk; free some and go on with --resume", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("seq2see: interrupted", file=sys.stderr)
        sys.exit(130)
