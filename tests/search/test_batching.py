"""A batch of n is n singles; everything ends within its limit, and nothing is said after the end."""

from functools import cache

import pytest
import torch
from searching import Cheap, keys, model_of, run, said, sources

from seq2see.models import FAMILIES
from seq2see.search import Result, SearchConfig
from seq2see.vocabulary import EOS, UNK

ALL = pytest.mark.parametrize("family", FAMILIES)
CONFIGS = {
    "greedy": SearchConfig(),
    "beam": SearchConfig(beam=4, nbest=4, length_penalty="gnmt"),
    "diverse": SearchConfig(beam=4, nbest=2, groups=2, diversity=0.5),
    "sample": SearchConfig(sample=True, nbest=2, top_p=0.9, seed=5),
}
SIZES = (1, 2, 3, 5, 8, 16, 32, 64)
ORDERS = 3


@ALL
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_batch_of_n_is_n_singles(family: str, config: SearchConfig):
    model, given = model_of(family, words=12), sources(64, seed=1)
    limits = torch.randint(1, 9, (64,), generator=torch.Generator().manual_seed(2))
    single = [said(run(model, [source], config, limits[[place]]))[0] for place, source in enumerate(given)]
    for number in range(ORDERS):
        order = torch.randperm(64, generator=torch.Generator().manual_seed(number)).tolist()
        for size in (SIZES[2 + number], SIZES[5 + number]):
            for start in range(0, 64, size):
                places = order[start : start + size]
                found = run(model, [given[place] for place in places], config, limits[places])
                assert said(found) == [single[place] for place in places]


@cache
def singles(config: SearchConfig) -> list[Result]:
    return [Cheap(12).run([key], config, place % 10 + 1)[0] for place, key in enumerate(keys(64))]


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("size", SIZES[1:])
def test_a_batch_of_any_size_is_singles_to_the_last_bit(config: SearchConfig, size: int):
    cheap, every = Cheap(12), keys(64)
    limits = torch.arange(64) % 10 + 1
    single = singles(config)
    for number in range(ORDERS):
        order = torch.randperm(64, generator=torch.Generator().manual_seed(number)).tolist()
        for start in range(0, 64, size):
            places = order[start : start + size]
            found = cheap.run([every[place] for place in places], config, limits[places])
            assert found == [single[place] for place in places]


def check_ends(results: list[Result], limits: list[int]) -> int:
    count = 0
    for result, limit in zip(results, limits, strict=True):
        assert result.hypotheses
        for one in result.hypotheses:
            count += 1
            assert all(token >= UNK for token in one.tokens)  # no PAD, no BOS, and EOS neither within nor behind
            assert len(one.token_scores) == len(one.tokens) + one.ended <= limit
            assert one.ended or len(one.tokens) == limit
            assert all(score <= 0 for score in one.token_scores)
    return count


def test_ten_thousand_decodes_end():
    count = 0
    for number, config in enumerate(CONFIGS.values()):
        for round_ in range(3):
            cheap = Cheap(20, ending=float(round_ - 1) * 2)
            limits = torch.randint(1, 15, (600,), generator=torch.Generator().manual_seed(number))
            count += check_ends(cheap.run(keys(600, seed=round_), config, limits), limits.tolist())
    for family in FAMILIES:
        for config in CONFIGS.values():
            limits = torch.randint(1, 15, (48,), generator=torch.Generator().manual_seed(7))
            count += check_ends(run(model_of(family, 14, 1), sources(48, seed=9), config, limits), limits.tolist())
    assert count >= 10_000


def test_a_finished_beam_is_never_stepped_again():
    """The step function would notice EOS as the token said last of a beam that counts."""
    cheap = Cheap(12, ending=2.0)

    def step(tokens, memory, state):
        assert not (tokens == EOS).any()
        return cheap.step(tokens, memory, state)

    for config in CONFIGS.values():
        Stepped = type("Stepped", (Cheap,), {"step": staticmethod(step)})
        Stepped(12).run(keys(50), config)


def test_an_empty_batch_is_no_result():
    assert Cheap(9).run([], SearchConfig()) == []
