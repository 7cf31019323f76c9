"""The lesson *dot*: the numbers of its text, worked out by hand and by NumPy."""

import numpy as np
import pytest

from learning import printed
from seq2see.errors import ConfigError
from seq2see.learn.blocks import Equation, LessonTable, Matrix
from seq2see.learn.lesson import LessonPage
from seq2see.learn.lessons.dot import KEYS, LESSON, VALUES
from seq2see.learn.workshop import Workshop


@pytest.fixture(scope="module")
def page() -> LessonPage:
    return LESSON.page(Workshop())


def blocks(page: LessonPage, kind: type) -> list:
    return [block for section in page.sections for block in section.blocks if isinstance(block, kind)]


def softmax(scores: np.ndarray) -> np.ndarray:
    exps = np.exp(scores - scores.max())
    return exps / exps.sum()


def test_the_two_products_of_the_lesson(page: LessonPage) -> None:
    sums = [block.text for block in blocks(page, Equation)]
    assert "[2, 3] . [4, 5] = 2 x 4 + 3 x 5 = 23" in sums
    assert "[2, 3] . [-5, 2] = 2 x (-5) + 3 x 2 = -4" in sums


@pytest.mark.parametrize("sharpness", [1.0, 0.1])
@pytest.mark.parametrize("query", [(2.0, 3.0), (-4.0, 3.0)])
def test_every_number_is_what_numpy_says(query: tuple[float, float], sharpness: float) -> None:
    page = LESSON.page(Workshop(), {"query": query, "sharpness": sharpness})
    asking, keys, values = np.array(query), np.array(KEYS), np.array(VALUES)
    scores = keys @ asking
    weights = softmax(sharpness * scores)
    lengths, shares = blocks(page, LessonTable)
    norms = np.linalg.norm(keys, axis=1)
    cosines = scores / norms / np.linalg.norm(asking)
    for row, norm, cosine, score in zip(lengths.rows, norms, cosines, scores, strict=True):
        assert row[1:] == pytest.approx((norm, cosine, np.degrees(np.arccos(cosine)), score))
    for row, score, weight in zip(shares.rows, sharpness * scores, weights, strict=True):
        assert row[1:] == pytest.approx((score, score - (sharpness * scores).max(), weight / weights.max(), weight))
    parts, sharpnesses = blocks(page, Matrix)
    np.testing.assert_allclose(parts.values, [*(weights[:, None] * values), weights @ values])
    factors = [float(name.en.removeprefix("x ")) for name in sharpnesses.rows]
    np.testing.assert_allclose(sharpnesses.values, [softmax(factor * scores) for factor in factors])
    assert f"[{(weights @ values)[0]:.2f}, {(weights @ values)[1]:.2f}]" in page.answer.en
    assert page.answer.en.split("shares (")[1].startswith(f"{weights[0]:.3f}")


def test_the_list_of_numbers_of_a_shell_is_a_vector() -> None:
    same = [LESSON.page(Workshop(), {"query": query}) for query in ("4, 1", [4, 1])]
    assert printed(LESSON, same[0], "en") == printed(LESSON, same[1], "en")


@pytest.mark.parametrize("query", ["1", "1,2,3", "0,0", "1,x", "1e9,1", "nan,1"])
def test_a_query_that_is_no_vector_of_the_plane(query: str) -> None:
    with pytest.raises(ConfigError, match="query"):
        LESSON.page(Workshop(), {"query": query})
