"""Two systems on the same test set: which is better, how sure is that, at which lengths, and in which sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seq2see.evaluate.evaluation import (
    Counting,
    Evaluation,
    EvaluationSettings,
    LengthTable,
    Score,
    check_outputs,
    count_sentences,
    interval_dict,
    length_table,
    notes_on_outputs,
    notes_on_test,
    score_of,
)
from seq2see.evaluate.length import Bucket, Lengths, Side
from seq2see.evaluate.metrics import Chrf, Metric, Name, Values
from seq2see.evaluate.resampling import PairedTests, Resampling, paired_tests
from seq2see.evaluate.testset import References

METRICS: tuple[Name, ...] = ("bleu", "chrf", "exact")
"""Compared by default; TER can take minutes."""
SIGNIFICANT = 0.05

Which = Literal["a", "b"]


@dataclass(frozen=True)
class Contrast:
    """One metric: both scores and what lies between them; differences are B - A."""

    a: Score
    b: Score
    paired: PairedTests
    signature: str

    @property
    def winner(self) -> Which | None:
        """The better one, if both tests see a difference that chance does not explain."""
        difference, chances = self.paired.difference, (self.paired.p_bootstrap, self.paired.p_randomisation)
        if not difference or any(p is None or p >= SIGNIFICANT for p in chances):
            return None
        return "b" if (difference > 0) == self.a.higher_is_better else "a"

    def as_dict(self) -> dict[str, Any]:
        return {
            "metric": self.a.metric,
            "label": self.a.label,
            "higher_is_better": self.a.higher_is_better,
            "a": {"score": self.a.value, **interval_dict(self.a.interval)},
            "b": {"score": self.b.value, **interval_dict(self.b.interval)},
            **paired_dict(self.paired),
            "winner": self.winner,
            "signature": self.signature,
        }


@dataclass(frozen=True)
class LengthContrast:
    """Quality by length of both, and the difference in each bucket (in the order of the tables' rows)."""

    a: LengthTable
    b: LengthTable
    paired: tuple[PairedTests, ...]

    @property
    def side(self) -> Side:
        return self.a.side

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        return tuple(row.bucket for row in self.a.rows)

    def as_dict(self) -> dict[str, Any]:
        table_a, table_b = self.a.as_dict(), self.b.as_dict()
        buckets = [
            {
                "from": a["from"],
                "to": a["to"],
                "sentences": a["sentences"],
                "a": {name: a[name] for name in ("score", "low", "high")},
                "b": {name: b[name] for name in ("score", "low", "high")},
                **paired_dict(tests),
            }
            for a, b, tests in zip(table_a["buckets"], table_b["buckets"], self.paired, strict=True)
        ]
        return table_a | {"buckets": buckets}


@dataclass(frozen=True)
class ComparedSentence:
    """One pair and what both systems made of it, with the chrF of each."""

    place: str
    source: str
    reference: str
    a: str
    b: str
    chrf_a: float
    chrf_b: float

    @property
    def gain(self) -> float:
        """Above zero: B is better here."""
        return self.chrf_b - self.chrf_a

    def as_dict(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "source": self.source,
            "reference": self.reference,
            "a": {"output": self.a, "chrf": self.chrf_a},
            "b": {"output": self.b, "chrf": self.chrf_b},
        }


@dataclass(frozen=True)
class Comparison:
    """Two systems on one test set; terminal, JSON and report are drawn from this alone."""

    a: str
    b: str
    test: str
    contrasts: tuple[Contrast, ...]
    by_length: LengthContrast
    sentences: tuple[ComparedSentence, ...]
    plan: Resampling
    notes: tuple[str, ...]
    command: str = ""  # that gives the same again

    def wins(self, which: Which, most: int) -> list[ComparedSentence]:
        """The sentences in which this system is ahead by most, largest first; in order where equal."""
        sign = 1 if which == "b" else -1
        ahead = [sentence for sentence in self.sentences if sign * sentence.gain > 0]
        return sorted(ahead, key=lambda sentence: -sign * sentence.gain)[:most]

    @property
    def tally(self) -> dict[Literal["a", "equal", "b"], int]:
        """In how many sentences each is ahead by chrF."""
        a = sum(sentence.gain < 0 for sentence in self.sentences)
        b = sum(sentence.gain > 0 for sentence in self.sentences)
        return {"a": a, "equal": len(self.sentences) - a - b, "b": b}

    def evaluation(self, which: Which) -> Evaluation:
        """One of the two by itself."""
        scores = tuple(contrast.a if which == "a" else contrast.b for contrast in self.contrasts)
        name, table = (self.a, self.by_length.a) if which == "a" else (self.b, self.by_length.b)
        return Evaluation(name, self.test, len(self.sentences), scores, table, self.notes, self.command)

    def as_dict(self, most: int = 5) -> dict[str, Any]:
        return {
            "a": self.a,
            "b": self.b,
            "test": self.test,
            "sentences": len(self.sentences),
            "resamples": self.plan.resamples,
            "trials": self.plan.trials,
            "seed": self.plan.seed,
            "scores": [contrast.as_dict() for contrast in self.contrasts],
            "by_length": self.by_length.as_dict(),
            "ahead": dict(self.tally),
            "a_wins": [sentence.as_dict() for sentence in self.wins("a", most)],
            "b_wins": [sentence.as_dict() for sentence in self.wins("b", most)],
            "notes": list(self.notes),
            "command": self.command,
        }


def paired_dict(tests: PairedTests) -> dict[str, Any]:
    return {
        "difference": {"score": tests.difference, **interval_dict(tests.interval)},
        "p_bootstrap": tests.p_bootstrap,
        "p_randomisation": tests.p_randomisation,
        "b_wins": tests.b_wins,
    }


def compare_outputs(
    outputs_a: Sequence[str],
    outputs_b: Sequence[str],
    test: References,
    settings: EvaluationSettings | None = None,
    *,
    systems: tuple[str, str] = ("A", "B"),
    counting: Counting | None = None,
) -> Comparison:
    """Both outputs for the same pairs."""
    settings = settings or EvaluationSettings(metrics=METRICS)
    outputs = (outputs_a, outputs_b)
    for lines, system in zip(outputs, systems, strict=True):
        check_outputs(lines, test, system)
    metrics, lengths = settings.make(test), settings.lengths(test)
    counts = {metric.name: _both(metric, outputs, test, systems, counting) for metric in metrics}
    contrasts = tuple(_contrast(metric, *counts[metric.name], settings.plan) for metric in metrics)
    notes = [*notes_on_test(test, settings, [contrast.a for contrast in contrasts])]
    for lines, system in zip(outputs, systems, strict=True):
        notes += notes_on_outputs(lines, system)
    chrf = counts["chrf"] if "chrf" in counts else _both(Chrf(), outputs, test, systems, counting)
    return Comparison(
        *systems,
        test.name,
        contrasts,
        _by_length(metrics[0], *counts[metrics[0].name], lengths, settings.plan),
        _sentences(test, outputs_a, outputs_b, *chrf),
        settings.plan,
        tuple(notes),
    )


def _both(
    metric: Metric,
    outputs: tuple[Sequence[str], Sequence[str]],
    test: References,
    systems: tuple[str, str],
    counting: Counting | None,
) -> tuple[Values, Values]:
    return (
        count_sentences(metric, outputs[0], test, systems[0], counting),
        count_sentences(metric, outputs[1], test, systems[1], counting),
    )


def _contrast(metric: Metric, a: Values, b: Values, plan: Resampling) -> Contrast:
    signature = metric.signature(plan.resamples, plan.seed, plan.trials)
    return Contrast(score_of(metric, a, plan), score_of(metric, b, plan), paired_tests(metric, a, b, plan), signature)


def _by_length(metric: Metric, a: Values, b: Values, lengths: Lengths, plan: Resampling) -> LengthContrast:
    inside = [bucket.holds(lengths.values) for bucket in lengths.buckets]
    return LengthContrast(
        length_table(metric, a, lengths, plan),
        length_table(metric, b, lengths, plan),
        tuple(paired_tests(metric, a[rows], b[rows], plan) for rows in inside),
    )


def _sentences(
    test: References, outputs_a: Sequence[str], outputs_b: Sequence[str], counts_a: Values, counts_b: Values
) -> tuple[ComparedSentence, ...]:
    chrf = Chrf()
    scores = zip(chrf.scores(counts_a).tolist(), chrf.scores(counts_b).tolist(), strict=True)
    texts = zip(test.places, test.sources, test.references, outputs_a, outputs_b, strict=True)
    return tuple(ComparedSentence(*text, *score) for text, score in zip(texts, scores, strict=True))
