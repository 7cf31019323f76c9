"""The Transformer's block and its encoder; the decoder stands in transformer.py."""

from typing import Literal

from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see import masks
from seq2see.attention import MultiHead
from seq2see.attention.positions import AddedPositions, PositionName
from seq2see.attention.scopes import ScopeName
from seq2see.models.base import AttentionLayer, Encoded, Encoder, Look, Settings
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
        blocks = [block for block in self.blocks if isinstance(block, EncoderBlock)]
        return tuple(AttentionLayer("encoder", layer, block.attention) for layer, block in enumerate(blocks))
