"""How many updates there will be: steps, epochs, or as many as fit a time limit; a schedule that ends with that limit.

checkpoints/plan.json     what fitted the time limit when it was measured, and of which settings
checkpoints/pace.jsonl    a line for each time that it was planned again, written before it takes effect; the last line
                          says up to which update the plan was looked at

A run that is resumed must not measure again: the schedule follows from the number of updates, so that another number
gives other weights.

The learning rate is a function of the planned step. As long as the machine is as fast as it was measured, the planned
step is the step. When it slows down (or gets faster), the number of updates is planned again (`Pace`), and from there
on each update counts for more (or less) of the plan, so that the rate is as low at the end as it was meant to be. A run
that was killed repeats these decisions at the same steps, so that resume is exact.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seq2see import atomic
from seq2see.runs.checkpoint import Progress
from seq2see.runs.config import TrainingConfig

_PLAN = Path("checkpoints", "plan.json")
PACE = Path("checkpoints", "pace.jsonl")
_REVIEWS = 40  # of the plan in a run
_TOLERANCE = 0.03  # of the remaining updates; smaller differences are noise

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


def may_end_early(training: TrainingConfig, total: int) -> bool:
    """Whether validation can end it before update `total`; within a time limit that is not what a plan counts on."""
    return training.time_limit is None and training.patience * training.validate_every < total


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


class Decision(NamedTuple):
    """Taken after update `step`, which stood at `planned` of the plan: the last update is `total` now."""

    step: int
    planned: float
    total: int


class Costs(NamedTuple):
    """Seconds, as measured lately."""

    update: float
    validation: float = 0.0
    saving: float = 0.0


class Pace:
    """The plan of `total` updates, and what became of it. `most`: updates that steps or epochs allow, however fast."""

    def __init__(
        self, total: int, decisions: Sequence[Decision] = (), *, reviewed: int = 0, most: int = sys.maxsize
    ) -> None:
        self.planned_total = total
        self.decisions = list(decisions)
        self.reviewed = reviewed  # the last update after which the plan was looked at, before a kill or since
        self.most = max(total, most)  # a finished run that was given more time goes on beyond them

    def planned_step(self, step: int) -> float:
        """Where update `step` stands in the plan; the plan ends at `planned_total`."""
        before = [decision for decision in self.decisions if decision.step < step]
        if not before:
            return step
        last = before[-1]
        share = (step - last.step) / max(1, last.total - last.step)
        return last.planned + min(1.0, share) * (self.planned_total - last.planned)

    def total(self, step: int) -> int:
        """The number of the last update, as decided after update `step`."""
        before = [decision for decision in self.decisions if decision.step <= step]
        return before[-1].total if before else self.planned_total

    def is_review(self, step: int) -> bool:
        """Whether the plan is looked at after this update: never again where a killed run has done so."""
        return step > self.reviewed and step % max(1, self.planned_total // _REVIEWS) == 0

    def review(self, step: int, seconds_left: float, costs: Costs, *, validate_every: int, save_every: int) -> None:
        """Plans again if the time left asks for it. The last validation and saving fit, too."""
        self.reviewed = step
        total = self.total(step)
        each = costs.update + costs.validation / validate_every + costs.saving / save_every
        fitting = max(1, int((seconds_left - costs.validation - costs.saving) / each))
        left = min(fitting, self.most - step)
        remaining = total - step
        if remaining > 0 and abs(left - remaining) > _TOLERANCE * remaining:
            self.decisions.append(Decision(step, self.planned_step(step), step + left))


def read_decisions(run: Path) -> list[Decision]:
    """What was decided so far; a line that was being written when the power went does not count."""
    try:
        lines = (run / PACE).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    decisions = []
    for line in lines:
        try:
            step, planned, total = json.loads(line)
            decisions.append(Decision(int(step), float(planned), int(total)))
        except (ValueError, TypeError, RecursionError):
            break
    return decisions


def read_reviewed(run: Path) -> int:
    """The last update after which the plan was looked at, whether or not it was changed."""
    try:
        last = (run / PACE).read_text(encoding="utf-8").splitlines()[-1]
        return int(json.loads(last)["reviewed"])
    except (OSError, ValueError, TypeError, KeyError, IndexError, RecursionError):  # none, torn, of an older seq2see
        return max((decision.step for decision in read_decisions(run)), default=0)


def write_pace(run: Path, pace: Pace) -> None:
    (run / PACE).parent.mkdir(parents=True, exist_ok=True)
    lines = [*map(json.dumps, pace.decisions), json.dumps({"reviewed": pace.reviewed})]
    atomic.write_file(run / PACE, "".join(f"{line}\n" for line in lines).encode())
