"""What families and sizes are called; needs no torch, so that a wrong name is told at once."""

from typing import Literal, get_args

from seq2see.errors import ConfigError, brief, nearest

Family = Literal["rnn", "rnnsearch", "luong", "convs2s", "bytenet", "transformer"]
Size = Literal["tiny", "small", "base", "paper"]
FAMILIES: tuple[Family, ...] = get_args(Family)
SIZES: tuple[Size, ...] = get_args(Size)


def known_size(size: str) -> Size:
    for name in SIZES:
        if size == name:
            return name
    raise ConfigError(f"size = {brief(size)} is unknown{nearest(size, SIZES)}")


def check_family(family: str) -> None:
    if family not in FAMILIES:
        raise unknown_family(family)


def unknown_family(family: str) -> ConfigError:
    return ConfigError(f"model {brief(family)} is unknown{nearest(family, FAMILIES)}")
