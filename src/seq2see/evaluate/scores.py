"""One number for a test set or a sentence, by sacreBLEU where there is a standard; `metrics` has them in full."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

TrainingMetric = Literal["bleu", "chrf", "exact"]
METRICS: tuple[TrainingMetric, ...] = get_args(TrainingMetric)
"""Those that training can stop by: quick, and higher is better."""


def score(metric: TrainingMetric, outputs: Sequence[str], references: Sequence[str]) -> float:
    """0 to 100, higher is better."""
    if metric == "exact":
        return exact_match(outputs, references)
    from sacrebleu.metrics.bleu import BLEU

    # force: texts that are tokenised already are what some corpora hold, and no reason to warn at every validation.
    measure = BLEU(force=True) if metric == "bleu" else _chrf()
    return float(measure.corpus_score(list(outputs), [list(references)]).score)


def exact_match(outputs: Sequence[str], references: Sequence[str]) -> float:
    """Share of outputs that are the reference to the letter, in percent."""
    hits = sum(output == reference for output, reference in zip(outputs, references, strict=True))
    return 100 * hits / max(1, len(references))


def sentence_chrf(output: str, reference: str) -> float:
    """chrF2 of one sentence, 0 to 100; short enough a unit that BLEU would often be 0."""
    return float(_chrf().sentence_score(output, [reference]).score)


@cache
def _chrf() -> "CHRF":
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()
