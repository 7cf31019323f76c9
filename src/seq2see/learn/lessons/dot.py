"""The lesson *dot*: the product of two vectors as a score, the softmax of scores as a mixture."""

import math

import torch
from pydantic import Field, model_validator
from torch import Tensor

from seq2see.attention import Dot, softmax
from seq2see.attention.base import Mechanism
from seq2see.learn.blocks import Curves, Equation, LessonTable, Matrix, Section, Series, TableColumn, decimal
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings, Vector
from seq2see.learn.papers import GRAVES_2014, LUONG_2015, VASWANI_2017, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import dot as words
from seq2see.learn.workshop import Workshop

KEYS = ((4.0, 5.0), (-5.0, 2.0), (4.0, 4.0))
VALUES = ((10.0, 0.0), (0.0, 10.0), (5.0, 5.0))
SHARPNESSES = (0.0, 0.05, 0.2, 1.0)


class DotSettings(LessonSettings):
    query: Vector = Field((2.0, 3.0), description="the vector that asks: two numbers")
    sharpness: float = Field(1.0, ge=0, le=100, description="what the scores are multiplied with")

    @model_validator(mode="after")
    def in_the_plane(self) -> "DotSettings":
        if len(self.query) != 2 or not 0 < max(map(abs, self.query)) <= 1000:
            raise ValueError("query is two numbers that are not both 0 and at most 1000, such as query=4,1")
        return self


def products(query: Tensor, keys: Tensor) -> Tensor:
    """(D,), (Tk, D) -> (Tk,): the score of every key."""
    return Dot(query.size(-1), keys.size(-1)).score(query[None, None, None], keys[None, None])[0, 0, 0]


def mixture(query: Tensor, keys: Tensor, values: Tensor, sharpness: float = 1.0) -> tuple[Tensor, Tensor]:
    """(D,), (Tk, D), (Tk, Dv) -> what attention takes home (Dv,), and its weights (Tk,)."""
    context, weights = Dot(query.size(-1), keys.size(-1))(sharpness * query[None, None], keys[None], values[None])
    return context[0, 0], weights[0, 0, 0]


def teach(settings: DotSettings, workshop: Workshop) -> LessonPage:
    query, keys, values = (torch.tensor(rows, dtype=torch.float64) for rows in (settings.query, KEYS, VALUES))
    scores = products(query, keys)
    mixed, weights = mixture(query, keys, values, settings.sharpness)
    answer = words.ANSWER.fill(
        {"scores": _listed(scores), "weights": _listed(weights, ".3f"), "mixture": _vector(mixed, ".2f")}
    )
    return LessonPage(
        words.QUESTION,
        (
            _product(query, keys, scores),
            _angle(query, keys, scores),
            _softmax(settings.sharpness * scores),
            _mixture(query, keys, values, settings.sharpness),
        ),
        answer,
        attempts=(
            Attempt(words.TRY_QUERY, ("query=-4,3",)),
            Attempt(words.TRY_SHARPNESS, ("sharpness=0.1",)),
        ),
        origins=(
            Origin(GRAVES_2014, "section 3.3.1", words.ORIGIN_SOFTMAX),
            Origin(LUONG_2015, "section 3.1", words.ORIGIN_LUONG),
            Origin(VASWANI_2017, "section 3.2.1", words.ORIGIN_VASWANI),
        ),
        following=("qkv", "scores"),
    )


# ----- the sections


def _product(query: Tensor, keys: Tensor, scores: Tensor) -> Section:
    sums = [Equation(_sum(query, key, score)) for key, score in zip(keys, scores, strict=True)]
    best, worst = int(scores.argmax()), int(scores.argmin())
    read = {"best": _vector(keys[best]), "best_score": scores[best], "worst": _vector(keys[worst])}
    arrows = [Series(words.QUERY.fill({"vector": _vector(query)}), _arrow(query), arrow=True)]
    arrows += [Series(words.KEY.fill({"vector": _vector(key)}), _arrow(key), dashed=True, arrow=True) for key in keys]
    return Section(
        words.PRODUCT_TITLE,
        (
            words.PRODUCT.fill({"query": _vector(query), "count": len(keys)}),
            *sums,
            Curves(words.PLANE, words.ACROSS, tuple(arrows), digits=0, low=0.0),
            words.PRODUCT_READ.fill(read | {"worst_score": scores[worst]}),
            quote("score_j = q . k_j = sum_i q_i k_ji", Dot.score, "query, scale", "return"),
        ),
        code=f"query = torch.tensor({query.tolist()})\n"
        f"keys = torch.tensor({keys.tolist()})\n"
        "scores = products(query, keys)\n"
        "print(scores)",
    )


def _angle(query: Tensor, keys: Tensor, scores: Tensor) -> Section:
    length = float(query.norm())
    rows = []
    for key in keys:
        cosine = float(torch.cosine_similarity(query, key, dim=0))
        degrees = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
        rows.append((_vector(key), float(key.norm()), cosine, degrees, length * float(key.norm()) * cosine))
    columns = (
        TableColumn(words.COLUMN_KEY),
        TableColumn(words.COLUMN_LENGTHS, ".3f"),
        TableColumn(words.COLUMN_COSINE, ".3f"),
        TableColumn(words.COLUMN_ANGLE, ".0f"),
        TableColumn(words.COLUMN_PRODUCT, ".2f"),
    )
    return Section(
        words.ANGLE_TITLE,
        (
            words.ANGLE,
            Equation("q . k = |q| |k| cos(q, k)"),
            LessonTable(columns, tuple(rows)),
            words.ANGLE_READ.fill({"length": length}),
        ),
        code="cosines = torch.cosine_similarity(query, keys, dim=-1)\n"
        "print(cosines)\n"
        "print(query.norm() * keys.norm(dim=-1) * cosines)  # the same products again",
    )


def _softmax(scores: Tensor) -> Section:
    weights = softmax(scores)
    shifted = scores - scores.max()
    rows = zip(
        map(_vector_of, KEYS), scores.tolist(), shifted.tolist(), shifted.exp().tolist(), weights.tolist(), strict=True
    )
    columns = (
        TableColumn(words.COLUMN_KEY),
        TableColumn(words.COLUMN_SCORE, ".2f"),
        TableColumn(words.COLUMN_SHIFTED, ".2f"),
        TableColumn(words.COLUMN_EXP, ".4f"),
        TableColumn(words.COLUMN_WEIGHT, ".4f", bar=True),
    )
    first, second = scores.sort(descending=True).values[:2].tolist()
    lead = first - second
    return Section(
        words.SOFTMAX_TITLE,
        (
            words.SOFTMAX.fill({"total": float(weights.sum())}),
            LessonTable(columns, tuple(rows)),
            words.SOFTMAX_READ.fill({"lead": lead, "factor": math.exp(min(lead, 700.0))}),
            quote("weight_j = exp(score_j) / sum_k exp(score_k)", softmax, "if allowed is None", "return"),
        ),
        code="weights = softmax(scores)\nprint(weights, weights.sum())",
    )


def _mixture(query: Tensor, keys: Tensor, values: Tensor, sharpness: float) -> Section:
    mixed, weights = mixture(query, keys, values, sharpness)
    parts = torch.cat([weights[:, None] * values, mixed[None]])
    rows = [f"{weight:.4f} x {_vector(value)}" for weight, value in zip(weights, values, strict=True)]
    every = sorted({*SHARPNESSES, sharpness})
    shares = torch.stack([mixture(query, keys, values, factor)[1] for factor in every])
    names = tuple(words.SHARPNESS_ROW.fill({"sharpness": factor}) for factor in every)
    return Section(
        words.MIXTURE_TITLE,
        (
            words.MIXTURE,
            Matrix("weight x value", (*rows, words.MIXTURE_ROW), ("1", "2"), parts.numpy()),
            quote("context = sum_j weight_j v_j", Mechanism.attend_heads, "return torch.matmul(dropped"),
            words.SHARPNESS,
            Matrix(words.SHARPNESS_NAME, names, tuple(map(_vector_of, KEYS)), shares.numpy(), digits=3, shaded=True),
            words.SHARPNESS_READ.fill({"even": float(shares[0, 0])}),
        ),
        code=f"values = torch.tensor({values.tolist()})\n"
        f"for sharpness in {every}:\n"
        "    context, weights = mixture(query, keys, values, sharpness)\n"
        "    print(sharpness, weights, context)",
    )


# ----- numbers as text


def _sum(a: Tensor, b: Tensor, total: Tensor) -> str:
    """[2, 3] . [4, 5] = 2 x 4 + 3 x 5 = 23."""
    terms = " + ".join(f"{_signed(x)} x {_signed(y)}" for x, y in zip(a.tolist(), b.tolist(), strict=True))
    return f"{_vector(a)} . {_vector(b)} = {terms} = {float(total):g}"


def _signed(value: float) -> str:
    return f"{value:g}" if value >= 0 else f"({value:g})"


def _vector(values: Tensor, spec: str = "g") -> str:
    return "[" + ", ".join(decimal(value, spec) for value in values.tolist()) + "]"


def _vector_of(values: tuple[float, ...]) -> str:
    return _vector(torch.tensor(values))


def _listed(values: Tensor, spec: str = "g") -> str:
    return ", ".join(decimal(value, spec) for value in values.tolist())


def _arrow(vector: Tensor) -> tuple[tuple[float, float], ...]:
    x, y = vector.tolist()
    return ((0.0, 0.0), (x, y))


LESSON = Lesson("dot", words.TITLE, DotSettings, teach)
