"""Six model families behind one contract (seq2see.models.base).

model = build("luong", size="tiny", source_vocabulary=100, target_vocabulary=120, input_feeding=False)
"""

from seq2see.models.base import Look, Model, ModelConfig, Output, Size, map_tensors, parameters, reorder
from seq2see.models.families import FAMILIES, SIZES, Family, build, configure, from_config, load_config

__all__ = [
    "FAMILIES",
    "SIZES",
    "Family",
    "Look",
    "Model",
    "ModelConfig",
    "Output",
    "Size",
    "build",
    "configure",
    "from_config",
    "load_config",
    "map_tensors",
    "parameters",
    "reorder",
]
