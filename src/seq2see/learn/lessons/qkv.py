"""The lesson *qkv*: "i am a student" through Q, K and V, with numbers small enough to follow by hand.

The word vectors and the matrices are chosen by hand; every other number is computed by `seq2see.attention` when the
lesson is asked for.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from seq2see.attention import Dot, MultiHead, ScopeName
from seq2see.attention.base import Mechanism, Weighing
from seq2see.learn.blocks import Array, Equation, Matrix, Section
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings
from seq2see.learn.papers import BAHDANAU_2014, VASWANI_2017, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import qkv as words
from seq2see.learn.wording import Wording
from seq2see.learn.workshop import Workshop

SENTENCE = ("i", "am", "a", "student")
TRANSLATION = ("나는", "학생", "입니다")
WIDTH = 4

# Multiples of a half, so that what is printed of products and scores is exact. Rows are inputs: Q = X W_Q.
EMBEDDINGS = ((1.0, 0.0, 1.0, 0.0), (0.0, 1.0, 1.0, 0.0), (0.0, 1.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0))
DECODER = ((0.0, -1.0, 1.0, 1.0), (-1.0, 1.0, 0.0, 1.0), (1.0, -1.0, 0.0, -1.0))
W_Q = ((1.5, 0.0, 0.0, 1.5), (1.0, 0.5, 1.5, 1.0), (0.0, 1.5, 0.5, 1.0), (0.0, 0.0, 0.0, 1.5))
W_K = ((0.0, 1.0, 0.0, 0.0), (1.5, 0.0, 0.0, -1.0), (0.0, 1.5, -1.0, 0.0), (-0.5, 0.0, 0.5, 0.0))
W_V = ((1.0, 0.0, 0.0, 0.5), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.5, 0.0, 1.0))
W_O = ((1.0, 0.0, 0.5, 0.0), (0.0, 1.0, 0.0, 0.5), (0.5, 0.0, 1.0, 0.0), (0.0, 0.5, 0.0, 1.0))


class QkvSettings(LessonSettings):
    asking: Literal["i", "am", "a", "student"] = Field("am", description="the word whose row is worked out")
    stretch: float = Field(1.0, gt=0, le=100, description="what every query is multiplied with")
    heads: Literal[2, 4] = Field(2, description="of the section on several heads")


@dataclass(frozen=True, eq=False)
class LessonAttention:
    """What one attention did: (H, T, ..) each, and its output (T, width)."""

    query: Array
    keys: Array
    values: Array
    scores: Array
    allowed: NDArray[np.bool_]
    weights: Array
    context: Array
    output: Array


@torch.no_grad()
def look(
    heads: int = 1,
    scope: ScopeName = "global",
    queries: tuple[tuple[float, ...], ...] = EMBEDDINGS,
    stretch: float = 1.0,
) -> LessonAttention:
    """The queries look at the sentence, with the matrices above. One head needs no W_O: its context is the output."""
    attention = MultiHead(WIDTH, WIDTH, heads=heads, bias=False, scope=scope).double().eval()
    output_map = torch.tensor(W_O).double() if heads > 1 else torch.eye(WIDTH).double()
    attention.query_projection.weight.copy_(stretch * torch.tensor(W_Q).double().T)
    attention.key_projection.weight.copy_(torch.tensor(W_K).double().T)
    attention.value_projection.weight.copy_(torch.tensor(W_V).double().T)
    attention.output_projection.weight.copy_(output_map.T)
    seen: list[Weighing] = []

    def note(weighing: Weighing) -> Tensor:
        seen.append(weighing)
        return weighing.weights

    keys = torch.tensor(EMBEDDINGS).double().unsqueeze(0)
    output, _ = attention.with_hook(note)(torch.tensor(queries).double().unsqueeze(0), keys)
    weighing = seen[0]
    allowed = torch.ones_like(weighing.weights, dtype=torch.bool)
    allowed = allowed if weighing.allowed is None else allowed & weighing.allowed
    context = weighing.weights @ weighing.prepared.values
    recorded = (weighing.query, weighing.prepared.keys, weighing.prepared.values, weighing.scores, allowed)
    return LessonAttention(*(part[0].numpy() for part in (*recorded, weighing.weights, context, output)))


@torch.no_grad()
def products(attention: LessonAttention) -> Array:
    """(T, T): the dot products of queries and keys, before scaling."""
    query, keys = (torch.from_numpy(part).unsqueeze(0) for part in (attention.query, attention.keys))
    dot_products: Array = Dot(WIDTH, WIDTH).score(query, keys)[0, 0].numpy()
    return dot_products


def teach(settings: QkvSettings, workshop: Workshop) -> LessonPage:
    single = look(stretch=settings.stretch)
    masked = look(scope="causal", stretch=settings.stretch)
    several = look(heads=settings.heads, stretch=settings.stretch)
    cross = look(queries=DECODER, stretch=settings.stretch)
    asking = SENTENCE.index(settings.asking)
    return LessonPage(
        words.QUESTION,
        (
            _vectors(),
            _projections(single, settings.stretch),
            _scores(single, asking),
            _scaling(single),
            _softmax(single, asking),
            _sum(single, asking),
            _masked(masked, settings.stretch),
            _heads(single, several, asking, settings.stretch),
            _cross(cross, settings.stretch),
        ),
        words.ANSWER.fill(_most(single, asking)),
        attempts=(
            Attempt(words.TRY_ASKING, ("asking=student",)),
            Attempt(words.TRY_STRETCH, ("stretch=4",)),
            Attempt(words.TRY_HEADS, ("heads=4",)),
        ),
        origins=(
            Origin(VASWANI_2017, "section 3.2", words.ORIGIN_ATTENTION),
            Origin(BAHDANAU_2014, "section 3.1", words.ORIGIN_CROSS),
        ),
        following=("scores", "when"),
        commands=('seq2see explain RUN "text" --step 2',),
    )


# ----- the sections


def _vectors() -> Section:
    return Section(
        words.VECTORS_TITLE,
        (words.VECTORS.fill({"width": WIDTH}), _matrix("X", np.array(EMBEDDINGS))),
        code="print(torch.tensor(EMBEDDINGS))",
    )


def _projections(attention: LessonAttention, stretch: float) -> Section:
    inputs = tuple(f"x{number}" for number in range(1, WIDTH + 1))
    learned = (("W_Q", stretch * np.array(W_Q)), ("W_K", np.array(W_K)), ("W_V", np.array(W_V)))
    made = (("Q", attention.query[0]), ("K", attention.keys[0]), ("V", attention.values[0]))
    return Section(
        words.PROJECTIONS_TITLE,
        (
            words.PROJECTIONS,
            Equation("Q = X W_Q      K = X W_K      V = X W_V"),
            *(_matrix(name, weight, rows=inputs) for name, weight in learned),
            words.PROJECTED,
            *(_matrix(name, rows) for name, rows in made),
            quote("Q = X W_Q", MultiHead.attend, "split(self.query_projection"),
            quote("K = X W_K", MultiHead.prepare, "split(self.key_projection"),
            quote("V = X W_V", MultiHead.prepare, "split(self.value_projection"),
        ),
        code=f"attention = look(stretch={stretch:g})\n"
        "print(attention.query, attention.keys, attention.values, sep='\\n')",
    )


def _scores(attention: LessonAttention, asking: int) -> Section:
    asked = len(SENTENCE) - 1
    query, key = attention.query[0, asking], attention.keys[0, asked]
    scores = products(attention)
    terms = " + ".join(f"{_signed(a)} x {_signed(b)}" for a, b in zip(query, key, strict=True))
    return Section(
        words.SCORES_TITLE,
        (
            words.SCORES.fill({"asking": SENTENCE[asking], "asked": SENTENCE[asked]}),
            Equation(f"{terms} = {scores[asking, asked]:.2f}"),
            words.ALL_SCORES,
            _square("Q K^T", scores),
            quote("Q K^T", Dot.score, "return torch.matmul"),
        ),
        code="print(products(attention))",
    )


def _scaling(attention: LessonAttention) -> Section:
    return Section(
        words.SCALING_TITLE,
        (words.SCALING.fill({"width": WIDTH, "root": math.sqrt(WIDTH)}), _scaled(attention)),
        code="print(products(attention) / math.sqrt(WIDTH))\nprint(attention.scores)",
    )


def _softmax(attention: LessonAttention, asking: int) -> Section:
    scores = attention.scores[0, asking]
    shifted = scores - scores.max()
    exps = np.exp(shifted)
    rows = np.stack([scores, shifted, exps, attention.weights[0, asking]])
    names = (words.ROW_SCORE, words.ROW_SHIFTED, words.ROW_EXP, words.ROW_WEIGHT)
    return Section(
        words.SOFTMAX_TITLE,
        (
            words.SOFTMAX.fill({"asking": SENTENCE[asking]}),
            Matrix(words.SOFTMAX_NAME.fill({"asking": SENTENCE[asking]}), names, SENTENCE, rows, digits=3),
            words.TOTAL.fill({"total": float(exps.sum())}),
            words.ALL_WEIGHTS.fill(_most(attention, asking)),
            _weights("A = softmax", attention.weights[0]),
            quote("A = softmax(scores)", Mechanism.attend_heads, "scores = self.score", "weights = normalise"),
        ),
        code="exps = np.exp(attention.scores - attention.scores.max(axis=-1, keepdims=True))\n"
        "print(exps / exps.sum(axis=-1, keepdims=True))\n"
        "print(attention.weights)",
    )


def _sum(attention: LessonAttention, asking: int) -> Section:
    weights = attention.weights[0, asking]
    rows = tuple(f"{weight:.2f} x {word}" for weight, word in zip(weights, SENTENCE, strict=True))
    parts = np.concatenate([weights[:, None] * attention.values[0], attention.context[:1, asking]])
    return Section(
        words.SUM_TITLE,
        (
            words.SUM.fill({"asking": SENTENCE[asking]}),
            Matrix("weight x value", (*rows, words.SUM_ROW), _numbered(), parts),
            words.ALL_SUMS,
            _matrix("A V", attention.context[0]),
            words.IN_ONE_LINE,
            quote(
                "Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V",
                Mechanism.attend_heads,
                "return torch.matmul(dropped",
            ),
        ),
        code="print(attention.weights @ attention.values)\nprint(attention.context)",
    )


def _masked(masked: LessonAttention, stretch: float) -> Section:
    return Section(
        words.MASKED_TITLE,
        (
            words.MASKED,
            _scaled(masked),
            _weights("A = softmax", masked.weights[0]),
            words.AFTER_MASKED.fill({"first": SENTENCE[0], "only": float(masked.weights[0, 0, 0])}),
            _matrix("A V", masked.context[0]),
        ),
        code=f'print(look(scope="causal", stretch={stretch:g}).weights)',
    )


def _heads(single: LessonAttention, several: LessonAttention, asking: int, stretch: float) -> Section:
    heads = len(several.weights)
    counts = {"heads": heads, "part": WIDTH // heads}
    looks = [
        words.HEAD_LOOKS.fill({"head": head, "asking": SENTENCE[asking], "word": word, "weight": weight})
        for head, (word, weight) in enumerate(_largest(rows[asking]) for rows in several.weights)
    ]
    inputs = tuple(f"c{number}" for number in range(1, WIDTH + 1))
    return Section(
        words.HEADS_TITLE,
        (
            words.HEADS.fill(_most(single, asking) | counts),
            *(_weights(words.HEAD_NAME.fill({"head": head}), weights) for head, weights in enumerate(several.weights)),
            *looks,
            words.AFTER_HEADS,
            _matrix(words.JOINED_NAME, np.concatenate(list(several.context), axis=-1)),
            _matrix("W_O", np.array(W_O), rows=inputs),
            _matrix("output", several.output),
            quote("MultiHead(Q, K, V) = [head_0; ...; head_h] W_O", MultiHead.join_heads, "self.output_projection"),
        ),
        code=f"several = look(heads={heads}, stretch={stretch:g})\nprint(several.weights)\nprint(several.output)",
    )


def _cross(cross: LessonAttention, stretch: float) -> Section:
    looks = [
        words.CROSS_LOOK.fill({"target": target, "source": source, "weight": weight})
        for target, (source, weight) in zip(TRANSLATION, map(_largest, cross.weights[0]), strict=True)
    ]
    joined = Wording(", ".join(look.en for look in looks), ", ".join(look.ko for look in looks))
    return Section(
        words.CROSS_TITLE,
        (
            words.CROSS,
            Matrix("Y", TRANSLATION, _numbered(), np.array(DECODER)),
            words.CROSS_EQUATION,
            Equation("Q = Y W_Q      K = X W_K      V = X W_V"),
            Matrix("Q", TRANSLATION, _numbered(), cross.query[0]),
            Matrix(f"Q K^T / sqrt({WIDTH})", TRANSLATION, SENTENCE, cross.scores[0], digits=3),
            Matrix("A = softmax", TRANSLATION, SENTENCE, cross.weights[0], shaded=True),
            words.CROSS_READ.fill({"looks": joined}),
            Matrix("A V", TRANSLATION, _numbered(), cross.context[0]),
        ),
        code=f"cross = look(queries=DECODER, stretch={stretch:g})\nprint(cross.weights)\nprint(cross.context)",
    )


# ----- parts of them


def _most(attention: LessonAttention, asking: int) -> dict[str, object]:
    """The two words that a word looks at most."""
    weights = attention.weights[0, asking]
    first, second = np.argsort(-weights)[:2]
    return {
        "asking": SENTENCE[asking],
        "first": SENTENCE[first],
        "second": SENTENCE[second],
        "first_weight": float(weights[first]),
        "second_weight": float(weights[second]),
        "rest": float(weights.sum() - weights[first] - weights[second]),
    }


def _largest(weights: Array) -> tuple[str, float]:
    return SENTENCE[int(weights.argmax())], float(weights.max())


def _matrix(name: str | Wording, values: Array, rows: tuple[str, ...] = SENTENCE) -> Matrix:
    return Matrix(name, rows, _numbered(), values)


def _square(name: str, values: Array) -> Matrix:
    return Matrix(name, SENTENCE, SENTENCE, values)


def _weights(name: str | Wording, values: Array) -> Matrix:
    return Matrix(name, SENTENCE, SENTENCE, values, shaded=True)


def _scaled(attention: LessonAttention) -> Matrix:
    """Scores of one head: eighths, which take three digits."""
    return Matrix(f"Q K^T / sqrt({WIDTH})", SENTENCE, SENTENCE, attention.scores[0], ~attention.allowed[0], digits=3)


def _numbered() -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, WIDTH + 1))


def _signed(value: float) -> str:
    return f"{value:.2f}" if value >= 0 else f"({value:.2f})"


LESSON = Lesson("qkv", words.TITLE, QkvSettings, teach)
