"""AdamW with a state that is saved by name, and averages of weights."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from seq2see.errors import ConfigError, RunError
from seq2see.runs.config import TrainingConfig

_PREFIX = "average."


class Optimizer:
    """AdamW over the parameters that are trained, with a state that can be saved by name."""

    def __init__(self, model: nn.Module, config: TrainingConfig) -> None:
        self.named = {name: p for name, p in model.named_parameters() if not _frozen(name, config.freeze)}
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name in self.named)
        if not self.named:
            raise ConfigError(f"training.freeze = {list(config.freeze)} leaves nothing to train")
        matrices = [p for p in self.named.values() if p.dim() > 1]
        others = [p for p in self.named.values() if p.dim() <= 1]  # biases and norms are not decayed
        groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}]
        self.adam = torch.optim.AdamW(
            [group for group in groups if group["params"]], lr=0.0, betas=(0.9, config.beta2), eps=1e-9, fused=True
        )

    def clip(self, largest: float) -> float:
        """Scales the gradients down to a norm of at most `largest`; the norm they had."""
        return float(nn.utils.clip_grad_norm_(self.named.values(), largest))

    def step(self, rate: float) -> None:
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)

    def tensors(self) -> dict[str, Tensor]:
        """What AdamW remembers: exp_avg, exp_avg_sq and step of each parameter."""
        return {
            f"{name}:{key}": value
            for name, parameter in self.named.items()
            for key, value in self.adam.state[parameter].items()
        }

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        for name, parameter in self.named.items():
            keys = [key for key in ("step", "exp_avg", "exp_avg_sq") if f"{name}:{key}" in tensors]
            if len(keys) not in (0, 3):
                raise RunError(f"the checkpoint holds only part of what the optimiser knew of {name}")
            self.adam.state[parameter] = {key: tensors[f"{name}:{key}"].clone() for key in keys}


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
