"""What the training loop is handed, and what it hands out: tasks, reporters, updates, validations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from torch import Tensor, nn

from seq2see.runs.checkpoint import Progress

Item = TypeVar("Item")


class Loss(NamedTuple):
    """Summed over positions, so that batches of any size add up; `parts` are for the eye."""

    total: Tensor
    parts: Mapping[str, float]


@dataclass(frozen=True)
class Validation:
    """Scores by name (loss: lower is better; all others higher), and what was said to the fixed examples."""

    scores: Mapping[str, float]
    samples: Sequence[tuple[str, str, str]] = ()  # source, reference, output
    picture: Mapping[str, Any] | None = None  # what it looked at in one of them: see training.validation_maps

    def goodness(self, metric: str) -> float:
        """Higher is better; of equal scores, as while nothing is right yet, the one with the lower loss."""
        loss = self.scores["loss"]
        return -loss if metric == "loss" else self.scores[metric] - 1e-6 * min(loss, 1e3)


class Task(Protocol[Item]):
    """What can be trained."""

    @property
    def model(self) -> nn.Module: ...

    def batches(self, epoch: int, first: int) -> Iterator[Item]:
        """The batches of an epoch from `first` on: a pure function of its arguments."""

    def count(self, epoch: int) -> int: ...

    def positions(self, item: Item) -> int:
        """How many things the loss of this batch sums over; 0: it is not for this process."""

    def loss(self, item: Item, step: int) -> Loss: ...

    def pairs(self, item: Item) -> Sequence[int]:
        """Which pairs are in it, for an error that has to name them."""

    def validate(self) -> Validation: ...


class Update(NamedTuple):
    """What an update looked like."""

    step: int
    epoch: int
    loss: float  # per position
    positions: int
    rate: float
    norm: float
    seconds: float


class Reporter(Protocol):
    """Who is told. Nothing here returns anything: a reporter cannot change training."""

    def update(self, update: Update, progress: Progress) -> None: ...

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None: ...

    def message(self, text: str) -> None: ...


class Interrupt(Protocol):
    """Whether somebody asked to stop: Ctrl-C, SIGTERM."""

    def asked(self) -> bool: ...


@dataclass(frozen=True)
class Ended:
    """How training ended: done, or interrupted with everything saved."""

    progress: Progress
    interrupted: bool
    reason: str
