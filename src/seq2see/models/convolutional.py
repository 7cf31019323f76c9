"""ConvS2S: gated convolutions instead of recurrence, attention in every decoder layer (Gehring 2017)."""

import copy
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import torch
from pydantic import Field, PositiveInt, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see import masks
from seq2see.attention import Attention, Dot, Prepared
from seq2see.attention.formula import Formula, Quantity, array
from seq2see.attention.positions import LearnedPositions
from seq2see.models.base import (
    AttentionLayer,
    Decoder,
    Encoded,
    Encoder,
    Look,
    Model,
    ModelConfig,
    Place,
    Settings,
    StepDescription,
    Vocabulary,
    mean_weights,
)
from seq2see.models.formulas import WORD, layers_formula
from seq2see.models.layers import Embedding, NormedConv, NormedLinear, average, glu_std, hide, pad_time, scale_gradient
from seq2see.models.names import Size

HALF = math.sqrt(0.5)  # keeps the variance of a sum of two equal parts (section 3.4)


class ConvolutionsConfig(Settings):
    """A stack of gated convolutions: one entry of `channels` and `kernels` for each layer."""

    embedding: int = Field(256, ge=1, description="width of word and position vectors")
    channels: tuple[PositiveInt, ...] = Field((256,) * 4, description="width of each layer")
    kernels: tuple[int, ...] = Field((3,) * 4, description="how many positions each layer sees; odd")
    max_length: int = Field(1024, ge=1, description="how many positions have a vector of their own")
    dropout: float = Field(0.1, ge=0, lt=1, description="on word vectors and layer inputs, while training")

    @model_validator(mode="after")
    def same_length(self) -> "ConvolutionsConfig":
        if not self.channels or len(self.channels) != len(self.kernels):
            raise ValueError(
                f"channels has {len(self.channels)} layers but kernels has {len(self.kernels)}; give one each"
            )
        even = [kernel for kernel in self.kernels if kernel % 2 == 0 or kernel < 1]
        if even:
            raise ValueError(f"kernels holds {even[0]}; a kernel is odd and positive")
        return self


def _layers(embedding: int, *groups: tuple[int, int, int]) -> dict[str, Any]:
    """Groups of (channels, how many layers, kernel)."""
    return {
        "embedding": embedding,
        "channels": tuple(width for width, count, _ in groups for _ in range(count)),
        "kernels": tuple(kernel for _, count, kernel in groups for _ in range(count)),
    }


class ConvEncoderConfig(ConvolutionsConfig):
    """A ConvS2S encoder."""

    kind: Literal["convolutional"] = "convolutional"


class ConvS2SConfig(ModelConfig):
    """The family `convs2s`."""

    family: Literal["convs2s"] = "convs2s"
    encoder: ConvEncoderConfig = Field(default_factory=ConvEncoderConfig, description="the encoder's convolutions")
    decoder: ConvolutionsConfig = Field(
        default_factory=lambda: ConvolutionsConfig(channels=(256,) * 3, kernels=(3,) * 3),
        description="the decoder's convolutions",
    )

    SIZES: ClassVar[dict[Size, dict[str, Any]]] = {
        "tiny": {"encoder": _layers(128, (128, 2, 3)), "decoder": _layers(128, (128, 2, 3))},
        "small": {"encoder": _layers(256, (256, 4, 3)), "decoder": _layers(256, (256, 3, 3))},
        "base": {"encoder": _layers(512, (512, 8, 3)), "decoder": _layers(512, (512, 8, 3))},
        # WMT'14 English-German, sections 4.2 and 5.1: 15 layers on both sides, word vectors of 512.
        "paper": {
            "encoder": _layers(512, (512, 10, 3), (768, 3, 3), (2048, 2, 1)),
            "decoder": _layers(512, (512, 10, 3), (768, 3, 3), (2048, 2, 1)),
        },
    }


class PositionedEmbedding(nn.Module):
    """Word plus position vectors (section 3.1)."""

    def __init__(self, config: ConvolutionsConfig, vocabulary: int) -> None:
        super().__init__()
        self.words = Embedding(vocabulary, config.embedding, std=0.1)
        self.places = LearnedPositions(config.max_length, config.embedding)
        nn.init.normal_(self.places.table.weight, std=0.1)
        self.dropout = config.dropout

    def forward(self, ids: Tensor, offset: int | Tensor = 0) -> Tensor:
        """(B, T) -> (B, T, embedding)."""
        placed = self.words(ids) + self.places(masks.positions(ids.size(1), offset, ids.device))
        return F.dropout(placed, self.dropout, self.training)

    def describe(self, piece: Tensor, position: int, meaning: str) -> Formula:
        """(1,) an id -> word plus position; `meaning` says which word it is."""
        word = self.words(piece)[0]
        place = self.places(masks.positions(1, position, piece.device))[0, 0]
        parts = (
            Quantity("word", meaning, array(word)),
            Quantity("place", f"the vector of position {position}, learned", array(place)),
            Quantity("e", "the word in its place", array(word + place), given=False),
        )
        return Formula("input", "e = word + place", "Gehring 2017, 3.1", parts, ("e = word + place",))


def linear(inputs: int, outputs: int, dropout: float) -> NormedLinear:
    return NormedLinear(inputs, outputs, std=math.sqrt((1 - dropout) / inputs))


class GatedConvolution(nn.Module):
    """One block: v([A; B]) = A * sigmoid(B) of a convolution, with the residual's own width (section 3.2)."""

    def __init__(self, inputs: int, channels: int, kernel: int, dropout: float) -> None:
        super().__init__()
        self.kernel = kernel
        self.dropout = dropout
        self.convolution = NormedConv(inputs, 2 * channels, kernel, std=glu_std(inputs, kernel, dropout))
        self.widen = linear(inputs, channels, dropout) if inputs != channels else nn.Identity()

    def forward(self, padded: Tensor) -> Tensor:
        """(B, T + kernel - 1, inputs) -> (B, T, channels)."""
        return F.glu(self.convolution(F.dropout(padded, self.dropout, self.training)), dim=-1)

    def describe(self, window: Tensor) -> Formula:
        """(1, kernel, inputs) around or before one position -> the gated convolution there."""
        a, b = self.convolution(window)[0, 0].chunk(2)
        parts = (
            Quantity("A", f"first half of the convolution over {self.kernel} positions", array(a)),
            Quantity("B", "its second half, the gate", array(b)),
            Quantity("h", "what the gate lets through", array(self(window)[0, 0]), given=False),
        )
        code = ("h = A / (1 + np.exp(-B))",)
        return Formula("gated convolution", "h = A sigmoid(B)", "Gehring 2017, 3.2", parts, code)


class Convolutions(nn.Module):
    """The blocks of one side, between the width of the embedding and back."""

    def __init__(self, config: ConvolutionsConfig) -> None:
        super().__init__()
        widths = [config.channels[0], *config.channels]
        self.inward = linear(config.embedding, config.channels[0], config.dropout)
        self.blocks = nn.ModuleList(
            GatedConvolution(inputs, outputs, kernel, config.dropout)
            for inputs, outputs, kernel in zip(widths, config.channels, config.kernels, strict=False)
        )
        self.outward = linear(config.channels[-1], config.embedding, config.dropout)


class ConvEncoder(Encoder):
    """Keys are the top layer's vectors z; values are z plus the word vectors e (section 3.3)."""

    def __init__(self, config: ConvEncoderConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.key_dim = self.summary_dim = config.embedding
        self.embedding = PositionedEmbedding(config, vocabulary)
        self.convolutions = Convolutions(config)
        # Set where a decoder attends in several layers: gradients of the encoder are divided by their number
        # (section 3.4).
        self.gradient = 1.0

    def forward(self, source: Tensor, mask: Tensor, *, need_weights: bool = False) -> tuple[Encoded, list[Look]]:
        words = hide(self.embedding(source), mask)
        x = self.convolutions.inward(words)
        for block in self._blocks():
            x = self._layer(block, x, mask)
        keys = self.convolutions.outward(x)
        keys = scale_gradient(keys, self.gradient) if self.training and self.gradient != 1.0 else keys
        values = (keys + words) * HALF
        return Encoded(keys, values, mask, average(keys, mask)), []

    def _blocks(self) -> list[GatedConvolution]:
        return [block for block in self.convolutions.blocks if isinstance(block, GatedConvolution)]

    def _layer(self, block: GatedConvolution, x: Tensor, mask: Tensor) -> Tensor:
        """(B, S, inputs) -> (B, S, channels)."""
        side = block.kernel // 2
        return hide((block(pad_time(hide(x, mask), side, side)) + block.widen(x)) * HALF, mask)

    def describe_position(self, source: Tensor, mask: Tensor, position: int, layer: int | None) -> StepDescription:
        words = self.embedding(source)
        x = self.convolutions.inward(words)
        formulas = [self.embedding.describe(source[:, position], position, "word vector of this piece")]
        passed: dict[int, Tensor] = {}
        for number, block in enumerate(self._blocks()):
            side = block.kernel // 2
            if number == 0:
                window = pad_time(x, side, side)[:, position : position + block.kernel]
                residual, after = block.widen(x)[0, position], self._layer(block, x, mask)[0, position]
                formulas += [block.describe(window), _residual(block(window)[0, 0], residual, after)]
            x = self._layer(block, x, mask)
            if number > 0:
                passed[number] = x[0, position]
        keys = self.convolutions.outward(x)[0, position]
        parts = (
            Quantity("key", "h_j: the last layer at this piece, through W", array(keys)),
            Quantity("e", "the word in its place", array(words[0, position])),
            Quantity("value", "what attention takes home", array((keys + words[0, position]) * HALF), given=False),
        )
        code = ("value = (key + e) * np.sqrt(0.5)",)
        text = "key = W x + b;  value = (key + e) sqrt(0.5)"
        formulas += [
            *layers_formula(passed, "layers above"),
            Formula("key and value", text, "Gehring 2017, 3.3", parts, code),
        ]
        return StepDescription(tuple(formulas))


def _residual(h: Tensor, residual: Tensor, after: Tensor) -> Formula:
    parts = (
        Quantity("h", "what the layer computes here", array(h)),
        Quantity("residual", "what entered the layer", array(residual)),
        Quantity("x", "the vector of this position after it", array(after), given=False),
    )
    return Formula(
        "residual sum",
        "x = (h + residual) sqrt(0.5)",
        "Gehring 2017, 3.4",
        parts,
        ("x = (h + residual) * np.sqrt(0.5)",),
    )


class ConvMemory(NamedTuple):
    keys: Tensor  # (B, 1, S, D)
    values: Tensor  # (B, 1, S, D)
    mask: Tensor  # (B, 1, S)
    scale: Tensor  # (B, 1, 1): sqrt of the source length


class ConvState(NamedTuple):
    windows: tuple[Tensor, ...]  # for each layer (B, kernel - 1, inputs): what its convolution still has to see
    position: Tensor  # (B,)


class ConvDecoder(Decoder[ConvMemory, ConvState]):
    """Causal gated convolutions; each layer looks at the source by itself (section 3.3)."""

    def __init__(self, config: ConvolutionsConfig, vocabulary: int, key_dim: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = PositionedEmbedding(config, vocabulary)
        self.convolutions = Convolutions(config)
        self.attention = Dot(key_dim, key_dim)  # the score has no parameters, so one serves every layer
        self.layer_attentions: tuple[Attention, ...] = (self.attention,) * len(config.channels)
        dropout = config.dropout
        self.queries = nn.ModuleList(linear(width, key_dim, dropout) for width in config.channels)
        self.contexts = nn.ModuleList(linear(key_dim, width, dropout) for width in config.channels)
        self.target = nn.Identity() if key_dim == config.embedding else linear(config.embedding, key_dim, dropout)
        self.vocabulary = linear(config.embedding, vocabulary, dropout)

    def memorise(self, encoded: Encoded) -> ConvMemory:
        prepared = self.attention.prepare(encoded.keys, encoded.values, encoded.mask)
        length = encoded.mask.sum(dim=-1, keepdim=True).to(encoded.keys.dtype)
        return ConvMemory(prepared.keys, prepared.values, encoded.mask, length.sqrt())

    def start(self, memory: ConvMemory) -> ConvState:
        batch = memory.keys.size(0)
        inputs = [self.config.channels[0], *self.config.channels[:-1]]
        windows = tuple(
            memory.keys.new_zeros(batch, kernel - 1, width)
            for width, kernel in zip(inputs, self.config.kernels, strict=True)
        )
        return ConvState(windows, torch.zeros(batch, dtype=torch.long, device=memory.keys.device))

    def step(
        self, tokens: Tensor, memory: ConvMemory, state: ConvState, *, need_weights: bool = False
    ) -> tuple[Tensor, ConvState, Tensor | None]:
        words = self.embedding(tokens.unsqueeze(1), state.position)
        x = self.convolutions.inward(words)
        windows, rows = [], []
        for layer in range(len(self.config.channels)):
            seen = torch.cat([state.windows[layer], x], dim=1)
            windows.append(seen[:, 1:])
            x, weights = self._layer(layer, x, seen, words, memory, offset=state.position, need_weights=need_weights)
            rows.append(weights)  # (B, 1, 1, S)
        after = ConvState(tuple(windows), state.position + 1)
        return self._top(x).squeeze(1), after, mean_weights(rows) if need_weights else None

    def forward(self, tokens: Tensor, memory: ConvMemory, *, need_weights: bool = False) -> tuple[Tensor, list[Look]]:
        words = self.embedding(tokens)
        x = self.convolutions.inward(words)
        looks = []
        for layer, kernel in enumerate(self.config.kernels):
            seen = pad_time(x, kernel - 1, 0)
            x, weights = self._layer(layer, x, seen, words, memory, offset=0, need_weights=need_weights)
            if weights is not None:
                looks.append(Look("cross", layer, weights))
        return self._top(x), looks

    def _layer(
        self,
        layer: int,
        x: Tensor,
        seen: Tensor,
        words: Tensor,
        memory: ConvMemory,
        *,
        offset: int | Tensor,
        need_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """x (B, T, inputs), seen = x with what came before it; the convolution, then its look at the source."""
        block = self.convolutions.blocks[layer]
        assert isinstance(block, GatedConvolution)
        residual = block.widen(x)
        h = block(seen)
        query = (self.queries[layer](h) + self.target(words)) * HALF
        prepared = Prepared(memory.keys, memory.values, memory.mask)
        context, weights = self.layer_attentions[layer].attend(
            query, prepared, offset=offset, need_weights=need_weights
        )
        # A mean of m values loses a factor sqrt(m) of its spread; m sqrt(1/m) gives it back (section 3.4).
        h = (h + self.contexts[layer](context * memory.scale)) * HALF
        return (h + residual) * HALF, weights

    def _top(self, x: Tensor) -> Tensor:
        return F.dropout(self.convolutions.outward(x), self.config.dropout, self.training)

    def attentions(self) -> tuple[AttentionLayer, ...]:
        query, values = "what the convolution made of what was said", "h_j and the word vector of j"
        return tuple(
            AttentionLayer("cross", layer, module, query, values) for layer, module in enumerate(self.layer_attentions)
        )

    def with_attentions(self, modules: Sequence[Attention]) -> Self:
        """One module serves every layer, so that layers cannot be told apart by it."""
        copied = copy.copy(self)
        copied.layer_attentions = tuple(modules)
        return copied

    def describe_step(
        self, tokens: Tensor, memory: ConvMemory, state: ConvState, place: Place | None
    ) -> StepDescription:
        assert place is not None
        position = int(state.position[0])
        words = self.embedding(tokens.unsqueeze(1), position)
        x = self.convolutions.inward(words)
        before: list[Formula] = [self.embedding.describe(tokens, position, WORD)]
        after: list[Formula] = []
        passed: dict[int, Tensor] = {}
        for layer in range(len(self.config.channels)):
            seen = torch.cat([state.windows[layer], x], dim=1)
            walked = layer == place[1]
            if walked:
                described = self._described_layer(layer, x, seen, words, memory, position)
                before += [*layers_formula(passed, "layers below"), *described.before]
                after += described.after
                passed = {}
            x, _ = self._layer(layer, x, seen, words, memory, offset=position, need_weights=True)
            if not walked:
                passed[layer] = x[0, 0]
        features = Quantity("features", "what the vocabulary layer reads", array(self._top(x)[0, 0]))
        top = Formula("read-out", "features = W x + b", "Gehring 2017, 3.2", (features,), ())
        return StepDescription(tuple(before), (*after, *layers_formula(passed, "layers above"), top))

    def _described_layer(
        self, layer: int, x: Tensor, seen: Tensor, words: Tensor, memory: ConvMemory, position: int
    ) -> StepDescription:
        """`_layer` at one position, (1, 1, inputs), around its look at the source."""
        block = self.convolutions.blocks[layer]
        assert isinstance(block, GatedConvolution)
        h = block(seen)
        asked, target = self.queries[layer](h), self.target(words)
        query = (asked + target) * HALF
        prepared = Prepared(memory.keys, memory.values, memory.mask)
        context, _ = self.layer_attentions[layer].attend(query, prepared, offset=position)
        taken = self.contexts[layer](context * memory.scale)
        joined = (h + taken) * HALF
        asking = (
            Quantity("Wd_h", "W_d h + b_d", array(asked[0, 0])),
            Quantity("g", "the last word in its place", array(target[0, 0])),
            Quantity("query_input", "d, which asks", array(query[0, 0]), given=False),
        )
        joining = (
            Quantity("h", "what the gate let through", array(h[0, 0])),
            Quantity("sqrt_m", "sqrt of the source's length", array(memory.scale[0, 0, 0])),
            Quantity("Wc_c", "W_c (c sqrt(m)) + b_c", array(taken[0, 0])),
            Quantity("joined", "both together", array(joined[0, 0]), given=False),
        )
        ask = Formula(
            "what asks",
            "d = (W_d h + b_d + g) sqrt(0.5)",
            "Gehring 2017, eq. 1",
            asking,
            ("query_input = (Wd_h + g) * np.sqrt(0.5)",),
        )
        join = Formula(
            "the look joins",
            "h' = (h + W_c (c sqrt(m)) + b_c) sqrt(0.5)",
            "Gehring 2017, 3.3 and 3.4",
            joining,
            ("joined = (h + Wc_c) * np.sqrt(0.5)",),
        )
        residual = block.widen(x)
        leave = _residual(joined[0, 0], residual[0, 0], ((joined + residual) * HALF)[0, 0])
        return StepDescription((block.describe(seen), ask), (join, leave))

    def last_layer(self) -> Vocabulary:
        return Vocabulary(self.vocabulary.weight(), self.vocabulary.bias)


def make_convs2s(config: ConvS2SConfig) -> Model[ConvMemory, ConvState]:
    encoder = ConvEncoder(config.encoder, config.source_vocabulary)
    encoder.gradient = 1 / len(config.decoder.channels)
    return Model(config, encoder, ConvDecoder(config.decoder, config.target_vocabulary, encoder.key_dim))
