"""Entropy, coverage, monotonicity and the share on sinks, by hand."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from map_making import maps, of_matrix, random_map, relaxed, side_of_words

from seq2see.look import AttentionMap
from seq2see.look.map.files import to_json
from seq2see.look.map.measures import monotonicity
from seq2see.look.map.packing import pack


def test_entropy_of_a_sure_an_even_and_an_empty_row() -> None:
    attention = of_matrix([[1, 0, 0, 0], [0.25, 0.25, 0.25, 0.25], [0, 0, 0, 0], [0.25, 0.25, 0, 0]], end=False)
    assert attention.entropy()[0, 0].tolist() == pytest.approx([0, math.log(4), 0, math.log(2)])


def test_coverage_is_what_a_source_token_got_in_all() -> None:
    attention = of_matrix([[1, 0], [0.5, 0.5], [0.5, 0.5]], end=False)
    assert attention.coverage()[0, 0].tolist() == [2, 1]


@relaxed()
@given(maps())
def test_coverage_is_shared_out_among_the_rows(attention: AttentionMap) -> None:
    np.testing.assert_allclose(attention.coverage().sum(axis=-1), len(attention.target), rtol=1e-5)


@pytest.mark.parametrize(
    ("path", "expected"),
    [([0, 1, 2], 1), ([2, 1, 0], -1), ([0, 0, 1], 1), ([1, 1], 1), ([0, 2, 1], 1 / 3), ([1, 0, 1], 0), ([], 1)],
)
def test_monotonicity_of_a_path(path: list[int], expected: float) -> None:
    weights = np.eye(3, dtype=np.float32)[path].reshape(1, 1, len(path), 3)
    assert monotonicity(weights)[0, 0] == pytest.approx(expected)


def test_monotonicity_leaves_out_empty_rows_and_special_tokens() -> None:
    assert monotonicity(np.array([[[[0, 1], [0, 0], [0, 1]]]], dtype=np.float32))[0, 0] == 1
    side = side_of_words([["a"], ["b"]])
    backward = AttentionMap(side, side, "cross", np.array([[[[0.1, 0, 0.9], [0.1, 0, 0.9], [1, 0, 0]]]]))
    assert backward.monotonicity()[0, 0] == 1


def test_the_share_on_sinks_is_that_of_special_tokens() -> None:
    attention = of_matrix([[1.0, 0.0]])
    assert attention.sink_share()[0, 0].tolist() == [0, 1]


def test_the_summary_has_a_line_for_each_head() -> None:
    attention = random_map([["a"], ["b"]], [["c"]], layers=2, heads=3)
    lines = attention.summary()
    assert [(line.layer, line.head) for line in lines] == [(str(i), str(j)) for i in range(2) for j in range(3)]
    assert lines[4].entropy == pytest.approx(attention.entropy()[1, 1].mean())
    assert lines[4].sink_share == pytest.approx(attention.sink_share()[1, 1].mean())
    assert lines[4].coverage == pytest.approx(attention.head(1).layer(1).summary()[0].coverage)


@pytest.mark.parametrize(
    ("rows", "expected"), [([[1, 0]], 0.5), ([[1, 0], [0, 1]], 1.0), ([[0.5, 0.5]], 1.0), ([[0, 0]], 0.0)]
)
def test_coverage_in_one_number(rows: list[list[float]], expected: float) -> None:
    assert of_matrix(rows, end=False).summary()[0].coverage == pytest.approx(expected)


def test_special_tokens_are_no_text_to_cover() -> None:
    assert of_matrix([[0.5, 0.0]]).summary()[0].coverage == pytest.approx(0.5)  # two words and an end


def test_the_summary_travels_with_files_and_pages() -> None:
    attention = random_map([["a"], ["b"]], [["c"]], layers=2, heads=3)
    lines = attention.summary()
    assert json.loads(to_json(attention))["summary"] == [line._asdict() for line in lines]
    assert pack(attention)["summary"] == [pytest.approx(line[2:], abs=1e-4) for line in lines]
