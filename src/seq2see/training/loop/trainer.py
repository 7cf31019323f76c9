"""The one training loop: it knows a task that gives batches and a loss, and nothing of models, text or speech.

Exact resume rests on three rules: the order of batches is a function of (seed, epoch, batch); random numbers are
seeded anew for every update from (seed, step); everything else that changes is in the checkpoint.
"""

import math
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic

import torch
from safetensors.torch import load_file
from torch import Tensor

from seq2see import atomic
from seq2see.errors import NumericError, RunError, TrainingError
from seq2see.runs import checkpoint
from seq2see.runs.checkpoint import Progress
from seq2see.runs.config import TrainingConfig
from seq2see.runs.weights import check_finite, not_finite, save_weights
from seq2see.training.loop.clock import clock_of
from seq2see.training.loop.metrics import Metrics
from seq2see.training.loop.optimizer import Average, Optimizer, mean_of
from seq2see.training.loop.plan import Costs, Pace, read_decisions, read_reviewed, write_pace
from seq2see.training.loop.schedule import learning_rate
from seq2see.training.loop.task import Ended, Interrupt, Item, Reporter, Task, Update
from seq2see.training.parallel.group import COLLECT, Announcement, LostProcessError, ProcessGroup
from seq2see.training.parallel.sharding import ShardedOptimizer
from seq2see.training.validation_maps import ValidationMaps

_UNKNOWN_VALIDATION = 0.03  # of a time limit, kept for the last validation while none was measured
_LONGEST_SAMPLE = 1_000  # characters of a fixed example in metrics.jsonl
_ALL_RIGHT = 3  # validations in a row after which nothing is left to learn: one alone may be luck
_TIME_IS_UP = "the time limit"  # how the reason begins; a run that gets more time goes on


class Trainer(Generic[Item]):
    """Trains a task in a run folder, from where its newest checkpoint stands."""

    def __init__(
        self, task: Task[Item], config: TrainingConfig, folder: Path, reporter: Reporter, interrupt: Interrupt
    ) -> None:
        self.task = task
        self.config = config
        self.folder = folder
        self.checkpoints = folder / "checkpoints"
        self.reporter = reporter
        self.interrupt = interrupt
        self._is_sharded = config.shard and config.processes > 1
        self.optimiser = (ShardedOptimizer if self._is_sharded else Optimizer)(task.model, config)
        self.average = Average(task.model, config.ema) if config.ema else None
        self.progress = Progress()
        self.pace = Pace(0)
        self._costs = Costs(0.0)
        self._clock = clock_of(config)
        self._group: ProcessGroup | None = None
        self._restart: Callable[[LostProcessError], ProcessGroup] | None = None

    def join(self, group: ProcessGroup, restart: Callable[[LostProcessError], ProcessGroup] | None = None) -> None:
        """From now on each update is made together with others. restart: the first process has lost another."""
        self._group, self._restart = group, restart
        group.spread(self.task.model.state_dict().values())
        self.optimiser.spread(group)

    def resume(self) -> bool:
        """Takes up the newest checkpoint that can be gone on from; False if there is no checkpoint at all."""
        checkpoint.sweep(self.checkpoints)
        newest, passed = checkpoint.newest(self.checkpoints)
        if newest is None:
            if passed:
                raise RunError(_nothing_usable(self.checkpoints, passed))
            return False
        for line in passed:
            self.reporter.message(f"{line}; going on from {newest.path.name}")
        self.task.model.load_state_dict(newest.weights)
        self.optimiser.load(newest.optimiser)
        if self.average is not None:
            self.average.load(newest.optimiser)
        self._compare_machines(newest.progress.machine)
        self.progress = newest.progress
        return True

    def train(self, total: int) -> Ended:
        """Up to update `total`; leaves the best (or averaged) weights in the model."""
        if self.config.shard and not self._is_sharded:
            self.reporter.message("training.shard: one process has nobody to divide with; --processes 2 or more has")
        self.pace = Pace(total, most=self._most_updates())
        if self.config.time_limit is not None:
            decisions, reviewed = read_decisions(self.folder), read_reviewed(self.folder)
            self.pace = Pace(total, decisions, reviewed=reviewed, most=self._most_updates())
        current = self.pace.total(self.progress.step)
        more_time = self.progress.stopped.startswith(_TIME_IS_UP) and not self._out_of_time()
        if current != self.progress.total or more_time:
            self.progress = replace(self.progress, total=current, stopped="")
        self.maps = ValidationMaps(self.folder, self.progress.step)
        try:
            with Metrics(self.folder, self.progress.step, tensorboard=self.config.tensorboard) as metrics:
                interrupted = self._run(metrics)
        except LostProcessError as problem:
            self._go_back(problem)
            return self.train(total)
        if self._group is not None:
            self._group.announce(None)
        if interrupted:
            return Ended(self.progress, True, "interrupted")
        self._finish()
        return Ended(self.progress, False, self.progress.stopped or "all updates made")

    def _go_back(self, problem: LostProcessError) -> None:
        """A part of the optimiser's state is lost with its process: all begin again at the newest checkpoint."""
        if not self._is_sharded or self._restart is None:
            raise problem
        if not checkpoint.paths(self.checkpoints):
            raise TrainingError(f"{problem}; its part of the optimiser's state is gone, and nothing was saved yet")
        group = self._restart(problem)
        self.optimiser.forget_gradients()
        self.resume()
        self.reporter.message(f"going on from update {self.progress.step:,}")
        self.join(group, self._restart)

    def follow(self) -> None:
        """What every process of a group does but the first: the updates that it is told of."""
        assert self._group is not None
        items = self._items()
        while (coming := self._group.hear()) is not None:
            if coming == COLLECT:
                self.optimiser.collect(self._group)
                continue
            if (coming.epoch, coming.batch) != (self.progress.epoch, self.progress.batch):
                self.progress = replace(self.progress, epoch=coming.epoch, batch=coming.batch)
                items = self._items()
            parts = [next(items) for _ in range(self.config.accumulate)]
            summed, _ = self._summed_gradients(parts, coming.step, self._group)
            norm = self.optimiser.clip(self.config.clip)
            if not math.isfinite(summed) or not math.isfinite(norm):
                return  # the first process says so
            self.optimiser.step(coming.rate)

    def _most_updates(self) -> int:
        """By steps or epochs."""
        return self.config.steps or self.config.epochs * max(1, self.task.count(0) // self.config.accumulate)

    def _run(self, metrics: Metrics) -> bool:
        """Updates, validations and checkpoints until the end; True if somebody asked to stop."""
        items = self._items()
        started, before = self._clock(), self.progress.seconds
        ended = started  # what came before the update at hand
        while self.progress.step < self.progress.total and not self.progress.stopped:
            update = self._update(items)
            now = self._clock()
            self.progress = replace(self.progress, seconds=before + now - started)
            self.reporter.update(update, self.progress)
            metrics.add(update._asdict())
            self._keep_pace(now - ended)
            ended = now
            out_of_time = self._out_of_time()
            stop = None
            if self._due(self.config.validate_every) or out_of_time:  # the last weights are always measured
                stop = self._validate(metrics)
                ended = self._clock()
            if stop is None and out_of_time:
                stop = f"{_TIME_IS_UP} of {self.config.time_limit:.0f} s is reached"
            self.progress = replace(self.progress, stopped=stop or "")
            asked = self.interrupt.asked()
            if self._due(self.config.save_every) or stop or asked:
                self.save()
                ended = self._clock()
            if asked:
                return True
        return False

    def _keep_pace(self, seconds: float) -> None:
        """Plans again where the time left asks for it; what was decided before a kill is decided again.

        seconds   from update to update, whatever is done between them but validating and saving
        """
        known = self._costs.update
        self._costs = self._costs._replace(update=0.9 * known + 0.1 * seconds if known else seconds)
        step, limit = self.progress.step, self.config.time_limit
        if limit is None or step == self.progress.total:
            return
        if self.pace.is_review(step):
            left = limit - self.progress.seconds - (0.0 if self._costs.validation else _UNKNOWN_VALIDATION * limit)
            every = self.config.validate_every, self.config.save_every
            self.pace.review(step, left, self._costs, validate_every=every[0], save_every=every[1])
            write_pace(self.folder, self.pace)
        if self.pace.total(step) != self.progress.total:
            self.progress = replace(self.progress, total=self.pace.total(step))

    def save(self) -> Path:
        began = self._clock()
        self.progress = replace(self.progress, machine=machine(self.config.processes))
        tensors = {**self._collected(), **(self.average.tensors() if self.average is not None else {})}
        self._check_finite(tensors)
        path = checkpoint.save(
            self.checkpoints, self.progress, self.task.model.state_dict(), tensors, keep=self.config.keep
        )
        self._costs = self._costs._replace(saving=self._clock() - began)
        return path

    def _collected(self) -> Mapping[str, Tensor]:
        if self._group is None or not self._is_sharded:
            return self.optimiser.tensors()
        self._group.announce(COLLECT)
        return self.optimiser.collect(self._group)

    def _check_finite(self, further: Mapping[str, Tensor] | None = None) -> None:
        """A loss can be finite and the update after it overflow."""
        saved = checkpoint.paths(self.checkpoints)
        kept = f"; the newest checkpoint is {saved[0].name}" if saved else "; there is no checkpoint yet"
        every = {**self.task.model.state_dict(), **(further or {})}
        check_finite(every, f"after update {self.progress.step}", kept)

    def _items(self) -> Iterator[Item]:
        """Batches without end, from where training stands; keeps `progress` at the next one."""
        while True:
            empty = True
            for item in self.task.batches(self.progress.epoch, self.progress.batch):
                empty = False
                self.progress = replace(self.progress, batch=self.progress.batch + 1)
                yield item
            if empty and self.progress.batch == 0:
                raise TrainingError("there is nothing to learn from: the training pairs make no batch")
            self.progress = replace(self.progress, epoch=self.progress.epoch + 1, batch=0)

    def _update(self, items: Iterator[Item]) -> Update:
        """One update of the weights from `accumulate` batches."""
        began = self._clock()
        step = self.progress.step + 1
        rate = learning_rate(self.config, self.pace.planned_step(step), self.pace.planned_total, self.progress.plateaus)
        coming = Announcement(step, self.progress.epoch, self.progress.batch, rate)
        parts = [next(items) for _ in range(self.config.accumulate)]
        summed, positions = self._gradients(parts, step) if self._group is None else self._together(parts, coming)
        norm = self.optimiser.clip(self.config.clip)
        if not math.isfinite(summed) or not math.isfinite(norm):
            self._check_finite()  # then it was the update before, not these pairs
            raise TrainingError(self._not_finite(step, parts))
        self.optimiser.step(rate)
        if self.average is not None:
            self.average.update(step)
        self.progress = replace(self.progress, step=step)
        seconds = self._clock() - began
        return Update(step, self.progress.epoch, summed / positions, positions, rate, norm, seconds)

    def _gradients(self, parts: Sequence[Item], step: int) -> tuple[float, int]:
        """Of the mean loss, left in the parameters; the summed loss, over how many positions."""
        torch.manual_seed(seed_of(self.config.seed, step))
        self.task.model.train()
        positions = sum(self.task.positions(item) for item in parts)
        summed = 0.0
        for item in parts:
            try:
                loss = self.task.loss(item, step)
            except NumericError:  # where attention is written out it says so before the loss does
                return math.nan, positions
            (loss.total / positions).backward()
            summed += float(loss.total.detach())
        return summed, positions

    def _together(self, parts: Sequence[Item], coming: Announcement) -> tuple[float, int]:
        """The same, of the first process of a group; where another is lost, once more with those in its place."""
        assert self._group is not None
        while True:
            try:
                self._group.announce(coming)
                return self._summed_gradients(parts, coming.step, self._group)
            except LostProcessError as problem:
                if self._restart is None or self._is_sharded:
                    raise
                self.optimiser.forget_gradients()
                self.join(self._restart(problem), self._restart)

    def _summed_gradients(self, parts: Sequence[Item], step: int, group: ProcessGroup) -> tuple[float, int]:
        """The same of all processes of a group, each of which has a part of every batch."""
        torch.manual_seed(seed_of(self.config.seed, step, group.rank))
        self.task.model.train()
        summed = positions = 0.0
        for item in parts:
            if own := self.task.positions(item):
                try:
                    loss = self.task.loss(item, step)
                except NumericError:  # the others wait for gradients
                    summed = math.nan
                    break
                loss.total.backward()
                summed += float(loss.total.detach())
                positions += own
        summed, positions = self.optimiser.add_up(group, [summed, positions])
        return summed, round(positions)

    def _not_finite(self, step: int, parts: Sequence[Item]) -> str:
        pairs = [int(pair) for item in parts for pair in self.task.pairs(item)]
        shown = ", ".join(map(str, pairs[:8])) + (f" and {len(pairs) - 8} more" if len(pairs) > 8 else "")
        return (
            f"the loss of update {step} is not finite (pairs {shown}); nothing of it was saved. Lower "
            "training.learning_rate or training.clip, or look at these pairs, then go on with --resume"
        )

    def _due(self, every: int) -> bool:
        return self.progress.step % every == 0 or self.progress.step == self.progress.total

    def _out_of_time(self) -> bool:
        return self.config.time_limit is not None and self.progress.seconds >= self.config.time_limit

    def _validate(self, metrics: Metrics) -> str | None:
        """Measures, keeps the weights if they are the best so far; a reason to stop, or None."""
        self._check_finite()
        began = self._clock()
        with self._averaged():
            validation = self.task.validate()
            goodness = validation.goodness(self.config.stop_metric)
            measured = math.isfinite(goodness)  # weights can be finite and their loss overflow
            better = measured and (self.progress.best is None or goodness > self.progress.best)
            if better or (measured and self._among_best(goodness)):
                self._keep_best(goodness)
        if better:
            self.progress = replace(self.progress, best=goodness, best_step=self.progress.step, stale=0)
        else:
            stale = self.progress.stale + 1
            plateau = self.config.schedule == "plateau" and stale % self.config.plateau_patience == 0
            self.progress = replace(self.progress, stale=stale, plateaus=self.progress.plateaus + plateau)
        self._costs = self._costs._replace(validation=self._clock() - began)
        self.reporter.validation(validation, self.progress, better=better)
        metrics.add(
            {
                "step": self.progress.step,
                "elapsed": self.progress.seconds,
                "validation": dict(validation.scores),
                "samples": [[text[:_LONGEST_SAMPLE] for text in sample] for sample in validation.samples],
            }
        )
        self.maps.add(self.progress.step, self.progress.step // self.config.validate_every, validation.picture)
        right = self.progress.right + 1 if validation.scores.get("exact") == 100.0 else 0
        self.progress = replace(self.progress, right=right)
        if right >= _ALL_RIGHT:
            return "every validation output is right"
        if self.progress.stale >= self.config.patience:
            return f"no better {self.config.stop_metric} in {self.config.patience} validations"
        return None

    def _averaged(self) -> Any:
        return self.average.swapped(self.task.model) if self.average is not None else _nothing()

    def _bests(self) -> list[tuple[float, Path]]:
        """The weights kept by validation that are whole, best first; name: best-SCORE@STEP.DIGEST.safetensors."""
        bests = []
        for path in self.checkpoints.glob("best-*@*.*.safetensors"):
            score, rest = path.name.removeprefix("best-").split("@")
            step, expected = rest.split(".")[:2]
            whole = int(step) <= self.progress.step and atomic.digest(path).startswith(expected)
            if whole and math.isfinite(float(score)):
                bests.append((float(score), int(step), path))
        return [(score, path) for score, _, path in sorted(bests, key=lambda entry: (-entry[0], entry[1]))]

    def _wanted_bests(self) -> int:
        return max(1, self.config.average) if self.config.average_of == "best" else 1

    def _among_best(self, goodness: float) -> bool:
        bests = self._bests()
        return len(bests) < self._wanted_bests() or goodness > bests[-1][0]

    def _keep_best(self, goodness: float) -> None:
        stem = f"best-{goodness!r}@{self.progress.step}"
        path = self.checkpoints / f"{stem}.safetensors"
        save_weights(path, self.task.model.state_dict())
        path.rename(self.checkpoints / f"{stem}.{atomic.digest(path)[:16]}.safetensors")
        for _, old in self._bests()[self._wanted_bests() :]:
            old.unlink(missing_ok=True)

    def _finish(self) -> None:
        """The weights that the run is remembered for: the mean of some checkpoints, or the best ones."""
        wanted = self.config.average
        if wanted > 1 and self.config.average_of == "last":
            whole = [path for path in checkpoint.paths(self.checkpoints) if checkpoint.check(path) is None]
            files = [path / "model.safetensors" for path in whole[:wanted]]
        else:
            files = [path for _, path in self._bests()[: max(1, wanted)]]
        usable = [weights for weights in map(load_file, files) if not_finite(weights) is None]
        if usable:
            self.task.model.load_state_dict(mean_of(usable))
        elif self.average is not None:
            self.average.copy_to(self.task.model)

    def _compare_machines(self, then: Mapping[str, Any]) -> None:
        now = machine(self.config.processes)
        changed = [
            f"{name} was {then[name]}, is {now[name]}" for name in now if name in then and then[name] != now[name]
        ]
        if changed:
            self.reporter.message(
                f"resumed under other conditions ({'; '.join(changed)}): weights may differ in the last bits"
            )


def _nothing_usable(folder: Path, passed: Sequence[str]) -> str:
    return (
        f"{folder}: none of its {len(passed)} checkpoints can be used ({'; '.join(passed)}); put whole ones back from "
        "a copy, or train anew into another --out"
    )


class _nothing:  # noqa: N801 - stands where a context manager is optional
    def __enter__(self) -> None: ...

    def __exit__(self, *problem: object) -> None: ...


def seed_of(seed: int, step: int, rank: int = 0) -> int:
    """The seed of all random numbers of one update, in one process."""
    return (seed * 0x9E3779B97F4A7C15 + step * 0xBF58476D1CE4E5B9 + rank * 0x94D049BB133111EB) % (1 << 63)


def machine(processes: int = 1) -> dict[str, Any]:
    """What can change the last bits of a sum: recorded in every checkpoint."""
    return {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "processes": processes,
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
    }
