"""One system on one test set: every score with its interval and signature, and quality by length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from seq2see.errors import ConfigError, ShapeError
from seq2see.evaluate import script
from seq2see.evaluate.length import Lengths, LengthScore, Side, measure_lengths, score_by_length
from seq2see.evaluate.metrics import Advance, Metric, Name, Tokenize, Values, make_metric
from seq2see.evaluate.resampling import Interval, Resampling, bootstrap_interval
from seq2see.evaluate.scores import sentence_chrf
from seq2see.evaluate.testset import References

_MOST_RANKED = 2_000  # sentences of which the worst are looked for
FEW = 30  # sentences; below, an interval is not to be trusted

Counting = Callable[[str], Advance]
"""What is being counted -> a function that is called with the number of sentences done since."""


@dataclass(frozen=True)
class EvaluationSettings:
    """What is measured, and how. The first metric is the one shown by length."""

    metrics: tuple[Name, ...] = ("bleu", "chrf", "ter", "exact", "wer", "cer")
    tokenize: Tokenize | None = None  # of BLEU; None: 13a, or char for a language without spaces
    side: Side = "source"  # whose length is meant
    edges: tuple[int, ...] | None = None
    plan: Resampling = field(default_factory=Resampling)

    def __post_init__(self) -> None:
        if not self.metrics or len(set(self.metrics)) < len(self.metrics):
            raise ConfigError(f"metrics {', '.join(self.metrics) or 'none'}: name each once, and at least one")

    def make(self, test: References) -> list[Metric]:
        return [make_metric(name, test.references, self.tokenize) for name in self.metrics]

    def lengths(self, test: References) -> Lengths:
        return measure_lengths(test.sources if self.side == "source" else test.references, self.side, self.edges)


@dataclass(frozen=True)
class Score:
    """One number, how sure it is, and how to get it again."""

    metric: Name
    label: str
    higher_is_better: bool
    value: float | None  # None where the metric is not defined, such as BLEU of texts below four words
    interval: Interval | None
    signature: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "label": self.label,
            "score": self.value,
            **interval_dict(self.interval),
            "higher_is_better": self.higher_is_better,
            "signature": self.signature,
        }


@dataclass(frozen=True)
class LengthTable:
    """Quality by length of one system, by one metric."""

    metric: Name
    label: str
    higher_is_better: bool
    side: Side
    unit: script.Unit
    rows: tuple[LengthScore, ...]

    @property
    def title(self) -> str:
        better = "" if self.higher_is_better else " (lower is better)"
        return f"{self.label} by length: {self.unit} of the {self.side}{better}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "side": self.side,
            "unit": self.unit,
            "buckets": [
                {
                    "from": row.bucket.low,
                    "to": row.bucket.high,
                    "sentences": row.sentences,
                    "score": row.score,
                    **interval_dict(row.interval),
                }
                for row in self.rows
            ],
        }


@dataclass(frozen=True)
class Evaluation:
    """All that is known about one system on one test set."""

    system: str
    test: str
    sentences: int
    scores: tuple[Score, ...]
    by_length: LengthTable
    notes: tuple[str, ...]
    command: str = ""  # that gives the same again

    def as_dict(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "test": self.test,
            "sentences": self.sentences,
            "scores": [score.as_dict() for score in self.scores],
            "by_length": self.by_length.as_dict(),
            "notes": list(self.notes),
            "command": self.command,
        }


def worst_by_length(
    outputs: Sequence[str], test: References, table: LengthTable, most: int = 5
) -> list[list[dict[str, Any]]]:
    """For each bucket of the table its worst sentences by chrF, the worst first; of a large test set its first part."""
    sides = test.sources if table.side == "source" else test.references
    lengths = measure_lengths(sides[:_MOST_RANKED], table.side).values
    scored: list[dict[str, Any]] = [
        {"source": source, "reference": reference, "output": output, "chrf": sentence_chrf(output, reference)}
        for source, reference, output in islice(zip(test.sources, test.references, outputs, strict=True), _MOST_RANKED)
    ]
    places = [np.flatnonzero(row.bucket.holds(lengths)).tolist() for row in table.rows]
    return [sorted((scored[place] for place in bucket), key=lambda one: one["chrf"])[:most] for bucket in places]


def interval_dict(interval: Interval | None) -> dict[str, float | None]:
    return {"low": interval.low, "high": interval.high} if interval else {"low": None, "high": None}


def evaluate_outputs(
    outputs: Sequence[str],
    test: References,
    settings: EvaluationSettings | None = None,
    *,
    system: str = "outputs",
    counting: Counting | None = None,
) -> Evaluation:
    """Scores of one output for each pair of the test set."""
    settings = settings or EvaluationSettings()
    check_outputs(outputs, test, system)
    metrics, lengths = settings.make(test), settings.lengths(test)
    counts = [count_sentences(metric, outputs, test, system, counting) for metric in metrics]
    scores = tuple(score_of(metric, rows, settings.plan) for metric, rows in zip(metrics, counts, strict=True))
    table = length_table(metrics[0], counts[0], lengths, settings.plan)
    notes = (*notes_on_test(test, settings, scores), *notes_on_outputs(outputs, system))
    return Evaluation(system, test.name, len(test), scores, table, notes)


def check_outputs(outputs: Sequence[str], test: References, system: str) -> None:
    if len(outputs) != len(test):
        raise ShapeError(f"{system}: {len(outputs)} outputs for {len(test)} pairs; there must be one for each")
    if not len(test):
        raise ConfigError(f"{test.name}: no pairs to score")


def count_sentences(
    metric: Metric, outputs: Sequence[str], test: References, system: str, counting: Counting | None
) -> Values:
    return metric.counts(outputs, test.references, counting(f"{metric.label} of {system}") if counting else None)


def score_of(metric: Metric, counts: Values, plan: Resampling) -> Score:
    return Score(
        metric.name,
        metric.label,
        metric.higher_is_better,
        metric.score(counts),
        bootstrap_interval(metric, counts, plan),
        metric.signature(plan.resamples, plan.seed),
    )


def length_table(metric: Metric, counts: Values, lengths: Lengths, plan: Resampling) -> LengthTable:
    rows = score_by_length(metric, counts, lengths, plan)
    return LengthTable(metric.name, metric.label, metric.higher_is_better, lengths.side, lengths.unit, rows)


def notes_on_test(test: References, settings: EvaluationSettings, scores: Sequence[Score]) -> list[str]:
    """What a reader of the numbers should know and may not think of."""
    notes = []
    if "bleu" in settings.metrics and settings.tokenize is None:
        if script.length_unit(test.references) == "characters":
            notes.append("the references have no spaces between words: BLEU counts characters (tok:char)")
        elif script.is_korean(test.references):
            notes.append(
                "BLEU counts Korean words between spaces (tok:13a), where one particle makes another word; "
                "--tokenize char or ko-mecab is less strict"
            )
    if any(score.metric == "bleu" and score.value is None for score in scores):
        notes.append("no reference has four words, so BLEU is not defined; chrF and exact match are")
    if len(test) < FEW:
        notes.append(f"{len(test)} sentence{'s are' if len(test) > 1 else ' is'} too few to trust an interval")
    if empty := sum(not reference.strip() for reference in test.references):
        notes.append(f"{empty:,} of {len(test):,} references are empty")
    return notes


def notes_on_outputs(outputs: Sequence[str], system: str) -> list[str]:
    empty = sum(not output.strip() for output in outputs)
    return [f"{empty:,} of {len(outputs):,} outputs of {system} are empty"] if empty else []
