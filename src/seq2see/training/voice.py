"""The console as the voice of a training run: reading bars, the live line, plain lines where nobody watches."""

import time
from collections.abc import Callable

from seq2see.training.checkpoint import Progress
from seq2see.training.loop import Update, Validation
from seq2see.training.reporting import Report
from seq2see.training.run import Voice

_SECONDS = 5.0  # between two lines that count


class ConsoleVoice(Voice):
    """Implements run.Voice on stderr."""

    def __init__(self) -> None:
        self.report = Report(0)

    def __enter__(self) -> "ConsoleVoice":
        return self

    def __exit__(self, *problem: object) -> None:
        self.report.__exit__(*problem)

    def message(self, text: str) -> None:
        self.report.message(text)

    def update(self, update: Update, progress: Progress) -> None:
        self.report.update(update, progress)

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None:
        self.report.validation(validation, progress, better=better)

    def total(self, steps: int) -> None:
        self.report.total = steps
        self.report.__enter__()

    def counting(self, what: str) -> Callable[[int], None]:
        """A line every few seconds, so that a long read is seen to move."""
        began = told = time.monotonic()
        count = 0

        def advance(pairs: int) -> None:
            nonlocal told, count
            count += pairs
            if time.monotonic() - told > _SECONDS:
                told = time.monotonic()
                self.message(f"{what}: {count:,} ({count / (told - began):,.0f} a second)")

        return advance
