"""The lesson *memory*: tanh RNN, GRU and LSTM by their gates, and how much of word 1 is left after 40 words."""

import random
from typing import Any, NamedTuple

import torch
from pydantic import Field
from torch import Tensor

from seq2see.learn.blocks import Array, Curves, Equation, LessonTable, Matrix, Section, Series, TableColumn
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings
from seq2see.learn.papers import BENGIO_1994, CHO_2014, GERS_2000, HOCHREITER_1997, SCHUSTER_1997, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import memory as words
from seq2see.learn.workshop import Workshop
from seq2see.models.recurrent.cells import Cell, CellName, gru_gates, lstm_gates
from seq2see.models.recurrent.encoder import RecurrentEncoder, RecurrentEncoderConfig
from seq2see.session.loading import load
from seq2see.session.translator import Translator

KINDS: tuple[CellName, ...] = ("tanh", "gru", "lstm")
INPUTS, HIDDEN = 32, 48
SENTENCES = 64  # random sentences behind a measured gradient
LETTERS = "abcdefgh"
LENGTHS = (5, 10, 20, 40)
LONGEST = LENGTHS[-1]
PAIRS, QUICK, TESTED = 20_000, 1000, 200
SHORT = 6  # words of the sentence that is read in one or both directions

TRAINING = {
    "schedule": "cosine",
    "warmup": 30,
    "learning_rate": 3e-3,
    "beta2": 0.999,
    "batch_tokens": 1300,
    "weight_decay": 0.0,
    "label_smoothing": 0.0,
    "validate_every": 1_000_000,
    "save_every": 100,
    "threads": 1,
    "device": "cpu",
}


class MemorySettings(LessonSettings):
    length: int = Field(40, ge=4, le=200, description="words of a sentence")
    forget: float = Field(1.0, ge=-10, le=10, description="the bias that an LSTM's forget gate starts with")
    seed: int = Field(1, ge=0, description="of the random sentences and matrices")


# ----- one step, by hand


class Step(NamedTuple):
    """One step of a cell of one number: its gates by name, and the state after it."""

    gates: dict[str, float]
    state: float


def ones(kind: CellName, forget: float = 1.0) -> Cell:
    """A cell of one number in which every weight is 1 and every bias 0, but the forget gate's."""
    cell = Cell(kind, 1, 1).double()
    with torch.no_grad():
        for weight in cell.weights()[:2]:
            weight.fill_(1.0)
        for bias in cell.weights()[2:]:
            bias.zero_()
        if kind == "lstm":
            cell.layer.bias_ih_l0[1] = forget
    return cell


@torch.no_grad()
def one_step(kind: CellName, x: float = 1.0, h: float = 0.5, forget: float = 1.0) -> Step:
    """The cell reads x in the state h; an LSTM's cell c is h as well."""
    cell, inputs = ones(kind, forget), torch.tensor([[x]]).double()
    match kind:
        case "tanh":
            return Step({}, float(cell.step(inputs, torch.tensor([[h]]).double())))
        case "gru":
            after, gates = cell.gru_gates(inputs, torch.tensor([[h]]).double())
            return Step({"r": float(gates.reset), "z": float(gates.update), "n": float(gates.candidate)}, float(after))
    after, lstm = cell.gates(inputs, torch.tensor([[h, h]]).double())
    named = {"i": lstm.input, "f": lstm.forget, "g": lstm.candidate, "o": lstm.output, "c": after[:, 1:]}
    return Step({name: float(value) for name, value in named.items()}, float(after[0, 0]))


# ----- gradients through fresh cells


def fresh(kind: CellName, seed: int, forget: float = 1.0) -> Cell:
    """A cell as every model has it before training."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        cell = Cell(kind, INPUTS, HIDDEN).double()
    if kind == "lstm":
        with torch.no_grad():
            cell.layer.bias_ih_l0[HIDDEN : 2 * HIDDEN] = forget
    return cell


def random_sentences(length: int, seed: int) -> Tensor:
    """(SENTENCES, length, INPUTS): word vectors of variance 1."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.randn(SENTENCES, length, INPUTS, dtype=torch.float64)


def reaching(cell: Cell, x: Tensor, seed: int = 1) -> list[float]:
    """(B, T, inputs) -> for each word, the gradient of the last state with respect to it: |d (r . h_T) / d x_t|.

    r is a random direction of length 1; the mean over the sentences.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        direction = torch.nn.functional.normalize(torch.randn(len(x), cell.hidden, dtype=x.dtype), dim=-1)
    x = x.detach().requires_grad_()
    outputs, _ = cell.run(x, x.new_zeros(len(x), cell.state_width))
    (gradient,) = torch.autograd.grad((outputs[:, -1] * direction).sum(), x)
    return [float(norm) for norm in gradient.norm(dim=-1).mean(dim=0)]


def seen(bidirectional: bool, seed: int, length: int = SHORT) -> Array:
    """(length, length): how much each state h_t of an encoder depends on each word x_j, as a share of its row."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = RecurrentEncoderConfig(embedding=INPUTS, hidden=HIDDEN, bidirectional=bidirectional, dropout=0.0)
        encoder = RecurrentEncoder(config, vocabulary=len(LETTERS) + 4).double().eval()
        x = torch.randn(SENTENCES, length, INPUTS, dtype=torch.float64).requires_grad_()
        outputs = encoder._both_ways(0, x, torch.full((SENTENCES,), length))  # (B, T, directions * hidden)
        direction = torch.randn_like(outputs)
    rows = []
    for place in range(length):
        (gradient,) = torch.autograd.grad((outputs[:, place] * direction[:, place]).sum(), x, retain_graph=True)
        norms = gradient.norm(dim=-1).mean(dim=0)
        rows.append(norms / norms.sum())
    shares: Array = torch.stack(rows).detach().numpy()
    return shares


# ----- what training makes of it


def recall_pairs(count: int, seed: int, length: int | None = None) -> list[tuple[str, str]]:
    """Sentences of letters, each with its first letter: to translate them one has to remember word 1.

    Without a length they have 2 to LONGEST letters, as many letters in short ones as in long ones: a batch is filled by
    letters, and what is learned first is learned from short ones.
    """
    draw = random.Random(seed)
    pairs = []
    for _ in range(count):
        letters = draw.choices(LETTERS, k=length or int(2 * ((LONGEST + 1) / 2) ** draw.random()))
        pairs.append((" ".join(letters), letters[0]))
    return pairs


def recall_settings(kind: CellName, *, quick: bool) -> dict[str, Any]:
    """A model of the family `rnn` whose encoder reads in one direction, as a recipe has it."""
    encoder = {"embedding": INPUTS, "hidden": HIDDEN, "cell": kind, "bidirectional": False, "dropout": 0.0}
    sizes = {"embedding": INPUTS, "hidden": HIDDEN, "dropout": 0.0, "encoder": encoder}
    return {
        "data": {"valid_pairs": 50},
        "tokenizer": {"scheme": "word", "vocabulary": 100, "byte_fallback": False},
        "model": {"family": "rnn", "size": "tiny"} | sizes,
        "training": TRAINING | {"steps": 20 if quick else 800},
    }


def recall(kind: CellName, workshop: Workshop) -> dict[str, list[float]]:
    """A trained model: how often it says the first word, by length; and the gradient that reaches each word of 40."""
    settings = recall_settings(kind, quick=workshop.quick)

    def measure() -> dict[str, list[float]]:
        translator = load(
            workshop.trained(f"memory-{kind}", settings, recall_pairs(QUICK if workshop.quick else PAIRS, seed=1))
        )
        right = []
        for length in LENGTHS:
            pairs = recall_pairs(TESTED, 2, length)
            outputs = translator.translate_all(source for source, _ in pairs)
            right.append(sum(out.text == first for out, (_, first) in zip(outputs, pairs, strict=True)) / TESTED)
        return {"right": right, "reaching": reaching(*reading(translator, recall_pairs(SENTENCES, 3, LONGEST)))}

    measured: dict[str, list[float]] = workshop.measured(f"memory-{kind}", settings, measure)
    return measured


def reading(translator: Translator, pairs: list[tuple[str, str]]) -> tuple[Cell, Tensor]:
    """The cell of a trained encoder, and the word vectors that it reads of these sentences of one length."""
    encoder, tokenizer = translator.model.encoder.double(), translator.tokenizers[0]
    assert isinstance(encoder, RecurrentEncoder)
    cell = encoder.forwards[0]
    assert isinstance(cell, Cell)
    return cell, encoder.embedding(torch.tensor(tokenizer.ids_batch([source for source, _ in pairs]))).detach()


# ----- the page


def teach(settings: MemorySettings, workshop: Workshop) -> LessonPage:
    x = random_sentences(settings.length, settings.seed)
    gradients = {kind: reaching(fresh(kind, settings.seed, settings.forget), x) for kind in KINDS}
    recalled = {kind: recall(kind, workshop) for kind in KINDS}
    longest = {kind: measured["right"][-1] for kind, measured in recalled.items()}
    ratios = {kind: gradient[0] / gradient[-1] for kind, gradient in gradients.items()}
    return LessonPage(
        words.QUESTION,
        (
            _one_step(settings.forget),
            _reaching(gradients, settings),
            _recalled(recalled, quick=workshop.quick),
            _directions(settings.seed),
        ),
        words.ANSWER.fill(
            {"length": settings.length, "words": LONGEST}
            | {f"ratio_{kind}": ratio for kind, ratio in ratios.items()}
            | {f"right_{kind}": share for kind, share in longest.items()}
        ),
        attempts=(
            Attempt(words.TRY_FORGET, ("forget=4",)),
            Attempt(words.TRY_LENGTH, ("length=100",)),
            Attempt(words.TRY_SEED, ("seed=2",)),
        ),
        origins=(
            Origin(BENGIO_1994, "section II", words.ORIGIN_BENGIO),
            Origin(HOCHREITER_1997, "sections 3 and 4", words.ORIGIN_LSTM),
            Origin(GERS_2000, "section 3", words.ORIGIN_FORGET),
            Origin(CHO_2014, "section 2.3", words.ORIGIN_GRU),
            Origin(SCHUSTER_1997, "section II", words.ORIGIN_TWO),
        ),
        following=("bottleneck", "when"),
        commands=('seq2see explain RUN "text" --step 2',),
    )


def _one_step(forget: float) -> Section:
    steps = {kind: one_step(kind, forget=forget) for kind in KINDS}
    gru, lstm = steps["gru"].gates, steps["lstm"].gates
    lines = (
        ("tanh", "h' = tanh(1 + 0.5)", steps["tanh"].state),
        ("GRU", "r = z = sigmoid(1 + 0.5)", gru["z"]),
        ("", f"n = tanh(1 + {gru['r']:.3f} x 0.5)", gru["n"]),
        ("", f"h' = (1 - {gru['z']:.3f}) x {gru['n']:.3f} + {gru['z']:.3f} x 0.5", steps["gru"].state),
        ("LSTM", "i = o = sigmoid(1 + 0.5)", lstm["i"]),
        ("", f"f = sigmoid(1 + 0.5 + {_signed(forget)})", lstm["f"]),
        ("", "g = tanh(1 + 0.5)", lstm["g"]),
        ("", f"c' = {lstm['f']:.3f} x 0.5 + {lstm['i']:.3f} x {lstm['g']:.3f}", lstm["c"]),
        ("", f"h' = {lstm['o']:.3f} x tanh({lstm['c']:.3f})", steps["lstm"].state),
    )
    sums = [f"{name:<6}{term:<42} = {value:.3f}" for name, term, value in lines]
    return Section(
        words.STEP_TITLE,
        (
            words.STEP.fill({"forget": forget}),
            *map(Equation, sums),
            words.STEP_READ,
            quote("LSTM: c' = f c + i g,  h' = o tanh(c')", lstm_gates, "cell = f * cell", "return"),
            quote("GRU: h' = (1 - z) n + z h", gru_gates, "n = torch.tanh", "return"),
        ),
        code=f"for kind in KINDS:\n    print(kind, one_step(kind, forget={forget:g}))",
    )


def _signed(value: float) -> str:
    return f"{value:g}" if value >= 0 else f"({value:g})"


def _reaching(gradients: dict[CellName, list[float]], settings: MemorySettings) -> Section:
    shown = sorted({1, 2, settings.length // 4, settings.length // 2, settings.length - 1, settings.length} - {0})
    columns = (TableColumn(words.COLUMN_WORD, "d"), *(TableColumn(words.CELLS[kind], ".2e") for kind in KINDS))
    rows = tuple((word, *(gradients[kind][word - 1] for kind in KINDS)) for word in shown)
    series = tuple(
        Series(words.CELLS[kind], tuple((float(word), gradients[kind][word - 1]) for word in _few(settings.length)))
        for kind in KINDS
    )
    ratios = {f"ratio_{kind}": gradient[0] / gradient[-1] for kind, gradient in gradients.items()}
    gate = float(torch.sigmoid(torch.tensor(settings.forget)))
    read = {"length": settings.length, "forget": settings.forget, "gate": gate}
    return Section(
        words.REACHING_TITLE,
        (
            words.REACHING.fill(
                {"length": settings.length, "hidden": HIDDEN, "sentences": SENTENCES, "seed": settings.seed}
            ),
            LessonTable(columns, rows),
            Curves(words.REACHING_CHART, words.COLUMN_WORD, series, log=True),
            words.REACHING_READ.fill(
                read | ratios | {"product": gate ** (settings.length - 1), "steps": settings.length - 1}
            ),
        ),
        code=f"x = random_sentences({settings.length}, seed={settings.seed})\n"
        "for kind in KINDS:\n"
        f"    gradient = reaching(fresh(kind, {settings.seed}, forget={settings.forget:g}), x)\n"
        "    print(kind, gradient[0], gradient[-1], gradient[0] / gradient[-1])",
    )


def _few(length: int) -> list[int]:
    """Words of a sentence for a chart: all of a short one, else about twenty."""
    every = max(1, length // 20)
    return sorted({1, *range(every, length + 1, every), length})


def _recalled(recalled: dict[CellName, dict[str, list[float]]], *, quick: bool) -> Section:
    columns = (TableColumn(words.COLUMN_LENGTH, "d"), *(TableColumn(words.CELLS[kind], ".0%") for kind in KINDS))
    rows = tuple((length, *(recalled[kind]["right"][place] for kind in KINDS)) for place, length in enumerate(LENGTHS))
    series = tuple(
        Series(words.CELLS[kind], tuple((float(word), recalled[kind]["reaching"][word - 1]) for word in _few(LONGEST)))
        for kind in KINDS
    )
    example, first = recall_pairs(1, 2, 8)[0]
    ratios = {
        f"ratio_{kind}": measured["reaching"][0] / measured["reaching"][-1] for kind, measured in recalled.items()
    }
    return Section(
        words.RECALL_TITLE,
        (
            words.RECALL.fill(
                {"example": example, "first": first, "pairs": QUICK if quick else PAIRS, "chance": 1 / len(LETTERS)}
            ),
            LessonTable(columns, rows),
            words.RECALL_GRADIENT.fill(
                {"few": LENGTHS[0], "many": LENGTHS[-1]}
                | {f"few_{kind}": measured["right"][0] for kind, measured in recalled.items()}
                | {f"many_{kind}": measured["right"][-1] for kind, measured in recalled.items()}
            ),
            Curves(words.REACHING_CHART, words.COLUMN_WORD, series, log=True),
            words.RECALL_READ.fill(ratios | {"length": LONGEST}),
        ),
        code=f"workshop = Workshop(quick={quick})  # what it trains is kept\n"
        "for kind in KINDS:\n"
        "    print(kind, recall(kind, workshop)['right'])",
    )


def _directions(seed: int) -> Section:
    one, two = seen(False, seed), seen(True, seed)
    names = tuple(f"h{place}" for place in range(1, SHORT + 1))
    inputs = tuple(f"x{place}" for place in range(1, SHORT + 1))
    return Section(
        words.TWO_TITLE,
        (
            words.TWO.fill({"length": SHORT}),
            Matrix(words.ONE_NAME, names, inputs, one, shaded=True),
            Matrix(words.TWO_NAME, names, inputs, two, shaded=True),
            words.TWO_READ.fill({"alone": float(one[0, 0]), "first": float(two[0, 0]), "second": float(two[0, 1])}),
            quote("h_j = [forwards_j; backwards_j]", RecurrentEncoder._both_ways, "turned = turn_around", "return"),
        ),
        code=f"print(seen(False, {seed}))\nprint(seen(True, {seed}))",
    )


LESSON = Lesson("memory", words.TITLE, MemorySettings, teach)
