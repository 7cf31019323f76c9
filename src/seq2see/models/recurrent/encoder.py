"""The recurrent encoder: reads the source in one or both directions."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.models.base import Encoded, Encoder, Look, Settings
from seq2see.models.layers import Embedding, hide
from seq2see.models.recurrent.cells import Cell, CellName


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
