"""Sound to pictures and back: WAV or FLAC, log-mel spectrograms, and Griffin-Lim for the way back.

    read ─▶ samples (n,) in -1..1 ─▶ log_mel ─▶ (frames, mels) in 0..1 ─▶ griffin_lim ─▶ samples ─▶ write

The reference level of a spectrogram: 1 is a sine of full scale in the middle of a band, after pre-emphasis; 0 is
`range_db` below that. Loud speech comes to about 0.9: pre-emphasis takes 20 dB and more from its low harmonics.
"""

import io
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor

from seq2see.atomic import write_file
from seq2see.errors import DataError, MissingExtraError, ShapeError

try:
    import soundfile  # type: ignore[import-untyped]
    import soxr  # type: ignore[import-untyped]
except ModuleNotFoundError:
    raise MissingExtraError("Reading and writing sound", "speech") from None

Samples = NDArray[np.float32]

_SLOWEST, _SHORTEST = 8_000, 0.1  # Hz, seconds
_SILENT = 1e-3  # of full scale: -60 dB, below the hiss of any recording of speech
_UPDATES = 5  # towards the spectrum behind the bands; eight times as many change spectra by 0.06 %
_FORMATS = {".wav": "WAV", ".flac": "FLAC"}


class AudioConfig(BaseModel):
    """How sound is cut into frames and bands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: int = Field(16_000, ge=8_000, le=48_000, description="samples a second; recordings are resampled to it")
    fft: int = Field(1024, ge=64, le=65_536, description="samples of a Fourier transform")
    window: int = Field(800, ge=32, description="samples under one window")
    hop: int = Field(200, ge=8, description="samples from frame to frame")
    mels: int = Field(80, ge=8, le=1024, description="bands of a spectrogram")
    low: float = Field(50.0, ge=0, description="lowest frequency, Hz")
    high: float = Field(7600.0, gt=0, description="highest frequency, Hz")
    preemphasis: float = Field(0.97, ge=0, lt=1, description="how much of the sample before is taken away")
    range_db: float = Field(100.0, gt=0, description="decibels between 0 and 1 of a spectrogram")

    @model_validator(mode="after")
    def fits(self) -> "AudioConfig":
        if not self.hop <= self.window // 2 <= self.window <= self.fft:
            raise ValueError(
                f"hop = {self.hop}, window = {self.window}, fft = {self.fft}: a window spans two hops or more and "
                "at most one fft, or sound is lost between frames"
            )
        if not self.low < self.high <= self.rate / 2:
            raise ValueError(f"low = {self.low:g}, high = {self.high:g}: must rise and stay below {self.rate / 2:g} Hz")
        return self

    @property
    def frames_per_second(self) -> float:
        return self.rate / self.hop


def read(path: Path, rate: int) -> Samples:
    """(samples,) mono in -1..1 at this rate, whatever the file was recorded at."""
    samples, recorded_rate = _decoded(path)
    if recorded_rate < _SLOWEST:
        raise DataError(f"recorded at {recorded_rate:,} Hz; speech needs at least {_SLOWEST:,} Hz", path=path)
    if len(samples) < _SHORTEST * recorded_rate:
        length = f"{len(samples) / recorded_rate:.3f} s long" if len(samples) else "empty"
        raise DataError(f"the recording is {length}; at least {_SHORTEST:g} s are needed", path=path)
    if not np.isfinite(samples).all():
        raise DataError("the recording has samples that are not numbers", path=path)
    mono: Samples = samples.mean(axis=1, dtype=np.float32)
    if np.abs(mono).max() < _SILENT:
        raise DataError("the recording is silent", path=path)
    return resampled(mono, recorded_rate, rate)


def _decoded(path: Path) -> tuple[Samples, int]:
    """(samples, channels) and the rate of the file."""
    if not path.exists():
        raise DataError("no such recording", path=path)
    if not path.is_file():
        raise DataError("is not a file; a WAV or FLAC recording is needed", path=path)
    if path.stat().st_size == 0:
        raise DataError("the file is empty; a WAV or FLAC recording is needed", path=path)
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
    except PermissionError:
        raise DataError("may not be read; look at its permissions", path=path) from None
    except (soundfile.LibsndfileError, RuntimeError, OSError) as error:
        reason = getattr(error, "error_string", str(error)).strip().rstrip(".")
        raise DataError(f"is not a readable WAV or FLAC recording ({reason})", path=path) from None
    return samples, int(rate)


def rate_of(path: Path) -> int:
    """Samples a second of a recording, from its head alone."""
    try:
        return int(soundfile.info(path).samplerate)
    except (soundfile.LibsndfileError, RuntimeError, OSError):
        raise DataError("is not a readable WAV or FLAC recording", path=path) from None


def resampled(samples: Samples, rate: int, wanted: int) -> Samples:
    """The same sound at another rate."""
    if rate == wanted:
        return samples
    out: Any = soxr.resample(samples, rate, wanted)
    return np.asarray(out, dtype=np.float32)


def encoded(samples: Samples, rate: int, form: str = "WAV") -> bytes:
    """The bytes of a file with 16 bits a sample; what is louder than full scale is cut off."""
    buffer = io.BytesIO()
    soundfile.write(buffer, np.clip(samples, -1.0, 1.0), rate, format=form, subtype="PCM_16")
    return buffer.getvalue()


def write(path: Path, samples: Samples, rate: int) -> None:
    """WAV or FLAC, by the suffix; whole or not there."""
    form = _FORMATS.get(path.suffix.lower())
    if form is None:
        raise DataError(f"ends with '{path.suffix}'; sound is written as .wav or .flac", path=path)
    write_file(path, encoded(samples, rate, form))


def trimmed(samples: Samples, rate: int, below_db: float = 45.0, margin: float = 0.025) -> Samples:
    """Without the silence at both ends: whatever is `below_db` under the loudest stretch of 10 ms, up to a margin."""
    step = max(1, rate // 100)
    whole = samples[: len(samples) // step * step].reshape(-1, step)
    if not whole.size:
        return samples
    power = np.square(whole, dtype=np.float64).mean(axis=1)
    loud = np.flatnonzero(power > power.max() * 10 ** (-below_db / 10))
    if not loud.size:
        return samples
    keep = int(margin * rate)
    return samples[max(0, loud[0] * step - keep) : (loud[-1] + 1) * step + keep]


def log_mel(samples: Tensor, config: AudioConfig) -> Tensor:
    """(..., samples) -> (..., 1 + samples // hop, mels) in 0..1; frame t lies around sample t * hop."""
    if samples.shape[-1] == 0:
        raise ShapeError("a spectrogram of no samples at all; give at least one")
    flat = samples.reshape(-1, samples.shape[-1]).to(torch.float32)
    before = torch.nn.functional.pad(flat, (1, 0))[:, :-1]
    magnitude = _stft(flat - config.preemphasis * before, config).abs()  # (B, bins, frames)
    mels = mel_filters(config).to(flat.device) @ magnitude / _full_scale(config)
    decibels = 20 * torch.log10(mels.clamp_min(1e-8))
    scaled = (1 + decibels / config.range_db).clamp(0.0, 1.0)
    return scaled.transpose(1, 2).reshape(*samples.shape[:-1], -1, config.mels)


def griffin_lim(
    mel: Tensor, config: AudioConfig, iterations: int = 30, momentum: float = 0.99, seed: int = 0
) -> Samples:
    """(frames, mels) -> ((frames - 1) * hop,): sound whose spectrogram this is (Griffin 1984, Perraudin 2013).

    A spectrogram has lost the phases. They start at random and are made consistent: to sound and back, keep the
    phases, put the wanted magnitudes in place again. Momentum goes further in the direction of the last change.
    """
    return griffin_lim_all(mel[None], config, iterations, momentum, seed)[0]


@torch.inference_mode()
def griffin_lim_all(
    mels: Tensor, config: AudioConfig, iterations: int = 30, momentum: float = 0.99, seed: int = 0
) -> Samples:
    """(B, frames, mels) -> (B, (frames - 1) * hop): the same for several of one length."""
    if mels.dim() != 3 or mels.shape[-1] != config.mels or mels.shape[1] < 2:
        raise ShapeError(
            f"Griffin-Lim got {tuple(mels.shape)}; (batch, 2 or more frames, {config.mels} mels) is needed"
        )
    wanted = _magnitudes(mels.to(torch.float32), config)
    length = (wanted.shape[-1] - 1) * config.hop
    angles = torch.rand(wanted.shape[1:], generator=torch.Generator().manual_seed(seed)).to(wanted.device)
    phases = torch.polar(torch.ones_like(angles), 2 * torch.pi * angles).expand(wanted.shape)
    before = torch.zeros_like(phases)
    for _ in range(iterations):
        rebuilt = _stft(_istft(wanted * phases, config, length), config)
        moved = rebuilt - (momentum / (1 + momentum)) * before
        phases = moved / moved.abs().clamp_min(1e-12)
        before = rebuilt
    sound = _deemphasised(_istft(wanted * phases, config, length), config.preemphasis)
    return sound.cpu().numpy()


def _magnitudes(mels: Tensor, config: AudioConfig) -> Tensor:
    """(B, frames, mels) in 0..1 -> (B, bins, frames): the least-squares spectrum behind the bands, none below zero.

    The pseudo-inverse gives the start; multiplicative updates (Lee 2001) keep it positive on the way to the bands.
    """
    bands = 10 ** ((mels.clamp(0.0, 1.0) - 1) * config.range_db / 20)
    bands = bands.masked_fill(mels <= 0, 0.0).transpose(1, 2) * _full_scale(config)
    filters = mel_filters(config).to(mels.device)
    spectrum = (_inverse(config).to(mels.device) @ bands).clamp_min(1e-6)
    target = filters.T @ bands
    for _ in range(_UPDATES):
        spectrum = spectrum * target / (filters.T @ (filters @ spectrum)).clamp_min(1e-12)
    return spectrum


@lru_cache(maxsize=8)
def _inverse(config: AudioConfig) -> Tensor:
    """(bins, mels)."""
    return torch.linalg.pinv(mel_filters(config))


@lru_cache(maxsize=8)
def mel_filters(config: AudioConfig) -> Tensor:
    """(mels, bins): triangles with peak 1, evenly spaced in mels (2595 log10(1 + f / 700))."""
    bins = torch.linspace(0, config.rate / 2, config.fft // 2 + 1, dtype=torch.float64)
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in (config.low, config.high))
    corners = 700 * (10 ** (torch.linspace(low, high, config.mels + 2, dtype=torch.float64) / 2595) - 1)
    rise = (bins[None] - corners[:-2, None]) / (corners[1:-1] - corners[:-2])[:, None]
    fall = (corners[2:, None] - bins[None]) / (corners[2:] - corners[1:-1])[:, None]
    filters = torch.minimum(rise, fall).clamp_min(0.0)
    # Where bands are narrower than the bins are apart, a triangle may fall between two bins: it takes the nearest.
    empty = filters.sum(dim=1) == 0
    nearest = (bins[None] - corners[1:-1, None]).abs().argmin(dim=1)
    filters[empty, nearest[empty]] = 1.0
    return filters.to(torch.float32)


@lru_cache(maxsize=8)
def _window(config: AudioConfig) -> Tensor:
    return torch.hann_window(config.window)


def _full_scale(config: AudioConfig) -> float:
    """The magnitude of a sine of amplitude 1 at its peak."""
    return float(_window(config).sum()) / 2


def _stft(samples: Tensor, config: AudioConfig) -> Tensor:
    """(B, samples) -> (B, bins, frames), complex; beyond both ends there is silence."""
    return torch.stft(
        samples,
        config.fft,
        config.hop,
        config.window,
        _window(config).to(samples.device),
        pad_mode="constant",
        return_complex=True,
    )


def _istft(spectrum: Tensor, config: AudioConfig, length: int) -> Tensor:
    window = _window(config).to(spectrum.device)
    return torch.istft(spectrum, config.fft, config.hop, config.window, window, length=length)


def _deemphasised(samples: Tensor, coefficient: float) -> Tensor:
    """Undoes pre-emphasis: y[n] = x[n] + c y[n-1], as a division of whole spectra.

    The filter's answer fades within a few hundred samples, so zeros at the end keep it from coming round to the start.
    """
    size = 1 << (samples.shape[-1] + 2048).bit_length()
    turns = torch.exp(-2j * torch.pi * torch.arange(size // 2 + 1, device=samples.device) / size)
    spectrum = torch.fft.rfft(samples, n=size) / (1 - coefficient * turns)
    return torch.fft.irfft(spectrum, n=size)[..., : samples.shape[-1]]
