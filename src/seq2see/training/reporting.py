"""What training tells the person in front of it: a live line in a terminal, plain lines elsewhere; always on stderr."""

import time
from collections.abc import Callable
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from seq2see.runs.checkpoint import Progress as Standing
from seq2see.training.loop import Reporter, Update, Validation

_PLAIN_SECONDS = 10.0  # between two plain lines


class RunReporter(Reporter, Protocol):
    """A reporter that also counts pairs while they are read, and learns how many updates there will be."""

    def counting(self, what: str) -> Callable[[int], None]: ...

    def total(self, steps: int) -> None: ...


def memory() -> float:
    """Megabytes this process holds."""
    try:
        with open("/proc/self/statm") as file:  # noqa: PTH123 - not a file of ours
            return int(file.read().split()[1]) * 4096 / 1e6
    except OSError:
        return 0.0


class ConsoleReporter:
    """Implements Voice on stderr: a live line in a terminal, plain lines every few seconds elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False)
        self._told = 0.0
        self._speed = 0.0
        self._score = ""
        self._bars: list[Progress] = []
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> "ConsoleReporter":
        return self

    def __exit__(self, *problem: object) -> None:
        self._stop_bar()
        if self._progress is not None:
            self._progress.stop()

    def total(self, steps: int) -> None:
        if not self.console.is_terminal:
            return
        self._progress = Progress(
            SpinnerColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=self.console,
        )
        self._progress.start()
        self._task = self._progress.add_task("", total=steps)

    def counting(self, what: str) -> Callable[[int], None]:
        """A counting bar in a terminal, elsewhere a line every few seconds: a long read is seen to move."""
        if self.console.is_terminal:
            return self._bar(what)
        began = told = time.monotonic()
        count = 0

        def advance(pairs: int) -> None:
            nonlocal told, count
            count += pairs
            if time.monotonic() - told > _PLAIN_SECONDS / 2:
                told = time.monotonic()
                self.message(f"{what}: {count:,} ({count / (told - began):,.0f} a second)")

        return advance

    def _bar(self, what: str) -> Callable[[int], None]:
        """How many pairs there will be is not known while they stream past, so the bar pulses and counts."""
        self._stop_bar()
        speed = TextColumn("{task.completed:,} pairs  {task.fields[speed]:,.0f} a second")
        bar = Progress(TextColumn("{task.description}"), BarColumn(), speed, console=self.console, transient=True)
        task = bar.add_task(what, total=None, speed=0.0)
        began = time.monotonic()
        count = 0

        def advance(pairs: int) -> None:
            nonlocal count
            count += pairs
            bar.start()
            bar.update(task, completed=count, speed=count / max(time.monotonic() - began, 1e-9))

        self._bars.append(bar)
        return advance

    def _stop_bar(self) -> None:
        while self._bars:
            self._bars.pop().stop()

    def update(self, update: Update, progress: Standing) -> None:
        now = update.positions / max(update.seconds, 1e-9)
        self._speed = now if not self._speed else 0.95 * self._speed + 0.05 * now
        line = (
            f"epoch {update.epoch + 1}  loss {update.loss:.3f}  {self._speed:,.0f} tokens/s  rate {update.rate:.2e}  "
            f"gradient {update.norm:.2f}  {self._score}{memory():,.0f} MB"
        )
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=update.step, total=progress.total, description=line)
        elif time.monotonic() - self._told > _PLAIN_SECONDS or update.step == progress.total:
            self._told = time.monotonic()
            left = (progress.total - update.step) * progress.seconds / max(1, update.step)
            self._say(f"step {update.step}/{progress.total}  {line}  {duration(left)} left")

    def validation(self, validation: Validation, progress: Standing, *, better: bool) -> None:
        scores = "  ".join(f"{name} {value:.3f}" for name, value in validation.scores.items())
        self._score = f"validation {scores}  "
        self._say(f"validation at step {progress.step}: {scores}{'  (best so far)' if better else ''}")
        for source, reference, output in validation.samples:
            self._say(f"    source     {_short(source)}")
            self._say(f"    reference  {_short(reference)}")
            self._say(f"    output     {_short(output)}")

    def message(self, text: str) -> None:
        self._stop_bar()
        self._say(text)

    def _say(self, text: str) -> None:
        # Text and not markup: a sentence may hold [brackets].
        self.console.print(Text(text), soft_wrap=True)


class SilentReporter:
    """Implements Voice by saying nothing: metrics.jsonl has it all."""

    def total(self, steps: int) -> None: ...

    def counting(self, what: str) -> Callable[[int], None]:
        return lambda pairs: None

    def update(self, update: Update, progress: Standing) -> None: ...

    def validation(self, validation: Validation, progress: Standing, *, better: bool) -> None: ...

    def message(self, text: str) -> None: ...


def _short(text: str, longest: int = 160) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def duration(seconds: float) -> str:
    """12 s, 3 min, 1 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
