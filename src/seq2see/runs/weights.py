"""Weights on disk: checked, then written whole."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from seq2see import atomic
from seq2see.errors import RunError, TrainingError


def not_finite(tensors: Mapping[str, Tensor]) -> str | None:
    """The name of a tensor that holds something infinite or undefined, if there is one."""
    return next((name for name, value in tensors.items() if not bool(torch.isfinite(value).all())), None)


def check_finite(tensors: Mapping[str, Tensor], when: str, kept: str = "") -> None:
    """Called before anything is written: nobody can go on from weights that have overflowed.

    when   such as `after update 12`;  kept: what there is to go on from
    """
    name = not_finite(tensors)
    if name is not None:
        raise TrainingError(
            f"the weights are not finite {when} ({name}), so they are not saved{kept}; lower training.learning_rate or "
            "training.clip by --set, and go on with --resume"
        )


def save_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    """One safetensors file, whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with atomic.replacing(path) as temporary:
            save_file({name: value.contiguous() for name, value in weights.items()}, temporary)
    except SafetensorError as error:
        raise RunError(f"{path}: cannot be written ({error}); is the disk full?") from None
