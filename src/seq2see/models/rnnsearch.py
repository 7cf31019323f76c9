"""RNNsearch: the first attention (Bahdanau 2014). The query is s_{t-1}, and what it finds enters the cell."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.attention import OF_ONE_WIDTH, Attention, Prepared
from seq2see.attention.formula import Formula, Quantity, array
from seq2see.models.base import (
    AttentionConfig,
    AttentionLayer,
    Decoder,
    Encoded,
    Look,
    Model,
    ModelConfig,
    Place,
    StepDescription,
    Vocabulary,
    mean_weights,
)
from seq2see.models.encoders import EncoderConfig, make_encoder
from seq2see.models.formulas import WORD, tanh_formula
from seq2see.models.layers import Embedding, Maxout
from seq2see.models.names import Size
from seq2see.models.recurrent.cells import CellName, FirstState, Stack
from seq2see.models.recurrent.encoder import RecurrentEncoderConfig
from seq2see.models.recurrent.formulas import cell_formulas


def _sizes(embedding: int, hidden: int, readout: int) -> dict[str, object]:
    return {
        "embedding": embedding,
        "hidden": hidden,
        "readout": readout,
        "encoder": {"embedding": embedding, "hidden": hidden, "summary": "backward"},
    }


class RnnSearchConfig(ModelConfig):
    """The family `rnnsearch`."""

    family: Literal["rnnsearch"] = "rnnsearch"
    embedding: int = Field(256, ge=1, description="width of the target word vectors")
    hidden: int = Field(256, ge=1, description="width of the decoder's state")
    cell: CellName = Field("gru", description="tanh, gru or lstm")
    readout: int = Field(256, ge=1, description="width of what the vocabulary layer reads")
    maxout: bool = Field(False, description="read out s_{t-1} through maxout, as the paper does; else s_t through tanh")
    dropout: float = Field(0.2, ge=0, lt=1, description="on word vectors and before the vocabulary, while training")
    attention: AttentionConfig = Field(
        default_factory=lambda: AttentionConfig(score="additive", scaled=True),
        description="how it looks at the source",
    )
    encoder: EncoderConfig = Field(
        default_factory=lambda: RecurrentEncoderConfig(summary="backward"), description="any encoder"
    )

    SIZES: ClassVar[dict[Size, dict[str, Any]]] = {
        "tiny": _sizes(128, 128, 128),
        "small": _sizes(256, 256, 256),
        "base": _sizes(512, 512, 512),
        # Appendix A.2.3: vectors of 620, states of 1,000 each way, alignment of 1,000, maxout of 500. No dropout.
        "paper": {
            "embedding": 620,
            "hidden": 1000,
            "readout": 500,
            "maxout": True,
            "dropout": 0.0,
            "attention": {"hidden": 1000},
            "encoder": {"embedding": 620, "hidden": 1000, "summary": "backward", "dropout": 0.0},
        },
    }

    @classmethod
    def suit(cls, preset: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """A score that multiplies query and key wants both of one width: an encoder that reads both ways has half of
        the decoder's width in each direction then."""
        encoder, attention = given.get("encoder", {}), given.get("attention", {})
        score = attention.score if isinstance(attention, AttentionConfig) else attention.get("score")
        both_ways = encoder.get("bidirectional", preset["encoder"].get("bidirectional", False))
        if score not in OF_ONE_WIDTH or not both_ways or "hidden" in encoder:
            return preset
        state = given.get("hidden", preset["hidden"])
        return {**preset, "encoder": {**preset["encoder"], "hidden": state // 2}}


class SearchMemory(NamedTuple):
    keys: Tensor  # (B, H, S, projected)
    values: Tensor  # (B, H, S, D)
    mask: Tensor  # (B, 1, S)
    summary: Tensor  # (B, D')


class SearchState(NamedTuple):
    cells: Tensor  # (B, 1, state)
    history: Tensor  # what the attention remembers of its earlier weights, if it does
    position: Tensor  # (B,)


class RnnSearchDecoder(Decoder[SearchMemory, SearchState]):
    """s_0 = tanh(W h<-_1);  c_t = attention(s_{t-1});  s_t = cell([y_{t-1}; c_t], s_{t-1});  read out."""

    def __init__(self, config: RnnSearchConfig, key_dim: int, summary_dim: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = Embedding(config.target_vocabulary, config.embedding, std=1.0)
        self.attention = config.attention.build(config.hidden, key_dim)
        inputs = config.embedding + self.attention.output_dim
        self.stack = Stack(config.cell, inputs, config.hidden, 1, residual=False, dropout=0.0)
        self.first_state = FirstState(summary_dim, self.stack)
        doubled = 2 if config.maxout else 1
        self.readout = nn.Linear(config.hidden + inputs, doubled * config.readout)
        self.maxout = Maxout()
        self.vocabulary = nn.Linear(config.readout, config.target_vocabulary)

    def memorise(self, encoded: Encoded) -> SearchMemory:
        prepared = self.attention.prepare(encoded.keys, encoded.values, encoded.mask)
        return SearchMemory(prepared.keys, prepared.values, encoded.mask, encoded.summary)

    def start(self, memory: SearchMemory) -> SearchState:
        position = torch.zeros(memory.summary.size(0), dtype=torch.long, device=memory.summary.device)
        return SearchState(self.first_state(memory.summary), self.attention.begin(prepared_of(memory)), position)

    def step(
        self, tokens: Tensor, memory: SearchMemory, state: SearchState, *, need_weights: bool = False
    ) -> tuple[Tensor, SearchState, Tensor | None]:
        words = F.dropout(self.embedding(tokens), self.config.dropout, self.training)
        after, context, weights = self._advance(words, prepared_of(memory), state, need_weights=need_weights)
        features = self._read_out(self._shown(state, after), words, context)
        return features, after, mean_weights([weights]) if need_weights else None

    def forward(self, tokens: Tensor, memory: SearchMemory, *, need_weights: bool = False) -> tuple[Tensor, list[Look]]:
        words = F.dropout(self.embedding(tokens), self.config.dropout, self.training)
        prepared, state = prepared_of(memory), self.start(memory)
        shown, contexts, rows = [], [], []
        for word in words.unbind(dim=1):
            after, context, weights = self._advance(word, prepared, state, need_weights=need_weights)
            shown.append(self._shown(state, after))
            contexts.append(context)
            rows.append(weights)
            state = after
        features = self._read_out(torch.stack(shown, dim=1), words, torch.stack(contexts, dim=1))
        seen = [row for row in rows if row is not None]
        return features, [Look("cross", 0, torch.cat(seen, dim=2))] if need_weights else []

    def _advance(
        self, word: Tensor, prepared: Prepared, state: SearchState, *, need_weights: bool
    ) -> tuple[SearchState, Tensor, Tensor | None]:
        """(B, embedding) -> the next state, the context (B, D) and the weights (B, H, 1, S)."""
        query = self.stack.top(state.cells).unsqueeze(1)
        context, weights = self.attention.attend(
            query,
            prepared,
            offset=state.position,
            history=state.history if self.attention.has_history else None,
            need_weights=need_weights or must_hold_weights(self.attention, self.config.attention),
        )
        context = context.squeeze(1)
        _, cells = self.stack.step(torch.cat([word, context], dim=-1), state.cells)
        history = self.attention.remember(state.history, weights)
        return SearchState(cells, history, state.position + 1), context, weights

    def _shown(self, before: SearchState, after: SearchState) -> Tensor:
        """Appendix A.2.2 reads out s_{t-1}; with s_t the state has already heard the context."""
        return self.stack.top(before.cells if self.config.maxout else after.cells)

    def _read_out(self, shown: Tensor, words: Tensor, context: Tensor) -> Tensor:
        mixed = self.readout(torch.cat([shown, words, context], dim=-1))
        features = self.maxout(mixed) if self.config.maxout else torch.tanh(mixed)
        return F.dropout(features, self.config.dropout, self.training)

    def attentions(self) -> tuple[AttentionLayer, ...]:
        return (AttentionLayer("cross", 0, self.attention, "s_{t-1}, the state before this step"),)

    def describe_step(
        self, tokens: Tensor, memory: SearchMemory, state: SearchState, place: Place | None
    ) -> StepDescription:
        word = self.embedding(tokens)
        after, context, _ = self._advance(word, prepared_of(memory), state, need_weights=True)
        x = torch.cat([word, context], dim=-1)
        cells = cell_formulas(self.stack, x, state.cells, f"{WORD}; context")
        read_out = self._described_read_out(self._shown(state, after), word, context)
        return StepDescription(after=(*cells, read_out))

    def _described_read_out(self, shown: Tensor, word: Tensor, context: Tensor) -> Formula:
        mixed = self.readout(torch.cat([shown, word, context], dim=-1))[0]
        which = "the state before this step" if self.config.maxout else "the state now"
        parts = (
            Quantity("s", which, array(shown[0])),
            Quantity("y", WORD, array(word[0])),
            Quantity("c", "the context", array(context[0])),
        )
        if not self.config.maxout:
            return tanh_formula("read-out", "features = tanh(W [s; y; c] + b)", "", parts, mixed, "features")
        pairs = Quantity("a", "W [s; y; c] + b, in pairs", array(mixed))
        features = Quantity("features", "the larger of each pair", array(self.maxout(mixed)), given=False)
        code = ("features = a.reshape(-1, 2).max(axis=1)",)
        text = "features_i = max(a_2i, a_2i+1);  a = W [s; y; c] + b"
        return Formula("maxout read-out", text, "Bahdanau 2014, A.2.2", (*parts, pairs, features), code)

    def last_layer(self) -> Vocabulary:
        return Vocabulary(self.vocabulary.weight, self.vocabulary.bias)


def prepared_of(memory: SearchMemory) -> Prepared:
    return Prepared(memory.keys, memory.values, memory.mask)


def must_hold_weights(attention: Attention, config: AttentionConfig) -> bool:
    """Where a step is written out though nobody looks: if it remembers its weights, and in an exported local window.

    Past the end of the source that window is empty, where ONNX's fused kernel gives the mean of everything.
    """
    return attention.has_history or (torch.compiler.is_exporting() and config.scope != "global")


def make_rnnsearch(config: RnnSearchConfig) -> Model[SearchMemory, SearchState]:
    encoder = make_encoder(config.encoder, config.source_vocabulary)
    return Model(config, encoder, RnnSearchDecoder(config, encoder.key_dim, encoder.summary_dim))
