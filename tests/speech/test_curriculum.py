"""The lessons are functions of how far training is."""

import pytest
import torch

from seq2see.speech.model.curriculum import LessonsConfig, guidance, off_diagonal, shown, withhold

CONFIG = LessonsConfig()


def test_short_utterances_first_and_all_of_them_later() -> None:
    config = LessonsConfig(short=0.5, grow=(0.2, 0.6))
    assert [shown(config, done) for done in (0.0, 0.2, 0.4, 0.6, 1.0)] == pytest.approx([0.5, 0.5, 0.75, 1.0, 1.0])


def test_true_frames_are_withheld_as_a_whole_and_then_in_part() -> None:
    torch.manual_seed(0)
    assert withhold(CONFIG, 0.59, 4, 7).all()
    late = withhold(CONFIG, 0.6, 2000, 20)
    whole = late.all(dim=1)
    assert float(whole.float().mean()) == pytest.approx(0.5, abs=0.05)
    assert float(late[~whole].float().mean()) == pytest.approx(0.1, abs=0.02)


def test_the_hint_fades() -> None:
    config = LessonsConfig(guided=0.3, guided_fade=(600, 1800))
    assert [guidance(config, step) for step in (1, 600, 1200, 1800, 5000)] == pytest.approx([0.3, 0.3, 0.15, 0.0, 0.0])


def test_the_diagonal_costs_nothing_and_steps_behind_the_end_do_not_count() -> None:
    straight = torch.eye(6).unsqueeze(0)
    assert float(off_diagonal(straight, torch.tensor([6]), torch.tensor([6]), 0.2)) == pytest.approx(0.0)
    assert float(off_diagonal(straight.flip(1), torch.tensor([6]), torch.tensor([6]), 0.2)) > 0.5
    padded = torch.zeros(1, 9, 6)
    padded[:, :6] = straight
    padded[:, 6:, 0] = 1.0
    assert float(off_diagonal(padded, torch.tensor([6]), torch.tensor([6]), 0.2)) == pytest.approx(0.0)
