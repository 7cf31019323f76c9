"""Recurrent cells in one step as formulas: LSTM, GRU and tanh RNN with their gates."""

from torch import Tensor, nn

from seq2see.attention.formula import Formula, Quantity, array
from seq2see.models.recurrent.cells import Cell, Stack


def cell_formulas(stack: Stack, x: Tensor, state: Tensor, meaning: str) -> tuple[Formula, ...]:
    """(1, inputs), (1, layers, state) -> a formula for each layer, lowest first; `meaning` says what x is."""
    return tuple(
        cell_formula(
            cell,
            f"layer {layer}" if stack.layers > 1 else "",
            inputs,
            state[:, layer],
            meaning if layer == 0 else f"what layer {layer - 1} shows",
        )
        for layer, (cell, inputs) in enumerate(zip(stack.cells, stack.inputs(x, state), strict=True))
    )


def cell_formula(cell: nn.Module, which: str, x: Tensor, state: Tensor, meaning: str) -> Formula:
    """(1, inputs), (1, state) -> one cell; `which` of several it is, `meaning` says what x is."""
    assert isinstance(cell, Cell)
    kind = {"lstm": "LSTM", "gru": "GRU", "tanh": "RNN"}[cell.kind]
    name = f"{kind}, {which}" if which else kind
    match cell.kind:
        case "lstm":
            return _lstm(cell, name, x, state, meaning)
        case "gru":
            return _gru(cell, name, x, state, meaning)
        case "tanh":
            return _tanh(cell, name, x, state, meaning)


def _lstm(cell: Cell, name: str, x: Tensor, state: Tensor, meaning: str) -> Formula:
    after, gates = cell.gates(x, state)
    hidden, kept = state.chunk(2, dim=-1)
    new_hidden, new_kept = after.chunk(2, dim=-1)
    parts = (
        Quantity("x", meaning, array(x[0])),
        Quantity("h", "what the cell showed before", array(hidden[0])),
        Quantity("c", "what it kept", array(kept[0])),
        Quantity("i", "input: how much to write", array(gates.input[0])),
        Quantity("f", "forget: how much to keep", array(gates.forget[0])),
        Quantity("g", "candidate: what to write", array(gates.candidate[0])),
        Quantity("o", "output: how much to show", array(gates.output[0])),
        Quantity("c_new", "what it keeps now", array(new_kept[0]), given=False),
        Quantity("h_new", "what it shows now", array(new_hidden[0]), given=False),
    )
    text = "c' = f c + i g;  h' = o tanh(c');  i, f, o = sigmoid(W x + U h + b), g = tanh(...)"
    code = ("c_new = f * c + i * g", "h_new = o * np.tanh(c_new)")
    return Formula(name, text, "Hochreiter & Schmidhuber 1997", parts, code)


def _gru(cell: Cell, name: str, x: Tensor, state: Tensor, meaning: str) -> Formula:
    after, gates = cell.gru_gates(x, state)
    parts = (
        Quantity("x", meaning, array(x[0])),
        Quantity("h", "the state before", array(state[0])),
        Quantity("r", "reset: what to hear of the past", array(gates.reset[0])),
        Quantity("z", "update: what to keep", array(gates.update[0])),
        Quantity("n", "candidate: what to write", array(gates.candidate[0])),
        Quantity("h_new", "the state now", array(after[0]), given=False),
    )
    text = "h' = (1 - z) n + z h;  r, z = sigmoid(W x + U h + b), n = tanh(W x + r (U h))"
    return Formula(name, text, "Cho 2014", parts, ("h_new = (1 - z) * n + z * h",))


def _tanh(cell: Cell, name: str, x: Tensor, state: Tensor, meaning: str) -> Formula:
    w_ih, w_hh, b_ih, b_hh = cell.weights()
    parts = (
        Quantity("x", meaning, array(x[0])),
        Quantity("h", "the state before", array(state[0])),
        Quantity("a", "W x + U h + b", array((x @ w_ih.T + b_ih + state @ w_hh.T + b_hh)[0])),
        Quantity("h_new", "the state now", array(cell.step(x, state)[0]), given=False),
    )
    return Formula(name, "h' = tanh(W x + U h + b)", "Elman 1990", parts, ("h_new = np.tanh(a)",))
