"""Attention after the cell (Luong 2015): the query is s_t, and what it finds joins it in h~ = tanh(W [c; s])."""

from typing import Any, ClassVar, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.attention.formula import Quantity, array
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
from seq2see.models.layers import Embedding
from seq2see.models.names import Size
from seq2see.models.recurrent.cells import CellName, FirstState, Stack
from seq2see.models.recurrent.encoder import RecurrentEncoderConfig
from seq2see.models.recurrent.formulas import cell_formulas
from seq2see.models.rnnsearch import SearchMemory, must_hold_weights, prepared_of


def _sizes(embedding: int, hidden: int, layers: int) -> dict[str, object]:
    return {
        "embedding": embedding,
        "hidden": hidden,
        "layers": layers,
        "encoder": {"embedding": embedding, "hidden": hidden // 2, "layers": layers},
    }


class LuongConfig(ModelConfig):
    """The family `luong`."""

    family: Literal["luong"] = "luong"
    embedding: int = Field(256, ge=1, description="width of the target word vectors")
    hidden: int = Field(256, ge=1, description="width of the decoder's state")
    layers: int = Field(1, ge=1, description="decoder layers on top of each other")
    cell: CellName = Field("lstm", description="tanh, gru or lstm")
    residual: bool = Field(False, description="add a layer's input to its output, from the second layer on")
    input_feeding: bool = Field(
        True, description="h~ enters the next step; without it the decoder reads the whole target in one call"
    )
    dropout: float = Field(0.2, ge=0, lt=1, description="on word vectors, between layers and before the vocabulary")
    attention: AttentionConfig = Field(
        default_factory=lambda: AttentionConfig(scaled=True), description="how it looks at the source"
    )
    encoder: EncoderConfig = Field(
        default_factory=lambda: RecurrentEncoderConfig(cell="lstm", hidden=128), description="any encoder"
    )

    SIZES: ClassVar[dict[Size, dict[str, Any]]] = {
        "tiny": _sizes(128, 128, 1),
        "small": _sizes(256, 256, 1),
        "base": _sizes(512, 512, 2),
        # Section 4.1: four LSTM layers of 1,000, read in one direction, vectors of 1,000, dropout 0.2.
        "paper": {
            "embedding": 1000,
            "hidden": 1000,
            "layers": 4,
            "attention": {"scaled": False},
            "encoder": {"embedding": 1000, "hidden": 1000, "layers": 4, "bidirectional": False},
        },
    }


class LuongState(NamedTuple):
    cells: Tensor  # (B, layers, state)
    fed: Tensor  # (B, hidden) the h~ of the step before, or (B, 0) without input feeding
    history: Tensor  # what the attention remembers of its earlier weights, if it does
    position: Tensor  # (B,)


class LuongDecoder(Decoder[SearchMemory, LuongState]):
    """s_t = cells([y_{t-1}; h~_{t-1}], s_{t-1});  c_t = attention(s_t);  h~_t = tanh(W [c_t; s_t])."""

    def __init__(self, config: LuongConfig, key_dim: int, summary_dim: int) -> None:
        super().__init__()
        self.config = config
        self.fed_dim = config.hidden if config.input_feeding else 0
        self.embedding = Embedding(config.target_vocabulary, config.embedding, std=1.0)
        self.stack = Stack(
            config.cell,
            config.embedding + self.fed_dim,
            config.hidden,
            config.layers,
            residual=config.residual,
            dropout=config.dropout,
        )
        self.first_state = FirstState(summary_dim, self.stack)
        self.attention = config.attention.build(config.hidden, key_dim)
        self.join = nn.Linear(self.attention.output_dim + config.hidden, config.hidden, bias=False)
        self.vocabulary = nn.Linear(config.hidden, config.target_vocabulary)

    def memorise(self, encoded: Encoded) -> SearchMemory:
        prepared = self.attention.prepare(encoded.keys, encoded.values, encoded.mask)
        return SearchMemory(prepared.keys, prepared.values, encoded.mask, encoded.summary)

    def start(self, memory: SearchMemory) -> LuongState:
        batch = memory.summary.size(0)
        return LuongState(
            self.first_state(memory.summary),
            memory.summary.new_zeros(batch, self.fed_dim),
            self.attention.begin(prepared_of(memory)),
            torch.zeros(batch, dtype=torch.long, device=memory.summary.device),
        )

    def step(
        self, tokens: Tensor, memory: SearchMemory, state: LuongState, *, need_weights: bool = False
    ) -> tuple[Tensor, LuongState, Tensor | None]:
        words = F.dropout(self.embedding(tokens), self.config.dropout, self.training)
        joined, state, weights = self._advance(words, memory, state, need_weights=need_weights)
        features = F.dropout(joined, self.config.dropout, self.training)
        return features, state, mean_weights([weights]) if need_weights else None

    def forward(self, tokens: Tensor, memory: SearchMemory, *, need_weights: bool = False) -> tuple[Tensor, list[Look]]:
        words = F.dropout(self.embedding(tokens), self.config.dropout, self.training)
        run = self._one_by_one if self.config.input_feeding else self._all_at_once
        joined, weights = run(words, memory, need_weights=need_weights)
        looks = [] if weights is None else [Look("cross", 0, weights)]
        return F.dropout(joined, self.config.dropout, self.training), looks

    def _all_at_once(self, words: Tensor, memory: SearchMemory, *, need_weights: bool) -> tuple[Tensor, Tensor | None]:
        """Without input feeding no step waits for the one before: one call of the cells, one of the attention."""
        tops, _ = self.stack.run(words, self.first_state(memory.summary))
        context, weights = self.attention.attend(tops, prepared_of(memory), need_weights=need_weights)
        return self._join(context, tops), weights

    def _one_by_one(self, words: Tensor, memory: SearchMemory, *, need_weights: bool) -> tuple[Tensor, Tensor | None]:
        state = self.start(memory)
        joined, rows = [], []
        for word in words.unbind(dim=1):
            step, state, weights = self._advance(word, memory, state, need_weights=need_weights)
            joined.append(step)
            rows.append(weights)
        seen = [row for row in rows if row is not None]
        return torch.stack(joined, dim=1), torch.cat(seen, dim=2) if need_weights else None

    def _advance(
        self, word: Tensor, memory: SearchMemory, state: LuongState, *, need_weights: bool
    ) -> tuple[Tensor, LuongState, Tensor | None]:
        """(B, embedding) -> h~ (B, hidden), the next state and the weights (B, H, 1, S)."""
        top, cells = self.stack.step(torch.cat([word, state.fed], dim=-1), state.cells)
        context, weights = self._look(top, memory, state, need_weights=need_weights)
        joined = self._join(context, top)
        history = self.attention.remember(state.history, weights)
        fed = joined if self.config.input_feeding else state.fed
        return joined, LuongState(cells, fed, history, state.position + 1), weights

    def _look(
        self, top: Tensor, memory: SearchMemory, state: LuongState, *, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """s_t (B, hidden) -> context (B, D) and weights (B, H, 1, S)."""
        context, weights = self.attention.attend(
            top.unsqueeze(1),
            prepared_of(memory),
            offset=state.position,
            history=state.history if self.attention.has_history else None,
            need_weights=need_weights or must_hold_weights(self.attention, self.config.attention),
        )
        return context.squeeze(1), weights

    def _join(self, context: Tensor, top: Tensor) -> Tensor:
        return torch.tanh(self.join(torch.cat([context, top], dim=-1)))

    def attentions(self) -> tuple[AttentionLayer, ...]:
        return (AttentionLayer("cross", 0, self.attention, "s_t, the state after reading the last piece"),)

    def describe_step(
        self, tokens: Tensor, memory: SearchMemory, state: LuongState, place: Place | None
    ) -> StepDescription:
        x = torch.cat([self.embedding(tokens), state.fed], dim=-1)
        meaning = f"{WORD}; last h~" if self.config.input_feeding else WORD
        cells = cell_formulas(self.stack, x, state.cells, meaning)
        top, _ = self.stack.step(x, state.cells)
        context, _ = self._look(top, memory, state, need_weights=True)
        parts = (Quantity("c", "the context", array(context[0])), Quantity("s", "s_t, the state now", array(top[0])))
        mixed = self.join(torch.cat([context, top], dim=-1))[0]
        text = "h~ = tanh(W_c [c; s])"
        joined = tanh_formula("attentional vector h~", text, "Luong 2015, eq. 5", parts, mixed, "h_tilde")
        return StepDescription(cells, (joined,))

    def last_layer(self) -> Vocabulary:
        return Vocabulary(self.vocabulary.weight, self.vocabulary.bias)


def make_luong(config: LuongConfig) -> Model[SearchMemory, LuongState]:
    encoder = make_encoder(config.encoder, config.source_vocabulary)
    return Model(config, encoder, LuongDecoder(config, encoder.key_dim, encoder.summary_dim))
