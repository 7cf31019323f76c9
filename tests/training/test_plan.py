"""A schedule that is fitted to the time, planned again when the machine is not as fast as it was measured."""

from itertools import pairwise
from pathlib import Path

import pytest

from seq2see.training.loop.plan import PACE, Costs, Decision, Pace, read_decisions, read_reviewed, write_pace


def drive(
    pace: Pace, limit: float, seconds: "list[float] | None" = None, *, validation: float = 0.0
) -> tuple[int, float]:
    """Trains by a clock of its own: seconds[i] is what update i + 1 takes, the last one all others."""
    step, now = 0, 0.0
    costs = seconds or [1.0]
    while step < pace.total(step):
        step += 1
        cost = costs[min(step, len(costs)) - 1]
        now += cost + (validation if step % 10 == 0 else 0.0)
        if pace.is_review(step):
            pace.review(step, limit - now, Costs(cost, validation), validate_every=10, save_every=1000)
    return step, now


def test_as_long_as_the_machine_keeps_its_word_the_plan_is_the_steps() -> None:
    pace = Pace(100)
    assert drive(pace, limit=100.0) == (100, 100.0)
    assert pace.decisions == []
    assert [pace.planned_step(step) for step in (1, 50, 100)] == [1, 50, 100]


@pytest.mark.parametrize("factor", [0.4, 3.0, 10.0])
def test_a_machine_that_changes_its_speed_still_ends_the_plan_in_time(factor: float) -> None:
    pace = Pace(400)
    step, used = drive(pace, 400.0, [1.0] * 100 + [factor])
    assert used == pytest.approx(400.0, rel=0.05)
    assert pace.planned_step(step) == pytest.approx(400)
    planned = [pace.planned_step(number) for number in range(1, step + 1)]
    assert all(before < after for before, after in pairwise(planned))


def test_a_fast_machine_makes_no_more_updates_than_were_asked_for() -> None:
    pace = Pace(10, most=12)
    assert drive(pace, limit=1000.0)[0] == 12


def test_a_run_that_is_given_more_time_goes_on_beyond_its_steps() -> None:
    pace = Pace(50, most=12)
    assert drive(pace, limit=50.0)[0] == 50


def test_the_last_validation_fits() -> None:
    pace = Pace(400)
    step, used = drive(pace, 400.0, [1.0], validation=5.0)
    assert used <= 400.0
    assert used > 370.0
    assert step < 400


def test_decisions_are_repeated_after_a_kill(tmp_path: Path) -> None:
    pace = Pace(400)
    drive(pace, 400.0, [1.0] * 100 + [3.0])
    write_pace(tmp_path, pace)
    again = Pace(400, read_decisions(tmp_path), reviewed=read_reviewed(tmp_path))
    assert again.decisions == pace.decisions
    assert [again.planned_step(step) for step in range(250)] == [pace.planned_step(step) for step in range(250)]


def test_a_torn_line_does_not_count(tmp_path: Path) -> None:
    decisions = [Decision(10, 10.0, 90), Decision(20, 22.5, 80)]
    write_pace(tmp_path, Pace(100, decisions, reviewed=30))
    assert (read_decisions(tmp_path), read_reviewed(tmp_path)) == (decisions, 30)
    path = tmp_path / PACE
    path.write_text(path.read_text()[:-4])
    assert (read_decisions(tmp_path), read_reviewed(tmp_path)) == (decisions, 20)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2])[:-4])
    assert (read_decisions(tmp_path), read_reviewed(tmp_path)) == (decisions[:1], 10)
    assert (read_decisions(tmp_path / "nowhere"), read_reviewed(tmp_path / "nowhere")) == ([], 0)
