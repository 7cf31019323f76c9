"""The lesson *scores*: each score by its formula in NumPy; variances and gradients as theory and autograd have them."""

import math

import numpy as np
import pytest
import torch

from seq2see.attention import mechanism
from seq2see.learn.blocks import LessonTable, Matrix
from seq2see.learn.lesson import LessonPage
from seq2see.learn.lessons import scores as taught
from seq2see.learn.lessons.scores import KEYS, LESSON, NAMES, PLACES, W1, W2, WIDTHS, V
from seq2see.learn.workshop import Workshop


@pytest.fixture(scope="module")
def page() -> LessonPage:
    return LESSON.page(Workshop())


def blocks(page: LessonPage, section: int, kind: type) -> list:
    return [block for block in page.sections[section].blocks if isinstance(block, kind)]


def by_formula(query: np.ndarray, keys: np.ndarray) -> np.ndarray:
    dot = keys @ query
    norms = np.linalg.norm(keys, axis=1) * np.linalg.norm(query)
    additive = np.tanh(np.array(W1) @ query + keys @ np.array(W2).T) @ np.array(V)
    general = keys @ np.array(taught.GENERAL).T @ query
    return np.stack([dot, dot / math.sqrt(2), general, additive, dot / norms, np.array(PLACES) @ query])


@pytest.mark.parametrize("query", [(1.0, 2.0), (2.0, -1.0)])
def test_scores_and_weights_follow_their_formulas(query: tuple[float, float]) -> None:
    page = LESSON.page(Workshop(), {"query": query})
    scores, weights = blocks(page, 0, Matrix)
    wanted = by_formula(np.array(query), np.array(KEYS))
    np.testing.assert_allclose(scores.values, wanted)
    exps = np.exp(wanted)
    np.testing.assert_allclose(weights.values, exps / exps.sum(axis=1, keepdims=True))
    for line, score in zip(page.sections[0].blocks[1:7], wanted[:, 0], strict=True):
        assert line.text.endswith(f"= {score:.2f}")


def test_only_location_is_blind_to_keys(page: LessonPage) -> None:
    before, after = blocks(page, 0, Matrix)[1].values, blocks(page, 1, Matrix)[0].values
    for name, old, new in zip(NAMES, before, after, strict=True):
        np.testing.assert_allclose(new, old if name == "location" else np.roll(old, 1))


def test_the_scores_disagree_as_the_text_says(page: LessonPage) -> None:
    winners = dict(zip(NAMES, blocks(page, 0, Matrix)[0].values.argmax(axis=1).tolist(), strict=True))
    assert winners["dot"] != winners["cosine"] != winners["additive"]
    assert np.linalg.norm(KEYS[winners["dot"]]) == max(np.linalg.norm(key) for key in KEYS)


def test_variances_are_what_theory_says(page: LessonPage) -> None:
    table = blocks(page, 2, LessonTable)[0]
    for width, row in zip(WIDTHS, table.rows, strict=True):
        assert row[0] == width
        dot, scaled, general, additive, cosine = row[1:]
        assert dot == pytest.approx(width, rel=0.2)
        assert scaled == pytest.approx(dot / width, rel=1e-4)
        assert cosine == pytest.approx(1 / width, rel=0.2)
        assert additive < 0.5
        with torch.random.fork_rng():
            torch.manual_seed(1)
            matrix = mechanism("general", width, width).bilinear.weight.detach()
        assert general == pytest.approx(float(matrix.square().sum()), rel=0.3)  # q^T W k: the sum of all W_ij^2


def test_gradients_are_those_of_the_jacobian(page: LessonPage) -> None:
    torch.manual_seed(0)
    scores = torch.randn(5, 7, dtype=torch.float64)
    largest, norms = taught.softmax_gradient(scores)
    weights = torch.softmax(scores, dim=-1)
    for row, large, norm in zip(weights, largest, norms, strict=True):
        jacobian = torch.diag(row) - torch.outer(row, row)
        assert float(norm) == pytest.approx(float(jacobian.norm()))
        assert float(large) == pytest.approx(float(row.max()))
    rows = blocks(page, 3, LessonTable)[0].rows
    plain, scaled = [row[3] for row in rows], [row[4] for row in rows]
    assert plain[-1] < 0.3 * plain[0]  # what the text claims: it shrinks, and scaled it does not
    assert min(scaled) > 0.8 * max(scaled)
