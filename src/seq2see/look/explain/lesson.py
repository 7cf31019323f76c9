"""A first lesson on attention: "i am a student" through Q, K and V, with numbers small enough to follow by hand.

The word vectors and the matrices are chosen by hand; every other number is computed by `seq2see.attention` when the
lesson is asked for. What is said about them stands in lesson_words.py, in English and Korean.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from rich.cells import cell_len
from torch import Tensor

from seq2see.attention import Dot, MultiHead
from seq2see.attention.base import Weighing
from seq2see.attention.scopes import ScopeName
from seq2see.errors import ConfigError, nearest
from seq2see.look.explain.lesson_words import ENGLISH, KOREAN, LessonText

Language = Literal["en", "ko"]
LANGUAGES: dict[str, LessonText] = {"en": ENGLISH, "ko": KOREAN}
COLUMNS = 80

SENTENCE = ("i", "am", "a", "student")
WIDTH, HEADS = 4, 2
_ASKING = 1  # the row that is worked out: "am", which has something to do with both ends of the sentence

# Multiples of a half, so that what is printed of products and scores is exact. Rows are inputs: Q = X W_Q.
EMBEDDINGS = ((1.0, 0.0, 1.0, 0.0), (0.0, 1.0, 1.0, 0.0), (0.0, 1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0))
W_Q = ((1.5, 0.0, 0.0, 1.5), (1.0, 0.5, 1.5, 1.0), (0.0, 1.5, 0.5, 1.0), (0.0, 0.0, 0.0, 1.5))
W_K = ((0.0, 1.0, 0.0, 0.0), (1.5, 0.0, 0.0, -1.0), (0.0, 1.5, -1.0, 0.0), (-0.5, 0.0, 0.5, 0.0))
W_V = ((1.0, 0.0, 0.0, 0.5), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.5, 0.0, 1.0))
W_O = ((1.0, 0.0, 0.5, 0.0), (0.0, 1.0, 0.0, 0.5), (0.5, 0.0, 1.0, 0.0), (0.0, 0.5, 0.0, 1.0))

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers with names: a row for each of `rows`; where `hidden`, nothing is shown."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Array
    hidden: NDArray[np.bool_] | None = None
    digits: int = 2


@dataclass(frozen=True)
class Equation:
    """A line that is not to be broken."""

    text: str


@dataclass(frozen=True)
class Section:
    title: str
    blocks: tuple[str | Matrix | Equation, ...]


@dataclass(frozen=True, eq=False)
class LessonAttention:
    """What one attention did with the sentence: (H, T, ..) each, and its output (T, width)."""

    query: Array
    keys: Array
    values: Array
    scores: Array
    allowed: NDArray[np.bool_]
    weights: Array
    context: Array
    output: Array


def lesson(language: str = "en") -> tuple[Section, ...]:
    """The whole lesson, section by section."""
    words = LANGUAGES.get(language)
    if words is None:
        raise ConfigError(f"language = '{language}' is unknown{nearest(language, LANGUAGES)}")
    single, masked, double = look(heads=1), look(heads=1, scope="causal"), look(heads=HEADS)
    return (
        _vectors(words),
        _projections(words, single),
        _scores(words, single),
        _scaling(words, single),
        _softmax(words, single),
        _sum(words, single),
        _masked(words, masked),
        _heads(words, single, double),
        Section(words.end_title, (words.end, Equation('seq2see explain RUN "text" --step 2'))),
    )


@torch.no_grad()
def look(heads: int, scope: ScopeName = "global") -> LessonAttention:
    """The sentence looks at itself, with the matrices above. One head needs no W_O and takes its context as it is."""
    attention = MultiHead(WIDTH, WIDTH, heads=heads, bias=False, scope=scope).double().eval()
    last = W_O if heads > 1 else torch.eye(WIDTH).tolist()
    layers = (attention.query_projection, attention.key_projection, attention.value_projection)
    for layer, weight in zip((*layers, attention.output_projection), (W_Q, W_K, W_V, last), strict=True):
        layer.weight.copy_(torch.tensor(weight, dtype=torch.float64).T)
    seen: list[Weighing] = []

    def note(weighing: Weighing) -> Tensor:
        seen.append(weighing)
        return weighing.weights

    attention.mechanism.hook = note
    x = torch.tensor(EMBEDDINGS, dtype=torch.float64).unsqueeze(0)
    output, _ = attention(x, x)
    weighing = seen[0]
    allowed = torch.ones_like(weighing.weights, dtype=torch.bool)
    allowed = allowed if weighing.allowed is None else allowed & weighing.allowed
    context = weighing.weights @ weighing.prepared.values
    recorded = (weighing.query, weighing.prepared.keys, weighing.prepared.values, weighing.scores, allowed)
    arrays = [part[0].numpy() for part in (*recorded, weighing.weights, context, output)]
    return LessonAttention(*arrays)


@torch.no_grad()
def products(attention: LessonAttention) -> Array:
    """(T, T): the dot products of queries and keys, before scaling."""
    query, keys = (torch.from_numpy(part).unsqueeze(0) for part in (attention.query, attention.keys))
    dot_products: Array = Dot(WIDTH, WIDTH).score(query, keys)[0, 0].numpy()
    return dot_products


# ----- the sections


def _vectors(words: LessonText) -> Section:
    return Section(words.vectors_title, (words.vectors.format(width=WIDTH), _matrix("X", np.array(EMBEDDINGS))))


def _projections(words: LessonText, attention: LessonAttention) -> Section:
    inputs = tuple(f"x{number}" for number in range(1, WIDTH + 1))
    learned = zip(("W_Q", "W_K", "W_V"), (W_Q, W_K, W_V), strict=True)
    matrices = [_matrix(name, np.array(weight), rows=inputs) for name, weight in learned]
    made = zip(("Q", "K", "V"), (attention.query[0], attention.keys[0], attention.values[0]), strict=True)
    return Section(
        words.projections_title,
        (
            words.projections,
            Equation("Q = X W_Q      K = X W_K      V = X W_V"),
            *matrices,
            words.projected,
            *(_matrix(*pair) for pair in made),
        ),
    )


def _scores(words: LessonText, attention: LessonAttention) -> Section:
    asked = len(SENTENCE) - 1
    query, key = attention.query[0, _ASKING], attention.keys[0, asked]
    scores = products(attention)
    terms = " + ".join(f"{_signed(a)} x {_signed(b)}" for a, b in zip(query, key, strict=True))
    named = words.scores.format(asking=SENTENCE[_ASKING], asked=SENTENCE[asked])
    worked = Equation(f"{terms} = {scores[_ASKING, asked]:.2f}")
    return Section(words.scores_title, (named, worked, words.all_scores, _square("Q K^T", scores)))


def _scaling(words: LessonText, attention: LessonAttention) -> Section:
    text = words.scaling.format(width=WIDTH, root=f"{math.sqrt(WIDTH):.2f}")
    return Section(words.scaling_title, (text, _scaled(attention)))


def _softmax(words: LessonText, attention: LessonAttention) -> Section:
    asking, scores = SENTENCE[_ASKING], attention.scores[0, _ASKING]
    shifted = scores - scores.max()
    exps = np.exp(shifted)
    rows = np.stack([scores, shifted, exps, attention.weights[0, _ASKING]])
    worked = Matrix(f"softmax, {asking}", words.softmax_rows, SENTENCE, rows, digits=3)
    first, second = np.argsort(-attention.weights[0, _ASKING])[:2]
    read = words.all_weights.format(
        asking=asking,
        first=SENTENCE[first],
        second=SENTENCE[second],
        first_weight=f"{attention.weights[0, _ASKING, first]:.2f}",
        second_weight=f"{attention.weights[0, _ASKING, second]:.2f}",
    )
    total = words.total.format(total=f"{exps.sum():.3f}")
    blocks = (words.softmax.format(asking=asking), worked, total, read, _square("A = softmax", attention.weights[0]))
    return Section(words.softmax_title, blocks)


def _sum(words: LessonText, attention: LessonAttention) -> Section:
    asking = SENTENCE[_ASKING]
    weights = attention.weights[0, _ASKING]
    rows = tuple(f"{weight:.2f} x {word}" for weight, word in zip(weights, SENTENCE, strict=True))
    parts = np.concatenate([weights[:, None] * attention.values[0], attention.context[:1, _ASKING]])
    worked = Matrix("weight x value", (*rows, words.sum_row), _numbered(), parts)
    blocks = (
        words.sum.format(asking=asking),
        worked,
        words.all_sums,
        _matrix("A V", attention.context[0]),
        words.in_one_line,
    )
    return Section(words.sum_title, (*blocks, Equation("Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V")))


def _masked(words: LessonText, masked: LessonAttention) -> Section:
    weights = _square("A = softmax", masked.weights[0])
    text = words.after_masked.format(first=SENTENCE[0], only=f"{masked.weights[0, 0, 0]:.2f}")
    blocks = (words.masked, _scaled(masked), weights, text, _matrix("A V", masked.context[0]))
    return Section(words.masked_title, blocks)


def _heads(words: LessonText, single: LessonAttention, double: LessonAttention) -> Section:
    half = WIDTH // HEADS
    first, second = (SENTENCE[place] for place in np.argsort(-single.weights[0, _ASKING])[:2])
    looked = [int(weights[_ASKING].argmax()) for weights in double.weights]
    seen = [f"{weights[_ASKING, place]:.2f}" for weights, place in zip(double.weights, looked, strict=True)]
    text = words.heads.format(asking=SENTENCE[_ASKING], first=first, second=second, half=half)
    reading = words.after_heads.format(
        asking=SENTENCE[_ASKING],
        word_0=SENTENCE[looked[0]],
        word_1=SENTENCE[looked[1]],
        weight_0=seen[0],
        weight_1=seen[1],
    )
    weights = [_square(f"A, {words.head} {number}", double.weights[number]) for number in range(HEADS)]
    joined = _matrix(f"[{words.head} 0; {words.head} 1]", np.concatenate(list(double.context), axis=-1))
    inputs = tuple(f"c{number}" for number in range(1, WIDTH + 1))
    mixed = (_matrix("W_O", np.array(W_O), rows=inputs), _matrix("output", double.output))
    return Section(words.heads_title, (text, *weights, reading, joined, *mixed))


def _matrix(name: str, values: Array, rows: tuple[str, ...] = SENTENCE) -> Matrix:
    return Matrix(name, rows, _numbered(), values)


def _square(name: str, values: Array) -> Matrix:
    return Matrix(name, SENTENCE, SENTENCE, values)


def _scaled(attention: LessonAttention) -> Matrix:
    """Scores of one head: eighths, which take three digits."""
    return Matrix(f"Q K^T / sqrt({WIDTH})", SENTENCE, SENTENCE, attention.scores[0], ~attention.allowed[0], digits=3)


def _numbered() -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, WIDTH + 1))


def _signed(value: float) -> str:
    return f"{value:.2f}" if value >= 0 else f"({value:.2f})"


# ----- as text


def lines(section: Section, number: int) -> Iterator[str]:
    """A section in at most 80 columns, without colour."""
    title = f"{number}. {section.title}"
    yield title
    yield "-" * cell_len(title)
    for block in section.blocks:
        match block:
            case str():
                yield from wrapped(block)
            case Equation():
                yield f"    {block.text}"
            case Matrix():
                yield from drawn(block)
        yield ""


def drawn(matrix: Matrix) -> Iterator[str]:
    """The name and the columns, then a line for each row."""
    label = max(map(cell_len, (matrix.name, *matrix.rows)))
    width = max(7, *map(cell_len, matrix.columns))
    yield "    " + _padded(matrix.name, label) + "".join(f"  {name:>{width}}" for name in matrix.columns)
    for row, (name, values) in enumerate(zip(matrix.rows, matrix.values, strict=True)):
        shown = [_number(matrix, row, place) for place in range(len(values))]
        yield "    " + _padded(name, label) + "".join(f"  {text:>{width}}" for text in shown)


def _number(matrix: Matrix, row: int, place: int) -> str:
    if matrix.hidden is not None and matrix.hidden[row, place]:
        return "--"
    return f"{matrix.values[row, place]:.{matrix.digits}f}"


def _padded(text: str, cells: int) -> str:
    return text + " " * (cells - cell_len(text))


def wrapped(text: str, columns: int = COLUMNS) -> Iterator[str]:
    """Broken between words; a Hangul syllable takes two columns."""
    line = ""
    for word in text.split():
        if line and cell_len(line) + 1 + cell_len(word) > columns:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line
