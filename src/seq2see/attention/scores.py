"""The mechanisms: each one is its score. s is the query, h_j a key.

Dot             s . h_j                              Luong 2015, section 3.1
ScaledDot       s . h_j / sqrt(d_k)                  Vaswani 2017, section 3.2.1, equation 1
General         s^T W h_j, or / sqrt(d_q)            Luong 2015, section 3.1
Additive        v^T tanh(W_1 s + W_2 h_j)            Bahdanau 2014, appendix A.1.2; Luong's concat
Cosine          beta cos(s, h_j)                     Graves 2014, section 3.3.1, equations 5 and 6
Location        (W s)_j                              Luong 2015, section 3.1, equation 8
LocationAware   v^T tanh(W_1 s + W_2 h_j + U f_j)    Chorowski 2015, section 2.2, equations 8 and 9
"""

import math
from typing import Literal, Unpack, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from seq2see import masks
from seq2see.attention.base import Mechanism, Options, Prepared, Weighing
from seq2see.attention.formula import Formula, Quantity, array
from seq2see.attention.heads import HeadLinear
from seq2see.errors import ConfigError, ShapeError, nearest

ScoreName = Literal["dot", "scaled_dot", "general", "additive", "cosine", "location", "location_aware"]
SCORES: tuple[ScoreName, ...] = get_args(ScoreName)
OF_ONE_WIDTH: tuple[ScoreName, ...] = ("dot", "scaled_dot", "cosine")  # query and key are multiplied

# Numbers in the largest (B, H, Tq, Tk, hidden) tensor that an additive score may build: 64 MiB of float32.
ADDITIVE_BUDGET = 2**24


class Dot(Mechanism):
    """score(s, h_j) = s . h_j    Luong 2015, section 3.1, "dot"."""

    def make_parameters(self) -> None:
        if self.query_dim != self.key_dim:
            raise ShapeError(
                f"{type(self).__name__} multiplies query and key, but query_dim = {self.query_dim} and "
                f"key_dim = {self.key_dim}; make them equal, or use General or Additive"
            )

    def as_dot_product(self, query: Tensor, keys: Tensor) -> tuple[Tensor, float]:
        return query, 1.0

    def score(self, query: Tensor, keys: Tensor, history: Tensor | None = None) -> Tensor:
        query, scale = self.as_dot_product(query, keys)
        return torch.matmul(query * scale if scale != 1.0 else query, keys.transpose(-2, -1))

    def describe_score(self, weighing: Weighing, head: int) -> Formula:
        return Formula("dot", "score_j = s . h_j", "Luong 2015, 3.1", (), ("scores = keys @ query",))


class ScaledDot(Dot):
    """score(s, h_j) = s . h_j / sqrt(d_k)    Vaswani 2017, section 3.2.1, equation 1."""

    def as_dot_product(self, query: Tensor, keys: Tensor) -> tuple[Tensor, float]:
        return query, 1 / math.sqrt(self.key_dim)

    def describe_score(self, weighing: Weighing, head: int) -> Formula:
        width = Quantity("d_k", "width of a key", np.array(self.key_dim))
        code = ("scores = keys @ query / np.sqrt(d_k)",)
        return Formula("scaled dot", "score_j = q . k_j / sqrt(d_k)", "Vaswani 2017, eq. 1", (width,), code)


class Cosine(Dot):
    """score(s, h_j) = beta s . h_j / (|s| |h_j|)    Graves 2014, section 3.3.1, equations 5 and 6.

    beta is 1, or with `sharpness` a learned number per head that starts there: plain cosines lie within -1..1, so
    that their softmax can never be sharp.
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        *,
        sharpness: float | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(query_dim, key_dim, **options)
        if sharpness is not None and sharpness <= 0:
            raise ConfigError(f"sharpness = {sharpness}; it must be positive, or None for the plain cosine")
        # The logarithm is learned, so that beta stays positive.
        self.log_sharpness = (
            None if sharpness is None else nn.Parameter(torch.full((self.heads, 1, 1), math.log(sharpness)))
        )

    def project_keys(self, keys: Tensor) -> Tensor:
        return F.normalize(keys, dim=-1)

    def as_dot_product(self, query: Tensor, keys: Tensor) -> tuple[Tensor, float]:
        unit = F.normalize(query, dim=-1)
        return (unit if self.log_sharpness is None else unit * self.log_sharpness.exp()), 1.0

    def describe_keys(self, key: str) -> str:
        return f"{key} at length 1"

    def describe_score(self, weighing: Weighing, head: int) -> Formula:
        learned = self.log_sharpness
        beta = torch.ones(()) if learned is None else learned[head].exp().squeeze()
        unit = F.normalize(weighing.query[0, head, 0], dim=-1)
        parts = (
            Quantity("beta", "sharpness, not learned here" if learned is None else "sharpness", array(beta)),
            Quantity("unit", "the query at length 1", array(unit), given=False),
        )
        code = ("unit = query / np.linalg.norm(query)", "scores = beta * (keys @ unit)")
        return Formula("cosine", "score_j = beta cos(s, h_j)", "Graves 2014, eq. 5 and 6", parts, code)


class General(Mechanism):
    """score(s, h_j) = s^T W h_j    Luong 2015, section 3.1, "general"; with `scaled` divided by sqrt(d_q).

    An update of Adam moves every number of W by about the rate, and all of them together move a score by the rate times
    |s|_1 |h_j|_1, which grows with the product of the widths. Unscaled, a few updates are enough to saturate the
    softmax before W has learned where to look.
    """

    def __init__(self, query_dim: int, key_dim: int, *, scaled: bool = False, **options: Unpack[Options]) -> None:
        super().__init__(query_dim, key_dim, **options)
        self.scale = 1 / math.sqrt(query_dim) if scaled else 1.0

    def make_parameters(self) -> None:
        self.bilinear = HeadLinear(self.heads, self.key_dim, self.query_dim)

    def project_keys(self, keys: Tensor) -> Tensor:
        return self.bilinear(keys)

    def as_dot_product(self, query: Tensor, keys: Tensor) -> tuple[Tensor, float]:
        return query, self.scale

    def score(self, query: Tensor, keys: Tensor, history: Tensor | None = None) -> Tensor:
        return torch.matmul(query * self.scale if self.scale != 1.0 else query, keys.transpose(-2, -1))

    def describe_keys(self, key: str) -> str:
        return f"W {key}"

    def describe_score(self, weighing: Weighing, head: int) -> Formula:
        if self.scale == 1.0:
            return Formula("general", "score_j = s . (W h_j)", "Luong 2015, 3.1", (), ("scores = keys @ query",))
        width = Quantity("d_q", "width of the query", np.array(self.query_dim))
        text, code = "score_j = s . (W h_j) / sqrt(d_q)", ("scores = keys @ query / np.sqrt(d_q)",)
        return Formula("scaled general", text, "after Luong 2015, 3.1", (width,), code)


class Additive(Mechanism):
    """score(s, h_j) = v^T tanh(W_1 s + W_2 h_j)    Bahdanau 2014, appendix A.1.2; "concat" of Luong 2015, section 3.1.

    W [s; h] = W_1 s + W_2 h, so W_2 h is computed once per source. The sum inside tanh is a tensor of B x Tq x Tk x
    hidden numbers: it is cut so that no piece exceeds ADDITIVE_BUDGET, and cut pieces are computed again in the
    backward pass instead of being kept.
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        *,
        hidden: int | None = None,
        bias: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(query_dim, key_dim, **options)
        hidden = query_dim if hidden is None else hidden
        if hidden < 1:
            raise ConfigError(f"hidden = {hidden}; an additive score needs at least 1")
        self.hidden = hidden
        self.query_map = HeadLinear(self.heads, query_dim, hidden)
        self.key_map = HeadLinear(self.heads, key_dim, hidden, bias=bias)
        self.energy = HeadLinear(self.heads, hidden, 1)

    def project_keys(self, keys: Tensor) -> Tensor:
        return self.key_map(keys)

    def score(self, query: Tensor, keys: Tensor, history: Tensor | None = None) -> Tensor:
        return self._energies(self.query_map(query), keys)

    def _energies(self, query: Tensor, keys: Tensor) -> Tensor:
        """(B, H, Tq, hidden), (B, H, Tk, hidden) -> (B, H, Tq, Tk), in halves where the whole would be too large."""
        batch, heads, queries, hidden = query.shape
        length = keys.size(2)
        # An exported graph has no sizes to decide by, and decodes one position at a time.
        if torch.compiler.is_exporting() or batch * heads * queries * length * hidden <= ADDITIVE_BUDGET:
            return self._energy(query, keys)
        largest = max(batch, queries, length)
        if largest == 1:
            return self._energy(query, keys)
        half = (largest + 1) // 2
        if batch == largest:
            halves = zip(query.split(half), keys.split(half), strict=True)
            return torch.cat([self._energies_again(q, k) for q, k in halves])
        if queries == largest:
            return torch.cat([self._energies_again(q, keys) for q in query.split(half, dim=2)], dim=2)
        return torch.cat([self._energies_again(query, k) for k in keys.split(half, dim=2)], dim=3)

    def _energies_again(self, query: Tensor, keys: Tensor) -> Tensor:
        if torch.is_grad_enabled():
            result: Tensor = checkpoint(self._energies, query, keys, use_reentrant=False)
            return result
        return self._energies(query, keys)

    def _energy(self, query: Tensor, keys: Tensor) -> Tensor:
        inner = torch.tanh(query.unsqueeze(3) + keys.unsqueeze(2))  # (B, H, Tq, Tk, hidden)
        if torch.compiler.is_exporting() and self.heads == 1:  # ONNX Runtime is nine times faster with a column
            return torch.matmul(inner, self.energy.weight[0, 0].unsqueeze(-1)).squeeze(-1)
        if self.heads == 1:
            return torch.matmul(inner, self.energy.weight[0, 0])
        return torch.matmul(inner, self.energy.weight.transpose(1, 2).unsqueeze(1)).squeeze(-1)

    def describe_keys(self, key: str) -> str:
        return f"W2 {key}"

    def describe_score(self, weighing: Weighing, head: int) -> Formula:
        query = self.query_map(weighing.query)[0, head, 0]  # (hidden,)
        inner = torch.tanh(query + weighing.prepared.keys[0, head])  # (Tk, hidden)
        parts = (
            Quantity("W1_s", "the query through W1", array(query)),
            Quantity("v", "weighs the hidden layer", array(self.energy.weight[head, 0])),
            Quantity("inner", "tanh(W1 s + W2 h_j)", array(inner), given=False),
        )
        code = ("inner = np.tanh(W1_s + keys)", "scores = inner @ v")
        return Formula("additive", "score_j = v . tanh(W1 s + W2 h_j)", "Bahdanau 2014, A.1.2", parts, code)


class Location(Mechanism):
    """score_j = (W s)_j    Luong 2015, section 3.1, "location": from the state alone, keys are not looked at.

    W has `max_length` rows. A shorter source takes the first of them, normalised over its own length; of a longer
    one the words near the end are not looked at (the paper's footnote).
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        *,
        max_length: int = 256,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(query_dim, key_dim, **options)
        if max_length < 1:
            raise ConfigError(f"max_length = {max_length}; Location needs at least 1")
        self.max_length = max_length
        self.places = HeadLinear(self.heads, query_dim, max_length)

    def score(self, query: Tensor, keys: Tensor, history: Tensor | None = None) -> Tensor:
        places = torch.arange(keys.size(2), device=query.device)
        rows = self.places.weight[:, places.clamp(max=self.max_length - 1)]  # (H, Tk, Dq)
        return torch.matmul(query, rows.transpose(1, 2))

    def region(self, query: Tensor, prepared: Prepared, offset: int | Tensor) -> tuple[Tensor | None, Tensor | None]:
        allowed, gain = super().region(query, prepared, offset)
        within = torch.arange(prepared.values.size(2), device=query.device) < self.max_length
        return masks.both(allowed, within), gain

    def describe_keys(self, key: str) -> str:
        return f"{key}, which this score does not look at"

    def describe_score(self, weighing: Weighing, head: int) -> Formula:
        places = torch.arange(weighing.prepared.keys.size(2)).clamp(max=self.max_length - 1)
        rows = Quantity("W", "a row for each place", array(self.places.weight[head, places]))
        return Formula("location", "score_j = (W s)_j", "Luong 2015, eq. 8", (rows,), ("scores = W @ query",))

    def describe_region(self, weighing: Weighing, head: int) -> Formula:
        scope = super().describe_region(weighing, head)
        most = Quantity("max_length", "places that W has a row for", np.array(self.max_length))
        code = (*scope.code, "allowed = allowed & (places < max_length)")
        return Formula(scope.name, f"{scope.text}, and j < max_length", scope.paper, (*scope.parts, most), code)


class LocationAware(Additive):
    """score_j = v^T tanh(W_1 s + W_2 h_j + U f_j),  f = F * weights of the step before.

    Chorowski 2015, section 2.2, equations 8 and 9. With `cumulative` the convolution also sees the sum of all earlier
    weights (Shen 2018, section 2.2), which keeps speech moving forward. Each query depends on the one before, so
    several queries are attended one after another.
    """

    def __init__(
        self,
        query_dim: int,
        key_dim: int,
        *,
        hidden: int | None = None,
        bias: bool = True,
        filters: int = 32,
        kernel: int = 31,
        cumulative: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(query_dim, key_dim, hidden=hidden, bias=bias, **options)
        if kernel % 2 == 0 or kernel < 1:
            raise ConfigError(f"kernel = {kernel}; a convolution centred on a position needs an odd, positive width")
        if filters < 1:
            raise ConfigError(f"filters = {filters}; LocationAware needs at least 1")
        self.cumulative = cumulative
        self.filters = nn.Conv1d(2 if cumulative else 1, filters, kernel, padding=kernel // 2, bias=False)
        self.filter_map = HeadLinear(self.heads, filters, self.hidden)

    @property
    def has_history(self) -> bool:
        return True

    def begin(self, prepared: Prepared) -> Tensor:
        """(B, H, 2, Tk): the weights of the step before and the sum of all so far, both zero."""
        batch, _, length, _ = prepared.values.shape
        return prepared.values.new_zeros(batch, self.heads, 2, length)

    def remember(self, history: Tensor, weights: Tensor | None) -> Tensor:
        if weights is None:
            raise ShapeError("LocationAware.remember needs the weights of the step; attend with need_weights=True")
        return torch.stack([weights[:, :, -1], history[:, :, 1] + weights.sum(dim=2)], dim=2)

    def score(self, query: Tensor, keys: Tensor, history: Tensor | None = None) -> Tensor:
        if history is None:
            raise ShapeError("LocationAware.score needs the history of the step; use attend or forward")
        batch, heads = history.shape[:2]
        seen = (history if self.cumulative else history[:, :, :1]).flatten(0, 1)
        features = self.filters(seen).unflatten(0, (batch, heads)).transpose(2, 3)  # (B, H, Tk, filters)
        return self._energies(self.query_map(query), keys + self.filter_map(features))

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
        start = self.begin(prepared)
        history = start if history is None else history
        if not torch.compiler.is_exporting() and history.shape != start.shape:
            raise ShapeError(
                f"LocationAware: history has shape {tuple(history.shape)}; expected {tuple(start.shape)}, from `begin`"
            )
        contexts, rows = [], []
        for step in range(query.size(2)):
            context, weights = super().attend_heads(
                query[:, :, step : step + 1],
                _row_of(prepared, step, query.size(2)),
                offset=offset + step,
                history=history,
                bias=bias if bias is None else bias[..., step : step + 1, :],
                raw_query=raw_query if raw_query is None else raw_query[:, :, step : step + 1],
                need_weights=True,
            )
            history = self.remember(history, weights)
            contexts.append(context)
            rows.append(weights)
        joined = torch.cat([row for row in rows if row is not None], dim=2) if need_weights else None
        return torch.cat(contexts, dim=2), joined

    def describe_score(self, weighing: Weighing, head: int) -> Formula:
        assert weighing.history is not None
        seen = weighing.history[:1, head, : 2 if self.cumulative else 1]  # (1, channels, Tk)
        features = self.filters(seen)[0].T  # (Tk, filters)
        lift = self.filter_map.weight[head]
        query = self.query_map(weighing.query)[0, head, 0]  # (hidden,)
        inner = torch.tanh(query + weighing.prepared.keys[0, head] + features @ lift.T)  # (Tk, hidden)
        what = "weights of the step before" + (", and the sum of all so far" if self.cumulative else "")
        parts = (
            Quantity("W1_s", "the query through W1", array(query)),
            Quantity("v", "weighs the hidden layer", array(self.energy.weight[head, 0])),
            Quantity("seen", what, array(seen[0])),
            Quantity("filters", "the convolution over them", array(self.filters.weight)),
            Quantity("U", "from filters to the hidden layer", array(lift)),
            Quantity("feats", "f_j: what the filters find", array(features), given=False),
            Quantity("inner", "tanh(W1 s + W2 h_j + U f_j)", array(inner), given=False),
        )
        code = (
            "width = filters.shape[2]",
            "padded = np.pad(seen, ((0, 0), (width // 2, width // 2)))",
            "feats = np.array([(filters * padded[:, j : j + width]).sum(axis=(1, 2)) for j in range(len(keys))])",
            "inner = np.tanh(W1_s + keys + feats @ U.T)",
            "scores = inner @ v",
        )
        text = "score_j = v . tanh(W1 s + W2 h_j + U f_j)"
        return Formula("location-aware", text, "Chorowski 2015, eq. 8 and 9", parts, code)


def _row_of(prepared: Prepared, step: int, queries: int) -> Prepared:
    """The same keys with the mask row of one query, where the mask has a row for each."""
    if prepared.mask is None or prepared.mask.size(1) == 1 or queries == 1:
        return prepared
    return prepared._replace(mask=prepared.mask[:, step : step + 1])


def mechanism(
    score: ScoreName,
    query_dim: int,
    key_dim: int,
    *,
    hidden: int | None = None,
    sharpness: float | None = None,
    max_length: int = 256,
    cumulative: bool = False,
    scaled: bool = False,
    **options: Unpack[Options],
) -> Mechanism:
    """The mechanism that a configuration names.

    `hidden` is for the additive scores, `sharpness` for cosine, `max_length` for location, `cumulative` for
    location_aware, `scaled` for general; the others ignore them.
    """
    match score:
        case "dot":
            return Dot(query_dim, key_dim, **options)
        case "scaled_dot":
            return ScaledDot(query_dim, key_dim, **options)
        case "general":
            return General(query_dim, key_dim, scaled=scaled, **options)
        case "additive":
            return Additive(query_dim, key_dim, hidden=hidden, **options)
        case "cosine":
            return Cosine(query_dim, key_dim, sharpness=sharpness, **options)
        case "location":
            return Location(query_dim, key_dim, max_length=max_length, **options)
        case "location_aware":
            return LocationAware(query_dim, key_dim, hidden=hidden, cumulative=cumulative, **options)
    raise ConfigError(f"score = '{score}' is unknown{nearest(score, SCORES)}")
