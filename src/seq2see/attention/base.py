"""The one interface of every attention mechanism, and the part they all share.

Letters: B batch, H heads, Tq query positions, Tk key positions, Dq/Dk/Dv widths of query, keys, values.

    context, weights = attention(query, keys, values, mask)      (B, Tq, Dv), (B, H, Tq, Tk)
    prepared = attention.prepare(keys, values, mask)             once per source
    context, weights = attention.attend(query, prepared)         once per target step

Nothing is kept on the module between calls: what evolves while decoding is handed in and out by the caller.
"""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, Self, TypedDict, Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see import masks
from seq2see.attention.formula import Formula
from seq2see.attention.normalise import Normaliser, check_normaliser, normalise
from seq2see.attention.scopes import ScopeName, make_scope
from seq2see.errors import ConfigError, NumericError, ShapeError, nearest

DEFAULT_WINDOW = 10  # D of Luong 2015, section 4.1


class Prepared(NamedTuple):
    """Keys and values in the form the mechanism wants them: computed once, attended many times."""

    keys: Tensor  # (B, H, Tk, projected width)
    values: Tensor  # (B, H, Tk, Dv)
    mask: Tensor | None  # (B, 1 or Tq, Tk), True = may look

    def extend(self, new: "Prepared") -> "Prepared":
        """The same with more keys behind: how self-attention remembers what was said. Meant for unmasked keys."""
        if self.mask is not None or new.mask is not None:
            raise ShapeError("Prepared.extend: the keys behind would have no mask; prepare all masked keys at once")
        return Prepared(torch.cat([self.keys, new.keys], dim=2), torch.cat([self.values, new.values], dim=2), None)


class Weighing(NamedTuple):
    """A call of attention after its weights are known and before they are used: what a hook is given.

    look.explain records it, look.intervene changes its weights.
    """

    query: Tensor  # (B, H, Tq, Dq) as the score gets it
    prepared: Prepared  # with as many heads as the query
    positions: Tensor  # (1 or B, Tq)
    history: Tensor | None
    bias: Tensor | None  # added to the scores
    scores: Tensor  # (B, H, Tq, Tk) without the bias
    allowed: Tensor | None  # mask and scope together
    gain: Tensor | None  # of the scope
    weights: Tensor  # (B, H, Tq, Tk)
    raw_query: Tensor | None = None  # (B, H, Tq, Dq): W_Q x of several heads, before it is normalised and turned


Hook = Callable[[Weighing], Tensor]  # returns the weights that are used


class Meanings(NamedTuple):
    """What query, keys and values are, in words: for a walkthrough."""

    query: str
    keys: str
    values: str


class Attention(nn.Module, ABC):
    """The interface."""

    heads: int

    def __init__(self, query_dim: int, key_dim: int) -> None:
        super().__init__()
        if query_dim < 1 or key_dim < 1:
            raise ConfigError(f"query_dim = {query_dim}, key_dim = {key_dim}; both must be at least 1")
        self.query_dim = query_dim
        self.key_dim = key_dim

    @abstractmethod
    def prepare(self, keys: Tensor, values: Tensor | None = None, mask: Tensor | None = None) -> Prepared:
        """(B, Tk, Dk), (B, Tk, Dv) or None for the keys themselves, (B, 1 or Tq, Tk) -> Prepared."""

    @abstractmethod
    def attend(
        self,
        query: Tensor,
        prepared: Prepared,
        *,
        offset: int | Tensor = 0,
        history: Tensor | None = None,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """(B, Tq, Dq) -> context (B, Tq, Dv) and weights (B, H, Tq, Tk), or None for them if nobody needs them.

        offset   position of the first query, an int or (B,): while decoding, the number of steps already made.
        history  what `begin` and `remember` returned, for the mechanism that looks at its own earlier weights.
        """

    def begin(self, prepared: Prepared) -> Tensor:
        """The history before the first step: empty, (B, 0), unless the mechanism looks at its earlier weights."""
        return prepared.values.new_zeros(prepared.values.size(0), 0)

    def remember(self, history: Tensor, weights: Tensor | None) -> Tensor:
        """The history after a step that gave these weights."""
        return history

    @property
    def has_history(self) -> bool:
        return False

    @property
    @abstractmethod
    def output_dim(self) -> int:
        """Width of the context that `attend` returns."""

    @property
    @abstractmethod
    def scorer(self) -> "Mechanism":
        """What scores: the mechanism itself, or the one that works inside each head."""

    @abstractmethod
    def with_hook(self, hook: Hook) -> Self:
        """A copy with the same parameters that calls `hook` after any hook it has already; `self` is not changed."""

    def join_heads(self, contexts: Tensor, weights: Tensor) -> Tensor | None:
        """Contexts (B, H, Tq, Dv) and weights (B, H, Tq, Tk) of all heads -> what `attend` makes of them.

        None where there is one head and its context is the result.
        """
        return None

    def meanings(self, query: str, values: str) -> Meanings:
        """Query, keys and values as the score gets them, if the query is `query` and the values are `values`."""
        return Meanings(query, self.scorer.describe_keys("h_j"), values)

    def describe_query(self, weighing: Weighing, head: int) -> Formula | None:
        """How one query (Tq = 1) of a head comes from W_Q x; None where that is all, or nothing is projected."""
        return None

    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        values: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """`prepare` and `attend` in one: (B, Tq, Dq), (B, Tk, Dk) -> (B, Tq, Dv), (B, H, Tq, Tk)."""
        return self.attend(query, self.prepare(keys, values, mask), need_weights=need_weights)

    def _check_query(self, query: Tensor, prepared: Prepared) -> None:
        if torch.compiler.is_exporting():  # sizes are symbols there, and were checked on the example
            return
        name = type(self).__name__
        batch, length = prepared.values.size(0), prepared.values.size(2)
        if query.dim() != 3:
            raise ShapeError(f"{name}: query has shape {tuple(query.shape)}; expected (B, Tq, {self.query_dim})")
        if query.size(-1) != self.query_dim:
            raise ShapeError(f"{name}: query has width {query.size(-1)} but query_dim = {self.query_dim}")
        if query.size(0) != batch:
            raise ShapeError(f"{name}: query has batch {query.size(0)} but keys have batch {batch}")
        if prepared.mask is not None:
            masks.check(prepared.mask, batch, query.size(1), length)

    def _check_keys(self, keys: Tensor, values: Tensor, mask: Tensor | None) -> None:
        if torch.compiler.is_exporting():
            return
        name = type(self).__name__
        if keys.dim() != 3:
            raise ShapeError(f"{name}: keys have shape {tuple(keys.shape)}; expected (B, Tk, {self.key_dim})")
        if keys.size(-1) != self.key_dim:
            raise ShapeError(f"{name}: keys have width {keys.size(-1)} but key_dim = {self.key_dim}")
        if values.dim() != 3 or values.shape[:2] != keys.shape[:2]:
            raise ShapeError(
                f"{name}: values have shape {tuple(values.shape)}; expected ({keys.size(0)}, {keys.size(1)}, Dv) "
                f"to go with keys of shape {tuple(keys.shape)}"
            )
        if mask is not None:
            masks.check(mask, keys.size(0), None, keys.size(1))


def blank_padding(x: Tensor, mask: Tensor | None) -> Tensor:
    """(B, Tk, D) with zeros where no query may look, because 0 x NaN is NaN and padding may hold anything."""
    return x if mask is None else x.masked_fill(~masks.seen_keys(mask).unsqueeze(-1), 0.0)


def _in_sequence(first: Hook, second: Hook) -> Hook:
    return lambda weighing: second(weighing._replace(weights=first(weighing)))


class Options(TypedDict, total=False):
    """The options of every mechanism, beside its widths.

    normaliser  softmax (default), sparsemax or entmax15: seq2see.attention.normalise
    scope       global (default), local-m, local-p, causal or sliding-window: seq2see.attention.scopes
    window      of the local and sliding scopes, default 10
    dropout     on the weights while training, default 0
    heads       independent copies of the parameters, default 1; more are for MultiHead
    """

    normaliser: Normaliser
    scope: ScopeName
    window: int
    dropout: float
    heads: int


class Mechanism(Attention):
    """Masks, normalises and sums; a subclass only scores. Its options are those of `Options`."""

    def __init__(self, query_dim: int, key_dim: int, **options: Unpack[Options]) -> None:
        super().__init__(query_dim, key_dim)
        unknown = set(options) - set(Options.__annotations__)
        if unknown:
            name = min(unknown)
            raise ConfigError(f"{type(self).__name__} has no option '{name}'{nearest(name, Options.__annotations__)}")
        self.normaliser: Normaliser = options.get("normaliser", "softmax")
        check_normaliser(self.normaliser)
        self.heads = options.get("heads", 1)
        self.dropout = options.get("dropout", 0.0)
        if self.heads < 1:
            raise ConfigError(f"heads = {self.heads}; {type(self).__name__} needs at least 1")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"dropout = {self.dropout}; it must lie in 0 <= dropout < 1")
        self.scope = make_scope(
            options.get("scope", "global"),
            window=options.get("window", DEFAULT_WINDOW),
            query_dim=query_dim,
            heads=self.heads,
        )
        self.hook: Hook | None = None  # set on copies only: `with_hook`
        self.make_parameters()

    @property
    def output_dim(self) -> int:
        """As wide as the values, which are the keys unless `prepare` is given others; these have the same width."""
        return self.key_dim

    @property
    def scorer(self) -> "Mechanism":
        return self

    def with_hook(self, hook: Hook) -> Self:
        copied = copy.copy(self)
        copied.hook = hook if self.hook is None else _in_sequence(self.hook, hook)
        return copied

    def make_parameters(self) -> None:
        """For a mechanism whose parameters depend on nothing but the two widths and the number of heads."""

    def project_keys(self, keys: Tensor) -> Tensor:
        """(B, H, Tk, Dk) -> what `score` wants of the keys; everything that does not depend on the query."""
        return keys

    @abstractmethod
    def score(self, query: Tensor, keys: Tensor, history: Tensor | None = None) -> Tensor:
        """(B, H, Tq, Dq), projected keys -> (B, H, Tq, Tk)."""

    def describe_score(self, weighing: Weighing, head: int) -> Formula:
        """The score of one query (Tq = 1) in one head. In its code `query` and `keys` are known, `scores` is set."""
        raise ConfigError(f"{type(self).__name__} has no formula to show")

    def describe_keys(self, key: str) -> str:
        """What `project_keys` makes of keys that are called `key`."""
        return key

    def describe_region(self, weighing: Weighing, head: int) -> Formula:
        """Where one query (Tq = 1) may look. Its code sets `allowed` from `mask`; for local-p the `gain` as well."""
        mask = weighing.prepared.mask
        length = weighing.prepared.values.size(2) if mask is None else int(mask[0, 0].sum())
        return self.scope.describe(weighing.query, weighing.positions, length, head)

    def as_dot_product(self, query: Tensor, keys: Tensor) -> tuple[Tensor, float] | None:
        """(q, scale) with score = scale q . keys if the score has that form, for the fused kernel; else None."""
        return None

    def prepare(self, keys: Tensor, values: Tensor | None = None, mask: Tensor | None = None) -> Prepared:
        values = keys if values is None else values
        self._check_keys(keys, values, mask)
        keys_blank = blank_padding(keys, mask)
        values_blank = keys_blank if values is keys else blank_padding(values, mask)
        return Prepared(self.project_keys(keys_blank.unsqueeze(1)), values_blank.unsqueeze(1), mask)

    def attend(
        self,
        query: Tensor,
        prepared: Prepared,
        *,
        offset: int | Tensor = 0,
        history: Tensor | None = None,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        self._check_query(query, prepared)
        if self.heads > 1:
            raise ConfigError(f"heads = {self.heads}; {type(self).__name__} alone has one head, several need MultiHead")
        context, weights = self.attend_heads(
            query.unsqueeze(1), prepared, offset=offset, history=history, need_weights=need_weights
        )
        return context.squeeze(1), weights

    def attend_heads(
        self,
        query: Tensor,
        prepared: Prepared,
        *,
        offset: int | Tensor = 0,
        history: Tensor | None = None,
        bias: Tensor | None = None,
        raw_query: Tensor | None = None,
        need_weights: bool = True,
    ) -> tuple[Tensor, Tensor | None]:
        """The work itself, on (B, H, Tq, Dq): score, mask, normalise, sum. `bias` is added to the scores.

        `raw_query` is for a hook to look at.

        The fused kernel is for many queries; for one in each row, a step of decoding, two products are faster.
        NumericError if the scores overflow; but while training, and in a step of decoding, nobody looks at the weights,
        and loss and search look at what comes out of them.
        """
        exporting = torch.compiler.is_exporting()
        many = query.size(2) > 1 or torch.is_grad_enabled() or exporting
        learning = self.training and torch.is_grad_enabled()
        looked_at = (need_weights or (many and not learning)) and not exporting
        unseen = many and not need_weights and self.hook is None
        if unseen and self.normaliser == "softmax" and self.scope.only_masks:
            form = self.as_dot_product(query, prepared.keys)
            if form is not None:
                context = self._fused(form, prepared, offset=offset, bias=bias)
                if looked_at:
                    self._check_finite(context, query, prepared)
                return context, None
        allowed, gain = self.region(query, prepared, offset)
        scores = self.score(query, prepared.keys, history)
        weights = normalise(scores if bias is None else scores + bias, allowed, self.normaliser)
        weights = weights if gain is None else weights * gain
        if looked_at:
            self._check_finite(weights, query, prepared)
        if self.hook is not None:
            places = masks.positions(query.size(2), offset, query.device)
            weighing = Weighing(query, prepared, places, history, bias, scores, allowed, gain, weights, raw_query)
            weights = self.hook(weighing)
        dropped = F.dropout(weights, self.dropout, self.training) if self.dropout else weights
        return torch.matmul(dropped, prepared.values), weights if need_weights else None

    def _check_finite(self, x: Tensor, query: Tensor, prepared: Prepared) -> None:
        """Of the weights, or of the context where nobody holds weights."""
        # The sum alone is quick; it may also overflow by itself.
        if math.isfinite(float(x.detach().sum())) or bool(x.isfinite().all()):
            return
        largest_query, largest_key = (float(x.detach().abs().max()) for x in (query, prepared.keys))
        raise NumericError(
            f"{type(self).__name__}: the scores are not finite; queries reach {largest_query:.3g}, "
            f"keys {largest_key:.3g}"
        )

    def region(self, query: Tensor, prepared: Prepared, offset: int | Tensor) -> tuple[Tensor | None, Tensor | None]:
        """What each query may look at, mask and scope together, and the gain of the scope."""
        mask = None if prepared.mask is None else prepared.mask.unsqueeze(1)
        if self.scope.name == "global":
            return mask, None
        batch, keys = prepared.values.size(0), prepared.values.size(2)
        last = query.size(2) == 1 and not isinstance(offset, Tensor) and keys == offset + 1
        if self.scope.name == "causal" and last:  # while decoding: nothing lies behind the query
            return mask, None
        if prepared.mask is None:
            lengths = torch.full((batch, 1), keys, device=query.device)
        else:  # of each query by itself, so that it does not matter which others are attended with it
            lengths = prepared.mask.sum(dim=-1).expand(batch, -1)
        places = masks.positions(query.size(2), offset, query.device)
        region = self.scope(query, places, lengths, keys)
        return masks.both(mask, region.allowed), region.gain

    def _fused(
        self, form: tuple[Tensor, float], prepared: Prepared, *, offset: int | Tensor, bias: Tensor | None
    ) -> Tensor:
        """The same context from torch's kernel, which never holds the weights; a test keeps the two equal."""
        query, scale = form
        dropout = self.dropout if self.training else 0.0
        plain = prepared.mask is None and bias is None and isinstance(offset, int) and offset == 0
        if plain and self.scope.name == "causal" and query.size(2) == prepared.keys.size(2):
            return F.scaled_dot_product_attention(
                query, prepared.keys, prepared.values, dropout_p=dropout, is_causal=True, scale=scale
            )
        allowed, _ = self.region(query, prepared, offset)
        blocked = allowed
        if bias is not None:
            blocked = bias if allowed is None else bias.masked_fill(~allowed, float("-inf"))
        if blocked is not None and torch.compiler.is_exporting():  # ONNX Runtime wants a row for each query
            blocked = blocked.expand(-1, -1, query.size(2), -1)
        return F.scaled_dot_product_attention(
            query, prepared.keys, prepared.values, attn_mask=blocked, dropout_p=dropout, scale=scale
        )
