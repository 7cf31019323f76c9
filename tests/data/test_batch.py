"""Pairs of id lists become padded matrices with their masks."""

import dataclasses

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data import Batch, pad
from seq2see.errors import Seq2SeeError, ShapeError
from seq2see.vocabulary import BOS, EOS, PAD


def test_a_batch_holds_the_target_twice_shifted_by_one():
    batch = Batch.of([[5, 6, 7], [8]], [[9], [4, 5]])
    assert batch.source.tolist() == [[5, 6, 7], [8, PAD, PAD]]
    assert batch.source_mask.tolist() == [[[True, True, True]], [[True, False, False]]]
    assert batch.target_in.tolist() == [[BOS, 9, PAD], [BOS, 4, 5]]
    assert batch.target_out.tolist() == [[9, EOS, PAD], [4, 5, EOS]]
    assert batch.target_mask.tolist() == [[True, True, False], [True, True, True]]
    assert len(batch) == 2


ids = st.lists(st.integers(1, 1000), max_size=6)


@given(st.lists(st.tuples(ids.filter(bool), ids), min_size=1, max_size=5))
def test_nothing_is_lost_and_nothing_added(pairs: list[tuple[list[int], list[int]]]):
    batch = Batch.of([source for source, _ in pairs], [target for _, target in pairs])
    assert len(batch) == len(pairs)
    assert batch.source.size(1) == max(len(source) for source, _ in pairs)
    assert batch.target_in.shape == batch.target_out.shape == batch.target_mask.shape
    assert batch.target_in.size(1) == max(len(target) for _, target in pairs) + 1
    for row, (source, target) in enumerate(pairs):
        assert batch.source[row][batch.source_mask[row, 0]].tolist() == source
        assert batch.target_in[row][batch.target_mask[row]].tolist() == [BOS, *target]
        assert batch.target_out[row][batch.target_mask[row]].tolist() == [*target, EOS]
        # Real positions come first, and whatever is not one is PAD.
        assert batch.source_mask[row, 0].int().diff().le(0).all()
        assert batch.target_mask[row].int().diff().le(0).all()
    assert not batch.source[~batch.source_mask.squeeze(1)].any()
    assert not batch.target_in[~batch.target_mask].any()
    assert not batch.target_out[~batch.target_mask].any()
    for tensor in (batch.source, batch.target_in, batch.target_out):
        assert tensor.dtype == torch.long
    assert batch.source_mask.dtype == batch.target_mask.dtype == torch.bool


def test_an_empty_target_is_allowed():
    batch = Batch.of([[5]], [[]])
    assert batch.target_in.tolist() == [[BOS]]
    assert batch.target_out.tolist() == [[EOS]]
    assert batch.target_mask.tolist() == [[True]]


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        ([[5], [6]], [[7]], "2 sources but 1 targets"),
        ([], [], "an empty batch: give at least one pair"),
        ([[5], []], [[7], [8]], "source 1 is empty; a source needs at least one token"),
        ([[5], [6, PAD, 7]], [[7], [8]], "source 1 holds the padding id 0 at place 1"),
        ([[5], [6]], [[7, 8, PAD], [8]], "target 0 holds the padding id 0 at place 2"),
    ],
)
def test_what_cannot_be_a_batch_is_named(sources: list[list[int]], targets: list[list[int]], message: str):
    with pytest.raises(ShapeError) as raised:
        Batch.of(sources, targets)
    assert str(raised.value) == message
    assert isinstance(raised.value, Seq2SeeError)


def test_padding_goes_behind():
    assert pad([[1, 2], [], [3]]).tolist() == [[1, 2], [PAD, PAD], [3, PAD]]
    assert pad([[]]).shape == (1, 0)
    assert pad([(1, 2), range(3, 6)]).tolist() == [[1, 2, PAD], [3, 4, 5]]
    assert pad([[]]).dtype == torch.long


def test_a_batch_moves_as_a_whole_and_cannot_be_changed():
    batch = Batch.of([[5, 6]], [[7]])
    moved = batch.to("meta")
    for field in dataclasses.fields(Batch):
        there = getattr(moved, field.name)
        assert there.device.type == "meta"
        assert there.shape == getattr(batch, field.name).shape
        assert there.dtype == getattr(batch, field.name).dtype
    assert batch.to("cpu").source.tolist() == [[5, 6]]
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.source = batch.target_in
