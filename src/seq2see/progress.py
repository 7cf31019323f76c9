"""How far a piece of work is: a bar in a terminal, elsewhere a line every few seconds; always on stderr.

with ProgressDisplay() as display:
    pairs = display.count("reading pairs", unit="pairs")       how many there will be is not known: the bar pulses
    pairs.advance(64)
    lines = display.count(unit="lines", total=2_000)           with a total there is a time left
    lines.update(1_200)
    display.message("anything else worth a line")
"""

import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

PLAIN_SECONDS = 10.0  # between two plain lines


class ProgressDisplay:
    """The counts under way, one bar below the other; where there is no terminal, all of them in one line."""

    def __init__(
        self,
        console: Console | None = None,
        *,
        every: float = PLAIN_SECONDS,
        bar_width: int = 24,
        transient: bool = True,
        quiet: bool = False,
    ) -> None:
        """
        every       seconds between two plain lines
        bar_width   columns; 0: a spinner instead, which leaves room for figures
        transient   bars are wiped out at the end
        quiet       nothing is shown but messages
        """
        self.console = console or Console(stderr=True, highlight=False)
        self.bars: Progress | None = None
        self._every = every
        self._counts: list[ProgressCount] = []
        self._printed = time.monotonic()
        self._changed = False
        self._quiet = quiet
        if self.console.is_terminal and not quiet:
            self.bars = Progress(*_columns(bar_width), console=self.console, transient=transient)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    def count(
        self, what: str = "", *, total: int | None = None, unit: str = "", before: int = 0, rate: bool = True
    ) -> "ProgressCount":
        """A new count, shown from its first update on.

        what     stands in front
        before   how many were done by an earlier call: they do not count for the speed
        rate     whether the number done in a second is shown
        """
        count = ProgressCount(self, what, total, unit, before, rate=rate)
        self._counts.append(count)
        return count

    def message(self, text: str) -> None:
        """One line, above the bars if there are any."""
        self.console.print(Text(text), soft_wrap=True)  # not markup: a sentence may hold [brackets]

    def changed(self, count: "ProgressCount", *, now: bool = False) -> None:
        """Called by a count: a plain line if it is time for one, or `now`."""
        if count not in self._counts:  # it was finished, and goes on
            self._counts.append(count)
        self._changed = True
        if now or time.monotonic() - self._printed > self._every:
            self.flush()

    def flush(self) -> None:
        """Prints where all counts stand, unless that is shown already."""
        lines = [count.line for count in self._counts if count.line]
        if self._changed and lines and self.bars is None and not self._quiet:
            self.message("   ".join(lines))
        self._changed, self._printed = False, time.monotonic()

    def remove(self, count: "ProgressCount") -> None:
        """Called by a count that is finished."""
        if count in self._counts:
            self._counts.remove(count)

    def finish_all(self) -> None:
        for count in list(self._counts):
            count.finish()

    def stop(self) -> None:
        """Takes the bars away."""
        if self.bars is not None:
            self.bars.stop()


class ProgressCount:
    """One thing that is counted; made by `ProgressDisplay.count`."""

    def __init__(
        self, display: ProgressDisplay, what: str, total: int | None, unit: str, before: int, *, rate: bool
    ) -> None:
        self.what, self.total, self.done = what, total, before
        self.line = ""  # where it stands, for a place without bars
        self._display, self._unit, self._before, self._rate = display, unit, before, rate
        self._share: float | None = None
        self._share_before: float | None = None
        self._began = time.monotonic()
        self._row: TaskID | None = None

    def advance(self, more: int = 1) -> None:
        self.update(self.done + more)

    def update(
        self,
        done: int,
        total: int | None = None,
        *,
        share: float | None = None,
        detail: str = "",
        line: str | None = None,
        now: bool = False,
    ) -> None:
        """
        total    if it was not known before, or has changed
        share    how much of the work this is, in 0..1, where the total is not known but, say, the size of a file is
        detail   stands behind the figures of a bar
        line     the plain line, if it is not to be made from the figures
        now      the plain line is not to wait for its time
        """
        self.done = done
        self.total = self.total if total is None else total
        self._share = share if share is not None else done / self.total if self.total else None
        if self._share_before is None and self._share is not None:
            self._share_before = self._before / self.total if self.total else 0.0
        if self._display.bars is not None:
            self._draw(self._display.bars, detail)
            return
        self.line = self._text() if line is None else line
        self._display.changed(self, now=now)

    def note(self, detail: str) -> None:
        """What is being done meanwhile, behind the figures of a bar; there is no line for it elsewhere."""
        if self._display.bars is not None:
            self._draw(self._display.bars, detail)

    def finish(self) -> None:
        """Its bar goes."""
        if self._display.bars is not None and self._row is not None:
            self._display.bars.remove_task(self._row)
            self._row = None
            if not self._display.bars.tasks:
                self._display.bars.stop()
        self._display.remove(self)

    def _draw(self, bars: Progress, detail: str) -> None:
        if self._row is None:
            self._row = bars.add_task(self.what, total=None, figures="", detail="")
            bars.start()
        total = None if self._share is None else 1.0
        bars.update(self._row, completed=self._share or 0.0, total=total, figures=self._figures(), detail=detail)

    def _text(self) -> str:
        left = self._seconds_left()
        figures = self._figures(rate=False)
        behind = [*([self._speed()] if self._rate else []), *([f"{duration(left)} left"] if left is not None else [])]
        front = f"{self.what}: " if self.what else ""
        return f"{front}{figures}" + (f" ({', '.join(behind)})" if behind else "")

    def _figures(self, *, rate: bool = True) -> str:
        """1,200 of 2,000 lines  340 a second."""
        counted = f"{self.done:,} of {self.total:,}" if self.total is not None else f"{self.done:,}"
        named = f"{counted} {self._unit}" if self._unit else counted
        return f"{named}  {self._speed()}" if rate and self._rate else named

    def _speed(self) -> str:
        speed = (self.done - self._before) / max(time.monotonic() - self._began, 1e-9)
        return f"{speed:,.0f} a second" if speed >= 10 else f"{speed:.1f} a second"

    def _seconds_left(self) -> float | None:
        if self._share is None or self._share_before is None or self._share <= self._share_before:
            return None
        elapsed = time.monotonic() - self._began
        return elapsed * (1 - self._share) / (self._share - self._share_before)


def _columns(bar_width: int) -> list[ProgressColumn]:
    return [
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=bar_width) if bar_width else SpinnerColumn(),
        TextColumn("{task.fields[figures]}", markup=False),
        TextColumn("{task.fields[detail]}", markup=False),
        TimeRemainingColumn(compact=True),
    ]


def duration(seconds: float) -> str:
    """12 s, 3 min, 1 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
