"""The command line: one file per verb, `shell/` for what they share. Nothing imports torch before a verb needs it."""

import errno
import sys
from typing import NoReturn

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
    export,
    look,
    serve,
    speak,
    style,
    train,
    translate,
    verify_resume,
)
from seq2see.cli.shell import streams
from seq2see.cli.shell.messages import say
from seq2see.cli.shell.usage import Command, Group
from seq2see.errors import Seq2SeeError

app = typer.Typer(
    name="seq2see",
    cls=Group,
    help="Sequence-to-sequence models that you can see through.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("demo", cls=Command)(demo.demo)
app.command("train", cls=Command)(train.train)
app.command("translate", cls=Command)(translate.translate)
app.command("look", cls=Command)(look.look)
app.command("explain", cls=Command)(explain.explain)
app.command("align", cls=Command)(align.align)
app.command("evaluate", cls=Command)(evaluate.evaluate)
app.command("compare", cls=Command)(compare.compare)
app.command("speak", cls=Command)(speak.speak)
app.command("style", cls=Command)(style.show_style)
app.command("export", cls=Command)(export.export)
app.command("serve", cls=Command)(serve.serve)
app.command("data", cls=Command)(data.data)
app.command("verify-resume", cls=Command)(verify_resume.verify_resume)
app.command("doctor", cls=Command)(doctor.doctor)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Say the version and stop.")) -> None:
    if version:
        typer.echo(f"seq2see {__version__}")
        raise typer.Exit


def main() -> None:
    """Our own errors are one line and exit code 2; anything else is a bug of ours and keeps its traceback."""
    streams.replace_closed()
    try:
        app(prog_name="seq2see")  # however it was started: what help and completion call it
    except SystemExit as ended:
        # typer turns Ctrl-C into a silent exit; a verb that has said so itself exits on its own.
        if isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt):
            say("interrupted")
        _end(ended.code if isinstance(ended.code, int) else 0)
    except Seq2SeeError as error:
        say(error)
        _end(2)
    except BrokenPipeError:
        _end(1)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _end(2, "no space left on the disk; free some and go on with --resume")


def _end(code: int, message: str = "") -> NoReturn:
    """What is still in the buffer of standard output is written now, while it can be said if that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        streams.give_up_output()
        if error.errno != errno.EPIPE and (message or not code):
            code, message = 2, f"standard output: cannot be written ({error.strerror})"
    if message:
        say(message)
    sys.exit(code)
