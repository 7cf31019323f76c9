"""Search over a step function, ignorant of models: it sees logits and a state it can reorder, nothing else.

Greedy so far; beams, sampling and constraints come with the translator.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from seq2see.models import reorder
from seq2see.vocabulary import BOS, EOS, PAD

M = TypeVar("M")
S = TypeVar("S")
Step = Callable[[Tensor, M, S], tuple[Tensor, S]]


class Hypothesis(NamedTuple):
    """What a search said: tokens without BOS and EOS, and the log-probability of each one, EOS included if said."""

    tokens: list[int]
    token_scores: list[float]
    ended: bool  # by itself, not by the limit on its length

    @property
    def score(self) -> float:
        return sum(self.token_scores)


@torch.no_grad()
def greedy(step: Step[M, S], memory: M, state: S, limits: Tensor) -> list[Hypothesis]:
    """The likeliest token each time. limits (B,): most tokens a sentence may have; finished ones leave the batch."""
    batch = limits.size(0)
    said: list[list[int]] = [[] for _ in range(batch)]
    scores: list[list[float]] = [[] for _ in range(batch)]
    ended = [False] * batch
    rows = torch.arange(batch, device=limits.device)
    tokens = torch.full((batch,), BOS, dtype=torch.long, device=limits.device)
    length = 0
    while len(rows):
        logits, state = step(tokens, memory, state)
        logits[:, [PAD, BOS]] = float("-inf")
        best, tokens = torch.log_softmax(logits, dim=-1).max(dim=-1)
        length += 1
        for row, token, score in zip(rows.tolist(), tokens.tolist(), best.tolist(), strict=True):
            scores[row].append(score)
            ended[row] = token == EOS
            if token != EOS:
                said[row].append(token)
        going = ((tokens != EOS) & (limits[rows] > length)).nonzero().squeeze(1)
        if len(going) < len(rows):
            rows, tokens = rows[going], tokens[going]
            memory, state = reorder(memory, going), reorder(state, going)
    return [Hypothesis(*found) for found in zip(said, scores, ended, strict=True)]
