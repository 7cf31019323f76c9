"""A voice put to the test: it says held-out texts in the style of a reference, and everything that can be is measured.

Each figure stands beside the same figure for the teacher's own recording and for its way through spectrogram and
Griffin-Lim: what is lost there no voice can bring back, and what a recogniser does not understand of the teacher says
nothing about the voice.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from seq2see.errors import DataError, ShapeError
from seq2see.speech import audio
from seq2see.speech.audio import AudioConfig, Samples
from seq2see.speech.corpus import espeak
from seq2see.speech.corpus.sources import Utterance
from seq2see.speech.evaluate import measures
from seq2see.speech.evaluate.measures import Array, Reading
from seq2see.speech.evaluate.recognise import TextRecogniser, WordRecogniser, split, understood

SHORT = 3  # words
_LONGEST = 1.5  # of the teacher's length: what goes on for longer has not stopped by itself
_NEAR_CENTS, _NEAR_LENGTH = 200.0, 0.15
_LOWEST_PITCH = 100.0  # Hz: below, 80 mels do not carry the pitch (see docs/speech.md)


class SynthesizedSpeech(NamedTuple):
    """What a voice gives back: samples (n,), alignment weights (T, S), and whether it ended by itself."""

    samples: Samples
    rate: int
    weights: NDArray[np.float32]
    stopped: bool


Speak = Callable[[str, Path], SynthesizedSpeech]
"""The text, and the recording to take the style from."""


@dataclass(frozen=True)
class UtteranceMeasures:
    """One sound, measured against the teacher's recording of the same text; None where nothing can be said."""

    name: str
    text: str
    labels: Mapping[str, str | float]
    duration: float  # of the teacher's
    pitch: float | None  # Hz, median
    teacher_pitch: float | None
    distortion: float | None = None  # MCD, dB
    contour: float | None = None  # cents
    words: int = 0
    understood: int = 0
    recognised: bool | None = None
    reading: Reading | None = None
    stopped: bool | None = None

    @property
    def short(self) -> bool:
        return len(self.text.split()) <= SHORT

    @property
    def whispered(self) -> bool:
        return self.labels.get("voice") == "whisper"


class Figures(NamedTuple):
    """Means over utterances; shares are 0..1."""

    utterances: int
    words_understood: float | None
    texts_recognised: float | None
    distortion: float | None
    pitch_correlation: float | None
    pitch_within_200_cents: float | None
    pitch_error_cents: float | None
    contour_error_cents: float | None
    duration_ratio: float | None
    duration_within_15_percent: float | None
    stopped: float | None
    focus: float | None
    monotonicity: float | None
    no_repeat_or_skip: float | None


_ROWS = {  # the field of Figures, how it is called, how it is written
    "words_understood": ("words understood", ".1%"),
    "texts_recognised": ("texts recognised", ".1%"),
    "distortion": ("mel-cepstral distortion, dB", ".2f"),
    "pitch_correlation": ("pitch: correlation", ".3f"),
    "pitch_within_200_cents": ("pitch: within 200 cents", ".1%"),
    "pitch_error_cents": ("pitch: median error, cents", ".0f"),
    "contour_error_cents": ("contour: median error, cents", ".0f"),
    "duration_ratio": ("duration of the teacher's", ".2f"),
    "duration_within_15_percent": ("duration within 15 %", ".1%"),
    "stopped": ("stopped by itself", ".1%"),
    "focus": ("attention: focus", ".2f"),
    "monotonicity": ("attention: monotonicity", ".3f"),
    "no_repeat_or_skip": ("no repeat or skip", ".1%"),
}


@dataclass(frozen=True)
class VoiceReport:
    """What was heard, in the order of the test set."""

    teacher: tuple[UtteranceMeasures, ...]
    round_trip: tuple[UtteranceMeasures, ...]
    voice: tuple[UtteranceMeasures, ...]

    def groups(self) -> dict[str, list[int]]:
        """Which utterances belong together: by length without whispers, whispers, and all of them."""
        teacher, places = self.teacher, range(len(self.teacher))
        groups = {
            f"up to {SHORT} words": [n for n in places if teacher[n].short and not teacher[n].whispered],
            f"more than {SHORT} words": [n for n in places if not teacher[n].short and not teacher[n].whispered],
            "whispered": [n for n in places if teacher[n].whispered],
            "all": list(places),
        }
        return {name: members for name, members in groups.items() if members}

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the figures of each group, then each utterance as the voice said it."""
        return {
            "figures": {
                group: {who: figures([heard[n] for n in places])._asdict() for who, heard in self._columns()}
                for group, places in self.groups().items()
            },
            "utterances": [
                {**asdict(spoken), "reading": None if spoken.reading is None else spoken.reading._asdict()}
                for spoken in self.voice
            ],
        }

    def table(self) -> str:
        """Plain text: a block for each group, a column for each source of sound."""
        blocks = []
        for group, places in self.groups().items():
            columns = [figures([heard[n] for n in places]) for _, heard in self._columns()]
            head = f"{group} ({len(places):,})"
            lines = [f"{head:<32}" + "".join(f"{who:>12}" for who, _ in self._columns())]
            for field, (name, form) in _ROWS.items():
                values = [getattr(column, field) for column in columns]
                if any(value is not None for value in values):
                    cells = ["–" if value is None else format(value, form) for value in values]
                    lines.append(f"  {name:<30}" + "".join(f"{cell:>12}" for cell in cells))
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks)

    def _columns(self) -> tuple[tuple[str, tuple[UtteranceMeasures, ...]], ...]:
        return ("teacher", self.teacher), ("round trip", self.round_trip), ("voice", self.voice)


def listen(
    test: Sequence[Utterance],
    references: Sequence[Utterance],
    speak: Speak,
    config: AudioConfig,
    progress: Callable[[int, int], None] | None = None,
) -> VoiceReport:
    """Lets the voice say every text in the style of its reference; needs the extra `speech`."""
    if not test:
        raise DataError("there is nothing to measure: no utterance is held out")
    if len(test) != len(references):
        raise ShapeError(f"{len(test)} utterances and {len(references)} references; one is needed for each")
    ears = _Ears(test, config.rate)
    columns: tuple[list[UtteranceMeasures], ...] = ([], [], [])
    for number, (utterance, reference) in enumerate(zip(test, references, strict=True), start=1):
        speech = speak(utterance.text, reference.audio)
        for column, heard in zip(columns, ears.three(utterance, speech, config), strict=True):
            column.append(heard)
        if progress is not None:
            progress(number, len(test))
    teacher, round_trip, voice = (tuple(column) for column in columns)
    return VoiceReport(teacher, round_trip, voice)


class _Ears:
    """Recognisers for what is tested: words in English, whole texts in other languages the teacher speaks."""

    def __init__(self, test: Sequence[Utterance], rate: int) -> None:
        self._rate = rate
        self._words = {short: _recogniser(_texts(test, english=True, short=short)) for short in (True, False)}
        self._texts = {short: _templates(test, short, rate) for short in (True, False)}

    def three(
        self, utterance: Utterance, speech: SynthesizedSpeech, config: AudioConfig
    ) -> tuple[UtteranceMeasures, UtteranceMeasures, UtteranceMeasures]:
        """The teacher, its round trip, and the voice."""
        teacher = audio.trimmed(audio.read(utterance.audio, self._rate), self._rate)
        mel = audio.log_mel(torch.from_numpy(teacher), config)
        again = audio.trimmed(audio.griffin_lim(mel, config), self._rate)
        voice = audio.trimmed(audio.resampled(speech.samples, speech.rate, self._rate), self._rate)
        pitch = measures.f0(teacher, self._rate)
        first, second, third = (self._heard(utterance, sound, teacher, pitch) for sound in (teacher, again, voice))
        stopped = speech.stopped and third["duration"] <= _LONGEST
        reading = measures.reading(speech.weights)
        return (
            UtteranceMeasures(**first),
            UtteranceMeasures(**second),
            UtteranceMeasures(**third, reading=reading, stopped=stopped),
        )

    def _heard(self, utterance: Utterance, sound: Samples, teacher: Samples, pitch: Array) -> dict[str, Any]:
        values: dict[str, Any] = {
            "name": utterance.name,
            "text": utterance.text,
            "labels": dict(utterance.labels),
            "duration": len(sound) / len(teacher),
            "teacher_pitch": measures.middle_pitch(pitch),
            **self._recognised(utterance, sound),
        }
        if sound is teacher:
            return {**values, "pitch": values["teacher_pitch"]}
        own = measures.f0(sound, self._rate)
        distortion, path = measures.matched(
            measures.mel_cepstra(sound, self._rate), measures.mel_cepstra(teacher, self._rate)
        )
        contour = measures.contour_error(own, pitch, path)
        return {**values, "pitch": measures.middle_pitch(own), "distortion": distortion, "contour": contour}

    def _recognised(self, utterance: Utterance, sound: Samples) -> dict[str, Any]:
        short = len(utterance.text.split()) <= SHORT
        if _english(utterance.text):
            recogniser = self._words[short]
            if recogniser is None:
                return {}
            words = [word for word in split(utterance.text) if word not in recogniser.unknown]
            return {"words": len(words), "understood": understood(words, recogniser.hear(sound, self._rate))}
        texts = self._texts[short]
        return {} if texts is None else {"recognised": texts.hear(sound) == utterance.text}


def _recogniser(texts: Sequence[str]) -> WordRecogniser | None:
    """For words that the English dictionary has; another language in Latin letters has none of them."""
    try:
        return WordRecogniser(texts) if texts else None
    except DataError:
        return None


def _english(text: str) -> bool:
    return text.isascii() and bool(split(text))


def _texts(test: Iterable[Utterance], *, english: bool, short: bool) -> list[str]:
    texts = dict.fromkeys(utterance.text for utterance in test if (len(utterance.text.split()) <= SHORT) == short)
    return [text for text in texts if _english(text) == english]


def _templates(test: Sequence[Utterance], short: bool, rate: int) -> TextRecogniser | None:
    """Every such text as the teacher says it in one plain manner, which is not the manner of what is tested.

    Only where the teacher is espeak-ng: of other recordings there is but one of each text.
    """
    texts = _texts([utterance for utterance in test if utterance.labels], english=False, short=short)
    if len(texts) < 2:
        return None
    plain = espeak.Manner("ko", "plain", 75, 175)
    return TextRecogniser({text: espeak.say(text, plain, rate) for text in texts}, rate)


def figures(heard: Sequence[UtteranceMeasures]) -> Figures:
    """The means; pitch over voiced utterances whose teacher is at 100 Hz or above."""
    compared = [utterance for utterance in heard if utterance.distortion is not None]
    readings = [utterance.reading for utterance in heard if utterance.reading is not None]
    words = sum(utterance.words for utterance in heard)
    correlation, within, error = _pitch(compared)
    return Figures(
        utterances=len(heard),
        words_understood=sum(utterance.understood for utterance in heard) / words if words else None,
        texts_recognised=_mean(utterance.recognised for utterance in heard),
        distortion=_mean(utterance.distortion for utterance in compared),
        pitch_correlation=correlation,
        pitch_within_200_cents=within,
        pitch_error_cents=error,
        contour_error_cents=_mean(utterance.contour for utterance in compared if not utterance.whispered),
        duration_ratio=_mean(utterance.duration for utterance in compared),
        duration_within_15_percent=_mean(abs(utterance.duration - 1) <= _NEAR_LENGTH for utterance in compared),
        stopped=_mean(utterance.stopped for utterance in heard),
        focus=_mean(reading.focus for reading in readings),
        monotonicity=_mean(reading.monotonicity for reading in readings),
        no_repeat_or_skip=_mean(reading.clean for reading in readings),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _pitch(heard: Sequence[UtteranceMeasures]) -> tuple[float | None, float | None, float | None]:
    """Correlation over utterances, the share within 200 cents, the median error; without pitch is not within."""
    pitches = [(spoken.pitch, spoken.teacher_pitch) for spoken in heard if not spoken.whispered]
    voiced = [(own, teacher) for own, teacher in pitches if teacher is not None and teacher >= _LOWEST_PITCH]
    if not voiced:
        return None, None, None
    both = [(own, teacher) for own, teacher in voiced if own is not None]
    errors = [abs(measures.cents(own, teacher)) for own, teacher in both]
    within = sum(error <= _NEAR_CENTS for error in errors) / len(voiced)
    return _correlation(both), within, float(np.median(errors)) if errors else None


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Pearson's, of logarithms; None where one side does not vary."""
    if len(pairs) < 3:
        return None
    logs = np.log2(np.array(pairs))
    return float(np.corrcoef(logs.T)[0, 1]) if logs.std(axis=0).min() > 1e-9 else None
