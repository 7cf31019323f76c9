"""Speech: what a voice said, with where it looked and in which style; it plays in a notebook."""

import base64
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seq2see.look import AttentionMap
from seq2see.speech import audio


@dataclass(frozen=True, eq=False, repr=False)
class Speech:
    """Sound with its reasons.

    samples     (n,) in -1..1
    rate        samples a second
    alignment   rows are the decoder's steps, columns the letters
    style       a row of weights over the tokens for each head; None for a voice without style
    mel         (frames, mels) that the sound was made from, parts of a long text one behind the other
    text        what was to be said
    stopped     the voice ended by itself; False: it was cut off
    """

    samples: NDArray[np.float32]
    rate: int
    alignment: AttentionMap
    style: AttentionMap | None
    mel: NDArray[np.float32]
    text: str
    stopped: bool = True

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    def save(self, path: str | Path) -> None:
        """WAV or FLAC, by the suffix."""
        audio.write(Path(path), self.samples, self.rate)

    def plot(self, path: str | Path) -> None:
        """Spectrogram, alignment and style in one picture: .png, .svg or .pdf (the extra `plot`)."""
        from seq2see.speech.picture import save

        save(self, Path(path))

    def __repr__(self) -> str:
        return f"Speech({self.text!r}, {self.seconds:.2f} s{'' if self.stopped else ', cut off'})"

    def _repr_html_(self) -> str:
        sound = base64.b64encode(audio.encoded(self.samples, self.rate)).decode()
        return f'<audio controls src="data:audio/wav;base64,{sound}"></audio>'
