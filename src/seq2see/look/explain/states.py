"""A decoder besides its attention: the gates of its cells in one step, and what there is in the place of attention."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from seq2see.data.batch import Batch
from seq2see.look.explain.formulas import Formula, Quantity, array
from seq2see.models import Model
from seq2see.models.bytenet import Block, ByteNetDecoder, ByteNetMemory
from seq2see.models.luong import LuongDecoder, LuongState
from seq2see.models.recurrent import Cell, Stack
from seq2see.models.rnn import RnnDecoder, RnnMemory, RnnState
from seq2see.models.rnnsearch import RnnSearchDecoder, SearchState


def cell_formulas(model: Model[Any, Any], batch: Batch, step: int, context: Tensor | None) -> tuple[Formula, ...]:
    """The cells of a recurrent decoder in one step, from the lowest layer up; none for the other families.

    `context` (1, D) is what the step took home from its look at the source.
    """
    decoder = model.decoder
    if not isinstance(decoder, RnnDecoder | RnnSearchDecoder | LuongDecoder):
        return ()
    memory = model.encode(batch.source, batch.source_mask)
    state = model.start(memory)
    for tokens in batch.target_in[:, : step - 1].unbind(dim=1):
        _, state = model.step(tokens, memory, state)
    word = decoder.embedding(batch.target_in[:, step - 1])
    x, meaning = _entering(decoder, word, memory, state, context)
    found = []
    for layer, entering in enumerate(decoder.stack.entering(x, state.cells)):
        what = meaning if layer == 0 else f"what layer {layer - 1} shows"
        found.append(_cell(decoder.stack, layer, entering, state.cells[:, layer], what))
    return tuple(found)


def _entering(
    decoder: RnnDecoder | RnnSearchDecoder | LuongDecoder,
    word: Tensor,
    memory: Any,
    state: RnnState | SearchState | LuongState,
    context: Tensor | None,
) -> tuple[Tensor, str]:
    """What the lowest cell reads in this step, and what that is."""
    y = "word vector of the last piece"
    if isinstance(decoder, RnnDecoder):
        assert isinstance(memory, RnnMemory)
        return (torch.cat([word, memory.context], dim=-1), f"{y}; the source") if (decoder.every_step) else (word, y)
    if isinstance(state, LuongState):
        return torch.cat([word, state.fed], dim=-1), f"{y}; last h~" if state.fed.size(1) else y
    assert context is not None
    return torch.cat([word, context], dim=-1), f"{y}; context"


def _cell(stack: Stack, layer: int, x: Tensor, state: Tensor, meaning: str) -> Formula:
    cell = stack.cells[layer]
    assert isinstance(cell, Cell)
    kind = {"lstm": "LSTM", "gru": "GRU", "tanh": "RNN"}[cell.kind]
    name = f"{kind}, layer {layer}" if stack.layers > 1 else kind
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


def without_attention(model: Model[Any, Any], batch: Batch, step: int) -> Formula | None:
    """What `rnn` and `bytenet` know of the source, since they do not look at it."""
    memory = model.encode(batch.source, batch.source_mask)
    if isinstance(model.decoder, RnnDecoder):
        return _one_vector(model.decoder, memory)
    if isinstance(model.decoder, ByteNetDecoder):
        return _column(model.decoder, memory, batch, step)
    return None


def _one_vector(decoder: RnnDecoder, memory: RnnMemory) -> Formula:
    where = "it enters every step anew" if decoder.every_step else "it became the first state and is not heard of again"
    part = Quantity("context", "the whole source, the same at every step", array(memory.context[0]))
    paper = "Cho 2014" if decoder.every_step else "Sutskever 2014"
    return Formula("one vector", f"no attention: the source is one vector; {where}", paper, (part,), ())


def _column(decoder: ByteNetDecoder, memory: ByteNetMemory, batch: Batch, step: int) -> Formula:
    columns = memory.columns[0]
    inside = step <= columns.size(0)
    column = columns[step - 1] if inside else torch.zeros_like(columns[0])
    word = decoder.embedding(batch.target_in[:, step - 1])[0]
    reach = sum(block.reach for block in decoder.blocks if isinstance(block, Block))
    parts = (
        Quantity("word", "word vector of the last piece", array(word)),
        Quantity(
            "column", "the encoder's column at this position" + ("" if inside else ": past the last"), array(column)
        ),
        Quantity("x", "what the convolutions start from", array(word + column), given=False),
        Quantity("reach", "positions before this one that they see", np.array(reach)),
        Quantity("columns", "columns that the encoder made of the source", np.array(columns.size(0))),
    )
    text = "no attention: target position t reads encoder column t; x = word + column"
    return Formula("column", text, "Kalchbrenner 2016, 3.2", parts, ("x = word + column",))
