"""What programs a run can be exported to; needs no torch, so that a wrong name is told at once."""

from typing import Literal, get_args

from seq2see.errors import ConfigError, nearest

ExportFormat = Literal["ctranslate2", "hf", "onnx", "argos"]
FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)


def known_format(name: str) -> ExportFormat:
    for known in FORMATS:
        if name == known:
            return known
    raise ConfigError(f"--to {name}: is no program that a run can go to{nearest(name, FORMATS)}")
