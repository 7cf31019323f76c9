"""From results.json to figures: scores with intervals, over seeds, against the baseline, by length.

The counts of a sentence are averaged over the seeds of a condition. Every score is a function of sums of counts, so
that one condition with several seeds is resampled and tested as one system is, sentence by sentence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np

from seq2see.evaluate.evaluation import LengthTable, Score, length_table, score_of
from seq2see.evaluate.length import Lengths, make_buckets
from seq2see.evaluate.metrics import Metric, Name, Values, make_metric
from seq2see.evaluate.resampling import PairedTests, Resampling, paired_tests
from seq2see.report.page import Training
from seq2see.study.execution.measuring import error_rate, unpack_counts
from seq2see.study.results import Entry, StudyResults

PLAN = Resampling(trials=1_000)


@dataclass(frozen=True)
class ConditionScore:
    """One metric of one condition on one set. `paired` is against the baseline; None for the baseline itself."""

    score: Score
    by_seed: tuple[float | None, ...]
    paired: PairedTests | None


@dataclass(frozen=True)
class SetScores:
    """A condition on one set. `digest` tells which sentences: only conditions with the same one can be compared."""

    digest: str
    pairs: str
    sentences: int
    scores: tuple[ConditionScore, ...]
    by_length: LengthTable


@dataclass(frozen=True)
class ConditionResult:
    """What is known of a condition; means over its seeds."""

    name: str
    baseline: str | None
    entries: tuple[Entry, ...]
    sets: Mapping[str, SetScores] = field(default_factory=dict)

    @property
    def seeds(self) -> int:
        return len(self.entries)

    @property
    def parameters(self) -> int:
        return int(self.entries[0]["parameters"])

    @property
    def updates(self) -> float:
        return fmean(entry["updates"] for entry in self.entries)

    def clock(self, name: str) -> float | None:
        """minutes, memory or decoding; None where no seed has it."""
        values = [entry["clock"].get(name) for entry in self.entries]
        known = [float(value) for value in values if value is not None]
        return fmean(known) if known else None

    @property
    def aer(self) -> float | None:
        """In percent; None without gold or without attention."""
        aligned = [entry.get("alignment", {}).get("result") for entry in self.entries]
        rates = [error_rate(result["counts"]) for result in aligned if result is not None]
        return fmean(rates) if rates else None


def conditions_in(results: StudyResults) -> list[ConditionResult]:
    """In the order of the study; those of which at least one cell is done."""
    entries: dict[str, list[Entry]] = {}
    for entry in results.shown():
        entries.setdefault(entry["condition"], []).append(entry)
    baselines: Mapping[str, str] = results.study.get("baselines", {})
    scorer = _Scorer(results, entries)
    return [
        ConditionResult(name, baselines.get(name), tuple(cells), scorer.sets(name, baselines.get(name)))
        for name in results.study.get("conditions", [])
        if (cells := entries.get(name))
    ]


class _Scorer:
    """Counts are unpacked once."""

    def __init__(self, results: StudyResults, entries: Mapping[str, Sequence[Entry]]) -> None:
        self.results = results
        self.entries = entries
        self.metrics: tuple[Name, ...] = tuple(results.study["metrics"]) if results.study else ()
        self._counts: dict[tuple[str, str, Name], list[Values]] = {}

    def sets(self, condition: str, baseline: str | None) -> dict[str, SetScores]:
        """On the sets that every seed of the condition has been scored on."""
        scored = [entry.get("scores", {}) for entry in self.entries[condition]]
        names = [name for name in scored[0] if all(name in scores for scores in scored)]
        return {name: self._set(name, condition, baseline) for name in names if self._is_one_set(name, condition)}

    def _is_one_set(self, name: str, condition: str) -> bool:
        digests = {entry["scores"][name]["set"] for entry in self.entries[condition]}
        return len(digests) == 1 and digests <= set(self.results.sets)

    def _digest(self, name: str, condition: str | None) -> str | None:
        for entry in self.entries.get(condition or "", ()):
            return entry.get("scores", {}).get(name, {}).get("set")
        return None

    def _set(self, name: str, condition: str, baseline: str | None) -> SetScores:
        digest = self._digest(name, condition) or ""
        about = self.results.sets[digest]
        metrics = [make_metric(metric, (), about["tokenize"]) for metric in self.metrics]
        comparable = baseline != condition and self._digest(name, baseline) == digest
        scores = [self._score(name, metric, condition, baseline if comparable else None) for metric in metrics]
        lengths = self._lengths(about)
        table = length_table(metrics[0], self._mean(name, metrics[0], condition), lengths, PLAN)
        return SetScores(digest, str(about["pairs"]), int(about["sentences"]), tuple(scores), table)

    def _score(self, name: str, metric: Metric, condition: str, baseline: str | None) -> ConditionScore:
        ours = self._mean(name, metric, condition)
        paired = None
        if baseline is not None:
            paired = paired_tests(metric, self._mean(name, metric, baseline), ours, PLAN)
        by_seed = tuple(metric.score(counts) for counts in self._seeds(name, metric, condition))
        return ConditionScore(score_of(metric, ours, PLAN), by_seed, paired)

    def _mean(self, name: str, metric: Metric, condition: str) -> Values:
        return np.mean(self._seeds(name, metric, condition), axis=0)

    def _seeds(self, name: str, metric: Metric, condition: str) -> list[Values]:
        key = (name, condition, metric.name)
        if key not in self._counts:
            packed = [entry["scores"][name]["counts"][metric.name] for entry in self.entries[condition]]
            self._counts[key] = [unpack_counts(counts) for counts in packed]
        return self._counts[key]

    def _lengths(self, about: Mapping[str, Any]) -> Lengths:
        values = unpack_counts(about["lengths"]).astype(np.int64)
        return Lengths("source", about["unit"], values, tuple(make_buckets(values, self.results.study.get("edges"))))


def training_of(entry: Entry) -> Training:
    """The learning curve of a cell."""
    curve, elapsed = entry["curve"], entry["clock"].get("elapsed", [])
    scores = {name: tuple((step, value) for step, value in points) for name, points in curve["scores"].items()}
    losses = tuple((step, value) for step, value in curve["losses"])
    return Training(entry["name"], losses, scores, dict(elapsed))


def ranked(conditions: Sequence[ConditionResult], name: str) -> list[ConditionResult]:
    """By the first metric on a set, the best first; those without a score are left out."""
    scored = [(condition, condition.sets[name].scores[0].score) for condition in conditions if name in condition.sets]
    known = [(condition, score) for condition, score in scored if score.value is not None]
    sign = {True: -1.0, False: 1.0}
    ordered = sorted(known, key=lambda pair: sign[pair[1].higher_is_better] * (pair[1].value or 0.0))
    return [condition for condition, _ in ordered]


def set_names(conditions: Sequence[ConditionResult]) -> list[str]:
    return list(dict.fromkeys(name for condition in conditions for name in condition.sets))
