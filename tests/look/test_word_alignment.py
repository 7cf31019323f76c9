"""Word pairs from weights, and the choice of a head: on matrices whose alignment is plain."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from map_making import maps, of_matrix, random_map, relaxed, side_of_words

from seq2see.errors import ConfigError, RunError, ShapeError
from seq2see.evaluate.alignment import Gold, flipped, score_alignments
from seq2see.look import AttentionMap, Best, best_head, choose_head, head_errors, load_best, save_best
from seq2see.look.map.alignment import METHODS, agreed, balanced, grow_diagonal

permutations = st.integers(1, 6).flatmap(lambda size: st.permutations(range(size)))


@relaxed()
@given(permutations, st.sampled_from(METHODS), st.booleans())
def test_a_permutation_is_found_by_every_method(order: list[int], method: str, end: bool) -> None:
    attention = of_matrix(np.eye(len(order))[order].tolist(), end=end)
    found = attention.alignment(method)  # type: ignore[arg-type]
    assert set(found) == {(source, target) for target, source in enumerate(order)}
    assert found.words() == [(f"a{i}", f"b{j}") for i, j in sorted(found)]
    assert str(found) == " ".join(f"{i}-{j}" for i, j in sorted(found))


def test_argmax_passes_over_special_tokens_and_empty_rows() -> None:
    columns, lines = side_of_words([["a"], ["b"]]), side_of_words([["x"], ["y"]])
    weights = np.array([[[[0.1, 0.2, 0.7], [0, 0, 1], [1, 0, 0]]]])
    assert AttentionMap(columns, lines, "cross", weights).alignment().pairs == ((1, 0),)


def test_threshold_counts_the_share_among_words() -> None:
    columns, lines = side_of_words([["a"], ["b"]]), side_of_words([["x"]])
    attention = AttentionMap(columns, lines, "cross", np.array([[[[0.12, 0.08, 0.8], [0, 0, 1]]]]))
    assert attention.alignment("threshold", threshold=0.5).pairs == ((0, 0),)
    assert attention.alignment("threshold", threshold=0.4).pairs == ((0, 0), (1, 0))
    for wrong in (0, 1.1):
        with pytest.raises(ConfigError, match="threshold"):
            attention.alignment("threshold", threshold=wrong)


def test_balancing_gives_a_word_beside_a_greedy_one_its_row_back() -> None:
    """Every row looks most at a1; b0 cares for a0 more than anybody else does, b2 for a2."""
    attention = of_matrix([[0.4, 0.6, 0.0], [0.05, 0.9, 0.05], [0.0, 0.6, 0.4]])
    assert attention.alignment("argmax").pairs == ((1, 0), (1, 1), (1, 2))
    assert attention.alignment("balanced", threshold=0.5).pairs == ((0, 0), (1, 1), (2, 2))
    assert attention.alignment("balanced", threshold=0.2).pairs == ((0, 0), (1, 0), (1, 1), (1, 2), (2, 2))


def test_balancing_divides_by_what_a_column_gets_and_rows_sum_to_one() -> None:
    assert balanced(np.array([[0.5, 0.5], [0.1, 0.9]])) == pytest.approx(
        np.array([[70 / 100, 30 / 100], [7 / 34, 27 / 34]])
    )
    weights = np.random.default_rng(0).random((5, 4))
    weights[2] = weights[:, 1] = 0  # a row outside a local window, a word that nobody looks at
    found = balanced(weights)
    assert not found[:, 1].any()
    assert found.sum(axis=1) == pytest.approx([1, 1, 0, 1, 1])


def test_balanced_by_both_directions_takes_what_both_look_at() -> None:
    """b1 cannot decide between a0 and a1; a1, asked the other way round, looks at b1 and not at b0."""
    forward, back = of_matrix([[0.9, 0.1], [0.75, 0.25]]), of_matrix([[0.9, 0.1], [0.1, 0.9]])
    assert forward.alignment("balanced", threshold=0.35).pairs == ((0, 0), (0, 1), (1, 1))
    assert forward.alignment("balanced", threshold=0.35, reverse=back).pairs == ((0, 0), (1, 1))


def test_agreed_is_the_geometric_mean_where_anybody_looks() -> None:
    found = agreed(np.array([[0.4, 0.0], [0.0, 0.0]]), np.array([[0.1, 0.0], [0.0, 0.0]]))
    assert found[0, 0] == pytest.approx(np.sqrt(0.401 * 0.101))
    assert not found[0, 1]
    assert not found[1].any()


def test_symmetric_drops_what_only_rows_say_far_from_anything_agreed() -> None:
    """b3 looks at a0, far from where it stands, while a3 is looked at by nobody but b3, next to what is agreed."""
    attention = of_matrix([[0.9, 0.1, 0, 0], [0.1, 0.9, 0, 0], [0, 0.1, 0.9, 0], [0.5, 0.2, 0.2, 0.1]])
    assert attention.alignment("argmax").pairs == ((0, 0), (0, 3), (1, 1), (2, 2))
    assert attention.alignment("symmetric").pairs == ((0, 0), (1, 1), (2, 2), (3, 3))


def test_growing_takes_neighbours_that_give_a_bare_word_its_first_link() -> None:
    forward = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]], dtype=bool)
    backward = np.array([[1, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=bool)
    # The intersection is (0, 0); (1, 0) and (0, 1) are beside it. (2, 2) is beside nothing.
    assert grow_diagonal(forward, backward).astype(int).tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0]]
    # Beside it and in the union, but both its words have a link.
    full = np.array([[1, 0], [0, 1]], dtype=bool)
    assert grow_diagonal(full, full | np.array([[0, 1], [0, 0]], dtype=bool)).tolist() == full.tolist()


def test_symmetric_with_the_other_direction_takes_its_columns_from_there() -> None:
    forward, backward = of_matrix([[0.9, 0.1], [0.8, 0.2]]), of_matrix([[0.0, 1.0], [1.0, 0.0]])
    assert forward.alignment("symmetric").pairs == ((0, 0), (0, 1), (1, 1))
    assert forward.alignment("symmetric", reverse=backward).pairs == ((0, 0), (0, 1), (1, 0))
    with pytest.raises(ShapeError, match="give the map of the same pair"):
        forward.alignment("symmetric", reverse=of_matrix([[1.0]]))


def test_an_alignment_is_of_the_mean_of_what_is_there() -> None:
    side = side_of_words([["a"], ["b"]])
    weights = np.array([np.eye(3)[[0, 1, 2]], 0.4 * np.eye(3)[[1, 0, 2]] + 0.2])[None]
    attention = AttentionMap(side, side, "cross", weights)
    assert attention.alignment().pairs == ((0, 0), (1, 1))
    assert attention.head(1).alignment().pairs == ((0, 1), (1, 0))


def test_only_a_cross_map_aligns_and_methods_are_checked() -> None:
    with pytest.raises(ConfigError, match="kind 'cross', not 'encoder'"):
        random_map([["a"]], [["a"]], kind="encoder").alignment()
    with pytest.raises(ConfigError, match="did you mean 'argmax'"):
        of_matrix([[1.0]]).alignment("argmx")  # type: ignore[arg-type]


@relaxed()
@given(maps())
def test_links_are_words_of_both_texts(attention: AttentionMap) -> None:
    for method in METHODS:
        found = attention.alignment(method)
        assert len(found.words()) == len(found)
        assert all(word in attention.source.text for word, _ in found.words())
    assert len(attention.alignment()) == len(attention.target.word_texts)
    assert attention.words().alignment() == attention.alignment()


# ------------------------------------------------------------------------------------------------------ the best head


def stack(matrices: list[list[np.ndarray]]) -> AttentionMap:
    """(layers, heads) of word matrices as a map without special tokens."""
    first = matrices[0][0]
    source = side_of_words([[f"a{n}"] for n in range(first.shape[1])])
    target = side_of_words([[f"b{n}"] for n in range(first.shape[0])])
    source, target = source.pick(range(first.shape[1])), target.pick(range(first.shape[0]))
    return AttentionMap(source, target, "cross", np.array(matrices, dtype=np.float32))


EYE, TURNED, EVEN = np.eye(3), np.eye(3)[::-1], np.tile([0.4, 0.3, 0.3], (3, 1))


def test_with_gold_the_head_with_the_lowest_error_wins() -> None:
    attention = stack([[EVEN, EYE], [TURNED, EVEN]])
    gold = Gold(frozenset({(0, 0), (1, 1), (2, 2)}))
    assert best_head([attention], [gold]) == Best(0, 1, 0.0)
    backwards = Gold(frozenset({(2, 0), (1, 1), (0, 2)}))
    assert best_head([attention], [backwards]) == Best(1, 0, 0.0)
    np.testing.assert_allclose(head_errors([attention], [gold]), [[2 / 3, 0], [2 / 3, 2 / 3]])


@relaxed()
@given(st.lists(maps(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_errors_of_heads_are_those_of_their_alignments(many: list[AttentionMap], random: Random) -> None:
    shape = many[0].weights.shape[:2]
    many = [one for one in many if one.weights.shape[:2] == shape]
    gold = []
    for one in many:
        words = len(one.source.word_texts), len(one.target.word_texts)
        links = [(i, j) for i in range(words[0]) for j in range(words[1])]
        sure = frozenset(random.sample(links, random.randrange(len(links) + 1)))
        possible = frozenset(random.sample(links, random.randrange(len(links) + 1)))
        marked = frozenset(random.sample(range(words[0]), random.randrange(words[0] + 1)))
        gold.append(Gold(sure, possible, marked, None))
    errors = head_errors(many, gold)
    for layer, head in np.ndindex(*shape):
        found = [one.layer(layer).head(head).alignment() for one in many]
        assert errors[layer, head] == pytest.approx(score_alignments(found, gold).aer)


def test_without_gold_the_two_directions_have_to_agree() -> None:
    forward = stack([[EVEN, TURNED], [EYE, EVEN]])
    backward = stack([[TURNED, EVEN]])
    layer, head, error = best_head([forward], reverse_maps=[backward])
    assert (layer, head, error) == (0, 1, 0)
    np.testing.assert_allclose(head_errors([forward], reverse_maps=[backward])[1, 0], 2 / 3)


@relaxed()
@given(maps(), st.integers(0, 99))
def test_agreement_is_with_the_nearest_head_of_the_other_direction(attention: AttentionMap, seed: int) -> None:
    words = ([[word] for word in attention.target.word_texts], [[word] for word in attention.source.word_texts])
    other = random_map(*words, layers=2, heads=2, seed=seed)
    errors = head_errors([attention], reverse_maps=[other])
    for layer, head in np.ndindex(*errors.shape):
        mine = set(attention.layer(layer).head(head).alignment())
        theirs = [flipped(other.layer(i).head(j).alignment()) for i in range(2) for j in range(2)]
        rates = [2 * len(mine & one) / (len(mine) + len(one)) for one in theirs]
        assert errors[layer, head] == pytest.approx(1 - max(rates))


def test_with_nothing_to_go_by_rows_and_columns_have_to_agree() -> None:
    assert best_head([stack([[EVEN, EVEN], [EVEN, TURNED]])]) == Best(1, 1, 0.0)


def test_what_does_not_go_together_is_refused() -> None:
    attention = stack([[EYE]])
    with pytest.raises(ConfigError, match="no maps"):
        best_head([])
    with pytest.raises(ShapeError, match="1 maps but 0 in gold"):
        best_head([attention], [])
    with pytest.raises(ShapeError, match="maps of the same pairs"):
        best_head([attention], reverse_maps=[stack([[np.eye(2)]])])
    with pytest.raises(ShapeError, match="layers and heads"):
        best_head([attention, stack([[EYE, EYE]])])


# --------------------------------------------------------------------------------------------------- kept in the run


def test_the_choice_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "alignment.json"
    assert load_best(path) is None
    save_best(path, Best(3, 1, 0.125))
    assert load_best(path) == Best(3, 1, 0.125)


@pytest.mark.parametrize(
    "change",
    [
        {"layer": -1},
        {"layer": float("inf")},
        {"head": "x"},
        {"head": [[[]]] * 3},
        {"aer": 7},
        {"aer": float("nan")},
        {"format": "other"},
        {"version": None},
    ],
)
def test_a_damaged_choice_is_one_line(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "alignment.json"
    save_best(path, Best(0, 0, 0.5))
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RunError, match="not the choice of a head"):
        load_best(path)
    for content in ("{", "[" * 100_000, '{"layer": ' + "9" * 5000 + "}"):
        path.write_text(content)
        with pytest.raises(RunError, match="not the choice of a head"):
            load_best(path)


def test_a_newer_choice_says_so(tmp_path: Path) -> None:
    path = tmp_path / "alignment.json"
    save_best(path, Best(0, 0, 0.5))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 2}))
    with pytest.raises(RunError, match="newer"):
        load_best(path)


def test_a_chosen_head_is_remembered_and_maps_are_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "alignment.json"
    attention = of_matrix(np.eye(3).tolist())
    assert not choose_head(path, [attention], remember=False).how.startswith("remembered")
    assert load_best(path) is None
    chosen = choose_head(path, iter([attention]), None, iter([attention]), reverse_name="runs/en-ko")
    assert chosen.how == "agrees most with runs/en-ko on 1 pairs"
    assert load_best(path) == chosen.best == Best(0, 0, 0.0)
    untouched = iter([attention])
    again = choose_head(path, untouched)
    assert (again.best, again.how) == (chosen.best, f"remembered in {path}")
    assert next(untouched) is attention
