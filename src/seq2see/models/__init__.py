"""Six model families behind one contract (seq2see.models.base).

model = build("luong", size="tiny", source_vocabulary=100, target_vocabulary=120, input_feeding=False)

All but the names is looked up when it is asked for: to know what the families are called needs no torch.
"""

from typing import TYPE_CHECKING, Any

from seq2see.models.names import FAMILIES, SIZES, Family, Size

if TYPE_CHECKING:
    from seq2see.models.base import (
        AttentionLayer,
        Look,
        Model,
        ModelConfig,
        Output,
        StepDescription,
        map_tensors,
        parameters,
        reorder,
    )
    from seq2see.models.families import build, configure, from_config, load_config

__all__ = [
    "FAMILIES",
    "SIZES",
    "AttentionLayer",
    "Family",
    "Look",
    "Model",
    "ModelConfig",
    "Output",
    "Size",
    "StepDescription",
    "build",
    "configure",
    "from_config",
    "load_config",
    "map_tensors",
    "parameters",
    "reorder",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'seq2see.models' has no attribute '{name}'")
    from seq2see.models import base, families

    return getattr(base if hasattr(base, name) else families, name)
