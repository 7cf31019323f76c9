"""What every model family promises, over every family and a long list of variants.

Widths are tiny and every parameter is stirred, biases and the vector of PAD included: a fault that a fresh model hides
behind a zero shows. Raise SEQ2SEE_EXAMPLES to search longer.
"""

import copy
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from depth import THOROUGH
from seq2see.attention import Attention, Dot, General, MultiHead, ScaledDot
from seq2see.data import Batch
from seq2see.models import FAMILIES, Look, Model, build, map_tensors, parameters, reorder
from seq2see.vocabulary import BOS, PAD

SOURCE_WORDS, TARGET_WORDS = 13, 14
EXAMPLES = int(os.environ.get("SEQ2SEE_EXAMPLES", "3" if THOROUGH else "2"))
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}

RECURRENT = {"kind": "recurrent", "embedding": 6, "hidden": 4, "dropout": 0.1}
CONVOLUTIONAL = {"kind": "convolutional", "embedding": 8, "channels": (8, 10, 10), "kernels": (3, 5, 1)}
TRANSFORMER = {"kind": "transformer", "width": 8, "heads": 2, "inner": 12, "layers": 2}
ENCODERS = {"recurrent": RECURRENT, "convolutional": CONVOLUTIONAL, "transformer": TRANSFORMER}

SMALL: dict[str, dict[str, Any]] = {
    "rnn": {"embedding": 6, "hidden": 8, "encoder": RECURRENT},
    "rnnsearch": {"embedding": 6, "hidden": 8, "readout": 6, "encoder": RECURRENT},
    "luong": {"embedding": 6, "hidden": 8, "encoder": RECURRENT},
    "convs2s": {"encoder": CONVOLUTIONAL, "decoder": {"embedding": 6, "channels": (8, 8, 10), "kernels": (3, 1, 5)}},
    "bytenet": {"width": 4, "dilations": (1, 2, 4), "sets": 1},
    "transformer": {"width": 8, "heads": 2, "inner": 12, "layers": 2},
}


def _variants() -> dict[str, tuple[str, dict[str, Any]]]:
    found: dict[str, tuple[str, dict[str, Any]]] = {family: (family, {}) for family in FAMILIES}

    def add(label: str, family: str, **changes: Any) -> None:
        found[f"{family}-{label}"] = (family, changes)

    for family in ("rnn", "rnnsearch", "luong"):
        for cell in ("tanh", "gru", "lstm"):
            add(cell, family, cell=cell, encoder={"cell": cell})
        for kind in ("convolutional", "transformer"):
            add(kind, family, encoder=ENCODERS[kind])
    for kind, encoder in ENCODERS.items():
        add(kind, "transformer", encoder=encoder)
    add("3 residual layers", "rnn", layers=3, residual=True, encoder={"layers": 3, "residual": True})
    add("first state", "rnn", context="first state", layers=2, cell="lstm", encoder={"bidirectional": False})
    add("2 residual layers", "luong", layers=2, residual=True, encoder={"layers": 2, "residual": True})
    add("3 layers, one way", "luong", layers=3, encoder={"layers": 3, "bidirectional": False, "hidden": 8})
    add("2 encoder layers", "rnnsearch", encoder={"layers": 2, "residual": True})
    add("maxout", "rnnsearch", maxout=True)
    add("location_aware", "rnnsearch", attention={"score": "location_aware"})
    add("cumulative", "rnnsearch", attention={"score": "location_aware", "cumulative": True})
    add("heads", "rnnsearch", attention={"heads": 2})
    add("sparsemax", "rnnsearch", attention={"normaliser": "sparsemax"})
    add("entmax", "rnnsearch", attention={"normaliser": "entmax15"})
    for score in ("dot", "scaled_dot", "general", "additive", "cosine", "location", "location_aware"):
        for feeding in (True, False):
            add(f"{score}{'-fed' * feeding}", "luong", attention={"score": score}, input_feeding=feeding)
    for scope in ("local-m", "local-p"):
        for feeding in (True, False):
            attention = {"scope": scope, "window": 2}
            add(f"{scope}{'-fed' * feeding}", "luong", attention=attention, input_feeding=feeding)
    add("local-m heads", "luong", attention={"scope": "local-m", "window": 1, "heads": 2})
    add("short location", "luong", attention={"score": "location", "max_length": 3}, input_feeding=False)
    add("heads", "luong", attention={"heads": 4})
    add("location_aware heads", "luong", attention={"score": "location_aware", "heads": 2}, input_feeding=False)
    add("sparsemax", "luong", attention={"normaliser": "sparsemax"}, input_feeding=False)
    add("entmax", "luong", attention={"normaliser": "entmax15"})
    for positions in ("none", "learned", "rotary", "alibi", "relative"):
        add(positions, "transformer", positions=positions)
    today = {"positions": "rotary", "qk_norm": True, "activation": "swiglu", "norm": "rms"}
    add("today", "transformer", heads=4, kv_heads=2, **today)
    add("one kv head", "transformer", heads=4, kv_heads=1, positions="relative")
    add("qk_norm", "transformer", qk_norm=True, activation="gelu")
    add("post-norm", "transformer", norm_first=False, tie="none")
    add("all tied", "transformer", tie="all")
    add("deep encoder", "transformer", encoder_layers=3, layers=1, norm="rms")
    add("short table", "transformer", positions="learned", max_length=3)
    add("short table", "convs2s", encoder={"max_length": 3}, decoder={"max_length": 3})
    for percent in (50, 100, 150):
        add(f"{percent}%", "bytenet", percent=percent, extra=0 if percent < 150 else 2)
    add("two sets", "bytenet", dilations=(1, 3), sets=2, kernel=2)
    return found


VARIANTS = _variants()
# Crossings of parts that other variants have: each cell, encoder and score is tried once, in one family, and every one
# in every family by `make test-slow`.
CROSSED = {
    *(f"rnn-{part}" for part in ("gru", "lstm", "convolutional", "transformer")),
    *(f"rnnsearch-{part}" for part in ("tanh", "gru", "transformer", "location_aware", "2 encoder layers")),
    *(f"luong-{part}" for part in ("tanh", "gru", "lstm", "convolutional", "location_aware")),
    *(f"luong-{score}-fed" for score in ("dot", "scaled_dot", "general", "additive", "cosine", "location")),
    *(f"luong-{score}" for score in ("dot", "scaled_dot", "cosine", "location_aware heads")),
    *("luong-local-m-fed", "luong-sparsemax", "luong-entmax", "luong-heads", "bytenet-100%"),
    *(f"transformer-{part}" for part in ("transformer", "convolutional", "none", "rotary", "qk_norm", "deep encoder")),
}


def tried(variants: Iterable[str]) -> list[Any]:
    """Parameters of a test: crossings are slow."""
    return [pytest.param(name, marks=pytest.mark.slow if name in CROSSED else []) for name in variants]


ALL = pytest.mark.parametrize("variant", tried(VARIANTS))


def in_both_precisions(variants: Iterable[str]) -> Any:
    """Double is the sharper one; single is tried on each family, and on every variant by `make test-slow`."""
    later = {variant: [] if variant in FAMILIES else [pytest.mark.slow] for variant in variants}
    double = [
        pytest.param(
            variant, torch.float64, id=f"{variant}-f64", marks=[pytest.mark.slow] if variant in CROSSED else []
        )
        for variant in later
    ]
    single = [
        pytest.param(variant, torch.float32, id=f"{variant}-f32", marks=marks) for variant, marks in later.items()
    ]
    return pytest.mark.parametrize(("variant", "dtype"), double + single)


@pytest.fixture(autouse=True, scope="module")
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


@cache
def model_of(variant: str, dtype: torch.dtype = torch.float64) -> Model[Any, Any]:
    """Built once for each test session; whoever changes it takes a copy."""
    family, changes = VARIANTS[variant]
    base = SMALL[family]
    if changes.get("encoder", {}).get("kind", "") != "":
        base = {name: value for name, value in base.items() if name != "encoder"}
    torch.manual_seed(len(variant))
    model = build(
        family,
        "tiny",
        source_vocabulary=TARGET_WORDS if changes.get("tie") == "all" else SOURCE_WORDS,
        target_vocabulary=TARGET_WORDS,
        **_merged(base, changes),
    )
    for parameter in model.parameters():
        parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model.to(dtype).eval()


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return base | {
        name: _merged(base[name], value) if isinstance(value, dict) and name in base else value
        for name, value in changes.items()
    }


Pairs = list[tuple[list[int], list[int]]]
sources = st.lists(st.integers(3, SOURCE_WORDS - 1), min_size=1, max_size=7)
targets = st.lists(st.integers(3, TARGET_WORDS - 1), min_size=0, max_size=8)
pairs_of_ids = st.lists(st.tuples(sources, targets), min_size=1, max_size=4)
FIXED: Pairs = [([5, 6, 7, 8, 9], [4, 5, 6, 7, 8, 9]), ([4, 5], [5]), ([9], []), ([9, 8, 7], [3, 13, 4, 4])]


def property_test(test: Callable[..., None]) -> Callable[..., None]:
    return settings(max_examples=EXAMPLES, deadline=None)(given(pairs=pairs_of_ids)(test))


def batch_of(pairs: Pairs) -> Batch:
    return Batch.of([source for source, _ in pairs], [target for _, target in pairs])


def stepped(model: Model[Any, Any], batch: Batch) -> Tensor:
    """(B, T, V): the logits of decoding the given targets one position at a time."""
    memory = model.encode(batch.source, batch.source_mask)
    state, rows = model.start(memory), []
    for tokens in batch.target_in.unbind(dim=1):
        logits, state = model.step(tokens, memory, state)
        rows.append(logits)
    return torch.stack(rows, dim=1)


def leaves(tree: Any) -> list[Tensor]:
    found: list[Tensor] = []
    map_tensors(tree, lambda x: found.append(x) or x)
    return found


def close(got: Tensor, expected: Tensor) -> None:
    assert got.dtype == expected.dtype
    torch.testing.assert_close(got, expected, rtol=0, atol=TOLERANCE[expected.dtype])


# ------------------------------------------------------------------------------------------------ one pass, two ways


@in_both_precisions(VARIANTS)
@property_test
def test_steps_equal_forward(variant: str, dtype: torch.dtype, pairs: Pairs):
    model, batch = model_of(variant, dtype), batch_of(pairs)
    logits = model(batch).logits
    assert logits.shape == (*batch.target_in.shape, TARGET_WORDS)
    close(stepped(model, batch), logits)


@ALL
@given(pairs=pairs_of_ids, place=st.integers(0, 6))
@settings(max_examples=EXAMPLES, deadline=None)
def test_what_is_said_later_changes_nothing_earlier(variant: str, pairs: Pairs, place: int):
    model, batch = model_of(variant, torch.float32), batch_of([*pairs, *FIXED[:1]])
    before = model(batch).logits
    later = batch.target_in.clone()
    later[:, place:] = 3 + (later[:, place:] + 1) % (TARGET_WORDS - 3)
    after = model(Batch(batch.source, batch.source_mask, later, batch.target_out, batch.target_mask)).logits
    assert torch.equal(before[:, :place], after[:, :place])
    assert not torch.equal(before[:, place], after[:, place])


@in_both_precisions(VARIANTS)
@property_test
def test_a_batch_equals_its_sentences_alone(variant: str, dtype: torch.dtype, pairs: Pairs):
    model = model_of(variant, dtype)
    longer = ([3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 3])
    together = model(batch_of([*pairs, longer])).logits
    for row, (source, target) in enumerate(pairs):
        close(together[row, : len(target) + 1], model(batch_of([(source, target)])).logits[0])


@in_both_precisions(VARIANTS)
@given(pairs=pairs_of_ids, columns=st.tuples(st.integers(1, 9), st.integers(1, 9)))
@settings(max_examples=EXAMPLES, deadline=None)
def test_columns_of_padding_change_nothing(variant: str, dtype: torch.dtype, pairs: Pairs, columns: tuple[int, int]):
    model, batch = model_of(variant, dtype), batch_of(pairs)
    more_source, more_target = columns
    padded = Batch(
        F.pad(batch.source, (0, more_source), value=PAD),
        F.pad(batch.source_mask, (0, more_source), value=False),
        F.pad(batch.target_in, (0, more_target), value=PAD),
        F.pad(batch.target_out, (0, more_target), value=PAD),
        F.pad(batch.target_mask, (0, more_target), value=False),
    )
    length = batch.target_in.size(1)
    close(model(padded).logits[:, :length], model(batch).logits)
    close(stepped(model, padded)[:, :length], model(batch).logits)


@ALL
def test_what_stands_in_padding_does_not_matter(variant: str):
    batch = batch_of(FIXED)
    seen = []
    for garbage in (0.0, 1e4):
        model = copy.deepcopy(model_of(variant))
        for module in model.modules():
            if isinstance(module, nn.Embedding) and module.padding_idx == PAD:
                module.weight[PAD] = garbage
        seen.append(model(batch).logits[batch.target_mask][:, PAD + 1 :])  # a tied PAD still has a logit of its own
    assert torch.equal(*seen)


@ALL
def test_the_order_of_a_batch_is_carried_over(variant: str):
    model = model_of(variant)
    order = [2, 0, 3, 1]
    straight, turned = model(batch_of(FIXED)).logits, model(batch_of([FIXED[row] for row in order])).logits
    close(turned, straight[order])


@ALL
def test_a_mask_may_be_flat_or_one_for_all(variant: str):
    model = model_of(variant)
    source = torch.tensor([[4, 5, 6, 7], [8, 9, 10, 11]])
    tokens = torch.tensor([BOS, BOS])
    seen = []
    for shape in ((2, 1, 4), (2, 4), (1, 1, 4)):
        memory = model.encode(source, torch.ones(shape, dtype=torch.bool))
        assert all(leaf.size(0) == 2 for leaf in leaves(memory))
        seen.append(model.step(tokens, memory, model.start(memory))[0])
    assert torch.equal(seen[0], seen[1])
    assert torch.equal(seen[0], seen[2])


@pytest.mark.parametrize("variant", FAMILIES)  # of a variant, steps would not equal forward
def test_without_training_two_calls_are_one(variant: str):
    model, batch = model_of(variant, torch.float32), batch_of(FIXED)
    assert torch.equal(model(batch).logits, model(batch).logits)
    assert torch.equal(stepped(model, batch), stepped(model, batch))


@pytest.mark.parametrize("variant", FAMILIES)
def test_training_drops_something(variant: str):
    model, batch = copy.deepcopy(model_of(variant)).train(), batch_of(FIXED)
    assert not torch.equal(model(batch).logits, model(batch).logits)


# --------------------------------------------------------------------------------------------------- memory and state


@ALL
def test_memory_and_state_are_trees_of_tensors_with_the_batch_first(variant: str):
    model, batch = model_of(variant), batch_of(FIXED)
    memory = model.encode(batch.source, batch.source_mask)
    state = model.start(memory)
    assert all(leaf.size(0) == len(batch) for leaf in leaves(memory))
    kept = [leaf.clone() for leaf in leaves(memory)]
    first = shape_of(state)
    grows = VARIANTS[variant][0] == "transformer"
    for step, tokens in enumerate(batch.target_in.unbind(dim=1)):
        assert all(leaf.size(0) == len(batch) for leaf in leaves(state))
        assert shape_of(state, forget=2 if grows else None) == shape_of(
            model.start(memory), forget=2 if grows else None
        )
        assert not grows or {leaf.size(2) for leaf in leaves(state)} == {step}
        earlier, before = state, [leaf.clone() for leaf in leaves(state)]
        _, state = model.step(tokens, memory, state)
        # A step writes into nothing that it was given: beams share it.
        assert all(map(torch.equal, leaves(earlier), before))
    assert shape_of(model.start(memory)) == first
    assert all(map(torch.equal, leaves(memory), kept))


def shape_of(tree: Any, forget: int | None = None) -> Any:
    """The types and names of the branches, the shape and type of every leaf; one dimension may be left out."""
    if isinstance(tree, Tensor):
        return (tree.dtype, *(size for place, size in enumerate(tree.shape) if place != forget))
    assert isinstance(tree, tuple)
    return type(tree).__name__, [shape_of(branch, forget) for branch in tree]


@in_both_precisions(VARIANTS)
def test_a_reordered_state_goes_on_as_the_reordered_batch_would(variant: str, dtype: torch.dtype):
    model, batch = model_of(variant, dtype), batch_of(FIXED)
    rows = torch.tensor([3, 0, 0, 2, 1, 3])
    tokens = batch.target_in[:, :6]
    memory = model.encode(batch.source, batch.source_mask)
    state = model.start(memory)
    for step in range(3):
        _, state = model.step(tokens[:, step], memory, state)
    memory, state = reorder(memory, rows), reorder(state, rows)
    turned = Batch(batch.source[rows], batch.source_mask[rows], tokens[rows], tokens[rows], tokens[rows] != PAD)
    expected = stepped(model, turned)
    for step in range(3, 6):
        logits, state = model.step(tokens[rows, step], memory, state)
        close(logits, expected[:, step])


@ALL
def test_keys_are_projected_once_for_each_source(variant: str, monkeypatch: pytest.MonkeyPatch):
    model, batch = model_of(variant), batch_of(FIXED)
    calls: Counter[str] = Counter()
    hooks = [model.encoder.register_forward_hook(lambda *_: calls.update(["encoder"]))]
    crossing = [name for name, module in attentions(model.decoder) if kind_of(module) == "cross"]
    for name, module in attentions(model.decoder):
        _count(monkeypatch, module, "prepare", name, calls)
        for part_name, part in module.named_modules():
            if name in crossing and part_name.split(".")[-1] in ("key_projection", "key_map", "bilinear"):
                hooks.append(part.register_forward_hook(lambda *_, key=f"{name}.{part_name}": calls.update([key])))
    memory = model.encode(batch.source, batch.source_mask)
    after_encoding = calls.copy()
    assert calls["encoder"] == 1
    assert all(calls[name] == 1 for name in crossing)
    state = model.start(memory)
    for step in range(5):
        _, state = model.step(batch.target_in[:, step], memory, state)
    growing = {name for name, _ in attentions(model.decoder)} - set(crossing)
    assert calls - after_encoding == Counter(dict.fromkeys(growing, 5))
    calls.clear()
    model(batch)
    assert set(calls.values()) == {1}
    for hook in hooks:
        hook.remove()


def _count(monkeypatch: pytest.MonkeyPatch, module: nn.Module, method: str, name: str, calls: Counter[str]) -> None:
    original = getattr(module, method)

    def counted(*args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        return original(*args, **kwargs)

    monkeypatch.setattr(module, method, counted, raising=True)


def attentions(module: nn.Module) -> list[tuple[str, Attention]]:
    """The attentions of a part, without the mechanisms inside MultiHead."""
    found = [(name, part) for name, part in module.named_modules() if isinstance(part, Attention)]
    return [(name, part) for name, part in found if not name.endswith(".mechanism")]


def kind_of(module: Attention) -> str:
    mechanism = module.mechanism if isinstance(module, MultiHead) else module
    return "decoder" if mechanism.scope.name == "causal" else "cross"


# --------------------------------------------------------------------------------------------------- what is looked at


def has_no_attention(variant: str) -> bool:
    family, changes = VARIANTS[variant]
    return family == "bytenet" or (family == "rnn" and changes.get("encoder", {}).get("kind") != "transformer")


ATTENTIVE = [variant for variant in VARIANTS if not has_no_attention(variant)]
LOOKING = pytest.mark.parametrize("variant", tried(ATTENTIVE))


@pytest.mark.parametrize("variant", list(filter(has_no_attention, VARIANTS)))
def test_a_family_without_attention_shows_none(variant: str):
    assert model_of(variant).look(batch_of(FIXED)) == ()


@LOOKING
def test_every_layer_is_shown_under_its_name(variant: str):
    model, batch = model_of(variant), batch_of(FIXED)
    family, changes = VARIANTS[variant]
    config = model.config
    kind = changes.get("encoder", {}).get("kind")
    expected: list[tuple[str, int, int]] = []  # kind, layer, heads
    if kind == "transformer":
        expected += [("encoder", layer, 2) for layer in range(TRANSFORMER["layers"])]
    if family == "transformer":
        if kind is None:
            expected += [("encoder", layer, config.heads) for layer in range(config.encoder_layers or config.layers)]
        expected += [(kind, layer, config.heads) for layer in range(config.layers) for kind in ("decoder", "cross")]
    elif family == "convs2s":
        expected += [("cross", layer, 1) for layer in range(3)]
    elif family != "rnn":
        expected.append(("cross", 0, config.attention.heads))
    looks = model.look(batch)
    sides = {"encoder": batch.source.size(1), "decoder": batch.target_in.size(1), "cross": batch.target_in.size(1)}
    keys = sides | {"cross": batch.source.size(1)}
    assert [(look.kind, look.layer) for look in looks] == [(kind, layer) for kind, layer, _ in expected]
    for look, (kind, _, heads) in zip(looks, expected, strict=True):
        assert look.weights.shape == (len(batch), heads, sides[kind], keys[kind])


@LOOKING
@property_test
def test_weights_lie_on_what_may_be_looked_at(variant: str, pairs: Pairs):
    model, batch = model_of(variant, torch.float32), batch_of(pairs)
    words = batch.source_mask.squeeze(1)
    for look in model.look(batch):
        weights = look.weights
        assert weights.min() >= 0
        real = words if look.kind == "encoder" else batch.target_mask
        if look.kind == "decoder":
            assert not weights.triu(diagonal=1).any()
        else:
            assert not weights.masked_fill(batch.source_mask.unsqueeze(1), 0.0).any()
        sums = weights.sum(dim=-1).transpose(1, 2)[real]
        expected = expected_sums(variant, look, batch).transpose(1, 2)[real]
        if "local-p" in variant:
            assert (sums <= expected + 1e-6).all()
            assert (sums > 0).all()
        else:
            torch.testing.assert_close(sums, expected, rtol=0, atol=1e-6)


def expected_sums(variant: str, look: Look, batch: Batch) -> Tensor:
    """(B, H, Tq): 1, but 0 where a local window has run past the end of the source."""
    sums = torch.ones(look.weights.shape[:3])
    if "local-m" in variant:
        window = VARIANTS[variant][1]["attention"]["window"]
        first = torch.arange(look.weights.size(2)) - window
        sums = sums * (first < batch.source_mask.sum(dim=-1)).unsqueeze(1)
    return sums


@in_both_precisions(ATTENTIVE)
@property_test
def test_what_is_shown_is_what_the_steps_looked_at(variant: str, dtype: torch.dtype, pairs: Pairs):
    model, batch = model_of(variant, dtype), batch_of(pairs)
    looks = model.look(batch)
    watched = watch_steps(model, batch)
    assert [(look.kind, look.layer) for look in looks] == list(watched)
    for look in looks:
        real = batch.source_mask.squeeze(1) if look.kind == "encoder" else batch.target_mask
        close(look.weights.transpose(1, 2)[real], watched[look.kind, look.layer].transpose(1, 2)[real])


def watch_steps(model: Model[Any, Any], batch: Batch) -> dict[tuple[str, int], Tensor]:
    """The weights of every `attend` while decoding step by step, by kind and layer, with nothing of `look`."""
    seen: list[tuple[str, Tensor]] = []
    parts = [("encoder", part) for _, part in attentions(model.encoder)]
    parts += [(kind_of(part), part) for _, part in attentions(model.decoder)]

    def watch(kind: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def attend(*args: Any, **kwargs: Any) -> Any:
            context, weights = original(*args, **(kwargs | {"need_weights": True}))
            seen.append((kind, weights))
            return context, weights

        return attend

    with pytest.MonkeyPatch.context() as patch:
        for kind, part in parts:
            patch.setattr(part, "attend", watch(kind, part.attend), raising=True)
        memory = model.encode(batch.source, batch.source_mask)
        rows: dict[tuple[str, int], list[Tensor]] = {}
        _file(rows, seen)
        state = model.start(memory)
        for tokens in batch.target_in.unbind(dim=1):
            _, state = model.step(tokens, memory, state)
            _file(rows, seen)
    length = batch.target_in.size(1)
    return {
        name: torch.cat([F.pad(row, (0, length - row.size(-1))) if name[0] == "decoder" else row for row in found], 2)
        for name, found in rows.items()
    }


def _file(rows: dict[tuple[str, int], list[Tensor]], seen: list[tuple[str, Tensor]]) -> None:
    """Sorts the calls of one step under their layers, and forgets them."""
    layers: Counter[str] = Counter()
    for kind, weights in seen:
        rows.setdefault((kind, layers[kind]), []).append(weights)
        layers[kind] += 1
    seen.clear()


@in_both_precisions(ATTENTIVE)
@property_test
def test_looking_does_not_change_what_is_said(variant: str, dtype: torch.dtype, pairs: Pairs):
    model, batch = model_of(variant, dtype), batch_of(pairs)
    fused, written_out = model(batch), model(batch, need_weights=True)
    assert fused.looks == ()
    close(written_out.logits, fused.logits)


# ------------------------------------------------------------------------------------------- parameters and precision


@ALL
def test_saved_and_loaded_it_says_the_same(variant: str, tmp_path: Path):
    model, batch = model_of(variant, torch.float32), batch_of(FIXED)
    state = model.state_dict()
    assert sum(tensor.numel() for tensor in state.values()) == parameters(model)
    save_file(state, tmp_path / "model.safetensors")
    fresh = copy.deepcopy(model)
    for parameter in fresh.parameters():
        parameter.fill_(7.0)
    fresh.load_state_dict(load_file(tmp_path / "model.safetensors"), strict=True)
    assert torch.equal(fresh(batch).logits, model(batch).logits)


def learns_nothing(model: Model[Any, Any], name: str) -> bool:
    """The parameters without effect, each for a reason."""
    owner, _, parameter = name.rpartition(".")
    if name == "encoder.blank":  # ByteNet: no column stands behind the last word
        return model.encoder.columns(10) <= 10
    if parameter == "bias" and owner.endswith("key_projection"):
        # The same number on every score of a row leaves its softmax as it is; but not if the key is turned by its
        # position, normed, or goes through tanh on the way.
        heads = model.get_submodule(owner.removesuffix(".key_projection"))
        straight = type(heads.mechanism) in (Dot, ScaledDot, General)
        return straight and heads.key_norm is None and heads.positions != "rotary"
    return False


@ALL
def test_every_parameter_learns(variant: str):
    model = copy.deepcopy(model_of(variant)).train()
    batch = batch_of([*FIXED, ([5, 6, 3, 3, 9, 10, 11], [4, 6, 8, 10, 12, 3])])
    torch.manual_seed(0)
    with torch.enable_grad():
        logits = model(batch).logits
        F.cross_entropy(logits[batch.target_mask], batch.target_out[batch.target_mask]).backward()
    silent = set()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        if parameter.grad.abs().max() < 1e-12:
            silent.add(name)
    assert silent == {name for name, _ in model.named_parameters() if learns_nothing(model, name)}


class Precisions(TorchDispatchMode):
    """Notes every floating-point type that any operation is given or gives back."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[torch.dtype, str] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for part in (*args, result):
            for tensor in part if isinstance(part, tuple | list) else [part]:
                if isinstance(tensor, Tensor) and tensor.is_floating_point():
                    self.seen.setdefault(tensor.dtype, str(func))
        return result


@ALL
def test_double_precision_stays_double(variant: str):
    model, batch = model_of(variant), batch_of([([5, 6, 7], [4, 5]), ([9], [])])
    with Precisions() as precisions:
        outputs = [model(batch).logits, *(look.weights for look in model.look(batch)), stepped(model, batch)]
    # Relative positions choose a bucket, a whole number, by the logarithm of a distance; nothing else is single.
    if VARIANTS[variant][1].get("positions") == "relative":
        precisions.seen.pop(torch.float32)
    assert set(precisions.seen) == {torch.float64}, precisions.seen
    assert {output.dtype for output in outputs} == {torch.float64}
