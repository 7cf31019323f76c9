"""The contract of every model family, and the frame that most of them fill.

Letters: B batch, S source length, T target length, D width, V vocabulary.

    memory = model.encode(source, source_mask)            what the source becomes, once
    state = model.start(memory)                           where decoding begins
    logits, state = model.step(tokens, memory, state)     one target position: (B,) -> (B, V)
    logits, state, weights = model.step(tokens, memory, state, need_weights=True)      and where it looked: (B, S)
    output = model(batch)                                 teacher forcing: output.logits (B, T, V)
    maps = model.look(batch)                              the same pass, written-out attention: every layer and head
    model.attentions()                                    every attention by kind and layer; hooks by `with_hooks`

Memory and State are trees (named tuples, tuples) of tensors with the batch first and a structure that never changes,
so that they can be reordered by one helper and exported to ONNX.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar, overload

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see import masks
from seq2see.attention import MultiHead, Normaliser, ScoreName, mechanism
from seq2see.attention.base import Attention, Hook
from seq2see.attention.formula import Formula
from seq2see.data.batch import Batch
from seq2see.errors import ConfigError, ShapeError, brief
from seq2see.models.names import Size

Kind = Literal["encoder", "decoder", "cross"]
Place = tuple[Kind, int]  # an attention of a model: its kind and layer, from 0

Tree = TypeVar("Tree")
M = TypeVar("M")  # a family's Memory
S = TypeVar("S")  # a family's State


LARGEST = 2**31 - 1  # of any whole number in a configuration; torch counts in 64 bits, and multiplies three of them


class Settings(BaseModel):
    """Frozen, and an unknown name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="after")
    def numbers_can_be_counted(self) -> Self:
        for name in type(self).model_fields:
            value = getattr(self, name)
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, int) and number > LARGEST:
                    raise ValueError(f"{name} = {brief(number)} is more than {LARGEST:,}")
        return self


class ModelConfig(Settings):
    """What every family's configuration has. Its type chooses the class; the tag `family` exists for the saved file."""

    SIZES: ClassVar[dict[Size, dict[str, Any]]]

    source_vocabulary: int = Field(ge=4, description="pieces in the source vocabulary, the four special ones included")
    target_vocabulary: int = Field(ge=4, description="pieces in the target vocabulary, the four special ones included")

    @classmethod
    def suit(cls, preset: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """The preset of a size, where single settings that were given want another one."""
        return preset


class AttentionConfig(Settings):
    """How a recurrent decoder looks at the source."""

    score: ScoreName = Field(
        "general", description="dot, scaled_dot, general, additive, cosine, location, location_aware"
    )
    scope: Literal["global", "local-m", "local-p"] = Field("global", description="global, local-m or local-p")
    window: int = Field(10, ge=1, le=2**20, description="half width of a local scope")
    normaliser: Normaliser = Field("softmax", description="softmax, sparsemax or entmax15")
    hidden: int | None = Field(None, ge=1, description="hidden width of the additive scores; the query's if not given")
    heads: int = Field(1, ge=1, description="more than one: multi-head attention with this score in each head")
    sharpness: float | None = Field(
        8.0, gt=0, description="of cosine: where its learned factor starts; none: plain cosine"
    )
    # Not the default here: a configuration that was saved without it means a model that was trained without it.
    scaled: bool = Field(
        False, description="of general: divide scores by the root of the state's width, as new models do"
    )
    max_length: int = Field(256, ge=1, description="of location: the longest source it can look at")
    cumulative: bool = Field(False, description="of location_aware: look at the sum of all earlier weights as well")

    @model_validator(mode="after")
    def cumulative_fits(self) -> "AttentionConfig":
        if self.cumulative and self.heads > 1:
            raise ValueError(f"cumulative is for one head, but heads = {self.heads}")
        return self

    def build(self, query_dim: int, key_dim: int) -> Attention:
        if self.heads == 1:
            return mechanism(
                self.score,
                query_dim,
                key_dim,
                hidden=self.hidden,
                sharpness=self.sharpness,
                scaled=self.scaled,
                max_length=self.max_length,
                cumulative=self.cumulative,
                normaliser=self.normaliser,
                scope=self.scope,
                window=self.window,
            )
        return MultiHead(
            query_dim,
            key_dim,
            heads=self.heads,
            score=self.score,
            hidden=self.hidden,
            sharpness=self.sharpness,
            scaled=self.scaled,
            max_length=self.max_length,
            normaliser=self.normaliser,
            scope=self.scope,
            window=self.window,
        )


class Look(NamedTuple):
    """The weights of one attention of the model: row t is what it looked at to say target piece t."""

    kind: Kind
    layer: int
    weights: Tensor  # (B, H, Tq, Tk)


def mean_weights(layers: Sequence[Tensor | None]) -> Tensor:
    """(B, H, 1, S) of each layer -> (B, S): the mean over layers and heads of a step."""
    return torch.stack([weights.mean(dim=1).squeeze(1) for weights in layers if weights is not None]).mean(dim=0)


class AttentionLayer(NamedTuple):
    """One attention of a model under its name in `Model.look`, and what it works on, in words."""

    kind: Kind
    layer: int
    module: Attention
    query: str = "the layer's input here"
    values: str = "h_j itself"

    @property
    def place(self) -> Place:
        return self.kind, self.layer


@dataclass(frozen=True)
class StepDescription:
    """What an encoder or decoder computes at one position, as formulas with its own numbers, in the order of computing.

    before   up to the attention that is walked through; all of it where there is none
    after    from its context to what the part hands on
    """

    before: tuple[Formula, ...] = ()
    after: tuple[Formula, ...] = ()


class Encoded(NamedTuple):
    """What any encoder hands to any decoder."""

    keys: Tensor  # (B, S, D): what attention scores against
    values: Tensor  # (B, S, D): what it sums; the keys themselves, but for ConvS2S
    mask: Tensor  # (B, 1, S)
    summary: Tensor  # (B, D'): the source in one vector, for a decoder that starts from it


class Vocabulary(NamedTuple):
    """The last layer, linear in every family: logits = features W^T + b."""

    weight: Tensor  # (V, D)
    bias: Tensor | None  # (V,)


@dataclass(frozen=True)
class Output:
    """A teacher-forced pass: features and the vocabulary layer apart, for a loss that never holds all logits."""

    features: Tensor  # (B, T, D)
    vocabulary: Vocabulary
    looks: tuple[Look, ...] = ()

    @cached_property
    def logits(self) -> Tensor:
        """(B, T, V)."""
        return F.linear(self.features, self.vocabulary.weight, self.vocabulary.bias)


class Part(nn.Module, ABC):
    """An encoder or decoder: it lists its own attentions."""

    def attentions(self) -> Sequence[AttentionLayer]:
        """Every attention in here, in the order of computing; none for a part without."""
        return ()

    def with_attentions(self, modules: Sequence[Attention]) -> Self:
        """A copy with these modules in the place of `attentions()`, in the same order; parameters are shared."""
        listed = [attention.module for attention in self.attentions()]
        return replace_modules(self, {id(old): new for old, new in zip(listed, modules, strict=True)})


class Encoder(Part):
    """Any encoder: ids to Encoded."""

    key_dim: int
    summary_dim: int

    @abstractmethod
    def forward(self, source: Tensor, mask: Tensor, *, need_weights: bool = False) -> tuple[Encoded, list[Look]]:
        """(B, S), (B, 1, S) -> Encoded, and the looks of its own attention if asked for."""

    def describe_position(self, source: Tensor, mask: Tensor, position: int, layer: int | None) -> StepDescription:
        """How the key of one position comes to be, for a batch of one, in `eval` mode.

        source (1, S), mask (1, 1, S); layer of the self-attention that is walked through, None without.
        """
        return StepDescription()


class Decoder(Part, Generic[M, S]):
    """Any decoder: reads Encoded once, then says one position at a time or all of them at once."""

    @abstractmethod
    def memorise(self, encoded: Encoded) -> M:
        """Everything that is computed from the source alone: projected keys and values."""

    @abstractmethod
    def start(self, memory: M) -> S: ...

    @abstractmethod
    def step(
        self, tokens: Tensor, memory: M, state: S, *, need_weights: bool = False
    ) -> tuple[Tensor, S, Tensor | None]:
        """(B,) -> features (B, D), the next state, and (B, S) the cross attention, the mean over layers and heads.

        None for the weights if nobody needs them or the decoder has no attention.
        """

    def describe_step(self, tokens: Tensor, memory: M, state: S, place: Place | None) -> StepDescription:
        """The formulas of the step that `step` would make of a batch of one, in `eval` mode, up to its features.

        tokens (1,); place of the attention that is walked through, None for a decoder without.
        """
        return StepDescription()

    @abstractmethod
    def forward(self, tokens: Tensor, memory: M, *, need_weights: bool = False) -> tuple[Tensor, list[Look]]:
        """(B, T) BOS-shifted targets -> features (B, T, D), and the looks if asked for."""

    @abstractmethod
    def last_layer(self) -> Vocabulary:
        """What turns features into logits."""


class Model(nn.Module, Generic[M, S]):
    """An encoder and a decoder. Every family is one of these."""

    def __init__(self, config: ModelConfig, encoder: Encoder, decoder: Decoder[M, S]) -> None:
        super().__init__()
        self.config = config
        self.encoder = encoder
        self.decoder = decoder

    def encode(self, source: Tensor, source_mask: Tensor) -> M:
        """(B, S) ids, (B, 1, S) mask; a (B, S) mask is read as (B, 1, S)."""
        mask = self.check_source(source, source_mask)
        memory = self.decoder.memorise(self.encoder(source, mask)[0])
        return map_tensors(memory, Tensor.contiguous)  # laid out once, for the many steps that read it

    def start(self, memory: M) -> S:
        return self.decoder.start(memory)

    @overload
    def step(self, tokens: Tensor, memory: M, state: S, need_weights: Literal[False] = ...) -> tuple[Tensor, S]: ...

    @overload
    def step(self, tokens: Tensor, memory: M, state: S, need_weights: Literal[True]) -> tuple[Tensor, S, Tensor]: ...

    def step(
        self, tokens: Tensor, memory: M, state: S, need_weights: bool = False
    ) -> tuple[Tensor, S] | tuple[Tensor, S, Tensor]:
        """(B,) the token said last (BOS at first) -> (B, V) logits of the next one, and the next state.

        need_weights   a third result, for the coverage penalty: (B, S) where it looked, the mean over layers and heads
                       of cross attention; ConfigError for a family without
        """
        features, state, weights = self.decoder.step(tokens, memory, state, need_weights=need_weights)
        last = self.decoder.last_layer()
        logits = F.linear(features, last.weight, last.bias)
        if not need_weights:
            return logits, state
        if weights is None:
            raise ConfigError(
                f"the family {self.family} has no attention, which the coverage penalty is made of; set coverage = 0, "
                "or train one that attends: rnnsearch, luong, convs2s or transformer"
            )
        return logits, state, weights

    def step_among(self, tokens: Tensor, memory: M, state: S, words: Vocabulary) -> tuple[Tensor, S]:
        """`step` with the rows of n pieces in place of the whole last layer: (B, n) logits, and the next state."""
        features, state, _ = self.decoder.step(tokens, memory, state)
        return F.linear(features, words.weight, words.bias), state

    def vocabulary_of(self, ids: Tensor) -> Vocabulary:
        """(n,) -> the rows of the last layer for these pieces."""
        weight, bias = self.decoder.last_layer()
        return Vocabulary(weight[ids], None if bias is None else bias[ids])

    @property
    def family(self) -> str:
        """The tag of the configuration."""
        return str(self.config.model_dump()["family"])

    def attentions(self) -> tuple[AttentionLayer, ...]:
        """Every attention of the model, named as in `look`; none for a family without."""
        return (*self.encoder.attentions(), *self.decoder.attentions())

    def with_hooks(self, hooks: Mapping[Place, Hook]) -> "Model[M, S]":
        """A copy with these hooks on its attentions, each called after those that are there already.

        The module tree is copied only on the way to a hooked attention; every parameter is shared. `self` stays as it
        is.
        """
        unknown = set(hooks) - {attention.place for attention in self.attentions()}
        if unknown:
            kind, layer = min(unknown)
            raise ConfigError(f"this model has no {kind} attention in layer {layer} to put a hook on")
        copied = copy.copy(self)
        copied._modules = dict(self._modules)
        copied.encoder = _hooked(self.encoder, hooks)
        copied.decoder = _hooked(self.decoder, hooks)
        return copied

    def look(self, batch: Batch) -> tuple[Look, ...]:
        """Every attention of the model over these pairs, from the written-out path; none for a family without."""
        return self(batch, need_weights=True).looks

    def forward(self, batch: Batch, *, need_weights: bool = False) -> Output:
        """Teacher forcing, parallel wherever the family allows; with weights the output has its looks as well."""
        mask = self.check_source(batch.source, batch.source_mask)
        if batch.target_in.dim() != 2 or batch.target_in.size(1) == 0:
            raise ShapeError(
                f"target has shape {tuple(batch.target_in.shape)}; expected (B, T) ids, the first of them BOS"
            )
        encoded, looks = self.encoder(batch.source, mask, need_weights=need_weights)
        memory = self.decoder.memorise(encoded)
        features, more = self.decoder(batch.target_in, memory, need_weights=need_weights)
        return Output(features, self.decoder.last_layer(), (*looks, *more))

    def check_source(self, source: Tensor, mask: Tensor) -> Tensor:
        """The mask as (B, 1, S); ShapeError for what cannot be encoded."""
        if source.dim() != 2:
            raise ShapeError(f"source has shape {tuple(source.shape)}; expected (B, S) ids")
        if not torch.compiler.is_exporting() and source.size(1) == 0:
            raise ShapeError(f"source has shape {tuple(source.shape)}; it holds no piece, not even the end mark")
        mask = mask.unsqueeze(1) if mask.dim() == 2 else mask
        if torch.compiler.is_exporting():  # sizes are symbols there, and were checked on the example
            return mask
        masks.check(mask, source.size(0), 1, source.size(1))
        return mask.expand(source.size(0), -1, -1)  # one mask for all is a row for each: memory has the batch first


def reorder(tree: Tree, rows: Tensor) -> Tree:
    """Rows of every tensor in a Memory or State, in the given order: how beams are chosen and sentences leave."""
    return map_tensors(tree, lambda x: x.index_select(0, rows))


def map_tensors(tree: Tree, change: Callable[[Tensor], Tensor]) -> Tree:
    """The same tree with each tensor changed."""
    if isinstance(tree, Tensor):
        return change(tree)  # type: ignore[return-value]
    if isinstance(tree, tuple):
        branches = [map_tensors(branch, change) for branch in tree]
        kind: Any = type(tree)
        return kind(*branches) if hasattr(tree, "_fields") else kind(branches)
    raise ConfigError(f"a Memory or State holds tensors and tuples only, not {type(tree).__name__}")


P = TypeVar("P", bound=Part)
Module = TypeVar("Module", bound=nn.Module)


def _hooked(part: P, hooks: Mapping[Place, Hook]) -> P:
    attentions = part.attentions()
    if not any(attention.place in hooks for attention in attentions):
        return part
    return part.with_attentions(
        [
            attention.module.with_hook(hooks[attention.place]) if attention.place in hooks else attention.module
            for attention in attentions
        ]
    )


def replace_modules(module: Module, replacements: Mapping[int, nn.Module]) -> Module:
    """The module tree with other modules in some places, by the id of the old one.

    What lies on the way to a replaced module is copied; everything else, every parameter above all, is shared.
    """
    if id(module) in replacements:
        return replacements[id(module)]  # type: ignore[return-value]  # of the same type as the old one
    children = {
        name: None if child is None else replace_modules(child, replacements) for name, child in module._modules.items()
    }
    if all(child is module._modules[name] for name, child in children.items()):
        return module
    copied = copy.copy(module)
    copied._modules = children
    return copied


def parameters(module: nn.Module) -> int:
    """How many numbers are trained; a shared one counts once."""
    return sum(p.numel() for p in module.parameters())
