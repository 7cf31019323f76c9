"""Which tokens come into question: the likeliest of each beam, or one drawn at random; ties in one order always."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from seq2see.search.config import SearchConfig

_CHUNK = 64  # scores that are looked at together


class Candidate(NamedTuple):
    beam: int  # place in its group of what it continues
    token: int
    log_prob: float  # of the token, by the model
    rank: float  # what candidates are ordered by


def best(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(R, V) -> (R, count) values, falling, and their tokens: of equal ones the lower first, which topk leaves open."""
    count = min(count, scores.size(-1))
    values, tokens = highest(scores, min(count + 1, scores.size(-1)))  # (R, count + 1)
    equal = (values[:, 1:] == values[:, :-1]) & (values[:, 1:] > -inf)
    if not bool(equal.any()):
        return values[:, :count], tokens[:, :count]
    torn = equal[:, count - 1 :].any(dim=-1)  # (R,) equal ones on both sides of the cut
    if bool(torn.any()):
        ordered, places = scores[torn].sort(dim=-1, descending=True, stable=True)
        values[torn], tokens[torn] = ordered[:, : values.size(1)], places[:, : values.size(1)]
    tokens, by_token = tokens[:, :count].sort(dim=-1)
    values, by_value = values[:, :count].gather(1, by_token).sort(dim=-1, descending=True, stable=True)
    return values, tokens.gather(1, by_value)


def highest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(R, V) -> (R, count): `topk`, which on a CPU sorts pairs one by one, over what a fast maximum leaves.

    The scores are cut into chunks. The `count` highest lie in the `count` chunks with the highest maxima, or behind
    the last whole chunk; of equal ones any may be taken.
    """
    chunks = scores.size(-1) // _CHUNK
    if chunks < 2 * count:
        return scores.topk(count, dim=-1)
    cut = scores[:, : chunks * _CHUNK].unflatten(1, (chunks, _CHUNK))  # (R, chunks, _CHUNK)
    chosen = cut.amax(dim=-1).topk(count, dim=-1, sorted=False).indices  # (R, count)
    left = cut[torch.arange(len(scores), device=scores.device).unsqueeze(1), chosen].flatten(1)  # (R, count _CHUNK)
    behind = scores[:, chunks * _CHUNK :]  # (R, less than _CHUNK)
    values, places = (torch.cat([left, behind], dim=-1) if behind.size(1) else left).topk(count, dim=-1)
    # The scores behind the last whole chunk stand where one more chosen chunk would.
    first = F.pad(chosen, (0, 1), value=chunks).gather(1, places // _CHUNK)
    return values, first * _CHUNK + places % _CHUNK


def likeliest(
    log_probs: Tensor, totals: Tensor, avoid: Sequence[Counter[int]], diversity: float
) -> list[list[Candidate]]:
    """(N, W, V), (N, W) float64 -> for each group all that can get a place in its beam, best first.

    One token more than the width from each beam is enough: at most one of them is the end. Tokens in `avoid`, one
    counter for each group, cost `diversity` for each time; that changes the order, not the score.
    """
    groups, width, vocabulary = log_probs.shape
    scores = avoiding(log_probs, avoid, diversity)
    values, tokens = best(scores.flatten(0, 1), width + 1)  # (N W, W + 1)
    ranks, order = (
        (totals.flatten().unsqueeze(1) + values.double()).reshape(groups, -1).sort(descending=True, stable=True)
    )
    beams, tokens = order // values.size(1), tokens.reshape(groups, -1).gather(1, order)  # (N, W (W + 1))
    own = log_probs.flatten(1).gather(1, beams * vocabulary + tokens)
    rows = zip(beams.tolist(), tokens.tolist(), own.tolist(), ranks.tolist(), strict=True)
    candidates = [[Candidate(*fields) for fields in zip(*row, strict=True)] for row in rows]
    return [[candidate for candidate in row if candidate.rank > -inf] for row in candidates]


def avoiding(log_probs: Tensor, avoid: Sequence[Counter[int]], diversity: float) -> Tensor:
    """(N, W, V) with the Hamming penalty of the diverse beam (Vijayakumar 2018)."""
    if not any(avoid):
        return log_probs
    scores = log_probs.clone()
    for group, counts in enumerate(avoid):
        for token, times in counts.items():
            scores[group, :, token] -= diversity * times
    return scores


def drawn(log_probs: Tensor, config: SearchConfig, chances: Sequence[Callable[[], float]]) -> list[list[Candidate]]:
    """(N, V) -> one candidate for each row, drawn with the row's own source of numbers in [0, 1)."""
    probabilities = drawable(log_probs, config)
    sums = probabilities.cumsum(dim=-1)
    uniform = torch.tensor([chance() for chance in chances], dtype=torch.float64, device=sums.device)
    places = (sums <= uniform.unsqueeze(1) * sums[:, -1:]).sum(dim=-1)
    highest = (probabilities > 0).cumsum(dim=-1).argmax(dim=-1)  # rounding may lead past the last possible token
    tokens = torch.minimum(places, highest)
    own = log_probs.gather(1, tokens.unsqueeze(1)).squeeze(1)
    rows = zip(tokens.tolist(), own.tolist(), strict=True)
    return [[Candidate(0, token, score, score)] if score > -inf else [] for token, score in rows]


def drawable(log_probs: Tensor, config: SearchConfig) -> Tensor:
    """(N, V) -> (N, V) float64: the probabilities to draw by, zero for what top_k and top_p leave out."""
    scores = log_probs.double() / config.temperature
    if config.top_k:
        _, tokens = best(scores, config.top_k)
        scores = torch.full_like(scores, -inf).scatter(1, tokens, scores.gather(1, tokens))
    probabilities = torch.softmax(scores, dim=-1)
    if config.top_p == 1:
        return probabilities
    falling, tokens = probabilities.sort(dim=-1, descending=True, stable=True)
    reached = falling.cumsum(dim=-1) - falling >= config.top_p  # by the likelier ones alone
    return probabilities.scatter(1, tokens, falling.masked_fill(reached, 0.0))


def in_turn(candidates: list[Candidate], progress: Callable[[Candidate], int]) -> list[Candidate]:
    """The best one first, then the best of each stage of the required phrases in turn, the furthest stage first.

    By score alone, beams that have not begun a phrase would crowd out the one that has (Post and Vilar 2018).
    """
    if not candidates:
        return []
    order, stages = candidates[:1], dict[int, list[Candidate]]()
    for candidate in candidates[1:]:
        stages.setdefault(progress(candidate), []).append(candidate)
    queues = [iter(stages[stage]) for stage in sorted(stages, reverse=True)]
    for _ in range(max(map(len, stages.values()), default=0)):
        order += [following for queue in queues if (following := next(queue, None)) is not None]
    return order
