"""Measures of speech: warping against brute force, distortion, pitch, how attention reads."""

import numpy as np
import pytest
from needed import needs_pyworld
from numpy.typing import NDArray

from seq2see.errors import ShapeError
from seq2see.speech.evaluate import measures

RATE = 16_000


def voice(pitch: float, formant: float = 700.0, seconds: float = 0.6, amplitude: float = 0.3) -> NDArray[np.float32]:
    """A buzz under one formant that moves up by a third."""
    times = np.arange(int(seconds * RATE)) / RATE
    moving = formant * (1 + times / seconds / 3)
    partials = [n * pitch for n in range(1, int(4000 / pitch))]
    sound = sum(
        (np.exp(-(((hertz - moving) / 250) ** 2)) + 0.02) * np.sin(2 * np.pi * hertz * times) for hertz in partials
    )
    return (amplitude * sound / np.abs(sound).max()).astype(np.float32)


def brute(cost: NDArray[np.float64]) -> float:
    """The cheapest path by trying all."""

    def best(i: int, j: int) -> float:
        if i == j == 0:
            return float(cost[0, 0])
        steps = [(i - 1, j), (i, j - 1), (i - 1, j - 1)]
        return float(cost[i, j]) + min(best(*place) for place in steps if min(place) >= 0)

    return best(cost.shape[0] - 1, cost.shape[1] - 1)


class TestWarping:
    @pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2), (4, 6), (6, 4), (5, 5)])
    def test_as_cheap_as_the_best_of_all_paths(self, shape: tuple[int, int]) -> None:
        for seed in range(5):
            cost = np.random.default_rng(seed).random(shape)
            path = measures.warped(cost)
            assert cost[path[:, 0], path[:, 1]].sum() == pytest.approx(brute(cost))
            steps = np.diff(path, axis=0)
            assert path[0].tolist() == [0, 0]
            assert path[-1].tolist() == [shape[0] - 1, shape[1] - 1]
            assert steps.min(initial=0) >= 0
            assert steps.max(initial=1) == 1

    def test_nothing_on_a_side(self) -> None:
        with pytest.raises(ShapeError, match="both sides need a frame"):
            measures.warped(np.zeros((0, 3)))


def distortion(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    return measures.matched(measures.mel_cepstra(a, RATE), measures.mel_cepstra(b, RATE))[0]


class TestDistortion:
    def test_of_itself_is_nothing_and_grows_with_the_formant(self) -> None:
        sound = voice(150)
        near, far = (distortion(sound, voice(150, formant)) for formant in (740, 1100))
        assert distortion(sound, sound) == pytest.approx(0, abs=1e-5)
        assert 0.1 < near < far

    def test_level_does_not_count_and_tempo_little(self) -> None:
        sound = voice(150)
        assert distortion(sound, 0.2 * sound) < 0.5
        slower = distortion(sound, voice(150, seconds=0.8))
        assert slower < 0.3 * distortion(sound, voice(150, 1100))

    def test_decibels_of_a_known_difference(self) -> None:
        """Spectra that differ by 6 cos over the bands differ by 6 / sqrt(2) dB rms."""
        bands = np.arange(80) + 0.5
        a, b = np.zeros((1, 80)), 6 * np.cos(np.pi * 3 * bands / 80)[None]
        cepstra = [spectrum @ measures._cosines(80) for spectrum in (a, b)]
        assert measures.matched(*cepstra)[0] == pytest.approx(6 / np.sqrt(2))

    def test_other_rates(self) -> None:
        assert measures.mel_cepstra(voice(150)[::2], 8_000).shape[1] == 13


@needs_pyworld
class TestPitch:
    @pytest.mark.parametrize("pitch", [110.0, 180.0, 320.0])
    def test_found_within_a_quarter_tone(self, pitch: float) -> None:
        found = measures.middle_pitch(measures.f0(voice(pitch), RATE))
        assert found is not None
        assert abs(measures.cents(found, pitch)) < 50

    def test_a_whisper_has_none(self) -> None:
        noise = np.random.default_rng(0).standard_normal(RATE).astype(np.float32)
        assert measures.middle_pitch(measures.f0(0.1 * noise, RATE)) is None

    def test_contours_a_tone_apart(self) -> None:
        low, high = voice(150), voice(150 * 2 ** (2 / 12))
        path = np.stack([np.arange(48)] * 2, axis=1)
        found = measures.contour_error(measures.f0(low, RATE), measures.f0(high, RATE), path)
        assert found == pytest.approx(200, abs=20)
        assert measures.contour_error(np.zeros(10), np.full(10, 150.0), path) is None


def test_cents() -> None:
    assert measures.cents(220, 110) == pytest.approx(1200)
    assert measures.cents(110, 220) == pytest.approx(-1200)


def walk(places: list[int], letters: int, sharp: float = 0.9) -> NDArray[np.float32]:
    weights = np.full((len(places), letters), (1 - sharp) / (letters - 1), dtype=np.float32)
    weights[np.arange(len(places)), places] = sharp
    return weights


class TestReading:
    def test_straight(self) -> None:
        found = measures.reading(walk(list(range(20)), 20, 0.8))
        assert found.focus == pytest.approx(0.8)
        assert found[1:] == (1.0, 0, 0)
        assert found.clean

    def test_a_word_left_out(self) -> None:
        found = measures.reading(walk([*range(8), *range(14, 20)], 20, 1.0))
        assert (found.skip, found.repeat, found.monotonicity) == (6, 0, 1.0)
        assert not found.clean

    def test_the_end_left_out(self) -> None:
        assert measures.reading(walk(list(range(10)), 20, 1.0)).skip == 10

    def test_a_word_said_twice(self) -> None:
        found = measures.reading(walk([*range(12), *range(5, 20)], 20))
        assert (found.skip, found.repeat) == (0, 6)
        assert not found.clean
        assert found.monotonicity < 1

    def test_a_syllable_is_forgiven(self) -> None:
        assert measures.reading(walk([*range(8), *range(12, 20)], 20, 1.0)).clean
        assert measures.reading(walk([*range(12), *range(8, 20)], 20)).clean

    def test_not_an_alignment(self) -> None:
        with pytest.raises(ShapeError, match="an alignment is"):
            measures.reading(np.zeros((0, 4), np.float32))
