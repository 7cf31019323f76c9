"""The lesson *qkv*: every printed number is one that attention computes, whatever is set."""

import math
import re

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from learning import printed
from seq2see.attention import Dot, MultiHead, ScaledDot
from seq2see.learn.blocks import Matrix
from seq2see.learn.lesson import LessonPage
from seq2see.learn.lessons import qkv as taught
from seq2see.learn.lessons.qkv import LESSON, SENTENCE, TRANSLATION
from seq2see.learn.wording import say
from seq2see.learn.workshop import Workshop

BOTH = pytest.mark.parametrize("language", ["en", "ko"])
X, Y, W_Q, W_K, W_V, W_O = (
    torch.tensor(values, dtype=torch.float64)
    for values in (taught.EMBEDDINGS, taught.DECODER, taught.W_Q, taught.W_K, taught.W_V, taught.W_O)
)
Q, K, V = X @ W_Q, X @ W_K, X @ W_V


@pytest.fixture(scope="module")
def page() -> LessonPage:
    return LESSON.page(Workshop())


def look_alone(score: ScaledDot | Dot, **options: str) -> tuple[Tensor, Tensor]:
    """Context and weights of a bare mechanism on the projected sentence: another way than the lesson's own."""
    context, weights = score(Q.unsqueeze(0), K.unsqueeze(0), V.unsqueeze(0))
    assert weights is not None
    return context[0], weights[0, 0]


def expected() -> list[tuple[str, Tensor, int]]:
    """Names, numbers and digits of the matrices in the order of the lesson, computed here."""
    context, weights = look_alone(ScaledDot(4, 4))
    hidden, masked = look_alone(ScaledDot(4, 4, scope="causal"))
    scores = Dot(4, 4).score(Q[None, None], K[None, None])[0, 0]
    scaled = scores / math.sqrt(4)
    row = scaled[1]
    steps = torch.stack([row, row - row.max(), (row - row.max()).exp(), weights[1]])
    parts = torch.cat([weights[1][:, None] * V, context[1:2]])
    heads = MultiHead(4, 4, heads=2, bias=False).double()
    with torch.no_grad():
        for layer, weight in (
            (heads.query_projection, W_Q),
            (heads.key_projection, W_K),
            (heads.value_projection, W_V),
            (heads.output_projection, W_O),
        ):
            layer.weight.copy_(weight.T)
        output, two = heads(X.unsqueeze(0), X.unsqueeze(0))
    assert two is not None
    cross_context, cross_weights = ScaledDot(4, 4)((Y @ W_Q)[None], K[None], V[None])
    assert cross_weights is not None
    joined = torch.cat([two[0, 0] @ V[:, :2], two[0, 1] @ V[:, 2:]], dim=-1)
    return [
        ("X", X, 2),
        ("W_Q", W_Q, 2),
        ("W_K", W_K, 2),
        ("W_V", W_V, 2),
        ("Q", Q, 2),
        ("K", K, 2),
        ("V", V, 2),
        ("Q K^T", scores, 2),
        ("Q K^T / sqrt(4)", scaled, 3),
        ("softmax, am", steps, 3),
        ("A = softmax", weights, 2),
        ("weight x value", parts, 2),
        ("A V", context, 2),
        ("Q K^T / sqrt(4)", scaled.masked_fill(torch.ones(4, 4).triu(1).bool(), math.nan), 3),
        ("A = softmax", masked, 2),
        ("A V", hidden, 2),
        ("A, head 0", two[0, 0], 2),
        ("A, head 1", two[0, 1], 2),
        ("heads side by side", joined, 2),
        ("W_O", W_O, 2),
        ("output", output[0], 2),
        ("Y", Y, 2),
        ("Q", Y @ W_Q, 2),
        ("Q K^T / sqrt(4)", Y @ W_Q @ K.T / 2, 3),
        ("A = softmax", cross_weights[0, 0], 2),
        ("A V", cross_context[0], 2),
    ]


def test_every_matrix_is_the_computed_one(page: LessonPage) -> None:
    shown = [block for section in page.sections for block in section.blocks if isinstance(block, Matrix)]
    wanted = expected()
    assert [say(matrix.name, "en") for matrix in shown] == [name for name, _, _ in wanted]
    for matrix, (name, values, digits) in zip(shown, wanted, strict=True):
        assert matrix.digits == digits
        hidden = np.zeros(matrix.values.shape, dtype=bool) if matrix.hidden is None else matrix.hidden
        assert np.array_equal(hidden, np.isnan(values.numpy())), name
        np.testing.assert_allclose(matrix.values[~hidden], values.numpy()[~hidden], atol=1e-12, err_msg=name)


@BOTH
def test_every_number_of_a_matrix_is_printed(language: str, page: LessonPage) -> None:
    text = printed(LESSON, page, language)
    for section in page.sections:
        for block in section.blocks:
            if isinstance(block, Matrix):
                for row, name in enumerate(block.rows):
                    numbers = [block.shown(row, column) for column in range(len(block.columns))]
                    assert re.search(rf"{re.escape(say(name, language))} +{' +'.join(numbers)}\n", text), (
                        name,
                        numbers,
                    )


@BOTH
def test_numbers_in_sentences_are_computed_ones(language: str, page: LessonPage) -> None:
    text = printed(LESSON, page, language)
    _, weights = look_alone(ScaledDot(4, 4))
    scores = (Q @ K.T)[1] / 2
    total = (scores - scores.max()).exp().sum().item()
    two = taught.look(heads=2).weights
    _, cross = ScaledDot(4, 4)((Y @ W_Q)[None], K[None], V[None])
    claims = {
        "am, i": f"{weights[1, 0]:.2f}",
        "am, student": f"{weights[1, 3]:.2f}",
        "am, the others": f"{1 - weights[1, 0] - weights[1, 3]:.2f}",
        "total": f"{total:.3f}",
        "head 0": f"{two[0, 1].max():.2f}",
        "head 1": f"{two[1, 1].max():.2f}",
        "the product": f"= {(Q[1] @ K[3]).item():.2f}",
        "cross": f"'student' ({cross[0, 0, 1, 3]:.2f})",
    }
    for what, number in claims.items():
        assert number in text, what
    terms = " + ".join(
        f"{q:.2f} x {k:.2f}" if k >= 0 else f"{q:.2f} x ({k:.2f})"
        for q, k in zip(Q[1].tolist(), K[3].tolist(), strict=True)
    )
    assert terms in text


def test_settings_change_every_step() -> None:
    page = LESSON.page(Workshop(), {"asking": "student", "stretch": 4, "heads": 4})
    _, weights = ScaledDot(4, 4)(4 * Q[None], K[None], V[None])
    assert weights is not None
    matrices = [block for section in page.sections for block in section.blocks if isinstance(block, Matrix)]
    attention = next(matrix for matrix in matrices if matrix.name == "A = softmax")
    np.testing.assert_allclose(attention.values, weights[0, 0].numpy(), atol=1e-12)
    assert sum("A, head" in say(matrix.name, "en") for matrix in matrices) == 4
    assert "For 'student'" in page.answer.en
    usual = look_alone(ScaledDot(4, 4))[1]
    assert (weights[0, 0].max(dim=-1).values > usual.max(dim=-1).values).all()  # sharper, as the attempt promises


def test_what_is_said_of_the_numbers_is_true() -> None:
    """The sentences claim an order; whoever changes the matrices changes the sentences."""
    _, weights = look_alone(ScaledDot(4, 4))
    two = taught.look(heads=2).weights
    order = weights[1].argsort(descending=True).tolist()
    assert [SENTENCE[place] for place in order[:2]] == ["i", "student"]
    assert [SENTENCE[int(head[1].argmax())] for head in two] == ["i", "student"]
    assert two[0, 1].max() > weights[1, 0]
    assert two[1, 1].max() > weights[1, 3]
    cross = taught.look(queries=taught.DECODER).weights[0]
    looks = dict(zip(TRANSLATION, (SENTENCE[int(row.argmax())] for row in cross), strict=True))
    assert looks == {"나는": "i", "학생": "student", "입니다": "am"}
    masked = taught.look(heads=1, scope="causal")
    np.testing.assert_allclose(masked.weights[0, -1], weights[-1].numpy(), atol=1e-12)
    assert masked.weights[0, 0].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert not np.triu(masked.weights[0], 1).any()


def test_products_and_scores_are_exact_in_their_digits() -> None:
    one = taught.look(heads=1)
    exact: list[tuple[NDArray[np.float64], int]] = [
        (one.query, 2),
        (one.keys, 2),
        (one.values, 2),
        (taught.products(one), 2),
        (one.scores, 3),
    ]
    for values, digits in exact:
        assert np.array_equal(values, np.round(values, digits))
