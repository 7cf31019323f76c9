"""The lesson *style*: attention over style tokens. The query is a recording; the weights are its style.

Without a voice of one's own (`--set run=...`) only the part that hears styles is trained, on recordings that espeak-ng
makes: reference encoder, tokens and attention of the voice, with the voice's own loss for them.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from seq2see.learn.blocks import Curves, LessonTable, Matrix, Section, Series, TableColumn
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings
from seq2see.learn.papers import WANG_2017, WANG_2018, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import style as words
from seq2see.learn.workshop import Workshop
from seq2see.runs.checkpoint import Progress
from seq2see.runs.config import TrainingConfig
from seq2see.speech.audio import AudioConfig, log_mel
from seq2see.speech.corpus import espeak
from seq2see.speech.evaluate.readout import read_styles
from seq2see.speech.evaluate.sweep import sweep
from seq2see.speech.model.style import Style, StyleConfig, spread
from seq2see.speech.synthesis import Voice, set_tokens
from seq2see.training.loop import Loss, Trainer, Update, Validation

AUDIO = AudioConfig()
TEXTS = (
    "old dogs sing",
    "we walk home",
    "the river is deep",
    "she bought green apples",
    "good morning",
    "ten small birds",
)
VOICES: tuple[espeak.Voice, ...] = ("plain", "f2")
PITCHES, SPEEDS = (50, 75, 99), (130, 175, 240)
HEADS = 2
SPREAD = 0.1  # of the reward for telling recordings apart
ROWS = 24
GROWING = (0.0, 0.25, 0.5, 0.75, 1.0)


class StyleSettings(LessonSettings):
    run: str = Field("", description="a trained voice; without one a small listener is trained on espeak-ng")
    tokens: int = Field(5, ge=2, le=10, description="style tokens of the listener")
    text: str = Field("old dogs sing", min_length=1, max_length=100, description="what a given voice says")


class Recording(NamedTuple):
    """A spectrogram, what is said in it, and how: labels are for measuring alone."""

    mel: Tensor  # (frames, mels)
    text: str
    labels: Mapping[str, str | float]
    pace: float  # length against the mean of all recordings of this text


def recordings(texts: Sequence[str] = TEXTS) -> list[Recording]:
    """Every text in every manner, said by espeak-ng."""
    made = []
    for text in texts:
        manners = [espeak.Manner("en", *manner) for manner in product(VOICES, PITCHES, SPEEDS)]
        mels = [log_mel(torch.from_numpy(espeak.say(text, manner, AUDIO.rate)), AUDIO) for manner in manners]
        usual = float(np.mean([len(mel) for mel in mels]))
        for mel, manner in zip(mels, manners, strict=True):
            labels = {"voice": manner.voice, "pitch": manner.pitch, "speed": manner.speed}
            made.append(Recording(mel, text, labels, len(mel) / usual))
    return made


class Listener:
    """Implements training.loop.Task: the style of a recording has to tell its mean spectrum and its pace."""

    def __init__(self, style: Style, heard: Sequence[Recording], steps: int) -> None:
        self.style = style
        self.heard = heard
        self.steps = steps

    @property
    def model(self) -> nn.Module:
        return self.style

    def batches(self, epoch: int, first: int) -> Iterator[list[int]]:
        draw = np.random.default_rng(7)
        drawn = draw.integers(len(self.heard), size=(self.steps, ROWS))
        yield from ([int(place) for place in row] for row in drawn[first:])

    def count(self, epoch: int) -> int:
        return self.steps

    def positions(self, item: list[int]) -> int:
        return 1

    def pairs(self, item: list[int]) -> Sequence[int]:
        return item

    def loss(self, item: list[int], step: int) -> Loss:
        chosen = [self.heard[place] for place in item]
        crops = torch.stack([_some_crop(self.style, recording.mel) for recording in chosen])
        vector, weights = self.style(crops)
        told = self.style.gist(vector)  # (B, mels + 1)
        spectra = torch.stack([recording.mel.mean(dim=0) for recording in chosen])
        paces = torch.tensor([recording.pace for recording in chosen])
        missed = (told[:, :-1] - spectra).abs().mean() + (told[:, -1] - paces).abs().mean()
        return Loss(missed - SPREAD * spread(weights), {})

    def validate(self) -> Validation:
        return Validation({"loss": 0.0})


def _some_crop(style: Style, mel: Tensor) -> Tensor:
    """(crop, mels) from anywhere in a recording."""
    crops = style.crops(mel)
    return crops[int(torch.randint(len(crops), ()))]


class _Nobody:
    """Implements training.loop.Reporter and Interrupt: nothing is told, nobody interrupts."""

    def update(self, update: Update, progress: Progress) -> None: ...

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None: ...

    def message(self, text: str) -> None: ...

    def asked(self) -> bool:
        return False


def trained_style(heard: Sequence[Recording], tokens: int, steps: int) -> Style:
    """The style part of a voice, trained on these recordings; no label is looked at."""
    torch.manual_seed(0)
    config = StyleConfig(tokens=tokens, heads=HEADS, width=32, channels=(8, 8, 16, 16), summary=32, crop=48)
    style = Style(AUDIO.mels, 32, config)
    style.reference.adapt(torch.cat([recording.mel for recording in heard]))
    training = TrainingConfig(
        steps=steps, learning_rate=1e-3, warmup=max(1, steps // 20), schedule="linear", weight_decay=0.0, threads=1
    ).model_copy(update={"validate_every": 10 * steps, "save_every": 10 * steps})
    with tempfile.TemporaryDirectory() as folder:
        nobody = _Nobody()
        Trainer(Listener(style, heard, steps), training, Path(folder), nobody, nobody).train(steps)
    return style.eval()


@torch.no_grad()
def listened(tokens: int, steps: int, texts: Sequence[str]) -> dict[str, Any]:
    """Everything that the lesson says of a small listener, as plain numbers."""
    heard = recordings(texts)
    with torch.enable_grad():
        style = trained_style(heard, tokens, steps)
    weights = torch.stack([style.weigh(recording.mel) for recording in heard])  # (N, heads, tokens)
    flat = weights.flatten(1).double().numpy()
    read = read_styles(flat, [recording.text for recording in heard], [recording.labels for recording in heard])
    mean = weights.mean(dim=0)
    shown = len(VOICES) * len(PITCHES) * len(SPEEDS)  # the first text, every other manner
    return {
        "weights": weights[:shown:2, 0].tolist(),
        "labels": [dict(recording.labels) for recording in heard[:shown:2]],
        "readouts": [[one.label, one.right, one.commonest, one.recordings] for one in read],
        "swept": [swept(style, mean, token) for token in range(tokens)],
    }


def swept(style: Style, mean: Tensor, token: int) -> list[tuple[float, float]]:
    """The middle band and the pace that the style foretells as one token's weight grows from 0 to 1."""
    points = []
    for weight in GROWING:
        told = style.gist(style.mix(set_tokens(mean, {token: weight})[None]))[0]
        spectrum = told[:-1].clamp(min=0)
        centre = float((spectrum * torch.arange(len(spectrum))).sum() / spectrum.sum())
        points.append((centre, float(told[-1])))
    return points


def teach(settings: StyleSettings, workshop: Workshop) -> LessonPage:
    texts = TEXTS[:2] if workshop.quick else TEXTS
    steps = 5 if workshop.quick else 700
    espeak.program()  # one line that says what is missing, before anything is made
    made_from = {"tokens": settings.tokens, "steps": steps, "texts": texts}
    heard = workshop.measured("style", made_from, lambda: listened(settings.tokens, steps, texts))
    given = _given_voice(settings, workshop) if settings.run else ()
    rights = {label: right for label, right, _, _ in heard["readouts"]}
    slowest, fastest = _moves(heard["swept"], 1)
    numbers = {
        "tokens": settings.tokens,
        "speed": rights.get("speed", 0.0),
        "voice": rights.get("voice", 0.0),
        "slow": slowest[1],
        "fast": fastest[1],
    }
    return LessonPage(
        words.QUESTION,
        (_asking(heard, settings.tokens), _read(heard), _sweep(heard, settings.tokens, steps), *given),
        words.ANSWER.fill(numbers),
        attempts=(Attempt(words.TRY_TOKENS, (f"tokens={3 if settings.tokens != 3 else 5}",)),),
        origins=(
            Origin(WANG_2018, "sections 3.1 and 5", words.ORIGIN_TOKENS),
            Origin(WANG_2017, "section 3", words.ORIGIN_TACOTRON),
        ),
        following=("qkv", "heads"),
        commands=(
            "seq2see train builtin:espeak --model tacotron --out runs/voice",
            "seq2see style runs/voice --sweep --style reference.wav -o sweep.png",
            'seq2see speak runs/voice "old dogs sing" --style reference.wav -o said.wav',
            "seq2see learn style --set run=runs/voice",
        ),
    )


def _moves(points: list[list[tuple[float, float]]], which: int) -> tuple[tuple[int, float], tuple[int, float]]:
    """The tokens that lower and raise a number most from weight 0 to 1, with the change."""
    changes = [(token, rows[-1][which] - rows[0][which]) for token, rows in enumerate(points)]
    return min(changes, key=lambda change: change[1]), max(changes, key=lambda change: change[1])


# ----- the sections


def _asking(heard: dict[str, Any], tokens: int) -> Section:
    names = tuple(f"{label['voice']} {label['pitch']}/{label['speed']}" for label in heard["labels"])
    columns = tuple(words.TOKEN.fill({"number": token}) for token in range(tokens))
    return Section(
        words.ASKING_TITLE,
        (
            words.ASKING.fill({"tokens": tokens}),
            Matrix(words.RECORDING, names, columns, np.array(heard["weights"]), shaded=True),
            words.ASKING_READ,
            quote(
                "style = sum_k softmax_k(q . k_k / sqrt(d)) v_k;  q: the recording", Style.forward, "query =", "return"
            ),
        ),
        code="config = StyleConfig(tokens=5, heads=1, width=32, channels=(8, 8), summary=32)\n"
        "style = Style(AUDIO.mels, 32, config).eval()\n"
        "mel = torch.rand(120, AUDIO.mels)\n"
        "for length in (50, 120, 200):\n"
        "    print(length, style.crops(mel[:length]).shape, style.weigh(mel[:length]))",
    )


def _read(heard: dict[str, Any]) -> Section:
    columns = (
        TableColumn(words.COLUMN_LABEL),
        TableColumn(words.COLUMN_RIGHT, ".2f", bar=True),
        TableColumn(words.COLUMN_GUESS, ".2f"),
        TableColumn(words.COLUMN_COUNT, ".0f"),
    )
    rows = tuple((label, right, commonest, float(count)) for label, right, commonest, count in heard["readouts"])
    return Section(words.READ_TITLE, (words.READ, LessonTable(columns, rows), words.READ_READ))


def _sweep(heard: dict[str, Any], tokens: int, steps: int) -> Section:
    points = heard["swept"]
    paces = tuple(
        Series(words.TOKEN.fill({"number": token}), tuple(zip(GROWING, (pace for _, pace in rows), strict=True)))
        for token, rows in enumerate(points)
    )
    bands = tuple(
        Series(words.TOKEN.fill({"number": token}), tuple(zip(GROWING, (band for band, _ in rows), strict=True)))
        for token, rows in enumerate(points)
    )
    slow, fast = _moves(points, 1)
    read = {"slow": slow[0], "slow_by": slow[1], "fast": fast[0], "fast_by": fast[1], "steps": steps, "tokens": tokens}
    return Section(
        words.SWEEP_TITLE,
        (
            words.SWEEP.fill(read),
            Curves(words.PACE, words.WEIGHT, paces),
            Curves(words.BAND, words.WEIGHT, bands, digits=1),
            words.SWEEP_READ.fill(read),
            quote("vector = tanh(W W_O [sum_k w_k v_k] + b), w set by hand", Style.mix, "values =", "return"),
        ),
    )


def _given_voice(settings: StyleSettings, workshop: Workshop) -> tuple[Section, ...]:
    """The same with a voice that speaks: every token from 0 to 1, measured in the sound."""
    voice = Voice.load(settings.run)

    def measure() -> list[list[float | None]]:
        rows: list[list[float | None]] = []
        for moved in sweep(voice, [settings.text], weights=(0.0, 0.5, 1.0)):
            first, last = moved.points[0], moved.points[-1]
            rows.append([float(moved.token), first.pitch, last.pitch, moved.paces[-1]])
        return rows

    made_from = {"run": str(Path(settings.run).absolute()), "text": settings.text}
    rows = workshop.measured("style-voice", made_from, measure)
    columns = (
        TableColumn(words.COLUMN_TOKEN, ".0f"),
        TableColumn(words.COLUMN_FROM, ".0f"),
        TableColumn(words.COLUMN_TO, ".0f"),
        TableColumn(words.COLUMN_PACE, ".2f"),
    )
    return (
        Section(
            words.GIVEN_TITLE,
            (words.GIVEN.fill({"text": settings.text}), LessonTable(columns, tuple(tuple(row) for row in rows))),
        ),
    )


LESSON = Lesson("style", words.TITLE, StyleSettings, teach)
