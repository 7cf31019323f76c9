"""The encoder-decoder without attention: one vector has to hold the whole source (Sutskever 2014, Cho 2014)."""

from typing import Any, ClassVar, Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.attention.formula import Formula, Quantity, array
from seq2see.models.base import Decoder, Encoded, Look, Model, ModelConfig, Place, StepDescription, Vocabulary
from seq2see.models.encoders import EncoderConfig, make_encoder
from seq2see.models.formulas import WORD, tanh_formula
from seq2see.models.layers import Embedding
from seq2see.models.names import Size
from seq2see.models.recurrent.cells import CellName, FirstState, Stack
from seq2see.models.recurrent.encoder import RecurrentEncoderConfig
from seq2see.models.recurrent.formulas import cell_formulas


def _sizes(width: int, hidden: int, layers: int) -> dict[str, object]:
    return {
        "embedding": width,
        "hidden": hidden,
        "layers": layers,
        "encoder": {"embedding": width, "hidden": hidden, "layers": layers},
    }


class RnnConfig(ModelConfig):
    """The family `rnn`."""

    family: Literal["rnn"] = "rnn"
    embedding: int = Field(256, ge=1, description="width of the target word vectors")
    hidden: int = Field(256, ge=1, description="width of the decoder's state")
    layers: int = Field(1, ge=1, description="decoder layers on top of each other")
    cell: CellName = Field("gru", description="tanh, gru or lstm")
    residual: bool = Field(False, description="add a layer's input to its output, from the second layer on")
    context: Literal["every step", "first state"] = Field(
        "every step",
        description="where the source vector enters: every step (Cho 2014) or only the first state (Sutskever 2014)",
    )
    dropout: float = Field(0.2, ge=0, lt=1, description="on word vectors, between layers and before the vocabulary")
    encoder: EncoderConfig = Field(
        default_factory=lambda: RecurrentEncoderConfig(bidirectional=False), description="any encoder"
    )

    SIZES: ClassVar[dict[Size, dict[str, Any]]] = {
        "tiny": _sizes(128, 128, 1),
        "small": _sizes(256, 256, 1),
        "base": _sizes(512, 512, 2),
        # Sutskever 2014, section 3.4: four LSTM layers of 1,000, vectors of 1,000, the state handed over once.
        "paper": _sizes(1000, 1000, 4)
        | {"cell": "lstm", "context": "first state", "dropout": 0.0}
        | {"encoder": {"embedding": 1000, "hidden": 1000, "layers": 4, "cell": "lstm", "dropout": 0.0}},
    }


class RnnMemory(NamedTuple):
    context: Tensor  # (B, D): the source in one vector


class RnnState(NamedTuple):
    cells: Tensor  # (B, layers, state)


class RnnDecoder(Decoder[RnnMemory, RnnState]):
    """Says everything from its own state and the one vector."""

    def __init__(self, config: RnnConfig, summary_dim: int) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.every_step = config.context == "every step"
        entering = summary_dim if self.every_step else 0
        self.embedding = Embedding(config.target_vocabulary, config.embedding, std=1.0)
        self.stack = Stack(
            config.cell,
            config.embedding + entering,
            config.hidden,
            config.layers,
            residual=config.residual,
            dropout=config.dropout,
        )
        self.first_state = FirstState(summary_dim, self.stack)
        self.readout = nn.Linear(config.hidden + config.embedding + entering, config.hidden)
        self.vocabulary = nn.Linear(config.hidden, config.target_vocabulary)

    def memorise(self, encoded: Encoded) -> RnnMemory:
        return RnnMemory(encoded.summary)

    def start(self, memory: RnnMemory) -> RnnState:
        return RnnState(self.first_state(memory.context))

    def step(
        self, tokens: Tensor, memory: RnnMemory, state: RnnState, *, need_weights: bool = False
    ) -> tuple[Tensor, RnnState, None]:
        x = self._inputs(tokens.unsqueeze(1), memory)
        top, cells = self.stack.step(x.squeeze(1), state.cells)
        return self._read_out(top, x.squeeze(1)), RnnState(cells), None

    def forward(self, tokens: Tensor, memory: RnnMemory, *, need_weights: bool = False) -> tuple[Tensor, list[Look]]:
        x = self._inputs(tokens, memory)
        tops, _ = self.stack.run(x, self.start(memory).cells)
        return self._read_out(tops, x), []

    def _inputs(self, tokens: Tensor, memory: RnnMemory) -> Tensor:
        """(B, T) -> (B, T, embedding [+ context])."""
        words = F.dropout(self.embedding(tokens), self.dropout, self.training)
        if not self.every_step:
            return words
        return torch.cat([words, memory.context.unsqueeze(1).expand(-1, words.size(1), -1)], dim=-1)

    def _read_out(self, top: Tensor, x: Tensor) -> Tensor:
        features = torch.tanh(self.readout(torch.cat([top, x], dim=-1)))
        return F.dropout(features, self.dropout, self.training)

    def describe_step(self, tokens: Tensor, memory: RnnMemory, state: RnnState, place: Place | None) -> StepDescription:
        x = self._inputs(tokens.unsqueeze(1), memory).squeeze(1)
        meaning = f"{WORD}; the source" if self.every_step else WORD
        cells = cell_formulas(self.stack, x, state.cells, meaning)
        return StepDescription((self._one_vector(memory), *cells, self._described_read_out(x, state, meaning)))

    def _described_read_out(self, x: Tensor, state: RnnState, meaning: str) -> Formula:
        top, _ = self.stack.step(x, state.cells)
        parts = (Quantity("s", "the state now", array(top[0])), Quantity("x", meaning, array(x[0])))
        mixed = self.readout(torch.cat([top, x], dim=-1))[0]
        return tanh_formula("read-out", "features = tanh(W [s; x] + b)", "", parts, mixed, "features")

    def _one_vector(self, memory: RnnMemory) -> Formula:
        where = (
            "it enters every step anew" if self.every_step else "it became the first state and is not heard of again"
        )
        vector = Quantity("context", "the whole source, the same at every step", array(memory.context[0]))
        paper = "Cho 2014" if self.every_step else "Sutskever 2014"
        return Formula("one vector", f"no attention: the source is one vector; {where}", paper, (vector,), ())

    def last_layer(self) -> Vocabulary:
        return Vocabulary(self.vocabulary.weight, self.vocabulary.bias)


def make_rnn(config: RnnConfig) -> Model[RnnMemory, RnnState]:
    encoder = make_encoder(config.encoder, config.source_vocabulary)
    return Model(config, encoder, RnnDecoder(config, encoder.summary_dim))
