"""A schedule that ends with the time limit, whatever the machine does meanwhile.

The learning rate is a function of the planned step. As long as the machine is as fast as it was measured, the planned
step is the step. When it slows down (or gets faster), the number of updates is planned again, and from there on each
update counts for more (or less) of the plan, so that the rate is as low at the end as it was meant to be.

checkpoints/pace.jsonl    a line for each such decision, written before it takes effect

A run that was killed repeats the decisions that stand there at the same steps, so that resume is exact.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from seq2see import atomic

PACE = Path("checkpoints", "pace.jsonl")
_REVIEWS = 40  # of the plan in a run
_TOLERANCE = 0.03  # of the remaining updates; smaller differences are noise


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
    """The plan of `total` updates, and what became of it."""

    def __init__(self, total: int, decisions: Sequence[Decision] = ()) -> None:
        self.planned_total = total
        self.decisions = list(decisions)

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
        """Whether the plan is looked at after this update."""
        return step % max(1, self.planned_total // _REVIEWS) == 0

    def review(self, step: int, seconds_left: float, costs: Costs, *, validate_every: int, save_every: int) -> bool:
        """Plans again if the time left asks for it; True if it did. The last validation and saving fit, too."""
        total = self.total(step)
        each = costs.update + costs.validation / validate_every + costs.saving / save_every
        left = max(1, int((seconds_left - costs.validation - costs.saving) / each))
        remaining = total - step
        if remaining <= 0 or abs(left - remaining) <= _TOLERANCE * remaining:
            return False
        self.decisions.append(Decision(step, self.planned_step(step), step + left))
        return True


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


def write_decisions(run: Path, decisions: Sequence[Decision]) -> None:
    (run / PACE).parent.mkdir(parents=True, exist_ok=True)
    atomic.write_file(run / PACE, "".join(json.dumps(decision) + "\n" for decision in decisions).encode())
