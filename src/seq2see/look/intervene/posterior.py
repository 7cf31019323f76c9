"""Where it must have looked, once it is known what was said (Shankar 2019).

Attention is there before its word is: where the model expects to find something. The word that was then said tells
more. For each source piece it is asked how likely the word would have been, had the model looked there alone, and by
Bayes' rule

    posterior(j)  ~  attention(j) p(word | looks at j alone)

Only the step itself is made to look there, with all heads of all layers; everything before it stays as it was.
"""

from typing import Any

import torch
from torch import Tensor

from seq2see.attention.base import Hook, Weighing
from seq2see.data.batch import Batch
from seq2see.models import Look, Model, reorder


@torch.no_grad()
def posterior_looks(model: Model[Any, Any], batch: Batch) -> tuple[Look, ...]:
    """`model.look`, with the cross attention of every layer and head weighed by what was said."""
    looks = model.look(batch)
    if not any(look.kind == "cross" for look in looks):
        return looks
    log_probs = likelihoods(model, batch)
    return tuple(
        look._replace(weights=_posterior(look.weights, log_probs)) if look.kind == "cross" else look for look in looks
    )


@torch.no_grad()
def likelihoods(model: Model[Any, Any], batch: Batch) -> Tensor:
    """(B, T, S): the log-probability of each target piece, had its step looked at one source piece alone."""
    sentences, places = batch.source.shape
    hook = _one_place_each(sentences, places)
    forced = model.with_hooks({attention.place: hook for attention in model.attentions() if attention.kind == "cross"})
    rows = torch.arange(sentences, device=batch.source.device).repeat_interleave(places)  # (B S,)
    memory = model.encode(batch.source, batch.source_mask)
    state, repeated = model.start(memory), reorder(memory, rows)
    steps = []
    for tokens, targets in zip(batch.target_in.unbind(dim=1), batch.target_out.unbind(dim=1), strict=True):
        logits, _ = forced.step(tokens[rows], repeated, reorder(state, rows))  # (B S, V)
        log_probs = logits.gather(1, targets[rows].unsqueeze(1)).squeeze(1) - logits.logsumexp(dim=-1)  # (B S,)
        steps.append(log_probs.view(sentences, places))
        _, state = model.step(tokens, memory, state)
    return torch.stack(steps, dim=1)


def _one_place_each(sentences: int, places: int) -> Hook:
    """Row after row of a batch, (B S, heads, 1, S), looks at the next place of its sentence."""

    def forced(weighing: Weighing) -> Tensor:
        one_hot = torch.eye(places, dtype=weighing.weights.dtype, device=weighing.weights.device)
        return one_hot.repeat(sentences, 1)[:, None, None].expand_as(weighing.weights).contiguous()

    return forced


def _posterior(weights: Tensor, log_probs: Tensor) -> Tensor:
    """(B, H, T, S) and (B, T, S) -> (B, H, T, S), rows that sum to 1 or are empty as before."""
    log_probs = log_probs.unsqueeze(1).masked_fill(weights <= 0, float("-inf"))  # (B, H, T, S)
    lowest, tiny = torch.finfo(log_probs.dtype).min, torch.finfo(log_probs.dtype).tiny
    likelihood = torch.exp(log_probs - log_probs.amax(dim=-1, keepdim=True).clamp(min=lowest))
    joint = weights * likelihood
    sums = joint.sum(dim=-1, keepdim=True)
    return torch.where(sums > 0, joint / sums.clamp(min=tiny), weights)
