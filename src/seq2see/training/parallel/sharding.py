"""What AdamW remembers, divided over the processes that train together (`training.shard`).

Without it every process keeps both averages of every parameter, twice the size of the model, and one vector of all
gradients. With it each keeps its share: gradients are summed bucket by bucket, each stretch of a bucket where its owner
is; the owner updates that stretch of the weights and sends it to all. Weights stay whole in every process, for every
process computes whole batches with them, and the first one validates alone.

    bytes for a parameter, N processes: 4 weights + 4 gradients + 8 averages + 4 vector = 20 without, 8 + 12 / N with
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from seq2see.errors import TrainingError
from seq2see.runs.config import TrainingConfig
from seq2see.training.loop.optimizer import AVERAGES, Optimizer
from seq2see.training.parallel.group import ProcessGroup

_BUCKET = 1 << 20  # numbers that are summed at once, unless a single parameter has more


class _Stretch(NamedTuple):
    """A part of a parameter, in the order in which its numbers lie."""

    name: str
    start: int
    end: int


class ShardedOptimizer(Optimizer):
    """The same as `Optimizer`, of which each process of a group holds its part."""

    def __init__(self, model: nn.Module, config: TrainingConfig) -> None:
        super().__init__(model, config)
        self._decay = {name: decay for group, decay in self._groups for name in group}
        self._buckets = list(_buckets(self.named))
        self._group: ProcessGroup | None = None
        self._gradients: dict[_Stretch, Tensor] = {}  # summed, of the stretches that are ours

    # ----- who owns what

    def _sizes(self, bucket: Sequence[str]) -> int:
        return sum(self.named[name].numel() for name in bucket)

    def _bounds(self, bucket: Sequence[str], rank: int) -> tuple[int, int]:
        """The stretch of a bucket that a process owns."""
        assert self._group is not None
        size = self._sizes(bucket)
        return size * rank // self._group.size, size * (rank + 1) // self._group.size

    def _own(self) -> Iterator[_Stretch]:
        assert self._group is not None
        for bucket in self._buckets:
            yield from self._stretches(bucket, *self._bounds(bucket, self._group.rank))

    def _stretches(self, bucket: Sequence[str], first: int, last: int) -> Iterator[_Stretch]:
        """The parts of parameters that lie between two places of a bucket."""
        place = 0
        for name in bucket:
            size = self.named[name].numel()
            start, end = max(first - place, 0), min(last - place, size)
            if start < end:
                yield _Stretch(name, start, end)
            place += size

    def spread(self, group: ProcessGroup) -> None:
        """The first process has the whole state, from a checkpoint; of it each keeps its share."""
        self._group = group
        steps = torch.tensor([float(self.state[name]["step"]) if name in self.state else -1.0 for name in self.named])
        group.spread([steps])
        own: dict[str, _Stretch] = {stretch.name: stretch for stretch in self._own()}
        for (name, parameter), step in zip(self.named.items(), steps.tolist(), strict=True):
            if step < 0:
                self.state.pop(name, None)
                continue
            whole = self.state.pop(name, {})
            state = {"step": torch.tensor(step, device=parameter.device)}
            for key in AVERAGES:
                value = whole[key].flatten() if key in whole else parameter.new_empty(parameter.numel())
                group.spread([value])
                if name in own:
                    state[key] = value[own[name].start : own[name].end].clone()
            self.state[name] = state

    # ----- an update

    def add_up(self, group: ProcessGroup, figures: Sequence[float]) -> list[float]:
        """Sums figures over all processes, and gradients to their owners, divided by the last figure."""
        have = [float(parameter.grad is not None) for parameter in self.named.values()]
        packed = torch.tensor([*have, *figures], dtype=torch.float64)
        group.add_up(packed)
        sums = packed[len(have) :].tolist()
        learning = {name for name, count in zip(self.named, packed.tolist(), strict=False) if count}
        self._gradients = {}
        for bucket in self._buckets:
            flat = self._packed(bucket)
            for rank in range(group.size):
                first, last = self._bounds(bucket, rank)
                if first < last:
                    group.add_up_at(flat[first:last], rank)
            place, last = self._bounds(bucket, group.rank)
            for stretch in self._stretches(bucket, place, last):
                size = stretch.end - stretch.start
                if stretch.name in learning:
                    self._gradients[stretch] = flat[place : place + size] / sums[-1]
                place += size
        for name in learning:
            if name not in self.state:
                self.state[name] = {"step": torch.zeros((), device=self.named[name].device)}
        self._learning = learning
        return [float(figure) for figure in sums]

    def _packed(self, bucket: Sequence[str]) -> Tensor:
        """The gradients of a bucket as one vector; they are gone from their parameters."""
        parts = []
        for name in bucket:
            parameter = self.named[name]
            parts.append(
                parameter.grad.flatten() if parameter.grad is not None else parameter.new_zeros(parameter.numel())
            )
            parameter.grad = None
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def clip(self, largest: float) -> float:
        assert self._group is not None
        squares = [float(gradient.double().square().sum()) for gradient in self._gradients.values()]
        summed = torch.tensor([sum(squares)], dtype=torch.float64)
        self._group.add_up(summed)
        norm = math.sqrt(float(summed))
        scale = largest / (norm + 1e-6)
        if scale < 1.0:
            for gradient in self._gradients.values():
                gradient.mul_(scale)
        return norm

    @torch.no_grad()
    def step(self, rate: float) -> None:
        assert self._group is not None
        for decay in dict.fromkeys(self._decay.values()):
            own = [stretch for stretch in self._gradients if self._decay[stretch.name] == decay]
            for name, start, end in own:
                for key in AVERAGES:
                    self.state[name].setdefault(key, self.named[name].new_zeros(end - start))
            self._adamw(
                [self._view(name)[start:end] for name, start, end in own],
                [self._gradients[stretch] for stretch in own],
                [self.state[stretch.name] for stretch in own],
                rate,
                decay,
            )
        for name in self._learning - {stretch.name for stretch in self._gradients}:
            self.state[name]["step"] += 1  # counted everywhere, whoever holds the averages
        self._gradients = {}
        for bucket in self._buckets:
            self._send_weights(bucket, self._group)

    def _send_weights(self, bucket: Sequence[str], group: ProcessGroup) -> None:
        views = [self._view(name) for name in bucket]
        flat = views[0] if len(views) == 1 else torch.cat(views)
        for rank in range(group.size):
            first, last = self._bounds(bucket, rank)
            if first < last:
                group.spread([flat[first:last]], rank)
        if len(views) > 1:
            place = 0
            for view in views:
                view.copy_(flat[place : place + view.numel()])
                place += view.numel()

    def _view(self, name: str) -> Tensor:
        """The numbers of a parameter in a row; writing to them changes it."""
        return self.named[name].detach().view(-1)

    def forget_gradients(self) -> None:
        super().forget_gradients()
        self._gradients = {}

    # ----- the whole, for a checkpoint

    def collect(self, group: ProcessGroup) -> dict[str, Tensor]:
        """To the first process, called in all of them."""
        own = {stretch.name: stretch for stretch in self._own()}
        tensors: dict[str, Tensor] = {}
        for name, parameter in self.named.items():
            if name not in self.state:
                continue
            for key in AVERAGES:
                whole = parameter.new_zeros(parameter.numel())
                if name in own:
                    whole[own[name].start : own[name].end] = self.state[name][key]
                group.add_up_at(whole, 0)  # every place is another's zero but one's
                if group.rank == 0:
                    tensors[f"{name}:{key}"] = whole.view_as(parameter)
            tensors[f"{name}:step"] = self.state[name]["step"]
        return tensors

    def tensors(self) -> Mapping[str, Tensor]:
        raise TrainingError("a state that is divided has to be collected")


def _buckets(named: Mapping[str, Tensor]) -> Iterator[list[str]]:
    """Names of parameters in their order, so many that they are worth a sum."""
    bucket: list[str] = []
    size = 0
    for name, parameter in named.items():
        if bucket and (size + parameter.numel() > _BUCKET or parameter.dtype != named[bucket[0]].dtype):
            yield bucket
            bucket, size = [], 0
        bucket.append(name)
        size += parameter.numel()
    if bucket:
        yield bucket
