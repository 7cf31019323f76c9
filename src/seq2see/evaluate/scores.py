"""Scores of translations against references, by sacreBLEU where there is a standard."""

from collections.abc import Sequence
from typing import Literal, get_args

Metric = Literal["bleu", "chrf", "exact"]
METRICS: tuple[Metric, ...] = get_args(Metric)


def score(metric: Metric, outputs: Sequence[str], references: Sequence[str]) -> float:
    """0 to 100, higher is better."""
    if metric == "exact":
        return exact_match(outputs, references)
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    # force: texts that are tokenised already are what some corpora hold, and no reason to warn at every validation.
    measure = BLEU(force=True) if metric == "bleu" else CHRF()
    return float(measure.corpus_score(list(outputs), [list(references)]).score)


def exact_match(outputs: Sequence[str], references: Sequence[str]) -> float:
    """Share of outputs that are the reference to the letter, in percent."""
    hits = sum(output == reference for output, reference in zip(outputs, references, strict=True))
    return 100 * hits / max(1, len(references))
