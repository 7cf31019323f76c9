"""The one object: what every operation keeps, what words, sinks, means and rollout mean on maps made by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from map_making import maps, of_matrix, random_map, relaxed, rows, same, side_of_words, sums_to_one

from seq2see.errors import ConfigError, DataError, ShapeError
from seq2see.look import AttentionMap, Best, Side, joined
from seq2see.look.map.side import shifted, words_of

PAIR = ([["학생", "입니다"], ["."]], [["I"], ["am"], ["a"], ["stu", "dent"], ["."]])


def close(one: AttentionMap, other: AttentionMap) -> None:
    assert one.source == other.source
    assert one.target == other.target
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-6)
    assert (one.hidden is None) == (other.hidden is None)
    if one.hidden is not None and other.hidden is not None:
        np.testing.assert_allclose(one.hidden, other.hidden, atol=1e-6)


# ------------------------------------------------------------------------------------------------------------- always


@relaxed()
@given(maps())
def test_rows_sum_to_one_after_every_operation(attention: AttentionMap) -> None:
    for one in (
        attention,
        attention.words(),
        attention.mean(),
        attention.layer(-1),
        attention.head(0),
        attention.best(),
        attention.rollout(),
        attention.without_sinks().rescale(),
        attention.without_sinks(punctuation=True).rescale(),
        attention.without_sinks().rescale().words(),
        attention.words().without_sinks().rescale().mean(),
        joined([attention, attention]),
    ):
        assert one is not None
        assert sums_to_one(one)
        assert one.weights.min() >= 0


@relaxed()
@given(maps())
def test_merging_averaging_and_hiding_can_be_done_in_any_order(attention: AttentionMap) -> None:
    close(attention.words().mean(), attention.mean().words())
    close(attention.without_sinks().words(), attention.words().without_sinks())
    close(attention.without_sinks().mean(), attention.mean().without_sinks())
    close(attention.without_sinks().rescale().words(), attention.words().without_sinks().rescale())
    close(attention.without_sinks().rescale().mean(), attention.mean().without_sinks().rescale())


@relaxed()
@given(maps())
def test_hiding_changes_no_weight(attention: AttentionMap) -> None:
    seen = attention.without_sinks(punctuation=True)
    kept = [place for place, token in enumerate(attention.source.tokens) if token in seen.source.tokens]
    assert seen.hidden is not None
    assert np.array_equal(seen.weights, attention.weights[..., kept[: len(seen.source)]])
    np.testing.assert_allclose(seen.weights.sum(axis=-1) + seen.hidden, 1, atol=1e-5)


@relaxed()
@given(maps())
def test_the_original_is_never_changed(attention: AttentionMap) -> None:
    before = attention.weights.copy()
    attention.words().without_sinks().mean()
    attention.rollout()
    assert np.array_equal(attention.weights, before)
    with pytest.raises(ValueError, match="read-only"):
        attention.weights[0, 0, 0, 0] = 1


def test_the_array_it_was_made_from_stays_the_callers() -> None:
    weights = rows((1, 1, 2, 2))
    side = side_of_words([["a"]])
    attention = AttentionMap(side, side, "cross", weights)
    weights[0, 0, 0] = [1, 0]
    assert attention.weights[0, 0, 0, 0] != 1


# -------------------------------------------------------------------------------------------------------------- words


def test_pieces_of_a_word_are_summed_over_columns_and_averaged_over_rows() -> None:
    columns, lines = side_of_words([["학생", "입니다"]]), side_of_words([["stu", "dent"]])
    weights = np.array([[[[0.1, 0.2, 0.7], [0.3, 0.6, 0.1], [0.0, 0.5, 0.5]]]])
    merged = AttentionMap(columns, lines, "cross", weights).words()
    assert merged.source.tokens == ("학생입니다", "</s>")
    assert merged.target.tokens == ("student", "</s>")
    np.testing.assert_allclose(merged.weights[0, 0], [[0.6, 0.4], [0.5, 0.5]], atol=1e-6)
    assert merged.level == "word"
    assert merged.words() is merged


def test_words_of_one_piece_each_are_as_they_were() -> None:
    attention = random_map([["a"], ["b"], ["c"]], [["x"], ["y"]], layers=2, heads=3)
    merged = attention.words()
    assert np.array_equal(merged.weights, attention.weights)
    assert merged.source.tokens == ("a", "b", "c", "</s>")
    assert merged.source.spans == ((0, 1), (2, 3), (4, 5), (5, 5))
    assert merged.source.words == (0, 1, 2, None)


def test_a_special_piece_inside_a_word_keeps_a_row_of_its_own() -> None:
    side = Side("abcd", ("ab", "<unk>", "cd", "</s>"), ((0, 2), (2, 2), (2, 4), (4, 4)), (0, None, 0, None))
    attention = AttentionMap(side, side, "cross", np.eye(4)[None, None])
    merged = attention.words()
    assert merged.target.tokens == ("abcd", "<unk>", "</s>")
    np.testing.assert_allclose(merged.weights[0, 0], np.eye(3))


def test_a_text_of_white_space_has_a_column_and_no_word() -> None:
    side = Side("  ", ("▁", "▁", "</s>"), ((0, 1), (1, 2), (2, 2)), words_of("  ", ((0, 1), (1, 2), (2, 2))))
    merged = AttentionMap(side, side, "cross", np.eye(3)[None, None]).words()
    assert merged.source.tokens == ("▁▁", "</s>")
    assert len(merged.alignment()) == 0


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("나는 학생", [(0, 2), (2, 5)], (0, 1)),
        ("나는 학생", [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], (0, 0, 1, 1, 1)),
        (" a b ", [(0, 2), (2, 4), (4, 5), (5, 5)], (0, 1, 1, None)),
        ("a\u00a0b", [(0, 1), (1, 3)], (0, 1)),
        ("a b", [(0, 2), (2, 3), (0, 3)], (0, 1, 0)),
    ],
)
def test_white_space_counts_with_the_word_after_it(text: str, spans: list[tuple[int, int]], expected: tuple) -> None:
    assert words_of(text, spans) == expected


# -------------------------------------------------------------------------------------------------------------- sinks


def test_hiding_sinks_keeps_their_share() -> None:
    columns, lines = side_of_words([["a"], ["b"]]), side_of_words([["x"]])
    weights = np.array([[[[0.1, 0.3, 0.6], [0.0, 0.0, 1.0]]]])
    seen = AttentionMap(columns, lines, "cross", weights).without_sinks()
    assert seen.source.tokens == ("▁a", "▁b")
    assert seen.hidden is not None
    np.testing.assert_allclose(seen.hidden[0, 0], [0.6, 1.0], atol=1e-6)
    np.testing.assert_allclose(seen.weights[0, 0], [[0.1, 0.3], [0, 0]], atol=1e-6)
    np.testing.assert_allclose(seen.rescale().weights[0, 0], [[0.25, 0.75], [0, 0]], atol=1e-6)
    assert seen.footnote == "</s> hidden: 80 % of the attention lies there"
    np.testing.assert_allclose(seen.sink_share()[0, 0], [0.6, 1.0], atol=1e-6)
    assert seen.without_sinks() is seen


def test_what_rounding_left_is_not_scaled_up() -> None:
    columns, lines = side_of_words([["a"]]), side_of_words([["x"]])
    seen = AttentionMap(columns, lines, "cross", np.array([[[[1e-8, 1], [1, 0]]]])).without_sinks().rescale()
    assert seen.weights[0, 0, :, 0].tolist() == [0, 1]
    assert seen.hidden is not None
    assert seen.hidden[0, 0].tolist() == [1, 0]


def sinking(share: float, mark: str = ".") -> AttentionMap:
    """Three words, a final mark on which every word rests with this share, and an end with a tenth."""
    columns, lines = side_of_words([["a"], ["b"], ["c"], [mark]]), side_of_words([["x"], ["y"], ["z"], ["."]])
    weights = np.zeros((5, 5))
    for row in range(3):
        weights[row, row], weights[row, 3], weights[row, 4] = 0.9 - share, share, 0.1
    weights[3, 3] = weights[4, 4] = 1
    return AttentionMap(columns, lines, "cross", weights[None, None])


def test_a_final_mark_is_hidden_only_where_it_is_a_sink() -> None:
    assert sinking(0.6).without_sinks(punctuation=True).source.tokens == ("▁a", "▁b", "▁c")
    assert sinking(0.6).without_sinks().source.tokens == ("▁a", "▁b", "▁c", "▁.")
    assert sinking(0.1).without_sinks(punctuation=True).source.tokens == ("▁a", "▁b", "▁c", "▁.")
    assert sinking(0.6, "d").without_sinks(punctuation=True).source.tokens == ("▁a", "▁b", "▁c", "▁d")


def test_hiding_twice_adds_up() -> None:
    once = sinking(0.6).without_sinks(punctuation=True)
    twice = sinking(0.6).without_sinks().without_sinks(punctuation=True)
    close(once, twice)
    assert once.hidden is not None
    np.testing.assert_allclose(once.hidden[0, 0, :3], 0.7, atol=1e-6)


def test_a_source_of_nothing_but_special_tokens_stays() -> None:
    side = side_of_words([])
    attention = AttentionMap(side, side, "cross", np.ones((1, 1, 1, 1)))
    assert attention.without_sinks() is attention
    assert attention.words().alignment().pairs == ()


# --------------------------------------------------------------------------------------------------- layers and heads


def test_layers_and_heads_keep_their_names() -> None:
    attention = random_map(*PAIR, layers=3, heads=4)
    one = attention.layer(1).head(-1)
    assert (one.layers, one.heads) == (("1",), ("3",))
    assert np.array_equal(one.weights[0, 0], attention.weights[1, 3])
    assert one.mean() is one
    assert attention.layer(2).mean().layers == ("2",)
    assert attention.mean().heads == ("mean",)
    np.testing.assert_allclose(attention.mean().weights[0, 0], attention.weights.mean(axis=(0, 1)), atol=1e-6)


def test_a_layer_that_is_not_there_is_one_line() -> None:
    attention = random_map(*PAIR, layers=2, heads=1)
    with pytest.raises(ConfigError, match=r"layer = 2, but this map has 2 \(layers 0 to 1\)"):
        attention.layer(2)
    with pytest.raises(ConfigError, match="head = -2, but this map has 1"):
        attention.head(-2)


def test_the_best_head_of_the_model_is_taken() -> None:
    attention = random_map(*PAIR, layers=2, heads=3)
    assert same(attention.best(Best(1, 2, 0.1)), attention.layer(1).head(2))


def test_without_a_choice_the_best_head_is_where_rows_and_columns_agree() -> None:
    side = side_of_words([["a"], ["b"], ["c"]])
    weights = np.tile(np.array([0.97, 0.01, 0.01, 0.01]), (2, 2, 4, 1))
    weights[1, 0] = np.eye(4)[[2, 0, 1, 3]]
    chosen = AttentionMap(side, side, "cross", weights).best()
    assert (chosen.layers, chosen.heads) == (("1",), ("0",))


# ------------------------------------------------------------------------------------------------------------ rollout


def test_rollout_of_one_layer_is_half_itself() -> None:
    attention = random_map([["a"], ["b"]], [["a"], ["b"]], heads=2, kind="encoder")
    rolled = attention.rollout()
    np.testing.assert_allclose(rolled.weights[0, 0], (attention.mean().weights[0, 0] + np.eye(3)) / 2, atol=1e-6)


def test_rollout_multiplies_from_the_first_layer_up() -> None:
    attention = random_map([["a"], ["b"]], [["a"], ["b"]], layers=3, kind="encoder")
    expected = np.eye(3)
    for layer in attention.weights[:, 0].astype(float):
        expected = (0.5 * layer + 0.5 * np.eye(3)) @ expected
    np.testing.assert_allclose(attention.rollout().weights[0, 0], expected, atol=1e-6)


def test_rollout_of_a_single_look_at_the_source_is_that_look() -> None:
    attention = random_map(*PAIR)
    np.testing.assert_allclose(attention.rollout().weights, attention.weights, atol=1e-6)


def test_rollout_follows_the_encoder_to_the_source_tokens() -> None:
    """The decoder looks at state 0 only, and the encoder's state 0 looked at token 1."""
    side = side_of_words([["a"]])
    look = np.array([[[[1.0, 0.0], [1.0, 0.0]]]])
    turned = AttentionMap(side, side, "encoder", np.array([[[[0.0, 1.0], [1.0, 0.0]]]]))
    rolled = AttentionMap(side, side, "cross", look).rollout(encoder=turned)
    np.testing.assert_allclose(rolled.weights[0, 0], [[0.5, 0.5], [0.5, 0.5]])


def test_rollout_follows_the_decoder_to_what_earlier_words_took_from_the_source() -> None:
    """Position 1 looks back at position 0 in its second layer, and takes over half of what that one had seen."""
    side = side_of_words([["a"]])
    first = np.eye(2)
    cross = AttentionMap(side, side, "cross", np.stack([first, first])[:, None])
    back = np.array([[1.0, 0.0], [1.0, 0.0]])
    decoder = AttentionMap(shifted(side), side, "decoder", np.stack([back, back])[:, None])
    rolled = cross.rollout(decoder=decoder).weights[0, 0]
    # After layer 0: share 1/2 on its own token. Layer 1: (1/2 + 1/2 look back) / 2, then half of its own token.
    np.testing.assert_allclose(rolled[0], [1, 0], atol=1e-6)
    np.testing.assert_allclose(rolled[1], np.array([0.125, 0.125 + 0.5]) / 0.75, atol=1e-6)


def test_rollout_wants_pieces_and_maps_of_the_same_pair() -> None:
    attention = random_map(*PAIR, layers=2)
    with pytest.raises(ConfigError, match="before words"):
        attention.words().rollout()
    with pytest.raises(ConfigError, match="encoder = a map of kind 'cross'"):
        attention.rollout(encoder=attention)
    small = random_map([["a"]], [["a"]], kind="encoder")
    with pytest.raises(ShapeError, match="2 tokens, the cross map 4 columns"):
        attention.rollout(encoder=small)


# ------------------------------------------------------------------------------------------------------------- joined


def test_parts_of_a_long_text_are_joined_in_blocks() -> None:
    one, other = of_matrix([[0.25, 0.75]]), of_matrix([[1.0]])
    whole = joined([one, other])
    assert whole is not None
    assert whole.source.text == "a0 a1 a0"
    assert whole.source.words == (0, 1, None, 2, None)
    assert [whole.source.text[start:end] for start, end in whole.source.spans] == ["a0", " a1", "", "a0", ""]
    assert whole.weights[0, 0, 0].tolist() == [0.25, 0.75, 0, 0, 0]
    assert whole.weights[0, 0, 2].tolist() == [0, 0, 0, 1, 0]
    assert whole.alignment().pairs == ((1, 0), (2, 1))
    assert joined([]) is None
    with pytest.raises(ShapeError, match="cannot be joined"):
        joined([one, one.words()])


# ------------------------------------------------------------------------------------------------------------- checks


def test_weights_that_do_not_fit_are_refused() -> None:
    side = side_of_words([["a"]])
    with pytest.raises(ShapeError, match=r"expected \(layers, heads, 2, 2\)"):
        AttentionMap(side, side, "cross", np.ones((1, 1, 2, 3)))
    with pytest.raises(ShapeError, match="expected"):
        AttentionMap(side, side, "cross", np.ones((2, 2)))
    with pytest.raises(ShapeError, match="expected"):
        AttentionMap(side, side, "cross", np.ones((0, 1, 2, 2)))
    with pytest.raises(ShapeError, match="hidden has shape"):
        AttentionMap(side, side, "cross", np.ones((1, 1, 2, 2)), hidden=np.ones((1, 2)))
    with pytest.raises(ShapeError, match="names of layers"):
        AttentionMap(side, side, "cross", np.ones((1, 1, 2, 2)), layers=("0", "1"))
    for wrong in (np.nan, np.inf, -0.1):
        with pytest.raises(DataError, match="finite"):
            AttentionMap(side, side, "cross", np.full((1, 1, 2, 2), wrong))


def test_unknown_names_are_refused() -> None:
    side = side_of_words([["a"]])
    with pytest.raises(ConfigError, match="kind = 'cros' is unknown; did you mean 'cross'"):
        AttentionMap(side, side, "cros", np.ones((1, 1, 2, 2)))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="level = 'words'"):
        AttentionMap(side, side, "cross", np.ones((1, 1, 2, 2)), level="words")  # type: ignore[arg-type]


def test_a_side_is_checked() -> None:
    with pytest.raises(ShapeError, match="2 tokens, 1 spans"):
        Side("ab", ("a", "b"), ((0, 1),), (0, 0))
    with pytest.raises(ShapeError, match="outside its text"):
        Side("ab", ("a",), ((0, 3),), (0,))


@relaxed()
@given(st.integers(1, 3), st.integers(1, 3))
def test_the_title_says_what_is_shown(layers: int, heads: int) -> None:
    attention = random_map(*PAIR, layers=layers, heads=heads)
    assert attention.title.startswith("cross-attention, ")
    assert ("layer 0" if layers == 1 else f"{layers} layers") in attention.title
    assert ("head 0" if heads == 1 else f"{heads} heads") in attention.title
    assert attention.title in repr(attention)
    assert "7 x 4 pieces" in attention.title
    assert "rollout over all layers, mean of heads" in attention.rollout().title
