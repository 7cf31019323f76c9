"""What every mechanism promises, whatever it scores: each of them, under each normaliser, within each scope."""

import copy
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from depth import THOROUGH
from seq2see.attention import (
    Additive,
    Attention,
    Cosine,
    Dot,
    General,
    Location,
    LocationAware,
    Mechanism,
    MultiHead,
    ScaledDot,
)
from seq2see.attention.normalise import NORMALISERS
from seq2see.attention.positions import POSITIONS
from seq2see.attention.scopes import SCOPES
from seq2see.attention.scores import SCORES

QUERY = 4
OTHER = 3  # the width of keys wherever it may differ from that of the query
REACH = 4  # max_length of Location: shorter than some of the sources drawn here
WINDOW = 1

CASES: dict[str, Callable[..., Attention]] = {
    "dot": functools.partial(Dot, QUERY, QUERY),
    "scaled_dot": functools.partial(ScaledDot, QUERY, QUERY),
    "general": functools.partial(General, QUERY, OTHER),
    "additive": functools.partial(Additive, QUERY, OTHER, hidden=5),
    "additive-bias": functools.partial(Additive, QUERY, OTHER, bias=True),
    "cosine": functools.partial(Cosine, QUERY, QUERY),
    "cosine-sharp": functools.partial(Cosine, QUERY, QUERY, sharpness=3.0),
    "location": functools.partial(Location, QUERY, OTHER, max_length=REACH),
    "location_aware": functools.partial(LocationAware, QUERY, OTHER, filters=2, kernel=3),
    "location_aware-sum": functools.partial(LocationAware, QUERY, OTHER, filters=2, kernel=5, cumulative=True),
}
SINGLE = tuple(CASES)
for _score in SCORES:
    CASES[f"heads-{_score}"] = functools.partial(MultiHead, QUERY, OTHER, heads=2, score=_score, max_length=REACH)
for _positions in POSITIONS[1:]:
    CASES[f"heads-{_positions}"] = functools.partial(
        MultiHead, QUERY, OTHER, heads=2, positions=_positions, max_length=REACH
    )


def heads_of_location_aware(**options) -> MultiHead:
    """With a small convolution, so that finite differences over its parameters stay quick."""
    attention = MultiHead(QUERY, OTHER, heads=2, score="location_aware", **options)
    attention.mechanism = LocationAware(2, 2, filters=2, kernel=3, heads=2, **options)
    return attention


CASES["heads-location_aware"] = heads_of_location_aware
CASES["heads-grouped"] = functools.partial(MultiHead, QUERY, OTHER, heads=2, kv_heads=1)
CASES["heads-grouped-additive"] = functools.partial(MultiHead, QUERY, OTHER, heads=2, kv_heads=1, score="additive")
CASES["heads-qk_norm"] = functools.partial(MultiHead, QUERY, OTHER, heads=2, qk_norm=True)
CASES["heads-modern"] = functools.partial(
    MultiHead, QUERY, OTHER, heads=4, kv_heads=2, width=8, qk_norm=True, positions="rotary", bias=False
)
CASES["heads-sharp"] = functools.partial(MultiHead, QUERY, OTHER, heads=2, score="cosine", sharpness=2.0)

BAG_OF_KEYS = [name for name in CASES if "location" not in name and not name.endswith(POSITIONS[1:])]
BAG_OF_KEYS.remove("heads-modern")

# Scores within heads that are tried alone as well, and settings of a score: every one of them in `make test-slow`.
CROSSED = {"heads-dot", "heads-general", "heads-cosine", "heads-location", "heads-sharp", "heads-grouped-additive"}
every_case = pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow if case in CROSSED else []) for case in CASES]
)


@functools.cache
def build(case: str, normaliser: str, scope: str, dtype: torch.dtype = torch.float64) -> Attention:
    with torch.random.fork_rng():
        torch.manual_seed(sum(map(ord, case + normaliser + scope)))
        attention = CASES[case](normaliser=normaliser, scope=scope, window=WINDOW)
        with torch.no_grad():
            for name, parameter in attention.named_parameters():
                if name.endswith(("bias", "norm.weight")):  # as after training: not zeros, not ones
                    parameter.uniform_(0.5, 1.5)
    return attention.to(dtype).eval()


def variants(case: str, dtype: torch.dtype = torch.float64) -> Iterator[tuple[str, str, Attention]]:
    """Every scope, with the normalisers in turn: each case has all of both, and all cases together every pair of them.

    `make test-slow` tries every pair with every case.
    """
    turn = list(CASES).index(case)
    for (row, scope), (column, normaliser) in itertools.product(enumerate(SCOPES), enumerate(NORMALISERS)):
        if THOROUGH or (row + turn) % len(NORMALISERS) == column:
            yield normaliser, scope, build(case, normaliser, scope, dtype)


def softmax_variants(case: str, dtype: torch.dtype) -> Iterator[tuple[str, str, Attention]]:
    """Every scope with softmax, which is what the fused kernel knows."""
    for scope in SCOPES:
        yield "softmax", scope, build(case, "softmax", scope, dtype)


class Inputs(NamedTuple):
    query: Tensor
    keys: Tensor
    values: Tensor
    mask: Tensor | None

    def leaves(self) -> list[Tensor]:
        return [x.detach().clone().requires_grad_() for x in (self.query, self.keys, self.values)]


def make(
    attention: Attention,
    seed: int,
    batch: int = 2,
    queries: int = 3,
    length: int = 5,
    kind: str = "none",
    dtype: torch.dtype = torch.float64,
) -> Inputs:
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)

    value_dim = OTHER if isinstance(attention, MultiHead) else 2
    lengths = torch.randint(1, length + 1, (batch, 1, 1), generator=generator)
    mask: Tensor | None = None
    if kind == "padding":
        mask = torch.arange(length) < lengths
    elif kind == "rows":  # anything at all, with one row that sees nothing
        mask = torch.rand(batch, queries, length, generator=generator) < 0.6
        mask[0, -1] = False
    elif kind == "shared":
        mask = (torch.arange(length) < lengths)[:1]
    elif kind == "nothing":
        mask = torch.arange(length) < lengths
        mask[-1] = False
    return Inputs(
        normal(batch, queries, attention.query_dim),
        normal(batch, length, attention.key_dim),
        normal(batch, length, value_dim),
        mask,
    )


@st.composite
def shapes(draw: st.DrawFn, kinds: tuple[str, ...] = ("rows", "none", "padding", "shared", "nothing")) -> dict:
    """The first choice of each is the one tried first, so it is a telling one, not the smallest."""
    return {
        "seed": draw(st.integers(0, 10_000)),
        "batch": draw(st.sampled_from([2, 1, 3])),
        "queries": draw(st.sampled_from([4, 3, 2, 1])),
        "length": draw(st.sampled_from([6, 4, 3, 2, 1, 7])),
        "kind": draw(st.sampled_from(kinds)),
    }


def examples(count: int) -> settings:
    return settings(max_examples=count, deadline=None, derandomize=True, database=None)


def paths(normaliser: str) -> tuple[bool, ...]:
    """Both values of need_weights where they take different ways; the fused one is for softmax."""
    return (True, False) if normaliser == "softmax" else (True,)


def within_scope(scope: str, queries: int, length: int, offset: int = 0) -> Tensor:
    """(Tq, Tk) by the definition of each scope; local-p, whose centre is predicted, has a test of its own."""
    allowed = torch.zeros(queries, length, dtype=torch.bool)
    for i, j in itertools.product(range(queries), range(length)):
        t = i + offset
        allowed[i, j] = {
            "global": True,
            "local-p": True,
            "local-m": abs(t - j) <= WINDOW,
            "causal": j <= t,
            "sliding-window": t - WINDOW <= j <= t,
        }[scope]
    return allowed


def allowed_of(case: str, scope: str, inputs: Inputs) -> Tensor:
    """(B, Tq, Tk), everything that limits a query taken together."""
    batch, queries, length = inputs.query.size(0), inputs.query.size(1), inputs.keys.size(1)
    allowed = within_scope(scope, queries, length).expand(batch, -1, -1).clone()
    if inputs.mask is not None:
        allowed &= inputs.mask
    if case in ("location", "heads-location"):
        allowed[:, :, REACH:] = False
    return allowed


def gradients(attention: Attention, leaves: list[Tensor], outputs: list[Tensor | None]) -> list[Tensor]:
    """Of a fixed mixture of the outputs, with respect to query, keys, values and every parameter."""
    total = torch.zeros((), dtype=leaves[0].dtype)
    for output in outputs:
        if output is not None:
            mixture = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).cos().view_as(output)
            total = total + (output * mixture).sum()
    targets = [*leaves, *attention.parameters()]
    found = torch.autograd.grad(total, targets, allow_unused=True, materialize_grads=True)
    return list(found)


# --- gradients -------------------------------------------------------------------------------------------------------


def gradient_plan() -> Iterator[Any]:
    """Every mechanism once, masked or not in turn, with scopes and normalisers in turn.

    In `make test-slow` alone: each of them masked and not, with every scope.
    """
    for number, case in enumerate(CASES):
        for turn in range(6 if case in SINGLE else 2):
            scope = SCOPES[(number + turn) % 5]
            plan = (case, NORMALISERS[(number + turn) % 3], scope, (turn + turn // 5) % 2 == 0)
            later = turn != number % 2 or case in CROSSED
            yield pytest.param(*plan, marks=pytest.mark.slow if later else [])


@pytest.mark.parametrize(("case", "normaliser", "scope", "masked"), list(gradient_plan()))
def test_gradients_are_those_of_finite_differences(case: str, normaliser: str, scope: str, masked: bool) -> None:
    """Of four random mixtures of all outputs, to every number of query, keys, values and parameters: within 1e-7."""
    attention = copy.deepcopy(build(case, normaliser, scope))
    leaves = make(attention, 3, batch=2, queries=2, length=3).leaves()
    mask = torch.tensor([[[True, True, False], [True, False, True]], [[False] * 3, [True] * 3]]) if masked else None
    mixtures = torch.randn(4, 1000, generator=torch.Generator().manual_seed(1), dtype=torch.float64)

    def run() -> Tensor:
        outputs = torch.cat([output.flatten() for output in attention(*leaves, mask)])
        return mixtures[:, : outputs.numel()] @ outputs

    targets = [*leaves, *attention.parameters()]
    found = [torch.autograd.grad(mixed, targets, retain_graph=True, materialize_grads=True) for mixed in run()]
    step = 1e-6
    for target, gradient in zip(targets, map(torch.stack, zip(*found, strict=True)), strict=True):
        numbers = target.detach().view(-1)
        slopes = []
        with torch.no_grad():
            for place, value in enumerate(numbers.tolist()):
                numbers[place] = value + step
                above = run()
                numbers[place] = value - step
                slopes.append((above - run()) / (2 * step))
                numbers[place] = value
        assert (gradient.flatten(1) - torch.stack(slopes, dim=1)).abs().max() <= 1e-7


# --- weights ---------------------------------------------------------------------------------------------------------


@every_case
def test_output_dim_is_the_width_of_the_context(case: str) -> None:
    attention = CASES[case]()
    with torch.no_grad():
        context, _ = attention(torch.randn(2, 3, attention.query_dim), torch.randn(2, 5, attention.key_dim))
    assert context.shape == (2, 3, attention.output_dim)


@every_case
@examples(3)
@given(shape=shapes())
def test_weights_sum_to_one_over_what_is_allowed_and_are_zero_elsewhere(case: str, shape: dict) -> None:
    for normaliser, scope, attention in variants(case):
        inputs = make(attention, **shape)
        with torch.no_grad():
            context, weights = attention(*inputs)
        queries, length = inputs.query.size(1), inputs.keys.size(1)
        heads = attention.heads
        width = QUERY if isinstance(attention, MultiHead) else inputs.values.size(-1)
        assert weights.shape == (inputs.query.size(0), heads, queries, length)
        assert context.shape == (inputs.query.size(0), queries, width)
        allowed = allowed_of(case, scope, inputs).unsqueeze(1).expand_as(weights)
        message = f"{normaliser}, {scope}"
        assert (weights >= 0).all(), message
        assert (weights[~allowed] == 0.0).all(), message
        sums, sighted = weights.sum(dim=-1), allowed.any(dim=-1)
        assert (sums[~sighted] == 0.0).all(), message
        if scope == "local-p":
            assert (sums <= 1 + 1e-12).all(), message
        else:
            assert (sums[sighted] - 1).abs().le(1e-12).all(), message
            if normaliser == "softmax":
                assert (weights[allowed] > 0).all(), message
        if not isinstance(attention, MultiHead):
            expected = torch.einsum("bqk,bkd->bqd", weights[:, 0], inputs.values)
            assert torch.allclose(context, expected, rtol=0, atol=1e-12), message


@every_case
@examples(2)
@given(shape=shapes(kinds=("rows", "nothing")))
def test_a_row_that_sees_nothing_is_zero_with_finite_gradients(case: str, shape: dict) -> None:
    for normaliser, scope, attention in variants(case):
        inputs = make(attention, **shape)
        blind = ~allowed_of(case, scope, inputs).any(dim=-1)
        assert blind.any()
        for need_weights in paths(normaliser):
            leaves = inputs.leaves()
            context, weights = attention(*leaves, inputs.mask, need_weights=need_weights)
            assert (context[blind] == 0.0).all(), (normaliser, scope, need_weights)
            assert context.isfinite().all()
            if weights is not None:
                assert (weights.transpose(1, 2)[blind] == 0.0).all()
            found = gradients(attention, leaves, [context, weights])
            assert all(gradient.isfinite().all() for gradient in found), (normaliser, scope, need_weights)
            assert (found[0][blind] == 0.0).all(), (normaliser, scope, need_weights)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("scope", ["local-m", "sliding-window", "causal"])
def test_a_scope_can_hide_everything_too(scope: str, need_weights: bool) -> None:
    attention = build("heads-scaled_dot", "softmax", scope)
    inputs = make(attention, 5, batch=2, queries=6, length=3)
    mask = None
    if scope == "causal":  # padding in front: the first query stands before the first word
        mask = torch.tensor([[[False, True, True]], [[True, True, True]]])
    context, _ = attention(*inputs[:3], mask, need_weights=need_weights)
    blind = ~within_scope(scope, 6, 3).any(dim=-1).expand(2, -1) if mask is None else torch.zeros(2, 6).bool()
    if mask is not None:
        blind[0, 0] = True
    assert blind.any()
    assert (context[blind] == 0.0).all()
    assert (context[~blind] != 0.0).all()


@pytest.mark.parametrize("case", ["dot", "heads-scaled_dot"])
@pytest.mark.parametrize("kind", ["none", "padding", "rows"])
def test_local_p_is_the_formula_of_luong(case: str, kind: str) -> None:
    """p_t = S sigmoid(v^T tanh(W s)); weights = softmax within [p - D, p + D] times exp(-(j - p)^2 / (2 (D/2)^2))."""
    attention = build(case, "softmax", "local-p")
    inputs = make(attention, 8, batch=3, queries=4, length=6, kind=kind)
    with torch.no_grad():
        _, weights = attention(*inputs)
        if isinstance(attention, MultiHead):
            scope, scale = attention.mechanism.scope, 1 / math.sqrt(2)
            queries = attention.query_projection(inputs.query).view(3, 4, 2, 2)
            keys = attention.key_projection(inputs.keys).view(3, 6, 2, 2)
        else:
            scope, scale = attention.scope, 1.0
            queries, keys = inputs.query.unsqueeze(2), inputs.keys.unsqueeze(2)
    sigma = WINDOW / 2
    seen_between = 0
    for b, t, h in itertools.product(range(3), range(4), range(attention.heads)):
        s = queries[b, t, h]
        inner = torch.tanh(scope.hidden.weight[h] @ s)
        mask = torch.ones(6, dtype=torch.bool)
        if inputs.mask is not None:
            mask = inputs.mask[b, t if inputs.mask.size(1) > 1 else 0]
        p = int(mask.sum()) * torch.sigmoid((scope.centre.weight[h, 0] * inner).sum()).item()
        window = [j for j in range(6) if p - WINDOW <= j <= p + WINDOW and mask[j]]
        exponentials = {j: math.exp(scale * float(s @ keys[b, j, h])) for j in window}
        for j in range(6):
            expected = 0.0
            if j in window:
                gaussian = math.exp(-((j - p) ** 2) / (2 * sigma**2))
                expected = exponentials[j] / sum(exponentials.values()) * gaussian
                seen_between += 0 < expected < 1
            assert abs(weights[b, h, t, j].item() - expected) <= 1e-12
    assert seen_between > 10


class Given(Mechanism):
    """Scores that the test has chosen."""

    scores: Tensor

    def score(self, query: Tensor, keys: Tensor, history: Tensor | None = None) -> Tensor:
        return self.scores


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("normaliser", NORMALISERS)
@examples(10)
@given(seed=st.integers(0, 10_000))
def test_finite_at_scores_of_ten_thousand(normaliser: str, dtype: torch.dtype, seed: int) -> None:
    torch.manual_seed(seed)
    for scope in SCOPES:
        attention = Given(QUERY, QUERY, normaliser=normaliser, scope=scope, window=WINDOW).to(dtype)
        inputs = make(attention, seed, queries=4, length=5, kind="rows", dtype=dtype)
        signs = torch.tensor([-1e4, 1e4, 1e4 - 0.5, 0.0], dtype=dtype)
        attention.scores = signs[torch.randint(0, 4, (2, 1, 4, 5))].requires_grad_()
        leaves = inputs.leaves()
        context, weights = attention(*leaves, inputs.mask)
        assert weights is not None
        assert context.isfinite().all()
        assert weights.isfinite().all()
        allowed = allowed_of("given", scope, inputs).unsqueeze(1)
        assert (weights[~allowed] == 0.0).all()
        if scope != "local-p":
            assert (weights.sum(dim=-1)[allowed.any(dim=-1)] - 1).abs().le(1e-6).all()
        found = torch.autograd.grad((weights * torch.rand_like(weights)).sum(), attention.scores)[0]
        assert found.isfinite().all()
        assert (found[~allowed] == 0.0).all()


@pytest.mark.thinned
@every_case
def test_finite_at_huge_inputs(case: str) -> None:
    for normaliser, scope, attention in variants(case, torch.float32):
        inputs = make(attention, 2, queries=4, length=5, kind="rows", dtype=torch.float32)
        leaves = inputs._replace(query=inputs.query * 1e4).leaves()
        for need_weights in paths(normaliser):
            context, weights = attention(*leaves, inputs.mask, need_weights=need_weights)
            assert context.isfinite().all(), (normaliser, scope)
            found = gradients(attention, leaves, [context, weights])
            assert all(gradient.isfinite().all() for gradient in found), (normaliser, scope)


@pytest.mark.parametrize("normaliser", NORMALISERS)
@examples(20)
@given(seed=st.integers(0, 10_000), shift=st.floats(-1e4, 1e4))
def test_a_number_added_to_all_scores_changes_nothing(normaliser: str, seed: int, shift: float) -> None:
    attention = Given(QUERY, QUERY, normaliser=normaliser).double()
    inputs = make(attention, seed, kind="rows")
    attention.scores = torch.randn(2, 1, 3, 5, dtype=torch.float64)
    before = attention(*inputs)[1]
    attention.scores = attention.scores + shift
    after = attention(*inputs)[1]
    assert torch.allclose(before, after, rtol=0, atol=1e-6)


@pytest.mark.parametrize("case", BAG_OF_KEYS)
@examples(5)
@given(shape=shapes(), order=st.randoms(use_true_random=False))
def test_permuting_keys_permutes_weights(case: str, shape: dict, order) -> None:
    for normaliser in NORMALISERS:
        attention = build(case, normaliser, "global")
        query, keys, values, mask = make(attention, **shape)
        permutation = list(range(keys.size(1)))
        order.shuffle(permutation)
        with torch.no_grad():
            context, weights = attention(query, keys, values, mask)
            moved = None if mask is None else mask[..., permutation]
            context_moved, weights_moved = attention(query, keys[:, permutation], values[:, permutation], moved)
        assert torch.allclose(weights[..., permutation], weights_moved, rtol=0, atol=1e-12)
        assert torch.allclose(context, context_moved, rtol=0, atol=1e-12)


# --- prepare, attend, history ----------------------------------------------------------------------------------------


def cut(inputs: Inputs, start: int, stop: int) -> tuple[Tensor, Tensor | None]:
    mask = inputs.mask
    return inputs.query[:, start:stop], mask if mask is None or mask.size(1) == 1 else mask[:, start:stop]


@every_case
@examples(3)
@given(shape=shapes(), stride=st.sampled_from([2, 1, 3]), rows=st.booleans())
def test_step_by_step_equals_all_at_once(case: str, shape: dict, stride: int, rows: bool) -> None:
    for normaliser, scope, attention in variants(case):
        inputs = make(attention, **shape)
        with torch.no_grad():
            context, weights = attention(*inputs)
            prepared = attention.prepare(inputs.keys, inputs.values, inputs.mask)
            again, weights_again = attention.attend(inputs.query, prepared)
            assert torch.equal(context, again)
            assert torch.equal(weights, weights_again)
            history = attention.begin(prepared)
            assert history.size(0) == inputs.query.size(0)
            for start in range(0, inputs.query.size(1), stride):
                query, mask = cut(inputs, start, start + stride)
                offset = torch.full((query.size(0),), start) if rows else start
                part, part_weights = attention.attend(
                    query, prepared._replace(mask=mask), offset=offset, history=history
                )
                history = attention.remember(history, part_weights)
                message = f"{normaliser}, {scope}, step {start}"
                assert torch.allclose(part, context[:, start : start + stride], rtol=0, atol=1e-12), message
                assert torch.allclose(part_weights, weights[:, :, start : start + stride], rtol=0, atol=1e-12), message


@pytest.mark.parametrize("scope", ["local-m", "causal", "sliding-window"])
@every_case
def test_rows_may_stand_at_different_positions(case: str, scope: str) -> None:
    """While decoding, the rows of a batch may have come differently far: offset (B,) equals B single calls."""
    attention = build(case, "softmax", scope)
    query, keys, values, _ = make(attention, 4, batch=3, queries=2, length=6)
    offsets = torch.tensor([3, 0, 5])
    prepared = attention.prepare(keys, values)
    for need_weights in (True, False):
        context, weights = attention.attend(query, prepared, offset=offsets, need_weights=need_weights)
        for row, offset in enumerate(offsets.tolist()):
            one = slice(row, row + 1)
            alone, weights_alone = attention.attend(
                query[one], attention.prepare(keys[one], values[one]), offset=offset
            )
            assert torch.allclose(context[one], alone, rtol=0, atol=1e-12)
            expected = within_scope(scope, 2, 6, offset)
            if case in ("location", "heads-location"):
                expected[:, REACH:] = False
            assert torch.equal((weights_alone > 0).any(dim=1)[0], expected)
            if weights is not None:
                assert torch.allclose(weights[one], weights_alone, rtol=0, atol=1e-12)


def test_only_location_aware_has_a_history() -> None:
    for case in CASES:
        attention = build(case, "softmax", "global")
        inputs = make(attention, 0)
        history = attention.begin(attention.prepare(inputs.keys, inputs.values))
        aware = "location_aware" in case
        assert attention.has_history == aware
        assert history.shape == ((2, attention.heads, 2, 5) if aware else (2, 0))
        assert (history == 0).all()


@pytest.mark.parametrize("case", ["location_aware", "location_aware-sum", "heads-location_aware"])
def test_history_changes_what_is_looked_at(case: str) -> None:
    attention = build(case, "softmax", "global")
    inputs = make(attention, 1, queries=1)
    prepared = attention.prepare(inputs.keys, inputs.values)
    history = attention.begin(prepared)
    first = attention.attend(inputs.query, prepared, history=history)[1]
    second = attention.attend(inputs.query, prepared, history=attention.remember(history, first))[1]
    assert (first - second).abs().max() > 1e-4


# --- what must not matter --------------------------------------------------------------------------------------------


@every_case
@examples(2)
@given(shape=shapes(kinds=("padding", "nothing", "shared", "rows")), garbage=st.sampled_from([1e4, math.nan, math.inf]))
def test_garbage_in_hidden_keys_changes_nothing(case: str, shape: dict, garbage: float) -> None:
    for normaliser, scope, attention in variants(case):
        inputs = make(attention, **shape)
        seen = inputs.mask.any(dim=1).expand(inputs.keys.size(0), -1).unsqueeze(-1)
        zeroed = inputs._replace(keys=inputs.keys.masked_fill(~seen, 0.0), values=inputs.values.masked_fill(~seen, 0.0))
        dirty = inputs._replace(
            keys=inputs.keys.masked_fill(~seen, garbage), values=inputs.values.masked_fill(~seen, -garbage)
        )
        for need_weights in paths(normaliser):
            results = []
            for version in (zeroed, dirty):
                leaves = version.leaves()
                outputs = attention(*leaves, inputs.mask, need_weights=need_weights)
                results.append([*outputs, *gradients(attention, leaves, list(outputs))])
                assert (results[-1][3].masked_fill(seen, 0.0) == 0.0).all()
                assert (results[-1][4].masked_fill(seen, 0.0) == 0.0).all()
            for clean, changed in zip(*results, strict=True):
                assert clean is changed or torch.equal(clean, changed), (normaliser, scope, need_weights)


@every_case
@examples(2)
@given(shape=shapes(kinds=("padding", "rows")), extra=st.integers(1, 3))
def test_more_padding_changes_nothing(case: str, shape: dict, extra: int) -> None:
    for normaliser, scope, attention in variants(case):
        inputs = make(attention, **shape)
        longer = inputs._replace(
            keys=F.pad(inputs.keys, (0, 0, 0, extra), value=7.0),
            values=F.pad(inputs.values, (0, 0, 0, extra), value=7.0),
            mask=F.pad(inputs.mask, (0, extra), value=False),
        )
        with torch.no_grad():
            context, weights = attention(*inputs)
            context_longer, weights_longer = attention(*longer)
        assert torch.allclose(context, context_longer, rtol=0, atol=1e-12), (normaliser, scope)
        assert torch.allclose(weights, weights_longer[..., :-extra], rtol=0, atol=1e-12), (normaliser, scope)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("scope", ["causal", "sliding-window"])
@pytest.mark.thinned
@every_case
def test_the_future_does_not_change_the_past(case: str, scope: str, need_weights: bool) -> None:
    turn = list(CASES).index(case) % len(NORMALISERS)  # without weights, softmax alone takes a way of its own
    for normaliser in NORMALISERS if THOROUGH else [NORMALISERS[turn] if need_weights else "softmax"]:
        attention = build(case, normaliser, scope)
        query, keys, values, _ = make(attention, 6, queries=5, length=5)
        for kind in (None, torch.ones(2, 1, 5, dtype=torch.bool)):
            with torch.no_grad():
                before, _ = attention(query, keys, values, kind, need_weights=need_weights)
                for t in range(5):
                    changed_keys, changed_values = keys.clone(), values.clone()
                    changed_keys[:, t + 1 :] = 1e4
                    changed_values[:, t + 1 :] = -1e4
                    after, _ = attention(query, changed_keys, changed_values, kind, need_weights=need_weights)
                    assert torch.equal(before[:, : t + 1], after[:, : t + 1]), (normaliser, t)
                    if t < 3 and case not in ("location", "heads-location"):
                        assert not torch.equal(before[:, t + 1 :], after[:, t + 1 :])


@every_case
@examples(2)
@given(shape=shapes())
def test_fused_equals_written_out(case: str, shape: dict) -> None:
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        others = [variant for variant in variants(case, dtype) if dtype == torch.float64 and variant[0] != "softmax"]
        for normaliser, scope, attention in (*softmax_variants(case, dtype), *others):
            inputs = make(attention, **shape, dtype=dtype)
            leaves = inputs.leaves()
            written, weights = attention(*leaves, inputs.mask)
            fused, nothing = attention(*leaves, inputs.mask, need_weights=False)
            assert nothing is None
            assert weights is not None
            message = f"{normaliser}, {scope}, {dtype}"
            assert torch.allclose(written, fused, rtol=0, atol=tolerance), message
            expected = gradients(attention, leaves, [written])
            found = gradients(attention, leaves, [fused])
            for one, other in zip(expected, found, strict=True):
                assert torch.allclose(one, other, rtol=tolerance, atol=10 * tolerance), message


@every_case
def test_fused_kernel_runs_where_it_can(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    kernel = F.scaled_dot_product_attention

    def spy(*args, **options):
        calls.append(options)
        return kernel(*args, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    no_product = "additive" in case or "location" in case
    for normaliser, scope, attention in (*softmax_variants(case, torch.float64), *variants(case)):
        inputs = make(attention, 3, queries=4, length=4, kind="padding")
        attention(*inputs)
        assert not calls
        attention(*inputs, need_weights=False)
        possible = not no_product and normaliser == "softmax" and scope != "local-p"
        assert len(calls) == possible, (normaliser, scope)
        calls.clear()


def test_plain_causal_lets_the_kernel_skip_half(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    kernel = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *args, **options: seen.append(options) or kernel(*args, **options)
    )
    attention = build("heads-scaled_dot", "softmax", "causal")
    query, keys, values, _ = make(attention, 0, queries=5, length=5)
    attention(query, keys, values, need_weights=False)
    assert seen[-1].get("is_causal")
    for step in range(5):  # not while decoding: there the one query stands last, not first
        prepared = attention.prepare(keys[:, : step + 1], values[:, : step + 1])
        attention.attend(query[:, step : step + 1], prepared, offset=step, need_weights=False)
        assert not seen[-1].get("is_causal") or step == 0
    prepared = attention.prepare(keys, values)
    for offset in (2, torch.tensor([2, 2])):  # nor where as many queries as keys stand further on
        fused, _ = attention.attend(query, prepared, offset=offset, need_weights=False)
        written, _ = attention.attend(query, prepared, offset=offset)
        assert torch.allclose(fused, written, rtol=0, atol=1e-12)


# --- side effects ----------------------------------------------------------------------------------------------------


def fingerprint(module: nn.Module) -> list[object]:
    found: list[object] = []
    for name, part in module.named_modules():
        plain = {key: value for key, value in vars(part).items() if not key.startswith("_")}
        found.append((name, sorted(vars(part)), plain))
        tensors = itertools.chain(part._parameters.items(), part._buffers.items())
        found += [(key, id(x), None if x is None else (x._version, x.tolist())) for key, x in tensors]
        found.append(sorted(part._modules))
    return found


@pytest.mark.thinned
@every_case
def test_a_call_keeps_nothing_and_changes_no_input(case: str) -> None:
    for _, scope, attention in variants(case):
        inputs = make(attention, 7, queries=4, length=6, kind="rows")
        copies, edits = copy.deepcopy(inputs), [x._version for x in inputs]
        before = fingerprint(attention)
        for need_weights in (True, False):
            leaves = inputs.leaves()
            context, _ = attention(*leaves, inputs.mask, need_weights=need_weights)
            context.sum().backward(inputs=leaves)
            attention(*inputs, need_weights=need_weights)
        prepared = attention.prepare(*inputs[1:])
        versions = [x._version for x in prepared]
        history = attention.begin(prepared)
        history_before = history.clone()
        weights = attention.attend(inputs.query, prepared, history=history)[1]
        attention.remember(history, weights)
        assert torch.equal(history, history_before)
        assert [x._version for x in prepared] == versions
        assert fingerprint(attention) == before, scope
        assert [x._version for x in inputs] == edits
        assert all(torch.equal(one, copied) for one, copied in zip(inputs, copies, strict=True))


@pytest.mark.parametrize("case", ["scaled_dot", "additive", "location_aware", "heads-scaled_dot", "heads-additive"])
def test_dropout_is_for_training_and_for_contexts_only(case: str) -> None:
    torch.manual_seed(0)
    attention = CASES[case](dropout=0.5).double()
    inputs = make(attention, 1, queries=4, length=6)
    calm, weights = attention.eval()(*inputs)
    assert torch.equal(attention(*inputs)[0], calm)
    attention.train()
    for need_weights in (True, False):
        contexts = [attention(*inputs, need_weights=need_weights)[0] for _ in range(2)]
        assert not torch.equal(*contexts)
    if "location_aware" not in case:
        assert torch.equal(attention(*inputs)[1], weights)


@every_case
def test_values_default_to_keys(case: str) -> None:
    attention = build(case, "softmax", "global")
    query, keys, _, mask = make(attention, 9, kind="padding")
    context, weights = attention(query, keys, mask=mask)
    expected, expected_weights = attention(query, keys, keys.clone(), mask)
    assert torch.equal(context, expected)
    assert torch.equal(weights, expected_weights)


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_a_source_without_words_gives_zeros(normaliser: str) -> None:
    attention = build("dot", normaliser, "global")
    query = torch.randn(2, 3, QUERY, dtype=torch.float64)
    context, weights = attention(query, query.new_zeros(2, 0, QUERY))
    assert weights.shape == (2, 1, 3, 0)
    assert torch.equal(context, torch.zeros(2, 3, QUERY, dtype=torch.float64))
