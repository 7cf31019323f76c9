"""Settings that do not fit their types: what pydantic complains of, as one line in our own words."""

from collections.abc import Iterable, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from seq2see.errors import ConfigError, brief, nearest, shorten


def setting_error(error: ValidationError, kind: type[BaseModel], section: str = "") -> ConfigError:
    """The first thing that is wrong, with its full name: `model.attention.score = ...`.

    kind      the type that was to be made
    section   stands in front of the name: model, for the types of models
    """
    first = error.errors()[0]
    path, allowed = _walk(first["loc"], kind, unknown=first["type"] == "extra_forbidden")
    return ConfigError(_complaint(first, shorten(".".join([section, *path] if section else path)), path, allowed))


def _complaint(first: Any, where: str, path: list[str], allowed: list[type[BaseModel]]) -> str:
    match first["type"]:
        case "extra_forbidden":
            return f"{where} is unknown{nearest(path[-1], {name for kind in allowed for name in kind.model_fields})}"
        case "value_error":
            return f"{where}: {first['ctx']['error']}" if where else str(first["ctx"]["error"])
        case "union_tag_invalid":
            tag, field = first["ctx"]["tag"], _field(first)
            return f"{where}.{field} = {brief(tag)} is unknown{nearest(tag, _tags(allowed, field))}"
        case "union_tag_not_found":
            field = _field(first)
            return f"{where}.{field} is missing; known: {', '.join(_tags(allowed, field))}"
        case "missing":
            return f"{where} is missing"
    return f"{where} = {brief(first['input'])}: {first['msg'][0].lower()}{first['msg'][1:]}"


def _walk(
    names: Sequence[str | int], kind: type[BaseModel], *, unknown: bool
) -> tuple[list[str], list[type[BaseModel]]]:
    """Where the complaint is, without the tags by which pydantic tells apart the types of a union; and the types that
    the last name was looked up in, or that it can hold.

    unknown   the last name is no field: it is what the complaint is about
    """
    path, current = [], [kind]
    for number, name in enumerate(names):
        inner = [model for outer in current if name in outer.model_fields for model in _models(outer, str(name))]
        known = any(name in outer.model_fields for outer in current)
        if known or isinstance(name, int) or (unknown and number == len(names) - 1):
            path.append(str(name))
        if inner:
            current = inner
    return path, current


def _models(outer: type[BaseModel], name: str) -> list[type[BaseModel]]:
    """The configuration types that a field can hold, in the order they are written."""
    models: list[type[BaseModel]] = []
    waiting: list[Any] = [outer.model_fields[name].annotation]
    while waiting:
        candidate = waiting.pop(0)
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            models.append(candidate)
        waiting.extend(get_args(candidate))
    return models


def _field(first: Any) -> str:
    """The field whose value chooses the type."""
    return str(first["ctx"]["discriminator"]).strip("'")


def _tags(kinds: Iterable[type[BaseModel]], field: str) -> list[str]:
    return [str(tag) for kind in kinds for tag in get_args(kind.model_fields[field].annotation)]
