"""The message for an unknown option: what it is called now, the names that are like it, or none."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from typer.core import TyperCommand, TyperGroup

from seq2see.cli.shell.search import MOVED


class Command(TyperCommand):
    """One verb of the command line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        searches = any("--search" in parameter.opts for parameter in self.params)
        with _near_names(MOVED if searches else {}):
            return super().parse_args(ctx, args)


class Group(TyperGroup):
    """All of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        with _near_names({}):
            return super().parse_args(ctx, args)


@contextmanager
def _near_names(moved: Mapping[str, str]) -> Iterator[None]:
    """The parser compares names with their dashes, which makes --out look like --nosuch: here without them.

    moved   options that were dropped -> the setting of `--search` that each is now
    """
    try:
        yield
    except Exception as error:  # the parser's own class for it is private to typer
        unknown = str(getattr(error, "option_name", ""))
        if unknown in moved:
            error.message = f"{unknown} is now --search {moved[unknown]}=..."  # type: ignore[attr-defined]
            error.possibilities = []  # type: ignore[attr-defined]
            raise
        names = {name.lstrip("-"): name for name in getattr(error, "possibilities", None) or ()}
        if names:
            error.possibilities = [names[name] for name in get_close_matches(unknown.lstrip("-"), names)]  # type: ignore[attr-defined]
        raise
