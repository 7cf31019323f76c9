"""What a voice answers: sound with its reasons, and the style of a recording. In a model process."""

import base64
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from seq2see.errors import ConfigError
from seq2see.look import AttentionMap
from seq2see.look.map.packing import pack
from seq2see.serve.api.requests import SpeakJob, StyleRequest
from seq2see.speech import audio
from seq2see.speech.synthesis import style_map

if TYPE_CHECKING:
    from seq2see.speech.synthesis import Voice


def speak(voice: "Voice", job: SpeakJob) -> dict[str, Any]:
    """{wav, seconds, rate, stopped, alignment, style, mel}: `wav` are bytes, which the HTTP process keeps."""
    style = None if job.style is None else style_map(torch.tensor(job.style), "style")
    spoken = voice.speak(job.text, style=style, tokens={_token(name): weight for name, weight in job.tokens.items()})
    return {
        "wav": audio.encoded(spoken.samples, spoken.rate),
        "text": spoken.text,
        "seconds": spoken.seconds,
        "rate": spoken.rate,
        "stopped": spoken.stopped,
        "alignment": pack(spoken.alignment),
        "style": None if spoken.style is None else _style(spoken.style),
        "mel": _packed_mel(spoken.mel),
    }


def style_of(voice: "Voice", request: StyleRequest) -> dict[str, Any]:
    """The style of a recording: its map, and the weights in full."""
    with tempfile.TemporaryDirectory(prefix="seq2see-") as folder:
        path = Path(folder) / "recording.wav"
        path.write_bytes(request.wav)
        return _style(voice.style(path))


def _style(weights: AttentionMap) -> dict[str, Any]:
    return {"map": pack(weights), "weights": np.round(weights.weights[0, :, 0], 6).tolist()}


def _token(name: str) -> int | tuple[int, int]:
    """`3` in every head, `1:3` in head 1."""
    head, colon, token = name.rpartition(":")
    return (int(head), int(token)) if colon else int(token)


def _packed_mel(mel: NDArray[np.float32]) -> dict[str, Any]:
    """(frames, mels), each number one byte between the lowest and the highest of them."""
    low, high = float(mel.min()), float(mel.max())
    if not np.isfinite([low, high]).all():
        raise ConfigError("the voice gives no finite number for this text")
    cells = np.round((mel - low) * (255 / max(high - low, 1e-9))).astype(np.uint8)
    packed = base64.b64encode(np.ascontiguousarray(cells).tobytes()).decode("ascii")
    return {"frames": mel.shape[0], "mels": mel.shape[1], "low": low, "high": high, "cells": packed}
