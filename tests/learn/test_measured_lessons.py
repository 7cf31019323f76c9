"""The lessons *heads*, *block*, *order*, *convolution*, *search* and *style*: their numbers, worked out another way."""

import math
import shutil
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from learning import Taught
from seq2see.data import Batch
from seq2see.learn.blocks import LessonTable, Matrix
from seq2see.learn.evidence import CLAIMS, evidence
from seq2see.learn.influence import felt_by_key, felt_by_target, felt_of_said, sequence, words_of
from seq2see.learn.lessons import block, convolution, heads, search, style
from seq2see.learn.reversing import WORDS, reversed_pairs
from seq2see.models import build
from seq2see.search import SearchConfig
from seq2see.vocabulary import EOS


def tables(page: Any) -> list[LessonTable]:
    return [found for section in page.sections for found in section.blocks if isinstance(found, LessonTable)]


# ----- gradients


@pytest.mark.parametrize("family", ["rnnsearch", "convs2s", "transformer", "bytenet"])
def test_a_felt_word_is_one_that_changes_the_result(family: str) -> None:
    """The gradient against a difference: one word vector moved a little along its gradient."""
    torch.manual_seed(1)
    model = build(family, "tiny", source_vocabulary=40, target_vocabulary=40).double().eval()
    felt = felt_by_target(model, 6, 5)
    weight = words_of(model.encoder)
    batch = Batch.of([[*sequence(6), EOS]], [sequence(6)])

    def chance() -> float:
        return float(torch.log_softmax(model(batch).logits[0, 5].detach(), dim=-1)[sequence(6)[5]])

    before = chance()
    direction = torch.randn(weight.size(1), dtype=torch.float64)
    direction /= direction.norm()
    with torch.no_grad():
        moved = {}
        for place in (0, 5):
            weight[sequence(6)[place]] += 1e-6 * direction
            moved[place] = abs(chance() - before) / 1e-6
            weight[sequence(6)[place]] -= 1e-6 * direction
    for place, change in moved.items():
        assert change <= felt[place] * 1.001 + 1e-6  # no direction is steeper than the gradient


def test_receptive_fields_are_those_of_the_formulas() -> None:
    for kernel, layers in ((3, 1), (3, 4), (5, 2)):
        shares = convolution.field(convolution.conv_model(kernel, layers), 10)
        assert convolution.seen(shares) == 1 + layers * (kernel - 1)
        assert sum(shares) == pytest.approx(1)
    shares = convolution.field(convolution.byte_model(3, (1, 2, 4)), 10)
    assert convolution.seen(shares) == 1 + 2 * (1 + 2 + 4)


def test_what_comes_later_is_not_felt() -> None:
    model = convolution.conv_model(3, 2)
    for position in (1, 4):
        felt = felt_of_said(model, 8, position)
        assert all(value == 0 for value in felt[position:])
        assert felt[position - 1] > 0
    assert np.count_nonzero(felt_by_key(model, 15, 7)) == 5


def test_a_drawing_has_a_dot_for_nothing_and_the_highest_bar_for_most() -> None:
    assert convolution.drawn([0.0, 0.1, 1.0, 0.5]) == "·▁█▅"


# ----- order


def test_the_tables_of_order(taught: Taught) -> None:
    page = taught.page("order")
    formulas, counted, seconds, gradients = tables(page)
    assert [row[1] for row in formulas.rows] == ["n d^2", "k n d^2", "k n d^2", "n^2 d"]
    steps = {row[0]: row[2:] for row in counted.rows}
    assert steps["rnn"] == (80, 80)
    assert steps["transformer"] == (6, 6)
    assert steps["convs2s"] == (4, 4)
    for row in seconds.rows:
        assert row[-1] == pytest.approx(row[-2] / row[1])
        assert min(row[1:-1]) > 0
    felt = {row[0]: row[1:] for row in gradients.rows}
    assert felt["rnn"][2] < 1e-3 < felt["rnnsearch"][2]
    assert felt["rnn"][2] == pytest.approx(felt["rnn"][1] / felt["rnn"][0])
    assert f"{felt['rnn'][2]:.0e}" in page.answer.en


# ----- block


def test_one_thing_is_taken_and_the_rest_stays() -> None:
    x = torch.randint(4, WORDS, (2, 5))
    mask = torch.ones(2, 1, 5, dtype=torch.bool)
    outputs = {part: block.without(part, 2).eval().encoder(x, mask)[0].keys for part in block.PARTS}
    for part in block.PARTS[1:]:
        assert not torch.allclose(outputs[part], outputs["nothing"]), part
    whole, unnormed = block.without("nothing", 2), block.without("norm", 2)
    names = {name for name, _ in whole.named_parameters()} - {name for name, _ in unnormed.named_parameters()}
    assert names
    assert all("norm" in name for name in names)
    shuffled = block.without("positions", 2).eval().encoder(x.flip(1), mask)[0].keys
    torch.testing.assert_close(shuffled.flip(1), outputs["positions"])  # a bag of words


def test_pairs_are_reversed_and_splits_do_not_overlap() -> None:
    learned, unseen = reversed_pairs("train", 10, 50), reversed_pairs("test", 10, 20)
    assert all(source[::-1] == target and 5 <= len(source) <= 10 for source, target in (*learned, *unseen))
    assert not {tuple(source) for source, _ in learned} & {tuple(source) for source, _ in unseen}


def test_the_table_of_block_is_the_end_of_its_curves(taught: Taught) -> None:
    trained = tables(taught.page("block"))[-1]
    assert len(trained.rows) == 5
    assert all(0 < row[1] < 20 and 0 <= row[2] <= 100 for row in trained.rows)


# ----- heads


def test_the_table_of_heads(taught: Taught) -> None:
    page = taught.page("heads")
    matrices = [found for section in page.sections for found in section.blocks if isinstance(found, Matrix)]
    assert len(matrices) == 3
    for matrix in matrices:
        np.testing.assert_allclose(matrix.values.sum(axis=1), 1, atol=1e-3)
    decoder = matrices[1].values
    assert not decoder[np.triu_indices(len(decoder), 1)].any()
    every, alike, _ = tables(page)
    assert len(every.rows) == 3 * heads.LAYERS * heads.HEADS
    assert alike.rows[0][1] == pytest.approx(1, abs=1e-5)  # the same word in the same place
    assert heads.distance(np.eye(4)) == 0
    assert heads.distance(np.full((2, 2), 0.5)) == 0.5


def test_one_korean_word_has_two_english_ones() -> None:
    grammar = heads.small_grammar()
    assert len(set(grammar)) == len(grammar) == 4 * 4 * 3 * len(heads.DEEDS)
    for word in ("배를", "차를", "눈을"):
        assert len({what for _, what, _ in heads.meanings(word)}) == 2


# ----- search


def test_shares_are_counted_from_the_pairs() -> None:
    assert search.share_of(search.RAIN, [], "the") == pytest.approx(0.6)
    assert search.share_of(search.RAIN, ["the", "rain"], "falls") == pytest.approx(1 / 3)
    assert search.share_of(search.RAIN, ["it", "is", "raining"], "</s>") == 1
    assert all(sum(shares.values()) == 100 for shares in search.SHARES.values())


def test_the_probabilities_of_search_are_the_models(taught: Taught) -> None:
    translator = search.trained(taught.workshop)
    page = taught.page("search")
    forced, greedy, beam, lengths = tables(page)
    assert sum(row[4] for row in forced.rows) == pytest.approx(-math.log(math.prod(row[3] for row in forced.rows)))
    (reference,) = [translator.forced(search.RAIN, "it is raining")]
    assert sum(row[4] for row in forced.rows) == pytest.approx(-reference.score, abs=1e-4)
    assert greedy.rows[-1][2] == pytest.approx(
        search.probability(search.searched(translator, search.RAIN, 1)), abs=1e-5
    )
    assert [row[2] for row in beam.rows] == pytest.approx([math.exp(row[1]) for row in beam.rows])
    assert [row[2] for row in beam.rows] == sorted((row[2] for row in beam.rows), reverse=True)
    config = SearchConfig(beam=4, length_penalty="gnmt", alpha=0.6)
    for text, length, score, divisor, ranked in lengths.rows:
        assert length == len(text.split()) + 1
        assert divisor == pytest.approx(((5 + length) / 6) ** config.alpha)
        assert ranked == pytest.approx(score / divisor)


@pytest.mark.slow
def test_greedy_fails_where_it_has_to(taught: Taught) -> None:
    translator = search.trained(replace(taught.workshop, quick=False))
    assert search.searched(translator, search.RAIN, 1).text.startswith("the rain")
    assert search.searched(translator, search.RAIN, 3).text == "it is raining"


# ----- style


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="no espeak-ng on this machine")
def test_the_weights_of_style_are_shares(taught: Taught) -> None:
    page = taught.page("style")
    (matrix,) = [found for section in page.sections for found in section.blocks if isinstance(found, Matrix)]
    np.testing.assert_allclose(matrix.values.sum(axis=1), 1, atol=1e-4)
    (read,) = tables(page)
    assert all(0 <= share <= 1 for row in read.rows for share in row[1:])
    assert [row[1] for row in read.rows] == pytest.approx([1 / 2, 1 / 3, 1 / 3])  # by guessing
    recorded = style.recordings(style.drawn_texts(quick=True).heard)[: style.MANNERS]
    assert np.mean([recording.pace for recording in recorded]) == pytest.approx(1)
    fast = [recording.pace for recording in recorded if recording.labels["speed"] == 240]
    slow = [recording.pace for recording in recorded if recording.labels["speed"] == 130]
    assert max(fast) < min(slow)


def test_style_is_measured_on_texts_that_training_has_not_heard() -> None:
    heard, unheard, other_words = style.drawn_texts(quick=False)
    assert not set(heard) & set(unheard)
    assert len(set(unheard)) == len(set(other_words)) == 6
    known = {word for text in (*heard, *unheard) for word in text.split()}
    new = {word for text in other_words for word in text.split()}
    assert len(new - known) >= 20


# ----- evidence


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="no espeak-ng on this machine")
@pytest.mark.slow
def test_every_claim_has_its_figure_and_command(taught: Taught) -> None:
    page = evidence(taught.workshop)
    for number, claim in enumerate(CLAIMS, start=1):
        assert f"## {number}. {claim.claim}" in page
        assert f"`seq2see learn {claim.lesson}`" in page
    assert "nan" not in page.lower().split()
    assert page.count("|---|") + page.count("```\n") >= len(CLAIMS)


def test_a_receptive_field_is_drawn_line_by_line() -> None:
    assert convolution._picture([[0.0, 1.0, 0.0]], 1).lines == ("1  ·█·",)
