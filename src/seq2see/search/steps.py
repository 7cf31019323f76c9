"""The step function that search is given, and ways to make one: an ensemble, with its coverage, cancellable."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor

from seq2see.errors import ConfigError, ShapeError

M = TypeVar("M")
S = TypeVar("S")
M_contra = TypeVar("M_contra", contravariant=True)

# (R,) the tokens said last, memory, state -> (R, V) logits, the next state. A model's own `step` is one.
Step = Callable[[Tensor, M, S], tuple[Tensor, S]]


class AttendingStep(Protocol[M_contra, S]):
    """A step that returns its attention as well, (R, S). A model's own `step` is one."""

    def __call__(
        self, tokens: Tensor, memory: M_contra, state: S, need_weights: Literal[True]
    ) -> tuple[Tensor, S, Tensor]: ...


def ensemble(steps: Sequence[Step[Any, Any]]) -> Step[tuple[Any, ...], tuple[Any, ...]]:
    """Several runs as one, also of different families: the mean of their probabilities.

    Memory and state are tuples, one entry for each run; the runs have to share their target vocabulary.
    """
    if not steps:
        raise ConfigError("an ensemble needs at least one model")

    def step(tokens: Tensor, memory: tuple[Any, ...], state: tuple[Any, ...]) -> tuple[Tensor, tuple[Any, ...]]:
        members = zip(steps, memory, state, strict=True)
        outputs = [
            member_step(tokens, member_memory, member_state) for member_step, member_memory, member_state in members
        ]
        sizes = [logits.size(-1) for logits, _ in outputs]
        if len(set(sizes)) > 1:
            raise ShapeError(f"an ensemble shares one target vocabulary, but its models have {sizes} pieces")
        log_probs = torch.stack([torch.log_softmax(logits, dim=-1) for logits, _ in outputs])  # (runs, R, V)
        return log_probs.logsumexp(dim=0) - math.log(len(steps)), tuple(after for _, after in outputs)

    return step


class Cancelled(Exception):  # noqa: N818 - no error: somebody said so
    """A search that nobody wants the result of any more."""


def cancellable(step: Step[M, S], cancelled: Callable[[], bool]) -> Step[M, S]:
    """The same step, which asks first whether the search is to go on."""

    def asking(tokens: Tensor, memory: M, state: S) -> tuple[Tensor, S]:
        if cancelled():
            raise Cancelled
        return step(tokens, memory, state)

    return asking


class Listed(NamedTuple, Generic[M]):
    """A memory, and the tokens that each sentence may be said with, which are expanded with it."""

    memory: M
    own: Tensor  # (B, V) bool


def among(step: Step[M, S]) -> Step[Listed[M], S]:
    """The same step, where nothing but a sentence's own tokens can be said."""

    def listed(tokens: Tensor, memory: Listed[M], state: S) -> tuple[Tensor, S]:
        logits, after = step(tokens, memory.memory, state)
        return logits.masked_fill(~memory.own, -math.inf), after

    return listed


class Covered(NamedTuple, Generic[S]):
    """A state with the attention of its steps so far; it is reordered with the state, being part of it."""

    state: S
    seen: Tensor  # (B, S); at the start 0 for words and 1 for padding, which nobody has to look at


def covering(step: AttendingStep[M, S]) -> Step[M, Covered[S]]:
    """For the coverage penalty: adds up the attention of every step. Pass `coverage_of=seen` to the search."""

    def covered(tokens: Tensor, memory: M, state: Covered[S]) -> tuple[Tensor, Covered[S]]:
        logits, after, weights = step(tokens, memory, state.state, need_weights=True)
        return logits, Covered(after, state.seen + weights)

    return covered


def seen(memory: Any, state: Covered[Any]) -> Tensor:
    """(R, S) the attention of all steps so far."""
    return state.seen
