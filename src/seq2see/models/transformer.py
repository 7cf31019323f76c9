"""The Transformer: attention is all it needs (Vaswani 2017), and what has changed since then."""

from typing import Any, ClassVar, Literal, NamedTuple

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from seq2see.attention import MultiHead, Prepared
from seq2see.attention.formula import Formula
from seq2see.models.base import (
    AttentionLayer,
    Decoder,
    Encoded,
    Encoder,
    Look,
    Model,
    ModelConfig,
    Place,
    StepDescription,
    Vocabulary,
    mean_weights,
)
from seq2see.models.encoders import EncoderConfig, make_encoder
from seq2see.models.formulas import WORD, layers_formula, norm_formula
from seq2see.models.names import Size
from seq2see.models.selfattention import (
    BlockConfig,
    FeedForward,
    PlacedEmbedding,
    Residual,
    TransformerEncoder,
    TransformerEncoderConfig,
    describe_feed_forward,
    make_norm,
    self_attention,
)


def _sizes(width: int, heads: int, inner: int, layers: int) -> dict[str, object]:
    return {"width": width, "heads": heads, "inner": inner, "layers": layers}


class TransformerConfig(ModelConfig, BlockConfig):
    """The family `transformer`. Every setting of the block holds for encoder and decoder alike."""

    family: Literal["transformer"] = "transformer"
    layers: int = Field(3, ge=1, description="decoder layers, and encoder layers if those are not given")
    encoder_layers: int | None = Field(None, ge=1, description="encoder layers, if not as many as decoder layers")
    tie: Literal["none", "target", "all"] = Field(
        "target",
        description="share the word vectors: with nothing, the vocabulary layer, or source and target as well",
    )
    output_bias: bool = Field(False, description="a trained number for each target piece, added to its logit")
    encoder: EncoderConfig | None = Field(None, description="another encoder than the Transformer's own")

    SIZES: ClassVar[dict[Size, dict[str, Any]]] = {
        "tiny": _sizes(128, 4, 512, 3),
        "small": _sizes(256, 4, 1024, 3),
        "base": _sizes(512, 8, 2048, 6),
        # Vaswani 2017, table 3, base. The big one: width=1024, heads=16, inner=4096, dropout=0.3.
        "paper": _sizes(512, 8, 2048, 6) | {"norm_first": False},
    }

    @model_validator(mode="after")
    def tie_fits(self) -> "TransformerConfig":
        if self.tie != "all":
            return self
        if self.encoder is not None:
            raise ValueError(f"tie = all needs the Transformer's own encoder, not encoder.kind = {self.encoder.kind}")
        if self.source_vocabulary != self.target_vocabulary:
            raise ValueError(
                f"tie = all needs one vocabulary, but source_vocabulary = {self.source_vocabulary} and "
                f"target_vocabulary = {self.target_vocabulary}"
            )
        return self

    def own_encoder(self) -> TransformerEncoderConfig:
        shared = {name: getattr(self, name) for name in BlockConfig.model_fields}
        return TransformerEncoderConfig(**shared, layers=self.encoder_layers or self.layers)


class TransformerMemory(NamedTuple):
    """For each layer (B, kv heads, S, d)."""

    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    mask: Tensor  # (B, 1, S)


class TransformerState(NamedTuple):
    """For each layer what self-attention has seen so far: (B, kv heads, t, d)."""

    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]


class DecoderBlock(nn.Module):
    """Masked self-attention, then a look at the source, then feed-forward."""

    def __init__(self, config: BlockConfig, key_dim: int) -> None:
        super().__init__()
        self.attention = self_attention(config, "causal")
        self.attention_residual = Residual(config)
        self.cross = MultiHead(
            config.width, key_dim, heads=config.heads, kv_heads=config.kv_heads, qk_norm=config.qk_norm
        )
        self.cross_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self, x: Tensor, past: Prepared | None, memory: Prepared, *, need_weights: bool
    ) -> tuple[Tensor, Prepared, Tensor | None, Tensor | None]:
        """(B, T, D), what was seen before x -> x after the block, what has been seen now, weights of both looks."""
        entered = self.attention_residual.enter(x)
        offset = 0 if past is None else past.keys.size(2)
        new = self.attention.prepare(entered, offset=offset)
        seen = new if past is None else past.extend(new)
        added, own = self.attention.attend(entered, seen, offset=offset, need_weights=need_weights)
        x = self.attention_residual.leave(x, added)
        entered = self.cross_residual.enter(x)
        added, across = self.cross.attend(entered, memory, offset=offset, need_weights=need_weights)
        x = self.cross_residual.leave(x, added)
        added = self.feed_forward(self.feed_forward_residual.enter(x))
        return self.feed_forward_residual.leave(x, added), seen, own, across

    def describe(self, x: Tensor, past: Prepared, memory: Prepared, place: Place) -> StepDescription:
        """(1, 1, D), what was seen before it -> the formulas of this position, around the attention at `place`."""
        position = past.keys.size(2)
        entered = self.attention_residual.enter(x)
        seen = past.extend(self.attention.prepare(entered, offset=position))
        added, _ = self.attention.attend(entered, seen, offset=position)
        own = self.attention_residual.describe_enter(x[0, 0], "self-attention")
        own_leaving = self.attention_residual.describe_leave(x[0, 0], added[0, 0], "self-attention")
        x = self.attention_residual.leave(x, added)
        added, _ = self.cross.attend(self.cross_residual.enter(x), memory, offset=position)
        across = self.cross_residual.describe_enter(x[0, 0], "cross-attention")
        leaving = self.cross_residual.describe_leave(x[0, 0], added[0, 0], "cross-attention")
        x = self.cross_residual.leave(x, added)
        rest = (leaving, *describe_feed_forward(self, x[0, 0]))
        kind, _ = place
        if kind == "decoder":
            return StepDescription(own, (own_leaving, *rest))
        return StepDescription((own_leaving, *across), rest)


class TransformerDecoder(Decoder[TransformerMemory, TransformerState]):
    """The decoder of Vaswani 2017, section 3.1, over any encoder's keys."""

    def __init__(self, config: TransformerConfig, encoder: Encoder) -> None:
        super().__init__()
        self.config = config
        shared = None
        if config.tie == "all" and isinstance(encoder, TransformerEncoder):
            shared = encoder.embedding.words
        self.embedding = PlacedEmbedding(config, config.target_vocabulary, shared=shared)
        self.blocks = nn.ModuleList(DecoderBlock(config, encoder.key_dim) for _ in range(config.layers))
        self.norm = make_norm(config.norm, config.width) if config.norm_first else nn.Identity()
        untied = config.tie == "none"
        self.vocabulary = nn.Linear(config.width, config.target_vocabulary, bias=False) if untied else None
        self.output_bias = nn.Parameter(torch.zeros(config.target_vocabulary)) if config.output_bias else None

    def memorise(self, encoded: Encoded) -> TransformerMemory:
        layers = [block.cross.prepare(encoded.keys, encoded.values, encoded.mask) for block in self._blocks()]
        return TransformerMemory(
            tuple(layer.keys for layer in layers), tuple(layer.values for layer in layers), encoded.mask
        )

    def start(self, memory: TransformerMemory) -> TransformerState:
        heads = self.config.kv_heads or self.config.heads
        shape = (memory.mask.size(0), heads, 0, self.config.width // self.config.heads)
        nothing = tuple(memory.keys[0].new_zeros(shape) for _ in self.blocks)
        return TransformerState(nothing, tuple(empty.clone() for empty in nothing))

    def step(
        self, tokens: Tensor, memory: TransformerMemory, state: TransformerState, *, need_weights: bool = False
    ) -> tuple[Tensor, TransformerState, Tensor | None]:
        x = self.embedding(tokens.unsqueeze(1), state.keys[0].size(2))
        seen, rows = [], []
        for layer, block in enumerate(self._blocks()):
            past = Prepared(state.keys[layer], state.values[layer], None)
            x, now, _, across = block(x, past, self._layer(memory, layer), need_weights=need_weights)
            seen.append(now)
            rows.append(across)  # (B, H, 1, S)
        after = TransformerState(tuple(now.keys for now in seen), tuple(now.values for now in seen))
        return self.norm(x).squeeze(1), after, mean_weights(rows) if need_weights else None

    def forward(
        self, tokens: Tensor, memory: TransformerMemory, *, need_weights: bool = False
    ) -> tuple[Tensor, list[Look]]:
        x = self.embedding(tokens)
        looks = []
        for layer, block in enumerate(self._blocks()):
            x, _, own, across = block(x, None, self._layer(memory, layer), need_weights=need_weights)
            if own is not None and across is not None:
                looks += [Look("decoder", layer, own), Look("cross", layer, across)]
        return self.norm(x), looks

    def attentions(self) -> list[AttentionLayer]:
        layers = []
        for layer, block in enumerate(self._blocks()):
            layers.append(AttentionLayer("decoder", layer, block.attention))
            layers.append(AttentionLayer("cross", layer, block.cross, "what self-attention made of this position"))
        return layers

    def describe_step(
        self, tokens: Tensor, memory: TransformerMemory, state: TransformerState, place: Place | None
    ) -> StepDescription:
        assert place is not None
        position = state.keys[0].size(2)
        x = self.embedding(tokens.unsqueeze(1), position)
        before: list[Formula] = [self.embedding.describe(tokens, position, WORD)]
        after: list[Formula] = []
        passed: dict[int, Tensor] = {}
        for layer, block in enumerate(self._blocks()):
            past = Prepared(state.keys[layer], state.values[layer], None)
            walked = layer == place[1]
            if walked:
                described = block.describe(x, past, self._layer(memory, layer), place)
                before += [*layers_formula(passed, "layers below"), *described.before]
                after += described.after
                passed = {}
            x, *_ = block(x, past, self._layer(memory, layer), need_weights=True)
            if not walked:
                passed[layer] = x[0, 0]
        after += layers_formula(passed, "layers above")
        if self.config.norm_first:
            after.append(norm_formula(self.norm, x[0, 0], "what the vocabulary layer reads", symbol="features"))
        return StepDescription(tuple(before), tuple(after))

    def last_layer(self) -> Vocabulary:
        weight = self.embedding.words.weight if self.vocabulary is None else self.vocabulary.weight
        return Vocabulary(weight, self.output_bias)

    def _blocks(self) -> list[DecoderBlock]:
        return [block for block in self.blocks if isinstance(block, DecoderBlock)]

    @staticmethod
    def _layer(memory: TransformerMemory, layer: int) -> Prepared:
        return Prepared(memory.keys[layer], memory.values[layer], memory.mask)


def make_transformer(config: TransformerConfig) -> Model[TransformerMemory, TransformerState]:
    encoder = make_encoder(config.encoder or config.own_encoder(), config.source_vocabulary)
    return Model(config, encoder, TransformerDecoder(config, encoder))
