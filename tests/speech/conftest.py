"""A voice so small that it trains in seconds, and a corpus of tones for it to learn."""

from pathlib import Path

import numpy as np
import pytest

from seq2see.speech import audio

WORDS = ("ab", "ba", "abba", "baab", "aab", "bba")
TINY = {
    "family": "tacotron",
    "embedding": 8,
    "encoder": 8,
    "bank": 3,
    "highways": 1,
    "attention_width": 8,
    "filters": 4,
    "kernel": 5,
    "decoder": 12,
    "prenet": 8,
    "postnet": 8,
    "style": {"tokens": 5, "heads": 2, "width": 8, "channels": [4, 4, 8], "summary": 8, "crop": 16},
    "lessons": {"batch": 4, "valid": 3},
}


def tones(text: str, pitch: float) -> audio.Samples:
    """a is a low tone, b a high one, a tenth of a second each."""
    time = np.arange(1600) / 16_000
    return np.concatenate(
        [0.3 * np.sin(2 * np.pi * pitch * (1 if letter == "a" else 2) * time) for letter in text]
    ).astype(np.float32)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A TSV of recordings."""
    folder = tmp_path_factory.mktemp("tones")
    lines = []
    for word in WORDS:
        for pitch in (200.0, 400.0):
            name = f"{word}-{pitch:.0f}.wav"
            audio.write(folder / name, tones(word, pitch), 16_000)
            lines.append(f"{name}\t{word}\n")
    (folder / "tones.tsv").write_text("".join(lines))
    return folder / "tones.tsv"


@pytest.fixture
def tiny() -> dict[str, object]:
    """Settings of the model part."""
    return {name: dict(value) if isinstance(value, dict) else value for name, value in TINY.items()}


@pytest.fixture(scope="session")
def voice_run(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a few updates: it says nothing sensible, but everything about it is real."""
    from seq2see.speech.training import new_config, train_voice
    from seq2see.training.reporting import SilentReporter

    out = tmp_path_factory.mktemp("runs") / "voice"
    settings = {"data": {"train": [str(corpus)]}, "model": TINY, "training": {"steps": 4, "validate_every": 4}}
    train_voice(new_config(settings), out, SilentReporter())
    return out
