"""Progress on standard error: a bar in a terminal, elsewhere a line now and then."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from seq2see.session.files.lines import Lines

_COUNT_SECONDS, _FILE_SECONDS = 5.0, 10.0  # between two lines


class CountProgress:
    """Of things that are counted, several one after the other."""

    def __enter__(self) -> "CountProgress":
        console = Console(stderr=True, highlight=False)
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._bars = Progress(*columns, console=console, transient=True) if console.is_terminal else None
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def counting(self, what: str, total: int) -> Callable[[int], None]:
        if self._bars is not None:
            bars, task = self._bars, self._bars.add_task(what, total=total)
            return lambda more: bars.advance(task, more)
        printed, done = time.monotonic(), 0

        def advance(more: int) -> None:
            nonlocal printed, done
            done += more
            if time.monotonic() - printed > _COUNT_SECONDS:
                printed = time.monotonic()
                print(f"{what}: {done:,} of {total:,}", file=sys.stderr)

        return advance


class LineProgress:
    """Of lines, by how much of the file has been read."""

    def __init__(self, file: Path | None, lines: "Lines", before: int = 0) -> None:
        """before: lines that an earlier call has done."""
        self._size = None if file is None or file.suffix == ".gz" else file.stat().st_size
        self._lines, self._began, self._printed = lines, time.monotonic(), time.monotonic()
        self._before = self._count = before
        self._bar: Progress | None = None
        console = Console(stderr=True)
        self._quiet = file is None
        if file is not None and console.is_terminal:
            speed = TextColumn("{task.fields[count]:,} lines  {task.fields[speed]:,.0f} a second")
            columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), speed)
            self._bar = Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task("", total=self._size, count=before, speed=0.0)

    def advance(self) -> None:
        self._count += 1
        if self._quiet or (self._count % 16 and self._bar is None):
            return
        now = time.monotonic()
        speed = (self._count - self._before) / max(now - self._began, 1e-9)
        if self._bar is not None:
            # What was read runs ahead of what is done, by the lines that are under way.
            share = self._lines.bytes_read * self._count / max(1, self._lines.count)
            self._bar.update(self._task, completed=share, count=self._count, speed=speed)
        elif now - self._printed > _FILE_SECONDS:
            self._printed = now
            print(f"{self._count:,} lines ({speed:,.0f} a second)", file=sys.stderr)

    def __enter__(self) -> "LineProgress":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()


class DocumentProgress:
    """Of the segments of a document."""

    def __init__(self, *, quiet: bool) -> None:
        console = Console(stderr=True)
        self._quiet = quiet
        self._bar: Progress | None = None
        if console.is_terminal and not quiet:
            self._bar = Progress(
                BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console, transient=True
            )
            self._task = self._bar.add_task("", total=None)
        self._printed = time.monotonic()

    def advance(self, done: int, total: int | None) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)
        elif not self._quiet and time.monotonic() - self._printed > _FILE_SECONDS:
            self._printed = time.monotonic()
            print(f"{done:,} of {total:,} segments" if total else f"{done:,} segments", file=sys.stderr)

    def __enter__(self) -> "DocumentProgress":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._bar is not None:
            self._bar.stop()
