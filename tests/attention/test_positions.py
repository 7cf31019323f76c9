"""Where words stand: every scheme against a reference of its own, and what it makes of MultiHead."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seq2see.attention import MultiHead, Prepared
from seq2see.attention.positions import (
    POSITIONS,
    AddedPositions,
    Alibi,
    LearnedPositions,
    RelativeBuckets,
    alibi_slopes,
    rotate,
    sinusoidal,
)
from seq2see.attention.scopes import SCOPES

quick = settings(max_examples=20, deadline=None, derandomize=True, database=None)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def close(one: Tensor, other: Tensor, tolerance: float = 1e-12) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=0, atol=tolerance)


# --- rotary ----------------------------------------------------------------------------------------------------------


@quick
@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 400), st.sampled_from([2, 4, 10]), st.integers(0, 1000))
def test_rotary_products_depend_on_the_distance_alone(m: int, n: int, shift: int, width: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, 1, 1, 1, width, generator=generator, dtype=torch.float64)

    def product(query_place: int, key_place: int) -> Tensor:
        turned = rotate(q, torch.tensor([[query_place]])) * rotate(k, torch.tensor([[key_place]]))
        return turned.sum()

    assert (product(m, n) - product(m + shift, n + shift)).abs() <= 1e-9
    assert (product(m, m) - (q * k).sum()).abs() <= 1e-12


@pytest.mark.parametrize("width", [2, 6, 8])
def test_rotary_is_a_product_of_complex_numbers(width: int) -> None:
    x, places = normal(2, 3, 5, width), torch.tensor([[0, 1, 2, 7, 100], [5, 6, 7, 8, 9]])
    half = width // 2
    numbers = torch.complex(x[..., :half], x[..., half:])
    angles = torch.tensor(
        [[[p * 10_000 ** (-2 * i / width) for i in range(half)] for p in row] for row in places.tolist()],
        dtype=torch.float64,
    )
    turned = numbers * torch.polar(torch.ones_like(angles), angles).unsqueeze(1)
    assert close(rotate(x, places), torch.cat([turned.real, turned.imag], dim=-1))
    assert close(rotate(x, places).norm(dim=-1), x.norm(dim=-1))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_keeps_far_positions_apart(dtype: torch.dtype) -> None:
    """bfloat16 has no 1001: positions must not pass through it."""
    places = torch.tensor([[1000, 1001, 3001]])
    x = torch.ones(1, 1, 3, 4, dtype=dtype)
    turned = rotate(x, places)
    assert turned.dtype == dtype
    assert (turned.float() - rotate(x.float(), places)).abs().max() < 0.02
    added = sinusoidal(places, 4, dtype)
    assert added.dtype == dtype
    assert (added.float() - sinusoidal(places, 4, torch.float32)).abs().max() < 0.01


# --- ALiBi -----------------------------------------------------------------------------------------------------------


def test_alibi_slopes_of_the_paper() -> None:
    assert alibi_slopes(1) == [2**-8]
    assert alibi_slopes(8) == [2.0**-k for k in range(1, 9)]
    assert alibi_slopes(16) == pytest.approx([2 ** (-k / 2) for k in range(1, 17)])
    # Not a power of two: those of the power below, then every other one of the power above.
    assert alibi_slopes(12) == pytest.approx([*(2.0**-k for k in range(1, 9)), *(2 ** (-k / 2) for k in (1, 3, 5, 7))])
    for heads in range(1, 33):
        assert len(set(alibi_slopes(heads))) == heads


def test_alibi_bias() -> None:
    bias = Alibi(4)(torch.tensor([[0, 1, 2], [5, 6, 7]]), torch.arange(6))
    assert bias.shape == (2, 4, 3, 6)
    for b, first in enumerate((0, 5)):
        for h, slope in enumerate(alibi_slopes(4)):
            for i in range(3):
                expected = [-slope * abs(first + i - j) for j in range(6)]
                assert bias[b, h, i].tolist() == pytest.approx(expected)


def test_alibi_is_added_to_the_scores() -> None:
    attention = MultiHead(4, 4, heads=2, positions="alibi").double()
    plain = MultiHead(4, 4, heads=2).double()
    plain.load_state_dict(attention.state_dict())
    x = normal(1, 5, 4)
    steps = torch.arange(5)
    slopes = torch.tensor(alibi_slopes(2), dtype=torch.float64).view(2, 1, 1)
    scores = plain(x, x)[1].log() - slopes * (steps.view(-1, 1) - steps).abs()
    assert close(attention(x, x)[1], torch.softmax(scores, dim=-1), 1e-9)


# --- relative buckets ------------------------------------------------------------------------------------------------


def reference_bucket(offset: int, two_sided: bool, buckets: int, furthest: int) -> int:
    """T5 in whole numbers: the largest k with (distance / exact)^n >= (furthest / exact)^k, so nothing is rounded."""
    bucket = 0
    if two_sided:
        buckets //= 2
        if offset > 0:
            bucket = buckets
        distance = abs(offset)
    else:
        distance = max(-offset, 0)
    exact = buckets // 2
    if distance < exact:
        return bucket + distance
    room = buckets - exact
    k = 0
    while k + 1 < room and distance**room * exact ** (k + 1) >= furthest ** (k + 1) * exact**room:
        k += 1
    return bucket + exact + k


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (16, 64), (8, 20)])
def test_buckets_are_those_of_t5(two_sided: bool, buckets: int, furthest: int) -> None:
    relative = RelativeBuckets(2, buckets=buckets, furthest=furthest, two_sided=two_sided)
    offsets = list(range(-300, 301))
    expected = [reference_bucket(offset, two_sided, buckets, furthest) for offset in offsets]
    assert relative.bucket(torch.tensor(offsets)).tolist() == expected
    assert set(expected) == set(range(buckets)) - ({buckets // 2} if two_sided else set())


def test_relative_bias_is_a_number_of_the_table() -> None:
    relative = RelativeBuckets(3)
    bias = relative(torch.tensor([[4, 5]]), torch.arange(7))
    assert bias.shape == (1, 3, 2, 7)
    for i, j in ((0, 0), (1, 6), (0, 4)):
        bucket = reference_bucket(j - (4 + i), True, 32, 128)
        assert torch.equal(bias[0, :, i, j], relative.table.weight[bucket])


@pytest.mark.parametrize("scope", SCOPES)
def test_who_cannot_look_ahead_has_one_sided_buckets(scope: str) -> None:
    attention = MultiHead(4, 4, positions="relative", scope=scope)
    assert attention.score_bias.two_sided == (scope not in ("causal", "sliding-window"))


# --- added positions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 2, 5, 8])
def test_sinusoidal_formula(width: int) -> None:
    places = torch.tensor([[0, 1, 2, 50], [3, 4, 5, 6]])
    found = sinusoidal(places, width, torch.float64)
    assert found.shape == (2, 4, width)
    half = (width + 1) // 2
    for b, row in enumerate(places.tolist()):
        for t, place in enumerate(row):
            angles = [place / 10_000 ** (i / half) for i in range(half)]
            expected = [*map(math.sin, angles), *map(math.cos, angles)][:width]
            assert found[b, t].tolist() == pytest.approx(expected, rel=0, abs=1e-12)


def test_learned_positions_past_the_last_share_its_vector() -> None:
    learned = LearnedPositions(4, 3)
    vectors = learned(torch.tensor([[0, 3, 4, 99]]))
    assert torch.equal(vectors[0, :2], learned.table.weight[[0, 3]])
    assert torch.equal(vectors[0, 2], learned.table.weight[3])
    assert torch.equal(vectors[0, 3], learned.table.weight[3])


def test_added_positions_add() -> None:
    x, places = normal(2, 3, 4), torch.tensor([[5, 6, 7]])
    learned = AddedPositions("learned", 10, 4).double()
    assert close(learned(x, places) - x, learned.learned.table.weight[5:8].expand(2, 3, 4))
    assert close(
        AddedPositions("sinusoidal", 10, 4)(x, places) - x, sinusoidal(places, 4, torch.float64).expand(2, 3, 4)
    )
    for scheme in ("none", "rotary", "alibi", "relative"):
        assert AddedPositions(scheme, 10, 4)(x, places) is x


# --- in MultiHead ----------------------------------------------------------------------------------------------------


def build(positions: str, **options) -> MultiHead:
    attention = MultiHead(8, 8, heads=4, positions=positions, max_length=6, **options).double().eval()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.mul_(2.0)
    return attention


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("options", [{}, {"kv_heads": 2}, {"kv_heads": 1, "score": "additive"}, {"qk_norm": True}])
@pytest.mark.parametrize("scope", ["causal", "sliding-window"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_a_growing_cache_equals_the_full_pass(positions: str, scope: str, options: dict, need_weights: bool) -> None:
    attention = build(positions, scope=scope, window=2, **options)
    x = normal(3, 7, 8)
    context, weights = attention(x, x)
    for stride in (1, 3):
        cache: Prepared | None = None
        for start in range(0, 7, stride):
            new = x[:, start : start + stride]
            offset = torch.full((3,), start) if stride == 3 else start
            latest = attention.prepare(new, offset=offset)
            cache = latest if cache is None else cache.extend(latest)
            part, seen = attention.attend(new, cache, offset=offset, need_weights=need_weights)
            stop = start + new.size(1)
            assert close(part, context[:, start:stop])
            if seen is not None:
                assert close(seen, weights[:, :, start:stop, :stop])


@pytest.mark.parametrize("scope", ["global", "causal", "local-m", "sliding-window"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_shift_invariance(positions: str, scope: str) -> None:
    """Rotary, ALiBi and relative positions know distances only; the added ones know places."""
    attention = build(positions, scope=scope, window=2)
    x = normal(2, 5, 8)
    before, _ = attention(x, x)
    padded = torch.cat([normal(2, 4, 8), x], dim=1)
    mask = torch.arange(9).expand(2, 1, -1) >= 4
    after, _ = attention.attend(x, attention.prepare(padded, mask=mask), offset=4)
    same = close(before, after, 1e-9)
    assert same == (positions not in ("sinusoidal", "learned"))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("positions", POSITIONS)
def test_order_matters_with_positions_and_not_without(positions: str, need_weights: bool) -> None:
    attention = build(positions)
    query, keys = normal(2, 3, 8), normal(2, 5, 8)
    before, _ = attention(query, keys, need_weights=need_weights)
    after, _ = attention(query, keys[:, [4, 2, 0, 1, 3]], need_weights=need_weights)
    difference = (before - after).abs().max().item()
    assert difference <= 1e-12 if positions == "none" else difference > 1e-3


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_values_carry_no_positions(positions: str) -> None:
    attention = build(positions)
    keys = normal(1, 4, 8)
    expected = attention.value_projection(keys).view(1, 4, 4, 2).transpose(1, 2)
    assert close(attention.prepare(keys, offset=3).values, expected)


def test_positions_of_alibi_are_not_saved() -> None:
    assert not any("slopes" in name for name in build("alibi").state_dict())
