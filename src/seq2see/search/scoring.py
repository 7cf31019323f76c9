"""What hypotheses of different lengths are ranked by, and how high one that still grows can get."""

from torch import Tensor

from seq2see.search.config import SearchConfig
from seq2see.search.hypothesis import Hypothesis, Path

_LEAST = 1e-6  # of attention: a word that was never looked at costs much, not infinitely much


def length_penalty(length: int, config: SearchConfig) -> float:
    """What the log-probability of `length` tokens, EOS included, is divided by; never falls with the length."""
    match config.length_penalty:
        case "none":
            return 1.0
        case "gnmt":
            return float(((5 + length) / 6) ** config.alpha)  # Wu 2016, equation 14
        case "average":
            return float(length)


def attainable(total: float, limit: int, config: SearchConfig) -> float:
    """The bound behind the stop rule: the best score that a hypothesis with this log-probability can end with.

    A further token never raises the sum, the penalty never falls with the length, and coverage costs nothing at best:
    all of it said for free up to the limit.
    """
    return total / length_penalty(limit, config)


def coverage_penalty(covered: Tensor) -> list[float]:
    """(R, S) attention summed over the steps -> one number for each row, 0 if every word was looked at (Wu 2016)."""
    return covered.double().clamp(min=_LEAST, max=1.0).log().sum(dim=-1).tolist()


def finished(path: Path, config: SearchConfig, covered: float, *, ended: bool) -> Hypothesis:
    """The path as a hypothesis; `covered` is what coverage_penalty gave for it."""
    score = path.total / length_penalty(len(path.scores), config) + config.coverage * covered
    return Hypothesis(path.tokens[:-1] if ended else path.tokens, path.scores, score, ended)


def ranking(hypothesis: Hypothesis) -> tuple[bool, float]:
    """A sort key, best first: what was cut off stands behind what ended. Equal ones keep their order."""
    return not hypothesis.ended, -hypothesis.score
