"""How a mistyped option is told: with the names that are like it, or with none."""

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """One verb of the command line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _near_names():
            return super().parse_args(ctx, args)


class Group(TyperGroup):
    """All of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _near_names():
            return super().parse_args(ctx, args)


@contextmanager
def _near_names() -> Iterator[None]:
    """The parser compares names with their dashes, which makes --out look like --nosuch: here without them."""
    try:
        yield
    except Exception as error:  # the parser's own class for it is private to typer
        names = {name.lstrip("-"): name for name in getattr(error, "possibilities", None) or ()}
        if names:
            option = str(getattr(error, "option_name", "")).lstrip("-")
            error.possibilities = [names[name] for name in get_close_matches(option, names)]  # type: ignore[attr-defined]
        raise
