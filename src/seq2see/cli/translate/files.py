"""`seq2see translate --ray`: any number of files into a folder."""

import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import typer

from seq2see.cli.shell.messages import say
from seq2see.progress import ProgressCount, ProgressDisplay
from seq2see.session.parts import FilesTranslated, translate_files

_SECONDS = 5.0  # between two plain lines


class PartProgress(ProgressDisplay):
    """Of all lines of a job: first as they are read, then as they are translated."""

    def __init__(self) -> None:
        super().__init__(every=_SECONDS)
        self.kept: tuple[int, int] | None = None  # lines that are done, of how many
        self._now: tuple[str, ProgressCount] | None = None

    def advance(self, what: str, done: int, total: int | None) -> None:
        if self._now is None or self._now[0] != what:
            self.finish_all()
            self._now = what, self.count(what, total=total, unit="lines", before=done if total is not None else 0)
        self._now[1].update(done, total)
        if total is not None:
            self.kept = done, total


def translate_with_ray(names: Sequence[str], out: Path, ray: str, report: Path | None, **asked: Any) -> None:
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with PartProgress() as progress:
            try:
                done = translate_files(
                    inputs=names,
                    out=out,
                    ray=ray,
                    report=report,
                    say=progress.message,
                    advance=progress.advance,
                    **asked,
                )
            except BaseException:
                if progress.kept is not None and progress.kept[0]:
                    kept, total = progress.kept
                    command = shlex.join(["seq2see", *sys.argv[1:]])
                    say(f"{kept:,} of {total:,} lines are done and kept in {out}; the same command goes on: {command}")
                raise
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGTERM, before)
    _tell(done, out)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _tell(done: FilesTranslated, out: Path) -> None:
    files = len(done.outputs)
    parts = [f"{done.lines:,} lines in {files:,} file{'s' if files > 1 else ''} in {out}"]
    for problem, look in done.look.items():
        first = ", ".join(f"{done.outputs[file].name} {line}" for file, line in look.first)
        parts.append(f"{look.results:,} {problem} ({first}{', ...' if look.results > len(look.first) else ''})")
    if done.report is not None:
        parts.append(f"{done.report} lists them")
    say("; ".join(parts))
