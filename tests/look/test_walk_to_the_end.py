"""A walkthrough is the whole way: every number is one that the model computes itself, and it ends where `step` ends."""

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_models import BATCH, FAMILIES, SOURCE, TARGET, attentions, model_of
from torch import Tensor, nn

import seq2see
from seq2see.attention.formula import Array, Formula
from seq2see.attention.positions import rotate
from seq2see.look.explain.walkthrough import Walkthrough, explain
from seq2see.look.intervene.whatif import Force, what_if
from seq2see.models import Model, build, map_tensors
from seq2see.models.recurrent.cells import Cell

# Scores and scopes do not change the way before and after a look: the others are for `make test-slow`.
WAYS = {
    "rnn",
    "rnn-first state",
    "bytenet",
    "rnnsearch",
    "rnnsearch-lstm maxout",
    "rnnsearch-heads",
    "luong",
    "luong-gru residual",
    "luong-unfed",
    "luong-transformer encoder",
    "convs2s",
    "transformer",
    "transformer-rotary",
    "transformer-relative",
}
ALL = pytest.mark.parametrize(
    "variant", [pytest.param(name, marks=[] if name in WAYS else pytest.mark.slow) for name in FAMILIES]
)
STEPS = len(TARGET) + 1
F32 = torch.float32
ROUNDING = 3e-6


@pytest.fixture(autouse=True, scope="module")
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def walks(model: Model[Any, Any], step: int) -> Iterator[Walkthrough]:
    """Through every attention of the target, the last head of each; once where there is none."""
    places = [(kind, layer) for kind, layer in attentions(model) if kind != "encoder"]
    for kind, layer in places:
        heads = attentions(model)[kind, layer].heads
        yield explain(model, SOURCE, TARGET, step, kind=kind, layer=layer, head=heads - 1)
    if not places:
        yield explain(model, SOURCE, TARGET, step)


def readings(model: Model[Any, Any], position: int) -> Iterator[Walkthrough]:
    layers = [layer for kind, layer in attentions(model) if kind == "encoder"]
    for layer in layers or [None]:
        yield explain(model, SOURCE, TARGET, position, kind="encoder", layer=layer)


def shown(walk: Walkthrough) -> list[Formula]:
    look = walk.attention
    asked = [] if look is None or look.query_formula is None else [look.query_formula]
    return [*walk.before, *asked, *walk.after]


def recorded(model: Model[Any, Any], step: int) -> list[Array]:
    """What every module of the decoder is given and gives in one `step`, as rows, and every parameter.

    Gates and states of torch's fused layers are no outputs of a module; test_walkthrough.py holds them.
    """
    memory = model.encode(BATCH.source, BATCH.source_mask)
    state = model.start(memory)
    for tokens in BATCH.target_in[:, : step - 1].unbind(dim=1):
        _, state = model.step(tokens, memory, state)
    seen = [parameter.numpy() for parameter in model.parameters()]
    map_tensors(memory, lambda x: seen.append(x.numpy()) or x)

    def keep(_module: nn.Module, args: tuple[Any, ...], result: Any) -> None:
        tensors = (*args, *(result if isinstance(result, tuple) else (result,)))
        seen.extend(x.numpy() for x in tensors if isinstance(x, Tensor) and x.is_floating_point())

    handles = [module.register_forward_hook(keep) for module in model.modules()]
    model.step(BATCH.target_in[:, step - 1], memory, state)
    for handle in handles:
        handle.remove()
    return [rows.reshape(-1, rows.shape[-1]) for rows in seen if rows.ndim]


def occurs(value: Array, seen: list[Array]) -> bool:
    """Whether a vector stands in a row that the model computed, alone or beside others."""
    for rows in seen:
        if rows.shape[-1] >= len(value):
            windows = np.lib.stride_tricks.sliding_window_view(rows, len(value), axis=-1)
            if np.abs(windows - value).max(axis=-1).min() < ROUNDING:
                return True
    return False


def is_cell(formula: Formula) -> bool:
    return formula.name.startswith(("LSTM", "GRU", "RNN"))


@ALL
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_every_given_vector_is_one_that_the_model_computes(variant: str, step: int) -> None:
    model = model_of(variant, F32)
    seen = recorded(model, step)
    for walk in walks(model, step):
        results: list[Array] = []
        for formula in shown(walk):
            for part in formula.parts:
                if not part.given:  # what was computed from given numbers may be given further on
                    results.append(np.atleast_2d(part.value))
                elif part.value.ndim == 1 and not is_cell(formula) and part.symbol != "place":
                    assert occurs(part.value, [*seen, *results]), f"{formula.name}: {part.symbol}"


@ALL
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), STEPS])
def test_what_follows_is_what_the_code_gives(variant: str, step: int) -> None:
    """Each formula by itself: its given parts in, its lines run, the others out."""
    model = model_of(variant, F32)
    for walk in (*walks(model, step), *readings(model, min(step, len(SOURCE)))):
        assert shown(walk)
        for formula in shown(walk):
            space: dict[str, Any] = {part.symbol: part.value.astype(np.float64) for part in formula.parts if part.given}
            exec("\n".join(("import numpy as np", *formula.code)), space)
            for part in formula.parts:
                np.testing.assert_allclose(space[part.symbol], part.value, atol=ROUNDING, err_msg=formula.name)


@ALL
def test_one_formula_hands_its_result_to_the_next(variant: str) -> None:
    """What enters a sum, a norm or a read-out stood before it: as a result, as the context, after a layer."""
    model = model_of(variant, F32)
    for walk in walks(model, 3):
        known: list[Array] = []
        for formula in (*walk.before, None, *walk.after):
            if formula is None:  # the look stands here
                look = walk.attention
                known += [] if look is None else [look.query, look.context if look.output is None else look.output]
                continue
            if known and not is_cell(formula):
                for part in formula.parts:
                    if part.given and part.symbol in ("x", "s", "c", "h"):
                        assert occurs(part.value, [value[None] for value in known]), f"{formula.name}: {part.symbol}"
            known += [part.value for part in formula.parts if part.value.ndim == 1]
        last = (*walk.before, *walk.after)[-1].parts[-1]
        np.testing.assert_allclose(last.value, walk.features, atol=ROUNDING)


@ALL
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 3, STEPS])
def test_it_ends_with_the_log_probabilities_of_the_step(variant: str, step: int) -> None:
    model = model_of(variant, F32)
    memory = model.encode(BATCH.source, BATCH.source_mask)
    state = model.start(memory)
    for tokens in BATCH.target_in[:, :step].unbind(dim=1):
        logits, state = model.step(tokens, memory, state)
    expected = torch.log_softmax(logits[0], dim=-1)
    for walk in walks(model, step):
        last = model.decoder.last_layer()
        bias = 0 if last.bias is None else last.bias.numpy()
        own = last.weight.numpy() @ walk.features + bias - walk.log_sum
        np.testing.assert_allclose(own, expected.numpy(), atol=2e-5)
        assert walk.target is not None
        printed = str(walk) if step == 3 else None
        for choice in (*walk.choices, walk.target):
            assert choice.log_probability == pytest.approx(expected[choice.id].item(), abs=2e-5)
            assert printed is None or f"{choice.log_probability:.4f}" in printed


@ALL
@pytest.mark.parametrize("position", [1, 3, len(SOURCE)])
def test_reading_a_piece_ends_with_its_key(variant: str, position: int) -> None:
    model = model_of(variant, F32)
    encoded, looks = model.encoder(BATCH.source, BATCH.source_mask, need_weights=True)
    for walk in readings(model, position):
        assert (walk.target, walk.log_sum, walk.choices, walk.said) == (None, None, (), ())
        np.testing.assert_allclose(walk.features, encoded.keys[0, position - 1].numpy(), atol=ROUNDING)
        last = (*walk.before, *walk.after)[-1]
        named = {part.symbol: part.value for part in last.parts}
        np.testing.assert_allclose(named.get("key", last.parts[-1].value), walk.features, atol=ROUNDING)
        if "value" in named:
            np.testing.assert_allclose(named["value"], encoded.values[0, position - 1].numpy(), atol=ROUNDING)
        assert position != 3 or f"source piece 3 of {len(SOURCE)}" in str(walk)
        if walk.attention is not None:
            row = looks[walk.attention.layer].weights[0, 0, position - 1]
            np.testing.assert_allclose(walk.attention.weights, row.numpy(), atol=ROUNDING)


@pytest.mark.parametrize("cell", ["lstm", "gru", "tanh"])
def test_the_gates_of_an_encoder_in_both_directions(cell: str) -> None:
    """Two layers with residual sums: each cell's new state is what torch's fused layer showed at that word."""
    torch.manual_seed(3)
    settings = {"kind": "recurrent", "embedding": 6, "hidden": 6, "layers": 3, "cell": cell, "residual": True}
    model = build("rnnsearch", "tiny", source_vocabulary=13, target_vocabulary=13, hidden=6, encoder=settings).eval()
    shows: dict[str, list[Tensor]] = {}

    def keep(_cell: nn.Module, _args: Any, result: Any) -> None:
        shows.setdefault("outputs", []).append(result[0][0])

    handles = [
        module.layer.register_forward_hook(keep) for module in model.encoder.modules() if isinstance(module, Cell)
    ]
    model.encoder(BATCH.source, BATCH.source_mask)
    for handle in handles:
        handle.remove()
    for position in range(len(SOURCE)):
        walk = explain(model, SOURCE, TARGET, position + 1, kind="encoder")
        cells = [formula for formula in walk.before if is_cell(formula)]
        assert len(cells) == 2 * 3
        for number, formula in enumerate(cells):
            place = position if number % 2 == 0 else len(SOURCE) - 1 - position  # backwards it is read from the end
            new = next(part.value for part in formula.parts if part.symbol == "h_new")
            np.testing.assert_allclose(new, shows["outputs"][number][place].numpy(), atol=ROUNDING)
            assert ("forwards", "backwards")[number % 2] in formula.name


def test_a_turned_query_is_named_and_turned() -> None:
    model = model_of("transformer-rotary", F32)
    caught: list[Tensor] = []
    module = attentions(model)["decoder", 1]
    handle = module.query_projection.register_forward_hook(lambda _m, _i, out: caught.append(out))
    model(BATCH, need_weights=True)
    handle.remove()
    for head in range(4):
        look = explain(model, SOURCE, TARGET, 4, kind="decoder", layer=1, head=head).attention
        assert look is not None
        assert look.query_formula is not None
        named = {part.symbol: part.value for part in look.query_formula.parts}
        projected = caught[0][0, 3].unflatten(-1, (4, 2))[head]
        np.testing.assert_allclose(named["q"], projected.numpy(), atol=ROUNDING)
        normed = module.query_norm(projected)
        np.testing.assert_allclose(named["normed"], normed.numpy(), atol=ROUNDING)
        turned = rotate(normed[None, None, None], torch.tensor([[3]]))[0, 0, 0]
        np.testing.assert_allclose(look.query, turned.numpy(), atol=ROUNDING)
        assert np.abs(look.query - projected.numpy()).max() > 0.1
        assert look.query_meaning.startswith("R_t RMSNorm(W_Q x): ")
        assert look.keys_meaning == "R_j RMSNorm(W_K h_j)"
    across = explain(model, SOURCE, TARGET, 4).attention  # the source is looked at without rotation
    assert across is not None
    assert across.query_meaning.startswith("RMSNorm(W_Q x): ")


@pytest.mark.parametrize("activation", ["gelu", "swiglu"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_other_blocks(activation: str, norm: str) -> None:
    torch.manual_seed(5)
    settings = {"width": 8, "heads": 2, "inner": 12, "layers": 1, "activation": activation, "norm": norm}
    model = build(
        "transformer", "tiny", source_vocabulary=13, target_vocabulary=13, positions="learned", **settings
    ).eval()
    walk = explain(model, SOURCE, TARGET, 2)
    for formula in shown(walk):
        space: dict[str, Any] = {part.symbol: part.value.astype(np.float64) for part in formula.parts if part.given}
        exec("\n".join(("import numpy as np", *formula.code)), space)
        for part in formula.parts:
            np.testing.assert_allclose(space[part.symbol], part.value, atol=ROUNDING, err_msg=formula.name)
    np.testing.assert_allclose(walk.after[-1].parts[-1].value, model(BATCH).features[0, 1].numpy(), atol=ROUNDING)


@pytest.mark.parametrize("variant", ["rnnsearch", "luong", "convs2s", "transformer"])
def test_a_what_if_goes_on_to_the_probabilities(variant: str) -> None:
    model = what_if(model_of(variant, F32), [Force("cross", None, None, 2, (0.0, 1.0, 0.0, 0.0, 0.0))])
    for walk in walks(model, 2):
        last = (*walk.before, *walk.after)[-1].parts[-1]
        np.testing.assert_allclose(last.value, model(BATCH).features[0, 1].numpy(), atol=ROUNDING)


def test_the_page_says_every_name_and_meaning_in_korean() -> None:
    """Formulas come in English; the page has a table for them, where numbers are {n0}, {n1}."""
    table = (Path(seq2see.__file__).parent / "look" / "draw" / "view" / "korean.js").read_text(encoding="utf-8")
    words: set[str] = set()
    for variant in FAMILIES:
        model = model_of(variant, F32)
        for kind in {"cross", "encoder", *(kind for kind, _ in attentions(model))}:
            for formula in shown(explain(model, SOURCE, TARGET, 2, kind=kind)):  # type: ignore[arg-type]
                words |= {formula.name, *(part.meaning for part in formula.parts)}
    for word in words:
        numbers = count()
        template = re.sub(r"(?<![\w(])\d+(?!\w)", lambda _, numbers=numbers: f"{{n{next(numbers)}}}", word)
        plain = not re.search(
            r"[a-z]{3}", re.sub(r"relu|tanh|norm|hidden|convolved|sqrt|inner|silu|gate|key|gelu", "", word)
        )
        assert plain or f'"{word}":' in table or f'"{template}":' in table, word
