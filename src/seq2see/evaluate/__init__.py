"""How good is it: scores of a test set with intervals, quality by length, two systems side by side."""

from seq2see.evaluate.compare import Comparison, compare_outputs
from seq2see.evaluate.evaluation import Evaluation, EvaluationSettings, evaluate_outputs
from seq2see.evaluate.metrics import NAMES, TOKENIZERS, Metric, make_metric
from seq2see.evaluate.resampling import Interval, PairedTests, Resampling, bootstrap_interval, paired_tests
from seq2see.evaluate.scores import METRICS, exact_match, score, sentence_chrf
from seq2see.evaluate.testset import References, read_outputs, read_references, references_of

__all__ = [
    "METRICS",
    "NAMES",
    "TOKENIZERS",
    "Comparison",
    "Evaluation",
    "EvaluationSettings",
    "Interval",
    "Metric",
    "PairedTests",
    "References",
    "Resampling",
    "bootstrap_interval",
    "compare_outputs",
    "evaluate_outputs",
    "exact_match",
    "make_metric",
    "paired_tests",
    "read_outputs",
    "read_references",
    "references_of",
    "score",
    "sentence_chrf",
]
