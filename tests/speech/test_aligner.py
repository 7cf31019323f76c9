"""The aligner finds where letters are said; attention that is told so computes what it would have computed itself."""

from itertools import combinations
from typing import Any

import pytest
import torch
from torch import Tensor

from seq2see.speech.corpus.aligner import Aligner, best_path, missed, shares
from seq2see.speech.model.tacotron import Tacotron, TacotronConfig, sharpened

MELS = 80


def ways(frames: int, letters: int) -> list[list[int]]:
    """All ways through the letters in order, none left out."""
    found = []
    for cuts in combinations(range(1, frames), letters - 1):
        found.append([sum(frame >= cut for cut in cuts) for frame in range(frames)])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_the_best_way_is_the_best_of_all(seed: int) -> None:
    torch.manual_seed(seed)
    sizes, frames = [4, 2, 5], [7, 6, 8]
    letters = torch.zeros(3, 5, dtype=torch.long)
    fit = torch.randn(3, 8, 5)
    for row, size in enumerate(sizes):
        letters[row, :size] = 3
    found = best_path(fit, letters, torch.tensor(frames))
    for row, (size, length) in enumerate(zip(sizes, frames, strict=True)):
        best = max(ways(length, size), key=lambda way: sum(float(fit[row, t, s]) for t, s in enumerate(way)))
        assert found[row, :length].tolist() == best
        assert set(found[row, length:].tolist()) <= {size - 1}


def test_fewer_frames_than_letters_go_along_the_diagonal() -> None:
    found = best_path(torch.randn(1, 6, 9), torch.full((1, 9), 2), torch.tensor([3]))
    assert found[0].tolist() == [0, 3, 6, 8, 8, 8]


def spoken(batch: int, seed: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Letters with a spectrum and a length of their own, in voices of different colour, and where they are said."""
    random = torch.Generator().manual_seed(seed)
    spectra = torch.rand(12, MELS // 8, generator=torch.Generator().manual_seed(0)).repeat_interleave(8, dim=1)
    ids = torch.randint(2, 12, (batch, 8), generator=random)
    ids[:, 1:][ids[:, 1:] == ids[:, :-1]] = 1  # no letter twice in a row, which nobody could tell apart
    way = [torch.cat([torch.full((2 + int(one) % 5,), place) for place, one in enumerate(row)]) for row in ids]
    frames = torch.tensor([len(one) for one in way])
    truth = torch.stack([torch.nn.functional.pad(one, (0, int(frames.max()) - len(one)), value=7) for one in way])
    colour = torch.rand(batch, 1, 1, generator=random)
    mel = spectra[ids].gather(1, truth.unsqueeze(-1).expand(-1, -1, MELS)) + colour
    return ids, mel + 0.05 * torch.randn(mel.shape, generator=random), frames, truth


def test_it_learns_where_letters_are_said() -> None:
    torch.manual_seed(1)
    aligner = Aligner(12, MELS, 32)
    aligner.adapt(spoken(32, 1)[1].flatten(0, 1))
    optimiser = torch.optim.Adam(aligner.parameters(), lr=5e-3)
    for step in range(150):
        ids, mel, frames, _ = spoken(16, 100 + step)
        aligner(ids, mel, frames).error.backward()
        optimiser.step()
        optimiser.zero_grad()
    ids, mel, frames, truth = spoken(64, 2)
    way = aligner(ids, mel, frames).letters
    inside = torch.arange(mel.size(1)) < frames[:, None]
    untaught = Aligner(12, MELS, 32)(ids, mel, frames).letters
    assert (way == truth)[inside].float().mean() > 0.95
    assert (untaught == truth)[inside].float().mean() < 0.8


def test_neighbours_and_padding_do_not_move_letters() -> None:
    torch.manual_seed(2)
    aligner = Aligner(12, MELS, 16).eval()
    ids, mel, frames, _ = spoken(3, 5)
    ids[1, 5:] = 0
    together = aligner(ids, mel, frames)
    for row, size in enumerate((8, 5, 8)):
        length = int(frames[row])
        one = slice(row, row + 1)
        alone = aligner(ids[one, :size], mel[one, :length], frames[one])
        assert alone.letters[0].tolist() == together.letters[row, :length].tolist()


def test_shares_of_a_step() -> None:
    found = shares(torch.tensor([[0, 0, 0, 1, 2, 2, 2, 2]]), 3, 4)
    assert found.tolist() == [[[0.75, 0.25, 0.0], [0.0, 0.0, 1.0]]]


def test_missed_is_least_where_attention_looks_as_told() -> None:
    wanted = torch.softmax(torch.randn(2, 4, 5), dim=-1)
    steps = torch.tensor([4, 2])
    right, wrong = missed(wanted, wanted, steps), missed(wanted.roll(1, dims=2), wanted, steps)
    assert right < wrong
    behind = wanted.clone()
    behind[1, 2:] = 0.2
    torch.testing.assert_close(missed(behind, wanted, steps), right)


@pytest.mark.parametrize("attention", ["location_aware", "additive"])
def test_told_what_it_sees_itself_it_says_the_same(tiny: dict[str, Any], attention: str) -> None:
    torch.manual_seed(3)
    voice = Tacotron(
        TacotronConfig.model_validate(tiny | {"alphabet": 9, "attention": attention, "sharpening": 1.3})
    ).eval()
    ids = torch.tensor([[2, 3, 4, 5, 0, 0], [6, 7, 8, 2, 3, 1]])
    mel, lengths, crops = torch.rand(2, 24, MELS), torch.tensor([24, 24]), torch.rand(2, 16, MELS)
    with torch.no_grad():
        itself = voice(ids, mel, lengths, crops)
        told = voice(ids, mel, lengths, crops, alignment=itself.weights)
        elsewhere = voice(ids, mel, lengths, crops, alignment=itself.weights.flip(1))
    torch.testing.assert_close(told.frames, itself.frames)
    torch.testing.assert_close(told.refined, itself.refined)
    torch.testing.assert_close(told.stop, itself.stop)
    torch.testing.assert_close(sharpened(told.weights, voice.config.sharpening), itself.weights)
    assert not torch.allclose(elsewhere.frames, itself.frames)


def test_who_is_alone_is_told_what_its_attention_would_answer(tiny: dict[str, Any]) -> None:
    torch.manual_seed(3)
    voice = Tacotron(TacotronConfig.model_validate(tiny | {"alphabet": 9, "sharpening": 1.3})).eval()
    ids, mel, lengths = (
        torch.tensor([[2, 3, 4, 5, 1], [6, 7, 8, 2, 1]]),
        torch.rand(2, 24, MELS),
        torch.tensor([24, 24]),
    )
    way = shares(torch.arange(24).expand(2, -1) * 5 // 24, 5, 4)
    with torch.no_grad():
        told = voice(ids, mel, lengths, alignment=way)
        found = sharpened(told.weights, voice.config.sharpening)
        alone = voice(ids, mel, lengths, alignment=way, own=torch.tensor([True, False]))
        again = voice(ids, mel, lengths, alignment=found)
    torch.testing.assert_close(alone.frames, torch.stack([again.frames[0], told.frames[1]]))
    assert not torch.allclose(again.frames[0], told.frames[0])


def test_sharpening_is_of_the_scores() -> None:
    scores = torch.randn(3, 4, 6)
    torch.testing.assert_close(sharpened(scores.softmax(-1), 1.7), (1.7 * scores).softmax(-1))
