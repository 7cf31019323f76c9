"""`--search key=value`: the rarer settings of a search, by the names of SearchConfig's fields."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seq2see.errors import ConfigError, nearest

if TYPE_CHECKING:
    from seq2see.search import SearchConfig

MOVED = {
    "--alpha": "alpha",
    "--coverage": "coverage",
    "--diversity": "diversity",
    "--groups": "groups",
    "--length-penalty": "length_penalty",
    "--max-length": "max_length",
    "--min-length": "min_length",
    "--no-repeat": "no_repeat_ngram",
    "--seed": "seed",
    "--temperature": "temperature",
    "--top-k": "top_k",
    "--top-p": "top_p",
}
"""Options of version 0.1 -> the settings they are now."""
_SAMPLING = ("temperature", "top_k", "top_p")


def read_search(
    changes: Sequence[str] | None, settings: Mapping[str, Any], options: Mapping[str, str]
) -> "SearchConfig":
    """The settings of a verb with what `--search` changes, checked.

    settings   what the verb's own options say; fields that are not named keep their defaults
    options    field -> the option of the verb that sets it, which `--search` does not
    """
    from pydantic import ValidationError

    from seq2see.search import SearchConfig
    from seq2see.settings import setting_error

    changed = _parse(changes or (), options, SearchConfig.model_fields)
    if "sample" in options and not settings.get("sample"):
        for name in _SAMPLING:
            if name in changed:
                raise ConfigError(f"--search {name} is for {options['sample']}; add it")
    if changed.get("sample") is True:
        settings = {**settings, "beam": 1}
    try:
        return SearchConfig.model_validate({**settings, **changed})
    except ValidationError as error:
        raise setting_error(error, SearchConfig) from None


def _parse(changes: Sequence[str], options: Mapping[str, str], fields: Mapping[str, Any]) -> dict[str, Any]:
    changed = {}
    for change in changes:
        name, equals, value = (part.strip() for part in change.partition("="))
        if not equals or not name or not value:
            raise ConfigError(f"--search {change}: expected a name and a value, such as max_length=80")
        if name in options:
            raise ConfigError(f"--search {change}: {name} has an option of its own, {options[name]}")
        if name not in fields:
            raise ConfigError(f"--search {change}: unknown setting '{name}'{nearest(name, fields)}")
        changed[name] = _value(value)
    return changed


def _value(text: str) -> bool | int | float | str:
    """Numbers as numbers, so that messages show them so; SearchConfig checks what fits which field."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
