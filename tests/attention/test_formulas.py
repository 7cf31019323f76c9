"""Each formula once more, slowly: by loops from the module's own parameters, and against torch's own attention."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from seq2see.attention import (
    Additive,
    Cosine,
    Dot,
    General,
    Location,
    LocationAware,
    MultiHead,
    ScaledDot,
    entmax15,
    mechanism,
    normalise,
    softmax,
    sparsemax,
)
from seq2see.attention.normalise import NORMALISERS

B, TQ, TK, DQ, DK, DV = 2, 3, 5, 4, 3, 2
quick = settings(max_examples=25, deadline=None, derandomize=True, database=None)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def normal(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64).to(dtype)


def close(one: Tensor, other: Tensor, tolerance: float = 1e-12) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=0, atol=tolerance)


def dot(one: Tensor, other: Tensor) -> float:
    return sum(a * b for a, b in zip(one.tolist(), other.tolist(), strict=True))


def times(matrix: Tensor, vector: Tensor) -> list[float]:
    return [dot(row, vector) for row in matrix]


def exponentials(scores: list[float]) -> list[float]:
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


# --- the table of scores ---------------------------------------------------------------------------------------------


def dot_by_hand(_: Dot, s: Tensor, h: Tensor) -> float:
    return dot(s, h)


def scaled_by_hand(_: ScaledDot, s: Tensor, h: Tensor) -> float:
    return dot(s, h) / math.sqrt(len(h))


def general_by_hand(attention: General, s: Tensor, h: Tensor) -> float:
    return sum(a * b for a, b in zip(s.tolist(), times(attention.bilinear.weight[0], h), strict=True))


def additive_by_hand(attention: Additive, s: Tensor, h: Tensor) -> float:
    """As the paper of Luong writes it: one matrix on the joined vector [s; h]."""
    matrix = torch.cat([attention.query_map.weight[0], attention.key_map.weight[0]], dim=1)
    bias = [0.0] * attention.hidden if attention.key_map.bias is None else attention.key_map.bias[0].tolist()
    inner = [math.tanh(x + b) for x, b in zip(times(matrix, torch.cat([s, h])), bias, strict=True)]
    return sum(v * x for v, x in zip(attention.energy.weight[0, 0].tolist(), inner, strict=True))


def cosine_by_hand(_: Cosine, s: Tensor, h: Tensor) -> float:
    return dot(s, h) / math.sqrt(dot(s, s)) / math.sqrt(dot(h, h))


@pytest.mark.parametrize(
    ("attention", "by_hand"),
    [
        (Dot(DQ, DQ), dot_by_hand),
        (ScaledDot(DQ, DQ), scaled_by_hand),
        (General(DQ, DK), general_by_hand),
        (Additive(DQ, DK), additive_by_hand),
        (Additive(DQ, DK, hidden=7, bias=True), additive_by_hand),
        (Cosine(DQ, DQ), cosine_by_hand),
        (Cosine(DQ, DQ, sharpness=2.5), lambda a, s, h: 2.5 * cosine_by_hand(a, s, h)),
    ],
    ids=["dot", "scaled", "general", "additive", "additive-bias", "cosine", "cosine-sharp"],
)
def test_score_of_a_pair(attention, by_hand) -> None:
    attention = attention.double()
    query, keys, values = normal(B, TQ, attention.query_dim), normal(B, TK, attention.key_dim), normal(B, TK, DV)
    tolerance = 1e-7 if isinstance(attention, Cosine) and attention.log_sharpness is not None else 1e-12
    with torch.no_grad():
        scores = attention.score(query.unsqueeze(1), attention.project_keys(keys.unsqueeze(1)))[:, 0]
        context, weights = attention(query, keys, values)
    for b, t in itertools.product(range(B), range(TQ)):
        expected = [by_hand(attention, query[b, t], keys[b, j]) for j in range(TK)]
        assert scores[b, t].tolist() == pytest.approx(expected, rel=0, abs=tolerance)
        row = exponentials(expected)
        assert weights[b, 0, t].tolist() == pytest.approx(row, rel=0, abs=tolerance)
        summed = [sum(row[j] * values[b, j, d].item() for j in range(TK)) for d in range(DV)]
        assert context[b, t].tolist() == pytest.approx(summed, rel=0, abs=tolerance)


def test_cosine_is_sharpened_by_a_learned_positive_number() -> None:
    query, keys = normal(B, TQ, DQ), normal(B, TK, DQ)
    plain, sharp = Cosine(DQ, DQ).double(), Cosine(DQ, DQ, sharpness=10.0).double()
    assert not list(plain.parameters())
    (parameter,) = sharp.parameters()
    assert parameter.exp().item() == pytest.approx(10.0, rel=1e-6)
    with torch.no_grad():
        entropy = [-(w * w.log()).sum(-1).mean() for w in (plain(query, keys)[1], sharp(query, keys)[1])]
        assert entropy[1] < entropy[0]
        assert close(plain(100 * query, keys / 7)[1], plain(query, keys)[1])
        parameter.fill_(-50.0)  # whatever training does to it, the sharpness stays positive
        assert sharp(query, keys)[1].isfinite().all()
    heads = MultiHead(4, 4, heads=2, score="cosine", sharpness=3.0).mechanism
    assert heads.log_sharpness.shape == (2, 1, 1)


@pytest.mark.parametrize("length", [2, 4, 6])
def test_location_is_cut_and_renormalised(length: int) -> None:
    attention = Location(DQ, DK, max_length=4).double()
    query, keys, values = normal(B, TQ, DQ), normal(B, length, DK), normal(B, length, DV)
    mask = torch.ones(B, 1, length, dtype=torch.bool)
    mask[1, :, length - 1 :] = False
    for given_mask in (None, mask):
        _, weights = attention(query, keys, values, given_mask)
        for b, t in itertools.product(range(B), range(TQ)):
            seen = [j for j in range(min(length, 4)) if given_mask is None or given_mask[b, 0, j]]
            row = exponentials([dot(attention.places.weight[0, j], query[b, t]) for j in seen])
            expected = [row[seen.index(j)] if j in seen else 0.0 for j in range(length)]
            assert weights[b, 0, t].tolist() == pytest.approx(expected, rel=0, abs=1e-12)
        assert (weights[..., 4:] == 0.0).all()
        assert torch.equal(weights, attention(query, normal(B, length, DK), values, given_mask)[1])  # keys: not read


def test_location_sees_nothing_where_only_the_end_is_allowed() -> None:
    attention = Location(DQ, DK, max_length=2).double()
    mask = torch.tensor([[[False, False, True, True]]])
    for normaliser in NORMALISERS:
        attention.normaliser = normaliser
        context, weights = attention(normal(1, 1, DQ), normal(1, 4, DK), mask=mask)
        assert (weights == 0.0).all()
        assert (context == 0.0).all()


@pytest.mark.parametrize("cumulative", [False, True])
def test_location_aware_by_loop(cumulative: bool) -> None:
    filters, kernel, hidden = 2, 3, 6
    attention = LocationAware(DQ, DK, hidden=hidden, filters=filters, kernel=kernel, cumulative=cumulative).double()
    query, keys = normal(1, TQ, DQ), normal(1, TK, DK)
    with torch.no_grad():
        attention.filters.weight.mul_(3)
        context, weights = attention(query, keys)
    previous, total = [0.0] * TK, [0.0] * TK
    for t in range(TQ):
        scores = []
        for j in range(TK):
            features = []
            for f in range(filters):
                value = 0.0
                for channel, signal in enumerate([previous, total] if cumulative else [previous]):
                    for tap in range(kernel):
                        place = j + tap - kernel // 2
                        if 0 <= place < TK:
                            value += attention.filters.weight[f, channel, tap].item() * signal[place]
                features.append(value)
            inner = zip(
                times(attention.query_map.weight[0], query[0, t]),
                times(attention.key_map.weight[0], keys[0, j]),
                attention.key_map.bias[0].tolist(),
                times(attention.filter_map.weight[0], torch.tensor(features, dtype=torch.float64)),
                strict=True,
            )
            scores.append(
                sum(
                    v * math.tanh(sum(parts))
                    for v, parts in zip(attention.energy.weight[0, 0].tolist(), inner, strict=True)
                )
            )
        previous = exponentials(scores)
        total = [a + b for a, b in zip(total, previous, strict=True)]
        assert weights[0, 0, t].tolist() == pytest.approx(previous, rel=0, abs=1e-12)
        expected = [sum(previous[j] * keys[0, j, d].item() for j in range(TK)) for d in range(DK)]
        assert context[0, t].tolist() == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("score", ["general", "additive", "location", "cosine"])
def test_each_head_is_the_mechanism_alone(score: str) -> None:
    """head_i of MultiHead = the mechanism with the parameters of head i, on the i-th part of the projections."""
    attention = MultiHead(4, 3, heads=2, width=6, score=score, hidden=5, sharpness=2.0, max_length=4).double()
    query, keys = normal(B, TQ, 4), normal(B, TK, 3)
    with torch.no_grad():
        output, weights = attention(query, keys)
        projected = [
            projection(x).split(3, dim=-1)
            for projection, x in (
                (attention.query_projection, query),
                (attention.key_projection, keys),
                (attention.value_projection, keys),
            )
        ]
        contexts = []
        for head, (q, k, v) in enumerate(zip(*projected, strict=True)):
            alone = mechanism(score, 3, 3, hidden=5, sharpness=2.0, max_length=4).double()
            for name, parameter in alone.named_parameters():
                parameter.copy_(attention.mechanism.get_parameter(name)[head : head + 1])
            context, row = alone(q, k, v)
            assert close(weights[:, head : head + 1], row)
            contexts.append(context)
        assert close(output, attention.output_projection(torch.cat(contexts, dim=-1)))


# --- torch's own -----------------------------------------------------------------------------------------------------


def some_mask(kind: str) -> Tensor | None:
    if kind == "none":
        return None
    if kind == "padding":
        return torch.arange(TK) < torch.tensor([3, TK]).view(B, 1, 1)
    mask = torch.rand(B, TQ, TK) < 0.5
    mask[:, :, 1] = True  # nn.MultiheadAttention gives NaN for a row that sees nothing
    return mask


both_types = pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
every_mask = pytest.mark.parametrize("kind", ["none", "padding", "rows"])


@both_types
@every_mask
def test_scaled_dot_is_that_of_torch(kind: str, dtype: torch.dtype, tolerance: float) -> None:
    query, keys, values, mask = normal(B, TQ, 8), normal(B, TK, 8), normal(B, TK, DV), some_mask(kind)
    query, keys, values = query.to(dtype), keys.to(dtype), values.to(dtype)
    for need_weights in (True, False):
        context, _ = ScaledDot(8, 8).to(dtype)(query, keys, values, mask, need_weights=need_weights)
        assert close(context, F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), tolerance)


@both_types
@every_mask
@pytest.mark.parametrize("separate", [False, True])
def test_multihead_is_that_of_torch(separate: bool, kind: str, dtype: torch.dtype, tolerance: float) -> None:
    width, heads, key_dim, value_dim = 8, 2, (5 if separate else 8), (6 if separate else 8)
    theirs = nn.MultiheadAttention(width, heads, kdim=key_dim, vdim=value_dim, batch_first=True).to(dtype).eval()
    ours = MultiHead(width, key_dim, heads=heads, value_dim=value_dim).to(dtype).eval()
    with torch.no_grad():
        theirs.in_proj_bias.normal_()
        theirs.out_proj.bias.normal_()
        if separate:
            matrices = (theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight)
        else:
            matrices = theirs.in_proj_weight.chunk(3)
        projections = (ours.query_projection, ours.key_projection, ours.value_projection)
        for projection, matrix, bias in zip(projections, matrices, theirs.in_proj_bias.chunk(3), strict=True):
            projection.weight.copy_(matrix)
            projection.bias.copy_(bias)
        ours.output_projection.load_state_dict(theirs.out_proj.state_dict())
    query, keys, values = normal(B, TQ, width), normal(B, TK, key_dim), normal(B, TK, value_dim)
    query, keys, values = query.to(dtype), keys.to(dtype), values.to(dtype)
    mask = some_mask(kind)
    options: dict[str, Tensor] = {}
    if kind == "padding":
        options["key_padding_mask"] = ~mask[:, 0]
    elif kind == "rows":
        options["attn_mask"] = (~mask).repeat_interleave(heads, dim=0)
    expected, expected_weights = theirs(query, keys, values, average_attn_weights=False, **options)
    averaged = theirs(query, keys, values, **options)[1]
    context, weights = ours(query, keys, values, mask)
    assert close(context, expected, tolerance)
    assert close(weights, expected_weights, tolerance)
    assert close(weights.mean(dim=1), averaged, tolerance)
    assert close(ours(query, keys, values, mask, need_weights=False)[0], expected, tolerance)


@both_types
def test_grouped_heads_are_full_heads_with_shared_keys(dtype: torch.dtype, tolerance: float) -> None:
    grouped = MultiHead(8, 8, heads=4, kv_heads=2).to(dtype)
    full = MultiHead(8, 8, heads=4).to(dtype)
    with torch.no_grad():
        full.query_projection.load_state_dict(grouped.query_projection.state_dict())
        full.output_projection.load_state_dict(grouped.output_projection.state_dict())
        for name in ("key_projection", "value_projection"):
            narrow, wide = getattr(grouped, name), getattr(full, name)
            narrow.bias.normal_()
            wide.weight.copy_(narrow.weight.view(2, 2, 8).repeat_interleave(2, dim=0).reshape(8, 8))
            wide.bias.copy_(narrow.bias.view(2, 2).repeat_interleave(2, dim=0).reshape(8))
    query, keys = normal(B, TQ, 8, dtype=dtype), normal(B, TK, 8, dtype=dtype)
    for one, other in zip(grouped(query, keys), full(query, keys), strict=True):
        assert close(one, other, tolerance)
    assert grouped.prepare(keys).keys.shape == (B, 2, TK, 2)


def test_qk_norm_brings_queries_and_keys_to_one_size() -> None:
    attention = MultiHead(8, 8, heads=2, qk_norm=True).double()
    query, keys = normal(B, TQ, 8), normal(B, TK, 8)
    q = attention.query_projection(query).view(B, TQ, 2, 4).transpose(1, 2)
    k = attention.key_projection(keys).view(B, TK, 2, 4).transpose(1, 2)
    q, k = (x / x.square().mean(-1, keepdim=True).sqrt() for x in (q, k))
    assert close(attention(query, keys)[1], torch.softmax(q @ k.transpose(2, 3) / 2, dim=-1), 1e-9)
    assert close(attention(1e3 * query, keys)[1], attention(query, keys)[1], 1e-9)


# --- normalisers -----------------------------------------------------------------------------------------------------


def bisect(scores: list[float], power: int) -> list[float]:
    """tau with sum max(z - tau, 0)^power = 1, by halving an interval that holds it."""
    low, high = max(scores) - 1, max(scores)
    for _ in range(200):
        middle = (low + high) / 2
        if sum(max(z - middle, 0.0) ** power for z in scores) >= 1:
            low = middle
        else:
            high = middle
    return [max(z - low, 0.0) ** power for z in scores]


@quick
@given(
    st.lists(st.floats(-5, 5), min_size=1, max_size=9),
    st.sampled_from([0.3, 1.0, 20.0]),
    st.randoms(use_true_random=False),
)
def test_sparse_normalisers_by_bisection(scores: list[float], scale: float, choice) -> None:
    scores = [scale * score for score in scores]
    allowed = [choice.random() < 0.8 for _ in scores]
    z = torch.tensor([scores], dtype=torch.float64)
    for hidden in (None, torch.tensor([allowed])):
        seen = [j for j in range(len(scores)) if hidden is None or allowed[j]]
        for kind, power in (("sparsemax", 1), ("entmax15", 2)):
            found = normalise(z, hidden, kind)[0].tolist()
            expected = [0.0] * len(scores)
            if seen:
                for j, weight in zip(seen, bisect([scores[j] / power for j in seen], power), strict=True):
                    expected[j] = weight
            assert found == pytest.approx(expected, rel=0, abs=1e-9)


def test_normalisers_on_known_rows() -> None:
    z = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)
    assert sparsemax(z).tolist() == [0.0, 0.0, 1.0]
    assert entmax15(z).tolist() == [0.0, 0.0, 1.0]
    assert sparsemax(torch.tensor([0.1, 0.5, 0.4], dtype=torch.float64)).tolist() == pytest.approx([0.1, 0.5, 0.4])
    same = torch.full((4,), 7.0, dtype=torch.float64)
    for kind in NORMALISERS:
        assert normalise(same, None, kind).tolist() == pytest.approx([0.25] * 4)
    assert softmax(z).tolist() == pytest.approx(exponentials(z.tolist()))
    close_call = torch.tensor([1.0, 0.0], dtype=torch.float64)  # sparse already for sparsemax, not for entmax
    assert sparsemax(close_call).tolist() == [1.0, 0.0]
    assert 0 < entmax15(close_call)[1] < softmax(close_call)[1]


@quick
@given(seed=st.integers(0, 10_000), size=st.integers(1, 7))
def test_gradients_of_sparse_normalisers_are_the_known_ones(seed: int, size: int) -> None:
    """Jacobian: diag(s) - s s^T / sum(s), with s the support for sparsemax and the square root for entmax 1.5."""
    generator = torch.Generator().manual_seed(seed)
    z = 1.5 * torch.randn(size, generator=generator, dtype=torch.float64)
    for function, root in ((sparsemax, lambda p: (p > 0).to(p.dtype)), (entmax15, torch.sqrt)):
        s = root(function(z))
        expected = torch.diag(s) - torch.outer(s, s) / s.sum()
        assert close(torch.autograd.functional.jacobian(function, z), expected, 1e-9)


# --- additive scores in pieces ---------------------------------------------------------------------------------------


class Largest(TorchDispatchMode):
    """The number of elements of the largest tensor that any operation makes, views aside."""

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            self.numel = max(self.numel, result.untyped_storage().nbytes() // result.element_size())
        return result


CHUNKED = {
    "additive": lambda: Additive(DQ, DK, hidden=16),
    "aware": lambda: LocationAware(DQ, DK, hidden=16, filters=2, kernel=3),
    "heads": lambda: MultiHead(8, DK, heads=2, score="additive", hidden=16),
}


@pytest.mark.parametrize("name", CHUNKED)
@pytest.mark.parametrize(("batch", "queries", "length"), [(5, 4, 3), (2, 3, 9), (2, 9, 4), (1, 5, 7)])
def test_additive_pieces_stay_within_the_budget(
    name: str, batch: int, queries: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    attention = CHUNKED[name]().double()
    heads = attention.heads
    query, keys = normal(batch, queries, attention.query_dim), normal(batch, length, DK)
    mask = torch.arange(length) < torch.randint(1, length + 1, (batch, 1, 1))
    whole = batch * heads * (1 if name == "aware" else queries) * length * 16
    # Projections and scores are not what is cut, so the budget is the largest of them.
    budget = max(batch * heads * max(queries, length) * 16, batch * heads * queries * length)
    if name == "aware":
        budget = max(budget // 2, batch * max(queries, length) * 16)
    results = []
    for limit in (2**24, budget):
        monkeypatch.setattr("seq2see.attention.scores.ADDITIVE_BUDGET", limit)
        leaves = [query.clone().requires_grad_(), keys.clone().requires_grad_()]
        with Largest() as forward:
            context, weights = attention(*leaves, mask=mask)
        with Largest() as backward:
            found = torch.autograd.grad(
                context.square().sum() + weights.square().sum(), [*leaves, *attention.parameters()]
            )
        with torch.no_grad():
            unrecorded, _ = attention(*leaves, mask=mask)
        assert torch.equal(unrecorded, context)
        results.append([context, weights, *found])
        if limit == budget:
            assert forward.numel <= max(budget, 64)
            assert backward.numel <= max(budget, 64)
        elif whole > budget:  # the probe does see the large tensor when there is one
            assert forward.numel >= whole
    for one, other in zip(*results, strict=True):
        assert close(one, other)


def test_pieces_are_computed_again_instead_of_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    attention = Additive(DQ, DK, hidden=16).double()
    query, keys = normal(2, 9, DQ).requires_grad_(), normal(2, 9, DK).requires_grad_()
    whole = 2 * 9 * 9 * 16
    kept = []
    for limit in (2**24, whole // 8):
        monkeypatch.setattr("seq2see.attention.scores.ADDITIVE_BUDGET", limit)
        sizes: dict[int, int] = {}

        def note(x: Tensor, sizes: dict[int, int] = sizes) -> Tensor:
            sizes[x.untyped_storage().data_ptr()] = x.numel()
            return x

        with torch.autograd.graph.saved_tensors_hooks(note, lambda x: x):
            attention(query, keys)
        kept.append(sum(sizes.values()))
    assert kept[0] >= whole
    assert kept[1] < whole // 2


def test_pieces_may_be_as_small_as_one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    attention = Additive(DQ, DK, hidden=3).double()
    query, keys = normal(B, TQ, DQ), normal(B, TK, DK)
    expected = attention(query, keys)
    monkeypatch.setattr("seq2see.attention.scores.ADDITIVE_BUDGET", 1)
    for one, other in zip(attention(query, keys), expected, strict=True):
        assert close(one, other)
