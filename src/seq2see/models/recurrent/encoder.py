"""The recurrent encoder: reads the source in one or both directions."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.attention.formula import Formula, Quantity, array
from seq2see.models.base import Encoded, Encoder, Look, Settings, StepDescription
from seq2see.models.layers import Embedding, hide
from seq2see.models.recurrent.cells import Cell, CellName
from seq2see.models.recurrent.formulas import cell_formula


class RecurrentEncoderConfig(Settings):
    """A recurrent encoder, read in one or both directions."""

    kind: Literal["recurrent"] = "recurrent"
    embedding: int = Field(256, ge=1, description="width of the word vectors")
    hidden: int = Field(256, ge=1, description="width of a state, in each direction")
    layers: int = Field(1, ge=1, description="layers on top of each other")
    cell: CellName = Field("gru", description="tanh, gru or lstm")
    bidirectional: bool = Field(True, description="read the source backwards as well")
    residual: bool = Field(False, description="add a layer's input to its output, from the second layer on")
    dropout: float = Field(0.2, ge=0, lt=1, description="on word vectors and between layers, while training")
    summary: Literal["final", "backward"] = Field(
        "final", description="what the decoder starts from: the last states, or the backward one (Bahdanau 2014)"
    )


class RecurrentEncoder(Encoder):
    """Reads the source from left to right, and from right to left as well if bidirectional.

    Padding stands behind the words, so reading forwards never meets it before they end; for reading backwards each
    sentence is turned around within its own length. That is what packing computes, in a form that exports and needs
    no sorting.
    """

    def __init__(self, config: RecurrentEncoderConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.directions = 2 if config.bidirectional else 1
        self.key_dim = config.hidden * self.directions
        self.embedding = Embedding(vocabulary, config.embedding, std=1.0)
        widths = [config.embedding] + [self.key_dim] * (config.layers - 1)
        self.forwards = nn.ModuleList(Cell(config.cell, width, config.hidden) for width in widths)
        backwards = widths if config.bidirectional else []
        self.backwards = nn.ModuleList(Cell(config.cell, width, config.hidden) for width in backwards)
        whole = self.key_dim * config.layers
        self.summary_dim = config.hidden if config.summary == "backward" else whole

    def forward(self, source: Tensor, mask: Tensor, *, need_weights: bool = False) -> tuple[Encoded, list[Look]]:
        lengths = mask.squeeze(1).sum(dim=-1)
        x = F.dropout(self.embedding(source), self.config.dropout, self.training)
        finals: list[Tensor] = []
        for layer in range(self.config.layers):
            outputs = self._both_ways(layer, x, lengths)
            finals.extend(self._finals(outputs, lengths))
            outputs = outputs + x if self.config.residual and layer > 0 else outputs
            last = layer == self.config.layers - 1
            x = outputs if last else F.dropout(outputs, self.config.dropout, self.training)
        keys = hide(x, mask)
        summary = finals[-1] if self.config.summary == "backward" else torch.cat(finals, dim=-1)
        return Encoded(keys, keys, mask, summary), []

    def describe_position(self, source: Tensor, mask: Tensor, position: int, layer: int | None) -> StepDescription:
        """The gates of every layer and direction where they read this word, and the key they make of it."""
        x = self.embedding(source)
        lengths = mask.squeeze(1).sum(dim=-1)
        formulas: list[Formula] = []
        for number in range(self.config.layers):
            outputs = self._both_ways(number, x, lengths)
            formulas += self._described_cells(number, x, position)
            residual = self.config.residual and number > 0
            formulas.append(self._described_key(number, x[0, position], outputs[0, position], residual=residual))
            x = outputs + x if residual else outputs
        return StepDescription(tuple(formulas))

    def _described_cells(self, layer: int, x: Tensor, position: int) -> list[Formula]:
        """x (1, S, inputs) without padding: the forward cell has read what stands before, the backward one the rest."""
        meaning = "word vector of this piece" if layer == 0 else f"what layer {layer - 1} made of this piece"
        directions = [("forwards", self.forwards[layer], x[:, :position])]
        if self.config.bidirectional:
            directions.append(("backwards", self.backwards[layer], x[:, position + 1 :].flip(1)))
        described = []
        for direction, cell, before in directions:
            assert isinstance(cell, Cell)
            state = x.new_zeros(1, cell.state_width)
            state = cell.run(before, state)[1] if before.size(1) else state
            which = f"{direction}, layer {layer}" if self.config.layers > 1 else direction
            described.append(cell_formula(cell, which, x[:, position], state, meaning))
        return described

    def _described_key(self, layer: int, x: Tensor, outputs: Tensor, *, residual: bool) -> Formula:
        """(inputs,), (directions * hidden,): what both directions show, side by side."""
        last = layer == self.config.layers - 1
        meaning = "h_j: what the decoder gets of this piece" if last else "what the layer makes of this piece"
        names = ("forward", "backward")[: self.directions]
        parts = [
            Quantity(name, f"what the {name} cell shows here", array(shown))
            for name, shown in zip(names, outputs.chunk(self.directions), strict=True)
        ]
        text, code = ("key = [forward; backward]", "key = np.concatenate([forward, backward])")
        text, code = (text, code) if self.directions == 2 else ("key = forward", "key = forward")
        if residual:
            parts.append(Quantity("below", "what entered the layer", array(x)))
            text, code = f"{text} + below", f"{code} + below"
        key = Quantity("key", meaning, array(outputs + x if residual else outputs), given=False)
        return Formula("key" if last else f"layer {layer}", text, "", (*parts, key), (code,))

    def _both_ways(self, layer: int, x: Tensor, lengths: Tensor) -> Tensor:
        """(B, S, inputs) -> (B, S, directions * hidden)."""
        outputs = self._run(self.forwards[layer], x)
        if not self.config.bidirectional:
            return outputs
        turned = turn_around(lengths, x.size(1))
        reading = x.gather(1, turned.unsqueeze(-1).expand_as(x))
        backwards = self._run(self.backwards[layer], reading)
        return torch.cat([outputs, backwards.gather(1, turned.unsqueeze(-1).expand_as(backwards))], dim=-1)

    def _run(self, cell: nn.Module, x: Tensor) -> Tensor:
        assert isinstance(cell, Cell)
        return cell.run(x, x.new_zeros(x.size(0), cell.state_width))[0]

    def _finals(self, outputs: Tensor, lengths: Tensor) -> list[Tensor]:
        """The forward state at the last word, and the backward state at the first, each (B, hidden)."""
        hidden = self.config.hidden
        last = (lengths - 1).clamp(min=0)[:, None, None].expand(-1, 1, hidden)
        forwards = outputs[..., :hidden].gather(1, last).squeeze(1)
        return [forwards, outputs[:, 0, hidden:]] if self.config.bidirectional else [forwards]


def turn_around(lengths: Tensor, longest: int) -> Tensor:
    """(B,) -> (B, longest): the place of each position when a sentence is read backwards; padding stays put."""
    places = torch.arange(longest, device=lengths.device).unsqueeze(0)
    return torch.where(places < lengths.unsqueeze(1), lengths.unsqueeze(1) - 1 - places, places)
