"""What training tells the person in front of it: a live line in a terminal, plain lines elsewhere; always on stderr."""

from collections.abc import Callable
from typing import Protocol

from rich.console import Console

from seq2see.progress import PLAIN_SECONDS, ProgressCount, ProgressDisplay, duration
from seq2see.runs.checkpoint import Progress
from seq2see.training.loop.task import Reporter, Update, Validation


class RunReporter(Reporter, Protocol):
    """A reporter that also counts pairs while they are read, and learns how many updates there will be."""

    def counting(self, what: str) -> Callable[[int], None]: ...

    def total(self, steps: int, *, at_most: bool = False) -> None: ...


def memory() -> float:
    """Megabytes this process holds."""
    try:
        with open("/proc/self/statm") as file:  # noqa: PTH123 - not a file of ours
            return int(file.read().split()[1]) * 4096 / 1e6
    except OSError:
        return 0.0


class Speed:
    """Target tokens a second, as a moving average over updates."""

    def __init__(self) -> None:
        self._mean = 0.0

    def add(self, update: Update) -> float:
        speed = update.positions / max(update.seconds, 1e-9)
        self._mean = speed if not self._mean else 0.95 * self._mean + 0.05 * speed
        return self._mean


class ConsoleReporter:
    """Implements RunReporter on stderr: a live line in a terminal, plain lines every few seconds elsewhere."""

    def __init__(self, console: Console | None = None) -> None:
        self._reading = ProgressDisplay(console, every=PLAIN_SECONDS / 2)
        self._updates = ProgressDisplay(self._reading.console, bar_width=0, transient=False)
        self._steps: ProgressCount | None = None
        self._speed = Speed()
        self._first: tuple[int, float] | None = None  # a step of this process, and the seconds before it
        self._scores = ""
        self._at_most = ""

    def __enter__(self) -> "ConsoleReporter":
        return self

    def __exit__(self, *problem: object) -> None:
        self._reading.stop()
        self._updates.stop()

    def total(self, steps: int, *, at_most: bool = False) -> None:
        self._reading.finish_all()
        self._steps = self._updates.count(total=steps, rate=False)
        self._at_most = "at most " if at_most else ""

    def counting(self, what: str) -> Callable[[int], None]:
        """A counting bar in a terminal, elsewhere a line every few seconds: a long read is seen to move."""
        self._reading.finish_all()
        return self._reading.count(what).advance

    def update(self, update: Update, progress: Progress) -> None:
        if self._steps is None:
            self.total(progress.total)
        assert self._steps is not None
        figures = (
            f"epoch {update.epoch + 1}  loss {update.loss:.3f}  {self._speed.add(update):,.0f} tokens/s  "
            f"rate {update.rate:.2e}  gradient {update.norm:.2f}  {self._scores}{memory():,.0f} MB"
        )
        if self._first is None:  # reading the pairs is not counted: it happens once
            self._first = update.step - 1, progress.seconds - update.seconds
        step, seconds = self._first
        left = (progress.total - update.step) * (progress.seconds - seconds) / (update.step - step)
        line = f"step {update.step}/{progress.total}  {figures}  {self._at_most}{duration(left)} left"
        first_or_last = not self._steps.done or update.step == progress.total
        self._steps.update(update.step, progress.total, detail=figures, line=line, now=first_or_last)

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None:
        scores = "  ".join(f"{name} {value:.3f}" for name, value in validation.scores.items())
        self._scores = f"validation {scores}  "
        say = self._updates.message
        say(f"validation at step {progress.step}: {scores}{'  (best so far)' if better else ''}")
        for source, reference, output in validation.samples:
            say(f"    source     {_short(source)}")
            say(f"    reference  {_short(reference)}")
            say(f"    output     {_short(output)}")

    def message(self, text: str) -> None:
        self._reading.finish_all()
        self._updates.message(text)


class SilentReporter:
    """Implements RunReporter by saying nothing: metrics.jsonl has it all."""

    def total(self, steps: int, *, at_most: bool = False) -> None: ...

    def counting(self, what: str) -> Callable[[int], None]:
        return lambda pairs: None

    def update(self, update: Update, progress: Progress) -> None: ...

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None: ...

    def message(self, text: str) -> None: ...


def _short(text: str, longest: int = 160) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
