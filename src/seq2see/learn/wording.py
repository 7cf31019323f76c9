"""What a lesson says, in both languages at once. Numbers are no part of it: they are filled in when they are known."""

import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from seq2see.errors import ConfigError, nearest

Language = Literal["en", "ko"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True)
class Wording:
    """One text in two tongues. `{name:.2f}` in it stands for a number, and has to stand in both."""

    en: str
    ko: str

    def __post_init__(self) -> None:
        if not self.en.strip() or not self.ko.strip():
            raise ConfigError(f"a text is there in one language only: {self.en or self.ko!r}")

    def fill(self, values: Mapping[str, object]) -> "Wording":
        """With numbers and names in their places; whole sentences of other wordings go in as their own language."""
        return Wording(
            self.en.format_map({name: said(value, "en") for name, value in values.items()}),
            self.ko.format_map({name: said(value, "ko") for name, value in values.items()}),
        )

    @property
    def blanks(self) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
        """What is to be filled in, with its format, in English and in Korean."""
        return _blanks(self.en), _blanks(self.ko)


Label = str | Wording
Value = TypeVar("Value")


def said(value: Value | Wording, language: Language) -> Value | str:
    """A wording in one language; anything else as it is."""
    if isinstance(value, Wording):
        return value.en if language == "en" else value.ko
    return value


def say(label: Label, language: Language) -> str:
    return str(said(label, language))


def check_language(name: str) -> Language:
    for language in LANGUAGES:
        if name == language:
            return language
    raise ConfigError(f"language = '{name}' is unknown{nearest(name, LANGUAGES)}")


def _blanks(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((name, spec or "") for _, name, spec, _ in string.Formatter().parse(text) if name is not None)
