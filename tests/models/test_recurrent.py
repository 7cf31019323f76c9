"""Recurrent layers against torch's own, and the encoder against torch's packed sequences."""

import copy
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seq2see.data import Batch
from seq2see.models import build
from seq2see.models.recurrent.cells import Cell, FirstState, Stack
from seq2see.models.recurrent.encoder import RecurrentEncoder, RecurrentEncoderConfig, turn_around

TORCH = {"tanh": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
KINDS = pytest.mark.parametrize("kind", TORCH)
DTYPES = pytest.mark.parametrize("dtype", TOLERANCE, ids=["f32", "f64"])
INPUTS, HIDDEN = 5, 7


@pytest.fixture(autouse=True)
def _fixed_numbers() -> None:
    torch.manual_seed(3)


def close(got: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(got, expected, rtol=0, atol=TOLERANCE[expected.dtype])


def copied(cell: Cell, layer: nn.RNNBase, suffix: str = "_l0") -> None:
    """Puts the layer's parameters into the cell."""
    with torch.no_grad():
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(cell.layer, f"{name}_l0").copy_(getattr(layer, name + suffix))


def torch_state(kind: str, state: Tensor) -> Any:
    """(B, state) -> what torch's layer takes."""
    parts = [part.unsqueeze(0).contiguous() for part in state.split(HIDDEN, dim=-1)]
    return tuple(parts) if kind == "lstm" else parts[0]


@DTYPES
@KINDS
def test_a_cell_equals_torchs_layer(kind: str, dtype: torch.dtype):
    layer = TORCH[kind](INPUTS, HIDDEN, batch_first=True).to(dtype)
    cell = Cell(kind, INPUTS, HIDDEN).to(dtype)
    copied(cell, layer)
    x, state = torch.randn(3, 6, INPUTS, dtype=dtype), torch.randn(3, cell.state_width, dtype=dtype)
    expected, final = layer(x, torch_state(kind, state))
    final = torch.cat(final, dim=-1) if kind == "lstm" else final
    outputs, after = cell.run(x, state)
    close(outputs, expected)
    close(after, final.squeeze(0))
    for position in range(x.size(1)):
        state = cell.step(x[:, position], state)
        close(cell.output(state), expected[:, position])
    close(state, final.squeeze(0))


def test_fresh_cells_keep_what_they_read():
    for kind in TORCH:
        weight = Cell(kind, INPUTS, HIDDEN).layer.weight_hh_l0.detach()
        torch.testing.assert_close(weight.T @ weight, torch.eye(HIDDEN), rtol=0, atol=1e-5)
    bias = Cell("lstm", INPUTS, HIDDEN).layer.bias_ih_l0
    assert (bias[HIDDEN : 2 * HIDDEN] == 1).all()
    assert (bias[:HIDDEN] < 1).all()


@DTYPES
def test_the_written_out_lstm_equals_torchs(dtype: torch.dtype):
    layer = nn.LSTM(INPUTS, HIDDEN, batch_first=True).to(dtype)
    cell = Cell("lstm", INPUTS, HIDDEN).to(dtype)
    copied(cell, layer)
    x = torch.randn(4, 6, INPUTS, dtype=dtype)
    for begun in (torch.zeros(4, 2 * HIDDEN, dtype=dtype), torch.randn(4, 2 * HIDDEN, dtype=dtype)):
        expected, (hidden, kept) = layer(x, torch_state("lstm", begun))
        state = begun
        for position in range(x.size(1)):
            state, gates = cell.gates(x[:, position], state)
            close(cell.output(state), expected[:, position])
            for gate in (gates.input, gates.forget, gates.output):
                assert gate.shape == (4, HIDDEN)
                assert ((gate > 0) & (gate < 1)).all()
            assert gates.candidate.shape == (4, HIDDEN)
        close(state, torch.cat([hidden, kept], dim=-1).squeeze(0))
    assert (gates.candidate.abs() < 1).all()
    assert (gates.candidate < 0).any()


def test_the_gates_say_what_happens():
    """c' = f c + i g and h' = o tanh(c') with the gates that are shown, from nn.LSTM's states."""
    cell = Cell("lstm", INPUTS, HIDDEN).double()
    x, state = torch.randn(2, INPUTS).double(), torch.randn(2, 2 * HIDDEN).double()
    after, gates = cell.gates(x, state)
    close(after, cell.step(x, state))
    memory = gates.forget * state[:, HIDDEN:] + gates.input * gates.candidate
    close(after[:, HIDDEN:], memory)
    close(after[:, :HIDDEN], gates.output * memory.tanh())


@DTYPES
@pytest.mark.parametrize("residual", [False, True])
@KINDS
def test_a_stack_steps_as_it_runs(kind: str, residual: bool, dtype: torch.dtype):
    stack = Stack(kind, INPUTS, HIDDEN, 3, residual=residual, dropout=0.5).to(dtype).eval()
    x, state = torch.randn(2, 5, INPUTS, dtype=dtype), torch.randn(2, 3, stack.state_width, dtype=dtype)
    outputs, final = stack.run(x, state)
    for position in range(5):
        top, state = stack.step(x[:, position], state)
        close(top, outputs[:, position])
    close(state, final)
    close(stack.top(state), final[:, -1, :HIDDEN])
    if not residual:
        close(stack.top(state), outputs[:, -1])


@KINDS
def test_a_residual_stack_is_the_sum_of_its_layers(kind: str):
    stack = Stack(kind, INPUTS, HIDDEN, 2, residual=True, dropout=0.0).double()
    x, state = torch.randn(2, 4, INPUTS).double(), torch.randn(2, 2, stack.state_width).double()
    first, _ = stack.cells[0].run(x, state[:, 0])
    second, _ = stack.cells[1].run(first, state[:, 1])
    close(stack.run(x, state)[0], first + second)


def test_first_states_differ_from_layer_to_layer():
    stack = Stack("lstm", INPUTS, HIDDEN, 2, residual=False, dropout=0.0)
    first = FirstState(4, stack)
    summary = torch.randn(3, 4)
    expected = torch.tanh(first.map(summary)).view(3, 2, 2 * HIDDEN)
    assert torch.equal(first(summary), expected)
    assert not torch.equal(expected[:, 0], expected[:, 1])


def test_turning_around_stays_within_each_sentence():
    turned = turn_around(torch.tensor([4, 1, 3]), 5)
    assert turned.tolist() == [[3, 2, 1, 0, 4], [0, 1, 2, 3, 4], [2, 1, 0, 3, 4]]
    assert torch.equal(turned.gather(1, turned), torch.arange(5).expand(3, 5))


SENTENCES = [[4, 5, 6, 7, 8, 9], [5], [9, 8, 7], [4, 4]]


def encoder_and_torch(kind: str, layers: int, both: bool, dtype: torch.dtype) -> tuple[RecurrentEncoder, nn.RNNBase]:
    config = RecurrentEncoderConfig(embedding=INPUTS, hidden=HIDDEN, layers=layers, cell=kind, bidirectional=both)
    encoder = RecurrentEncoder(config, 12).to(dtype).eval()
    layer = TORCH[kind](INPUTS, HIDDEN, layers, batch_first=True, bidirectional=both).to(dtype)
    for place in range(layers):
        copied(encoder.forwards[place], layer, f"_l{place}")
        if both:
            copied(encoder.backwards[place], layer, f"_l{place}_reverse")
    return encoder, layer


@DTYPES
@pytest.mark.parametrize(("kind", "layers", "both"), list(product(TORCH, (1, 2, 3), (True, False))))
def test_the_encoder_reads_what_torch_reads_packed(kind: str, layers: int, both: bool, dtype: torch.dtype):
    encoder, layer = encoder_and_torch(kind, layers, both, dtype)
    batch = Batch.of(SENTENCES, [[]] * len(SENTENCES))
    lengths = torch.tensor([len(ids) for ids in SENTENCES])
    packed = pack_padded_sequence(encoder.embedding(batch.source), lengths, batch_first=True, enforce_sorted=False)
    outputs, final = layer(packed)
    expected, _ = pad_packed_sequence(outputs, batch_first=True)
    encoded, looks = encoder(batch.source, batch.source_mask)
    assert looks == []
    close(encoded.keys, expected)
    assert encoded.values is encoded.keys
    assert not encoded.keys.masked_fill(batch.source_mask.transpose(1, 2), 0.0).any()
    # torch: (layers * directions, B, hidden), layer by layer, forwards before backwards.
    final = final[0] if kind == "lstm" else final
    close(encoded.summary, final.transpose(0, 1).flatten(1))


def test_residual_layers_add_their_input():
    config = RecurrentEncoderConfig(embedding=INPUTS, hidden=HIDDEN, layers=2, residual=True)
    encoder = RecurrentEncoder(config, 12).double().eval()
    plain = copy.deepcopy(encoder)
    plain.config = config.model_copy(update={"residual": False})
    first = copy.deepcopy(encoder)
    first.config = config.model_copy(update={"layers": 1})
    batch = Batch.of(SENTENCES, [[]] * len(SENTENCES))
    keys = [each(batch.source, batch.source_mask)[0].keys for each in (encoder, plain, first)]
    close(keys[0], keys[1] + keys[2])


@pytest.mark.parametrize("layers", [1, 2])
def test_rnnsearch_starts_from_the_backward_state(layers: int):
    """s_0 = tanh(W h<-_1): it is made of the backward cells, and has read the source from its last word on."""
    model = build("rnnsearch", "tiny", source_vocabulary=12, target_vocabulary=12, encoder={"layers": layers}).eval()
    batch = Batch.of(SENTENCES, [[]] * len(SENTENCES))

    def first_states(model: Any, batch: Batch) -> Tensor:
        return model.start(model.encode(batch.source, batch.source_mask)).cells

    before = first_states(model, batch)
    encoded, _ = model.encoder(batch.source, batch.source_mask)
    hidden = model.encoder.config.hidden
    assert torch.equal(encoded.summary, encoded.keys[:, 0, hidden:])
    assert torch.equal(before, torch.tanh(model.decoder.first_state.map(encoded.summary)).unsqueeze(1))
    # Every word has its say, the last one too.
    for place in range(6):
        other = batch.source.clone()
        other[0, place] = 11
        changed = Batch(other, batch.source_mask, batch.target_in, batch.target_out, batch.target_mask)
        after = first_states(model, changed)
        assert not torch.equal(after[0], before[0])
        assert torch.equal(after[1:], before[1:])
    # In the last layer the cells that read forwards have none.
    with torch.no_grad():
        for parameter in model.encoder.forwards[-1].parameters():
            parameter.zero_()
    assert torch.equal(first_states(model, batch), before)
    with torch.no_grad():
        model.encoder.backwards[-1].layer.weight_ih_l0.mul_(2)
    assert not torch.equal(first_states(model, batch), before)
