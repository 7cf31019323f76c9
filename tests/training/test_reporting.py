"""What training tells the person in front of it."""

import io

import pytest
from rich.console import Console

from seq2see import progress as progress_module
from seq2see.runs.checkpoint import Progress
from seq2see.training.loop.task import Update
from seq2see.training.reporting import ConsoleReporter


@pytest.mark.parametrize("before", [0, 400])
def test_time_left_leaves_out_what_was_read_before(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading took 100 s, an update takes 2 s; before: updates of an earlier session of this run, of 9 s each."""
    monkeypatch.setattr(progress_module, "PLAIN_SECONDS", 0.0)
    printed = io.StringIO()
    reporter = ConsoleReporter(Console(file=printed, width=200))
    for made in range(1, 11):
        step = before + made
        update = Update(step, 0, 1.0, 10, 1e-3, 1.0, 2.0)
        reporter.update(update, Progress(step=step, seconds=100.0 + 9.0 * before + 2.0 * made, total=before + 10))
    lines = printed.getvalue().splitlines()
    assert lines[0].endswith(" 18 s left")
    assert lines[-1].endswith(" 0 s left")
