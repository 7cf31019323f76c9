"""The fast path of greedy and beam search finds what the general loop finds, token for token and score for score."""

from itertools import chain, product

import pytest
import torch
from searching import Cheap, general, keys, model_of, run, said, sources

from seq2see.errors import ConfigError
from seq2see.models import FAMILIES
from seq2see.search import Hypothesis, Result, SearchConfig, beams, loop, plain, search
from seq2see.search.candidates import best, highest
from seq2see.vocabulary import BOS, EOS, PAD

PENALTIES = ("none", "gnmt", "average")
# Each penalty with a beam of five, and each width; every pair of them in `make test-slow`.
TRIED = {("none", 1), *((penalty, 5) for penalty in PENALTIES), ("gnmt", 7)}
CROSSED = pytest.mark.parametrize(
    ("penalty", "beam", "nbest"),
    [
        pytest.param(penalty, beam, nbest, marks=[] if (penalty, beam) in TRIED else pytest.mark.slow)
        for penalty, (beam, nbest) in product(PENALTIES, ((1, 1), (2, 1), (3, 3), (5, 2), (7, 7)))
    ],
)
MODELS = [Cheap(words, sharpness, ending) for words, sharpness, ending in product((9, 200), (0.0, 2.0), (-2, 0, 3))]
COUNT = 20
LIMITS = torch.arange(COUNT) * 7 % 13 + 1


def hypotheses(results: list[Result]) -> list[list[Hypothesis]]:
    return [result.hypotheses for result in results]


@CROSSED
def test_both_ways_are_the_same_to_the_last_bit(penalty: str, beam: int, nbest: int):
    """With a sharpness of 0 all tokens are alike, and only the order of equal ones decides."""
    config = SearchConfig(beam=beam, nbest=nbest, length_penalty=penalty, alpha=0.9)
    for cheap in MODELS:
        fast, slow = (cheap.run(keys(COUNT), config, LIMITS, **more) for more in ({}, general()))
        assert hypotheses(fast) == hypotheses(slow)


@CROSSED
def test_the_stop_rule_changes_nothing(penalty: str, beam: int, nbest: int, monkeypatch: pytest.MonkeyPatch):
    """The general loop without its stop rule goes to the limit with everything in the beam."""
    config = SearchConfig(beam=beam, nbest=nbest, length_penalty=penalty, alpha=1.0)
    stopped = [hypotheses(cheap.run(keys(COUNT), config, LIMITS)) for cheap in MODELS]
    if beam > 1:  # greedy ends where it ends
        monkeypatch.setattr(beams, "done", lambda ended, paths, limit, config: not paths)
    for cheap, found in zip(MODELS, stopped, strict=True):
        assert hypotheses(cheap.run(keys(COUNT), config, LIMITS, **general())) == found


@pytest.mark.parametrize("family", FAMILIES)
def test_both_ways_are_the_same_for_every_family(family: str):
    model, given = model_of(family, words=14), sources(20, seed=4)
    limits = torch.arange(20) % 9 + 1
    for config in (SearchConfig(), SearchConfig(beam=4, nbest=4, length_penalty="gnmt")):
        fast, slow = (run(model, given, config, limits, **more) for more in ({}, general()))
        assert said(fast) == said(slow)
        for one, other in zip(chain(*hypotheses(fast)), chain(*hypotheses(slow)), strict=True):
            assert one.token_scores == pytest.approx(other.token_scores, abs=1e-9)
            assert one.score == pytest.approx(other.score, abs=1e-9)
            assert one.ended == other.ended


def test_which_way_is_taken(monkeypatch: pytest.MonkeyPatch):
    taken = []
    for name in ("beam_search", "greedy_search"):
        search = getattr(plain, name)
        monkeypatch.setattr(loop, name, lambda *given, search=search: taken.append(1) or search(*given))
    ruled = [{"record": True}, {"prefix": [[4]]}, {"required": [[[4]]]}, {"forbidden": [[[4]]]}]
    for more in ruled:
        Cheap(9).run([0.1], SearchConfig(beam=2), **more)
    for settings in ({"min_length": 2}, {"no_repeat_ngram": 2}, {"groups": 2, "diversity": 1.0}):
        Cheap(9).run([0.1], SearchConfig(beam=2, **settings))
    Cheap(9).run([0.1], SearchConfig(sample=True))
    assert not taken
    Cheap(9).run([0.1], SearchConfig(beam=2, length_penalty="gnmt", max_length=4))
    Cheap(9).run([0.1], SearchConfig())
    assert len(taken) == 2


@pytest.mark.parametrize("full", [0.0, 0.5, 1.1])
def test_it_does_not_matter_when_the_batch_is_packed(full: float, monkeypatch: pytest.MonkeyPatch):
    """0: never unless a sentence needs more rows than it has; above 1: after every step."""
    for config in (SearchConfig(), SearchConfig(beam=5, nbest=3, length_penalty="gnmt")):
        monkeypatch.undo()
        found = [cheap.run(keys(COUNT), config, LIMITS) for cheap in MODELS]
        monkeypatch.setattr(plain, "_FULL", full)
        assert [cheap.run(keys(COUNT), config, LIMITS) for cheap in MODELS] == found


def rows_of(cheap: Cheap, config: SearchConfig, count: int, limit: int) -> list[int]:
    """How many rows each step was made with."""
    steps = []

    def step(tokens, memory, state):
        assert len(tokens) == len(memory) == len(state)
        steps.append(len(tokens))
        return cheap.step(tokens, memory, state)

    memory = torch.tensor(keys(count), dtype=torch.float64).unsqueeze(1)
    search(step, memory, torch.zeros_like(memory), config, limits=torch.full((count,), limit))
    return steps


@pytest.mark.parametrize("penalty", PENALTIES)
def test_rows_are_made_when_needed_and_leave_when_not(penalty: str):
    config = SearchConfig(beam=4, length_penalty=penalty)
    steps = rows_of(Cheap(12, ending=1.0), config, 20, 50)
    assert steps[0] == 20  # nothing is said yet: one path each
    assert max(steps) <= 80
    assert steps[1] > 40
    assert len(steps) < 50
    whole = rows_of(Cheap(12, ending=1.0), config.model_copy(update={"nbest": 4}), 20, 50)
    assert sum(steps) < sum(whole)  # the second best need not be waited for


def test_greedy_has_a_row_for_each_sentence_that_goes_on():
    found = Cheap(12, ending=1.0).run(keys(50), SearchConfig(), 30)
    lengths = [len(result.hypotheses[0].token_scores) for result in found]
    going = [sum(length > step for length in lengths) for step in range(max(lengths))]
    steps = rows_of(Cheap(12, ending=1.0), SearchConfig(), 50, 30)
    assert len(steps) == len(going)
    assert all(least <= rows <= least / plain._FULL + 1 for rows, least in zip(steps, going, strict=True))


def test_a_model_that_gives_no_numbers_is_named_on_both_ways():
    for more in ({}, general()):
        for beam in (1, 3):
            with pytest.raises(ConfigError, match="sentence 0: nothing can be said"):
                Cheap(9, sharpness=float("nan")).run([0.1, 0.2], SearchConfig(beam=beam), **more)


def test_a_sentence_that_stops_giving_numbers_keeps_what_it_has():
    """Sentence 0 ends or goes on at first, and has only NaN after that; the others do not notice."""
    cheap = Cheap(12)

    def step(tokens, memory, state):
        logits, state = cheap.step(tokens, memory, state)
        broken = (memory[:, 0] == 0.125) & (tokens != BOS)
        return logits.masked_fill(broken.unsqueeze(1), float("nan")), state

    memory = torch.tensor([0.125, *keys(5)], dtype=torch.float64).unsqueeze(1)
    config, limits = SearchConfig(beam=9), torch.full((6,), 8)
    fast, slow = (
        search(step, memory, torch.zeros_like(memory), config, limits=limits, **more) for more in ({}, general())
    )
    assert hypotheses(fast) == hypotheses(slow)
    assert said(fast)[0] == [[]]


@pytest.mark.parametrize("vocabulary", [3, 9, 64, 127, 128, 600, 640, 1000, 1023])
@pytest.mark.parametrize("levels", [2, 5, 1000])
def test_the_highest_are_those_of_a_stable_sort(vocabulary: int, levels: int):
    """Few levels: most scores are equal. A tenth of the rows has next to nothing but -inf."""
    generator = torch.Generator().manual_seed(vocabulary * levels)
    scores = torch.randint(levels, (50, vocabulary), generator=generator).double()
    scores[::10, 2:] = float("-inf")
    ordered, places = scores.sort(dim=-1, descending=True, stable=True)
    for count in (1, 2, 4, 6):
        count = min(count, vocabulary)
        values, tokens = best(scores, count)
        assert torch.equal(values, ordered[:, :count])
        possible = values > float("-inf")
        assert torch.equal(tokens[possible], places[:, :count][possible])
        values, tokens = highest(scores, count)
        assert torch.equal(values, ordered[:, :count])
        assert torch.equal(scores.gather(1, tokens), values)


def test_streaming_is_the_same_on_both_ways():
    for more in ({}, general()):
        told: list[list[int]] = [[] for _ in range(30)]
        found = Cheap(12).run(
            keys(30), SearchConfig(), 9, on_token=lambda name, token, told=told: told[name].append(token), **more
        )
        assert told == [tokens for [tokens] in said(found)]
        assert not any(token in (PAD, BOS, EOS) for tokens in told for token in tokens)


def test_limits_below_one_are_refused_and_max_length_lowers_them():
    with pytest.raises(ConfigError, match="limit of 0"):
        Cheap(9).run(keys(3), SearchConfig(beam=2), torch.tensor([4, 0, 4]))
    for more in ({}, general()):
        found = Cheap(9, ending=-9.0).run(keys(8), SearchConfig(beam=2, max_length=3), 7, **more)
        assert {len(tokens) for [tokens] in said(found)} == {3}
        found = Cheap(9, ending=-9.0).run(keys(8), SearchConfig(beam=2, max_length=9), 7, **more)
        assert {len(tokens) for [tokens] in said(found)} == {7}
