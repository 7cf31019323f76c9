"""One offline report.html of what was trained and compared: curves, quality by length, significance, samples, beams.

`Report` holds what there is; a section without data is left out. It is drawn by the scripts of the page (view/), which
set every text as text.
"""

import json
import math
import platform
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeGuard

from seq2see import atomic
from seq2see.errors import RunError
from seq2see.evaluate.compare import ComparedSentence, Comparison, Which
from seq2see.evaluate.evaluation import Evaluation, LengthTable
from seq2see.evaluate.length import LengthScore
from seq2see.evaluate.resampling import PairedTests
from seq2see.look.draw.page import SCRIPTS, PageExample, document, pack_examples
from seq2see.report.numbers import (
    COMPARISON_COLUMNS,
    comparison_row,
    difference_text,
    interval_text,
    p_text,
    score_text,
)
from seq2see.report.tables import verdict
from seq2see.runs.config import METRICS
from seq2see.visible import visible

_LARGEST_FLOAT = 1e300  # a whole number can be larger, but no float
_POINTS = 400  # of a curve; more than a screen can show
_COLOURS = 4
_LONGEST = 5_000  # characters of one text
_PACKAGES = ("seq2see", "torch", "numpy", "tokenizers", "sacrebleu")

Point = tuple[float, float]  # step, value


@dataclass(frozen=True)
class Training:
    """How a run learned: the loss of its updates, and the scores of its validations by name."""

    name: str
    losses: tuple[Point, ...]
    scores: Mapping[str, tuple[Point, ...]]
    elapsed: Mapping[float, float] = field(default_factory=dict)  # seconds of training until a validated step


@dataclass(frozen=True)
class ReportTable:
    """Texts in rows. `left`: how many columns are names, the others are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    left: int = 1

    def as_dict(self) -> dict[str, Any]:
        rows = [[visible(text, _LONGEST) for text in row] for row in self.rows]
        notes = [visible(note, _LONGEST) for note in self.notes]
        columns = [visible(text) for text in self.columns]
        return {"title": visible(self.title), "columns": columns, "rows": rows, "left": self.left, "notes": notes}


@dataclass(frozen=True)
class ResultsReport:
    """What is known; everything but the title may be missing.

    lead          a sentence or two below the title
    comparison    two systems on one test set;  evaluations: systems by themselves, if they were not compared
    scores        a table in the place of the one that comparison or evaluations would give;  tables: further ones
    trainings     of each run;  by_minutes: drawn against the time they took as well
    examples      sentences with their maps of attention and beam trees
    sentences     how many are shown where one system is ahead most
    environment   lines of what is needed to get the same again; see `environment`
    """

    title: str
    lead: str = ""
    comparison: Comparison | None = None
    evaluations: tuple[Evaluation, ...] = ()
    scores: ReportTable | None = None
    tables: tuple[ReportTable, ...] = ()
    trainings: tuple[Training, ...] = ()
    by_minutes: bool = False
    examples: tuple[PageExample, ...] = ()
    sentences: int = 5
    environment: tuple[tuple[str, str], ...] = ()


def report(results: ResultsReport) -> str:
    """The whole file."""
    examples, note = pack_examples(results.examples)
    data: dict[str, Any] = {
        "title": visible(results.title),
        "lead": visible(results.lead, _LONGEST),
        "scores": _scores(results),
        "lengths": _lengths(results),
        "tables": [table.as_dict() for table in results.tables],
        "training": list(_training_charts(results.trainings, by_minutes=results.by_minutes)),
        "examples": examples,
        "note": note,
        "sentences": _sentences(results.comparison, results.sentences),
        "environment": [
            [visible(name), visible(text, _LONGEST)] for name, text in (*results.environment, *_provenance(results))
        ],
    }
    return document(results.title, data, (*SCRIPTS, "chart", "report"))


def read_training(run: str | Path, name: str | None = None) -> Training:
    """From the metrics.jsonl of a run folder, finished or not."""
    losses: list[Point] = []
    scores: dict[str, list[Point]] = {}
    elapsed: dict[float, float] = {}
    updating = 0.0  # seconds of updates so far
    for entry in read_metrics(run):
        step = entry.get("step")
        if not is_number(step):
            continue
        if is_number(loss := entry.get("loss")):
            losses.append((step, loss))
        if is_number(seconds := entry.get("seconds")):
            updating += seconds
        validation = entry.get("validation")
        if isinstance(validation, dict):  # older runs do not say when it was: then without earlier validations
            elapsed[step] = when if is_number(when := entry.get("elapsed")) else updating
        for metric, value in validation.items() if isinstance(validation, dict) else ():
            if is_number(value):
                scores.setdefault(metric, []).append((step, value))
    measured = {metric: tuple(points) for metric, points in scores.items()}
    return Training(Path(run).name if name is None else name, tuple(losses), measured, elapsed)


def read_metrics(run: str | Path) -> Iterator[dict[str, Any]]:
    """The lines of metrics.jsonl; one that was being written, or is damaged, is left out."""
    path = Path(run) / METRICS
    try:
        with atomic.open_plain(path) as file:
            yield from (_entry(line.decode(errors="replace")) for line in file)
    except FileNotFoundError:
        raise RunError(f"{run}: no training to report on (it has no {METRICS})") from None
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror}") from None


def environment(command: Sequence[str] | str | None = None, seed: int | None = None) -> tuple[tuple[str, str], ...]:
    """What the same numbers depend on: command (this process's, if none is given), seed, versions, machine."""
    words = sys.argv if command is None else command
    line = words if isinstance(words, str) else shlex.join(words)
    seeds = [] if seed is None else [("seed", str(seed))]
    versions = ", ".join(f"{name} {number}" for name in _PACKAGES if (number := _version(name)))
    machine = f"{platform.system()} {platform.machine()}"
    return (
        ("command", line),
        *seeds,
        ("versions", f"Python {platform.python_version()}, {versions}"),
        ("machine", machine),
    )


# ----- scores and lengths


def _scores(results: ResultsReport) -> dict[str, Any] | None:
    if results.scores is not None:
        return results.scores.as_dict() | {"verdicts": list(results.scores.notes)}
    if results.comparison is not None:
        return _contrasts(results.comparison)
    if not results.evaluations:
        return None
    rows = [
        [visible(evaluation.system, 80), score.label, score_text(score.value), interval_text(score.interval)]
        for evaluation in results.evaluations
        for score in evaluation.scores
    ]
    return {"columns": ["system", "metric", "score", "95 % interval"], "rows": rows, "left": 2, "verdicts": []}


def _contrasts(comparison: Comparison) -> dict[str, Any]:
    test = f"{len(comparison.sentences):,} sentences of {visible(comparison.test)}"
    names = f"A is {visible(comparison.a)}, B is {visible(comparison.b)}; {test}."
    return {
        "columns": list(COMPARISON_COLUMNS),
        "rows": [comparison_row(contrast) for contrast in comparison.contrasts],
        "verdicts": [names, *map(verdict, comparison.contrasts)],
    }


def _lengths(results: ResultsReport) -> dict[str, Any] | None:
    """The chart, and the table that says the same."""
    named = _length_tables(results)
    if not named:
        return None
    names, tables = [name for name, _ in named], [table for _, table in named]
    first = tables[0]
    chart = {
        "label": first.title,
        "across": f"{first.unit} of the {first.side}",
        "from": 0,
        "digits": 1,
        "ticks": [[row.bucket.label, f"n={row.sentences:,}"] for row in first.rows],
        "series": [
            {"name": name, "colour": place % _COLOURS, "dashed": False, "marked": True, "points": _points(table)}
            for place, (name, table) in enumerate(named)
        ],
    }
    paired = results.comparison.by_length.paired if results.comparison is not None else None
    return {
        "title": f"{first.title}; bands are 95 % intervals",
        "chart": chart,
        "columns": [first.unit, "sentences", *names, *(["B - A", "p bootstrap"] if paired else [])],
        "rows": [
            [rows[0].bucket.label, f"{rows[0].sentences:,}", *map(_plus_minus, rows), *_difference_cells(paired, place)]
            for place, rows in enumerate(zip(*(table.rows for table in tables), strict=True))
        ],
    }


def _length_tables(results: ResultsReport) -> list[tuple[str, LengthTable]]:
    """Of systems that can be drawn over each other: by the same metric, over the same buckets."""
    if results.comparison is not None:
        both = results.comparison.by_length
        return [(f"A {visible(results.comparison.a, 80)}", both.a), (f"B {visible(results.comparison.b, 80)}", both.b)]
    named = [(visible(evaluation.system, 80), evaluation.by_length) for evaluation in results.evaluations]
    return [(name, table) for name, table in named if _comparable(table, named[0][1])]


def _comparable(a: LengthTable, b: LengthTable) -> bool:
    buckets = [[row.bucket for row in table.rows] for table in (a, b)]
    return (a.metric, a.side, a.unit) == (b.metric, b.side, b.unit) and buckets[0] == buckets[1]


def _points(table: LengthTable) -> list[list[float | None]]:
    return [
        [place, row.score, *((None, None) if row.interval is None else (row.interval.low, row.interval.high))]
        for place, row in enumerate(table.rows)
    ]


def _difference_cells(paired: Sequence[PairedTests] | None, place: int) -> list[str]:
    if paired is None:
        return []
    return [difference_text(paired[place].difference), p_text(paired[place].p_bootstrap)]


# ----- training


def _training_charts(trainings: Sequence[Training], *, by_minutes: bool) -> Iterator[dict[str, Any]]:
    """The loss of updates and of validation in one chart, then a chart for each other score."""
    losses = []
    for place, training in enumerate(trainings):
        name = visible(training.name, 80)
        losses.append(_curve(f"{name}, training", place, training.losses, dashed=True))
        losses.append(_curve(f"{name}, validation", place, training.scores.get("loss", ())))
    if any(curve["points"] for curve in losses):
        yield _chart("Loss", losses)
    for metric in dict.fromkeys(metric for training in trainings for metric in training.scores if metric != "loss"):
        points = [training.scores.get(metric, ()) for training in trainings]
        yield _chart(f"Validation {visible(metric, 80)}", _curves(trainings, points))
        if by_minutes:
            timed = [_against_minutes(training, metric) for training in trainings]
            label = f"Validation {visible(metric, 80)} against CPU minutes"
            yield _chart(label, _curves(trainings, timed), across="minutes")


def _curves(trainings: Sequence[Training], points: Sequence[Sequence[Point]]) -> list[dict[str, Any]]:
    named = enumerate(zip(trainings, points, strict=True))
    return [_curve(visible(training.name, 80), place, measured) for place, (training, measured) in named]


def _against_minutes(training: Training, metric: str) -> list[Point]:
    """The same points by when they were measured; those of which nobody knows are left out."""
    points = training.scores.get(metric, ())
    return [(training.elapsed[step] / 60, value) for step, value in points if step in training.elapsed]


def _chart(label: str, curves: list[dict[str, Any]], *, across: str = "updates") -> dict[str, Any]:
    drawn = [curve for curve in curves if curve["points"]]
    return {"label": label, "across": across, "from": 0, "digits": 3, "ticks": None, "series": drawn}


def _curve(name: str, place: int, points: Sequence[Point], *, dashed: bool = False) -> dict[str, Any]:
    thin = [[step, value, None, None] for step, value in thinned(points)]
    return {
        "name": name,
        "colour": place % _COLOURS,
        "dashed": dashed,
        "marked": not dashed and len(thin) <= 40,
        "points": thin,
    }


def thinned(points: Sequence[Point], most: int = _POINTS) -> list[Point]:
    """At most so many points: the means of neighbours, which is also what the eye would make of them."""
    if len(points) <= most:
        return list(points)
    groups = [points[len(points) * i // most : len(points) * (i + 1) // most] for i in range(most)]
    return [(group[-1][0], math.fsum(value for _, value in group) / len(group)) for group in groups]


# ----- sentences, and how it was made


def _sentences(comparison: Comparison | None, most: int) -> list[dict[str, Any]]:
    if comparison is None:
        return []
    sides: tuple[tuple[Which, str], ...] = (("a", comparison.a), ("b", comparison.b))
    groups = []
    for which, name in sides:
        ahead = comparison.wins(which, most)
        sentences = f"{comparison.tally[which]:,} sentences"
        title = f"{which.upper()} is ahead most ({visible(name, 120)}; by chrF ahead in {sentences})"
        if ahead:
            groups.append({"title": title, "items": [_sentence(sentence) for sentence in ahead]})
    return groups


def _sentence(sentence: ComparedSentence) -> list[list[str]]:
    lines = [
        ("pair", sentence.place),
        ("source", sentence.source),
        ("reference", sentence.reference),
        (f"A, chrF {sentence.chrf_a:.1f}", sentence.a),
        (f"B, chrF {sentence.chrf_b:.1f}", sentence.b),
    ]
    return [[label, visible(text, _LONGEST)] for label, text in lines]


def _provenance(results: ResultsReport) -> Iterator[tuple[str, str]]:
    """Notes, commands and signatures of what was measured."""
    comparison = results.comparison
    if comparison is not None:
        yield from (("note", note) for note in comparison.notes)
        yield from ((contrast.a.label, contrast.signature) for contrast in comparison.contrasts)
        yield (
            "resampling",
            f"{comparison.plan.resamples:,} resamples, {comparison.plan.trials:,} trials, seed {comparison.plan.seed}",
        )
        yield from ([("measured by", comparison.command)] if comparison.command else [])
    for evaluation in results.evaluations:
        yield from ([("measured by", evaluation.command)] if evaluation.command else [])
        yield from (("note", f"{evaluation.system}: {note}") for note in evaluation.notes)
        yield from ((f"{score.label} of {evaluation.system}", score.signature) for score in evaluation.scores)


# ----- small parts


def _plus_minus(row: LengthScore) -> str:
    return score_text(row.score) + ("" if row.interval is None else f" ±{row.interval.half:.1f}")


def _entry(line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST_FLOAT


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
