"""A lesson as a Jupyter notebook: what it says, and cells that compute it anew with the public library.

A section's `code` is a few lines that call functions of the lesson. What these need stands in the lesson's module:
imports, constants, functions. Each cell is given those that no cell before it has, copied from the source, so that the
notebook runs by itself and every step can be changed.
"""

import ast
import importlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import seq2see
from seq2see import atomic
from seq2see.errors import ConfigError
from seq2see.learn.blocks import (
    Block,
    Curves,
    Drawing,
    Equation,
    LessonTable,
    MapView,
    Matrix,
    Section,
    ShellLine,
    Sounds,
)
from seq2see.learn.lesson import Lesson, LessonPage, LessonSettings, command_line
from seq2see.learn.quoting import Quote
from seq2see.learn.render.terminal import cell_text
from seq2see.learn.texts import common
from seq2see.learn.wording import Language, Wording, say


def notebook(lesson: Lesson[LessonSettings], page: LessonPage, language: Language) -> str:
    """The whole file."""
    opening = [page.question] if page.notice is None else [page.notice, page.question]
    cells = [_markdown("\n\n".join([f"# {say(lesson.title, language)}", *(say(text, language) for text in opening)]))]
    source = LessonSource(lesson)
    for section in page.sections:
        cells += _section(section, source, language)
    cells.append(_markdown(_ending(lesson, page, language)))
    document = {
        "cells": [cell | {"id": f"cell-{place}"} for place, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "seq2see": {"version": seq2see.__version__, "lesson": lesson.name, "language": language},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def check_replaceable_notebook(path: Path, option: str) -> None:
    """A notebook takes the place of one that seq2see wrote, never of another file."""
    if not path.is_file() or atomic.is_stream(path):
        return
    try:
        document = atomic.read_json(path)
        ours = "seq2see" in document["metadata"]
    except (OSError, ValueError, LookupError, TypeError):
        ours = False
    if not ours:
        raise ConfigError(f"{path}: is there already, and seq2see did not write it; name another file with {option}")


def code_cells(document: dict[str, Any]) -> list[str]:
    """The code of a notebook, cell by cell."""
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]


def _section(section: Section, source: "LessonSource", language: Language) -> Iterator[dict[str, Any]]:
    texts = [f"## {say(section.title, language)}", *(_text(block, language) for block in section.blocks)]
    yield _markdown("\n\n".join(text for text in texts if text))
    if section.code:
        yield {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": _lines(source.cell(section.code)),
        }


def _ending(lesson: Lesson[LessonSettings], page: LessonPage, language: Language) -> str:
    attempts = [
        f"{say(attempt.text, language)}\n\n```sh\n{command_line(lesson.name, language, attempt.changes)}\n```"
        for attempt in page.attempts
    ]
    origins = [f"* {origin.paper.line} {origin.place}: {say(origin.what, language)}" for origin in page.origins]
    following = "\n".join([*(command_line(name, language) for name in page.following), *page.commands])
    return "\n\n".join(
        [
            f"## {say(common.ANSWER, language)}",
            say(page.answer, language),
            f"## {say(common.TRY, language)}",
            say(common.TRY_CELL, language),
            *attempts,
            f"## {say(common.ORIGIN, language)}",
            "\n".join(origins),
            f"## {say(common.NEXT, language)}",
            f"```sh\n{following}\n```",
        ]
    )


def _text(block: Block, language: Language) -> str:
    """A block as Markdown; what is drawn from many numbers is left to the cell behind it."""
    match block:
        case Wording():
            return say(block, language)
        case Equation():
            return f"```\n{block.text}\n```"
        case Drawing():
            return "\n".join(["```", *block.lines, "```"])
        case ShellLine():
            return f"```sh\n{block.text}\n```"
        case Matrix():
            head = [say(name, language) for name in (block.name, *block.columns)]
            rows = [
                [say(name, language), *(block.shown(row, column) for column in range(len(block.columns)))]
                for row, name in enumerate(block.rows)
            ]
            return _table(head, rows)
        case LessonTable():
            rows = [
                [cell_text(value, column, language) for value, column in zip(row, block.columns, strict=True)]
                for row in block.rows
            ]
            return _table([say(column.name, language) for column in block.columns], rows)
        case Quote():
            return f"```\n{block.formula}\n```\n\n```python\n# {block.place}\n{block.code}\n```"
        case Curves():
            return _points(block, language)
        case MapView() | Sounds():
            return ""


def _points(curves: Curves, language: Language) -> str:
    """The numbers behind a chart, a row for each x."""
    places = sorted({x for series in curves.series for x, _ in series.points})
    known = [dict(series.points) for series in curves.series]
    spec = ".2e" if curves.log else f".{curves.digits}f"
    names = [f"{x:g}" if curves.ticks is None else say(curves.ticks[int(x)], language) for x in places]
    rows = [
        [name, *(format(points[x], spec) if x in points else "" for points in known)]
        for x, name in zip(places, names, strict=True)
    ]
    table = _table([say(curves.across, language), *(say(series.name, language) for series in curves.series)], rows)
    return f"{say(curves.title, language)}\n\n{table}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(text)}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


class LessonSource:
    """The module of a lesson, statement by statement, and what has been copied of it so far."""

    def __init__(self, lesson: Lesson[LessonSettings]) -> None:
        module = importlib.import_module(lesson.teach.__module__)
        self._text = inspect.getsource(module)
        tree = ast.parse(self._text)
        self._places: dict[str, int] = {}
        self._statements = [statement for statement in tree.body if not isinstance(statement, ast.Expr)]
        for place, statement in enumerate(self._statements):
            self._places |= dict.fromkeys(_bound(statement), place)
        self._copied: dict[int, set[str]] = {}

    def cell(self, code: str) -> str:
        """The lines, and above them what they need of the module and no cell has brought yet."""
        wanted: dict[int, set[str]] = {}
        waiting = sorted(_used(ast.parse(code)))
        while waiting:
            name = waiting.pop()
            place = self._places.get(name)
            if place is None or name in wanted.get(place, ()) or name in self._copied.get(place, ()):
                continue
            wanted.setdefault(place, set()).add(name)
            if not isinstance(self._statements[place], ast.Import | ast.ImportFrom):
                waiting += sorted(_used(self._statements[place]))
        pieces = [(self._statements[place], self._copy(place, names)) for place, names in sorted(wanted.items())]
        for place, names in wanted.items():
            self._copied.setdefault(place, set()).update(names)
        imports = [piece for statement, piece in pieces if isinstance(statement, ast.Import | ast.ImportFrom)]
        blocks = [piece for statement, piece in pieces if isinstance(statement, ast.FunctionDef | ast.ClassDef)]
        constants = [piece for _, piece in pieces if piece not in imports and piece not in blocks]
        above = ["\n".join(imports), "\n".join(constants), "\n\n\n".join(blocks)]
        joined = "\n\n".join(part for part in above if part)
        return f"{joined}\n\n{code}" if joined else code

    def _copy(self, place: int, names: set[str]) -> str:
        """A statement as it stands in the source; of an import only the names that are wanted."""
        statement = self._statements[place]
        if isinstance(statement, ast.ImportFrom):
            aliases = [alias for alias in statement.names if (alias.asname or alias.name) in names]
            return ast.unparse(ast.ImportFrom(statement.module, aliases, statement.level))
        decorators = statement.decorator_list if isinstance(statement, ast.FunctionDef | ast.ClassDef) else []
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        return "\n".join(self._text.splitlines()[first - 1 : statement.end_lineno])


def _bound(statement: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    match statement:
        case ast.Import(names=names):
            return [(alias.asname or alias.name).split(".")[0] for alias in names]
        case ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _used(tree: ast.AST) -> set[str]:
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    # a type that is written in quotes, such as the class itself in its own method
    quoted = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return names | {text for text in quoted if text.isidentifier()}
