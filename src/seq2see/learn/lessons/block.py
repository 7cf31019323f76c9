"""The lesson *block*: positions, residual sums, layer norm and feed-forward, and what breaks without each of them."""

from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from seq2see.attention.positions import sinusoidal
from seq2see.learn.blocks import Curves, Drawing, LessonTable, Matrix, Section, Series, TableColumn, Value
from seq2see.learn.influence import words_of
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings
from seq2see.learn.papers import BA_2016, HE_2015, VASWANI_2017, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.reversing import WORDS, learn_reversing
from seq2see.learn.texts import block as words
from seq2see.learn.wording import Wording
from seq2see.learn.workshop import Workshop
from seq2see.models import Model, build
from seq2see.models.selfattention import EncoderBlock, FeedForward, Residual, TransformerEncoder

Part = Literal["nothing", "positions", "residual", "norm", "feed-forward"]
PARTS: tuple[Part, ...] = ("nothing", "positions", "residual", "norm", "feed-forward")
NAMES = {
    "nothing": words.WHOLE,
    "positions": words.NO_POSITIONS,
    "residual": words.NO_RESIDUAL,
    "norm": words.NO_NORM,
    "feed-forward": words.NO_FEED_FORWARD,
}
WIDTH = 64
RAMP = " ░▒▓█"
SPARED = 0.9  # of what the whole model gets right: who reaches it can do without the part


class BlockSettings(LessonSettings):
    layers: int = Field(3, ge=1, le=6, description="blocks of encoder and decoder")
    steps: int = Field(320, ge=8, le=5_000, description="updates of each training")
    longest: int = Field(10, ge=5, le=20, description="symbols of the longest sequence to reverse")


class NoResidual(Residual):
    """What a part computes takes the place of its input, instead of being added to it."""

    def leave(self, x: Tensor, added: Tensor) -> Tensor:
        return added


class NoFeedForward(FeedForward):
    """Adds nothing."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


def without(part: Part, layers: int) -> Model[Any, Any]:
    """A fresh Transformer from which one thing was taken; otherwise always the same numbers."""
    torch.manual_seed(0)
    settings: dict[str, Any] = {"width": WIDTH, "heads": 4, "inner": 4 * WIDTH, "layers": layers, "dropout": 0.0}
    settings |= {"positions": "none"} if part == "positions" else {}
    model = build("transformer", "tiny", source_vocabulary=WORDS, target_vocabulary=WORDS, **settings)
    for module in list(model.modules()):
        if isinstance(module, Residual) and part == "residual":
            module.__class__ = NoResidual
        if isinstance(module, FeedForward) and part == "feed-forward":
            module.__class__ = NoFeedForward
        if part == "norm":
            for name, child in module.named_children():
                if isinstance(child, nn.LayerNorm):
                    setattr(module, name, nn.Identity())
    return model


def teach(settings: BlockSettings, workshop: Workshop) -> LessonPage:
    steps = min(settings.steps, 2) if workshop.quick else settings.steps
    curves = {part: _learned(part, settings.layers, steps, settings.longest, workshop) for part in PARTS}
    right = {part: curve[-1][2] for part, curve in curves.items()}
    others = [part for part in PARTS if part != "nothing"]
    spared = [NAMES[part] for part in others if right[part] >= SPARED * right["nothing"] > 0]
    needed = [NAMES[part] for part in others if NAMES[part] not in spared]
    numbers = {"whole": right["nothing"], "steps": steps, "spared": _listed(spared), "needed": _listed(needed)}
    return LessonPage(
        words.QUESTION,
        (
            _positions(),
            _sizes(settings.layers),
            _parts(),
            _trainings(curves, settings.layers, steps, settings.longest),
        ),
        words.ANSWER.fill(numbers),
        attempts=(
            Attempt(words.TRY_LAYERS, ("layers=1",)),
            Attempt(words.TRY_LONGEST, ("longest=6",)),
        ),
        origins=(
            Origin(VASWANI_2017, "sections 3.1, 3.3 and 3.5", words.ORIGIN_BLOCK),
            Origin(HE_2015, "section 3.1", words.ORIGIN_RESIDUAL),
            Origin(BA_2016, "section 3", words.ORIGIN_NORM),
        ),
        following=("order",),
    )


def _learned(part: Part, layers: int, steps: int, longest: int, workshop: Workshop) -> list[tuple[int, float, float]]:
    """The curve of a training, made now or long ago."""

    def measure() -> list[tuple[int, float, float]]:
        count = workshop.display.count(f"block without {part}", total=steps, rate=False)
        return learn_reversing(without(part, layers), steps, longest, watch=count.update).curve

    made_from = {"part": part, "layers": layers, "steps": steps, "longest": longest}
    curve: list[tuple[int, float, float]] = workshop.measured("block", made_from, measure)
    return curve


def _listed(names: list[Wording]) -> Wording:
    return Wording(", ".join(name.en for name in names), ", ".join(name.ko for name in names)) if names else words.NONE


# ----- the sections


def position_picture(positions: int, width: int) -> list[str]:
    """A line for each position: sines in the left half, cosines in the right, the darker the larger."""
    values = sinusoidal(torch.arange(positions), width, torch.float64)  # (positions, width), from -1 to 1
    steps = ((values + 1) / 2 * (len(RAMP) - 1)).round().long()
    return ["".join(RAMP[int(step)] for step in row) for row in steps]


def _positions() -> Section:
    lines = tuple(f"{place:>2} {line}" for place, line in enumerate(position_picture(12, WIDTH)))
    vectors = sinusoidal(torch.arange(5), WIDTH, torch.float64)
    likeness = torch.nn.functional.normalize(vectors, dim=-1)
    names = tuple(str(place) for place in range(5))
    matrix = Matrix(words.LIKENESS, names, names, (likeness @ likeness.T).numpy(), shaded=True)
    near, far = float(matrix.values[0, 1]), float(matrix.values[0, 4])
    return Section(
        words.POSITIONS_TITLE,
        (
            words.POSITIONS,
            Drawing(lines),
            words.POSITIONS_LIKE,
            matrix,
            words.POSITIONS_READ.fill({"near": near, "far": far}),
            quote(
                "p_i = sin(pos / 10000^(2i/D)), p_(D/2 + i) = cos(pos / 10000^(2i/D))", sinusoidal, "angles =", "return"
            ),
        ),
        code=f"for line in position_picture(12, {WIDTH}):\n    print(line)",
    )


@torch.no_grad()
def sizes(part: Part, layers: int) -> tuple[list[float], float]:
    """The mean length of a word's vector behind 0, 1, ... blocks of a fresh encoder; the cosine of first and last."""
    encoder = without(part, layers).eval().encoder
    assert isinstance(encoder, TransformerEncoder)
    torch.manual_seed(1)
    x = first = encoder.embedding(torch.randint(4, WORDS, (8, 12)))
    mask = torch.ones(8, 1, 12, dtype=torch.bool)
    lengths = [float(x.norm(dim=-1).mean())]
    for block in encoder.blocks:
        x, _ = block(x, mask, need_weights=False)
        lengths.append(float(x.norm(dim=-1).mean()))
    return lengths, float(torch.cosine_similarity(first, x, dim=-1).mean())


def gradient_below(part: Part, layers: int) -> float:
    """The gradient of a random sum over the top of a fresh encoder that reaches the word vectors."""
    model = without(part, layers).eval()
    torch.manual_seed(1)
    ids = torch.randint(4, WORDS, (8, 12))
    encoded, _ = model.encoder(ids, torch.ones(8, 1, 12, dtype=torch.bool))
    (gradient,) = torch.autograd.grad((encoded.keys * torch.randn_like(encoded.keys)).sum(), [words_of(model.encoder)])
    return float(gradient.norm())


def _sizes(layers: int) -> Section:
    deep = max(6, layers)
    shown = (0, 1, deep // 2, deep)
    columns = (
        TableColumn(words.COLUMN_MODEL),
        *(TableColumn(str(layer), ".1f") for layer in shown),
        TableColumn(words.COLUMN_KEPT, ".2f"),
        TableColumn(words.COLUMN_GRADIENT, ".1f"),
    )
    measured = {part: sizes(part, deep) for part in PARTS}
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (NAMES[part], *(lengths[layer] for layer in shown), kept, gradient_below(part, deep))
        for part, (lengths, kept) in measured.items()
    )
    read = {
        "layers": deep,
        "kept": measured["nothing"][1],
        "lost": measured["residual"][1],
        "grown": measured["norm"][0][-1] / measured["nothing"][0][-1],
    }
    return Section(
        words.SIZES_TITLE,
        (
            words.SIZES.fill({"layers": deep}),
            LessonTable(columns, rows),
            words.SIZES_READ.fill(read),
            quote("x + part(norm(x))", Residual.leave, "x = x +", "return"),
        ),
        code=f"for part in PARTS:\n    print(part, sizes(part, {deep}), gradient_below(part, {deep}))",
    )


def _parts() -> Section:
    return Section(
        words.PARTS_TITLE,
        (
            words.PARTS,
            quote(
                "x' = x + self(norm(x));  x'' = x' + W_2 relu(W_1 norm(x'))",
                EncoderBlock.forward,
                "entered =",
                "return",
            ),
        ),
    )


def _trainings(curves: dict[Part, list[tuple[int, float, float]]], layers: int, steps: int, longest: int) -> Section:
    lines = tuple(
        Series(NAMES[part], tuple((float(step), loss) for step, loss, _ in curve), dashed=part != "nothing")
        for part, curve in curves.items()
    )
    columns = (
        TableColumn(words.COLUMN_MODEL),
        TableColumn(words.COLUMN_LOSS, ".3f"),
        TableColumn(words.COLUMN_RIGHT, ".1f"),
    )
    rows = tuple((NAMES[part], curve[-1][1], curve[-1][2]) for part, curve in curves.items())
    guess = float(np.log(WORDS - 4))
    return Section(
        words.TRAINED_TITLE,
        (
            words.TRAINED.fill({"steps": steps, "layers": layers, "longest": longest}),
            Curves(words.LOSS, words.UPDATES, lines),
            LessonTable(columns, rows),
            words.TRAINED_READ.fill({"guess": guess, "symbols": WORDS - 4}),
        ),
        code=f"model = without('norm', {layers})\nprint(learn_reversing(model, steps=4, longest={longest}).curve)",
    )


LESSON = Lesson("block", words.TITLE, BlockSettings, teach)
