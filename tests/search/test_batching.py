"""A batch of n is n singles; everything ends within its limit, and nothing is said after the end."""

from functools import cache
from itertools import product

import pytest
import torch
from searching import Cheap, keys, model_of, run, said, sources

from depth import THOROUGH
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
SIZES = (3, 7, 16, 31, 64)
ORDERS = 3 if THOROUGH else 1


# Both loops with every family; the other kinds of search with two of them.
CROSSED = [
    pytest.param(
        family,
        kind,
        marks=pytest.mark.slow if number > 1 and kind in ("diverse", "sample") else [],
        id=f"{kind}-{family}",
    )
    for number, family in enumerate(FAMILIES)
    for kind in CONFIGS
]


@pytest.mark.parametrize(("family", "kind"), CROSSED)
def test_a_batch_of_n_is_n_singles(family: str, kind: str):
    """Three orders, each cut into batches of another size; over all families and kinds of search every size to 64.

    Each source comes four times: alone it says the same again.
    """
    model, config, given = model_of(family, words=12), CONFIGS[kind], sources(16, seed=1) * 4
    limits = torch.randint(1, 9, (16,), generator=torch.Generator().manual_seed(2)).repeat(4)
    single = [said(run(model, [given[place]], config, limits[[place]]))[0] for place in range(16)] * 4
    for number, size in enumerate(sizes_of(family, kind)):
        order = torch.randperm(64, generator=torch.Generator().manual_seed(number)).tolist()
        for start in range(0, 64, size):
            places = order[start : start + size]
            found = run(model, [given[place] for place in places], config, limits[places])
            assert said(found) == [single[place] for place in places]


def sizes_of(family: str, kind: str) -> list[int]:
    """A small, a middling and a large one."""
    number = FAMILIES.index(family) * len(CONFIGS) + list(CONFIGS).index(kind)
    return [2 + number % 20, 22 + number % 21, 43 + number % 22]


def test_every_size_has_its_turn():
    tried = {size for family in FAMILIES for kind in CONFIGS for size in sizes_of(family, kind)}
    assert tried == set(range(2, 65))


@cache
def singles(config: SearchConfig) -> list[Result]:
    return [Cheap(12).run([key], config, place % 10 + 1)[0] for place, key in enumerate(keys(64))]


@pytest.mark.thinned
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("size", SIZES)
def test_a_batch_of_any_size_is_singles_to_the_last_bit(config: SearchConfig, size: int):
    cheap, every = Cheap(12), keys(64)
    limits = torch.arange(64) % 10 + 1
    single = singles(config)
    for number in range(ORDERS):
        order = torch.randperm(64, generator=torch.Generator().manual_seed(size + number)).tolist()
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


COUNTS = {"greedy": 900, "beam": 240, "diverse": 36, "sample": 36}  # the last two take the general loop


def test_ten_thousand_decodes_end():
    """Of random weights, those of every family; the limits are in the way of many."""
    count = ended = 0
    for family, (kind, config) in product(FAMILIES, CONFIGS.items()):
        limits = torch.randint(1, 15, (COUNTS[kind],), generator=torch.Generator().manual_seed(7))
        found = run(model_of(family, 14, 1), sources(len(limits), seed=9), config, limits)
        count += check_ends(found, limits.tolist())
        ended += sum(one.ended for result in found for one in result.hypotheses)
    assert count >= 10_000
    assert 0.2 < ended / count < 0.95


def test_all_kinds_of_search_end():
    for number, config in enumerate(CONFIGS.values()):
        for ending in (-2.0, 0.0, 2.0):
            limits = torch.randint(1, 15, (100,), generator=torch.Generator().manual_seed(number))
            check_ends(Cheap(20, ending=ending).run(keys(100, seed=number), config, limits), limits.tolist())


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
