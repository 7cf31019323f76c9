"""Recurrent layers: the tanh RNN, GRU and LSTM as one kind of cell, stacks of them, and the state they start from.

A cell's state is one tensor: (B, hidden), or (B, 2 hidden) = [h; c] for the LSTM. A stack's state is (B, layers, that).
Training runs torch's fused layers; `lstm_gates` beside them spells out the LSTM and can be looked into.
"""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

CellName = Literal["tanh", "gru", "lstm"]


class Gates(NamedTuple):
    """The inside of an LSTM step, each (B, hidden)."""

    input: Tensor
    forget: Tensor
    candidate: Tensor
    output: Tensor


class GruGates(NamedTuple):
    """The inside of a GRU step, each (B, hidden)."""

    reset: Tensor
    update: Tensor
    candidate: Tensor


class Cell(nn.Module):
    """One recurrent layer in one direction: all positions at once (`run`) or one (`step`), with the same parameters."""

    def __init__(self, kind: CellName, inputs: int, hidden: int) -> None:
        super().__init__()
        layer = {"tanh": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}[kind]
        self.kind: CellName = kind
        self.hidden = hidden
        self.state_width = 2 * hidden if kind == "lstm" else hidden
        self.layer = layer(inputs, hidden, batch_first=True)
        nn.init.orthogonal_(self.layer.weight_hh_l0)
        if kind == "lstm":  # an open forget gate at first: what was read is kept until training says otherwise
            with torch.no_grad():
                self.layer.bias_ih_l0[hidden : 2 * hidden] = 1.0

    def weights(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        layer = self.layer
        return layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0

    def step(self, x: Tensor, state: Tensor) -> Tensor:
        """(B, inputs), (B, state) -> (B, state)."""
        return self._advance(x, state, self.weights())

    def _advance(self, x: Tensor, state: Tensor, weights: tuple[Tensor, Tensor, Tensor, Tensor]) -> Tensor:
        if self.kind == "lstm":
            hidden, cell = state.chunk(2, dim=-1)
            return torch.cat(torch.lstm_cell(x, (hidden, cell), *weights), dim=-1)
        return (torch.gru_cell if self.kind == "gru" else torch.rnn_tanh_cell)(x, state, *weights)

    def output(self, state: Tensor) -> Tensor:
        """(..., state) -> (..., hidden)."""
        return state[..., : self.hidden]

    def run(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, inputs), (B, state) -> outputs (B, T, hidden) and the state after the last position."""
        if torch.compiler.is_exporting():
            return self._scan(x, state)
        if self.kind == "lstm":
            hidden, cell = state.unsqueeze(0).chunk(2, dim=-1)
            outputs, (hidden, cell) = self.layer(x, (hidden.contiguous(), cell.contiguous()))
            return outputs, torch.cat([hidden, cell], dim=-1).squeeze(0)
        outputs, final = self.layer(x, state.unsqueeze(0))
        return outputs, final.squeeze(0)

    def _scan(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The same as a loop that ONNX can hold: torch's fused layers export with a fixed number of steps.

        What does not wait for the step before is one product outside of it. Detached, because torch would otherwise
        trace the loop's backward pass as well, and fails on an LSTM's.
        """
        from torch._higher_order_ops.scan import scan

        w_ih, w_hh, b_ih, b_hh = (weight.detach() for weight in self.weights())
        projected = F.linear(x.detach(), w_ih, b_ih)  # (B, T, gates)

        def advance(carried: Tensor, inputs: Tensor) -> tuple[Tensor, Tensor]:
            after = self._after(inputs, carried, w_hh, b_hh)
            return after, self.output(after).clone()

        final, outputs = scan(advance, state.detach(), projected.transpose(0, 1), dim=0)
        return outputs.transpose(0, 1), final

    def _after(self, from_input: Tensor, state: Tensor, w_hh: Tensor, b_hh: Tensor) -> Tensor:
        """A step whose share of the inputs, W x + b, is known: (B, gates), (B, state) -> (B, state)."""
        hidden = self.output(state)
        from_state = F.linear(hidden, w_hh, b_hh)
        if self.kind == "tanh":
            return torch.tanh(from_input + from_state)
        if self.kind == "gru":
            x_r, x_z, x_n = from_input.chunk(3, dim=-1)
            h_r, h_z, h_n = from_state.chunk(3, dim=-1)
            z = torch.sigmoid(x_z + h_z)
            n = torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
            return n + z * (hidden - n)
        i, f, g, o = (from_input + from_state).chunk(4, dim=-1)
        cell = torch.sigmoid(f) * state[..., self.hidden :] + torch.sigmoid(i) * torch.tanh(g)
        return torch.cat([torch.sigmoid(o) * torch.tanh(cell), cell], dim=-1)

    def gates(self, x: Tensor, state: Tensor) -> tuple[Tensor, Gates]:
        """A step of an LSTM with its gates shown: the same state as `step`."""
        hidden, cell = state.chunk(2, dim=-1)
        hidden, cell, gates = lstm_gates(x, hidden, cell, *self.weights())
        return torch.cat([hidden, cell], dim=-1), gates

    def gru_gates(self, x: Tensor, state: Tensor) -> tuple[Tensor, GruGates]:
        """A step of a GRU with its gates shown: the same state as `step`."""
        return gru_gates(x, state, *self.weights())


def gru_gates(
    x: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, GruGates]:
    """The GRU, written out (Cho 2014; the reset gate behind the matrix, as torch has it).

    r = sigmoid(W_r x + U_r h)    what to let in of the past     z = sigmoid(W_z x + U_z h)    what to keep
    n = tanh(W_n x + r U_n h)     what could be written          h' = (1 - z) n + z h
    """
    x_r, x_z, x_n = (x @ w_ih.T + b_ih).chunk(3, dim=-1)
    h_r, h_z, h_n = (hidden @ w_hh.T + b_hh).chunk(3, dim=-1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + r * h_n)
    return (1 - z) * n + z * hidden, GruGates(r, z, n)


def lstm_gates(
    x: Tensor, hidden: Tensor, cell: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor
) -> tuple[Tensor, Tensor, Gates]:
    """The LSTM, written out (Hochreiter & Schmidhuber 1997 with the forget gate of Gers 2000).

    i = sigmoid(W_i x + U_i h)    what to write          f = sigmoid(W_f x + U_f h)    what to keep
    g = tanh(W_g x + U_g h)       what could be written  o = sigmoid(W_o x + U_o h)    what to show
    c' = f c + i g                h' = o tanh(c')
    """
    w_i, w_f, w_g, w_o = w_ih.chunk(4)
    u_i, u_f, u_g, u_o = w_hh.chunk(4)
    b_i, b_f, b_g, b_o = (b_ih + b_hh).chunk(4)
    i = torch.sigmoid(x @ w_i.T + hidden @ u_i.T + b_i)
    f = torch.sigmoid(x @ w_f.T + hidden @ u_f.T + b_f)
    g = torch.tanh(x @ w_g.T + hidden @ u_g.T + b_g)
    o = torch.sigmoid(x @ w_o.T + hidden @ u_o.T + b_o)
    cell = f * cell + i * g
    return o * torch.tanh(cell), cell, Gates(i, f, g, o)


class Stack(nn.Module):
    """Layers of one direction on top of each other, for decoders."""

    def __init__(
        self, kind: CellName, inputs: int, hidden: int, layers: int, *, residual: bool, dropout: float
    ) -> None:
        super().__init__()
        self.cells = nn.ModuleList(Cell(kind, inputs if layer == 0 else hidden, hidden) for layer in range(layers))
        self.residual = residual
        self.dropout = dropout
        self.hidden = hidden
        self.layers = layers
        self.state_width = 2 * hidden if kind == "lstm" else hidden

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(B, inputs), (B, layers, state) -> (B, hidden), (B, layers, state)."""
        states = []
        for layer, cell in enumerate(self.cells):
            assert isinstance(cell, Cell)
            after = cell.step(x, state[:, layer])
            x = self._between(layer, x, cell.output(after))
            states.append(after)
        return x, torch.stack(states, dim=1)

    def inputs(self, x: Tensor, state: Tensor) -> list[Tensor]:
        """(B, inputs), (B, layers, state) -> what each layer reads in a `step`: for looking inside the cells."""
        inputs = []
        for layer, cell in enumerate(self.cells):
            assert isinstance(cell, Cell)
            inputs.append(x)
            x = self._between(layer, x, cell.output(cell.step(x, state[:, layer])))
        return inputs

    def run(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, inputs), (B, layers, state) -> (B, T, hidden), (B, layers, state)."""
        states = []
        for layer, cell in enumerate(self.cells):
            assert isinstance(cell, Cell)
            outputs, after = cell.run(x, state[:, layer])
            x = self._between(layer, x, outputs)
            states.append(after)
        return x, torch.stack(states, dim=1)

    def top(self, state: Tensor) -> Tensor:
        """(B, layers, state) -> (B, hidden): what the highest layer shows."""
        return state[:, -1, : self.hidden]

    def _between(self, layer: int, x: Tensor, outputs: Tensor) -> Tensor:
        outputs = outputs + x if self.residual and layer > 0 else outputs
        return F.dropout(outputs, self.dropout, self.training) if layer < self.layers - 1 else outputs


class FirstState(nn.Module):
    """s_0 = tanh(W summary), for every layer of the decoder."""

    def __init__(self, summary_dim: int, stack: Stack) -> None:
        super().__init__()
        self.layers = stack.layers
        self.map = nn.Linear(summary_dim, stack.layers * stack.state_width)

    def forward(self, summary: Tensor) -> Tensor:
        """(B, summary) -> (B, layers, state)."""
        return torch.tanh(self.map(summary)).unflatten(-1, (self.layers, -1))
