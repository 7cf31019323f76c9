"""Style tokens: weights are a distribution, and the weights alone decide the style."""

import pytest
import torch
from pydantic import ValidationError

from seq2see.errors import ConfigError
from seq2see.speech.model.style import Style, StyleConfig, spread
from seq2see.speech.synthesis import set_tokens

CONFIG = StyleConfig(tokens=5, heads=2, width=8, channels=(4, 4, 8), summary=8, crop=16)


@pytest.fixture
def style() -> Style:
    torch.manual_seed(0)
    return Style(80, 6, CONFIG).eval()


def test_weights_sum_to_one_and_mixing_them_gives_the_same_style(style: Style) -> None:
    vector, weights = style(torch.rand(3, 16, 80))
    assert weights.shape == (3, 2, 5)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 2))
    torch.testing.assert_close(style.mix(weights), vector)


def test_a_recording_is_seen_in_crops_that_cover_it(style: Style) -> None:
    mel = torch.arange(45.0)[:, None].expand(45, 80)
    crops = style.crops(mel)
    assert crops[:, 0, 0].tolist() == [0, 4, 8, 12, 16, 20, 24, 28, 29]
    assert crops[-1, -1, 0] == 44
    short = style.crops(mel[:10])
    assert short.shape == (1, 16, 80)
    assert short[0, 10:].eq(0).all()
    torch.testing.assert_close(style.weigh(mel), style(crops)[1].mean(dim=0))


def test_the_mean_style_follows_what_is_heard(style: Style) -> None:
    heard = torch.zeros(4, 2, 5)
    heard[:, :, 3] = 1.0
    for _ in range(1000):
        style.follow(heard)
    torch.testing.assert_close(style.mean, heard[0], atol=1e-3, rtol=0)


def test_spread_is_one_when_each_utterance_has_a_token_of_its_own_and_zero_when_all_are_alike() -> None:
    own = torch.eye(5).unsqueeze(1).expand(5, 2, 5)
    assert float(spread(own)) == pytest.approx(1.0)
    assert float(spread(torch.full((5, 2, 5), 0.2))) == pytest.approx(0.0, abs=1e-6)
    assert float(spread(own[:1].expand(5, 2, 5))) == pytest.approx(0.0, abs=1e-6)


def test_set_tokens_leaves_the_proportions_of_the_others() -> None:
    base = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]])
    found = set_tokens(base, {3: 0.8})
    torch.testing.assert_close(found[0], torch.tensor([0.2 / 6, 0.4 / 6, 0.1, 0.8]))
    torch.testing.assert_close(found.sum(dim=1), torch.ones(2))
    one = set_tokens(base, {(1, 0): 1.0})
    torch.testing.assert_close(one[0], base[0])
    torch.testing.assert_close(one[1], torch.tensor([1.0, 0.0, 0.0, 0.0]))


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ({9: 0.5}, "no token 9; this voice has tokens 0 to 3"),
        ({(7, 1): 0.5}, "no head 7"),
        ({0: 1.5}, "lies in 0 to 1"),
        ({0: 0.7, 1: 0.7}, "sum to 1.4"),
        ({0: 0.1, 1: 0.1, 2: 0.1, 3: 0.1}, "must sum to 1"),
    ],
)
def test_tokens_that_cannot_be(tokens: dict[int | tuple[int, int], float], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        set_tokens(torch.full((2, 4), 0.25), tokens)


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValidationError, match="does not divide"):
        StyleConfig(width=10, heads=4)
