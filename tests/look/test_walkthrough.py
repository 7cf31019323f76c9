"""The walkthrough's numbers are the model's: each against a tensor recorded without it, for every score and family."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from small_models import (
    ATTENTIVE,
    BATCH,
    FAMILIES,
    SOURCE,
    TARGET,
    UNATTENTIVE,
    WORDS,
    attentions,
    batch_of,
    model_of,
    tried,
)
from torch import Tensor

from seq2see.attention import Additive, Cosine, Location, LocationAware, MultiHead, normalise
from seq2see.attention.formula import Formula
from seq2see.attention.scopes import LocalPredictive
from seq2see.errors import ConfigError
from seq2see.look.explain.render import number
from seq2see.look.explain.walkthrough import AttentionWalk, Walkthrough, explain
from seq2see.look.intervene.whatif import Ablate, Force, Scale, what_if
from seq2see.models import Model
from seq2see.models.luong import LuongState
from seq2see.vocabulary import BOS, EOS

LOOKING = pytest.mark.parametrize("variant", tried(ATTENTIVE))
ALL = pytest.mark.parametrize("variant", tried(FAMILIES))
STEPS = len(TARGET) + 1
BETWEEN = pytest.mark.slow  # steps that are neither the first nor the last: every one of them in `make test-slow`
F32 = torch.float32


@pytest.fixture(autouse=True, scope="module")
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def close(got: Any, expected: Any, atol: float = 1e-6) -> None:
    if isinstance(expected, Tensor):
        expected = expected.numpy()
    np.testing.assert_allclose(np.asarray(got, np.float64), np.asarray(expected, np.float64), rtol=0, atol=atol)


def looked(walk: Walkthrough) -> AttentionWalk:
    assert walk.attention is not None
    return walk.attention


def named(formula: Formula) -> dict[str, Any]:
    return {part.symbol: part.value for part in formula.parts}


def cross_layers(model: Model[Any, Any]) -> list[int]:
    return [layer for kind, layer in attentions(model) if kind == "cross"]


# ----- recorded without the walkthrough


class Recorded(NamedTuple):
    """One look at one target position, every head: (H, ..)."""

    query: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    allowed: Tensor
    weights: Tensor
    context: Tensor
    output: Tensor
    history: Tensor | None


def record(model: Model[Any, Any], layer: int, step: int) -> Recorded:
    """Watches `attend`, `attend_heads`, `score` and `normalise` from outside while the model says the target."""
    attention = attentions(model)["cross", layer]
    mechanism = attention.scorer
    calls: dict[str, list[Any]] = {"score": [], "heads": [], "normalise": [], "attend": []}

    def watch(name: str, original: Any) -> Any:
        def watched(*args: Any, **kwargs: Any) -> Any:
            found = original(*args, **kwargs)
            calls[name].append((args, kwargs, found))
            return found

        return watched

    def watch_normalise(scores: Tensor, allowed: Tensor | None, kind: str) -> Tensor:
        found = normalise(scores, allowed, kind)
        calls["normalise"].append((scores, allowed, found))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seq2see.attention.base.normalise", watch_normalise)
        patch.setattr(mechanism, "score", watch("score", mechanism.score))
        patch.setattr(mechanism, "attend_heads", watch("heads", mechanism.attend_heads))
        patch.setattr(attention, "attend", watch("attend", attention.attend))
        model.look(BATCH)
    return _picked(model, calls, layer, step)


def _picked(model: Model[Any, Any], calls: dict[str, list[Any]], layer: int, step: int) -> Recorded:
    """The call of a layer and step, and the row in it: by what the families are known to do."""
    layers = len(cross_layers(model))
    if len(calls["score"]) == STEPS and layers == 1:  # one call for each step
        number_of_score, row = step - 1, 0
    else:  # all steps in one call; ConvS2S has one mechanism for all layers
        number_of_score, row = layer if len(calls["score"]) == layers > 1 else 0, step - 1
    args, _, scores = calls["score"][number_of_score]
    query, keys, history = args
    mine = [found for found in calls["normalise"] if found[0].data_ptr() == scores.data_ptr()]
    assert len(mine) == 1
    _, allowed, weights = mine[0]
    whole = len(calls["heads"]) == len(calls["score"])
    heads_args, _, (context, used) = calls["heads"][number_of_score if whole else 0]
    heads_row = row if whole else step - 1
    allowed = torch.ones_like(weights, dtype=torch.bool) if allowed is None else allowed.expand_as(weights)
    attend = calls["attend"][number_of_score if len(calls["attend"]) == len(calls["score"]) else 0]
    outputs = attend[2][0]
    return Recorded(
        query[0, :, row],
        keys[0],
        heads_args[1].values[0],
        scores[0, :, row],
        allowed[0, :, row],
        used[0, :, heads_row],
        context[0, :, heads_row],
        outputs[0, row if outputs.size(1) == query.size(2) else step - 1],
        None if history is None else history[0],
    )


@LOOKING
@pytest.mark.parametrize("step", [1, pytest.param(2, marks=BETWEEN), STEPS])
def test_every_number_of_a_look_is_the_recorded_one(variant: str, step: int) -> None:
    model = model_of(variant, F32)
    for layer in cross_layers(model):
        seen = record(model, layer, step)
        for head in range(seen.scores.size(0)):
            walk = looked(explain(model, SOURCE, TARGET, step, layer=layer, head=head))
            close(walk.query, seen.query[head])
            close(walk.keys, seen.keys[head])
            close(walk.values, seen.values[head])
            close(walk.scores, seen.scores[head])
            assert walk.allowed.tolist() == seen.allowed[head].tolist()
            close(walk.weights, seen.weights[head])
            close(walk.context, seen.context[head])
            close(seen.output if walk.output is None else walk.output, seen.output)
            if walk.output is None:
                close(walk.context, seen.output)
            assert (walk.kind, walk.layer, walk.head, walk.heads) == ("cross", layer, head, seen.scores.size(0))


@LOOKING
@pytest.mark.parametrize(
    "dtype", [pytest.param(torch.float32, marks=pytest.mark.slow), torch.float64], ids=["f32", "f64"]
)
def test_weights_are_the_row_of_look(variant: str, dtype: torch.dtype) -> None:
    model = model_of(variant, dtype)
    for look in model.look(BATCH):
        last = len(SOURCE) if look.kind == "encoder" else STEPS
        for step in range(1, last + 1) if dtype == F32 else (1, 3, last):
            for head in range(look.weights.size(1) if dtype == F32 else 1):
                walk = looked(explain(model, SOURCE, TARGET, step, kind=look.kind, layer=look.layer, head=head))
                close(walk.weights, look.weights[0, head, step - 1])
                assert len(walk.tokens) == len(walk.weights)
                assert walk.weights.dtype == (np.float32 if dtype == F32 else np.float64)


@ALL
@pytest.mark.parametrize("step", [1, *(pytest.param(step, marks=BETWEEN) for step in (2, 3, 4)), STEPS])
def test_the_top_five_are_those_of_forward(variant: str, step: int) -> None:
    model = model_of(variant, F32)
    walk = explain(model, SOURCE, TARGET, step)
    said = torch.softmax(model(BATCH).logits[0, step - 1], dim=-1)
    best = said.topk(5)
    assert [choice.id for choice in walk.choices] == best.indices.tolist()
    assert [choice.rank for choice in walk.choices] == [1, 2, 3, 4, 5]
    close([choice.probability for choice in walk.choices], best.values)
    close(walk.features, model(BATCH).features[0, step - 1])
    expected = [*TARGET, EOS][step - 1]
    assert walk.target.id == expected
    assert walk.target.probability == pytest.approx(said[expected].item(), abs=1e-6)
    assert walk.target.rank == 1 + int((said > said[expected]).sum())
    for choice in (*walk.choices, walk.target):
        assert choice.probability == pytest.approx(np.exp(choice.logit - walk.log_sum), abs=1e-6)
    assert (walk.step, walk.steps, len(walk.said)) == (step, STEPS, step - 1)


@LOOKING
def test_the_default_is_the_last_layer_and_the_first_head(variant: str) -> None:
    model = model_of(variant, F32)
    walk = looked(explain(model, SOURCE, TARGET))
    assert (walk.kind, walk.layer, walk.head) == ("cross", cross_layers(model)[-1], 0)
    last = [look for look in model.look(BATCH) if look.kind == "cross"][-1]
    close(walk.weights, last.weights[0, 0, 0])


# ----- the parts of each formula


@LOOKING
@pytest.mark.parametrize("step", [1, 3])
def test_the_parts_of_a_score_are_recorded_ones(variant: str, step: int) -> None:
    """Outputs of the mechanism's own modules, caught by hooks while the model speaks."""
    model = model_of(variant, F32)
    mechanism = attentions(model)["cross", cross_layers(model)[-1]].scorer
    seen: dict[str, list[Tensor]] = {}
    hooks = [
        part.register_forward_hook(lambda _m, _i, out, name=name: seen.setdefault(name, []).append(out))
        for name, part in mechanism.named_modules()
        if name in ("query_map", "filters", "filter_map", "scope.hidden", "scope.centre")
    ]
    model.look(BATCH)
    for hook in hooks:
        hook.remove()

    def at(name: str, head: int) -> Tensor:
        calls = seen[name]
        if name == "filters":  # (B H, filters, S)
            return calls[step - 1][head].T
        if calls[0].size(2) > 1:
            return calls[0][0, head, step - 1]
        each = len(calls) // STEPS  # several heads ask for their region twice
        return calls[(step - 1) * each][0, head, 0]

    walk = looked(explain(model, SOURCE, TARGET, step))
    parts = named(walk.score)
    history = record(model, walk.layer, step).history
    match mechanism:
        case LocationAware():
            assert history is not None
            close(parts["W1_s"], at("query_map", 0))
            close(parts["feats"], at("filters", 0))
            close(parts["seen"], history[0, : len(parts["seen"])])
            assert len(parts["seen"]) == 1 + mechanism.cumulative
            inner = np.tanh(parts["W1_s"] + walk.keys + parts["feats"] @ parts["U"].T)
            close(parts["inner"], inner)
            close(walk.scores, inner @ parts["v"])
            if step > 1:
                before = looked(explain(model, SOURCE, TARGET, step - 1))
                close(parts["seen"][0], before.weights)
        case Additive():
            close(parts["W1_s"], at("query_map", 0))
            close(parts["inner"], np.tanh(parts["W1_s"] + walk.keys))
            close(walk.scores, parts["inner"] @ parts["v"])
            assert np.abs(parts["v"]).max() > 0.01
        case Cosine():
            close(np.linalg.norm(parts["unit"]), 1.0)
            close(walk.scores, parts["beta"] * walk.keys @ parts["unit"])
            learned = mechanism.log_sharpness
            close(parts["beta"], 1.0 if learned is None else learned.exp().squeeze())
        case Location():
            close(walk.scores, parts["W"] @ walk.query)
        case _:
            width = parts.get("d_k", parts.get("d_q", 1.0))
            scale = np.sqrt(width)
            close(walk.scores, walk.keys @ walk.query / scale)
    if isinstance(mechanism.scope, LocalPredictive):
        region = named(walk.region)
        close(region["Wp_s"], at("scope.hidden", 0))
        ratio = torch.sigmoid(at("scope.centre", 0))
        close(region["centre"], ratio.item() * len(SOURCE))
        assert walk.gain is not None
        distance = np.arange(len(SOURCE)) - float(region["centre"])
        close(walk.gain, np.exp(-(distance**2) / 2))
        assert walk.allowed.tolist() == (np.abs(distance) <= 2).tolist()


@LOOKING
@pytest.mark.parametrize("step", [1, *(pytest.param(step, marks=BETWEEN) for step in (2, 3, 4)), STEPS])
def test_the_way_from_scores_to_weights(variant: str, step: int) -> None:
    model = model_of(variant, F32)
    walk = looked(explain(model, SOURCE, TARGET, step))
    parts = named(walk.normaliser)
    gain = 1.0 if walk.gain is None else walk.gain
    if not walk.allowed.any():
        assert parts == {}
        assert not walk.weights.any()
        return
    close(parts["largest"], walk.scores[walk.allowed].max())
    close(parts["shifted"][walk.allowed], walk.scores[walk.allowed] - walk.scores[walk.allowed].max())
    assert np.isneginf(parts["shifted"][~walk.allowed]).all()
    if walk.normaliser.name == "softmax":
        close(parts["exps"], np.exp(parts["shifted"]))
        close(parts["total"], parts["exps"].sum())
        close(walk.weights, parts["exps"] / parts["total"] * gain)
    else:
        margin = parts["shifted"] - parts["tau"] if walk.normaliser.name == "sparsemax" else parts["shifted"] / 2
        power = 1 if walk.normaliser.name == "sparsemax" else 2
        margin = margin if power == 1 else margin - parts["tau"]
        close(walk.weights, np.maximum(margin, 0) ** power * gain)
        close(walk.weights.sum(), 1.0)
    close(walk.context, walk.weights @ walk.values)
    assert not walk.changed


# ----- the cells


def recurrent(variant: str) -> bool:
    return variant.startswith(("rnn", "luong"))


def cells_of(formulas: Iterable[Formula]) -> list[Formula]:
    return [formula for formula in formulas if formula.name.startswith(("LSTM", "GRU", "RNN"))]


RECURRENT = pytest.mark.parametrize("variant", tried(filter(recurrent, FAMILIES)))


@RECURRENT
@pytest.mark.parametrize("step", [1, 3])
def test_the_gates_are_those_of_the_step(variant: str, step: int) -> None:
    """What entered each cell, caught while decoding; the gates from the layer's weights by the textbook."""
    model = model_of(variant, F32)
    cells = list(model.decoder.stack.cells)
    entered: list[list[tuple[Tensor, Tensor]]] = [[] for _ in cells]
    memory = model.encode(BATCH.source, BATCH.source_mask)
    state = model.start(memory)
    with pytest.MonkeyPatch.context() as patch:
        for calls, cell in zip(entered, cells, strict=True):
            original = cell.step
            patch.setattr(
                cell, "step", lambda x, s, calls=calls, original=original: calls.append((x, s)) or original(x, s)
            )
        for position in range(step):
            _, state = model.step(BATCH.target_in[:, position], memory, state)
    walk = explain(model, SOURCE, TARGET, step)
    shown = cells_of(walk.before if walk.attention is None or isinstance(state, LuongState) else walk.after)
    assert len(shown) == len(cells) == len(cells_of((*walk.before, *walk.after)))
    for layer, (formula, cell, calls) in enumerate(zip(shown, cells, entered, strict=True)):
        parts = named(formula)
        x, before = (found[0] for found in calls[step - 1])
        after = state.cells[0, layer]
        close(parts["x"], x)
        close(parts["h"], before[: cell.hidden])
        close(parts["h_new"], after[: cell.hidden])
        w_ih, w_hh, b_ih, b_hh = cell.weights()
        read, kept = w_ih @ x + b_ih, w_hh @ before[: cell.hidden] + b_hh
        match cell.kind:
            case "lstm":
                i, f, g, o = (read + kept).chunk(4)
                for name, value in zip("ifo", (i, f, o), strict=True):
                    close(parts[name], value.sigmoid())
                close(parts["g"], g.tanh())
                close(parts["c"], before[cell.hidden :])
                close(parts["c_new"], after[cell.hidden :])
            case "gru":
                (r, z, n), (of_r, of_z, of_n) = read.chunk(3), kept.chunk(3)
                close(parts["r"], (r + of_r).sigmoid())
                close(parts["z"], (z + of_z).sigmoid())
                close(parts["n"], (n + (r + of_r).sigmoid() * of_n).tanh())
            case _:
                close(parts["a"], read + kept)
        assert formula.name.startswith({"lstm": "LSTM", "gru": "GRU", "tanh": "RNN"}[cell.kind])


def test_other_families_have_no_cells() -> None:
    for variant in ("convs2s", "transformer", "bytenet"):
        walk = explain(model_of(variant, F32), SOURCE, TARGET)
        assert cells_of((*walk.before, *walk.after)) == []


# ----- families without attention


@pytest.mark.parametrize("variant", UNATTENTIVE)
@pytest.mark.parametrize("step", [1, STEPS])
def test_without_attention_it_tells_what_there_is(variant: str, step: int) -> None:
    model = model_of(variant, F32)
    walk = explain(model, SOURCE, TARGET, step)
    assert walk.attention is None
    assert walk.after == ()
    instead = walk.before[0]
    assert "no attention" in instead.text
    assert "no attention" in str(walk)
    memory = model.encode(BATCH.source, BATCH.source_mask)
    parts = named(instead)
    if variant == "bytenet":
        close(parts["column"], memory.columns[0, step - 1])
        word = model.decoder.embedding(BATCH.target_in[0, step - 1])
        close(parts["x"], word + memory.columns[0, step - 1])
        assert parts["reach"] == 2 * (1 + 2)
    else:
        close(parts["context"], memory.context[0])
        assert ("every step" in instead.text) == ("first state" not in variant)
    with pytest.raises(ConfigError, match="no cross attention"):
        explain(model, SOURCE, TARGET, layer=0)


def test_a_column_past_the_last_is_zero() -> None:
    model = model_of("bytenet", F32)
    long = [4] * 20
    walk = explain(model, SOURCE, long, 21)
    parts = named(walk.before[0])
    assert parts["columns"] == 10
    assert not parts["column"].any()
    assert "past the last" in " ".join(str(walk).split())


# ----- what is printed


def numbers_in(line: str) -> list[str]:
    return [word for word in line.replace("[", " ").replace("]", " ").split() if word[-1].isdigit()]


@LOOKING
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_the_printed_table_has_the_digits_of_the_tensors(variant: str, step: int) -> None:
    model = model_of(variant, F32)
    tokens = ["▁나는", "학생", "▁입니다", "[bold]", "</s>"]
    full = explain(model, SOURCE, TARGET, step, source_tokens=tokens)
    walk, seen = looked(full), record(model, cross_layers(model)[-1], step)
    lines = str(full).split("\n")
    start = next(place for place, line in enumerate(lines) if "piece" in line and "weight" in line)
    parts = named(walk.normaliser)
    for place, (token, line) in enumerate(zip(tokens, lines[start + 2 :], strict=False)):
        assert line.split()[0] == token
        expected = [seen.scores[0, place]]
        if walk.allowed[place]:
            expected += [torch.tensor(parts[name][place]) for name in ("shifted", "exps") if name in parts]
            expected += [torch.tensor(walk.gain[place])] if walk.gain is not None else []
        else:
            assert "hidden" in line
        expected.append(seen.weights[0, place])
        found = numbers_in(line[len(token) + 3 :])
        assert [float(word) for word in found] == pytest.approx([value.item() for value in expected], abs=0.50001e-4)
        assert all(len(word.split(".")[1]) == 4 for word in found)
        starred = "*" in line[len(token) + 3 :]
        most = seen.weights[0, :-1].max()  # of the text; </s> is never starred
        assert starred == (token != "</s>" and bool(seen.weights[0, place] > 0 and seen.weights[0, place] == most))


@ALL
@pytest.mark.parametrize("kind", ["cross", "encoder"])
def test_every_part_is_printed_with_its_first_numbers(variant: str, kind: Any) -> None:
    walk = explain(model_of(variant, F32), SOURCE, TARGET, 2, kind=kind)
    row = re.compile(r"   (\w+) +(\[.*?\]|-?[\d.]+) ")
    shown = [(found[1], numbers_in(found[2])) for line in str(walk).split("\n") if (found := row.match(line + " "))]
    look = walk.attention
    formulas = [*walk.before]
    if look is not None:
        formulas += [*([look.query_formula] if look.query_formula is not None else []), look.score, look.region]
    expected = [part for formula in (*formulas, *walk.after) for part in formula.parts]
    for part in expected:
        first = part.symbol, [number(value) for value in part.value.reshape(-1)[:4]]
        assert first in shown
        del shown[: shown.index(first) + 1]  # in the order of computing
    if kind == "cross":
        assert ("features", [number(value) for value in walk.features[:4]]) in shown


def test_the_printed_choices() -> None:
    walk = explain(model_of("rnnsearch", F32), SOURCE, TARGET, 2, name=lambda index: f"w{index}")
    lines = str(walk).split("\n")
    start = next(place for place, line in enumerate(lines) if "probability" in line and "rank" in line)
    for choice, line in zip(walk.choices, lines[start + 2 :], strict=False):
        rank, token, *numbers = line.split()[:5]
        assert (rank, token) == (str(choice.rank), f"w{choice.id}")
        assert numbers == [f"{value:.4f}" for value in (choice.logit, choice.log_probability, choice.probability)]
    assert sum(" said " in f"{line} " for line in lines[start:]) == 1
    assert "after w4 it says w9" in lines[0]


def test_a_long_source_stays_short() -> None:
    model = model_of("transformer", F32)
    walk = explain(model, [4 + place % 8 for place in range(511)] + [EOS], TARGET, 2)
    lines = str(walk).split("\n")
    assert len(lines) < 200
    assert any("472 pieces with the smallest weights are not shown" in line for line in lines)
    assert sum(" * " in line for line in lines) >= 1


# ----- JSON and NumPy


@ALL
@pytest.mark.parametrize("step", [1, STEPS])
def test_json_holds_everything(variant: str, step: int) -> None:
    walk = explain(model_of(variant, F32), SOURCE, TARGET, step)
    told = json.loads(json.dumps(walk.as_dict(), allow_nan=False))
    assert told["family"] == walk.family
    assert told["target"]["id"] == [*TARGET, EOS][step - 1]
    assert np.array_equal(np.array(told["features"], np.float32), walk.features)
    if walk.attention is None:
        assert told["attention"] is None
        return
    for name, value in vars(walk.attention).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(np.array(told["attention"][name], value.dtype), value), name
    for formula, found in ((walk.attention.score, "score"), (walk.attention.region, "region")):
        for part in formula.parts:
            assert np.array_equal(
                np.array(told["attention"][found]["parts"][part.symbol]["value"], part.value.dtype), part.value
            )
    for part, listed in ((walk.before, told["before"]), (walk.after, told["after"])):
        for formula, plain in zip(part, listed, strict=True):
            assert {symbol: entry["value"] for symbol, entry in plain["parts"].items()} == {
                quantity.symbol: pytest.approx(quantity.value.tolist()) for quantity in formula.parts
            }


@ALL
@pytest.mark.parametrize("step", [1, pytest.param(2, marks=BETWEEN), STEPS])
def test_the_script_recomputes_the_same_digits(variant: str, step: int, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_of(variant, F32)
    layers: list[int | None] = [None] if variant in UNATTENTIVE else [*cross_layers(model)]
    for layer in layers:
        walk = explain(model, SOURCE, TARGET, step, layer=layer)
        space: dict[str, Any] = {}
        exec(walk.as_numpy(), space)
        printed = capsys.readouterr().out
        formulas = []
        if walk.attention is not None:
            formulas += [walk.attention.score, walk.attention.region, walk.attention.normaliser]
            seen = record(model, walk.attention.layer, step)
            for name, expected in (("scores", seen.scores), ("weights", seen.weights), ("context", seen.context)):
                close(space[name], expected[0], 2e-6)
            assert space["allowed"].tolist() == walk.attention.allowed.tolist()
            assert space["difference"] < 2e-6
            for token, score, weight in zip(walk.source, space["scores"], space["weights"], strict=True):
                assert f"{token:>16}  score {score:10.4f}  weight {weight:7.4f}" in printed
        for part in (part for formula in formulas for part in formula.parts):
            close(space[part.symbol], part.value, 2e-6)
            if part.given:  # every digit
                assert np.array_equal(np.asarray(space[part.symbol], part.value.dtype), part.value)
        close(space["probabilities"], [choice.probability for choice in walk.choices])


def test_the_script_stands_alone() -> None:
    text = explain(model_of("transformer", F32), SOURCE, TARGET).as_numpy()
    imports = [line for line in text.split("\n") if "import" in line]
    assert imports == ["import numpy as np"]


@pytest.mark.parametrize(
    "token",
    ['"""', "'''", "\\", "\n", "\\n'", "'); raise SystemExit #", "{0}", "%s", "\u2028", "[/bold]", "a b  c " * 40],
)
def test_a_nasty_piece_is_a_string_and_nothing_else(token: str) -> None:
    model = model_of("luong", F32)
    walk = explain(model, SOURCE, TARGET, 3, source_tokens=[token] * 5, name=lambda index: token)
    space: dict[str, Any] = {}
    exec(walk.as_numpy(), space)
    assert space["tokens"] == [token] * 5
    assert space["said"] == [token] * 2
    assert space["pieces"] == [token] * 5
    assert str(walk)


# ----- decoder self-attention, what-if, mistakes


@pytest.mark.parametrize("variant", ["transformer", "transformer-alibi", "transformer-relative", "transformer-rotary"])
def test_masked_self_attention(variant: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_of(variant, F32)
    walk = looked(full := explain(model, SOURCE, TARGET, 3, kind="decoder", name=lambda index: f"w{index}"))
    assert walk.tokens == tuple(f"w{index}" for index in [BOS, *TARGET])
    assert walk.allowed.tolist() == [True, True, True, False, False]
    assert walk.region.name == "causal"
    positions = ("bias" in named(walk.score)) == (variant in ("transformer-alibi", "transformer-relative"))
    assert positions
    space: dict[str, Any] = {}
    exec(full.as_numpy(), space)
    capsys.readouterr()
    close(space["weights"], walk.weights, 2e-6)
    close(space["scores"], walk.scores, 2e-6)
    close(named(walk.normaliser)["exps"] / named(walk.normaliser)["total"], walk.weights)
    assert "hidden" in str(full)


@LOOKING
def test_a_forced_row_is_told_as_such(variant: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_of(variant, F32)
    row = (0.1, 0.2, 0.3, 0.25, 0.15)
    changed = what_if(model, [Force("cross", None, None, 2, row)])
    walk = looked(full := explain(changed, SOURCE, TARGET, 2))
    assert walk.changed
    close(walk.weights, row)
    close(walk.context, np.array(row) @ walk.values)
    close([choice.logit for choice in full.choices], changed(BATCH).logits[0, 1].topk(5).values, 1e-5)
    assert "a what-if has changed the weights" in str(full)
    space: dict[str, Any] = {}
    exec(full.as_numpy(), space)
    capsys.readouterr()
    close(space["context"], walk.context)
    assert not looked(explain(changed, SOURCE, TARGET, 1)).changed


def test_a_head_that_is_off_takes_nothing_home() -> None:
    changed = what_if(model_of("transformer", F32), [Ablate("cross", 1, 0), Scale("cross", 0, 0, 1, 1.0)])
    walk = looked(explain(changed, SOURCE, TARGET, 2))
    assert walk.changed
    assert not walk.weights.any()
    assert not walk.context.any()
    assert walk.output is not None
    assert walk.output.any()
    assert not looked(explain(changed, SOURCE, TARGET, 2, layer=0)).changed


@pytest.mark.parametrize("variant", ["luong-local-m", "luong-local-m heads"])
def test_who_may_look_at_nothing_takes_nothing_home(variant: str, capsys: pytest.CaptureFixture[str]) -> None:
    model, target = model_of(variant, F32), [4, 5, 6, 7, 8]
    walk = looked(full := explain(model, [4, EOS], target, 6))
    assert not walk.allowed.any()
    assert not walk.weights.any()
    assert not walk.context.any()
    assert (walk.output is None) == (variant == "luong-local-m")
    assert walk.output is None or not walk.output.any()
    close([choice.logit for choice in full.choices], model(batch_of([([4, EOS], target)])).logits[0, 5].topk(5).values)
    assert "nothing may be looked at" in str(full)
    assert "0 of 2 keys may be looked at" in str(full)
    json.dumps(full.as_dict(), allow_nan=False)
    space: dict[str, Any] = {}
    exec(full.as_numpy(), space)
    capsys.readouterr()
    assert space["weights"].tolist() == [0.0, 0.0]
    assert not space["context"].any()


@pytest.mark.parametrize("step", [0, -1, 6, 99])
def test_a_step_that_is_not_there(step: int) -> None:
    with pytest.raises(ConfigError, match=rf"step = {step}, but this target has 5 \(1 to 5; the last one says </s>\)"):
        explain(model_of("luong"), SOURCE, TARGET, step)


def test_places_that_are_not_there() -> None:
    model = model_of("transformer")
    with pytest.raises(ConfigError, match="layers of cross attention are 0 to 1"):
        explain(model, SOURCE, TARGET, layer=2)
    for head in (-1, 2):
        with pytest.raises(ConfigError, match="heads are 0 to 1"):
            explain(model, SOURCE, TARGET, head=head)
    with pytest.raises(ConfigError, match="there is one head, 0"):
        explain(model_of("convs2s"), SOURCE, TARGET, head=1)
    with pytest.raises(ConfigError, match="no decoder attention"):
        explain(model_of("luong"), SOURCE, TARGET, kind="decoder")
    with pytest.raises(ConfigError, match="expected cross, decoder or encoder"):
        explain(model, SOURCE, TARGET, kind="source")
    with pytest.raises(ConfigError, match="no encoder attention"):
        explain(model_of("luong"), SOURCE, TARGET, kind="encoder", layer=0)
    with pytest.raises(ConfigError, match=r"step = 6, but this source has 5 \(1 to 5; the last one is </s>\)"):
        explain(model, SOURCE, TARGET, 6, kind="encoder")
    with pytest.raises(ConfigError, match="5 source ids, but 2 source_tokens"):
        explain(model, SOURCE, TARGET, source_tokens=["a", "b"])


def test_a_model_in_training_is_refused() -> None:
    import copy

    model = copy.deepcopy(model_of("luong")).train()
    with pytest.raises(ConfigError, match=r"model\.eval\(\)"):
        explain(model, SOURCE, TARGET)


@ALL
def test_explaining_leaves_the_model_as_it_was(variant: str) -> None:
    model = model_of(variant, F32)
    before = model(BATCH).logits
    explain(model, SOURCE, TARGET, 2)
    assert torch.equal(model(BATCH).logits, before)
    assert all(attention.scorer.hook is None for attention in attentions(model).values())


def test_an_empty_target_has_one_step_which_ends() -> None:
    walk = explain(model_of("transformer", F32), SOURCE, [])
    assert (walk.step, walk.steps, walk.said, walk.target.id) == (1, 1, (), EOS)
    assert "at first it says </s>" in str(walk)
    said = torch.softmax(model_of("transformer", F32)(batch_of([(SOURCE, [])])).logits[0, 0], dim=-1)
    assert walk.target.probability == pytest.approx(said[EOS].item(), abs=1e-6)
    assert len(said) == WORDS


def test_several_heads_hand_on_what_all_of_them_took() -> None:
    model = model_of("transformer", F32)
    attention = attentions(model)["cross", 1]
    assert isinstance(attention, MultiHead)
    walks = [looked(explain(model, SOURCE, TARGET, 2, head=head)) for head in (0, 1)]
    both = np.concatenate([walk.context for walk in walks])
    projection = attention.output_projection
    expected = projection.weight.numpy() @ both + projection.bias.numpy()
    for walk in walks:
        close(walk.output, expected)
