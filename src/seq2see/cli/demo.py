"""`seq2see demo`: what attention is good for, seen in minutes."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from seq2see.cli.shell.messages import say
from seq2see.errors import ConfigError

_LONGEST = 86_400.0


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for both runs and the report.")] = Path(
        "runs/demo"
    ),
    seconds: Annotated[
        float | None,
        typer.Option(
            help="Train each for so long.  [default: as many updates as it takes, about two minutes]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of both trainings.", min=0)] = 1,
    pairs: Annotated[int, typer.Option(help="Training pairs.", min=100)] = 30_000,
) -> None:
    """Show what attention is good for, in minutes.

    A model without attention and one with it, of equal size, are trained at the same time: what does length do to both?
    Korean to English, from a grammar that comes with seq2see; about four minutes on two cores at most. Ctrl-C
    stops, the same command goes on; once it is done, the same command shows it again.

    \b
    seq2see demo
    seq2see demo --seed 7 --out runs/demo-7
    """
    if seconds is not None and not 0 < seconds < _LONGEST:
        raise ConfigError(f"--seconds {seconds:g}: expected a time above 0, and below a day")
    from rich.console import Console

    from seq2see.demo import DemoReporter, Plan, run, show

    plan = Plan(out, seconds, seed, pairs)
    try:
        with DemoReporter() as reporter:
            findings = run(plan, reporter, shlex.join(["seq2see", *sys.argv[1:]]))
    except KeyboardInterrupt:
        say(f"stopped; what is trained is in {out}, and the same command goes on")
        raise typer.Exit(130) from None
    Console(highlight=False, markup=False, emoji=False).print(show(findings, plan), crop=False)
