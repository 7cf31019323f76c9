"""Voices that somebody made: loading gives the voice, the same bits as ever, or one RunError."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

import seq2see
from seq2see import atomic
from seq2see.errors import RunError, ShapeError
from seq2see.runs.folder import CONFIG, MANIFEST, WEIGHTS
from seq2see.speech.model.tacotron import Tacotron, TacotronConfig, sharpened
from seq2see.speech.training import LETTERS, load_voice


@pytest.fixture
def voice(voice_run: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "voice"
    copy.mkdir()
    for name in (CONFIG, LETTERS, WEIGHTS, MANIFEST):
        shutil.copy(voice_run / name, copy / name)
    return copy


def refit(voice: Path, name: str) -> None:
    manifest = json.loads((voice / MANIFEST).read_text())
    (voice / MANIFEST).write_text(json.dumps(manifest | {name: atomic.digest(voice / name)}))


def reconfigure(voice: Path, change: Callable[[dict[str, Any]], object]) -> None:
    config = json.loads((voice / CONFIG).read_text())
    change(config["model"])
    (voice / CONFIG).write_text(json.dumps(config))
    refit(voice, CONFIG)


def test_a_voice_loads_the_same_bits_and_draws_nothing_random(voice: Path) -> None:
    before = torch.get_rng_state()
    loaded = load_voice(voice).model
    assert torch.equal(torch.get_rng_state(), before)
    saved = json.loads((voice / CONFIG).read_text())["model"]
    reference = Tacotron(TacotronConfig.model_validate({key: one for key, one in saved.items() if key != "size"}))
    reference.load_state_dict(load_file(voice / WEIGHTS))
    for (name, one), (_, other) in zip(
        [*loaded.named_parameters(), *loaded.named_buffers()],
        [*reference.named_parameters(), *reference.named_buffers()],
        strict=True,
    ):
        assert torch.equal(one, other), name
    letters = torch.tensor([[2, 3, 2, 1]])
    ours, theirs = loaded.speak(letters, longest=3), reference.eval().speak(letters, longest=3)
    assert torch.equal(ours[0].mel, theirs[0].mel)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("alphabet", 3_000_000),
        ("alphabet", 10**30),
        ("alphabet", 5),
        ("decoder", 2**30),
        ("bank", 60_000),
        ("highways", 10**9),
        ("reduction", 10**9),
        ("kernel", 10**9 + 1),
        ("audio.mels", 10**9),
        ("audio.fft", 10**12),
        ("style.tokens", 10**9),
        ("style.crop", 10**9),
        ("style.channels", [4] * 100_000),
    ],
)
def test_no_size_is_larger_than_the_weights(voice: Path, path: str, value: Any) -> None:
    def change(model: dict[str, Any]) -> None:
        *outer, name = path.split(".")
        for one in outer:
            model = model[one]
        model[name] = value

    reconfigure(voice, change)
    with pytest.raises(RunError) as caught:
        seq2see.load_voice(voice)
    assert "\n" not in str(caught.value)


def test_an_alphabet_that_does_not_fit(voice: Path) -> None:
    letters = json.loads((voice / LETTERS).read_text())
    letters["alphabet"].append("c")
    (voice / LETTERS).write_text(json.dumps(letters))
    refit(voice, LETTERS)
    with pytest.raises(RunError, match=r"letters\.json has 5 letters, but config\.json says model\.alphabet = 4"):
        load_voice(voice)


def test_whole_numbers_for_weights(voice: Path) -> None:
    save_file({name: value.to(torch.int32) for name, value in load_file(voice / WEIGHTS).items()}, voice / WEIGHTS)
    refit(voice, WEIGHTS)
    with pytest.raises(RunError, match="I32, expected F32"):
        load_voice(voice)


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000 + "]" * 100_000,
        '{"version": ' + "9" * 5000 + "}",
        '{"version":1,"kind":"jamo","alphabet":["\\ud800"]}',
    ],
)
@pytest.mark.parametrize("file", [CONFIG, LETTERS, MANIFEST])
def test_json_that_is_odd(voice: Path, file: str, content: str) -> None:
    (voice / file).write_text(content)
    if file != MANIFEST:
        refit(voice, file)
    with pytest.raises(RunError) as caught:
        load_voice(voice)
    assert file in str(caught.value)


def test_a_pipe_for_letters(voice: Path) -> None:
    (voice / LETTERS).unlink()
    os.mkfifo(voice / LETTERS)
    with pytest.raises(RunError, match=r"letters\.json: cannot be read \(it is a pipe"):
        load_voice(voice)


@pytest.mark.parametrize("letters", [torch.zeros(1, 0, dtype=torch.long), torch.tensor([[2, 1], [0, 0]])])
def test_a_text_without_a_letter_is_our_own_error(voice: Path, letters: torch.Tensor) -> None:
    with pytest.raises(ShapeError, match="each row with a letter or more"):
        load_voice(voice).model.speak(letters)


def test_sharpening_never_divides_by_nothing() -> None:
    assert sharpened(torch.full((1, 100), 0.01), 1000.0).isfinite().all()
    weights = torch.tensor([[0.25, 0.75]])
    assert torch.equal(sharpened(weights, 2.0), weights.square() / weights.square().sum())
