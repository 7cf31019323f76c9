"""In which formats pictures are written; needs no matplotlib, so that a path is checked before anything is computed."""

from pathlib import Path
from typing import Literal

from seq2see.errors import ConfigError

PictureFormat = Literal["svg", "png", "pdf"]
_FORMATS: dict[str, PictureFormat] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}


def picture_format(path: Path) -> PictureFormat:
    """By the suffix; any other suffix is an error."""
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        raise ConfigError(f"{path}: a picture is .png, .svg or .pdf, not '{path.suffix}'")
    return _FORMATS[suffix]
