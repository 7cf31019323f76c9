"""What a person sees while both models train: two live bars in a terminal, plain lines elsewhere; always on stderr."""

import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from seq2see.demo.parallel import News, Note
from seq2see.demo.plan import Family

_PLAIN_SECONDS = 10.0  # between two plain lines


class Watching:
    """A listener of `train_both`."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False)
        self._printed = time.monotonic()
        self._changed = False
        self._latest: dict[Family, News] = {}
        self._tasks: dict[Family, TaskID] = {}
        self._bars = Progress(
            TextColumn("{task.fields[family]:<9}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.description}", markup=False),
            TimeRemainingColumn(compact=True),
            console=self.console,
        )

    def __enter__(self) -> "Watching":
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Takes the bars away; without bars, prints how far both trainings came."""
        if self._bars.live.is_started:
            self._bars.stop()
        elif self._changed:
            self._print_latest()

    def say(self, text: str) -> None:
        self.console.print(Text(text), soft_wrap=True)

    def heard(self, family: Family, said: News | Note) -> None:
        if isinstance(said, News):
            self._latest[family] = said
        if self.console.is_terminal:
            self._bar(family, said)
        elif isinstance(said, News):
            self._changed = True
            if time.monotonic() - self._printed > _PLAIN_SECONDS:
                self._print_latest()

    def _print_latest(self) -> None:
        self._changed, self._printed = False, time.monotonic()
        self.say("   ".join(_line(name, news) for name, news in sorted(self._latest.items())))

    def _bar(self, family: Family, said: News | Note) -> None:
        if family not in self._tasks:
            self._bars.start()
            self._tasks[family] = self._bars.add_task("", total=None, family=family)
        if isinstance(said, Note):
            self._bars.update(self._tasks[family], description=said.text[:60])
            return
        told = f"loss {said.loss:5.3f}  {said.speed:6,.0f} tokens/s"
        self._bars.update(self._tasks[family], completed=said.step, total=said.total, description=told)


def _line(family: Family, news: News) -> str:
    return f"{family} {news.step:,}/{news.total:,} loss {news.loss:.3f} {news.speed:,.0f} tokens/s"
