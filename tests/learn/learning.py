"""Lessons for tests: taught once in a module, with what they train in a folder that goes afterwards."""

import io
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from rich.console import Console

from seq2see.learn import LANGUAGES, Language, Wording, load_lesson
from seq2see.learn.lesson import Lesson, LessonPage
from seq2see.learn.render.terminal import parts
from seq2see.learn.workshop import Workshop

sys.path.insert(0, str(Path(__file__).parents[1] / "look"))

__all__ = ["LANGUAGES", "Taught", "printed", "taught_lessons", "wordings"]


@dataclass
class Taught:
    """Pages by lesson; the usual ones are computed once."""

    cache: Path
    pages: dict[str, LessonPage] = field(default_factory=dict)

    @property
    def workshop(self) -> Workshop:
        return Workshop(self.cache / "seq2see" / "lessons", quick=True)

    def page(self, name: str, changes: Mapping[str, Any] | None = None) -> LessonPage:
        if changes:
            return load_lesson(name).page(self.workshop, changes)
        if name not in self.pages:
            own = {"runs": "no/such/demo"} if name == "bottleneck" else None  # not of a demo that was run here
            self.pages[name] = load_lesson(name).page(self.workshop, own)
        return self.pages[name]

    def use_cache(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """For code that asks for the cache folder by itself."""
        monkeypatch.setenv("XDG_CACHE_HOME", str(self.cache))


def taught_lessons() -> Iterator[Taught]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        yield Taught(Path(folder))
    torch.set_num_threads(threads)


def printed(taught: Lesson[Any], page: LessonPage, language: Language) -> str:
    console = Console(
        file=io.StringIO(),
        width=80,
        color_system=None,
        force_terminal=False,
        emoji=False,
        highlight=False,
        markup=False,
    )
    for part in parts(taught, page, language):
        for renderable in part:
            console.print(renderable)
    out = console.file
    assert isinstance(out, io.StringIO)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def wordings(module: ModuleType) -> dict[str, Wording]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Wording)}
