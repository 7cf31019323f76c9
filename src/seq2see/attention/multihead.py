"""Several attentions side by side, each in a subspace of its own (Vaswani 2017, section 3.2.2), and what came after."""

import copy
from typing import Self

import torch
from torch import Tensor, nn

from seq2see import masks
from seq2see.attention.base import (
    DEFAULT_WINDOW,
    Attention,
    Hook,
    Meanings,
    Mechanism,
    Prepared,
    Weighing,
    blank_padding,
)
from seq2see.attention.formula import Formula, Quantity, array
from seq2see.attention.heads import merge, split
from seq2see.attention.normalise import Normaliser
from seq2see.attention.positions import (
    AddedPositions,
    Alibi,
    PositionName,
    RelativeBuckets,
    check_positions,
    rotate,
)
from seq2see.attention.scopes import ScopeName
from seq2see.attention.scores import Dot, ScoreName, mechanism
from seq2see.errors import ConfigError, ShapeError


class MultiHead(Attention):
    """head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V);  output = [head_1; ...; head_H] W^O.

    Vaswani 2017, section 3.2.2. On top of the paper:

    score        any score, within each head
    width        of all heads together; query_dim if not given. Default heads: the largest of 8, 4, 2, 1 that divides it
    kv_heads     fewer heads for keys and values than for queries (grouped-query attention, Ainslie 2023)
    qk_norm      RMS norm on the queries and keys of each head (after Henry 2020)
    positions    none; sinusoidal, learned (added to query and keys); rotary; alibi; relative: see positions.py
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        *,
        heads: int | None = None,
        kv_heads: int | None = None,
        width: int | None = None,
        value_dim: int | None = None,
        score: ScoreName = "scaled_dot",
        hidden: int | None = None,
        sharpness: float | None = None,
        scaled: bool = False,
        positions: PositionName = "none",
        max_length: int = 1024,
        qk_norm: bool = False,
        bias: bool = True,
        normaliser: Normaliser = "softmax",
        scope: ScopeName = "global",
        window: int = DEFAULT_WINDOW,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(query_dim, key_dim)
        width = query_dim if width is None else width
        value_dim = key_dim if value_dim is None else value_dim
        if min(width, value_dim, max_length) < 1:
            raise ConfigError(
                f"width = {width}, value_dim = {value_dim}, max_length = {max_length}; all must be at least 1"
            )
        heads = next(n for n in (8, 4, 2, 1) if width % n == 0) if heads is None else heads
        kv_heads = heads if kv_heads is None else kv_heads
        _check_heads(heads, kv_heads, width, positions)
        self.heads, self.kv_heads, self.width = heads, kv_heads, width
        head_dim = width // heads
        kv_width = kv_heads * head_dim
        self.query_projection = nn.Linear(query_dim, width, bias=bias)
        self.key_projection = nn.Linear(key_dim, kv_width, bias=bias)
        self.value_projection = nn.Linear(value_dim, kv_width, bias=bias)
        self.output_projection = nn.Linear(width, query_dim, bias=bias)
        for projection in (self.query_projection, self.key_projection, self.value_projection):
            nn.init.xavier_uniform_(projection.weight)
        for projection in (self.query_projection, self.key_projection, self.value_projection, self.output_projection):
            if bias:
                nn.init.zeros_(projection.bias)
        self.query_norm: nn.Module | None = nn.RMSNorm(head_dim) if qk_norm else None
        self.key_norm: nn.Module | None = nn.RMSNorm(head_dim) if qk_norm else None
        self.mechanism = mechanism(
            score,
            head_dim,
            head_dim,
            hidden=hidden,
            sharpness=sharpness,
            scaled=scaled,
            max_length=max_length,
            normaliser=normaliser,
            scope=scope,
            window=window,
            dropout=dropout,
            heads=heads,
        )
        self.positions: PositionName = positions
        self.query_positions = AddedPositions(positions, max_length, query_dim)
        self.key_positions = AddedPositions(positions, max_length, key_dim)
        self.score_bias = self._make_bias(positions, heads, scope)

    @staticmethod
    def _make_bias(positions: PositionName, heads: int, scope: ScopeName) -> Alibi | RelativeBuckets | None:
        if positions == "alibi":
            return Alibi(heads)
        if positions == "relative":
            return RelativeBuckets(heads, two_sided=scope not in ("causal", "sliding-window"))
        return None

    @property
    def has_history(self) -> bool:
        return self.mechanism.has_history

    @property
    def output_dim(self) -> int:
        """The output projection leads back to the width of the query."""
        return self.query_dim

    @property
    def scorer(self) -> Mechanism:
        return self.mechanism

    def with_hook(self, hook: Hook) -> Self:
        copied = copy.copy(self)
        copied._modules = {**self._modules, "mechanism": self.mechanism.with_hook(hook)}
        return copied

    def meanings(self, query: str, values: str) -> Meanings:
        asked, looked_at = self._named("W_Q x", "t"), self._named("W_K h_j", "j")
        return Meanings(f"{asked}: {query}", self.mechanism.describe_keys(looked_at), "W_V h_j of this head")

    def _named(self, projected: str, position: str) -> str:
        """What QK-norm and rotary positions make of a projection, in signs: R_t RMSNorm(W_Q x)."""
        named = f"RMSNorm({projected})" if self.query_norm is not None else projected
        return f"R_{position} {named}" if self.positions == "rotary" else named

    def describe_query(self, weighing: Weighing, head: int) -> Formula | None:
        raw = weighing.raw_query
        if raw is None or (self.query_norm is None and self.positions != "rotary"):
            return None
        q = raw[0, head, 0]  # (d,)
        parts = [Quantity("q", "W_Q x, the share of this head", array(q))]
        code = ["turned = q"]
        if isinstance(self.query_norm, nn.RMSNorm):
            eps = torch.finfo(q.dtype).eps if self.query_norm.eps is None else self.query_norm.eps
            parts.append(Quantity("gain", "of the norm, learned", array(self.query_norm.weight)))
            parts.append(Quantity("normed", "q at size 1, times the gain", array(self.query_norm(q)), given=False))
            code = [f"normed = q / np.sqrt((q**2).mean() + {eps!r}) * gain", "turned = normed"]
        if self.positions == "rotary":
            parts.append(Quantity("position", "where the query stands, from 0", array(weighing.positions[0, 0])))
            code += [
                "half = len(turned) // 2",
                "angles = position * 10000.0 ** (-np.arange(half) / half)",
                "first, second = turned[:half], turned[half:]",
                "cos, sin = np.cos(angles), np.sin(angles)",
                "turned = np.concatenate([first * cos - second * sin, first * sin + second * cos])",
            ]
        turned = Quantity("turned", "the query that is scored", array(weighing.query[0, head, 0]), given=False)
        how = {
            (True, True): "QK-norm and rotary positions",
            (True, False): "QK-norm",
            (False, True): "rotary positions",
        }
        name = how[self.query_norm is not None, self.positions == "rotary"]
        paper = "Su 2021, 3.2" if self.positions == "rotary" else "after Henry 2020"
        return Formula(name, f"query = {self._named('q', 't')}", paper, (*parts, turned), tuple(code))

    def begin(self, prepared: Prepared) -> Tensor:
        return self.mechanism.begin(prepared)

    def remember(self, history: Tensor, weights: Tensor | None) -> Tensor:
        return self.mechanism.remember(history, weights)

    def prepare(
        self,
        keys: Tensor,
        values: Tensor | None = None,
        mask: Tensor | None = None,
        *,
        offset: int | Tensor = 0,
    ) -> Prepared:
        """As everywhere; `offset` is the position of the first key, for a cache that grows (`Prepared.extend`)."""
        values = keys if values is None else values
        self._check_keys(keys, values, mask)
        if values.size(-1) != self.value_projection.in_features:
            raise ShapeError(
                f"MultiHead: values have width {values.size(-1)} but value_dim = {self.value_projection.in_features}"
            )
        values = blank_padding(values, mask) if values is not keys else None
        keys = blank_padding(keys, mask)
        places = masks.positions(keys.size(1), offset, keys.device)
        placed = self.key_positions(keys, places)
        heads = split(self.key_projection(placed), self.kv_heads)
        heads = heads if self.key_norm is None else self.key_norm(heads)
        heads = rotate(heads, places) if self.positions == "rotary" else heads
        heads_of_values = split(self.value_projection(keys if values is None else values), self.kv_heads)
        # The score's own key map has parameters for every query head, so grouped keys are spread out before it.
        if not isinstance(self.mechanism, Dot):
            heads = self._spread(heads)
        return Prepared(self.mechanism.project_keys(heads), heads_of_values, mask)

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
        places = masks.positions(query.size(1), offset, query.device)
        placed = self.query_positions(query, places)
        raw = split(self.query_projection(placed), self.heads)
        heads = raw if self.query_norm is None else self.query_norm(raw)
        heads = rotate(heads, places) if self.positions == "rotary" else heads
        spread = Prepared(self._spread(prepared.keys), self._spread(prepared.values), prepared.mask)
        bias = None
        if self.score_bias is not None:
            bias = self.score_bias(places, torch.arange(spread.keys.size(2), device=query.device)).to(query.dtype)
        hooked = self.mechanism.hook is not None
        context, weights = self.mechanism.attend_heads(
            heads,
            spread,
            offset=offset,
            history=history,
            bias=bias,
            raw_query=raw if hooked else None,
            need_weights=need_weights or hooked,
        )
        if hooked and weights is not None:  # who looks at what may have changed, and is read off the weights
            return self.join_heads(context, weights), weights if need_weights else None
        output: Tensor = self.output_projection(merge(context))
        blind = self._blind(heads, spread, offset)
        return (output if blind is None else output.masked_fill(blind, 0.0)), weights

    def join_heads(self, contexts: Tensor, weights: Tensor) -> Tensor:
        """(B, H, Tq, d), (B, H, Tq, Tk) -> (B, Tq, Dq): through W_O; zeros for a query that looks at nothing."""
        output: Tensor = self.output_projection(merge(contexts))
        return output.masked_fill(~weights.bool().any(dim=-1).any(dim=1).unsqueeze(-1), 0.0)

    def _blind(self, query: Tensor, prepared: Prepared, offset: int | Tensor) -> Tensor | None:
        """(1 or B, Tq, 1): who may look at nothing gets zeros, not the bias of the output projection."""
        if prepared.mask is None and self.mechanism.scope.name in ("global", "causal"):
            return None  # everybody sees at least the first key
        if torch.compiler.is_exporting() and self.mechanism.scope.name not in ("local-m", "local-p"):
            return None  # and whatever is searched has a source
        allowed, _ = self.mechanism.region(query, prepared, offset)
        return None if allowed is None else ~allowed.any(dim=-1, keepdim=True).any(dim=1)

    def _spread(self, x: Tensor) -> Tensor:
        """(B, kv_heads, Tk, d) -> (B, heads, Tk, d): each group of query heads shares one head of keys and values."""
        return x if x.size(1) == self.heads else x.repeat_interleave(self.heads // self.kv_heads, dim=1)


def _check_heads(heads: int, kv_heads: int, width: int, positions: PositionName) -> None:
    check_positions(positions)
    if heads < 1 or kv_heads < 1:
        raise ConfigError(f"heads = {heads}, kv_heads = {kv_heads}; both must be at least 1")
    if width % heads:
        raise ConfigError(f"heads = {heads} does not divide width = {width}")
    if heads % kv_heads:
        raise ConfigError(f"kv_heads = {kv_heads} does not divide heads = {heads}")
    if positions == "rotary" and (width // heads) % 2:
        raise ConfigError(f"rotary positions need an even width per head; width / heads = {width // heads}")
