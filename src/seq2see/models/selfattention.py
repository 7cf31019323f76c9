"""The Transformer's block and its encoder; the decoder stands in transformer.py."""

from typing import Literal, Protocol

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see import masks
from seq2see.attention import MultiHead
from seq2see.attention.formula import Formula, Quantity, array
from seq2see.attention.positions import AddedPositions, PositionName
from seq2see.attention.scopes import ScopeName
from seq2see.models.base import AttentionLayer, Encoded, Encoder, Look, Settings, StepDescription
from seq2see.models.formulas import layers_formula, norm_formula, norm_parts
from seq2see.models.layers import Embedding, average

NormName = Literal["layer", "rms"]
ActivationName = Literal["relu", "gelu", "silu", "swiglu"]


class BlockConfig(Settings):
    """One Transformer layer, encoder's or decoder's."""

    width: int = Field(256, ge=1, description="width of every vector in the model")
    heads: int = Field(4, ge=1, description="attention heads in each layer")
    kv_heads: int | None = Field(None, ge=1, description="heads for keys and values, if fewer (grouped-query)")
    inner: int = Field(1024, ge=1, description="inner width of the feed-forward part")
    norm_first: bool = Field(True, description="normalise before each part (today) or after it (Vaswani 2017)")
    norm: NormName = Field("layer", description="layer or rms")
    activation: ActivationName = Field("relu", description="relu, gelu, silu or swiglu")
    positions: PositionName = Field("sinusoidal", description="sinusoidal, learned, rotary, alibi, relative or none")
    max_length: int = Field(1024, ge=1, description="of learned positions: how many there are")
    qk_norm: bool = Field(False, description="normalise queries and keys of each head")
    scale_embedding: bool = Field(True, description="multiply word vectors by the square root of the width")
    dropout: float = Field(0.1, ge=0, lt=1, description="on word vectors and on what each part adds, while training")

    @model_validator(mode="after")
    def heads_divide(self) -> "BlockConfig":
        if self.width % self.heads:
            raise ValueError(f"heads = {self.heads} does not divide width = {self.width}")
        if self.kv_heads is not None and self.heads % self.kv_heads:
            raise ValueError(f"kv_heads = {self.kv_heads} does not divide heads = {self.heads}")
        if self.positions == "rotary" and (self.width // self.heads) % 2:
            raise ValueError(
                f"positions = rotary needs an even width per head, but width / heads = {self.width // self.heads}"
            )
        return self


class TransformerEncoderConfig(BlockConfig):
    """A Transformer encoder."""

    kind: Literal["transformer"] = "transformer"
    layers: int = Field(3, ge=1, description="layers on top of each other")


def make_norm(kind: NormName, width: int) -> nn.Module:
    return nn.LayerNorm(width) if kind == "layer" else nn.RMSNorm(width, eps=1e-6)


def self_attention(config: BlockConfig, scope: ScopeName) -> MultiHead:
    """Positions that are added stand at the embedding; the others live inside each self-attention."""
    inside: PositionName = config.positions if config.positions in ("rotary", "alibi", "relative") else "none"
    return MultiHead(
        config.width,
        config.width,
        heads=config.heads,
        kv_heads=config.kv_heads,
        positions=inside,
        qk_norm=config.qk_norm,
        scope=scope,
    )


class FeedForward(nn.Module):
    """W_2 act(W_1 x), at every position alike (Vaswani 2017, section 3.3); SwiGLU as in Shazeer 2020."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.activation: ActivationName = config.activation
        doubled = 2 if config.activation == "swiglu" else 1
        self.widen = nn.Linear(config.width, doubled * config.inner)
        self.narrow = nn.Linear(config.inner, config.width)
        for layer in (self.widen, self.narrow):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x: Tensor) -> Tensor:
        x = self.widen(x)
        if self.activation == "swiglu":
            gate, x = x.chunk(2, dim=-1)
            return self.narrow(_activate(gate, self.activation) * x)
        return self.narrow(_activate(x, self.activation))

    def describe(self, x: Tensor) -> Formula:
        """(D,) -> what it adds at this position."""
        inner = self.widen(x)
        added = Quantity("added", "W_2 hidden + b_2", array(self(x)))
        if self.activation == "swiglu":
            gate, up = inner.chunk(2)
            gated = (
                Quantity("gate", "W_1 x + b_1, first half", array(gate)),
                Quantity("up", "its second half", array(up)),
                Quantity("hidden", "silu(gate) up", array(F.silu(gate) * up), given=False),
            )
            silu = ("hidden = gate / (1 + np.exp(-gate)) * up",)
            return Formula("feed-forward", "W_2 (silu(gate) up) + b_2", "Shazeer 2020", (*gated, added), silu)
        hidden = _activate(inner, self.activation)
        parts = (
            Quantity("inner", "W_1 x + b_1", array(inner)),
            Quantity("hidden", f"{self.activation}(inner)", array(hidden), given=False),
        )
        code = {
            "relu": ("hidden = np.maximum(inner, 0)",),
            "gelu": ("from math import erf", "hidden = np.array([a * (1 + erf(a / 2**0.5)) / 2 for a in inner])"),
            "silu": ("hidden = inner / (1 + np.exp(-inner))",),
        }[self.activation]
        text = f"W_2 {self.activation}(W_1 x + b_1) + b_2"
        return Formula("feed-forward", text, "Vaswani 2017, eq. 2", (*parts, added), code)


def _activate(x: Tensor, name: ActivationName) -> Tensor:
    match name:
        case "relu":
            return F.relu(x)
        case "gelu":
            return F.gelu(x)
        case "silu" | "swiglu":
            return F.silu(x)


class Residual(nn.Module):
    """x + part(norm(x)) or norm(x + part(x)): `enter` before the part, `leave` after it."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.norm = make_norm(config.norm, config.width)
        self.norm_first = config.norm_first
        self.dropout = config.dropout

    def enter(self, x: Tensor) -> Tensor:
        return self.norm(x) if self.norm_first else x

    def leave(self, x: Tensor, added: Tensor) -> Tensor:
        x = x + F.dropout(added, self.dropout, self.training)
        return x if self.norm_first else self.norm(x)

    def describe_enter(self, x: Tensor, what: str) -> tuple[Formula, ...]:
        """(D,) -> the norm before the part, which is called `what`; nothing where it stands behind."""
        return (norm_formula(self.norm, x, f"what {what} reads"),) if self.norm_first else ()

    def describe_leave(self, x: Tensor, added: Tensor, what: str) -> Formula:
        """(D,), (D,) -> the sum, and the norm behind it where that is the order."""
        parts = (Quantity("x", "what entered", array(x)), Quantity("added", f"what {what} adds", array(added)))
        result = Quantity(
            "x_new", f"the vector of this position after {what}", array(self.leave(x, added)), given=False
        )
        if self.norm_first:
            return Formula("residual sum", "x' = x + added", "He 2015", (*parts, result), ("x_new = x + added",))
        learned, expression = norm_parts(self.norm, x, name="summed")
        code = ("summed = x + added", f"x_new = {expression}")
        return Formula(
            "residual sum and norm", "x' = norm(x + added)", "He 2015; Ba 2016", (*parts, *learned, result), code
        )


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: BlockConfig) -> None:
        super().__init__()
        self.attention = self_attention(config, "global")
        self.attention_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(self, x: Tensor, mask: Tensor, *, need_weights: bool) -> tuple[Tensor, Tensor | None]:
        entered = self.attention_residual.enter(x)
        added, weights = self.attention(entered, entered, None, mask, need_weights=need_weights)
        x = self.attention_residual.leave(x, added)
        added = self.feed_forward(self.feed_forward_residual.enter(x))
        return self.feed_forward_residual.leave(x, added), weights

    def describe(self, x: Tensor, mask: Tensor, position: int) -> StepDescription:
        """(1, S, D) -> the formulas of one position, around the self-attention."""
        entered = self.attention_residual.enter(x)
        added, _ = self.attention(entered, entered, None, mask)
        before = self.attention_residual.describe_enter(x[0, position], "self-attention")
        leaving = self.attention_residual.describe_leave(x[0, position], added[0, position], "self-attention")
        x = self.attention_residual.leave(x, added)
        return StepDescription(before, (leaving, *describe_feed_forward(self, x[0, position])))


def describe_feed_forward(block: "FeedingBlock", x: Tensor) -> tuple[Formula, ...]:
    """(D,) -> the last part of any block: norm, feed-forward, residual sum."""
    residual = block.feed_forward_residual
    entered = residual.enter(x)
    leaving = residual.describe_leave(x, block.feed_forward(entered), "feed-forward")
    return (*residual.describe_enter(x, "feed-forward"), block.feed_forward.describe(entered), leaving)


class FeedingBlock(Protocol):
    """A block that ends with a feed-forward part, encoder's or decoder's."""

    feed_forward: FeedForward
    feed_forward_residual: Residual


class PlacedEmbedding(nn.Module):
    """Word vectors times sqrt(width), plus positions (Vaswani 2017, sections 3.4 and 3.5).

    With `shared` the word vectors are another embedding's. They are then held in a tuple, where torch does not register
    them a second time: one parameter under one name, saved once.
    """

    def __init__(self, config: BlockConfig, vocabulary: int, *, shared: Embedding | None = None) -> None:
        super().__init__()
        self.own = Embedding(vocabulary, config.width) if shared is None else None
        self._shared: tuple[Embedding, ...] = () if shared is None else (shared,)
        self.places = AddedPositions(config.positions, config.max_length, config.width)
        self.scale = config.width**0.5 if config.scale_embedding else 1.0
        self.dropout = config.dropout

    @property
    def words(self) -> Embedding:
        return self.own if self.own is not None else self._shared[0]

    def forward(self, ids: Tensor, offset: int | Tensor = 0) -> Tensor:
        """(B, T) -> (B, T, D)."""
        vectors = self.words(ids) * self.scale
        placed = self.places(vectors, masks.positions(ids.size(1), offset, ids.device))
        return F.dropout(placed, self.dropout, self.training)

    def describe(self, piece: Tensor, position: int, meaning: str) -> Formula:
        """(1,) an id -> its vector at this position; `meaning` says which word it is."""
        word = self.words(piece)[0]
        placed = self(piece.unsqueeze(0), position)[0, 0]
        parts = (
            Quantity("word", meaning, array(word)),
            Quantity("scale", "sqrt of the width", array(torch.tensor(self.scale, dtype=word.dtype))),
        )
        x = Quantity("x", "what the first layer reads", array(placed), given=False)
        if self.places.scheme not in ("sinusoidal", "learned"):
            return Formula("input", "x = word sqrt(D)", "Vaswani 2017, 3.4", (*parts, x), ("x = word * scale",))
        nothing = torch.zeros_like(word)[None, None]
        place = self.places(nothing, masks.positions(1, position, piece.device))[0, 0]
        added = Quantity("place", f"the vector of position {position}, {self.places.scheme}", array(place))
        text, code = "x = word sqrt(D) + place", ("x = word * scale + place",)
        return Formula("input", text, "Vaswani 2017, 3.4 and 3.5", (*parts, added, x), code)


class TransformerEncoder(Encoder):
    """Every word looks at every word, layer after layer (Vaswani 2017, section 3.1)."""

    def __init__(self, config: TransformerEncoderConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.key_dim = self.summary_dim = config.width
        self.embedding = PlacedEmbedding(config, vocabulary)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(config.layers))
        self.norm = make_norm(config.norm, config.width) if config.norm_first else nn.Identity()

    def forward(self, source: Tensor, mask: Tensor, *, need_weights: bool = False) -> tuple[Encoded, list[Look]]:
        x = self.embedding(source)
        looks = []
        for layer, block in enumerate(self.blocks):
            x, weights = block(x, mask, need_weights=need_weights)
            if weights is not None:
                looks.append(Look("encoder", layer, weights))
        keys = self.norm(x)
        return Encoded(keys, keys, mask, average(keys, mask)), looks

    def attentions(self) -> tuple[AttentionLayer, ...]:
        return tuple(AttentionLayer("encoder", layer, block.attention) for layer, block in enumerate(self._blocks()))

    def describe_position(self, source: Tensor, mask: Tensor, position: int, layer: int | None) -> StepDescription:
        x = self.embedding(source)
        meaning = "word vector of this piece"
        before = [self.embedding.describe(source[:, position], position, meaning)]
        after: list[Formula] = []
        passed: dict[int, Tensor] = {}
        for number, block in enumerate(self._blocks()):
            if number == layer:
                described = block.describe(x, mask, position)
                before += [*layers_formula(passed, "layers below"), *described.before]
                after += described.after
                passed = {}
            x, _ = block(x, mask, need_weights=True)
            if number != layer:
                passed[number] = x[0, position]
        after += layers_formula(passed, "layers above")
        if self.config.norm_first:
            after.append(norm_formula(self.norm, x[0, position], "h_j: what the decoder gets of this piece"))
        return StepDescription(tuple(before), tuple(after))

    def _blocks(self) -> list[EncoderBlock]:
        return [block for block in self.blocks if isinstance(block, EncoderBlock)]
