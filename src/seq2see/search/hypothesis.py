"""What a search gives back: hypotheses, and on request a record of everything it considered."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

# ended     said the end of the sentence              kept      lives on, at `place`
# cut       ran into the limit on its length          pruned    the beam was full of better ones
# hopeless  could not overtake what had ended         blocked   a rule forbids it; `rule` says which
Fate = Literal["kept", "ended", "cut", "pruned", "hopeless", "blocked"]
Rule = Literal["prefix", "required", "forbidden", "repeated", "too short"]


class Hypothesis(NamedTuple):
    """What a search said: tokens without BOS and EOS, and the log-probability of each one, EOS included if said."""

    tokens: list[int]
    token_scores: list[float]
    score: float  # what hypotheses are ranked by: the sum, through the length penalty, and the coverage penalty
    ended: bool  # by itself, not by the limit on its length


class Considered(NamedTuple):
    """One candidate of one step."""

    step: int  # 0 for the first token
    parent: int  # place in the beam of what it continues
    token: int
    log_prob: float  # of the token
    total: float  # of everything up to here
    fate: Fate
    place: int | None = None  # in the beam of the next step
    rule: Rule | None = None


@dataclass(frozen=True)
class Result:
    """Of one sentence. Best first; samples in the order in which they were drawn, so that the first is a fair one."""

    hypotheses: list[Hypothesis]
    record: list[Considered] | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A hypothesis that is still being said."""

    tokens: list[int]
    scores: list[float]
    total: float
    row: int  # of the batch that the last step was made with: where its state is

    def longer(self, token: int, log_prob: float, row: int) -> "Path":
        return Path([*self.tokens, token], [*self.scores, log_prob], self.total + log_prob, row)
