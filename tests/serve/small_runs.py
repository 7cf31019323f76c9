"""Runs made in a moment for the tests of our API: random weights, whole words as pieces, everything else real."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))

from folders import SOURCES, make_run

from seq2see.serve.api.requests import ServedRun
from seq2see.serve.workers.worker import ModelHost, load_models
from seq2see.text import TokenizerConfig

WORDS = TokenizerConfig(scheme="word", vocabulary=300, byte_fallback=False, min_frequency=1)
TEXTS = [
    *SOURCES,
    "",
    "  ",
    "학생",
    f"  {SOURCES[0]} \n",
    "ᛗ☃ emoji 🙂",
    "a\u2028b",
    "\x00\x07\x1b[31m",
    " ".join(SOURCES),
]
VOICE = {
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


def make_text_runs(folder: Path) -> tuple[ServedRun, ...]:
    """Two with attention, one without; the first cuts long texts."""
    families = {"look": "rnnsearch", "blind": "rnn", "layers": "transformer"}
    return tuple(
        ServedRun(name, make_run(folder / name, family, sharp=1.5, cutting=WORDS, max_length=16), "ko", "en", "text")
        for name, family in families.items()
    )


def audited_models(runs: tuple[ServedRun, ...], engine: str) -> ModelHost:
    """The real ones, in a process that ends as soon as it turns to another machine."""

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.getaddrinfo", "urllib.Request"):
            print(f"a model process: {event} {arguments}", file=sys.stderr, flush=True)
            os._exit(9)

    sys.addaudithook(refuse)
    return load_models(runs, engine)


def tone(letters: str, pitch: float = 200.0) -> np.ndarray:
    """a is a low tone, b a high one."""
    time = np.arange(1600) / 16_000
    sounds = [0.3 * np.sin(2 * np.pi * pitch * (1 if letter == "a" else 2) * time) for letter in letters]
    return np.concatenate(sounds).astype(np.float32)


def make_voice(folder: Path) -> ServedRun:
    """A voice of two updates: it says nothing sensible."""
    from seq2see.speech import audio
    from seq2see.speech.training import new_config, train_voice
    from seq2see.training.reporting import SilentReporter

    lines = []
    for word in ("ab", "ba", "abba", "baab", "aab", "bba"):
        audio.write(folder / f"{word}.wav", tone(word), 16_000)
        lines.append(f"{word}.wav\t{word}\n")
    (folder / "tones.tsv").write_text("".join(lines))
    training = {"steps": 2, "validate_every": 2, "save_every": 2, "threads": 1}
    config = new_config({"model": VOICE, "training": training, "data": {"train": (str(folder / "tones.tsv"),)}})
    train_voice(config, folder / "voice", SilentReporter())
    return ServedRun("voice", folder / "voice", None, None, "voice")
