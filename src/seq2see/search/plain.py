"""The fast path of greedy and beam search: the same result as the general loop, where nothing else is asked for.

Paths stand in arrays, those of all sentences together; a hypothesis is spelled out through back pointers once it is
wanted. A sentence has as many rows as it has paths: one before the first step, and a path that can no longer overtake
what has ended leaves at once. By the bound behind the stop rule everything that such a path becomes ranks below
everything that can still win, so that nothing else is found without it.

Letters: B sentences, N of them still searched, W width of the beam, K candidates of each path, P paths that go on,
R rows of the batch that the chooser holds.
"""

from collections.abc import Callable
from math import ceil, inf
from typing import NamedTuple

import numpy as np

from seq2see.search.choosing import Chooser, Floats, Ints
from seq2see.search.config import SearchConfig
from seq2see.search.hypothesis import Hypothesis
from seq2see.search.scoring import length_penalty
from seq2see.vocabulary import BOS, EOS

_FULL = 0.9  # share of rows in use below which the batch is packed anew: that copies what is known of the sources

OnToken = Callable[[int, int], None]


class Candidates(NamedTuple):
    """(N, 2 W) each, best first: at most one end from each beam, so that as many others are left."""

    ranks: Floats  # float64: the log-probability of everything up to here; -inf: there is none
    beams: Ints  # the beam that it continues, below W
    tokens: Ints
    log_probs: Floats  # of the token alone


class Moves(NamedTuple):
    """(P,) each: the paths that go on, sentence after sentence."""

    sentences: Ints  # place among those still searched
    slots: Ints  # place in the beam
    before: Ints  # the row that it continues
    tokens: Ints  # what it said


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

    def __init__(self, config: SearchConfig, limits: list[int]) -> None:
        self.config, self.width = config, config.width
        self.wanted = min(config.nbest, config.width)
        self.finished: list[list[FinishedHypothesis]] = [[] for _ in limits]
        # For each step and path: the path it continues, its token and its log-probability.
        self.history: list[tuple[list[int], list[int], list[float]]] = []
        # (N,) the sentences that are still searched, as numbers below B. Then (N, W) of each of their beams: its
        # log-probability so far, -inf for an empty place; its path in the last step; its row of the batch.
        self.sentences = np.arange(len(limits))
        self.totals = np.full((len(limits), self.width), -inf)
        self.totals[:, 0] = 0.0
        self.paths = np.zeros((len(limits), self.width), dtype=np.int64)
        self.rows = self.sentences[:, None].repeat(self.width, axis=1)
        # (B,) each; the last two say where the rows of a sentence begin and how many it has, unused ones included.
        self.limits = np.array(limits, dtype=np.int64)
        self.divisors = np.array([length_penalty(limit, config) for limit in limits])
        self.to_beat = np.full(len(limits), -inf)
        self.starts, self.slots = self.sentences.copy(), np.ones_like(self.sentences)

    def candidates(self, values: Floats, tokens: Ints) -> Candidates:
        """(R, K): one token more than the width from each beam is enough, as at most one of them is the end."""
        each = values.shape[1]
        values, tokens = (x[self.rows].reshape(len(self.rows), -1) for x in (values, tokens))  # (R, K) -> (N, W K)
        ranks = self.totals.repeat(each, axis=1) + values  # (N, W K) float64
        ranks[~(ranks > -inf)] = -inf  # also what is no number
        order = np.argsort(-ranks, axis=1, kind="stable")[:, : 2 * self.width]  # (N, 2 W)
        lines = np.arange(len(ranks))[:, None]
        return Candidates(ranks[lines, order], order // each, tokens[lines, order], values[lines, order])

    def advance(self, candidates: Candidates) -> Moves:
        """Takes in the candidates. The end counts only from within the beam; others fill its places."""
        possible, ends = candidates.ranks > -inf, candidates.tokens == EOS  # (N, 2 W)
        ended = possible & ends
        ended[:, self.width :] = False
        kept = possible & ~ends & ((~ends).cumsum(axis=1) <= self.width)
        over = (self.limits[self.sentences] <= len(self.history) + 1)[:, None]  # (N, 1)
        self._finish(candidates, ended | (kept & over))
        attainable = candidates.ranks / self.divisors[self.sentences][:, None]  # (N, 2 W)
        kept &= ~over & (attainable > self.to_beat[self.sentences][:, None])
        return self._move(candidates, kept)

    def _move(self, candidates: Candidates, kept: Ints) -> Moves:
        """(N, 2 W): these paths go on, and the sentences that have any."""
        sentences, places = kept.nonzero()  # (P,)
        beams, tokens = candidates.beams[sentences, places], candidates.tokens[sentences, places]
        before = self.rows[sentences, beams]
        parents, log_probs = self.paths[sentences, beams], candidates.log_probs[sentences, places]
        self.history.append((parents.tolist(), tokens.tolist(), log_probs.tolist()))
        going = kept.any(axis=1)  # (N,)
        self.sentences = self.sentences[going]
        into = (going.cumsum() - 1)[sentences], (kept.cumsum(axis=1) - 1)[sentences, places]  # (P,) sentence, slot
        self.totals = np.full((len(self.sentences), self.width), -inf)
        self.totals[into] = candidates.ranks[sentences, places]
        self.paths = np.zeros((len(self.sentences), self.width), dtype=np.int64)
        self.paths[into] = np.arange(len(before))
        return Moves(*into, before, tokens)

    def _finish(self, candidates: Candidates, which: Ints) -> None:
        """(N, 2 W): these are hypotheses now; the best of each sentence are kept, the last of them is to be beaten."""
        if not which.any():
            return
        places = which.nonzero()  # two of (F,), F candidates that finish: sentence among N, place below 2 W
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
            if len(ranked) == self.wanted:
                self.to_beat[sentence] = ranked[-1].score

    def lay_out(self, moves: Moves, rows: int) -> tuple[Ints, bool]:
        """(P,) the row of each path in a batch that has `rows` of them, and whether the batch has to be packed anew.

        It has not as long as the paths stay within the rows of their sentences, and enough of these are in use.
        """
        sentences = self.sentences[moves.sentences]  # (P,) below B
        packed = len(sentences) < _FULL * rows or bool((moves.slots >= self.slots[sentences]).any())
        if packed:
            self.slots = np.bincount(sentences, minlength=len(self.slots))
            self.starts = self.slots.cumsum() - self.slots
        into = self.starts[sentences] + moves.slots  # (P,)
        self.rows = np.zeros_like(self.paths)
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


def beam_search(chooser: Chooser, config: SearchConfig, limits: list[int]) -> list[list[Hypothesis]]:
    """For each sentence its hypotheses, best first.

    limits   most steps of each sentence, at least 1
    """
    paths = Paths(config, limits)
    tokens = np.full(len(limits), BOS, dtype=np.int64)  # (R,)
    while len(paths.sentences):
        moves = paths.advance(paths.candidates(*chooser.choose(tokens, config.width + 1)))
        rows, packed = paths.lay_out(moves, len(tokens))  # (P,)
        if packed:
            chooser.pack(moves.before)
            tokens = moves.tokens
            continue
        if not np.array_equal(rows, moves.before):  # a row that is not in use goes on with what it has
            order = np.arange(len(tokens))
            order[rows] = moves.before
            chooser.move(order)
        tokens[rows] = moves.tokens
    return [paths.hypotheses(sentence) for sentence in range(len(limits))]


def greedy_search(
    chooser: Chooser, config: SearchConfig, limits: list[int], on_token: OnToken | None = None
) -> list[list[Hypothesis]]:
    """A beam of one: the likeliest token each time, until it is the end. For each sentence one hypothesis, or none
    where no token has a finite score."""
    spoken: list[list[int]] = [[] for _ in limits]
    scores: list[list[float]] = [[] for _ in limits]
    hypotheses: list[list[Hypothesis]] = [[] for _ in limits]
    sentences = list(range(len(limits)))  # (R,) of each row, whether it is still searched or not
    going = len(limits)
    tokens = np.full(going, BOS, dtype=np.int64)  # (R,)
    while going:
        left = np.array([limits[x] - len(spoken[x]) if x >= 0 else 0 for x in sentences], dtype=np.int64)  # (R,)
        needed = max(1, ceil(_FULL * len(tokens)))
        said = chooser.say(tokens, left, needed, int(left.max()) if on_token is None else 1)  # two of (T, R)
        rows: list[int] = []  # that go on
        for log_probs, step in zip(*(x.tolist() for x in said), strict=True):
            rows = []
            for row, (token, log_prob) in enumerate(zip(step, log_probs, strict=True)):
                sentence = sentences[row]
                if sentence < 0:
                    continue
                if log_prob > -inf:
                    spoken[sentence].append(token)
                    scores[sentence].append(log_prob)
                    if token != EOS and on_token is not None:
                        on_token(sentence, token)
                    if token != EOS and len(spoken[sentence]) < limits[sentence]:
                        rows.append(row)
                        continue
                    hypotheses[sentence] = [_whole(spoken[sentence], scores[sentence], config)]
                sentences[row] = -1
        tokens, going = said[1][-1].copy(), len(rows)
        if going and going < needed:
            packed = np.array(rows, dtype=np.int64)
            chooser.pack(packed)
            sentences, tokens = [sentences[row] for row in rows], tokens[packed]
    return hypotheses


def _whole(tokens: list[int], scores: list[float], config: SearchConfig) -> Hypothesis:
    ended = tokens[-1] == EOS
    score = sum(scores) / length_penalty(len(scores), config)
    return Hypothesis(tokens[:-1] if ended else tokens, scores, score, ended)
