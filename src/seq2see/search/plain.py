"""The fast path of greedy and beam search: the same result as the general loop, where nothing else is asked for.

Paths stand in tensors, those of all sentences together; a hypothesis is spelled out through back pointers once it is
wanted. A sentence has as many rows as it has paths: one before the first step, and a path that can no longer overtake
what has ended leaves at once. By the bound behind the stop rule everything that such a path becomes ranks below
everything that can still win, so that nothing else is found without it.

Letters: B sentences, N of them still searched, W width of the beam, K candidates of each path, P paths that go on,
R rows of the batch that the step function sees, V vocabulary.
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
    """(N, 2 W) each, best first: at most one end from each beam, so that as many others are left."""

    ranks: Tensor  # float64: the log-probability of everything up to here; -inf: there is none
    beams: Tensor  # the beam that it continues, below W
    tokens: Tensor
    log_probs: Tensor  # of the token alone


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
    step: int  # of its last token, from 0
    path: int  # that it continues, among the P paths of the step before
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
        # (N,) the sentences that are still searched, as numbers below B. Then (N, W) of each of their beams: its
        # log-probability so far, -inf for an empty place; its path in the last step; its row of the batch.
        self.sentences = torch.arange(len(limits), device=device)
        self.totals = torch.full((len(limits), self.width), -inf, dtype=torch.float64, device=device)
        self.totals[:, 0] = 0.0
        self.paths = torch.zeros(len(limits), self.width, dtype=torch.long, device=device)
        self.rows = self.sentences.unsqueeze(1).repeat(1, self.width)
        # (B,) each; the last two say where the rows of a sentence begin and how many it has, unused ones included.
        self.limits = torch.tensor(limits, dtype=torch.long, device=device)
        divisors = [length_penalty(limit, config) for limit in limits]
        self.divisors = torch.tensor(divisors, dtype=torch.float64, device=device)
        self.to_beat = torch.full_like(self.divisors, -inf)
        self.starts, self.slots = self.sentences.clone(), torch.ones_like(self.sentences)

    def candidates(self, log_probs: Tensor) -> Candidates:
        """(R, V): one token more than the width from each beam is enough, as at most one of them is the end."""
        values, tokens = best(log_probs, self.width + 1)  # (R, K)
        each = values.size(1)
        values, tokens = (x[self.rows].flatten(1) for x in (values, tokens))  # (R, K) -> (N, W, K) -> (N, W K)
        ranks = self.totals.repeat_interleave(each, dim=1) + values.double()  # (N, W K)
        ranks = ranks.masked_fill(~(ranks > -inf), -inf)  # also what is no number
        ranks, order = ranks.sort(dim=1, descending=True, stable=True)
        ranks, order = ranks[:, : 2 * self.width], order[:, : 2 * self.width]  # (N, 2 W)
        return Candidates(ranks, order // each, tokens.gather(1, order), values.gather(1, order))

    def advance(self, candidates: Candidates) -> Moves:
        """Takes in the candidates. The end counts only from within the beam; others fill its places."""
        possible, ends = candidates.ranks > -inf, candidates.tokens == EOS  # (N, 2 W)
        ended = possible & ends
        ended[:, self.width :] = False
        kept = possible & ~ends & ((~ends).cumsum(dim=1) <= self.width)
        over = (self.limits[self.sentences] <= len(self.history) + 1).unsqueeze(1)  # (N, 1)
        self._finish(candidates, ended | (kept & over))
        attainable = candidates.ranks / self.divisors[self.sentences].unsqueeze(1)  # (N, 2 W)
        kept &= ~over & (attainable > self.to_beat[self.sentences].unsqueeze(1))
        return self._move(candidates, kept)

    def _move(self, candidates: Candidates, kept: Tensor) -> Moves:
        """(N, 2 W): these paths go on, and the sentences that have any."""
        sentences, places = kept.nonzero(as_tuple=True)  # (P,)
        beams, tokens = candidates.beams[sentences, places], candidates.tokens[sentences, places]
        before = self.rows[sentences, beams]
        parents, log_probs = self.paths[sentences, beams], candidates.log_probs[sentences, places]
        self.history.append((parents.tolist(), tokens.tolist(), log_probs.tolist()))
        going = kept.any(dim=1)  # (N,)
        self.sentences = self.sentences[going]
        into = (going.cumsum(dim=0) - 1)[sentences], (kept.cumsum(dim=1) - 1)[sentences, places]  # (P,) sentence, slot
        self.totals = self.totals.new_full((len(self.sentences), self.width), -inf)
        self.totals[into] = candidates.ranks[sentences, places]
        self.paths = torch.zeros_like(self.totals, dtype=torch.long)
        self.paths[into] = torch.arange(len(before), device=before.device)
        return Moves(*into, before, tokens)

    def _finish(self, candidates: Candidates, which: Tensor) -> None:
        """(N, 2 W): these are hypotheses now; the best of each sentence are kept, the last of them is to be beaten."""
        places = which.nonzero(
            as_tuple=True
        )  # two of (F,), F candidates that finish: sentence among N, place below 2 W
        if not len(places[0]):
            return
        step = len(self.history)
        penalty = length_penalty(step + 1, self.config)
        sentences = self.sentences[places[0]].tolist()  # below B
        parents = self.paths[places[0], candidates.beams[places]].tolist()
        columns = (x[places].tolist() for x in (candidates.ranks, candidates.tokens, candidates.log_probs))
        for sentence, path, rank, token, log_prob in zip(sentences, parents, *columns, strict=True):
            hypothesis = FinishedHypothesis(rank / penalty, token == EOS, step, path, token, log_prob)
            self.finished[sentence].append(hypothesis)
        for sentence in set(sentences):
            ranked = sorted(self.finished[sentence], key=lambda finished: (not finished.ended, -finished.score))
            self.finished[sentence] = ranked = ranked[: self.wanted]
            if len(ranked) == self.wanted:  # a beam of one is greedy: it ends where it ends
                self.to_beat[sentence] = ranked[-1].score if self.width > 1 else inf

    def lay_out(self, moves: Moves, rows: int) -> tuple[Tensor, bool]:
        """(P,) the row of each path in a batch that has `rows` of them, and whether the batch has to be packed anew.

        It has not as long as the paths stay within the rows of their sentences, and enough of these are in use.
        """
        sentences = self.sentences[moves.sentences]  # (P,) below B
        packed = len(sentences) < _FULL * rows or bool((moves.slots >= self.slots[sentences]).any())
        if packed:
            self.slots = torch.bincount(sentences, minlength=len(self.slots))
            self.starts = self.slots.cumsum(dim=0) - self.slots
        into = self.starts[sentences] + moves.slots  # (P,)
        self.rows = torch.zeros_like(self.paths)
        self.rows[moves.sentences, moves.slots] = into
        return into, packed

    def hypotheses(self, sentence: int) -> list[Hypothesis]:
        return [self._spelled_out(finished) for finished in self.finished[sentence]]

    def _spelled_out(self, finished: FinishedHypothesis) -> Hypothesis:
        """Its tokens, from the last to the first along the back pointers."""
        tokens, scores, path = [finished.token], [finished.log_prob], finished.path
        for parents, step_tokens, log_probs in reversed(self.history[: finished.step]):
            tokens.append(step_tokens[path])
            scores.append(log_probs[path])
            path = parents[path]
        tokens, scores = tokens[::-1], scores[::-1]
        return Hypothesis(tokens[:-1] if finished.ended else tokens, scores, finished.score, finished.ended)


def beam_search(
    step: Step[M, S],
    memory: M,
    state: S,
    config: SearchConfig,
    limits: list[int],
    device: torch.device,
    on_token: Callable[[int, int], None] | None = None,
) -> list[list[Hypothesis]]:
    """Beam search; greedy search with a beam of one. For each sentence its hypotheses, best first.

    limits   most steps of each sentence, at least 1
    """
    paths = Paths(config, limits, device)
    tokens = torch.full((len(limits),), BOS, dtype=torch.long, device=device)  # (R,)
    while len(paths.sentences):
        logits, state = step(tokens, memory, state)  # (R, V)
        log_probs = torch.log_softmax(logits, dim=-1)
        log_probs[:, [PAD, BOS]] = -inf
        candidates, sentences = paths.candidates(log_probs), paths.sentences  # (N, 2 W), (N,)
        moves = paths.advance(candidates)
        if on_token is not None:
            best_tokens = candidates.tokens[:, 0].masked_fill(candidates.ranks[:, 0] == -inf, EOS)  # (N,)
            for sentence, token in zip(sentences.tolist(), best_tokens.tolist(), strict=True):
                if token != EOS:
                    on_token(sentence, token)
        rows, packed = paths.lay_out(moves, len(tokens))  # (P,)
        if packed:
            memory, state, tokens = reorder(memory, moves.before), reorder(state, moves.before), moves.tokens
        else:  # a row that is not in use goes on with what it has
            state = _moved(state, rows, moves.before, len(tokens))
            tokens = tokens.index_copy(0, rows, moves.tokens)
    return [paths.hypotheses(sentence) for sentence in range(len(limits))]


def _moved(state: S, rows: Tensor, before: Tensor, count: int) -> S:
    """The state of `count` rows with the rows `before` (P,) put at `rows` (P,); itself if they stand there already."""
    if torch.equal(rows, before):
        return state
    order = torch.arange(count, device=rows.device)
    return reorder(state, order.index_copy(0, rows, before))
