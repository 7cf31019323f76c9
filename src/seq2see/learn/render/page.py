"""A lesson as one HTML file that needs nothing else: the document, scripts and charts of reports (look/draw/view)."""

from typing import Any

from seq2see.learn.blocks import Block, Curves, Drawing, Equation, LessonTable, MapView, Matrix, ShellLine, Sounds
from seq2see.learn.catalogue import outline
from seq2see.learn.lesson import Lesson, LessonPage, LessonSettings, command_line
from seq2see.learn.quoting import Quote
from seq2see.learn.render.terminal import cell_text
from seq2see.learn.texts import common
from seq2see.learn.wording import Language, Wording, say
from seq2see.look.draw.page import SCRIPTS, document, pack_examples

_COLOURS = 6


def html(lesson: Lesson[LessonSettings], page: LessonPage, language: Language, command: str) -> str:
    """The whole file; `command` is what was typed for it."""
    data = lesson_data(lesson, page, language, command)
    return document(str(data["title"]), data, (*SCRIPTS, "chart", "korean", "blocks", "lesson"), language=language)


def lesson_data(lesson: Lesson[LessonSettings], page: LessonPage, language: Language, command: str) -> dict[str, Any]:
    """What view/blocks.js draws, in a file and on the page of `seq2see serve`."""
    sections: list[tuple[str, list[Block]]] = [
        (f"{number}. {say(section.title, language)}", list(section.blocks))
        for number, section in enumerate(page.sections, start=1)
    ]
    whole: list[tuple[str, list[Block]]] = [
        (say(common.QUESTION, language), [*([] if page.notice is None else [page.notice]), page.question]),
        *sections,
        (say(common.ANSWER, language), [page.answer]),
    ]
    attempts = [
        packed
        for attempt in page.attempts
        for packed in (
            _packed(attempt.text, language),
            {
                "kind": "command",
                "text": command_line(lesson.name, language, attempt.changes),
                "changes": list(attempt.changes),
            },
        )
    ]
    return {
        "title": say(lesson.title, language),
        "language": language,
        "sections": [
            *({"title": name, "blocks": [_packed(block, language) for block in blocks]} for name, blocks in whole),
            {"title": say(common.TRY, language), "blocks": attempts},
        ],
        "origins": {
            "title": say(common.ORIGIN, language),
            "lines": [
                [
                    "" if before is not None and before.paper == origin.paper else origin.paper.line,
                    f"{origin.place}: {say(origin.what, language)}",
                ]
                for before, origin in zip((None, *page.origins), page.origins, strict=False)
            ],
        },
        "following": {
            "title": say(common.NEXT, language),
            "lessons": list(page.following),
            "lines": [
                *([command_line(name, language), say(outline(name).summary, language)] for name in page.following),
                *([line, ""] for line in page.commands),
            ],
        },
        "command": [say(common.COMMAND, language), command],
    }


def _packed(block: Block, language: Language) -> dict[str, Any]:
    """A block for lesson.js, which draws each `kind`."""
    match block:
        case Wording():
            return {"kind": "text", "text": say(block, language)}
        case Equation():
            return {"kind": "equation", "text": block.text}
        case Drawing():
            return {"kind": "drawing", "text": "\n".join(block.lines)}
        case ShellLine():
            return {"kind": "command", "text": block.text}
        case Quote():
            return {"kind": "quote", "formula": block.formula, "code": block.code, "place": block.place}
        case Matrix():
            return _matrix(block, language)
        case LessonTable():
            return {
                "kind": "table",
                "columns": [
                    {"name": say(column.name, language), "number": bool(column.spec), "bar": column.bar}
                    for column in block.columns
                ],
                "rows": [
                    [
                        [cell_text(value, column, language), value if column.bar else None]
                        for value, column in zip(row, block.columns, strict=True)
                    ]
                    for row in block.rows
                ],
            }
        case Curves():
            return {"kind": "chart", "title": say(block.title, language), "chart": _chart(block, language)}
        case MapView():
            examples, note = pack_examples([block.example])
            return {"kind": "map", "examples": examples, "note": note}
        case Sounds():
            return {"kind": "sounds", "sounds": [[say(name, language), wav] for name, wav in block.recordings]}


def _matrix(matrix: Matrix, language: Language) -> dict[str, Any]:
    return {
        "kind": "matrix",
        "name": say(matrix.name, language),
        "columns": [say(name, language) for name in matrix.columns],
        "rows": [
            {
                "name": say(name, language),
                "cells": [
                    [matrix.shown(row, column), float(matrix.values[row, column]) if matrix.shaded else None]
                    for column in range(len(matrix.columns))
                ],
            }
            for row, name in enumerate(matrix.rows)
        ],
    }


def _chart(curves: Curves, language: Language) -> dict[str, Any]:
    return {
        "label": say(curves.title, language),
        "across": say(curves.across, language),
        "from": curves.low,
        "log": curves.log,
        "digits": curves.digits,
        "ticks": None if curves.ticks is None else [[say(tick, language), ""] for tick in curves.ticks],
        "series": [
            {
                "name": say(series.name, language),
                "colour": place % _COLOURS,
                "dashed": series.dashed,
                "marked": True,
                "points": [[x, y, None, None] for x, y in series.points],
            }
            for place, series in enumerate(curves.series)
        ],
    }
