"""Where each letter is said in a recording, found while training from letters and recordings alone.

A small net predicts the rough spectrum of each letter; the best path through all letters in order is found by dynamic
programming (Viterbi, as hidden Markov models are trained; Kim 2020 calls it monotonic alignment search), and the net
learns from the frames of its letters. The path is shown to the decoder's attention, which has to find it without the
recording. When training is over nobody asks the aligner any more.

Letters: B batch, S letters, F frames, T decoder steps of r frames.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.speech.model.cbhg import Convolution

_CEPSTRA = 14
_SLOPE = 0.2  # how far from the diagonal, as a share of the utterance, is still likely


class AlignerOutput(NamedTuple):
    """What the aligner made of a batch."""

    letters: Tensor  # (B, F) the place of the letter that each frame belongs to
    error: Tensor  # how badly the sound of the letters was predicted; to be learned from


class Aligner(nn.Module):
    """What each letter should sound like, told by its neighbours and by the voice; no more than its rough spectrum."""

    def __init__(self, alphabet: int, mels: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(alphabet, width, padding_idx=0)
        self.voice = nn.Linear(_CEPSTRA, width)
        self.spelled = nn.ModuleList([Convolution(width, width, 3), Convolution(width, width, 3)])
        self.sound = nn.Linear(width, _CEPSTRA)
        self.cosines: Tensor
        self.scale: Tensor
        self.register_buffer("cosines", _cosines(mels), persistent=False)
        self.register_buffer("scale", torch.ones(_CEPSTRA))

    @torch.no_grad()
    def adapt(self, frames: Tensor) -> None:
        """(N, mels) of the training recordings: how much each coefficient varies."""
        self.scale.copy_((frames @ self.cosines).std(dim=0).clamp(min=1e-3))

    def forward(self, letters: Tensor, mel: Tensor, frames: Tensor) -> AlignerOutput:
        """(B, S), (B, F, mels), (B,) frames that count -> each frame's letter, and how badly it was predicted."""
        inside = (torch.arange(mel.size(1), device=mel.device) < frames[:, None]).unsqueeze(-1).to(mel.dtype)
        cepstra = mel @ self.cosines / self.scale
        mean = (cepstra * inside).sum(dim=1) / frames[:, None]
        rough = (cepstra - mean.unsqueeze(1)) * inside
        sound = self._sound(letters, mean)
        path = best_path(_fit(rough, sound) + _diagonal(letters, frames, mel.size(1)).to(mel), letters, frames)
        predicted = sound.gather(1, path.to(mel.device).unsqueeze(-1).expand(-1, -1, _CEPSTRA))
        error = ((rough - predicted).abs() * inside).sum() / (inside.sum() * _CEPSTRA)
        return AlignerOutput(path, error)

    def _sound(self, letters: Tensor, mean: Tensor) -> Tensor:
        """(B, S), (B, cepstra) -> (B, S, cepstra)."""
        present = (letters != 0).unsqueeze(-1).to(mean.dtype)
        x = self.embedding(letters) + self.voice(mean).unsqueeze(1)
        for spelled in self.spelled:
            x = F.relu(spelled(x, present))
        sound: Tensor = self.sound(x)
        return sound


def _cosines(mels: int) -> Tensor:
    """(mels, cepstra): the first terms of the discrete cosine transform, which tell letters apart but not pitches."""
    with torch.device("cpu"):  # whatever the default is: a voice that is loaded is built on `meta`
        band = (torch.arange(mels) + 0.5) / mels
        return torch.cos(torch.pi * band[:, None] * torch.arange(_CEPSTRA)) / mels


def _fit(rough: Tensor, sound: Tensor) -> Tensor:
    """(B, F, C), (B, S, C) -> (B, F, S): log-likelihood of a frame, were it of this letter."""
    squares = rough.square().sum(-1, keepdim=True) + sound.square().sum(-1).unsqueeze(1)
    return (rough @ sound.mT) - 0.5 * squares


def _diagonal(letters: Tensor, frames: Tensor, length: int) -> Tensor:
    """(B, F, S): the prior: speech goes along the diagonal."""
    sizes = (letters != 0).sum(dim=1)
    t = (torch.arange(length, device=letters.device)[None, :, None] + 0.5) / frames[:, None, None]
    s = (torch.arange(letters.size(1), device=letters.device)[None, None, :] + 0.5) / sizes[:, None, None]
    return -((t - s) ** 2) / (2 * _SLOPE**2)


def best_path(fit: Tensor, letters: Tensor, frames: Tensor) -> Tensor:
    """(B, F, S) log-likelihoods -> (B, F): the letter of each frame on the best path, from first to last.

    A recording of fewer frames than letters has no such path; it goes along the diagonal.
    """
    stayed = _stayed(fit.detach().cpu().double().numpy())
    sizes = (letters != 0).sum(dim=1)
    return torch.from_numpy(_back(stayed, frames.cpu().numpy(), sizes.cpu().numpy()))


def _stayed(logs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(B, F, S) -> where the best path to (frame, letter) came from the same letter rather than the one before."""
    batch, length, letters = logs.shape
    stayed = np.ones((batch, length, letters), dtype=bool)
    best = np.full((batch, letters), -np.inf)
    best[:, 0] = logs[:, 0, 0]
    come = np.full((batch, letters), -np.inf)
    for frame in range(1, length):
        come[:, 1:] = best[:, :-1]
        stayed[:, frame] = best >= come
        best = np.maximum(best, come) + logs[:, frame]
    return stayed


def _back(stayed: NDArray[np.bool_], frames: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    batch, length, _ = stayed.shape
    rows, place = np.arange(batch), sizes - 1
    path = np.empty((batch, length), dtype=np.int64)
    for frame in range(length - 1, -1, -1):
        path[:, frame] = place
        place = np.where((frame < frames) & ~stayed[rows, frame, place], place - 1, place)
    short = frames < sizes
    path[short] = np.arange(length) * sizes[short, None] // np.maximum(frames[short, None], 1)
    return np.clip(path, 0, sizes[:, None] - 1)


def shares(path: Tensor, letters: int, reduction: int) -> Tensor:
    """(B, F) letters of the frames -> (B, T, S): what share of a step's frames each letter has."""
    hot = F.one_hot(path, letters).to(torch.float32)
    return hot.unflatten(1, (-1, reduction)).mean(dim=2)


def missed(weights: Tensor, wanted: Tensor, steps: Tensor) -> Tensor:
    """(B, T, S) twice, (B,) true steps -> mean cross-entropy of the attention against the aligner."""
    tiny = 1e-6
    rows = -(wanted * (weights + tiny).log()).sum(dim=-1)
    inside = (torch.arange(rows.size(1), device=rows.device) < steps[:, None]).to(rows.dtype)
    return (rows * inside).sum() / inside.sum()
