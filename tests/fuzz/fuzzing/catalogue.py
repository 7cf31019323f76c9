"""All targets by name. A room is imported when it is asked for: some import torch."""

from functools import cache
from importlib import import_module

from fuzzing.target import Target

ROOMS = ("readers", "documents", "folders", "sound")
PLANTED = "planted"


@cache
def room(name: str) -> list[Target]:
    return list(import_module(f"fuzzing.{name}").TARGETS)


def targets() -> list[Target]:
    """Everything but the planted faults."""
    return [target for name in ROOMS for target in room(name)]


def find(name: str) -> Target:
    for place in (*ROOMS, PLANTED):
        for target in room(place):
            if target.name == name:
                return target
    raise SystemExit(f"there is no target '{name}'; --list names them")


def chosen(names: list[str]) -> list[Target]:
    """Targets whose name, or room, is one of these; all if there are none."""
    known = targets()
    unknown = [
        name
        for name in names
        if not any(
            name in (target.name, target.room, target.name.partition("-")[0], target.name.partition(".")[0])
            for target in known
        )
    ]
    if unknown:
        raise SystemExit(f"there is no target or room '{unknown[0]}'; --list names them")
    if not names:
        return known
    return [t for t in known if {t.name, t.room, t.name.partition("-")[0], t.name.partition(".")[0]} & set(names)]
