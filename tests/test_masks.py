"""Who may look at what."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2see import masks
from seq2see.errors import ShapeError
from seq2see.vocabulary import PAD

quick = settings(max_examples=30, deadline=None, derandomize=True, database=None)
CPU = torch.device("cpu")


def test_padding_hides_padding_alone() -> None:
    word = PAD + 1
    ids = torch.tensor([[word, word, PAD], [word, PAD, PAD], [PAD, PAD, PAD]])
    mask = masks.padding(ids)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[[True, True, False]], [[True, False, False]], [[False, False, False]]]


def test_positions_count_from_the_offset() -> None:
    assert masks.positions(3, 0, CPU).tolist() == [[0, 1, 2]]
    assert masks.positions(2, 5, CPU).tolist() == [[5, 6]]
    assert masks.positions(2, torch.tensor([0, 7, 3]), CPU).tolist() == [[0, 1], [7, 8], [3, 4]]
    assert masks.positions(0, 4, CPU).shape == (1, 0)


@quick
@given(st.integers(0, 4), st.integers(0, 6), st.lists(st.integers(0, 9), min_size=1, max_size=3))
def test_causal_looks_at_itself_and_back(queries: int, keys: int, offsets: list[int]) -> None:
    mask = masks.causal(masks.positions(queries, torch.tensor(offsets), CPU), torch.arange(keys).unsqueeze(0))
    assert mask.shape == (len(offsets), queries, keys)
    for (b, offset), i, j in itertools.product(enumerate(offsets), range(queries), range(keys)):
        assert mask[b, i, j].item() == (j <= offset + i)


@quick
@given(st.integers(1, 4), st.lists(st.floats(-1, 8), min_size=1, max_size=4))
def test_window_is_symmetric_and_closed(width: int, centres: list[float]) -> None:
    mask = masks.window(torch.tensor(centres, dtype=torch.float64), torch.arange(6), width)
    assert mask.shape == (len(centres), 6)
    for i, j in itertools.product(range(len(centres)), range(6)):
        assert mask[i, j].item() == (centres[i] - width <= j <= centres[i] + width)
    assert masks.window(torch.tensor([[2], [3]]), torch.arange(6), 1).tolist() == [
        [[False, True, True, True, False, False]],
        [[False, False, True, True, True, False]],
    ]


def test_both_is_what_both_allow() -> None:
    one, other = torch.tensor([[[True, True, False]]]), torch.tensor([[[True, False, True]], [[True, True, True]]])
    assert masks.both(None, None) is None
    assert masks.both(one, None) is one
    assert masks.both(None, other) is other
    assert masks.both(one, other).tolist() == [[[True, False, False]], [[True, True, False]]]
    assert one.tolist() == [[[True, True, False]]]


def test_seen_keys_are_those_that_somebody_sees() -> None:
    assert masks.seen_keys(torch.tensor([[[True, False]], [[False, False]]])).tolist() == [
        [True, False],
        [False, False],
    ]
    rows = torch.tensor([[[True, False, False], [False, False, True]]])
    assert masks.seen_keys(rows).tolist() == [[True, False, True]]


@pytest.mark.parametrize("shape", [(2, 1, 5), (2, 3, 5), (1, 1, 5), (1, 3, 5)])
def test_check_lets_good_masks_pass(shape: tuple[int, ...]) -> None:
    masks.check(torch.ones(shape, dtype=torch.bool), 2, 3, 5)
    masks.check(torch.ones(shape, dtype=torch.bool), 2, None, 5)


@pytest.mark.parametrize("shape", [(3, 1, 5), (2, 2, 5), (2, 3, 4), (2, 5), (5,), (2, 1, 3, 5), ()])
def test_check_names_both_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError) as error:
        masks.check(torch.ones(shape, dtype=torch.bool), 2, 3, 5)
    assert str(shape) in str(error.value)
    assert "(2, 1 or 3, 5)" in str(error.value)


def test_check_without_queries_leaves_them_open() -> None:
    masks.check(torch.ones(2, 9, 5, dtype=torch.bool), 2, None, 5)
    with pytest.raises(ShapeError, match="1 or Tq"):
        masks.check(torch.ones(2, 9, 4, dtype=torch.bool), 2, None, 5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_check_wants_booleans(dtype: torch.dtype) -> None:
    with pytest.raises(ShapeError, match=f"{dtype}.*torch.bool"):
        masks.check(torch.ones(2, 1, 5, dtype=dtype), 2, 3, 5)
