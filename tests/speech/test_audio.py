"""Sound: files, frames, and the way back."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from numpy.typing import NDArray
from pydantic import ValidationError

from seq2see.errors import DataError, RunError, ShapeError
from seq2see.speech import audio
from seq2see.speech.audio import AudioConfig

CONFIG = AudioConfig()
RATE = CONFIG.rate


def tone(hertz: float, seconds: float = 0.5, rate: int = RATE, amplitude: float = 0.5) -> NDArray[np.float32]:
    return (amplitude * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)).astype(np.float32)


def vowel(pitch: float = 150.0, seconds: float = 0.6) -> NDArray[np.float32]:
    """Harmonics under two formants, rising and falling in level."""
    partials = [n * pitch for n in range(1, int(7000 / pitch))]
    levels = [np.exp(-(((f - 600) / 200) ** 2)) + 0.5 * np.exp(-(((f - 1700) / 300) ** 2)) + 0.01 for f in partials]
    sound = sum(level * tone(f, seconds, amplitude=0.2) for f, level in zip(partials, levels, strict=True))
    return np.asarray(sound * np.hanning(len(sound)), dtype=np.float32)


def mel(samples: NDArray[np.float32], config: AudioConfig = CONFIG) -> torch.Tensor:
    return audio.log_mel(torch.from_numpy(samples), config)


def test_bands_lie_between_the_lowest_and_the_highest_frequency() -> None:
    filters = audio.mel_filters(CONFIG)
    hertz = torch.linspace(0, RATE / 2, filters.shape[1])
    heard = hertz[filters.sum(dim=0) > 0]
    apart = float(hertz[1])
    assert CONFIG.low <= float(heard[0]) <= CONFIG.low + 2 * apart
    assert CONFIG.high - 2 * apart <= float(heard[-1]) <= CONFIG.high


@pytest.mark.parametrize(("decibels", "kept"), [(40.0, True), (50.0, False)])
def test_silence_is_what_lies_45_decibels_below_the_loudest(decibels: float, kept: bool) -> None:
    faint = tone(440, amplitude=0.5 * 10 ** (-decibels / 20))
    sound = np.concatenate([faint, tone(440), faint])
    length = len(audio.trimmed(sound, RATE, margin=0.0))
    assert length == (len(sound) if kept else len(tone(440)))


class TestFiles:
    @pytest.mark.parametrize("suffix", [".wav", ".flac", ".WAV"])
    def test_what_is_written_is_read(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"a{suffix}"
        audio.write(path, tone(440), RATE)
        assert np.abs(audio.read(path, RATE) - tone(440)).max() < 1e-4
        assert [file.name for file in tmp_path.iterdir()] == [path.name]

    def test_another_rate_is_resampled_and_channels_are_averaged(self, tmp_path: Path) -> None:
        path = tmp_path / "stereo.wav"
        soundfile.write(path, np.stack([tone(440, rate=44_100), 0 * tone(440, rate=44_100)], axis=1), 44_100)
        found = audio.read(path, RATE)
        assert found.shape == (RATE // 2,)
        assert found.dtype == np.float32
        inner = slice(500, -500)
        assert np.abs(found[inner] - tone(440, amplitude=0.25)[inner]).max() < 5e-3

    def test_what_is_too_loud_is_cut_off_not_wrapped(self, tmp_path: Path) -> None:
        audio.write(tmp_path / "a.wav", 3 * tone(100), RATE)
        assert audio.read(tmp_path / "a.wav", RATE).max() > 0.99

    def test_another_suffix_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"ends with '.mp3'; sound is written as .wav or .flac"):
            audio.write(tmp_path / "a.mp3", tone(440), RATE)

    def test_a_missing_folder_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(RunError, match="cannot be written"):
            audio.write(tmp_path / "none" / "a.wav", tone(440), RATE)


class TestBadRecordings:
    def complaint(self, path: Path) -> str:
        with pytest.raises(DataError) as caught:
            audio.read(path, RATE)
        message = str(caught.value)
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
        return message.removeprefix(f"{path}: ")

    def test_missing(self, tmp_path: Path) -> None:
        assert self.complaint(tmp_path / "a.wav") == "no such recording"

    def test_a_folder(self, tmp_path: Path) -> None:
        assert self.complaint(tmp_path).startswith("is not a file")

    def test_empty_file(self, tmp_path: Path) -> None:
        path = tmp_path / "a.wav"
        path.write_bytes(b"")
        assert self.complaint(path).startswith("the file is empty")

    def test_corrupt(self, tmp_path: Path) -> None:
        path = tmp_path / "a.wav"
        path.write_bytes(b"RIFF but not really a recording at all" * 20)
        assert self.complaint(path).startswith("is not a readable WAV or FLAC recording (")

    def test_corrupt_in_the_middle(self, tmp_path: Path) -> None:
        path = tmp_path / "a.flac"
        audio.write(path, tone(440) + 0.01 * np.random.default_rng(0).standard_normal(RATE // 2, np.float32), RATE)
        path.write_bytes(path.read_bytes()[:60])
        self.complaint(path)

    @pytest.mark.parametrize(("seconds", "said"), [(0, "empty"), (0.05, "0.050 s long")])
    def test_too_short(self, tmp_path: Path, seconds: float, said: str) -> None:
        path = tmp_path / "a.wav"
        soundfile.write(path, tone(440, seconds), RATE)
        assert self.complaint(path) == f"the recording is {said}; at least 0.1 s are needed"

    def test_silent(self, tmp_path: Path) -> None:
        path = tmp_path / "a.wav"
        soundfile.write(path, tone(440, amplitude=5e-4), RATE)
        assert self.complaint(path) == "the recording is silent"

    def test_a_rate_that_carries_no_speech(self, tmp_path: Path) -> None:
        path = tmp_path / "a.wav"
        soundfile.write(path, tone(440, rate=4_000), 4_000)
        assert self.complaint(path) == "recorded at 4,000 Hz; speech needs at least 8,000 Hz"

    def test_not_numbers(self, tmp_path: Path) -> None:
        path = tmp_path / "a.wav"
        soundfile.write(path, np.full(RATE, np.nan, np.float32), RATE, subtype="FLOAT")
        assert "not numbers" in self.complaint(path)


class TestTrimming:
    def test_silence_at_both_ends_goes_and_the_pause_stays(self) -> None:
        silence = np.zeros(RATE // 2, np.float32)
        sound = np.concatenate([silence, tone(300), silence, tone(300), silence])
        margin = 2 * 0.025 * RATE
        assert len(audio.trimmed(sound, RATE)) == pytest.approx(3 * RATE / 2 + margin, abs=RATE // 50)

    def test_nothing_to_trim(self) -> None:
        assert np.array_equal(audio.trimmed(tone(300), RATE), tone(300))

    @pytest.mark.parametrize("length", [0, 5, 1000])
    def test_silence_stays_as_it_is(self, length: int) -> None:
        assert len(audio.trimmed(np.zeros(length, np.float32), RATE)) == length


class TestSpectrogram:
    def test_shape_and_range(self) -> None:
        found = mel(np.stack([vowel(), tone(440, 0.6)]))
        assert found.shape == (2, 1 + len(vowel()) // CONFIG.hop, 80)
        assert found.min() >= 0
        assert found.max() <= 1

    def test_a_batch_is_the_same_as_singles(self) -> None:
        both = np.stack([vowel(), vowel(220)])
        assert torch.allclose(mel(both)[1], mel(vowel(220)), atol=1e-6)

    def test_a_sine_lies_in_its_band(self) -> None:
        for hertz in (120, 500, 1000, 4000):
            frame = mel(tone(hertz))[20]
            centres = (audio.mel_filters(CONFIG).argmax(dim=1).float() * RATE / CONFIG.fft).tolist()
            assert centres[int(frame.argmax())] == pytest.approx(hertz, rel=0.06, abs=16)

    def test_full_scale_without_preemphasis_is_one(self) -> None:
        config = AudioConfig(preemphasis=0.0)
        centre = float(audio.mel_filters(config)[40].argmax()) * RATE / config.fft
        assert float(mel(tone(centre, amplitude=1.0), config)[20].max()) == pytest.approx(1.0, abs=0.08)

    def test_a_tenth_of_the_amplitude_is_a_fifth_lower(self) -> None:
        loud, soft = (float(mel(tone(1000, amplitude=a))[20].max()) for a in (0.5, 0.05))
        assert loud - soft == pytest.approx(20 / CONFIG.range_db, abs=1e-3)

    def test_every_band_hears_something(self) -> None:
        for config in (CONFIG, AudioConfig(rate=8000, high=4000, fft=512, window=400, hop=100), AudioConfig(mels=200)):
            assert (audio.mel_filters(config).sum(dim=1) > 0).all()

    def test_no_samples(self) -> None:
        with pytest.raises(ShapeError, match="no samples"):
            audio.log_mel(torch.zeros(0), CONFIG)


class TestGriffinLim:
    def test_the_spectrogram_comes_back(self) -> None:
        wanted = mel(vowel())
        again = mel(audio.griffin_lim(wanted, CONFIG))
        audible = wanted > 0.4
        assert float((again[: len(wanted)] - wanted[: len(again)])[audible[: len(again)]].abs().mean()) < 0.02

    def test_level_and_length_come_back(self) -> None:
        sound = vowel()
        again = audio.griffin_lim(mel(sound), CONFIG)
        assert len(again) == len(sound) // CONFIG.hop * CONFIG.hop
        assert float(again.std() / sound.std()) == pytest.approx(1.0, abs=0.25)

    def test_momentum_and_iterations_pay(self) -> None:
        wanted = mel(vowel())

        def far(iterations: int, momentum: float) -> float:
            again = mel(audio.griffin_lim(wanted, CONFIG, iterations, momentum))
            return float((again - wanted).square().mean())

        assert far(30, 0.99) < far(30, 0.0) < far(2, 0.0)

    def test_a_seed_gives_the_same_sound(self) -> None:
        wanted = mel(vowel())
        assert np.array_equal(audio.griffin_lim(wanted, CONFIG), audio.griffin_lim(wanted, CONFIG))
        assert not np.array_equal(audio.griffin_lim(wanted, CONFIG), audio.griffin_lim(wanted, CONFIG, seed=1))

    def test_a_batch_is_the_same_as_singles(self) -> None:
        wanted = torch.stack([mel(vowel()), mel(vowel(220))])
        both = audio.griffin_lim_all(wanted, CONFIG, 3)
        for row in range(2):
            assert np.abs(both[row] - audio.griffin_lim(wanted[row], CONFIG, 3)).max() < 1e-3

    def test_silence_stays_silent(self) -> None:
        assert np.abs(audio.griffin_lim(torch.zeros(20, 80), CONFIG)).max() < 1e-4

    @pytest.mark.parametrize("shape", [(20, 79), (1, 80), (0, 80)])
    def test_another_shape_is_refused(self, shape: tuple[int, int]) -> None:
        with pytest.raises(ShapeError, match="Griffin-Lim got"):
            audio.griffin_lim(torch.zeros(shape), CONFIG)


class TestConfig:
    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"hop": 500}, "hop = 500, window = 800, fft = 1024"),
            ({"window": 2000}, "window = 2000"),
            ({"high": 9000.0}, "high = 9000"),
            ({"low": 8000.0}, "low = 8000"),
            ({"rate": 8000}, "must rise and stay below 4000 Hz"),
            ({"hops": 3}, "hops"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, settings: dict[str, float], said: str) -> None:
        with pytest.raises(ValidationError, match=said):
            AudioConfig.model_validate(settings)

    def test_frames_per_second(self) -> None:
        assert CONFIG.frames_per_second == 80
