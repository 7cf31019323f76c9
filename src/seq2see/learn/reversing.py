"""Learning to say a sequence backwards: a task small enough to be trained for every part that is taken out of a model.

The one training loop (`training.loop.trainer.Trainer`) works on it; models may have been changed after they were built.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from seq2see import corpora, search
from seq2see.corpora.sequences import SYMBOLS
from seq2see.data import Batch
from seq2see.models import Model
from seq2see.runs.checkpoint import Progress
from seq2see.runs.config import TrainingConfig
from seq2see.training.loop.task import Loss, Update, Validation
from seq2see.training.loop.trainer import Trainer
from seq2see.training.loss import cross_entropy
from seq2see.vocabulary import EOS

FIRST = 4  # the id of the first symbol
WORDS = FIRST + len(SYMBOLS)
ROWS = 32
UNSEEN = 64  # sequences of a validation; fewer in a training of a few updates
Pairs = tuple[tuple[list[int], list[int]], ...]


@cache
def reversed_pairs(split: corpora.Split, longest: int, count: int) -> Pairs:
    """Ids of sequences of at most `longest` symbols, and of the same backwards."""
    found = (example for example in corpora.examples("reverse", split) if len(example.source.split()) <= longest)
    return tuple((_ids(example.source), _ids(example.target)) for example in islice(found, count))


def _ids(text: str) -> list[int]:
    return [FIRST + SYMBOLS.index(symbol) for symbol in text.split()]


def batch_of(pairs: Sequence[tuple[list[int], list[int]]]) -> Batch:
    return Batch.of([[*source, EOS] for source, _ in pairs], [target for _, target in pairs])


class Reversing:
    """Implements training.loop.task.Task."""

    def __init__(self, model: Model[Any, Any], steps: int, longest: int) -> None:
        self._model = model
        self.learned = reversed_pairs("train", longest, steps * ROWS)
        self.unseen = reversed_pairs("test", longest, min(UNSEEN, 2 * steps))

    @property
    def model(self) -> Model[Any, Any]:
        return self._model

    def batches(self, epoch: int, first: int) -> Iterator[Batch]:
        for start in range(first * ROWS, len(self.learned), ROWS):
            yield batch_of(self.learned[start : start + ROWS])

    def count(self, epoch: int) -> int:
        return len(self.learned) // ROWS

    def positions(self, item: Batch) -> int:
        return int(item.target_mask.sum())

    def pairs(self, item: Batch) -> Sequence[int]:
        return range(len(item))

    def loss(self, item: Batch, step: int) -> Loss:
        return Loss(cross_entropy(self.model(item), item.target_out, item.target_mask, 0.0), {})

    @torch.no_grad()
    def validate(self) -> Validation:
        """Loss of a symbol, and how many sequences are said without a mistake."""
        self.model.eval()
        batch = batch_of(self.unseen)
        loss = cross_entropy(self.model(batch), batch.target_out, batch.target_mask, 0.0)
        memory = self.model.encode(batch.source, batch.source_mask)
        limits = search.length_limits(batch.source_mask)
        said = search.greedy(self.model.step, memory, self.model.start(memory), limits)
        right = [list(one.tokens) == target for one, (_, target) in zip(said, self.unseen, strict=True)]
        # not called `exact`: the loop would stop a model that is right before the others have had as many updates
        return Validation({"loss": float(loss) / self.positions(batch), "right": 100 * sum(right) / len(right)})


@dataclass(frozen=True)
class Learned:
    """How a model learned: (update, loss of a symbol, per cent of sequences that are right) at each validation."""

    curve: list[tuple[int, float, float]]

    @property
    def last(self) -> tuple[int, float, float]:
        return self.curve[-1]


class _Watcher:
    """Implements training.loop.task.Reporter and Interrupt."""

    def __init__(self, watch: Callable[[int], None]) -> None:
        self.curve: list[tuple[int, float, float]] = []
        self.watch = watch

    def update(self, update: Update, progress: Progress) -> None:
        self.watch(update.step)

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None:
        self.curve.append((progress.step, validation.scores["loss"], validation.scores["right"]))

    def message(self, text: str) -> None: ...

    def asked(self) -> bool:
        return False


def learn_reversing(
    model: Model[Any, Any], steps: int, longest: int, *, watch: Callable[[int], None] = lambda step: None
) -> Learned:
    """Trains the model as it is; `watch` is told of every update."""
    task = Reversing(model, steps, longest)
    config = TrainingConfig(
        steps=steps,
        learning_rate=3e-3,
        warmup=max(1, min(50, steps // 4)),
        schedule="linear",
        beta2=0.98,
        weight_decay=0.0,
        clip=1.0,
        validate_every=max(2, steps // 8),
        save_every=10 * steps,
        patience=1000,
        threads=1,
    )
    watcher = _Watcher(watch)
    with tempfile.TemporaryDirectory() as folder:
        Trainer(task, config, Path(folder), watcher, watcher).train(steps)
    return Learned(watcher.curve)
