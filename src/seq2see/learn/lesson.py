"""A lesson: who it is, what can be set, and the function that computes its page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from seq2see.learn.blocks import Section
from seq2see.learn.catalogue import outline
from seq2see.learn.papers import Origin
from seq2see.learn.texts.common import QUICK
from seq2see.learn.wording import Language, Wording
from seq2see.learn.workshop import Workshop
from seq2see.settings import setting_error


class LessonSettings(BaseModel):
    """What `--set name=value` may change in a lesson."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def split_numbers(value: Any) -> Any:
    """`4,1` as the numbers it holds, so that a vector needs no brackets in a shell; one number alone is a vector."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else value


Vector = Annotated[tuple[float, ...], BeforeValidator(split_numbers)]
"""A setting that is written as `--set query=4,1`."""


@dataclass(frozen=True)
class Attempt:
    """Something to change and try: what to expect of it, and the settings that do it."""

    text: Wording
    changes: tuple[str, ...]


@dataclass(frozen=True)
class LessonPage:
    """A lesson with its numbers, ready to be shown.

    question    what it is about
    sections    numbers, pictures, formulas beside their code
    answer      to the question, from the numbers
    attempts    what to change and try
    origins     papers and sections
    following   names of lessons to go on with
    commands    of seq2see, that go on from here with models of one's own
    notice      what to know before reading
    """

    question: Wording
    sections: tuple[Section, ...]
    answer: Wording
    attempts: tuple[Attempt, ...]
    origins: tuple[Origin, ...]
    following: tuple[str, ...]
    commands: tuple[str, ...] = ()
    notice: Wording | None = None


SettingsType = TypeVar("SettingsType", bound=LessonSettings)


@dataclass(frozen=True)
class Lesson(Generic[SettingsType]):
    """`teach` computes everything that the page says; what it has to train comes from the workshop."""

    name: str
    title: Wording
    settings: type[SettingsType]
    teach: Callable[[SettingsType, Workshop], LessonPage]

    def page(self, workshop: Workshop, changes: Mapping[str, Any] | None = None) -> LessonPage:
        """The page with some settings changed; ConfigError in one line for those it does not have."""
        try:
            settings = self.settings.model_validate(dict(changes or {}))
        except ValidationError as error:
            raise setting_error(error, self.settings) from None
        page = self.teach(settings, workshop)
        return replace(page, notice=QUICK) if workshop.quick and outline(self.name).trains else page


def command_line(name: str, language: Language, changes: Sequence[str] = ()) -> str:
    """How a lesson is asked for."""
    flags = ["--ko"] if language == "ko" else []
    return " ".join(["seq2see learn", name, *(f"--set {change}" for change in changes), *flags])
