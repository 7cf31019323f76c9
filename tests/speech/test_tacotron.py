"""Tacotron: one arithmetic, however it is run; no padding and no neighbour changes it."""

from typing import Any

import pytest
import torch
from torch import Tensor

from seq2see.speech.model.cbhg import Cbhg
from seq2see.speech.model.tacotron import Tacotron, TacotronConfig


def model(tiny: dict[str, Any], **changes: Any) -> Tacotron:
    torch.manual_seed(3)
    return Tacotron(TacotronConfig.model_validate(tiny | {"alphabet": 9} | changes)).eval()


def letters(*lengths: int) -> Tensor:
    torch.manual_seed(4)
    ids = torch.randint(2, 9, (len(lengths), max(lengths)))
    return ids * (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None])


@pytest.mark.parametrize("attention", ["location_aware", "additive"])
def test_step_by_step_equals_teacher_forcing(tiny: dict[str, Any], attention: str) -> None:
    voice = model(tiny, attention=attention)
    ids, mel = letters(5, 7), torch.rand(2, 24, 80)
    with torch.no_grad():
        prepared = voice._prepared(ids, None)
        frames, stop, weights = voice.decoder(voice._previous(mel, None), prepared)
        standing = voice.decoder.start(prepared)
        previous = torch.zeros(2, 80)
        for step in range(6):
            made, over, row, standing = voice.decoder.step(previous, prepared, standing)
            torch.testing.assert_close(made, frames[:, 4 * step : 4 * step + 4])
            torch.testing.assert_close(over, stop[:, step])
            torch.testing.assert_close(row, weights[:, step])
            previous = mel[:, 4 * step + 3]


def test_a_withheld_frame_is_silence_to_the_decoder(tiny: dict[str, Any]) -> None:
    voice = model(tiny)
    ids, mel, lengths = letters(5, 7), torch.rand(2, 24, 80), torch.tensor([24, 24])
    crops = torch.rand(2, 16, 80)
    with torch.no_grad():
        none = voice(ids, mel, lengths, crops, torch.ones(2, 6, dtype=torch.bool))
        silent = voice(ids, torch.zeros(2, 24, 80), lengths, crops)
        shown = voice(ids, mel, lengths, crops)
    torch.testing.assert_close(none.frames, silent.frames)
    assert not torch.allclose(none.frames, shown.frames)


def test_neighbours_and_padding_change_nothing(tiny: dict[str, Any]) -> None:
    voice = model(tiny)
    ids = letters(4, 9, 6)
    style = torch.softmax(torch.randn(3, 2, 5), dim=-1)
    _stop_between(voice, ids, style)
    together = voice.speak(ids, style, longest=15)
    assert sorted(one.stopped for one in together) == [False, True, True]
    assert len({len(one.mel) for one in together}) > 1
    for row, size in enumerate((4, 9, 6)):
        alone = voice.speak(ids[row : row + 1, :size], style[row : row + 1], longest=15)[0]
        torch.testing.assert_close(together[row].mel, alone.mel)
        torch.testing.assert_close(together[row].weights, alone.weights)
        assert together[row].weights.shape[1] == size
        assert together[row].stopped == alone.stopped


def _stop_between(voice: Tacotron, ids: Tensor, style: Tensor) -> None:
    """Moves the stop output so that two of three rows stop, each at a step of its own."""
    with torch.no_grad():
        voice.decoder.stop.weight.normal_(std=3.0)
        voice.decoder.stop.bias.fill_(-1000.0)
        _, logits, _ = voice._run(
            voice._prepared(ids, voice._vector(style, 3)), torch.full((3,), 15), torch.tensor([3, 8, 5])
        )
        voice.decoder.stop.bias.fill_(-1000.0 - float(logits.amax(dim=1).median()) + 1e-2)


def test_each_row_ends_where_it_says_so(tiny: dict[str, Any]) -> None:
    voice = model(tiny)
    with torch.no_grad():
        voice.decoder.stop.bias.fill_(-50.0)
    cut_off = voice.speak(letters(3, 5))
    assert [one.stopped for one in cut_off] == [False, False]
    assert [len(one.weights) for one in cut_off] == [3 * 6 + 20, 5 * 6 + 20]
    assert [len(one.mel) for one in cut_off] == [4 * (3 * 6 + 20), 4 * (5 * 6 + 20)]
    with torch.no_grad():
        voice.decoder.stop.bias.fill_(50.0)
    assert [(one.stopped, len(one.mel)) for one in voice.speak(letters(3, 5))] == [(True, 4), (True, 4)]


def test_an_utterance_is_over_when_attention_rests_on_the_end(tiny: dict[str, Any]) -> None:
    voice = model(tiny)
    with torch.no_grad():
        voice.decoder.stop.bias.fill_(-50.0)
    step, made = voice.decoder.step, []

    def resting(*given: Any) -> Any:
        """Row 0 comes to the end at step 3 and rests; row 1 touches it now and then."""
        frames, stop, weights, standing = step(*given)
        made.append(None)
        weights = torch.zeros_like(weights)
        weights[0, 2 if len(made) > 3 else 0] = 1.0
        weights[1, 4 if len(made) % 3 else 0] = 1.0
        return frames, stop, weights, standing

    voice.decoder.step = resting  # type: ignore[method-assign]
    first, second = voice.speak(letters(3, 5))
    assert first.stopped
    assert len(first.weights) == 3 + 4  # the fifth step of resting is no longer said
    assert not second.stopped


def test_weights_of_a_step_sum_to_one_over_the_letters_that_are_there(tiny: dict[str, Any]) -> None:
    voice = model(tiny)
    with torch.no_grad():
        spoken = voice(letters(4, 9), torch.rand(2, 12, 80), torch.tensor([12, 12]), torch.rand(2, 16, 80))
    torch.testing.assert_close(spoken.weights.sum(dim=-1), torch.ones(2, 3))
    assert spoken.weights[0, :, 4:].eq(0).all()


def test_a_voice_without_style_has_none(tiny: dict[str, Any]) -> None:
    voice = model(tiny, style=None)
    spoken = voice(letters(4), torch.rand(1, 8, 80), torch.tensor([8]))
    assert spoken.style is None
    with torch.no_grad():
        voice.decoder.stop.bias.fill_(-50.0)
    assert voice.speak(letters(4), longest=2)[0].mel.shape == (8, 80)


def test_every_parameter_of_cbhg_learns_and_nothing_looks_behind_the_end() -> None:
    torch.manual_seed(5)
    cbhg = Cbhg(6, 4, bank=4, highways=2)
    x = torch.randn(2, 7, 6)
    out = cbhg(x, torch.tensor([7, 3]))
    assert out.shape == (2, 7, 8)
    assert out[1, 3:].eq(0).all()
    out.square().sum().backward()
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in cbhg.parameters())
    changed = x.clone()
    changed[1, 3:] = 100.0
    torch.testing.assert_close(cbhg(changed, torch.tensor([7, 3])), out)
    torch.testing.assert_close(cbhg(x[1:, :3], torch.tensor([3])), out[1:, :3])
