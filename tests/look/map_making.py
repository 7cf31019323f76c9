"""Maps to test with: sentences of words in pieces, weights that sum to one."""

from collections.abc import Sequence

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from seq2see.look import AttentionMap, Kind, Side
from seq2see.look.map.side import END

Words = Sequence[Sequence[str]]


def relaxed() -> settings:
    """How properties are tested here: a loaded machine is no reason to fail."""
    return settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


PIECES = ("a", "to", "학생", "입니다", "かな", "漢", "é", "😀", "🚀", "$x_1$", "\\", "#", "'", ".")


def side_of_words(words: Words) -> Side:
    """[["학생", "입니다"], ["."]] -> ▁학생 입니다 ▁. </s>; the space before a word lies in its first piece."""
    tokens: list[str] = []
    spans: list[tuple[int, int]] = []
    owners: list[int | None] = []
    text = ""
    for number, pieces in enumerate(words):
        for place, piece in enumerate(pieces):
            start = len(text)
            text += (" " if place == 0 and number else "") + piece
            tokens.append(("▁" if place == 0 else "") + piece)
            spans.append((start, len(text)))
            owners.append(number)
    return Side(text, (*tokens, END), (*spans, (len(text), len(text))), (*owners, None))


def rows(shape: Sequence[int], seed: int = 0, sharpness: float = 3.0) -> NDArray[np.float32]:
    """Random rows that sum to one."""
    drawn = np.random.default_rng(seed).random(shape) ** sharpness + 1e-3
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True), dtype=np.float32)


def random_map(
    source: Words, target: Words, layers: int = 1, heads: int = 1, seed: int = 0, kind: Kind = "cross"
) -> AttentionMap:
    columns, lines = side_of_words(source), side_of_words(target)
    return AttentionMap(columns, lines, kind, rows((layers, heads, len(lines), len(columns)), seed))


def of_matrix(matrix: Sequence[Sequence[float]], *, end: bool = True) -> AttentionMap:
    """A map between words a0 a1 .. and b0 b1 ..; with `end`, `</s>` gets a row and a column of nothing but itself."""
    weights = np.array(matrix, dtype=np.float32)
    columns = side_of_words([[f"a{n}"] for n in range(weights.shape[1])])
    lines = side_of_words([[f"b{n}"] for n in range(weights.shape[0])])
    if not end:
        columns, lines = columns.pick(range(len(columns) - 1)), lines.pick(range(len(lines) - 1))
        return AttentionMap(columns, lines, "cross", weights[None, None])
    whole = np.zeros((len(lines), len(columns)), dtype=np.float32)
    whole[:-1, :-1] = weights
    whole[-1, -1] = 1
    return AttentionMap(columns, lines, "cross", whole[None, None])


sentences = st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=3), min_size=1, max_size=5)


@st.composite
def maps(draw: st.DrawFn) -> AttentionMap:
    return random_map(
        draw(sentences), draw(sentences), draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(0, 10**6))
    )


def sums_to_one(attention: AttentionMap) -> bool:
    return bool(np.allclose(attention.weights.sum(axis=-1), 1, atol=1e-5))


def same(one: AttentionMap, other: AttentionMap) -> bool:
    """To the last bit, names included."""
    both_hidden = one.hidden is not None and other.hidden is not None
    return (
        (one.source, one.target, one.kind, one.level) == (other.source, other.target, other.kind, other.level)
        and (one.layers, one.heads) == (other.layers, other.heads)
        and np.array_equal(one.weights, other.weights)
        and (np.array_equal(one.hidden, other.hidden) if both_hidden else one.hidden is other.hidden)
    )
