"""Utterances as a training reads them: letters in memory, spectrograms in one file that is mapped, not loaded."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tokenize import TokenError

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seq2see import atomic
from seq2see.errors import DataError
from seq2see.speech import audio
from seq2see.speech.audio import AudioConfig
from seq2see.speech.corpus.letters import Letters
from seq2see.speech.corpus.sources import Utterance

_LARGEST = 2**28  # bytes of the description: it has a number for every recording


class Recordings:
    """`texts[i]`, its letters `ids[i]` and its spectrogram `mel(i)`."""

    def __init__(
        self, texts: Sequence[str], ids: Sequence[Sequence[int]], frames: NDArray[np.float16], ends: NDArray[np.int64]
    ) -> None:
        self.texts, self.ids = texts, ids
        self.frames, self.ends = frames, ends
        self.lengths: NDArray[np.int64] = np.diff(ends, prepend=0)

    def __len__(self) -> int:
        return len(self.ends)

    def mel(self, place: int) -> Tensor:
        """(frames, mels)."""
        end = int(self.ends[place])
        return torch.from_numpy(self.frames[end - int(self.lengths[place]) : end].astype(np.float32))

    def paces(self) -> NDArray[np.float64]:
        """(N,) how slowly each was said: the logarithm of its frames over the frames that its letters take usually.

        How long each letter is, is found by least squares. Frames for a letter alone would say more about the words
        than about the pace.
        """
        counts = np.zeros((len(self), 1 + max(max(ids) for ids in self.ids)))
        for row, ids in zip(counts, self.ids, strict=True):
            np.add.at(row, list(ids), 1)
        usual = self.lengths.sum() / counts.sum()
        plain = usual * counts.sum(axis=1)
        other = np.linalg.solve(counts.T @ counts + np.eye(counts.shape[1]), counts.T @ (self.lengths - plain))
        return np.asarray(np.log(self.lengths / np.maximum(plain + counts @ other, plain / 4)))

    def sample(self, most: int) -> Tensor:
        """(up to `most`, mels): frames from all over the recordings."""
        step = max(1, len(self.frames) // most)
        return torch.from_numpy(self.frames[::step].astype(np.float32))


def record(
    path: Path,
    utterances: Sequence[Utterance],
    digests: Mapping[Path, str],
    letters: Letters,
    config: AudioConfig,
    *,
    longest: int,
    counting: Callable[[int], None],
) -> Recordings:
    """Spectrograms of these utterances in the file `path`; what lies there already is used if it is of the same.

    digests   SHA-256 of the recordings; those of a built-in corpus follow from their names
    """
    described = [[utterance.name, utterance.text, digests.get(utterance.audio, "")] for utterance in utterances]
    wanted = {"utterances": described, "audio": config.model_dump(mode="json")}
    stored = _stored(path, wanted)
    if stored is None:
        mels = []
        for utterance in utterances:
            mels.append(spectrogram(utterance.audio, config).numpy().astype(np.float16))
            counting(1)
        stored = np.concatenate(mels), np.cumsum([len(mel) for mel in mels])
        _store(path, wanted, *stored)
    frames, ends = stored
    texts = [utterance.text for utterance in utterances]
    return _without(Recordings(texts, [letters.ids(text) for text in texts], frames, ends), longest)


def spectrogram(path: Path, config: AudioConfig) -> Tensor:
    """(frames, mels) of a file, the silence around it cut away."""
    samples = audio.trimmed(audio.read(path, config.rate), config.rate)
    return audio.log_mel(torch.from_numpy(np.ascontiguousarray(samples)), config)


def _stored(path: Path, wanted: object) -> tuple[NDArray[np.float16], NDArray[np.int64]] | None:
    try:
        described = atomic.read_json(path.with_suffix(".json"), _LARGEST)
        if described["wanted"] != wanted or described["sha256"] != atomic.digest(path):
            return None
        frames = np.load(path, mmap_mode="r", allow_pickle=False)
        ends = np.array(described["ends"], dtype=np.int64)
        rising = len(ends) > 0 and int(ends[0]) >= 0 and bool((ends[1:] >= ends[:-1]).all())
        fits = rising and frames.dtype == np.float16 and frames.ndim == 2 and len(frames) == ends[-1]
        return (frames, ends) if fits else None
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        OverflowError,
        EOFError,
        TokenError,
    ):  # TokenError: numpy
        return None


def _store(path: Path, wanted: object, frames: NDArray[np.float16], ends: NDArray[np.int64]) -> None:
    """The frames first: the description beside them vouches for them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".json").unlink(missing_ok=True)
    with atomic.replacing(path) as temporary, temporary.open("wb") as file:
        np.save(file, frames, allow_pickle=False)
    described = {"wanted": wanted, "ends": ends.tolist(), "sha256": atomic.digest(path)}
    atomic.write_json(path.with_suffix(".json"), described)


def _without(recordings: Recordings, longest: int) -> Recordings:
    """Only what is at most so long; the frames stay where they are."""
    kept = np.flatnonzero(recordings.lengths <= longest).tolist()
    if not len(kept):
        raise DataError(f"every utterance has more than {longest} frames; raise model.lessons.longest")
    if len(kept) == len(recordings):
        return recordings
    chosen = Recordings(
        [recordings.texts[place] for place in kept],
        [recordings.ids[place] for place in kept],
        recordings.frames,
        recordings.ends[kept],
    )
    chosen.lengths = recordings.lengths[kept]
    return chosen
