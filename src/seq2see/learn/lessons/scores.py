"""The lesson *scores*: six scores on the same query and keys, and what the width does to a dot product."""

import torch
from pydantic import Field, model_validator
from torch import Tensor
from torch.func import jacrev, vmap

from seq2see.attention import (
    Additive,
    Cosine,
    General,
    Location,
    Mechanism,
    ScaledDot,
    ScoreName,
    mechanism,
    softmax,
)
from seq2see.learn.blocks import Curves, Equation, LessonTable, Matrix, Section, Series, TableColumn, decimal
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings, Vector
from seq2see.learn.papers import BAHDANAU_2014, GRAVES_2014, LUONG_2015, VASWANI_2017, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import scores as words
from seq2see.learn.wording import Wording
from seq2see.learn.workshop import Workshop

NAMES: tuple[ScoreName, ...] = ("dot", "scaled_dot", "general", "additive", "cosine", "location")
KEYS = ((4.0, 1.0), (1.0, 2.0), (3.0, -1.0))
GENERAL = ((0.0, 1.0), (1.0, 0.0))  # compares the first number of s with the second of h, and the other way round
W1 = ((1.0, 0.0), (0.0, 1.0))
W2 = ((-1.0, 0.0), (0.0, -1.0))
V = (-1.0, 1.0)
PLACES = ((1.0, 0.0), (0.0, 1.0), (0.5, -0.5))
WIDTHS = (1, 4, 16, 64, 256, 1024)
RANDOM: tuple[ScoreName, ...] = ("dot", "scaled_dot", "general", "additive", "cosine")
PAIRS = 2048  # random pairs of a query and a key
QUERIES = 128  # random queries for a softmax


class ScoresSettings(LessonSettings):
    query: Vector = Field((1.0, 2.0), description="the vector that asks: two numbers")
    keys: int = Field(10, ge=2, le=1000, description="random keys that a softmax shares its weight among")
    seed: int = Field(1, ge=0, description="of the random vectors")

    @model_validator(mode="after")
    def in_the_plane(self) -> "ScoresSettings":
        if len(self.query) != 2 or not 0 < max(map(abs, self.query)) <= 100:
            raise ValueError("query is two numbers that are not both 0 and at most 100, such as query=2,-1")
        return self


@torch.no_grad()
def by_hand(name: ScoreName) -> Mechanism:
    """A mechanism for two numbers whose matrices are those above."""
    attention = mechanism(name, 2, 2, hidden=2, max_length=len(PLACES)).double()
    match attention:
        case General():
            attention.bilinear.weight.copy_(torch.tensor([GENERAL]))
        case Additive():
            attention.query_map.weight.copy_(torch.tensor([W1]))
            attention.key_map.weight.copy_(torch.tensor([W2]))
            attention.energy.weight.copy_(torch.tensor([[V]]))
        case Location():
            attention.places.weight.copy_(torch.tensor([PLACES]))
    return attention


@torch.no_grad()
def scored(attention: Mechanism, query: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """(Tq, D), (Tk, D) -> scores and weights, (Tq, Tk) each."""
    prepared = attention.prepare(keys[None])
    scores = attention.score(query[None, None], prepared.keys)[0, 0]
    return scores, softmax(scores)


def random_scores(name: ScoreName, width: int, seed: int, pairs: int = PAIRS) -> Tensor:
    """(pairs,): scores of random queries and keys of variance 1, with parameters as a new model has them."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        attention = mechanism(name, width, width, hidden=width)
        query, keys = torch.randn(2, pairs, 1, 1, width).unbind()
        with torch.no_grad():
            return attention.score(query, attention.project_keys(keys)).flatten()


def softmax_gradient(scores: Tensor) -> tuple[Tensor, Tensor]:
    """(B, Tk) -> the largest weight of each row, and the norm of its matrix d weight / d score, by autograd."""
    jacobians = vmap(jacrev(softmax))(scores)  # (B, Tk, Tk)
    return softmax(scores).amax(dim=-1), jacobians.flatten(1).norm(dim=-1)


def saturation(name: ScoreName, width: int, keys: int, seed: int) -> tuple[float, float]:
    """The largest weight and the gradient of a softmax over random keys, as means over random queries."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        query, others = torch.randn(QUERIES, 1, 1, width), torch.randn(QUERIES, 1, keys, width)
        largest, gradient = softmax_gradient(mechanism(name, width, width).score(query, others)[:, 0, 0])
    return float(largest.mean()), float(gradient.mean())


def teach(settings: ScoresSettings, workshop: Workshop) -> LessonPage:
    variances = {name: [float(random_scores(name, width, settings.seed).var()) for width in WIDTHS] for name in RANDOM}
    saturations = {
        name: [saturation(name, width, settings.keys, settings.seed) for width in WIDTHS]
        for name in ("dot", "scaled_dot")
    }
    gradients = {name: [gradient for _, gradient in measured] for name, measured in saturations.items()}
    query = torch.tensor(settings.query, dtype=torch.float64)
    return LessonPage(
        words.QUESTION,
        (
            _same(query),
            _blind(query),
            _variance(variances, settings.seed),
            _saturated(saturations, settings),
        ),
        words.ANSWER.fill(
            {
                "dot": variances["dot"][-1],
                "scaled": variances["scaled_dot"][-1],
                "width": WIDTHS[-1],
                "share": gradients["dot"][-1] / gradients["scaled_dot"][-1],
            }
        ),
        attempts=(
            Attempt(words.TRY_QUERY, ("query=2,-1",)),
            Attempt(words.TRY_KEYS, ("keys=100",)),
            Attempt(words.TRY_SEED, ("seed=2",)),
        ),
        origins=(
            Origin(BAHDANAU_2014, "section 3.1, appendix A.1.2", words.ORIGIN_BAHDANAU),
            Origin(LUONG_2015, "section 3.1", words.ORIGIN_LUONG),
            Origin(GRAVES_2014, "section 3.3.1", words.ORIGIN_GRAVES),
            Origin(VASWANI_2017, "section 3.2.1", words.ORIGIN_VASWANI),
        ),
        following=("when", "qkv"),
        commands=(
            "seq2see train builtin:phrases-basic --model luong --set model.attention.score=cosine --out runs/cosine",
        ),
    )


# ----- the sections


def _same(query: Tensor) -> Section:
    keys = torch.tensor(KEYS, dtype=torch.float64)
    tables = [scored(by_hand(name), query[None], keys) for name in NAMES]
    scores, weights = (torch.cat(rows).numpy() for rows in zip(*tables, strict=True))
    winners = [
        words.WINNER.fill({"name": f"*{_shown(name)}*", "key": _vector(keys[int(row.argmax())])})
        for name, row in zip(NAMES, scores, strict=True)
    ]
    cosine = weights[NAMES.index("cosine")]
    names, columns = tuple(map(_shown, NAMES)), tuple(map(_vector, keys))
    return Section(
        words.SAME_TITLE,
        (
            words.SAME.fill(
                {
                    "query": _vector(query),
                    "count": len(KEYS),
                    "keys": ", ".join(columns),
                    "general": _rows(GENERAL),
                    "w1": _rows(W1),
                    "w2": _rows(W2),
                    "v": _vector(torch.tensor(V)),
                    "location": _rows(PLACES),
                    "first": columns[0],
                }
            ),
            *(Equation(line) for line in _worked(query, keys[0], scores[:, 0].tolist())),
            words.ALL,
            Matrix(words.NAME, names, columns, scores),
            words.WEIGHTS,
            Matrix(words.WEIGHT_NAME, names, columns, weights, shaded=True),
            words.READ.fill(
                {
                    "winners": Wording(", ".join(one.en for one in winners), ", ".join(one.ko for one in winners)),
                    "cosine_low": float(cosine.min()),
                    "cosine_high": float(cosine.max()),
                }
            ),
            quote("scaled dot: s . h / sqrt(d)", ScaledDot.as_dot_product, "return query, 1 / math.sqrt"),
            quote("general: s . (W h)", General.project_keys, "return self.bilinear"),
            quote("additive: v . tanh(W1 s + W2 h)", Additive._energy, "inner = torch.tanh"),
            quote("v . inner", Additive._energy, "return torch.matmul(inner, self.energy.weight[0, 0])\n"),
            quote("cosine: s . h / (|s| |h|)", Cosine.as_dot_product, "unit = F.normalize", "return"),
            quote("location: (W s)_j", Location.score, "rows = ", "return"),
        ),
        code=f"query = torch.tensor([{query.tolist()}]).double()\n"
        "keys = torch.tensor(KEYS).double()\n"
        "for name in NAMES:\n"
        "    scores, weights = scored(by_hand(name), query, keys)\n"
        "    print(name, scores, weights)",
    )


def _worked(query: Tensor, key: Tensor, scores: list[float]) -> list[str]:
    """Each score of the first key as a sum that a pencil can follow; in the order of NAMES."""
    (a, b), (c, d) = query.tolist(), key.tolist()
    (g11, g12), (g21, g22) = GENERAL
    mapped = (g11 * c + g12 * d, g21 * c + g22 * d)
    inner = [a * W1[row][0] + b * W1[row][1] + c * W2[row][0] + d * W2[row][1] for row in range(2)]
    lengths = float(query.norm()), float(key.norm())
    product = f"{_signed(a)} x {_signed(c)} + {_signed(b)} x {_signed(d)}"
    left = (
        f"dot         = {product}",
        f"scaled dot  = {scores[0]:g} / sqrt(2)",
        f"general     = {_vector(query)} . W {_vector(key)} = {_vector(query)} . {_vector(torch.tensor(mapped))}",
        f"additive    = {V[0]:g} tanh({inner[0]:g}) + {_signed(V[1])} tanh({inner[1]:g})",
        f"cosine      = {scores[0]:g} / ({lengths[0]:.3f} x {lengths[1]:.3f})",
        f"location    = {_signed(PLACES[0][0])} x {_signed(a)} + {_signed(PLACES[0][1])} x {_signed(b)}",
    )
    return [f"{line} = {decimal(score, '.2f')}" for line, score in zip(left, scores, strict=True)]


def _blind(query: Tensor) -> Section:
    keys = torch.tensor(KEYS, dtype=torch.float64)
    moved = keys.roll(1, dims=0)
    rows, changes = [], {}
    for name in NAMES:
        before, after = (scored(by_hand(name), query[None], order)[1][0] for order in (keys, moved))
        rows.append(after)
        changes[name] = float((after - before.roll(1)).abs().max())
    columns = tuple(map(_vector, moved))
    others = max(change for name, change in changes.items() if name != "location")
    return Section(
        words.BLIND_TITLE,
        (
            words.BLIND,
            Matrix(words.MOVED, tuple(map(_shown, NAMES)), columns, torch.stack(rows).numpy(), shaded=True),
            words.BLIND_READ.fill({"others": others, "location": changes["location"]}),
        ),
        code='print(scored(by_hand("location"), query, keys.roll(1, dims=0)))',
    )


def _variance(variances: dict[ScoreName, list[float]], seed: int) -> Section:
    columns = (TableColumn(words.WIDTH, "d"), *(TableColumn(_shown(name), ".3f") for name in RANDOM))
    rows = tuple((width, *(variances[name][place] for name in RANDOM)) for place, width in enumerate(WIDTHS))
    series = tuple(Series(_shown(name), tuple(enumerate(variances[name]))) for name in RANDOM)
    ticks = tuple(map(str, WIDTHS))
    return Section(
        words.VARIANCE_TITLE,
        (
            words.VARIANCE.fill({"samples": PAIRS, "seed": seed}),
            Equation("var(q . k) = sum_i var(q_i k_i) = d        var(q . k / sqrt(d)) = 1"),
            LessonTable(columns, rows),
            Curves(words.VARIANCE_CHART, words.WIDTH_STEPS, series, digits=3, log=True, ticks=ticks),
            words.VARIANCE_READ.fill(
                {
                    "width": WIDTHS[-1],
                    "dot": variances["dot"][-1],
                    "scaled": variances["scaled_dot"][-1],
                    "general": variances["general"][-1],
                    "additive": variances["additive"][-1],
                    "cosine": variances["cosine"][-1],
                }
            ),
        ),
        code="for width in WIDTHS:\n"
        f"    print(width, [float(random_scores(name, width, seed={seed}).var()) for name in RANDOM])",
    )


def _saturated(measured: dict[str, list[tuple[float, float]]], settings: ScoresSettings) -> Section:
    plain, scaled = measured["dot"], measured["scaled_dot"]
    columns = (
        TableColumn(words.WIDTH, "d"),
        TableColumn(words.COLUMN_LARGEST, ".3f"),
        TableColumn(words.COLUMN_LARGEST_SCALED, ".3f"),
        TableColumn(words.COLUMN_GRADIENT, ".4f"),
        TableColumn(words.COLUMN_GRADIENT_SCALED, ".4f"),
    )
    rows = tuple(
        (width, large, large_scaled, gradient, gradient_scaled)
        for width, (large, gradient), (large_scaled, gradient_scaled) in zip(WIDTHS, plain, scaled, strict=True)
    )
    series = tuple(
        Series(_shown(name), tuple((place, gradient) for place, (_, gradient) in enumerate(pairs)))
        for name, pairs in (("dot", plain), ("scaled_dot", scaled))
    )
    read = {
        "width": WIDTHS[-1],
        "largest": plain[-1][0],
        "first": plain[0][1],
        "first_width": WIDTHS[0],
        "gradient": plain[-1][1],
        "low": min(gradient for _, gradient in scaled),
        "high": max(gradient for _, gradient in scaled),
    }
    ticks = tuple(map(str, WIDTHS))
    return Section(
        words.SATURATED_TITLE,
        (
            words.SATURATED.fill({"keys": settings.keys, "queries": QUERIES}),
            Equation("d weight_i / d score_j = weight_i (1[i = j] - weight_j)"),
            LessonTable(columns, rows),
            Curves(words.GRADIENT_CHART, words.WIDTH_STEPS, series, digits=4, ticks=ticks, low=0.0),
            words.SATURATED_READ.fill(read),
            quote("softmax(q . k / sqrt(d_k))", ScaledDot.as_dot_product, "def as_dot_product", "return"),
        ),
        code='for name in ("dot", "scaled_dot"):\n'
        f"    print(name, [saturation(name, width, keys={settings.keys}, seed={settings.seed}) for width in WIDTHS])",
    )


# ----- numbers as text


def _shown(name: str) -> str:
    return name.replace("_", " ")


def _signed(value: float) -> str:
    return f"{value:g}" if value >= 0 else f"({value:g})"


def _vector(values: Tensor) -> str:
    return "[" + ", ".join(decimal(value, "g") for value in values.tolist()) + "]"


def _rows(rows: tuple[tuple[float, ...], ...]) -> str:
    return "[" + ", ".join(_vector(torch.tensor(row)) for row in rows) + "]"


LESSON = Lesson("scores", words.TITLE, ScoresSettings, teach)
