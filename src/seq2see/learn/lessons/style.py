"""The lesson *style*: attention over style tokens. The query is a recording; the weights are its style.

Without a voice of one's own (`--set run=...`) only the part that hears styles is trained, on recordings that espeak-ng
makes: reference encoder, tokens and attention of the voice, with the voice's own loss for them. What the weights know
is measured on recordings of other texts, which training has not heard.
"""

import tempfile
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from seq2see.atomic import digest
from seq2see.learn.blocks import Curves, LessonTable, Matrix, Section, Series, Sounds, TableColumn
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings
from seq2see.learn.papers import WANG_2017, WANG_2018, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import style as words
from seq2see.learn.workshop import Workshop
from seq2see.runs.checkpoint import Progress
from seq2see.runs.config import TrainingConfig
from seq2see.runs.folder import WEIGHTS
from seq2see.speech.audio import AudioConfig, encoded, log_mel
from seq2see.speech.corpus import espeak, sentences
from seq2see.speech.evaluate.readout import read_styles
from seq2see.speech.evaluate.sweep import sweep
from seq2see.speech.model.style import Style, StyleConfig, spread
from seq2see.speech.synthesis import Voice, set_tokens
from seq2see.training.loop.task import Loss, Update, Validation
from seq2see.training.loop.trainer import Trainer

AUDIO = AudioConfig()
OTHER_WORDS = (
    "a cold wind blows",
    "my brother drinks tea",
    "where are you going",
    "the train leaves soon",
    "fresh bread smells good",
    "close the door",
)
VOICES: tuple[espeak.Voice, ...] = ("plain", "f2")
PITCHES, SPEEDS = (50, 75, 99), (130, 175, 240)
MANNERS = len(VOICES) * len(PITCHES) * len(SPEEDS)
HEADS = 4
SPREAD = 0.1  # of the reward for telling recordings apart
ROWS = 24
GROWING = (0.0, 0.25, 0.5, 0.75, 1.0)
SPOKEN = (0.0, 0.5, 1.0)


class Texts(NamedTuple):
    """What is said: to train on; texts of the same few words that training has not heard; texts of other words."""

    heard: tuple[str, ...]
    unheard: tuple[str, ...]
    other_words: tuple[str, ...]


def drawn_texts(quick: bool) -> Texts:
    """Short texts of the built-in corpus, no two alike; with `quick` two texts for everything."""
    random, drawn = Random(1), dict[str, None]()
    while len(drawn) < 22:
        drawn[sentences.text("en", "short", random)] = None
    texts = tuple(drawn)
    return Texts(*[texts[:2]] * 3) if quick else Texts(texts[:16], texts[16:], OTHER_WORDS)


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


@cache
def recordings(texts: tuple[str, ...]) -> list[Recording]:
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
    """Implements training.loop.task.Task: the style of a recording has to tell its mean spectrum and its pace."""

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
    """Implements training.loop.task.Reporter and Interrupt: nothing is told, nobody interrupts."""

    def update(self, update: Update, progress: Progress) -> None: ...

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None: ...

    def message(self, text: str) -> None: ...

    def asked(self) -> bool:
        return False


def trained_style(heard: Sequence[Recording], tokens: int, steps: int) -> Style:
    """The style part of a voice, trained on these recordings; no label is looked at."""
    torch.manual_seed(0)
    config = StyleConfig(tokens=tokens, heads=HEADS, width=32, channels=(4, 4, 8, 8), summary=32, crop=48)
    style = Style(AUDIO.mels, 32, config)
    style.reference.adapt(torch.cat([recording.mel for recording in heard]))
    training = TrainingConfig(
        steps=steps, learning_rate=1e-3, warmup=max(1, steps // 20), schedule="linear", weight_decay=0.1, threads=1
    ).model_copy(update={"validate_every": 10 * steps, "save_every": 10 * steps})
    with tempfile.TemporaryDirectory() as folder:
        nobody = _Nobody()
        Trainer(Listener(style, heard, steps), training, Path(folder), nobody, nobody).train(steps)
    return style.eval()


@torch.no_grad()
def listened(tokens: int, steps: int, texts: Texts) -> dict[str, Any]:
    """Everything that the lesson says of a small listener, as plain numbers."""
    heard = recordings(texts.heard)
    with torch.enable_grad():
        style = trained_style(heard, tokens, steps)
    mean = weights_of(style, heard).mean(dim=0)
    unheard = recordings(texts.unheard)[:MANNERS:2]  # one text in every other manner
    return {
        "weights": weights_of(style, unheard)[:, 0].tolist(),
        "text": unheard[0].text,
        "manners": [dict(recording.labels) for recording in unheard],
        "read": {name: read_off(style, recordings(said)) for name, said in texts._asdict().items()},
        "paces": [min(recording.pace for recording in heard), max(recording.pace for recording in heard)],
        "swept": [swept(style, mean, token) for token in range(tokens)],
    }


def weights_of(style: Style, heard: Sequence[Recording]) -> Tensor:
    """(N, heads, tokens): the style of each recording."""
    return torch.stack([style.weigh(recording.mel) for recording in heard])


def read_off(style: Style, heard: Sequence[Recording]) -> dict[str, tuple[float, float]]:
    """By label: the share that is read right, and by guessing; each text by a map that was fitted to the others."""
    weights = weights_of(style, heard).flatten(1).double().numpy()
    texts, labels = [recording.text for recording in heard], [recording.labels for recording in heard]
    return {read.label: (read.right, read.commonest) for read in read_styles(weights, texts, labels)}


def swept(style: Style, mean: Tensor, token: int) -> list[tuple[float, float]]:
    """The centre of the spectrum and the pace that the style predicts as a token's weight grows from 0 to 1.

    It grows in the head that uses it most, and stays as it is in the others.
    """
    points = []
    head = int(mean[:, token].argmax())
    for weight in GROWING:
        told = style.gist(style.mix(set_tokens(mean, {(head, token): weight})[None]))[0]
        spectrum = told[:-1].clamp(min=0)
        centre = float((spectrum * torch.arange(len(spectrum))).sum() / spectrum.sum())
        points.append((centre, float(told[-1])))
    return points


def teach(settings: StyleSettings, workshop: Workshop) -> LessonPage:
    texts = drawn_texts(workshop.quick)
    steps = 5 if workshop.quick else 700
    espeak.program()  # one line that says what is missing, before anything is made
    made_from = {"tokens": settings.tokens, "steps": steps, "texts": texts, "heads": HEADS}
    heard = workshop.measured("style", made_from, lambda: listened(settings.tokens, steps, texts))
    given = _given_voice(settings, workshop) if settings.run else ()
    shorter, longer = _moves(heard["swept"], 1)
    numbers = {
        "tokens": settings.tokens,
        "voice": heard["read"]["unheard"]["voice"][0],
        "pitch": heard["read"]["unheard"]["pitch"][0],
        "speed": heard["read"]["unheard"]["speed"][0],
        "other": heard["read"]["other_words"]["speed"][0],
        "shorter": shorter[1],
        "longer": longer[1],
    }
    return LessonPage(
        words.QUESTION,
        (
            _asking(heard, settings.tokens),
            _read(heard, texts),
            _sweep(heard, settings.tokens, steps),
            *given,
        ),
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
            "seq2see learn style --set run=runs/voice -o style.html",
        ),
    )


def _moves(points: list[list[tuple[float, float]]], which: int) -> tuple[tuple[int, float], tuple[int, float]]:
    """The tokens that lower and raise a number most from weight 0 to 1, with the change."""
    changes = [(token, rows[-1][which] - rows[0][which]) for token, rows in enumerate(points)]
    return min(changes, key=lambda change: change[1]), max(changes, key=lambda change: change[1])


# ----- the sections


def _asking(heard: dict[str, Any], tokens: int) -> Section:
    names = tuple(f"{manner['voice']} {manner['pitch']}/{manner['speed']}" for manner in heard["manners"])
    columns = tuple(words.TOKEN.fill({"number": token}) for token in range(tokens))
    sounds = tuple((name, _sound(heard["text"], manner)) for name, manner in zip(names, heard["manners"], strict=True))
    return Section(
        words.ASKING_TITLE,
        (
            words.ASKING.fill({"tokens": tokens, "heads": HEADS, "text": heard["text"]}),
            Sounds(sounds),
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


def _sound(text: str, manner: Mapping[str, Any]) -> str:
    said = espeak.say(text, espeak.Manner("en", manner["voice"], manner["pitch"], manner["speed"]), AUDIO.rate)
    return _base64(said, AUDIO.rate)


def _base64(samples: NDArray[np.float32], rate: int) -> str:
    return b64encode(encoded(samples, rate)).decode("ascii")


def _read(heard: dict[str, Any], texts: Texts) -> Section:
    columns = (
        TableColumn(words.COLUMN_LABEL),
        TableColumn(words.COLUMN_GUESS, ".2f"),
        TableColumn(words.COLUMN_HEARD, ".2f"),
        TableColumn(words.COLUMN_UNHEARD, ".2f", bar=True),
        TableColumn(words.COLUMN_OTHER, ".2f"),
    )
    read = heard["read"]
    rows = tuple(
        (name, read["unheard"][label][1], *(read[group][label][0] for group in Texts._fields))
        for label, name in words.LABELS.items()
    )
    counts = {group: MANNERS * len(said) for group, said in texts._asdict().items()}
    return Section(words.READ_TITLE, (words.READ.fill(counts), LessonTable(columns, rows), words.READ_READ))


def _sweep(heard: dict[str, Any], tokens: int, steps: int) -> Section:
    points = heard["swept"]
    paces, bands = (
        tuple(
            Series(
                words.TOKEN.fill({"number": token}),
                tuple((weight, point[which]) for weight, point in zip(GROWING, rows, strict=True)),
            )
            for token, rows in enumerate(points)
        )
        for which in (1, 0)
    )
    (shorter, shorter_by), (longer, longer_by) = _moves(points, 1)
    low, high = heard["paces"]
    read = {
        "shorter": shorter,
        "shorter_by": shorter_by,
        "longer": longer,
        "longer_by": longer_by,
        "steps": steps,
        "tokens": tokens,
        "low": low,
        "high": high,
    }
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
    """The same with a voice that speaks: every token from 0 to 1, measured in the sound, and to be heard."""
    path = Path(settings.run)
    voice = Voice.load(path)
    made_from = {"weights": digest(path / WEIGHTS), "text": settings.text}
    spoken = workshop.measured("style-voice", made_from, lambda: spoken_sweep(voice, settings.text))
    columns = (
        TableColumn(words.COLUMN_TOKEN, ".0f"),
        TableColumn(words.COLUMN_FROM, ".0f"),
        TableColumn(words.COLUMN_TO, ".0f"),
        TableColumn(words.COLUMN_PACE, ".2f"),
    )
    rows = tuple((float(one["token"]), one["pitches"][0], one["pitches"][-1], one["paces"][-1]) for one in spoken)
    lines = tuple(
        Series(words.TOKEN.fill({"number": one["token"]}), tuple(zip(SPOKEN, one["paces"], strict=True)))
        for one in spoken
    )
    sounds = tuple((words.SOUND.fill({"token": one["token"]}), one["sound"]) for one in spoken)
    return (
        Section(
            words.GIVEN_TITLE,
            (
                words.GIVEN.fill({"text": settings.text, "run": settings.run}),
                LessonTable(columns, rows),
                Curves(words.GIVEN_PACE, words.WEIGHT, lines),
                words.GIVEN_HEAR,
                Sounds(sounds),
            ),
        ),
    )


def spoken_sweep(voice: Voice, text: str) -> list[dict[str, Any]]:
    """Every token of a voice over the weights: pitch in Hz and pace against weight 0, and the sound at weight 1."""
    spoken = []
    for moved in sweep(voice, [text], weights=SPOKEN):
        speech = voice.speak(text, tokens={moved.token: 1.0})
        spoken.append(
            {
                "token": moved.token,
                "pitches": [point.pitch for point in moved.points],
                "paces": moved.paces,
                "sound": _base64(speech.samples, speech.rate),
            }
        )
    return spoken


LESSON = Lesson("style", words.TITLE, StyleSettings, teach)
