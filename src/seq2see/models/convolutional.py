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
from seq2see.attention.positions import LearnedPositions
from seq2see.models.base import (
    AttentionLayer,
    Decoder,
    Encoded,
    Encoder,
    Look,
    Model,
    ModelConfig,
    Settings,
    Vocabulary,
    mean_weights,
)
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
        for block in self.convolutions.blocks:
            assert isinstance(block, GatedConvolution)
            side = block.kernel // 2
            residual = block.widen(x)
            x = hide((block(pad_time(hide(x, mask), side, side)) + residual) * HALF, mask)
        keys = self.convolutions.outward(x)
        keys = scale_gradient(keys, self.gradient) if self.training and self.gradient != 1.0 else keys
        values = (keys + words) * HALF
        return Encoded(keys, values, mask, average(keys, mask)), []


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

    def last_layer(self) -> Vocabulary:
        return Vocabulary(self.vocabulary.weight(), self.vocabulary.bias)


def make_convs2s(config: ConvS2SConfig) -> Model[ConvMemory, ConvState]:
    encoder = ConvEncoder(config.encoder, config.source_vocabulary)
    encoder.gradient = 1 / len(config.decoder.channels)
    return Model(config, encoder, ConvDecoder(config.decoder, config.target_vocabulary, encoder.key_dim))
