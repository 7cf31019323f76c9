"""The step function that search is given, and two ways to make one: several models as one, and with its coverage."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from seq2see.errors import ConfigError, ShapeError

M = TypeVar("M")
S = TypeVar("S")

# (R,) the tokens said last, memory, state -> (R, V) logits, the next state. A model's own `step` is one.
Step = Callable[[Tensor, M, S], tuple[Tensor, S]]
# The same, and (R, S) the attention that the step was made with.
AttendingStep = Callable[[Tensor, M, S], tuple[Tensor, S, Tensor]]


def ensemble(steps: Sequence[Step[Any, Any]]) -> Step[tuple[Any, ...], tuple[Any, ...]]:
    """Several runs as one, also of different families: the mean of their probabilities.

    Memory and state are tuples, one entry for each run; the runs have to share their target vocabulary.
    """
    if not steps:
        raise ConfigError("an ensemble needs at least one model")

    def step(tokens: Tensor, memory: tuple[Any, ...], state: tuple[Any, ...]) -> tuple[Tensor, tuple[Any, ...]]:
        told = [one(tokens, *given) for one, given in zip(steps, zip(memory, state, strict=True), strict=True)]
        sizes = [logits.size(-1) for logits, _ in told]
        if len(set(sizes)) > 1:
            raise ShapeError(f"an ensemble shares one target vocabulary, but its models have {sizes} pieces")
        opinions = torch.stack([torch.log_softmax(logits, dim=-1) for logits, _ in told])
        return opinions.logsumexp(dim=0) - math.log(len(steps)), tuple(after for _, after in told)

    return step


class Covered(NamedTuple, Generic[S]):
    """A state with the attention of its steps so far; it is reordered with the state, being part of it."""

    state: S
    seen: Tensor  # (B, S); at the start 0 for words and 1 for padding, which nobody has to look at


def covering(step: AttendingStep[M, S]) -> Step[M, Covered[S]]:
    """For the coverage penalty: adds up what an attending step looked at. Pass `coverage_of=seen` to the search."""

    def covered(tokens: Tensor, memory: M, state: Covered[S]) -> tuple[Tensor, Covered[S]]:
        logits, after, weights = step(tokens, memory, state.state)
        return logits, Covered(after, state.seen + weights)

    return covered


def seen(memory: Any, state: Covered[Any]) -> Tensor:
    """(R, S) the attention of all steps so far."""
    return state.seen
