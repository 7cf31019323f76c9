"""What a person sees while cells are trained: a live table in a terminal, plain lines elsewhere; always on stderr."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from seq2see.progress import PLAIN_SECONDS, duration
from seq2see.study.execution.cell_run import CellJob, CellOutcome
from seq2see.study.execution.pool import CellReport
from seq2see.training.process import News, TrainingFailure

_ROWS = 20  # of cells under way that are shown, and of failures


@dataclass
class CellProgress:
    """A cell under way."""

    began: float
    first_step: int | None = None
    news: News | None = None
    note: str = ""

    def left(self) -> float | None:
        """Seconds, by the speed of this session."""
        if self.news is None or self.first_step is None or self.news.step <= self.first_step:
            return None
        each = (time.monotonic() - self.began) / (self.news.step - self.first_step)
        return each * (self.news.total - self.news.step)

    def figures(self) -> str:
        """Update, loss and time left; before the first update, what it is doing."""
        if self.news is None or self.note:
            return self.note
        left = self.left()
        behind = "" if left is None else f"  {duration(left)} left"
        return f"{self.news.step:,}/{self.news.total:,}  loss {self.news.loss:.3f}{behind}"


class StudyReporter:
    """Counts cells that are done, shows those that run, names those that failed."""

    def __init__(self, total: int, done: int, console: Console | None = None, *, every: float = PLAIN_SECONDS) -> None:
        self.console = console or Console(stderr=True, highlight=False)
        self.total, self.done = total, done
        self.failures: dict[str, str] = {}
        self._running: dict[str, CellProgress] = {}
        self._every, self._printed = every, time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> "StudyReporter":
        if self.console.is_terminal:
            self._live = Live(self._table(), console=self.console, refresh_per_second=2, transient=True)
            self._live.start()
        return self

    def __exit__(self, *problem: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def message(self, text: str) -> None:
        self.console.print(Text(text), soft_wrap=True)

    def hear(self, job: CellJob, report: CellReport) -> None:
        if isinstance(report, CellOutcome | TrainingFailure):
            self._ended(job, report)
        else:
            cell = self._running.setdefault(job.name, CellProgress(time.monotonic()))
            if isinstance(report, News):
                if cell.first_step is None:
                    cell.first_step, cell.began = report.step, time.monotonic()
                cell.news, cell.note = report, ""
            else:
                cell.note = " ".join(report.text.split())  # a report on pairs has columns
        self._show()

    def _ended(self, job: CellJob, report: CellOutcome | TrainingFailure) -> None:
        self._running.pop(job.name, None)
        if isinstance(report, TrainingFailure):
            self.failures[job.name] = report.text
            self.message(f"{job.name}: failed: {report.text}")
        else:
            self.done += 1
            entry = report.entry
            minutes = entry["clock"]["minutes"]
            self.message(
                f"{job.name}: done, {entry['updates']:,} updates in {minutes:.1f} CPU minutes; {self._counted()}"
            )

    def _counted(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        waiting = self.total - self.done - len(self._running) - len(self.failures)
        return f"{self.done} of {self.total} done, {len(self._running)} running, {waiting} waiting{failed}"

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(self._table())
        elif time.monotonic() - self._printed > self._every:
            self._printed = time.monotonic()
            lines = [f"{name} {cell.figures()}" for name, cell in self._running.items()]
            self.message("   ".join([self._counted(), *lines[:_ROWS]]))

    def _table(self) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=self._counted(), title_justify="left")
        for head in ("cell", "update", "loss", "left"):
            table.add_column(head, justify="left" if head == "cell" else "right")
        for name, cell in list(self._running.items())[:_ROWS]:
            table.add_row(*map(Text, _row(name, cell)))
        for name in list(self.failures)[-_ROWS:]:
            table.add_row(Text(name), Text("failed"), "", "")
        return table


def _row(name: str, cell: CellProgress) -> Sequence[str]:
    if cell.news is None or cell.note:
        return name, cell.note[:60], "", ""
    left = cell.left()
    return (
        name,
        f"{cell.news.step:,}/{cell.news.total:,}",
        f"{cell.news.loss:.3f}",
        "" if left is None else duration(left),
    )
