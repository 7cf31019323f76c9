"""Groups of beams: which candidates they take in, what has finished, when nothing better can come."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from seq2see.search.candidates import Candidate, best, in_turn
from seq2see.search.config import SearchConfig
from seq2see.search.hypothesis import Considered, Fate, Hypothesis, Path
from seq2see.search.rules import Ban, Rules
from seq2see.search.scoring import attainable, finished, ranking
from seq2see.vocabulary import EOS


@dataclass
class BeamGroup:
    """Beams that compete with each other. What has finished is frozen: it is never stepped again."""

    rules: Rules  # of its sentence
    chance: Callable[[], float]  # of sampling: a number in [0, 1)
    place: int  # of its first beam among the beams of the sentence
    paths: list[Path] = field(default_factory=lambda: [Path([], [], 0.0, 0)])
    ended: list[Hypothesis] = field(default_factory=list)  # the best so far, best first
    record: list[Considered] | None = None

    def advance(
        self, candidates: list[Candidate], first: int, config: SearchConfig, covered: list[float]
    ) -> Counter[int]:
        """Takes in the candidates, best first; gives back the tokens that they add, counted.

        first     the batch's row of the group's first beam
        covered   (W,) the coverage penalty of each beam
        """
        fates = choose(candidates, config.width)
        steps = [
            self.paths[candidate.beam].longer(candidate.token, candidate.log_prob, first + candidate.beam)
            for candidate in candidates
        ]
        pairs = list(zip(steps, fates, strict=True))
        ended = [
            finished(path, config, covered[path.row - first], ended=True) for path, fate in pairs if fate == "ended"
        ]
        kept = [path for path, fate in pairs if fate == "kept"]
        over: Fate | None = None
        if kept and len(kept[0].tokens) >= self.rules.limit:
            ended += [finished(path, config, covered[path.row - first], ended=False) for path in kept]
            over = "cut"
        self.ended = sorted(self.ended + ended, key=ranking)[: min(config.nbest, config.width)]
        if over is None and done(self.ended, kept, self.rules.limit, config):
            over = "hopeless"
        self.paths = kept if over is None else []
        if over is not None:
            fates = [over if fate == "kept" else fate for fate in fates]
        if self.record is not None:
            self.record += self._considered(candidates, steps, fates)
        return Counter(
            candidate.token
            for candidate, fate in zip(candidates, fates, strict=True)
            if fate in ("kept", "ended", "cut")
        )

    def with_required(self, candidates: list[Candidate], log_probs: Tensor) -> list[Candidate]:
        """(W, V) -> the candidates and those that bring required phrases nearer, stage by stage in turn."""
        known = {(candidate.beam, candidate.token) for candidate in candidates}
        extra = [
            Candidate(beam, token, log_prob, path.total + log_prob)
            for beam, path in enumerate(self.paths)
            for token in sorted(self.rules.advancing(path.tokens))
            if (beam, token) not in known and (log_prob := float(log_probs[beam, token])) > float("-inf")
        ]
        ordered = sorted(candidates + extra, key=lambda candidate: -candidate.rank)
        return in_turn(
            ordered,
            lambda candidate: -self.rules.needed([*self.paths[candidate.beam].tokens, candidate.token]),
        )

    def note_blocked(self, bans: Mapping[int, Ban], log_probs: Tensor, width: int) -> None:
        """(W, V) before any rule: what each beam would have liked best, where a rule forbids it."""
        if self.record is None or not bans:
            return
        values, tokens = best(log_probs, width + 1)  # (W, W + 1)
        for beam, ban in bans.items():
            path = self.paths[beam]
            for value, token in zip(values[beam].tolist(), tokens[beam].tolist(), strict=True):
                rule = ban.rule(token)
                if rule is not None:
                    parent, total = self.place + beam, path.total + value
                    self.record.append(Considered(len(path.tokens), parent, token, value, total, "blocked", None, rule))

    def _considered(self, candidates: list[Candidate], steps: list[Path], fates: list[Fate]) -> list[Considered]:
        places = iter(range(self.place, self.place + len(candidates)))
        return [
            Considered(
                len(path.tokens) - 1,
                self.place + candidate.beam,
                candidate.token,
                candidate.log_prob,
                path.total,
                fate,
                next(places) if fate == "kept" else None,
            )
            for candidate, path, fate in zip(candidates, steps, fates, strict=True)
        ]


def choose(candidates: list[Candidate], width: int) -> list[Fate]:
    """What becomes of each candidate, best first: the end counts only from within the beam, others fill its places."""
    fates: list[Fate] = []
    free = width
    for place, candidate in enumerate(candidates):
        if candidate.token == EOS:
            fates.append("ended" if place < width else "pruned")
        else:
            fates.append("kept" if free > 0 else "pruned")
            free -= 1
    return fates


def done(ended: list[Hypothesis], paths: list[Path], limit: int, config: SearchConfig) -> bool:
    """Whether a group is finished: when none of its paths can still overtake the last hypothesis that is wanted.

    A bound, so stopping never changes what is found. A beam of one is greedy: it ends where it ends.
    """
    if not paths:
        return True
    if config.width == 1:
        return bool(ended)
    if len(ended) < min(config.nbest, config.width):
        return False
    return max(attainable(path.total, limit, config) for path in paths) <= ended[-1].score
