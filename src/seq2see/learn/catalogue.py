"""The lessons in the order in which they build on each other. Names and titles need no torch; a lesson does."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seq2see.errors import ConfigError, nearest
from seq2see.learn.texts import (
    block,
    bottleneck,
    convolution,
    dot,
    heads,
    memory,
    order,
    qkv,
    scores,
    search,
    style,
    when,
)
from seq2see.learn.wording import Wording

if TYPE_CHECKING:
    from seq2see.learn.lesson import Lesson


@dataclass(frozen=True)
class Outline:
    """A line of the list.

    trains   something is trained the first time, which takes minutes
    """

    name: str
    title: Wording
    summary: Wording
    trains: bool = False


CATALOGUE = (
    Outline("bottleneck", bottleneck.TITLE, bottleneck.SUMMARY, trains=True),
    Outline("dot", dot.TITLE, dot.SUMMARY),
    Outline("qkv", qkv.TITLE, qkv.SUMMARY),
    Outline("scores", scores.TITLE, scores.SUMMARY),
    Outline("when", when.TITLE, when.SUMMARY, trains=True),
    Outline("memory", memory.TITLE, memory.SUMMARY, trains=True),
    Outline("heads", heads.TITLE, heads.SUMMARY, trains=True),
    Outline("block", block.TITLE, block.SUMMARY, trains=True),
    Outline("order", order.TITLE, order.SUMMARY, trains=True),
    Outline("convolution", convolution.TITLE, convolution.SUMMARY),
    Outline("search", search.TITLE, search.SUMMARY, trains=True),
    Outline("style", style.TITLE, style.SUMMARY, trains=True),
)


def outline(name: str) -> Outline:
    for entry in CATALOGUE:
        if entry.name == name:
            return entry
    raise ConfigError(f"there is no lesson '{name}'{nearest(name, [entry.name for entry in CATALOGUE])}")


def load_lesson(name: str) -> "Lesson[Any]":
    """The lesson itself, by its name."""
    match name:
        case "bottleneck":
            from seq2see.learn.lessons.bottleneck import LESSON as BOTTLENECK

            return BOTTLENECK
        case "dot":
            from seq2see.learn.lessons.dot import LESSON as DOT

            return DOT
        case "qkv":
            from seq2see.learn.lessons.qkv import LESSON as QKV

            return QKV
        case "scores":
            from seq2see.learn.lessons.scores import LESSON as SCORES

            return SCORES
        case "when":
            from seq2see.learn.lessons.when import LESSON as WHEN

            return WHEN
        case "memory":
            from seq2see.learn.lessons.memory import LESSON as MEMORY

            return MEMORY
        case "heads":
            from seq2see.learn.lessons.heads import LESSON as HEADS

            return HEADS
        case "block":
            from seq2see.learn.lessons.block import LESSON as BLOCK

            return BLOCK
        case "order":
            from seq2see.learn.lessons.order import LESSON as ORDER

            return ORDER
        case "convolution":
            from seq2see.learn.lessons.convolution import LESSON as CONVOLUTION

            return CONVOLUTION
        case "search":
            from seq2see.learn.lessons.search import LESSON as SEARCH

            return SEARCH
        case "style":
            from seq2see.learn.lessons.style import LESSON as STYLE

            return STYLE
    outline(name)
    raise AssertionError(f"the lesson '{name}' is listed, but not found")
