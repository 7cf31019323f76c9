"""Recordings, corpora of recordings, alphabets, spectrograms on disk."""

import tempfile
from collections.abc import Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from fuzzing.seeds import TOKENS
from fuzzing.target import BrokenPromiseError, Files, Target

RATE = 16_000


def _tone(form: str = "WAV", seconds: float = 0.2, rate: int = RATE) -> bytes:
    import numpy as np

    from seq2see.speech import audio

    time = np.arange(int(seconds * rate)) / rate
    return audio.encoded((0.3 * np.sin(2 * np.pi * 220 * time)).astype(np.float32), rate, form)


def _sounds(form: str) -> Sequence[Files]:
    name = f"a.{form.lower()}"
    return [{name: _tone(form)}, {name: _tone(form, rate=8000)}]


def _sound(name: str, folder: Path, out: Path) -> None:
    import torch

    from seq2see.speech import audio
    from seq2see.speech.audio import AudioConfig
    from seq2see.speech.corpus.recordings import spectrogram

    audio.rate_of(folder / name)
    if not torch.isfinite(spectrogram(folder / name, AudioConfig())).all():
        raise BrokenPromiseError("a spectrogram that is not of numbers")


def _tsv() -> Sequence[Files]:
    return [{"a.wav": _tone(), "b.wav": _tone(), "corpus.tsv": "a.wav\thello there\nb.wav\t안녕 하세요\n\n".encode()}]


def _ljspeech() -> Sequence[Files]:
    lines = b"a|Dr. Kim|Doctor Kim\nb|hello there\n"
    return [{"wavs/a.wav": _tone(), "wavs/b.wav": _tone(), "metadata.csv": lines}]


def _corpus(name: str, folder: Path, out: Path) -> None:
    from seq2see.speech.corpus.sources import read_corpus, references

    train, test = read_corpus(str(folder / name), say=lambda text: text.encode() and None)
    for utterance in (*train, *test):
        utterance.text.encode()
    references([*train, *test])


def _alphabets() -> Sequence[Files]:
    from seq2see.speech.corpus.letters import Letters, LettersConfig

    made = []
    for kind in ("jamo", "characters"):
        with tempfile.TemporaryDirectory() as folder:
            Letters.fit(["ab 가나", "hello"], LettersConfig(kind=kind)).save(Path(folder) / "letters.json")
            made.append({"letters.json": (Path(folder) / "letters.json").read_bytes()})
    return made


def _alphabet(folder: Path, out: Path) -> None:
    from seq2see.speech.corpus.letters import Letters
    from seq2see.speech.synthesis import letters_side

    letters = Letters.load(folder / "letters.json")
    letters_side(letters, letters.ids("ab 가"))
    letters.save(out / "again.json")


def _spectrograms() -> Sequence[Files]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("a.wav", "b.wav"):
            (place / name).write_bytes(_tone())
        _record(place, place)
        return [{path.name: path.read_bytes() for path in place.iterdir()}]


def _record(folder: Path, out: Path) -> None:
    """What lies in the folder is used if it fits, else made anew."""
    from seq2see.speech.audio import AudioConfig
    from seq2see.speech.corpus.letters import Letters, LettersConfig
    from seq2see.speech.corpus.recordings import record
    from seq2see.speech.corpus.sources import Utterance

    utterances = [Utterance(folder / f"{name}.wav", text, name, {}) for name, text in (("a", "ab"), ("b", "ba"))]
    letters = Letters.fit(["ab"], LettersConfig())
    options: dict[str, Any] = {"longest": 400, "counting": lambda count: None}
    if "digests" in signature(record).parameters:
        options["digests"] = {}
    recordings = record(folder / "train.npy", utterances, letters=letters, config=AudioConfig(), **options)
    recordings.paces()
    for place in range(len(recordings)):
        if recordings.mel(place).shape[0] != recordings.lengths[place]:
            raise BrokenPromiseError("a spectrogram of another length than it says")


_SOUND = (b"data", b"fmt ", b"LIST", b"RIFF", b"RF64", b"fLaC")
_JSON = TOKENS["json"]
_WAVS = frozenset({"a.wav", "b.wav"})
TARGETS: list[Target] = [
    Target("wav", "sound", partial(_sounds, "WAV"), partial(_sound, "a.wav"), _SOUND),
    Target("flac", "sound", partial(_sounds, "FLAC"), partial(_sound, "a.flac"), _SOUND),
    Target("speech-tsv", "sound", _tsv, partial(_corpus, "corpus.tsv"), (b"\t", b"a.wav", b"../", b"/dev/zero", b"\0")),
    Target("ljspeech", "sound", _ljspeech, partial(_corpus, ""), (b"|", b"||", b"a", b"../", b"\0")),
    Target("letters", "sound", _alphabets, _alphabet, _JSON, specials=True),
    Target("spectrograms", "sound", _spectrograms, _record, _JSON, frozen=_WAVS, writes=True),
]
