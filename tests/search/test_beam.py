"""Greedy and beam against slow twins: width one is greedy, full width is brute force, stopping changes nothing."""

import pytest
import torch
from searching import (
    Cheap,
    brute_force,
    forced,
    greedy_twin,
    keys,
    model_of,
    normalised,
    run,
    said,
    sources,
    token_scores,
)

from seq2see.data import Batch
from seq2see.errors import ConfigError, ShapeError
from seq2see.models import FAMILIES
from seq2see.search import SearchConfig, beams, ensemble, greedy, search
from seq2see.search.candidates import best
from seq2see.vocabulary import BOS, EOS, PAD

ALL = pytest.mark.parametrize("family", FAMILIES)
PENALTIES = pytest.mark.parametrize("penalty", ["none", "gnmt", "average"])
WORDS, LIMIT, FULL = 9, 3, 300  # seven tokens can be said, EOS among them: at most 252 candidates in the last step


@ALL
def test_width_one_is_greedy(family: str):
    model, given = model_of(family), sources(12)
    batch = Batch.of(given, [[] for _ in given])
    memory = model.encode(batch.source, batch.source_mask)
    found = greedy(model.step, memory, model.start(memory), torch.full((12,), 7))
    expected = [greedy_twin(model, source, 7) for source in given]
    assert [one.tokens for one in found] == expected
    assert [one.ended for one in found] == [len(tokens) < 7 for tokens in expected]
    assert said(run(model, given, SearchConfig(length_penalty="average"), 7)) == [[tokens] for tokens in expected]


@ALL
@PENALTIES
def test_full_width_is_brute_force(family: str, penalty: str):
    model = model_of(family)
    config = SearchConfig(beam=FULL, nbest=40, length_penalty=penalty, alpha=0.8)
    given = sources(2, seed=3)
    for source, result in zip(given, run(model, given, config, LIMIT), strict=True):
        expected = brute_force([model], source, WORDS, LIMIT, config)[:40]
        assert [one.tokens for one in result.hypotheses] == [one.tokens for one in expected]
        scores = torch.tensor([one.score for one in result.hypotheses])
        torch.testing.assert_close(scores, torch.tensor([one.score for one in expected]), atol=1e-6, rtol=0)
        assert [one.ended for one in result.hypotheses] == [one.ended for one in expected]


@ALL
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["f32", "f64"])
def test_scores_are_those_of_teacher_forcing(family: str, dtype: torch.dtype):
    model, given = model_of(family, words=14, dtype=dtype), sources(6)
    config = SearchConfig(beam=4, nbest=4, length_penalty="gnmt")
    for source, result in zip(given, run(model, given, config), strict=True):
        for one in result.hypotheses:
            expected = token_scores(forced(model, source, [one.tokens])[0], one.tokens, one.ended)
            assert one.token_scores == pytest.approx(expected, abs=1e-4)
            assert one.score == pytest.approx(normalised(sum(expected), len(expected), config), abs=1e-4)


@PENALTIES
@pytest.mark.parametrize(("beam", "nbest"), [pytest.param(2, 1, marks=pytest.mark.slow), (3, 3), (5, 2)])
def test_the_stop_rule_of_the_general_loop_changes_nothing(
    penalty: str, beam: int, nbest: int, monkeypatch: pytest.MonkeyPatch
):
    """The fast path has a test of its own."""
    config = SearchConfig(beam=beam, nbest=nbest, length_penalty=penalty, alpha=1.0, min_length=1)
    ends = [Cheap(12, sharpness, ending) for sharpness in (0.5, 3.0) for ending in (0.0, 2.0)]
    limits = torch.arange(40) % 12 + 1
    stopped = [cheap.run(keys(40), config, limits) for cheap in ends]
    monkeypatch.setattr(beams, "done", lambda ended, paths, limit, config: not paths)
    assert [cheap.run(keys(40), config, limits) for cheap in ends] == stopped


@PENALTIES
def test_the_stop_rule_stops(penalty: str):
    cheap, steps = Cheap(12, ending=6.0), []

    def counted(tokens, memory, state):
        steps.append(len(tokens))
        return cheap.step(tokens, memory, state)

    memory = torch.tensor(keys(20), dtype=torch.float64).unsqueeze(1)
    config = SearchConfig(beam=3, length_penalty=penalty, min_length=1)
    search(counted, memory, torch.zeros_like(memory), config, limits=torch.full((20,), 50))
    assert len(steps) < 50
    assert steps[0] == 60
    assert steps == sorted(steps, reverse=True)  # sentences leave the batch


def test_the_bound_waits_for_a_longer_sentence_that_is_better_on_average():
    """EOS at once has -0.9 on average; the sentence of four sure words begins with -1.2 and ends above that."""
    sure = torch.tensor([[-9.0, -9, 0.0, -9, -0.3, -9]])

    def step(tokens, memory, state):
        logits = sure.repeat(len(tokens), 1)
        logits[(tokens != BOS) & (state[:, 0] < 4)] = torch.tensor([-30.0, -30, -30, -30, 10, -30])
        logits[state[:, 0] >= 4] = torch.tensor([-30.0, -30, 10, -30, -30, -30])
        return logits, state + 1

    one = torch.zeros(1, 1)
    config = SearchConfig(beam=2, length_penalty="average")
    assert said(search(step, one, one, config, limits=torch.tensor([9]))) == [[[4, 4, 4, 4]]]
    assert said(search(step, one, one, SearchConfig(beam=2), limits=torch.tensor([9]))) == [[[]]]


@ALL
def test_nbest_is_sorted_and_unique(family: str):
    for groups, diversity in [(1, 0.0), (3, 0.5)]:
        config = SearchConfig(beam=6, nbest=6, groups=groups, diversity=diversity, length_penalty="gnmt")
        for result in run(model_of(family), sources(10), config):
            found = result.hypotheses
            assert found == sorted(found, key=lambda one: (not one.ended, -one.score))
            assert len({tuple(one.tokens) for one in found}) == len(found)
            assert len(found) == 6 or groups > 1
            assert result.record is None


def test_ties_go_to_the_lower_token():
    scores = torch.tensor([[0.0, 1.0, 1.0, 1.0, 1.0, 0.5], [1.0, 0.0, 0.0, 2.0, 0.0, 0.0]])
    scores = torch.cat([scores, torch.zeros(2, 200)], dim=1)
    assert best(scores, 2)[1].tolist() == [[1, 2], [3, 0]]
    assert best(scores, 4)[1].tolist() == [[1, 2, 3, 4], [3, 0, 1, 2]]
    assert best(scores, 999)[1].tolist() == [row.argsort(descending=True, stable=True).tolist() for row in scores]


def test_a_flat_model_says_the_lowest_words_first():
    flat = Cheap(40, sharpness=0.0, ending=-9.0)
    found = flat.run([0.1, 0.2], SearchConfig(beam=3, nbest=3), limit=2)
    assert said(found) == [[[3, 3], [3, 4], [3, 5]]] * 2


# ---------------------------------------------------------------------------------------------------------- ensembles


def start(models, source):
    batch = Batch.of([source], [[]])
    memory = tuple(model.encode(batch.source, batch.source_mask) for model in models)
    return memory, tuple(model.start(part) for model, part in zip(models, memory, strict=True))


@ALL
def test_an_ensemble_of_one_is_the_model(family: str):
    model, config = model_of(family), SearchConfig(beam=3, nbest=3)
    alone = run(model, sources(1), config)
    together = search(ensemble([model.step]), *start([model], sources(1)[0]), config, limits=torch.tensor([8]))
    assert said(together) == said(alone)
    pairs = zip(together[0].hypotheses, alone[0].hypotheses, strict=True)
    assert all(one.score == pytest.approx(other.score, abs=1e-9) for one, other in pairs)


@pytest.mark.parametrize("families", [("rnn", "transformer"), ("luong", "bytenet"), ("convs2s", "rnnsearch")])
def test_an_ensemble_of_two_families_is_brute_force_over_their_mean(families: tuple[str, str]):
    models = [model_of(family) for family in families]
    config = SearchConfig(beam=FULL, nbest=20, length_penalty="gnmt")
    source = sources(1, seed=5)[0]
    steps = ensemble([model.step for model in models])
    found = search(steps, *start(models, source), config, limits=torch.tensor([LIMIT]))[0].hypotheses
    expected = brute_force(models, source, WORDS, LIMIT, config)[:20]
    assert [one.tokens for one in found] == [one.tokens for one in expected]
    assert [one.score for one in found] == pytest.approx([one.score for one in expected], abs=1e-6)


def test_an_ensemble_of_different_vocabularies_is_refused():
    models = [model_of("rnn"), model_of("luong", words=14)]
    with pytest.raises(ShapeError, match=r"\[9, 14\] pieces"):
        search(ensemble([m.step for m in models]), *start(models, [4]), SearchConfig(), limits=torch.tensor([3]))
    with pytest.raises(ConfigError, match="at least one"):
        ensemble([])


# -------------------------------------------------------------------------------------------------------- diverse beam


def test_groups_differ_where_one_beam_would_not():
    cheap = Cheap(30)
    plain = cheap.run(keys(30), SearchConfig(beam=4, nbest=4), 6)
    diverse = cheap.run(keys(30), SearchConfig(beam=4, nbest=4, groups=4, diversity=50.0), 6)
    for result in diverse:
        firsts = [(one.tokens or [EOS])[0] for one in result.hypotheses]
        assert len(set(firsts)) == len(firsts) == 4

    def distinct(results):
        return sum(len({(one.tokens or [EOS])[0] for one in result.hypotheses}) for result in results)

    assert distinct(diverse) > distinct(plain)


def test_the_first_group_is_a_beam_of_its_own_width_and_scores_stay_the_models():
    cheap = Cheap(12)
    diverse = cheap.run(keys(20), SearchConfig(beam=6, nbest=6, groups=3, diversity=1.0))
    alone = cheap.run(keys(20), SearchConfig(beam=2, nbest=2))
    for many, few in zip(diverse, alone, strict=True):
        assert all(one in many.hypotheses for one in few.hypotheses)
        assert all(one.score == pytest.approx(sum(one.token_scores)) for one in many.hypotheses)


# -------------------------------------------------------------------------------------------------- streaming, record


@ALL
def test_streaming_tells_the_same_tokens(family: str):
    told: list[list[int]] = [[] for _ in range(9)]
    found = run(model_of(family), sources(9), SearchConfig(), on_token=lambda name, token: told[name].append(token))
    assert told == [tokens for [tokens] in said(found)]


def test_a_beam_cannot_be_streamed():
    with pytest.raises(ConfigError, match="set beam = 1"):
        Cheap(9).run([0.1], SearchConfig(beam=2), on_token=print)


@pytest.mark.parametrize("config", [SearchConfig(), SearchConfig(beam=4, nbest=3, length_penalty="gnmt")])
def test_the_record_tells_how_the_result_came_about(config: SearchConfig):
    cheap = Cheap(12)
    recorded, plain = cheap.run(keys(25), config, record=True), cheap.run(keys(25), config)
    assert [one.hypotheses for one in recorded] == [one.hypotheses for one in plain]
    for result in recorded:
        follow_record(result, config)


def follow_record(result, config):
    """Walks through the record as a reader would and finds the hypotheses again."""
    paths, complete = {0: ([], 0.0)}, []
    for step in range(max(one.step for one in result.record) + 1):
        now = [one for one in result.record if one.step == step]
        after = {}
        for one in now:
            tokens, total = paths[one.parent]
            assert one.total == pytest.approx(total + one.log_prob)
            assert one.token not in (PAD, BOS)
            assert (one.place is not None) == (one.fate == "kept")
            assert (one.fate == "blocked") == (one.rule is not None)
            if one.place is not None:
                after[one.place] = ([*tokens, one.token], one.total)
            if one.fate in ("ended", "cut"):
                complete.append((tokens if one.fate == "ended" else [*tokens, one.token], one.fate == "ended"))
        assert sorted(after) == list(range(len(after)))
        lowest = min((one.total for one in now if one.fate == "kept"), default=None)
        pruned = [one.total for one in now if one.fate == "pruned" and one.token != EOS]
        assert lowest is None or all(total <= lowest for total in pruned)
        paths = after
    assert not paths
    assert [(one.tokens, one.ended) in complete for one in result.hypotheses] == [True] * len(result.hypotheses)
    assert len(result.hypotheses) == min(config.nbest, len(complete))


def test_the_record_names_the_rule_that_blocked_a_candidate():
    config = SearchConfig(beam=3, min_length=2, no_repeat_ngram=1)
    results = Cheap(9, ending=2.0).run(
        keys(40), config, record=True, forbidden=[[[5]]] * 40, required=[[[7, 8]]] * 40, prefix=[[4]] * 40
    )
    blocked = [one for result in results for one in result.record if one.fate == "blocked"]
    assert {one.rule for one in blocked} == {"prefix", "required", "forbidden", "repeated", "too short"}
    for one in blocked:
        assert one.rule != "forbidden" or one.token == 5
        assert one.rule != "prefix" or one.step == 0
        assert one.rule != "too short" or (one.token == EOS and one.step < 2)
