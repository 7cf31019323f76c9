"""What the fast path asks of a model: the likeliest tokens of each row, and rows that move.

A chooser holds memory and state of one batch, wherever they are kept; search sees K numbers a row, not V.
"""

from collections.abc import Callable
from math import inf
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seq2see.models import reorder
from seq2see.search.candidates import best
from seq2see.search.steps import Cancelled, Step
from seq2see.vocabulary import BOS, PAD

M = TypeVar("M")
S = TypeVar("S")

_UNASKED = 8  # steps of a search that may be cancelled, without asking whether it is

Floats = NDArray[Any]
Ints = NDArray[np.int64]


class Chooser(Protocol):
    """One batch while it is searched. R rows, K candidates of each."""

    def choose(self, tokens: Ints, count: int) -> tuple[Floats, Ints]:
        """(R,) said last -> (R, K) log-probabilities, falling, and their tokens; of equal ones the lower first.

        One step further for every row. PAD and BOS are never among them with more than -inf.
        """

    def say(self, tokens: Ints, left: Ints, needed: int, most: int) -> tuple[Floats, Ints]:
        """(R,) said last -> (T, R) log-probabilities and tokens: the likeliest of each row, T steps further.

        left     (R,) steps that each row has; none for one that is not in use. It has none behind its end either
        needed   rows that have any; as soon as there are fewer, or after `most` steps, it stops. It may stop earlier
        """

    def move(self, rows: Ints) -> None:
        """(R,): row r goes on with the state of row rows[r]. What is known of the sources stays where it is."""

    def pack(self, rows: Ints) -> None:
        """(R',): these rows are the batch from now on, their sources with them."""


MakeChooser = Callable[[M, S], Chooser]


class StepChooser(Generic[M, S]):
    """Over a step function."""

    def __init__(self, step: Step[M, S], memory: M, state: S, device: torch.device) -> None:
        self.step, self.memory, self.state, self.device = step, memory, state, device

    def choose(self, tokens: Ints, count: int) -> tuple[Floats, Ints]:
        logits, self.state = self.step(torch.from_numpy(tokens).to(self.device), self.memory, self.state)
        log_probs = torch.log_softmax(logits, dim=-1)  # (R, V)
        log_probs[:, [PAD, BOS]] = -inf
        values, ids = best(log_probs, count)  # (R, K)
        return values.cpu().numpy(), ids.cpu().numpy()

    def say(self, tokens: Ints, left: Ints, needed: int, most: int) -> tuple[Floats, Ints]:
        values, ids = self.choose(tokens, 1)
        return values.T, ids.T

    def move(self, rows: Ints) -> None:
        self.state = reorder(self.state, self._index(rows))

    def pack(self, rows: Ints) -> None:
        index = self._index(rows)
        self.memory, self.state = reorder(self.memory, index), reorder(self.state, index)

    def _index(self, rows: Ints) -> Tensor:
        return torch.from_numpy(rows).to(self.device)


class ListedChooser(StepChooser[M, S]):
    """Over a step function that scores n tokens only, of which every sentence has its own."""

    def __init__(self, step: Step[M, S], memory: M, state: S, ids: Ints, own: NDArray[np.bool_]) -> None:
        """step gives (R, n) logits;  ids (n,): of which tokens, rising, without PAD and BOS;  own (R, n): of a row."""
        super().__init__(step, memory, state, torch.device("cpu"))
        self.ids, self.own = ids, torch.from_numpy(own)

    def choose(self, tokens: Ints, count: int) -> tuple[Floats, Ints]:
        logits, self.state = self.step(torch.from_numpy(tokens), self.memory, self.state)  # (R, n)
        log_probs = torch.log_softmax(logits.masked_fill(~self.own, -inf), dim=-1)
        values, places = best(log_probs, count)  # (R, K)
        return values.numpy(), self.ids[places.numpy()]

    def pack(self, rows: Ints) -> None:
        super().pack(rows)
        self.own = self.own[torch.from_numpy(rows)]


class CancellableChooser:
    """The same choice, which asks first whether the search is to go on."""

    def __init__(self, chooser: Chooser, cancelled: Callable[[], bool]) -> None:
        self.chooser, self.cancelled = chooser, cancelled
        self.move, self.pack = chooser.move, chooser.pack

    def choose(self, tokens: Ints, count: int) -> tuple[Floats, Ints]:
        if self.cancelled():
            raise Cancelled
        return self.chooser.choose(tokens, count)

    def say(self, tokens: Ints, left: Ints, needed: int, most: int) -> tuple[Floats, Ints]:
        if self.cancelled():
            raise Cancelled
        return self.chooser.say(tokens, left, needed, min(most, _UNASKED))
