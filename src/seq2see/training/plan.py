"""How many updates there will be: steps, epochs, or as many as fit a time limit.

checkpoints/plan.json    what fitted the time limit when it was measured, and of which settings

A run that is resumed must not measure again: the schedule follows from the number of updates, so that another number
gives other weights.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from seq2see import atomic
from seq2see.runs.checkpoint import Progress
from seq2see.runs.config import TrainingConfig
from seq2see.training.pace import PACE

_PLAN = Path("checkpoints", "plan.json")

Say = Callable[[str], None]


def plan_updates(
    out: Path,
    training: TrainingConfig,
    before: TrainingConfig,
    progress: Progress,
    *,
    most: int,
    cost: float,
    share: float,
    say: Say,
) -> int:
    """The number of the last update.

    before   the settings so far: a time limit that is new allows a run that has made all its updates further ones
    most     updates by steps or epochs;  cost: seconds of one;  share: of the time that is for updates
    """
    if training.time_limit is None:
        return most
    planned = _read(out, training)
    if planned is not None:
        return planned
    if progress.total and _length(training) == _length(before):  # of an older seq2see, which kept no plan
        return progress.total
    left = training.time_limit - progress.seconds
    if left <= 0:
        say(f"the time limit of {training.time_limit:.0f} s is used up; --time-limit gives a resumed run more")
        return progress.step
    fitting = progress.step + max(1, int(share * left / cost))
    is_longer = training.time_limit != before.time_limit and progress.step >= most
    return fitting if is_longer else min(most, fitting)


def fitted(total: int, most: int) -> str:
    """What is said behind the number of updates, if the time limit is what makes them so few."""
    return ", as many as fit the time limit" if total < most else ""


def remember_plan(out: Path, training: TrainingConfig, total: int) -> None:
    if training.time_limit is None or _read(out, training) == total:
        return
    (out / _PLAN).parent.mkdir(parents=True, exist_ok=True)
    (out / PACE).unlink(missing_ok=True)  # what was decided on the way belongs to the plan before
    atomic.write_json(out / _PLAN, _length(training) | {"total": total})


def _read(out: Path, training: TrainingConfig) -> int | None:
    """The plan for exactly these settings."""
    try:
        saved = atomic.read_json(out / _PLAN)
        return int(saved["total"]) if saved == _length(training) | {"total": saved["total"]} else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _length(training: TrainingConfig) -> dict[str, Any]:
    return {"steps": training.steps, "epochs": training.epochs, "time_limit": training.time_limit}
