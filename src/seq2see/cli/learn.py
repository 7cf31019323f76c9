"""`seq2see learn`: lessons that compute, in a terminal, as a page, as a notebook."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seq2see.cli.shell.messages import say
from seq2see.errors import ConfigError

if TYPE_CHECKING:
    from seq2see.learn.lesson import Lesson, LessonPage
    from seq2see.learn.wording import Language

_PAGES = (".html", ".htm")
_NOTEBOOK = ".ipynb"


def learn(
    name: Annotated[
        str | None, typer.Argument(help="The lesson; without one, all of them are listed.", show_default=False)
    ] = None,
    korean: Annotated[bool, typer.Option("--ko", help="In Korean.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write a page (.html) or a notebook (.ipynb) instead.", show_default=False),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A few updates where models are trained: the page in seconds, its numbers rough."),
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a number of the lesson and see.", show_default=False),
    ] = None,
    step_by_step: Annotated[bool, typer.Option("--step-by-step", help="Wait for Enter after each part.")] = False,
    evidence: Annotated[
        bool,
        typer.Option("--evidence", help="Every claim of the lessons as one figure, into docs/evidence.md (or --out)."),
    ] = False,
) -> None:
    """Learn how attention works, from lessons that compute every number they show.

    What has to be trained is trained once, in at most two minutes, and kept in ~/.cache/seq2see/lessons. Ctrl-C stops,
    the same command goes on.

    \b
    seq2see learn
    seq2see learn dot --set query=4,1
    seq2see learn qkv --ko -o lesson.html
    seq2see learn --evidence
    """
    language: Language = "ko" if korean else "en"
    if evidence:
        if name is not None or korean or set_ or step_by_step:
            raise ConfigError(
                "--evidence takes all lessons as they are: no name, --ko, --set or --step-by-step with it"
            )
        _write_evidence(out or Path("docs/evidence.md"), quick=quick)
        return
    if name is None:
        if out is not None or set_ or quick or step_by_step:
            raise ConfigError("name a lesson: seq2see learn NAME; `seq2see learn` lists them")
        _list(language)
        return
    teach(name, language, out=out, quick=quick, changes=set_ or [], wait=step_by_step)


def _list(language: "Language") -> None:
    from rich.console import Console

    from seq2see.learn.listing import listing

    console = Console(highlight=False, markup=False, emoji=False)
    for line in listing(language):
        console.print(line, soft_wrap=True)


def _write_evidence(out: Path, *, quick: bool) -> None:
    from seq2see import atomic

    if out.suffix.lower() != ".md":
        raise ConfigError(f"{out}: the evidence is a page in Markdown; name it .md")
    atomic.check_output(out)
    from seq2see.learn.evidence import evidence
    from seq2see.learn.workshop import Workshop
    from seq2see.progress import ProgressDisplay

    with ProgressDisplay() as display:
        workshop = Workshop(quick=quick, display=display)
        try:
            page = evidence(workshop)
        except KeyboardInterrupt:
            say(f"stopped; what is trained is kept in {workshop.folder}, and the same command goes on")
            raise typer.Exit(130) from None
    atomic.write_file(out, page.encode())
    say(f"written: {out}")


def teach(
    name: str,
    language: "Language",
    *,
    out: Path | None = None,
    quick: bool = False,
    changes: list[str] | None = None,
    wait: bool = False,
) -> None:
    """One lesson, in the terminal or into a file."""
    from seq2see.learn.catalogue import load_lesson, outline

    outline(name)
    if out is not None:
        _check_out(out)
    from seq2see.learn.workshop import Workshop
    from seq2see.progress import ProgressDisplay
    from seq2see.runs.config import parse_changes

    with ProgressDisplay() as display:
        workshop = Workshop(quick=quick, display=display)
        taught = load_lesson(name)
        try:
            page = taught.page(workshop, parse_changes(changes or []))
        except KeyboardInterrupt:
            say(f"stopped; what is trained is kept in {workshop.folder}, and the same command goes on")
            raise typer.Exit(130) from None
    if out is not None:
        _write(taught, page, language, out)
    else:
        _show(taught, page, language, wait=wait)


def _check_out(out: Path) -> None:
    """Said before anything is computed."""
    from seq2see import atomic
    from seq2see.look.draw.page import check_replaceable

    if out.suffix.lower() not in (*_PAGES, _NOTEBOOK):
        raise ConfigError(f"{out}: a lesson can be written as .html or .ipynb; rename it so")
    atomic.check_output(out)
    if out.suffix.lower() in _PAGES:
        check_replaceable(out, "--out")
    else:
        from seq2see.learn.render.notebook import check_replaceable_notebook

        check_replaceable_notebook(out, "--out")


def _write(taught: "Lesson[Any]", page: "LessonPage", language: "Language", out: Path) -> None:
    from seq2see import atomic

    if out.suffix.lower() == _NOTEBOOK:
        from seq2see.learn.render.notebook import notebook

        content = notebook(taught, page, language)
    else:
        from seq2see.learn.render.page import html

        content = html(taught, page, language, shlex.join(["seq2see", *sys.argv[1:]]))
    atomic.write_file(out, content.encode())
    say(f"written: {out}")


def _show(taught: "Lesson[Any]", page: "LessonPage", language: "Language", *, wait: bool) -> None:
    from rich.console import Console

    from seq2see.learn.listing import COLUMNS
    from seq2see.learn.render.terminal import parts
    from seq2see.learn.texts.common import GO_ON
    from seq2see.learn.wording import say as said

    console = Console(highlight=False, markup=False, emoji=False)
    console.width = min(COLUMNS, console.width)
    screens = list(parts(taught, page, language))
    for number, screen in enumerate(screens, start=1):
        for renderable in screen:
            console.print(renderable, soft_wrap=isinstance(renderable, str))
        if wait and number < len(screens):
            print(said(GO_ON, language), end=" ", file=sys.stderr, flush=True)
            wait = bool(sys.stdin.readline())  # nobody there: go through
