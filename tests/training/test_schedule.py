"""The rate of each update, which weights decay, what is averaged, and when training stops."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from seq2see.runs.config import TrainingConfig
from seq2see.training.loop.optimizer import Average, Optimizer
from seq2see.training.loop.schedule import learning_rate
from seq2see.training.loop.task import Loss, Validation
from seq2see.training.loop.trainer import Trainer
from seq2see.training.reporting import SilentReporter

PEAK = 0.01


@pytest.mark.parametrize("schedule", ["inverse-sqrt", "cosine", "plateau", "constant"])
def test_warm_up_rises_evenly_to_the_peak(schedule: Any) -> None:
    config = TrainingConfig(learning_rate=PEAK, warmup=4, schedule=schedule)
    rates = [learning_rate(config, step, total=20, plateaus=0) for step in range(1, 5)]
    assert rates == pytest.approx([0.0025, 0.005, 0.0075, 0.01])


@pytest.mark.parametrize(
    ("schedule", "step", "plateaus", "expected"),
    [
        ("inverse-sqrt", 16, 0, PEAK / 2),  # sqrt(4 / 16)
        ("inverse-sqrt", 400, 0, PEAK / 10),
        ("cosine", 12, 0, PEAK * 0.505),  # half of the way: between the peak and 1 % of it
        ("cosine", 20, 0, PEAK * 0.01),
        ("cosine", 30, 0, PEAK * 0.01),  # further updates stay there
        ("plateau", 19, 0, PEAK),
        ("plateau", 19, 2, PEAK / 16),
        ("constant", 19, 2, PEAK),
    ],
)
def test_after_warm_up(schedule: Any, step: int, plateaus: int, expected: float) -> None:
    config = TrainingConfig(learning_rate=PEAK, warmup=4, schedule=schedule, plateau_factor=0.25)
    assert learning_rate(config, step, total=20, plateaus=plateaus) == pytest.approx(expected)


def _formula(schedule: str, step: float, peak: float, warmup: int, total: int) -> float:
    """As the papers write them: Vaswani 2017, section 5.3; Loshchilov & Hutter 2017, equation 5; a line."""
    lowest = 0.01 * peak
    progress = min(max((step - warmup) / (total - warmup), 0), 1)
    after = {
        "inverse-sqrt": peak * warmup**0.5 * min(step**-0.5, step * warmup**-1.5),
        "cosine": lowest + 0.5 * (peak - lowest) * (1 + math.cos(progress * math.pi)),
        "linear": peak + progress * (lowest - peak),
        "constant": peak,
    }
    return after[schedule] if step >= warmup else peak * step / warmup


@pytest.mark.parametrize("schedule", ["inverse-sqrt", "cosine", "linear", "constant"])
@pytest.mark.parametrize(("warmup", "total"), [(1, 7), (4, 20), (100, 1_000)])
def test_the_whole_curve_is_the_papers(schedule: Any, warmup: int, total: int) -> None:
    """Every update, and those behind the plan; between two updates as well, since a plan may be remade."""
    config = TrainingConfig(learning_rate=PEAK, warmup=warmup, schedule=schedule)
    steps = [step / 2 for step in range(2, 2 * total + 20)]
    rates = [learning_rate(config, step, total=total, plateaus=0) for step in steps]
    assert rates == pytest.approx([_formula(schedule, step, PEAK, warmup, total) for step in steps])
    highest = rates.index(max(rates))
    assert steps[highest] == warmup
    assert rates[highest] == pytest.approx(PEAK)
    assert all(later <= earlier for earlier, later in pairwise(rates[highest:]))


def test_matrices_decay_and_biases_do_not() -> None:
    model = nn.Linear(2, 2)
    nn.init.ones_(model.weight)
    nn.init.ones_(model.bias)
    optimizer = Optimizer(model, TrainingConfig(weight_decay=0.5))
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step(0.1)
    assert model.weight.detach().allclose(torch.tensor(0.95))  # 1 - rate x decay
    assert model.bias.detach().equal(torch.ones(2))


def test_the_average_follows_the_weights_faster_at_first() -> None:
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    average = Average(model, decay=0.9)
    nn.init.ones_(model.weight)
    average.update(step=1)  # d = (1 + 1) / (10 + 1)
    assert float(average.values["weight"]) == pytest.approx(9 / 11)
    average.update(step=1000)  # d = 0.9
    assert float(average.values["weight"]) == pytest.approx(1 - 0.9 * 2 / 11)


class Scripted:
    """A task of one number whose validations are known beforehand."""

    def __init__(self, losses: Sequence[float]) -> None:
        self.model = nn.Linear(1, 1, bias=False)
        self.losses = iter(losses)
        self.weights: list[float] = []  # at each validation

    def batches(self, epoch: int, first: int) -> Iterator[int]:
        yield from range(first, 100)

    def count(self, epoch: int) -> int:
        return 100

    def positions(self, item: int) -> int:
        return 1

    def loss(self, item: int, step: int) -> Loss:
        return Loss((self.model.weight - 5.0).square().sum(), {})

    def pairs(self, item: int) -> Sequence[int]:
        return [item]

    def validate(self) -> Validation:
        self.weights.append(float(self.model.weight.detach()))
        loss = next(self.losses)
        return Validation({"loss": loss, "exact": 100.0 if loss < 0.1 else 50.0})


class Nobody:
    def asked(self) -> bool:
        return False


def trained(folder: Path, losses: Sequence[float], **settings: Any) -> tuple[Scripted, Any]:
    task = Scripted(losses)
    config = TrainingConfig(steps=len(losses), validate_every=1, warmup=0, learning_rate=0.1, **settings)
    trainer = Trainer(task, config, folder, SilentReporter(), Nobody())
    return task, trainer.train(len(losses))


def test_training_stops_when_validation_no_longer_improves(tmp_path: Path) -> None:
    task, ended = trained(tmp_path, [3.0, 2.0, 2.5, 2.0, 2.2, 1.0], patience=3)
    assert ended.reason == "no better loss in 3 validations"
    assert (ended.progress.step, ended.progress.best_step, ended.progress.best) == (5, 2, -2.0)
    assert float(task.model.weight.detach()) == task.weights[1]  # the best are left, not the last


def test_patience_begins_anew_with_every_better_validation(tmp_path: Path) -> None:
    _, ended = trained(tmp_path, [3.0, 3.1, 2.0, 2.1, 1.0, 1.1], patience=2)
    assert (ended.reason, ended.progress.step, ended.progress.best_step) == ("all updates made", 6, 5)


def test_outputs_that_are_all_right_end_training_once_it_is_no_luck(tmp_path: Path) -> None:
    task, ended = trained(tmp_path, [0.09, 0.09, 0.5, 0.08, 0.07, 0.06, 0.01], patience=9)
    assert (ended.reason, ended.progress.step) == ("every validation output is right", 6)
    assert float(task.model.weight.detach()) == task.weights[5]


def test_a_plateau_is_counted_each_time_its_patience_runs_out(tmp_path: Path) -> None:
    losses = [3.0, 3.1, 3.2, 3.3, 3.4, 3.5]
    _, ended = trained(tmp_path, losses, patience=9, schedule="plateau", plateau_patience=2)
    assert ended.progress.plateaus == 2
    assert math.isclose(ended.progress.best, -3.0)
