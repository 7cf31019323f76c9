"""The lesson *convolution*: gates, receptive fields and dilation, measured by gradients of fresh models."""

from typing import Annotated, Any

import numpy as np
import torch
from pydantic import BeforeValidator, Field, model_validator

from seq2see.learn.blocks import Curves, Drawing, LessonTable, Section, Series, TableColumn
from seq2see.learn.influence import felt_by_key, felt_of_said
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings, split_numbers
from seq2see.learn.papers import DAUPHIN_2017, GEHRING_2017, KALCHBRENNER_2016, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import convolution as words
from seq2see.learn.workshop import Workshop
from seq2see.models import Model, build
from seq2see.models.bytenet import Block
from seq2see.models.convolutional import ConvDecoder, GatedConvolution

WIDTH = 8
SHOWN = 6  # numbers of a gate
SPREAD = 32  # distances to either side that are drawn
SAID = 12  # words of the decoder's picture
RAMP = "▁▂▃▄▅▆▇█"
FAR = 40


class ConvolutionSettings(LessonSettings):
    kernel: int = Field(3, ge=3, le=9, description="positions that one convolution sees; odd")
    layers: int = Field(4, ge=1, le=8, description="layers of ConvS2S on top of each other")
    dilations: Annotated[tuple[int, ...], BeforeValidator(split_numbers)] = Field(
        (1, 2, 4, 8, 16), min_length=1, max_length=8, description="of ByteNet's layers"
    )

    @model_validator(mode="after")
    def can_be_drawn(self) -> "ConvolutionSettings":
        if self.kernel % 2 == 0:
            raise ValueError("kernel is odd, so that a window has a middle")
        if not all(1 <= dilation <= 32 for dilation in self.dilations):
            raise ValueError("dilations are from 1 to 32, such as dilations=1,2,4")
        return self


def conv_model(kernel: int, layers: int) -> Model[Any, Any]:
    """A fresh ConvS2S, always with the same numbers."""
    torch.manual_seed(0)
    side = {"embedding": WIDTH, "channels": (WIDTH,) * layers, "kernels": (kernel,) * layers, "dropout": 0.0}
    words_known = {"source_vocabulary": 600, "target_vocabulary": 600}
    return build("convs2s", "tiny", encoder=side, decoder=side, **words_known).double().eval()


def byte_model(kernel: int, dilations: tuple[int, ...]) -> Model[Any, Any]:
    """A fresh ByteNet with one block for each dilation."""
    torch.manual_seed(0)
    settings = {"width": WIDTH, "dilations": dilations, "sets": 1, "kernel": kernel, "dropout": 0.0}
    return build("bytenet", "tiny", source_vocabulary=600, target_vocabulary=600, **settings).double().eval()


def field(model: Model[Any, Any], reach: int) -> list[float]:
    """The share of each word, -reach to reach around the middle, in what the middle position knows."""
    gradients = np.array(felt_by_key(model, 2 * reach + 1, reach))
    shares: list[float] = (gradients / gradients.sum()).tolist()
    return shares


def seen(shares: list[float]) -> int:
    """How many words have a share at all."""
    return sum(share > 0 for share in shares)


def teach(settings: ConvolutionSettings, workshop: Workshop) -> LessonPage:
    kernel, layers, dilations = settings.kernel, settings.layers, settings.dilations
    half = kernel // 2
    reach = half * max(layers, sum(dilations)) + 1  # one further than any of them can see
    plain = [field(conv_model(kernel, count), reach) for count in range(1, layers + 1)]
    dilated = [field(byte_model(kernel, dilations[:count]), reach) for count in range(1, len(dilations) + 1)]
    growth = [seen(field(conv_model(kernel, count), reach)) for count in range(1, len(dilations) + 1)]
    return LessonPage(
        words.QUESTION.fill({"kernel": kernel}),
        (
            _gate(kernel),
            _field(plain, kernel, reach),
            _dilation(dilated, growth, kernel, dilations, reach),
            _causal(kernel, layers),
        ),
        words.ANSWER.fill(
            {
                "kernel": kernel,
                "layers": layers,
                "plain": seen(plain[-1]),
                "dilated_layers": len(dilations),
                "dilated": seen(dilated[-1]),
            }
        ),
        attempts=(
            Attempt(words.TRY_KERNEL, ("kernel=5",)),
            Attempt(words.TRY_DILATIONS, ("dilations=1,1,1,1,1",)),
        ),
        origins=(
            Origin(DAUPHIN_2017, "section 3", words.ORIGIN_GATE),
            Origin(GEHRING_2017, "sections 3.2 and 3.3", words.ORIGIN_CONV),
            Origin(KALCHBRENNER_2016, "sections 3.1 and 3.5", words.ORIGIN_BYTENET),
        ),
        following=("search",),
    )


# ----- the sections


@torch.no_grad()
def gates(kernel: int) -> tuple[list[float], list[float], list[float]]:
    """A, sigmoid(B) and their product in a fresh block over a random window."""
    torch.manual_seed(0)
    block = GatedConvolution(WIDTH, WIDTH, kernel, 0.0).double().eval()
    window = torch.randn(1, kernel, WIDTH, dtype=torch.float64)
    a, b = block.convolution(window)[0, 0].chunk(2)
    return a.tolist(), torch.sigmoid(b).tolist(), block(window)[0, 0].tolist()


def _gate(kernel: int) -> Section:
    a, gate, out = gates(kernel)
    columns = (
        TableColumn(words.COLUMN_CHANNEL, ".0f"),
        TableColumn(words.COLUMN_A, ".3f"),
        TableColumn(words.COLUMN_GATE, ".3f", bar=True),
        TableColumn(words.COLUMN_OUT, ".3f"),
    )
    rows = tuple(zip(range(1, SHOWN + 1), a, gate, out, strict=False))[:SHOWN]
    return Section(
        words.GATE_TITLE,
        (
            words.GATE.fill({"kernel": kernel}),
            LessonTable(columns, tuple((float(row[0]), *row[1:]) for row in rows)),
            words.GATE_READ.fill({"count": len(gate), "mean": float(np.mean(gate))}),
            quote("h = A sigmoid(B);  [A; B] = conv(x)", GatedConvolution.forward, "return F.glu"),
        ),
        code=f"a, gate, out = gates({kernel})\n"
        "for numbers in zip(a, gate, out):\n    print([round(number, 3) for number in numbers])",
    )


def drawn(shares: list[float]) -> str:
    """A bar for each share, the highest for the largest; a dot for a word that was not seen at all."""
    most = max(shares)
    steps = [min(len(RAMP) - 1, int(len(RAMP) * share / most)) for share in shares]
    return "".join(RAMP[step] if share > 0 else "·" for step, share in zip(steps, shares, strict=True))


def _picture(rows: list[list[float]], reach: int) -> Drawing:
    """A line for each number of layers: what the middle position has seen to either side."""
    spread = min(SPREAD, reach)
    middle = slice(reach - spread, reach + spread + 1)
    return Drawing(tuple(f"{count}  {drawn(row[middle])}" for count, row in enumerate(rows, start=1)))


def _counts(rows: list[list[float]], reach: int) -> LessonTable:
    columns = (
        TableColumn(words.FIELD_NAME, ".0f"),
        TableColumn(words.COLUMN_SEEN, ".0f"),
        TableColumn(words.COLUMN_MIDDLE, ".3f", bar=True),
    )
    return LessonTable(columns, tuple((float(i), float(seen(row)), row[reach]) for i, row in enumerate(rows, start=1)))


def _field(rows: list[list[float]], kernel: int, reach: int) -> Section:
    layers = len(rows)
    numbers = {
        "layers": layers,
        "kernel": kernel,
        "seen": seen(rows[-1]),
        "formula": 1 + layers * (kernel - 1),
        "far": FAR,
        "needed": -(-FAR // (kernel - 1)),
        "middle": rows[-1][reach],
    }
    return Section(
        words.FIELD_TITLE,
        (words.FIELD, _picture(rows, reach), _counts(rows, reach), words.FIELD_READ.fill(numbers)),
        code=f"for layers in range(1, {layers + 1}):\n"
        f"    shares = field(conv_model({kernel}, layers), {reach})\n"
        "    print(layers, drawn(shares), seen(shares))",
    )


def _dilation(
    rows: list[list[float]], growth: list[int], kernel: int, dilations: tuple[int, ...], reach: int
) -> Section:
    listed = ", ".join(map(str, dilations))
    counts = [seen(row) for row in rows]
    lines = (
        Series(words.PLAIN_LINE.fill({"kernel": kernel}), tuple(enumerate(map(float, growth)))),
        Series(words.DILATED_LINE, tuple(enumerate(map(float, counts))), dashed=True),
    )
    layers = tuple(str(layer) for layer in range(1, len(rows) + 1))
    numbers = {
        "layers": len(rows),
        "kernel": kernel,
        "seen": counts[-1],
        "total": sum(dilations),
        "formula": 1 + (kernel - 1) * sum(dilations),
        "plain": growth[-1],
    }
    return Section(
        words.DILATION_TITLE,
        (
            words.DILATION.fill({"kernel": kernel, "dilations": listed}),
            _picture(rows, reach),
            Curves(words.GROWTH, words.ACROSS, lines, digits=0, ticks=layers, low=0.0),
            words.DILATION_READ.fill(numbers),
            quote("reach = (kernel - 1) dilation", Block, "return (self.kernel"),
        ),
        code=f"shares = field(byte_model({kernel}, {dilations}), {reach})\nprint(seen(shares))",
    )


def said_field(kernel: int, layers: int) -> list[list[float]]:
    """A row for each target position: how strongly it feels each of the words said, as shares."""
    model = conv_model(kernel, layers)
    rows = [np.array(felt_of_said(model, SAID, position)) for position in range(1, SAID + 1)]
    return [(row / row.sum()).tolist() for row in rows]


def _causal(kernel: int, layers: int) -> Section:
    values = np.array(said_field(kernel, layers))  # row t has read words 1 to t
    above = values[np.triu_indices(SAID, 1)]
    rows = tuple(f"{place:>2}  {drawn(row)}" for place, row in enumerate(values.tolist(), start=1))
    read = {"above": float(np.abs(above).max()), "count": int((above == 0).sum())}
    return Section(
        words.CAUSAL_TITLE,
        (
            words.CAUSAL,
            Drawing(rows),
            words.CAUSAL_READ.fill(read),
            quote("seen_t = x_{t-kernel+1} ... x_t", ConvDecoder.forward, "seen = pad_time"),
        ),
        code=f"for row in said_field({kernel}, {layers}):\n    print(drawn(row))",
    )


LESSON = Lesson("convolution", words.TITLE, ConvolutionSettings, teach)
