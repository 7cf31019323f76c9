"""The lesson: every printed number is one that attention computes; both languages say the same; 80 columns hold it."""

import math
import re
import string
from dataclasses import fields

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from rich.cells import cell_len
from torch import Tensor

from seq2see.attention import Dot, MultiHead, ScaledDot
from seq2see.errors import ConfigError
from seq2see.look.explain import lesson as taught
from seq2see.look.explain.lesson import LANGUAGES, SENTENCE, Equation, Matrix, lesson, lines, wrapped

BOTH = pytest.mark.parametrize("language", ["en", "ko"])
X, W_Q, W_K, W_V, W_O = (
    torch.tensor(values, dtype=torch.float64)
    for values in (taught.EMBEDDINGS, taught.W_Q, taught.W_K, taught.W_V, taught.W_O)
)
Q, K, V = X @ W_Q, X @ W_K, X @ W_V


def printed(language: str) -> list[list[str]]:
    return [list(lines(section, number)) for number, section in enumerate(lesson(language), start=1)]


def matrices(text: list[str]) -> list[tuple[str, list[str], list[list[str]]]]:
    """(name, columns, rows of printed numbers) of every matrix in a section, read off the printed lines."""
    found = []
    for place, line in enumerate(text):
        header = re.fullmatch(r"    (\S.*?)  +((?:\S+ +)*\S+)", line)
        if header is None or place + 1 == len(text) or not re.search(r"  +(-?\d+\.\d+|--)$", text[place + 1]):
            continue
        if re.search(r"\d\.\d", line):
            continue  # a row, not a header
        rows = []
        for row in text[place + 1 :]:
            if not row:
                break
            rows.append(row.split()[-len(header[2].split()) :])
        found.append((header[1].strip(), header[2].split(), rows))
    return found


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
        ("A, {head} 0", two[0, 0], 2),
        ("A, {head} 1", two[0, 1], 2),
        ("[{head} 0; {head} 1]", joined, 2),
        ("W_O", W_O, 2),
        ("output", output[0], 2),
    ]


@BOTH
def test_every_printed_matrix_is_the_computed_one(language: str) -> None:
    found = [matrix for section in printed(language) for matrix in matrices(section)]
    wanted = expected()
    head = LANGUAGES[language].head
    assert [name for name, _, _ in found] == [name.format(head=head) for name, _, _ in wanted]
    for (name, columns, rows), (_, values, digits) in zip(found, wanted, strict=True):
        assert len(columns) == values.size(1)
        shown = [["--" if math.isnan(value) else f"{value:.{digits}f}" for value in row] for row in values.tolist()]
        assert [[_zero(word) for word in row] for row in rows] == [[_zero(word) for word in row] for row in shown], name


def _zero(word: str) -> str:
    return word.removeprefix("-") if word.strip("-0.") == "" and word != "--" else word


@BOTH
def test_numbers_in_sentences_are_computed_ones(language: str) -> None:
    text = "\n".join(" ".join(section) for section in printed(language))
    _, weights = look_alone(ScaledDot(4, 4))
    scores = (Q @ K.T)[1] / 2
    total = (scores - scores.max()).exp().sum().item()
    two = taught.look(heads=2).weights
    told = {
        "am, i": f"{weights[1, 0]:.2f}",
        "am, student": f"{weights[1, 3]:.2f}",
        "total": f"{total:.3f}",
        "head 0": f"{two[0, 1].max():.2f}",
        "head 1": f"{two[1, 1].max():.2f}",
        "the product": f"= {(Q[1] @ K[3]).item():.2f}",
    }
    for what, number in told.items():
        assert number in text, what
    terms = " + ".join(
        f"{q:.2f} x {k:.2f}" if k >= 0 else f"{q:.2f} x ({k:.2f})"
        for q, k in zip(Q[1].tolist(), K[3].tolist(), strict=True)
    )
    assert terms in text
    assert "{" not in text


def test_what_is_said_of_the_numbers_is_true() -> None:
    """The sentences claim an order; whoever changes the matrices changes the sentences."""
    _, weights = look_alone(ScaledDot(4, 4))
    two = taught.look(heads=2).weights
    order = weights[1].argsort(descending=True).tolist()
    assert [SENTENCE[place] for place in order[:2]] == ["i", "student"]
    assert [SENTENCE[int(head[1].argmax())] for head in two] == ["i", "student"]
    assert two[0, 1].max() > weights[1, 0]
    assert two[1, 1].max() > weights[1, 3]
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


@BOTH
def test_it_fits_eighty_columns_without_colour(language: str) -> None:
    every = [line for section in printed(language) for line in section]
    assert max(map(cell_len, every)) <= 80
    assert all(line == line.rstrip() for line in every)
    assert not any("\x1b" in line for line in every)
    assert sum(map(len, every)) > 3000


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_both_languages_say_the_same_things() -> None:
    english, korean = LANGUAGES["en"], LANGUAGES["ko"]
    for field in fields(english):
        ours, theirs = getattr(english, field.name), getattr(korean, field.name)
        if isinstance(ours, str):
            assert placeholders(ours) == placeholders(theirs), field.name
    sections = lesson("en"), lesson("ko")
    assert len(sections[0]) == len(sections[1]) == 9
    for one, other in zip(*sections, strict=True):
        assert [type(block) for block in one.blocks] == [type(block) for block in other.blocks]
        for ours, theirs in zip(one.blocks, other.blocks, strict=True):
            if isinstance(ours, Matrix):
                assert isinstance(theirs, Matrix)
                assert np.array_equal(ours.values, theirs.values)
            if isinstance(ours, Equation):
                assert ours == theirs


def test_korean_keeps_one_level_of_speech() -> None:
    """합니다체 throughout: sentences end in 니다 or 십시오."""
    for section in lesson("ko"):
        for block in section.blocks:
            if isinstance(block, str):
                for sentence in re.findall(r"[가-힣]+(?=\)?\.(?:\s|$|\)))", block):
                    assert sentence.endswith(("니다", "십시오")), sentence
                assert re.search(r"[가-힣]", block)
                assert block.rstrip(")").endswith(".")


def test_an_unknown_language_gets_one_line() -> None:
    with pytest.raises(ConfigError, match=r"language = 'fr' is unknown; known: en, ko"):
        lesson("fr")


def test_lines_are_broken_by_columns_not_by_characters() -> None:
    assert list(wrapped("가나다 라마바 사아자", 13)) == ["가나다 라마바", "사아자"]
    assert list(wrapped("가나다 라마바 사아자", 12)) == ["가나다", "라마바", "사아자"]
    assert list(wrapped("one two three", 7)) == ["one two", "three"]
