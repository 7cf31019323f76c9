"""What a person sees while both models train: two live bars in a terminal, plain lines elsewhere; always on stderr."""

from rich.console import Console

from seq2see.demo.plan import FAMILIES, Family
from seq2see.progress import ProgressCount, ProgressDisplay
from seq2see.training.process import News, Note


class DemoReporter:
    """Implements parallel.Listener by its method `hear`."""

    def __init__(self, console: Console | None = None) -> None:
        self._display = ProgressDisplay(console, transient=False)
        self._counts: dict[Family, ProgressCount] = {}

    def __enter__(self) -> "DemoReporter":
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Takes the bars away; without bars, prints how far both trainings came."""
        self._display.flush()
        self._display.stop()

    def message(self, text: str) -> None:
        self._display.message(text)

    def hear(self, family: Family, report: News | Note) -> None:
        if not self._counts:  # in the same order, whoever reports first
            self._counts = {name: self._display.count(f"{name:<9}", rate=False) for name in FAMILIES}
        count = self._counts[family]
        if isinstance(report, News):
            detail = f"loss {report.loss:5.3f}  {report.speed:6,.0f} tokens/s"
            count.update(report.step, report.total, detail=detail, line=_line(family, report))
        else:
            count.note(report.text[:60])


def _line(family: Family, news: News) -> str:
    return f"{family} {news.step:,}/{news.total:,} loss {news.loss:.3f} {news.speed:,.0f} tokens/s"
