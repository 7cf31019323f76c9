"""AdamW with a state that is saved by name, and averages of weights."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw

from seq2see.errors import ConfigError, RunError
from seq2see.runs.config import TrainingConfig
from seq2see.training.parallel.group import ProcessGroup

_PREFIX = "average."
AVERAGES = ("exp_avg", "exp_avg_sq")


class Optimizer:
    """AdamW over the parameters that are trained, with a state that can be saved by name."""

    def __init__(self, model: nn.Module, config: TrainingConfig) -> None:
        self.named = {name: p for name, p in model.named_parameters() if not _frozen(name, config.freeze)}
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name in self.named)
        if not self.named:
            raise ConfigError(f"training.freeze = {list(config.freeze)} leaves nothing to train")
        matrices = {name: p for name, p in self.named.items() if p.dim() > 1}
        others = {name: p for name, p in self.named.items() if p.dim() <= 1}  # biases and norms are not decayed
        self._groups = [(matrices, config.weight_decay), (others, 0.0)]
        self._beta2 = config.beta2
        self.state: dict[str, dict[str, Tensor]] = {}

    def clip(self, largest: float) -> float:
        """Scales the gradients down to a norm of at most `largest`; the norm they had."""
        return float(nn.utils.clip_grad_norm_(self.named.values(), largest))

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """An update, and the gradients are gone.

        By the function below torch.optim.AdamW: the class imports torch's compiler, as long as torch itself takes.
        """
        for group, decay in self._groups:
            learning = {name: p for name, p in group.items() if p.grad is not None}
            states = [self._state_of(name, p) for name, p in learning.items()]
            gradients = [p.grad for p in learning.values() if p.grad is not None]
            self._adamw(list(learning.values()), gradients, states, rate, decay)
        self.forget_gradients()

    def _adamw(
        self,
        values: list[Tensor],
        gradients: list[Tensor],
        states: list[dict[str, Tensor]],
        rate: float,
        decay: float,
    ) -> None:
        adamw(
            values,
            gradients,
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=self._beta2,
            lr=rate,
            weight_decay=decay,
            eps=1e-9,
            maximize=False,
        )

    def add_up(self, group: ProcessGroup, figures: Sequence[float]) -> list[float]:
        """Sums gradients and figures over all processes; gradients are divided by the last figure."""
        packed = self.pack_gradients(figures)
        group.add_up(packed)
        return self.unpack_gradients(packed, len(figures))

    def pack_gradients(self, figures: Sequence[float]) -> Tensor:
        """One vector that can be summed over processes: gradients, how many processes have each of them, figures."""
        gradients = [p.grad.flatten() if p.grad is not None else p.new_zeros(p.numel()) for p in self.named.values()]
        counts = [float(p.grad is not None) for p in self.named.values()]
        return torch.cat([*gradients, torch.tensor([*counts, *figures], device=gradients[0].device)])

    def unpack_gradients(self, packed: Tensor, figures: int) -> list[float]:
        """Takes the summed gradients, divided by the last figure; the figures."""
        sums = packed[packed.numel() - figures :].tolist()
        counts = packed[packed.numel() - figures - len(self.named) :].tolist()
        start = 0
        for parameter, count in zip(self.named.values(), counts, strict=False):
            summed = packed[start : start + parameter.numel()].view_as(parameter)
            parameter.grad = summed / sums[-1] if count else None
            start += parameter.numel()
        return [float(figure) for figure in sums]

    def forget_gradients(self) -> None:
        for parameter in self.named.values():
            parameter.grad = None

    def spread(self, group: ProcessGroup) -> None:
        """Every process of a group knows what its first one knows."""
        known = torch.tensor([float(name in self.state) for name in self.named])
        group.spread([known])
        names = [name for name, is_known in zip(self.named, known.tolist(), strict=True) if is_known]
        group.spread(value for name in names for value in self._state_of(name, self.named[name]).values())

    def _state_of(self, name: str, parameter: Tensor) -> dict[str, Tensor]:
        if name not in self.state:
            step = torch.zeros((), device=parameter.device)
            averages = {key: torch.zeros_like(parameter) for key in AVERAGES}
            self.state[name] = {"step": step, **averages}
        return self.state[name]

    def collect(self, group: ProcessGroup) -> Mapping[str, Tensor]:
        """`tensors` for the first process, called in all processes of a group."""
        return self.tensors()

    def tensors(self) -> Mapping[str, Tensor]:
        """What AdamW remembers: exp_avg, exp_avg_sq and step of each parameter."""
        states = {name: self.state.get(name, {}) for name in self.named}
        return {f"{name}:{key}": value for name, state in states.items() for key, value in state.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        self.state.clear()
        for name in self.named:
            keys = [key for key in ("step", *AVERAGES) if f"{name}:{key}" in tensors]
            if len(keys) not in (0, 3):
                raise RunError(f"the checkpoint holds only part of what the optimiser knew of {name}")
            if keys:
                self.state[name] = {key: tensors[f"{name}:{key}"].clone() for key in keys}


def _frozen(name: str, beginnings: Sequence[str]) -> bool:
    return any(name.startswith(beginning) for beginning in beginnings)


class Average:
    """A moving average of the weights: a <- d a + (1 - d) w, with a smaller d in the first updates."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.model = model
        self.values = {name: value.detach().clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        share = 1 - min(self.decay, (1 + step) / (10 + step))
        for name, value in self.model.state_dict().items():
            self.values[name].lerp_(value, share)

    @contextmanager
    def swapped(self, model: nn.Module) -> Iterator[None]:
        """The model with the averaged weights, for as long as this lasts."""
        own = {name: value.detach().clone() for name, value in model.state_dict().items()}
        model.load_state_dict(self.values)
        try:
            yield
        finally:
            model.load_state_dict(own)

    def copy_to(self, model: nn.Module) -> None:
        model.load_state_dict(self.values)

    def tensors(self) -> dict[str, Tensor]:
        return {_PREFIX + name: value for name, value in self.values.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        for name in self.values:
            self.values[name] = tensors[_PREFIX + name].clone()


def mean_of(states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several sets of weights."""
    if len(states) == 1:
        return dict(states[0])
    return {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}
