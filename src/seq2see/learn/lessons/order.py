"""The lesson *order*: what RNN, CNN and attention pay for length, as formulas and measured for all six families."""

import time
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import nn

from seq2see.data import Batch
from seq2see.learn.blocks import Curves, LessonTable, Section, Series, TableColumn, Value
from seq2see.learn.influence import felt_by_target
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings
from seq2see.learn.papers import BENGIO_1994, KALCHBRENNER_2016, VASWANI_2017, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import order as words
from seq2see.learn.workshop import Workshop
from seq2see.models import FAMILIES, Model, build
from seq2see.models.luong import LuongDecoder
from seq2see.models.rnnsearch import RnnSearchDecoder
from seq2see.runs.config import TrainingConfig
from seq2see.training.loop.optimizer import Optimizer
from seq2see.training.loss import cross_entropy
from seq2see.vocabulary import EOS

VOCABULARY = 512
WIDTH = 128  # of the size tiny
RECURRENT = ("rnn", "rnnsearch", "luong")
FLOOR = 1e-12  # of a logarithmic chart


class OrderSettings(LessonSettings):
    distance: int = Field(40, ge=4, le=200, description="words on each side of the gradient's picture")
    cell: Literal["gru", "lstm", "tanh"] = Field(
        "gru", description="of the recurrent families in the gradient's picture"
    )
    tokens: int = Field(2048, ge=256, le=16_384, description="words of a batch, on each side")


def family_model(family: str, cell: str = "gru", seed: int = 0) -> Model[Any, Any]:
    """A fresh model of the size tiny; Luong's reads a known target in one call."""
    torch.manual_seed(seed)
    settings: dict[str, Any] = {"cell": cell, "encoder": {"cell": cell}} if family in RECURRENT else {}
    settings |= {"input_feeding": False} if family == "luong" else {}
    return build(family, "tiny", source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY, **settings)


def batch_of(length: int, tokens: int) -> Batch:
    """Sentences of `length` words, the end included, as many as make `tokens` words."""
    torch.manual_seed(length)
    rows = torch.randint(4, VOCABULARY, (max(1, tokens // length), length - 1)).tolist()
    return Batch.of([[*row, EOS] for row in rows], rows)


def seconds_of_update(model: Model[Any, Any], batch: Batch, repeats: int) -> float:
    """The fastest of some updates: forward, loss, backward, optimizer, as training makes them.

    By the clock of this process, so that other work on the machine does not count.
    """
    model.train()
    optimizer = Optimizer(model, TrainingConfig(learning_rate=1e-4))
    fastest = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        loss = cross_entropy(model(batch), batch.target_out, batch.target_mask, 0.0)
        (loss / int(batch.target_mask.sum())).backward()
        optimizer.step(1e-4)
        fastest = min(fastest, time.process_time() - began)
    return fastest


def measure_seconds(tokens: int, lengths: tuple[int, ...], repeats: int) -> dict[str, list[float]]:
    """Seconds of an update for every family, one number for each length; on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {
            family: [seconds_of_update(family_model(family), batch_of(length, tokens), repeats) for length in lengths]
            for family in FAMILIES
        }
    finally:
        torch.set_num_threads(threads)


def measure_gradients(distance: int, cell: str, seeds: int) -> dict[str, list[float]]:
    """For every family the gradient of each source word, farthest first, seen from the last target word."""
    measured: dict[str, list[float]] = {}
    for family in FAMILIES:
        models = [family_model(family, cell, seed).double().eval() for seed in range(seeds)]
        felt = np.mean([felt_by_target(model, distance, distance - 1) for model in models], axis=0)
        measured[family] = (felt / felt.max()).tolist()
    return measured


def steps_in_a_row(family: str, length: int) -> int:
    """Steps of learning one pair that wait for each other: words of a recurrent layer, or layers."""
    model = family_model(family)
    return 2 * length if family in RECURRENT else _layers(model)


def path(family: str, length: int) -> int:
    """Steps between the first source word and the last target word."""
    model = family_model(family)
    if family == "rnn":
        return 2 * length
    return 2 if family in RECURRENT else _layers(model)


def _layers(model: Model[Any, Any]) -> int:
    """Blocks of encoder and decoder on top of each other."""
    stacks = [module for name, module in model.named_modules() if name.endswith("blocks")]
    return sum(len(stack) for stack in stacks if isinstance(stack, nn.ModuleList))


def teach(settings: OrderSettings, workshop: Workshop) -> LessonPage:
    lengths = (8, 32) if workshop.quick else (8, 16, 32, 64, 128, 256)
    tokens = min(settings.tokens, 128) if workshop.quick else settings.tokens
    repeats, seeds = (1, 1) if workshop.quick else (3, 3)
    made_from: dict[str, Any] = {"tokens": tokens, "lengths": lengths, "repeats": repeats}
    seconds = workshop.measured("order-seconds", made_from, lambda: measure_seconds(tokens, lengths, repeats))
    made_from = {"distance": settings.distance, "cell": settings.cell, "seeds": seeds}
    gradients = workshop.measured(
        "order-gradients", made_from, lambda: measure_gradients(settings.distance, settings.cell, seeds)
    )
    growth = {family: row[-1] / row[0] for family, row in seconds.items()}
    worst = max(RECURRENT, key=lambda family: growth[family])
    numbers = {
        "rnn": _ratio(gradients["rnn"]),
        "rnnsearch": _ratio(gradients["rnnsearch"]),
        "transformer": growth["transformer"],
        "worst": growth[worst],
        "worst_family": worst,
        "longest": lengths[-1],
        "shortest": lengths[0],
    }
    return LessonPage(
        words.QUESTION,
        (
            _formulas(settings.distance),
            _counted(settings.distance),
            _time(seconds, lengths, tokens, repeats, numbers),
            _gradient(gradients, settings.distance, seeds),
        ),
        words.ANSWER.fill(numbers),
        attempts=(
            Attempt(words.TRY_LONGER, (f"distance={min(200, 2 * settings.distance)}",)),
            Attempt(words.TRY_CELL, ("cell=tanh",)),
        ),
        origins=(
            Origin(VASWANI_2017, "section 4, table 1", words.ORIGIN_TABLE),
            Origin(BENGIO_1994, "section 3", words.ORIGIN_FADING),
            Origin(KALCHBRENNER_2016, "section 2, table 1", words.ORIGIN_LINEAR),
        ),
        following=("convolution", "memory"),
        commands=("seq2see demo",),
    )


def _ratio(felt: list[float]) -> float:
    """The farthest word against the nearest."""
    return felt[0] / felt[-1]


# ----- the sections


def _formulas(length: int) -> Section:
    columns = (
        TableColumn(words.COLUMN_LAYER),
        TableColumn(words.COLUMN_COST),
        TableColumn(words.COLUMN_STEPS),
        TableColumn(words.COLUMN_PATH),
    )
    rows = (
        (words.ROW_RNN, "n d^2", "n", "n"),
        (words.ROW_CNN, "k n d^2", "1", "n / (k - 1)"),
        (words.ROW_DILATED, "k n d^2", "1", "log_2(n)"),
        (words.ROW_ATTENTION, "n^2 d", "1", "1"),
    )
    counted = {
        "length": length,
        "width": WIDTH,
        "kernel": 3,
        "recurrent": length * WIDTH**2,
        "attention": length**2 * WIDTH,
    }
    return Section(words.FORMULA_TITLE, (words.FORMULA, LessonTable(columns, rows), words.COUNT.fill(counted)))


def _counted(length: int) -> Section:
    columns = (
        TableColumn(words.COLUMN_FAMILY),
        TableColumn(words.COLUMN_SEQUENTIAL),
        TableColumn(words.COLUMN_COUNTED, ".0f"),
        TableColumn(words.COLUMN_LONGEST, ".0f"),
    )
    rows = tuple(
        (
            family,
            "S + T" if family in RECURRENT else "L + L'",
            float(steps_in_a_row(family, length)),
            float(path(family, length)),
        )
        for family in FAMILIES
    )
    return Section(
        words.STEPS_TITLE,
        (
            words.STEPS.fill({"length": length}),
            LessonTable(columns, rows),
            quote("s_t waits for s_{t-1}, c_t for s_{t-1}", RnnSearchDecoder.forward, "for word in", "rows.append"),
            quote("all s_t in one call, all c_t in one", LuongDecoder._all_at_once, "tops, _", "context, weights"),
        ),
        code=f"for family in FAMILIES:\n    print(family, steps_in_a_row(family, {length}), path(family, {length}))",
    )


def _time(
    seconds: dict[str, list[float]],
    lengths: tuple[int, ...],
    tokens: int,
    repeats: int,
    numbers: dict[str, Any],
) -> Section:
    ends = {"shortest": lengths[0], "longest": lengths[-1]}
    columns = (
        TableColumn(words.COLUMN_FAMILY),
        *(TableColumn(str(length), ".2f") for length in lengths),
        TableColumn(words.COLUMN_GROWTH.fill(ends), ".1f"),
    )
    rows: tuple[tuple[Value, ...], ...] = tuple((family, *row, row[-1] / row[0]) for family, row in seconds.items())
    lines = tuple(
        Series(family, tuple(enumerate(row)), dashed=family not in RECURRENT) for family, row in seconds.items()
    )
    ticks = tuple(str(length) for length in lengths)
    chart = Curves(words.SECONDS.fill({"tokens": tokens}), words.ACROSS_LENGTH, lines, log=True, ticks=ticks)
    return Section(
        words.TIME_TITLE,
        (
            words.TIME.fill({"tokens": tokens, "repeats": repeats, **ends}),
            LessonTable(columns, rows),
            chart,
            words.TIME_READ.fill(numbers),
        ),
        code="for family in FAMILIES:\n"
        "    print(family, seconds_of_update(family_model(family), batch_of(16, 256), 1))",
    )


def _gradient(gradients: dict[str, list[float]], distance: int, seeds: int) -> Section:
    lines = tuple(
        Series(
            family,
            tuple((distance - 1 - place, max(FLOOR, share)) for place, share in enumerate(felt)),
            dashed=family not in RECURRENT,
        )
        for family, felt in gradients.items()
    )
    columns = (
        TableColumn(words.COLUMN_FAMILY),
        TableColumn(words.COLUMN_NEAR, ".3f"),
        TableColumn(words.COLUMN_FAR, ".1e"),
        TableColumn(words.COLUMN_RATIO, ".1e"),
    )
    rows = tuple((family, felt[-1], felt[0], _ratio(felt)) for family, felt in gradients.items())
    read = {name: _ratio(gradients[name]) for name in ("rnn", "rnnsearch", "transformer")}
    return Section(
        words.GRADIENT_TITLE,
        (
            words.GRADIENT.fill({"length": distance, "seeds": seeds}),
            Curves(words.FELT, words.ACROSS_DISTANCE, lines, log=True),
            LessonTable(columns, rows),
            words.GRADIENT_READ.fill(read),
        ),
        code=f"for family in FAMILIES:\n"
        f"    felt = felt_by_target(family_model(family).double().eval(), {distance}, {distance - 1})\n"
        "    print(family, felt[0] / felt[-1])",
    )


LESSON = Lesson("order", words.TITLE, OrderSettings, teach)
