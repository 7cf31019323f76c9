"""The voice against its formulas in NumPy: CBHG (Wang 2017) and attention over style tokens (Wang 2018)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from seq2see.speech.model.cbhg import Cbhg, Highway
from seq2see.speech.model.style import Style, StyleConfig

Array = NDArray[np.float64]
LENGTHS = (7, 4)


@pytest.fixture(autouse=True)
def _no_gradients() -> Any:
    with torch.no_grad():
        yield


def stirred(module: nn.Module, seed: int = 0) -> nn.Module:
    """In double precision, every parameter away from its first value."""
    torch.manual_seed(seed)
    for parameter in module.parameters():
        parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return module.double().eval()


def numbers(module: nn.Module) -> dict[str, Array]:
    return {name: value.numpy() for name, value in module.state_dict().items()}


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def convolved(x: Array, p: Mapping[str, Array], name: str) -> Array:
    """(T, inputs) -> (T, outputs): kernel // 2 zeros in front; then layer norm."""
    weight, bias = p[f"{name}.convolution.weight"], p[f"{name}.convolution.bias"]  # (outputs, inputs, kernel)
    kernel = weight.shape[2]
    padded = np.pad(x, ((kernel // 2, kernel), (0, 0)))
    y = np.array([np.einsum("oik,ki->o", weight, padded[t : t + kernel]) + bias for t in range(len(x))])
    centred = y - y.mean(axis=1, keepdims=True)
    normed = centred / np.sqrt(y.var(axis=1, keepdims=True) + 1e-5)
    return normed * p[f"{name}.norm.weight"] + p[f"{name}.norm.bias"]


def gru(x: Array, p: Mapping[str, Array], suffix: str) -> Array:
    """(T, D) -> (T, hidden): r, z, n as in Cho 2014, the reset gate behind the matrix."""
    w, u, b, c = (p[f"gru.{part}_l0{suffix}"] for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    h = np.zeros(u.shape[1])
    states = []
    for row in x:
        x_r, x_z, x_n = np.split(w @ row + b, 3)
        h_r, h_z, h_n = np.split(u @ h + c, 3)
        r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
        h = (1 - z) * np.tanh(x_n + r * h_n) + z * h
        states.append(h)
    return np.array(states)


def cbhg(x: Array, p: Mapping[str, Array], bank: int, highways: int) -> Array:
    """Wang 2017, figure 2: bank of convolutions, max-pooling of two, two projections, residual, highways, GRU."""
    banked = np.concatenate([np.maximum(convolved(x, p, f"bank.{k}"), 0) for k in range(bank)], axis=1)
    before = np.vstack([np.full((1, banked.shape[1]), -np.inf), banked[:-1]])
    pooled = np.maximum(before, banked)
    y = x + convolved(np.maximum(convolved(pooled, p, "narrow"), 0), p, "project")
    y = y @ p["enter.weight"].T + p["enter.bias"]
    for layer in range(highways):
        new, gate = np.split(y @ p[f"highways.{layer}.both.weight"].T + p[f"highways.{layer}.both.bias"], 2, axis=1)
        y = sigmoid(gate) * np.maximum(new, 0) + (1 - sigmoid(gate)) * y
    return np.concatenate([gru(y, p, ""), gru(y[::-1], p, "_reverse")[::-1]], axis=1)


def test_cbhg_is_the_papers_figure() -> None:
    module = stirred(Cbhg(6, 5, bank=4, highways=2))
    x = torch.randn(2, max(LENGTHS), 6, dtype=torch.float64)
    got = module(x, torch.tensor(LENGTHS)).numpy()
    for row, length in enumerate(LENGTHS):
        expected = cbhg(x[row, :length].numpy(), numbers(module), bank=4, highways=2)
        np.testing.assert_allclose(got[row, :length], expected, atol=1e-10)
        assert not got[row, length:].any()


def test_a_fresh_highway_lets_most_of_its_input_pass() -> None:
    torch.manual_seed(1)
    x = torch.randn(3, 4, 8)
    gate = torch.sigmoid(Highway(8).both(x)[..., 8:])
    assert gate.mean() < 0.4


@pytest.mark.parametrize("sharpness", [1.0, 2.0])
def test_style_is_attention_over_tokens(sharpness: float) -> None:
    """Query: the recording, times the sharpness; keys and values: tanh of the tokens; softmax(q . k / sqrt(d))."""
    config = StyleConfig(tokens=5, heads=2, width=8, channels=(4, 4, 8), summary=6, crop=16, sharpness=sharpness)
    style = stirred(Style(80, 7, config), seed=2)
    crops = torch.rand(3, 16, 80, dtype=torch.float64)
    vector, weights = style(crops)
    p = numbers(style)
    query = sharpness * style.reference(crops).numpy()  # (3, summary)
    tokens = np.tanh(p["tokens"])
    contexts = []
    for head in range(2):
        part = slice(4 * head, 4 * head + 4)
        q = query @ p["attention.query_projection.weight"][part].T
        k = tokens @ p["attention.key_projection.weight"][part].T
        v = tokens @ p["attention.value_projection.weight"][part].T
        scores = q @ k.T / np.sqrt(4)
        exps = np.exp(scores - scores.max(axis=1, keepdims=True))
        own = exps / exps.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(weights[:, head].numpy(), own, atol=1e-12)
        contexts.append(own @ v)
    joined = np.concatenate(contexts, axis=1) @ p["attention.output_projection.weight"].T
    expected = np.tanh(joined @ p["output.weight"].T + p["output.bias"])
    np.testing.assert_allclose(vector.numpy(), expected, atol=1e-12)


def test_the_reference_encoder_sees_what_differs_from_the_usual() -> None:
    """Its plain statistics by hand: mean, spread and change within 1, 2, 4 and 8 frames of each centred band."""
    config = StyleConfig(tokens=5, heads=2, width=8, channels=(4, 4, 8), summary=6, crop=16)
    encoder = stirred(Style(80, 7, config), seed=3).reference
    crops = torch.rand(2, 16, 80, dtype=torch.float64)
    caught: list[Any] = []
    handle = encoder.statistics.register_forward_hook(lambda _m, args, _out: caught.append(args[0]))
    encoder(crops)
    handle.remove()
    p = numbers(encoder)
    usual = (crops.numpy() - p["centre"]) / p["scale"]
    changes = [np.abs(usual[:, lag:] - usual[:, :-lag]).mean(axis=1) - 1 for lag in (1, 2, 4, 8)]
    expected = np.concatenate([usual.mean(axis=1), usual.std(axis=1, ddof=1) - 1, *changes], axis=1)
    np.testing.assert_allclose(caught[0].numpy(), expected, atol=1e-12)
