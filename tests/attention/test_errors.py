"""Wrong use is refused in our words, which name both sides, and never by an error from deep inside torch."""

import re

import pytest
import torch

from seq2see.attention import (
    Additive,
    Attention,
    Cosine,
    Dot,
    General,
    Location,
    LocationAware,
    MultiHead,
    ScaledDot,
    mechanism,
)
from seq2see.attention.positions import LearnedPositions
from seq2see.errors import ConfigError, Seq2SeeError, ShapeError

ALL = [
    Dot(4, 4),
    ScaledDot(4, 4),
    General(4, 4),
    Additive(4, 4),
    Cosine(4, 4),
    Location(4, 4),
    LocationAware(4, 4),
    MultiHead(4, 4, heads=2),
]
every = pytest.mark.parametrize("attention", ALL, ids=lambda attention: type(attention).__name__)


def refused(error: type[Seq2SeeError], *words: object):
    """The message holds all of these, in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(re.escape(str(word)) for word in words))


# --- tensors ---------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(
    ("query", "keys", "values", "words"),
    [
        ((2, 3, 5), (2, 6, 4), None, ("query", 5, "query_dim = 4")),
        ((2, 3, 4), (2, 6, 7), None, ("keys", 7, "key_dim = 4")),
        ((2, 4), (2, 6, 4), None, ("query", "(2, 4)", "(B, Tq, 4)")),
        ((4,), (2, 6, 4), None, ("query", "(4,)", "(B, Tq, 4)")),
        ((2, 1, 3, 4), (2, 6, 4), None, ("query", "(2, 1, 3, 4)", "(B, Tq, 4)")),
        ((2, 3, 4), (6, 4), None, ("keys", "(6, 4)", "(B, Tk, 4)")),
        ((6, 4), (6, 4), None, ("keys", "(6, 4)", "(B, Tk, 4)")),
        ((2, 3, 4), (), None, ("keys", "()", "(B, Tk, 4)")),
        ((3, 3, 4), (2, 6, 4), None, ("query has batch 3", "keys have batch 2")),
        ((1, 3, 4), (2, 6, 4), None, ("query has batch 1", "keys have batch 2")),
        ((2, 3, 4), (2, 6, 4), (2, 5, 4), ("values", "(2, 5, 4)", "(2, 6, Dv)", "(2, 6, 4)")),
        ((2, 3, 4), (2, 6, 4), (1, 6, 4), ("values", "(1, 6, 4)", "(2, 6, Dv)")),
        ((2, 3, 4), (2, 6, 4), (6, 4), ("values", "(6, 4)", "(2, 6, Dv)")),
    ],
)
def test_shapes_that_do_not_fit(attention: Attention, query, keys, values, words) -> None:
    given = None if values is None else torch.zeros(values)
    for need_weights in (True, False):
        with refused(ShapeError, type(attention).__name__, *words):
            attention(torch.zeros(query), torch.zeros(keys), given, need_weights=need_weights)


@every
@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (torch.ones(2, 1, 6), ("torch.float32", "torch.bool", "True = may look")),
        (torch.ones(2, 1, 6, dtype=torch.long), ("torch.int64", "torch.bool")),
        (torch.ones(2, 6).bool(), ("(2, 6)", "(2, 1 or", "6)")),
        (torch.ones(2, 1, 3, 6).bool(), ("(2, 1, 3, 6)", "(2, 1 or", "6)")),
        (torch.ones(2, 1, 5).bool(), ("(2, 1, 5)", "(2, 1 or", "6)")),
        (torch.ones(3, 1, 6).bool(), ("(3, 1, 6)", "(2, 1 or", "6)")),
        (torch.ones(2, 4, 6).bool(), ("(2, 4, 6)", "(2, 1 or 3, 6)")),
    ],
)
def test_masks_that_do_not_fit(attention: Attention, mask, words) -> None:
    with refused(ShapeError, "mask", *words):
        attention(torch.zeros(2, 3, 4), torch.zeros(2, 6, 4), mask=mask)


@every
def test_a_mask_prepared_for_other_queries(attention: Attention) -> None:
    """One query under a mask of three rows would otherwise be spread over all three."""
    prepared = attention.prepare(torch.zeros(2, 6, 4), mask=torch.ones(2, 3, 6).bool())
    for count in (1, 2):
        with refused(ShapeError, "mask", "(2, 3, 6)", f"1 or {count}"):
            attention.attend(torch.zeros(2, count, 4), prepared)


@every
def test_a_query_for_other_keys(attention: Attention) -> None:
    prepared = attention.prepare(torch.zeros(2, 6, 4))
    with refused(ShapeError, "query has batch 5", "keys have batch 2"):
        attention.attend(torch.zeros(5, 1, 4), prepared)


def test_values_of_another_width_in_heads() -> None:
    attention = MultiHead(4, 6, heads=2, value_dim=5)
    query, keys = torch.zeros(1, 2, 4), torch.zeros(1, 3, 6)
    attention(query, keys, torch.zeros(1, 3, 5))
    with refused(ShapeError, "values have width 4", "value_dim = 5"):
        attention(query, keys, torch.zeros(1, 3, 4))
    with refused(ShapeError, "values have width 6", "value_dim = 5"):
        attention(query, keys)


def test_masked_keys_cannot_grow() -> None:
    attention = MultiHead(4, 4, heads=2)
    mask = torch.ones(1, 1, 3).bool()
    plain, masked = attention.prepare(torch.zeros(1, 3, 4)), attention.prepare(torch.zeros(1, 3, 4), mask=mask)
    for one, other in ((plain, masked), (masked, plain)):
        with refused(ShapeError, "extend", "mask"):
            one.extend(other)


def test_history_is_needed_and_checked() -> None:
    attention = LocationAware(4, 4)
    prepared = attention.prepare(torch.zeros(2, 6, 4))
    with refused(ShapeError, "history", "(2, 0)", "(2, 1, 2, 6)"):
        attention.attend(torch.zeros(2, 1, 4), prepared, history=torch.zeros(2, 0))
    with refused(ShapeError, "need_weights=True"):
        attention.remember(attention.begin(prepared), None)
    with refused(ShapeError, "history", "attend"):
        attention.score(torch.zeros(2, 1, 1, 4), prepared.keys)


# --- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Dot, ScaledDot, Cosine])
def test_products_need_equal_widths(kind) -> None:
    with refused(ShapeError, kind.__name__, "query_dim = 4", "key_dim = 6"):
        kind(4, 6)


@pytest.mark.parametrize("kind", [Dot, ScaledDot, General, Additive, Cosine, Location, LocationAware, MultiHead])
@pytest.mark.parametrize(("query_dim", "key_dim"), [(0, 4), (4, 0), (-1, 4), (0, 0)])
def test_widths_are_positive(kind, query_dim: int, key_dim: int) -> None:
    with refused(ConfigError, f"query_dim = {query_dim}", f"key_dim = {key_dim}"):
        kind(query_dim, key_dim)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MultiHead(10, 10, heads=3), ("heads = 3", "width = 10")),
        (lambda: MultiHead(8, 8, heads=2, width=9), ("heads = 2", "width = 9")),
        (lambda: MultiHead(8, 8, heads=4, kv_heads=3), ("kv_heads = 3", "heads = 4")),
        (lambda: MultiHead(8, 8, heads=2, kv_heads=4), ("kv_heads = 4", "heads = 2")),
        (lambda: MultiHead(8, 8, heads=0), ("heads = 0", "at least 1")),
        (lambda: MultiHead(8, 8, heads=4, kv_heads=0), ("kv_heads = 0", "at least 1")),
        (lambda: MultiHead(8, 8, heads=-2), ("heads = -2", "at least 1")),
        (lambda: MultiHead(6, 6, heads=2, positions="rotary"), ("rotary", "even", "width / heads = 3")),
        (lambda: MultiHead(8, 8, width=0), ("width = 0",)),
        (lambda: MultiHead(8, 8, heads=2, width=-8), ("width = -8",)),
        (lambda: MultiHead(8, 8, value_dim=0), ("value_dim = 0",)),
        (lambda: MultiHead(8, 8, max_length=0), ("max_length = 0",)),
        (lambda: MultiHead(8, 8, dropout=1.5), ("dropout = 1.5",)),
        (lambda: MultiHead(8, 8, scope="local-m", window=0), ("window = 0",)),
        (lambda: Dot(4, 4, heads=0), ("heads = 0",)),
        (lambda: Dot(4, 4, dropout=-0.1), ("dropout = -0.1",)),
        (lambda: Dot(4, 4, dropout=1.0), ("dropout = 1.0",)),
        (lambda: Dot(4, 4, scope="local-p", window=0), ("window = 0",)),
        (lambda: Additive(4, 4, hidden=0), ("hidden = 0",)),
        (lambda: Location(4, 4, max_length=0), ("max_length = 0",)),
        (lambda: LocationAware(4, 4, kernel=4), ("kernel = 4", "odd")),
        (lambda: LocationAware(4, 4, kernel=-1), ("kernel = -1", "positive")),
        (lambda: LocationAware(4, 4, filters=0), ("filters = 0",)),
        (lambda: LocationAware(4, 4, hidden=-3), ("hidden = -3",)),
        (lambda: Cosine(4, 4, sharpness=0.0), ("sharpness = 0.0",)),
        (lambda: Cosine(4, 4, sharpness=-2.0), ("sharpness = -2.0",)),
        (lambda: LearnedPositions(0, 4), ("max_length = 0",)),
    ],
)
def test_sizes_that_cannot_be(make, words) -> None:
    with refused(ConfigError, *words):
        make()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Dot(4, 4, scope="locl-m"), ("scope = 'locl-m'", "did you mean 'local-m'")),
        (lambda: Dot(4, 4, scope="zzz"), ("scope = 'zzz'", "causal", "global", "sliding-window")),
        (lambda: Dot(4, 4, normaliser="softmx"), ("normaliser = 'softmx'", "'softmax'")),
        (lambda: Additive(4, 4, normaliser="zzz"), ("normaliser = 'zzz'", "entmax15", "softmax", "sparsemax")),
        (lambda: MultiHead(4, 4, positions="rotery"), ("positions = 'rotery'", "'rotary'")),
        (lambda: MultiHead(4, 4, score="cosin"), ("score = 'cosin'", "'cosine'")),
        (lambda: MultiHead(4, 4, normaliser="hardmax"), ("normaliser = 'hardmax'",)),
        (lambda: MultiHead(4, 4, scope="window"), ("scope = 'window'",)),
        (lambda: mechanism("bilinear", 4, 4), ("score = 'bilinear'", "general")),
        (lambda: mechanism("dot", 4, 4, scop="causal"), ("Dot", "'scop'", "'scope'")),
        (lambda: Dot(4, 4, normalizer="softmax"), ("Dot", "'normalizer'", "'normaliser'")),
        (lambda: LocationAware(4, 4, zzz=1), ("LocationAware", "'zzz'", "dropout", "window")),
    ],
)
def test_names_that_nobody_knows(make, words) -> None:
    with refused(ConfigError, *words):
        make()


def test_an_unknown_option_of_heads_is_named() -> None:
    with pytest.raises(TypeError, match="head"):
        MultiHead(4, 4, head=2)


def test_several_heads_are_for_multihead() -> None:
    for kind in (Additive, General, Dot):
        with refused(ConfigError, "heads = 2", kind.__name__, "MultiHead"):
            kind(4, 4, heads=2)(torch.zeros(1, 2, 4), torch.zeros(1, 3, 4))
