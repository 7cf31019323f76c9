"""`seq2see study`: many trainings that differ in what a study file says, and one table."""

import shlex
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from seq2see.cli.shell.messages import say
from seq2see.errors import ConfigError


def study(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY.toml",
            help="What varies, and what does not: base settings, axes, seeds, a budget for each run, such as "
            "studies/multi30k-scores.toml.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The folder for runs, results.json, table.md and report.html.  [default: runs/ and the name of the "
            "study]",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say how many cells there are, how many are done, and the hours; and stop.")
    ] = False,
    test: Annotated[
        bool,
        typer.Option(
            "--test", help="When all cells are trained, score the test sets too; until then validation decides."
        ),
    ] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Only write table.md and report.html again, from results.json alone.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(help="Cells at once, a core each.  [default: one for each core]", min=1, show_default=False),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="local|ADDRESS",
            help="Spread the cells over Ray: a Ray of our own, or the cluster at this address; --out is then a folder "
            "that all its machines see. Needs the extra `scale`.  [default: none]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Compare many models on equal terms.

    Every cell is an ordinary run in OUT/cells. Ctrl-C saves, and the same command goes on; so it does after a power
    cut. What stands in results.json, in OUT or committed beside the study file as NAME/results.json, is not trained
    again. The guide is docs/study.md.

    \b
    seq2see study study.toml --plan
    seq2see study study.toml --out runs/study
    seq2see study study.toml --out runs/study --test
    seq2see study study.toml --out runs/study --table
    seq2see study studies/multi30k-families.toml --jobs 2
    seq2see study studies/multi30k-scores.toml --ray local
    """
    if not file.is_file():
        raise ConfigError(f"{file}: no such study file")
    folder = out or Path("runs") / file.stem
    if table and (plan or test or ray is not None):
        raise ConfigError("--table trains and scores nothing; leave the other options away")
    from seq2see.processes import cores

    command = shlex.join(["seq2see", *sys.argv[1:]])
    if table:
        _draw(file, folder, command)
        return
    from seq2see.study.plan import plan_study

    planned = plan_study(file, folder)
    at_once = jobs or cores()
    for line in planned.lines(at_once, test=test):
        typer.echo(line, err=not plan)
    if plan:
        return
    from seq2see.study.running import REPORT, TABLE, run_study

    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        end = run_study(planned, jobs=at_once, ray=ray, test=test, command=command)
    except KeyboardInterrupt:
        say(f"stopped; what is trained is kept. Go on with: {command}")
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)
    say(f"written: {folder / TABLE}, {folder / REPORT}")
    if end.untested:
        say(end.untested)
    if end.failures:
        for name, reason in end.failures.items():
            say(f"{name} failed: {reason}")
        say(f"{len(end.failures)} of {len(planned.cells)} cells failed; the same command tries them again")
        raise typer.Exit(1)


def _draw(file: Path, folder: Path, command: str) -> None:
    from seq2see.study.plan import committed_results
    from seq2see.study.running import REPORT, TABLE, draw_again

    kept = folder / "results.json"
    draw_again(kept if kept.exists() else committed_results(file), folder, command)
    say(f"written: {folder / TABLE}, {folder / REPORT}")


def _interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM saves as Ctrl-C does."""
    raise KeyboardInterrupt
