"""Greedy and beam search with nothing else asked of them: what the general loop finds, found faster.

Paths stand in tensors, those of all sentences together; a hypothesis is spelled out through back pointers once it is
wanted. A sentence has as many rows as it has paths: one before the first step, and a path that can no longer overtake
what has ended leaves at once. By the bound behind the stop rule everything that such a path becomes ranks below
everything that can still win, so that nothing else is found without it.

Letters: B sentences, N of them still searched, W width, K candidates of each path, P paths, R rows of the batch.
"""

from collections.abc import Callable
from math import inf
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from seq2see.models import reorder
from seq2see.search.candidates import best
from seq2see.search.config import SearchConfig
from seq2see.search.hypothesis import Hypothesis
from seq2see.search.scoring import length_penalty
from seq2see.search.steps import Step
from seq2see.vocabulary import BOS, EOS, PAD

M = TypeVar("M")
S = TypeVar("S")

_FULL = 0.9  # share of rows in use below which the batch is packed anew: that copies what is known of the sources


class Candidates(NamedTuple):
    """(N, 2 W), best first: at most one end from each beam, so that as many others are left."""

    ranks: Tensor  # float64: the log-probability of everything up to here; -inf: there is none
    beams: Tensor
    tokens: Tensor
    log_probs: Tensor


class Moves(NamedTuple):
    """(P,) each: the paths that go on, sentence after sentence."""

    sentences: Tensor  # place among those still searched
    slots: Tensor  # place in the beam
    before: Tensor  # the row that it continues
    tokens: Tensor  # what it said


class FinishedHypothesis(NamedTuple):
    """A hypothesis that is not spelled out yet."""

    score: float
    ended: bool
    step: int
    path: int  # of the step before
    token: int
    log_prob: float


class Paths:
    """The beams of all sentences, step by step."""

    def __init__(self, config: SearchConfig, limits: list[int], device: torch.device) -> None:
        self.config, self.width, self.device = config, config.width, device
        self.wanted = min(config.nbest, config.width)
        self.finished: list[list[FinishedHypothesis]] = [[] for _ in limits]
        # For each step and path: the path it continues, its token and its log-probability.
        self.history: list[tuple[list[int], list[int], list[float]]] = []
        every = range(len(limits))
        self.names = torch.tensor(every, dtype=torch.long, device=device)  # (N,)
        self.totals = torch.full((len(limits), self.width), -inf, dtype=torch.float64, device=device)
        self.totals[:, 0] = 0.0
        self.paths = torch.zeros(len(limits), self.width, dtype=torch.long, device=device)
        self.rows = self.names.unsqueeze(1).repeat(1, self.width)
        # Of each of the B sentences; the last two say where its rows are, those that are not in use included.
        self.limits = torch.tensor(limits, dtype=torch.long, device=device)
        divisors = [length_penalty(limit, config) for limit in limits]
        self.divisors = torch.tensor(divisors, dtype=torch.float64, device=device)
        self.to_beat = torch.full_like(self.divisors, -inf)
        self.starts, self.slots = self.names.clone(), torch.ones_like(self.names)

    def candidates(self, log_probs: Tensor) -> Candidates:
        """(R, V): one token more than the width from each beam is enough, as at most one of them is the end."""
        values, tokens = best(log_probs, self.width + 1)
        each = values.size(1)
        values, tokens = (x[self.rows].flatten(1) for x in (values, tokens))  # (N, W K)
        ranks = self.totals.repeat_interleave(each, dim=1) + values.double()
        ranks = ranks.masked_fill(~(ranks > -inf), -inf)  # also what is no number
        ranks, order = ranks.sort(dim=1, descending=True, stable=True)
        ranks, order = ranks[:, : 2 * self.width], order[:, : 2 * self.width]
        return Candidates(ranks, order // each, tokens.gather(1, order), values.gather(1, order))

    def advance(self, found: Candidates) -> Moves:
        """Takes in what was found. The end counts only from within the beam; others fill its places."""
        possible, ends = found.ranks > -inf, found.tokens == EOS
        ended = possible & ends
        ended[:, self.width :] = False
        kept = possible & ~ends & ((~ends).cumsum(dim=1) <= self.width)
        over = (self.limits[self.names] <= len(self.history) + 1).unsqueeze(1)
        self._finish(found, ended | (kept & over))
        attainable = found.ranks / self.divisors[self.names].unsqueeze(1)
        kept &= ~over & (attainable > self.to_beat[self.names].unsqueeze(1))
        return self._move(found, kept)

    def _move(self, found: Candidates, kept: Tensor) -> Moves:
        """(N, 2 W): these paths go on, and the sentences that have any."""
        sentences, places = kept.nonzero(as_tuple=True)
        beams, tokens = found.beams[sentences, places], found.tokens[sentences, places]
        before = self.rows[sentences, beams]
        parents, log_probs = self.paths[sentences, beams], found.log_probs[sentences, places]
        self.history.append((parents.tolist(), tokens.tolist(), log_probs.tolist()))
        going = kept.any(dim=1)
        self.names = self.names[going]
        into = (going.cumsum(dim=0) - 1)[sentences], (kept.cumsum(dim=1) - 1)[sentences, places]
        self.totals = self.totals.new_full((len(self.names), self.width), -inf)
        self.totals[into] = found.ranks[sentences, places]
        self.paths = torch.zeros_like(self.totals, dtype=torch.long)
        self.paths[into] = torch.arange(len(before), device=before.device)
        return Moves(*into, before, tokens)

    def _finish(self, found: Candidates, which: Tensor) -> None:
        """(N, 2 W): these are hypotheses now; the best of each sentence are kept, the last of them is to be beaten."""
        sentences, places = which.nonzero(as_tuple=True)
        if not len(sentences):
            return
        step = len(self.history)
        penalty = length_penalty(step + 1, self.config)
        names, beams = self.names[sentences].tolist(), found.beams[sentences, places]
        told = (found.ranks, found.tokens, found.log_probs)
        columns = [self.paths[sentences, beams].tolist(), *(x[sentences, places].tolist() for x in told)]
        for name, path, rank, token, log_prob in zip(names, *columns, strict=True):
            self.finished[name].append(FinishedHypothesis(rank / penalty, token == EOS, step, path, token, log_prob))
        for name in set(names):
            first = sorted(self.finished[name], key=lambda one: (not one.ended, -one.score))[: self.wanted]
            self.finished[name] = first
            if len(first) == self.wanted:  # a beam of one is greedy: it ends where it ends
                self.to_beat[name] = first[-1].score if self.width > 1 else inf

    def lay_out(self, moves: Moves, rows: int) -> tuple[Tensor, bool]:
        """(P,) the row of each path in a batch that has `rows` of them, and whether the batch has to be packed anew.

        It has not as long as the paths stay within the rows of their sentences, and enough of these are in use.
        """
        names = self.names[moves.sentences]
        packed = len(names) < _FULL * rows or bool((moves.slots >= self.slots[names]).any())
        if packed:
            self.slots = torch.bincount(names, minlength=len(self.slots))
            self.starts = self.slots.cumsum(dim=0) - self.slots
        into = self.starts[names] + moves.slots
        self.rows = torch.zeros_like(self.paths)
        self.rows[moves.sentences, moves.slots] = into
        return into, packed

    def hypotheses(self, name: int) -> list[Hypothesis]:
        return [self._spelled(one) for one in self.finished[name]]

    def _spelled(self, one: FinishedHypothesis) -> Hypothesis:
        tokens, scores, path = [one.token], [one.log_prob], one.path
        for parents, said, log_probs in reversed(self.history[: one.step]):
            tokens.append(said[path])
            scores.append(log_probs[path])
            path = parents[path]
        tokens, scores = tokens[::-1], scores[::-1]
        return Hypothesis(tokens[:-1] if one.ended else tokens, scores, one.score, one.ended)


def plain_search(
    step: Step[M, S],
    memory: M,
    state: S,
    config: SearchConfig,
    limits: list[int],
    device: torch.device,
    on_token: Callable[[int, int], None] | None = None,
) -> list[list[Hypothesis]]:
    """For each sentence its hypotheses, best first. limits: most steps of each, at least 1."""
    paths = Paths(config, limits, device)
    tokens = torch.full((len(limits),), BOS, dtype=torch.long, device=device)
    while len(paths.names):
        logits, state = step(tokens, memory, state)
        log_probs = torch.log_softmax(logits, dim=-1)
        log_probs[:, [PAD, BOS]] = -inf
        found, names = paths.candidates(log_probs), paths.names
        moves = paths.advance(found)
        if on_token is not None:
            told = found.tokens[:, 0].masked_fill(found.ranks[:, 0] == -inf, EOS)
            for name, token in zip(names.tolist(), told.tolist(), strict=True):
                if token != EOS:
                    on_token(name, token)
        rows, packed = paths.lay_out(moves, len(tokens))
        if packed:
            memory, state, tokens = reorder(memory, moves.before), reorder(state, moves.before), moves.tokens
        else:  # a row that is not in use goes on with what it has
            state = _moved(state, rows, moves.before, len(tokens))
            tokens = tokens.index_copy(0, rows, moves.tokens)
    return [paths.hypotheses(name) for name in range(len(limits))]


def _moved(state: S, rows: Tensor, before: Tensor, count: int) -> S:
    """The state of `count` rows with those of `before` at `rows`; itself if they stand there already."""
    if torch.equal(rows, before):
        return state
    order = torch.arange(count, device=rows.device)
    return reorder(state, order.index_copy(0, rows, before))
