"""A bar in a terminal, plain lines elsewhere."""

import io
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from seq2see import progress
from seq2see.progress import ProgressDisplay, duration


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        # Of this module alone: a server of other tests, in a thread of this process, would sleep by it for hours.
        monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def plain(every: float = 10.0, **settings: bool) -> tuple[ProgressDisplay, io.StringIO]:
    printed = io.StringIO()
    return ProgressDisplay(Console(file=printed, width=80), every=every, **settings), printed


def test_a_line_comes_when_its_time_has_come_and_not_before(clock: Clock) -> None:
    display, printed = plain()
    count = display.count("reading", unit="pairs")
    for _ in range(25):
        clock.now += 1
        count.advance(100)
    assert printed.getvalue() == "reading: 1,100 pairs (100 a second)\nreading: 2,200 pairs (100 a second)\n"


def test_speed_and_time_left_leave_out_what_was_done_before(clock: Clock) -> None:
    display, printed = plain()
    count = display.count(total=1_000, unit="lines", before=600)
    clock.now += 20
    count.update(700)
    assert printed.getvalue() == "700 of 1,000 lines (5.0 a second, 60 s left)\n"


def test_a_share_of_the_work_gives_a_time_left_without_a_total(clock: Clock) -> None:
    display, printed = plain()
    count = display.count(unit="lines")
    clock.now += 30
    count.update(9_000, share=0.25)
    assert printed.getvalue() == "9,000 lines (300 a second, 90 s left)\n".replace("90 s", duration(90))


def test_several_counts_share_a_line_and_a_finished_one_is_gone(clock: Clock) -> None:
    display, printed = plain()
    first, second = display.count("a", total=4, rate=False), display.count("b")
    first.update(1, line="a at 1")
    second.update(2, line="b at 2")
    display.flush()
    display.flush()  # nothing new
    first.finish()
    second.update(3, line="b at 3", now=True)
    assert printed.getvalue() == "a at 1   b at 2\nb at 3\n"


def test_quiet_shows_messages_only(clock: Clock) -> None:
    display, printed = plain(every=0, quiet=True)
    count = display.count("reading")
    clock.now += 60
    count.advance()
    display.flush()
    display.message("a [sentence] of its own")
    assert printed.getvalue() == "a [sentence] of its own\n"


@pytest.mark.parametrize("bar_width", [0, 10])
def test_a_terminal_gets_a_bar_with_the_same_figures(bar_width: int) -> None:
    printed = io.StringIO()
    console = Console(file=printed, width=100, force_terminal=True, color_system=None)
    with ProgressDisplay(console, bar_width=bar_width, transient=False) as display:
        count = display.count("reading", total=2_000, unit="pairs", rate=False)
        count.update(1_500, detail="loss 2.5")
        display.message("above")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed.getvalue())
    assert "1,500 of 2,000 pairs loss 2.5" in shown
    assert "above" in shown
    assert ("━" in shown) == bool(bar_width)


@pytest.mark.parametrize(
    ("seconds", "text"), [(12.4, "12 s"), (89, "89 s"), (180, "3 min"), (3_600 + 300, "1 h 05 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
