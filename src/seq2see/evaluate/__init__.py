"""How good is it: scores of a whole test set."""

from seq2see.evaluate.scores import METRICS, Metric, exact_match, score

__all__ = ["METRICS", "Metric", "exact_match", "score"]
