"""The command line: one file per verb, `shell/` for what they share. Nothing imports torch before a verb needs it.

A verb that is named first is imported and built alone: its `--help` does not wait for the others, nor for pydantic,
which typer asks as soon as a group has options to read. The list of all of them (`app`) is made when it is asked for.
"""

import errno
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from seq2see import __version__
from seq2see.cli.shell import streams
from seq2see.cli.shell.messages import say
from seq2see.cli.shell.usage import Command, Group
from seq2see.errors import Seq2SeeError

VERBS = {
    "demo": "demo.demo",
    "learn": "learn.learn",
    "train": "train.train",
    "translate": "translate.translate",
    "look": "look.look",
    "explain": "explain.explain",
    "align": "align.align",
    "evaluate": "evaluate.evaluate",
    "compare": "compare.compare",
    "study": "study.study",
    "speak": "speak.speak",
    "style": "style.show_style",
    "import": "import_model.import_model",
    "export": "export.export",
    "serve": "serve.serve",
    "data": "data.data",
    "verify-resume": "verify_resume.verify_resume",
    "doctor": "doctor.doctor",
}
"""Verb -> module and function, in the order of `--help`."""

if TYPE_CHECKING:
    app: typer.Typer
else:

    def __getattr__(name: str) -> Any:
        """PEP 562: every verb is imported when somebody wants all of them."""
        if name != "app":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()["app"] = _all_verbs()
        return globals()["app"]


def _all_verbs() -> typer.Typer:
    app = typer.Typer(
        name="seq2see",
        cls=Group,
        help="Sequence-to-sequence models that you can see through.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for verb in VERBS:
        _add(app, verb)
    app.callback(invoke_without_command=True)(_version)
    return app


def _one_verb(verb: str) -> typer.Typer:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    _add(app, verb)
    return app


def _add(app: typer.Typer, verb: str) -> None:
    module, _, function = VERBS[verb].partition(".")
    app.command(verb, cls=Command)(getattr(import_module(f"{__name__}.{module}"), function))


def _version(version: bool = typer.Option(False, "--version", help="Say the version and stop.")) -> None:
    if version:
        typer.echo(f"seq2see {__version__}")
        raise typer.Exit


def _run() -> None:
    """However it was started, help and completion call it seq2see."""
    first, *rest = [*sys.argv[1:], ""]
    if first in VERBS and "_SEQ2SEE_COMPLETE" not in os.environ:
        _one_verb(first)(rest[:-1], prog_name=f"seq2see {first}")
    elif sys.argv[1:] == ["--version"]:
        typer.echo(f"seq2see {__version__}")
        sys.exit()
    else:
        _all_verbs()(prog_name="seq2see")


def main() -> None:
    """Our own errors are one line and exit code 2; anything else is a bug of ours and keeps its traceback."""
    streams.replace_closed()
    try:
        _run()
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
