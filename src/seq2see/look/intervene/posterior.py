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
from seq2see.look.intervene.hooks import attentions, hooked
from seq2see.models import Look, Model, reorder


@torch.no_grad()
def posterior_looks(model: Model[Any, Any], batch: Batch) -> tuple[Look, ...]:
    """`model.look`, with the cross attention of every layer and head weighed by what was said."""
    looks = model.look(batch)
    if not any(look.kind == "cross" for look in looks):
        return looks
    told = likelihoods(model, batch)
    return tuple(
        look._replace(weights=_posterior(look.weights, told)) if look.kind == "cross" else look for look in looks
    )


@torch.no_grad()
def likelihoods(model: Model[Any, Any], batch: Batch) -> Tensor:
    """(B, T, S): the log-probability of each target piece, had its step looked at one source piece alone."""
    count, places = batch.source.shape
    forced = _one_place_each(count, places)
    alone = hooked(model, {place: forced for place in attentions(model) if place[0] == "cross"})
    rows = torch.arange(count, device=batch.source.device).repeat_interleave(places)
    memory = model.encode(batch.source, batch.source_mask)
    state, wide = model.start(memory), reorder(memory, rows)
    found = []
    for read, said in zip(batch.target_in.unbind(dim=1), batch.target_out.unbind(dim=1), strict=True):
        logits, _ = alone.step(read[rows], wide, reorder(state, rows))
        told = logits.gather(1, said[rows].unsqueeze(1)).squeeze(1) - logits.logsumexp(dim=-1)
        found.append(told.view(count, places))
        _, state = model.step(read, memory, state)
    return torch.stack(found, dim=1)


def _one_place_each(count: int, places: int) -> Hook:
    """Row after row of a batch, (B S, heads, 1, S), looks at the next place of its sentence."""

    def forced(weighing: Weighing) -> Tensor:
        one = torch.eye(places, dtype=weighing.weights.dtype, device=weighing.weights.device)
        return one.repeat(count, 1)[:, None, None].expand_as(weighing.weights).contiguous()

    return forced


def _posterior(weights: Tensor, told: Tensor) -> Tensor:
    """(B, H, T, S) and (B, T, S) -> (B, H, T, S), rows that sum to 1 or are empty as before."""
    told = told.unsqueeze(1).masked_fill(weights <= 0, float("-inf"))
    likely = torch.exp(told - told.amax(dim=-1, keepdim=True).clamp(min=torch.finfo(told.dtype).min))
    found = weights * likely
    sums = found.sum(dim=-1, keepdim=True)
    return torch.where(sums > 0, found / sums.clamp(min=torch.finfo(told.dtype).tiny), weights)
