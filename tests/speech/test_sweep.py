"""A sweep says what a token does; here to a voice whose sound is made up, so that the answer is known."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from seq2see.cli import app
from seq2see.errors import ConfigError
from seq2see.speech.evaluate.sweep import Point, Sweep, save_picture, steady, sweep, table

RATE = 16_000


class MadeUp:
    """Token 0 raises the pitch by up to an octave, token 1 makes it faster, the others do nothing."""

    path = Path("runs/voice")

    class model:  # noqa: N801
        class style:  # noqa: N801
            mean = torch.full((2, 4), 0.25)

    def speak_all(self, texts: list[str], *, style: None, tokens: dict[Any, float]) -> Any:
        (name, weight), *_ = tokens.items()
        token = name if isinstance(name, int) else name[1]
        high = 150 * 2 ** (weight if token == 0 else 0)
        seconds = 0.8 / (1 + (0.5 * weight if token == 1 else 0))
        for _ in texts:
            times = np.arange(int(seconds * RATE)) / RATE
            waves = sum(np.sin(2 * np.pi * high * n * times) / n for n in range(1, 8))
            yield Said(np.asarray(0.2 * waves, dtype=np.float32))


class Said:
    rate = RATE

    def __init__(self, samples: np.ndarray) -> None:
        self.samples = samples

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


@pytest.fixture(scope="module")
def swept() -> list[Sweep]:
    return sweep(MadeUp(), ["one", "two"], weights=(0.0, 0.5, 1.0))  # type: ignore[arg-type]


def test_the_token_that_raises_the_pitch_is_found(swept: list[Sweep]) -> None:
    assert swept[0].pitch_change == pytest.approx(1200, abs=30)
    assert swept[0].pace_change == 0
    assert [one.pitch_change for one in swept[2:]] == pytest.approx([0, 0], abs=1)


def test_the_token_that_quickens_is_found(swept: list[Sweep]) -> None:
    assert swept[1].pace_change == pytest.approx(0.5, abs=0.01)
    assert swept[1].points[-1].seconds == pytest.approx(2 * 0.8 / 1.5, abs=0.01)


def test_each_head_can_be_swept_alone() -> None:
    found = sweep(MadeUp(), ["one"], by_head=True, weights=(0.0, 1.0))  # type: ignore[arg-type]
    assert [(one.head, one.token) for one in found] == [(head, token) for head in range(2) for token in range(4)]


def test_up_and_down_is_no_change() -> None:
    points = tuple(Point(n / 2, pitch, 1.0) for n, pitch in enumerate((100.0, 200.0, 130.0)))
    assert Sweep(0, None, points).pitch_change == 0
    assert steady([0, 40, 35, 80], 10)
    assert not steady([0, 40, 20, 80], 10)
    assert steady([3, 2, 1], 0)


def test_a_whisper_has_no_interval() -> None:
    one = Sweep(0, None, (Point(0, 100.0, 1.0), Point(1, None, 1.0)))
    assert one.intervals == []
    assert table([one])[1][2:5] == ["100", "-", "-"]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_picture_is_drawn(swept: list[Sweep], tmp_path: Path, suffix: str) -> None:
    save_picture(swept, tmp_path / f"sweep.{suffix}")
    assert (tmp_path / f"sweep.{suffix}").stat().st_size > 2000


def test_what_cannot_be_drawn_is_said(swept: list[Sweep], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"not '\.gif'"):
        save_picture(swept, tmp_path / "sweep.gif")
    with pytest.raises(ConfigError, match="no folder"):
        save_picture(swept, tmp_path / "nowhere" / "sweep.png")
    with pytest.raises(ConfigError, match="a text"):
        sweep(MadeUp(), [])  # type: ignore[arg-type]


def test_the_command_says_what_it_needs() -> None:
    for words in (["style", "runs/voice"], ["style", "runs/voice", "a.wav", "--sweep"]):
        ended = CliRunner().invoke(app, words)
        assert isinstance(ended.exception, ConfigError)
        assert "recordings, or --sweep" in str(ended.exception)
