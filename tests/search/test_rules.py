"""What must and must not be said, in every kind of search; where it can be, against brute force."""

import pytest
import torch
from searching import Cheap, brute_force, holds, keys, model_of, run, said, sources

from seq2see.errors import ConfigError, ShapeError
from seq2see.models import FAMILIES
from seq2see.search import SearchConfig
from seq2see.search.beams import BeamGroup
from seq2see.search.candidates import Candidate, in_turn
from seq2see.search.hypothesis import Path
from seq2see.search.rules import begun, contains, make_rules, repeating

WORDS = 12
SEARCHES = {
    "greedy": {},
    "beam": {"beam": 4, "nbest": 4},
    "average": {"beam": 3, "nbest": 3, "length_penalty": "average"},
    "diverse": {"beam": 4, "nbest": 4, "groups": 2, "diversity": 0.5},
    "sample": {"sample": True, "nbest": 3},
}
EACH = pytest.mark.parametrize("settings", SEARCHES.values(), ids=SEARCHES)


def every(results):
    return [(place, one) for place, result in enumerate(results) for one in result.hypotheses]


@EACH
@pytest.mark.parametrize("limit", [7, pytest.param(8, marks=pytest.mark.slow), 15])
def test_required_phrases_are_said(settings: dict, limit: int):
    phrases = [[[5, 6]], [[4]], [[7, 8, 9], [10, 4, 7]], [[5, 5, 6], [6]], [[5, 6, 5, 7]], [], [[3, 3], [3, 4]]]
    required = [phrases[place % len(phrases)] for place in range(35)]
    found = Cheap(WORDS, ending=2.0).run(keys(35), SearchConfig(**settings), limit, required=required)
    for place, one in every(found):
        assert all(holds(one.tokens, phrase) for phrase in required[place]), (one.tokens, required[place])


@EACH
def test_forbidden_phrases_are_not_said(settings: dict):
    cheap, config = Cheap(WORDS), SearchConfig(**settings)
    free = [tokens for [tokens, *_] in said(cheap.run(keys(30), config, 10))]
    forbidden = [[[11], tokens[1:3] or [4], tokens[:1] or [5]] for tokens in free]
    for place, one in every(cheap.run(keys(30), config, 10, forbidden=forbidden)):
        assert not any(holds(one.tokens, phrase) for phrase in forbidden[place])


@EACH
def test_a_prefix_is_kept(settings: dict):
    prefix = [[], [4], [5, 5, 5], [7, 8, 9, 10]] * 8
    for place, one in every(Cheap(WORDS).run(keys(32), SearchConfig(**settings), 6, prefix=prefix)):
        assert one.tokens[: len(prefix[place])] == prefix[place]


@EACH
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_ngram_is_repeated(settings: dict, size: int):
    cheap = Cheap(6, ending=-2.0)
    config = SearchConfig(**settings)
    blocked = config.model_copy(update={"no_repeat_ngram": size})

    def repeats(tokens):
        grams = [tuple(tokens[start : start + size]) for start in range(len(tokens) - size + 1)]
        return len(grams) > len(set(grams))

    assert any(repeats(one.tokens) for _, one in every(cheap.run(keys(30), config, 12)))
    assert not any(repeats(one.tokens) for _, one in every(cheap.run(keys(30), blocked, 12)))


@EACH
def test_lengths_are_kept(settings: dict):
    config = SearchConfig(min_length=3, max_length=6, **settings)
    found = [one for _, one in every(Cheap(WORDS, ending=1.0).run(keys(40), config, 50))]
    lengths = {len(one.tokens) for one in found}
    assert min(lengths) == 3
    assert max(lengths) <= 6
    assert all(len(one.token_scores) <= 6 for one in found)


@EACH
def test_all_rules_at_once(settings: dict):
    config = SearchConfig(min_length=5, no_repeat_ngram=2, **settings)
    given = {"prefix": [[4, 5]] * 20, "required": [[[6, 7], [8]]] * 20, "forbidden": [[[9], [5, 6]]] * 20}
    for _, one in every(Cheap(WORDS).run(keys(20), config, 10, **given)):
        assert one.tokens[:2] == [4, 5]
        assert len(one.tokens) >= 5
        assert holds(one.tokens, [6, 7])
        assert holds(one.tokens, [8])
        assert not holds(one.tokens, [9])
        assert not holds(one.tokens, [5, 6])


@EACH
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_keeps_all_rules_in_every_output(family: str, settings: dict):
    config = SearchConfig(min_length=4, no_repeat_ngram=3, **settings)
    required = [[[6, 7]], [[8], [5, 5]], []] * 4
    forbidden = [[[9]], [[4, 4], [10, 8]], [[5], [6, 6]]] * 4
    prefix = [[], [4], [7, 8]] * 4
    given = {"required": required, "forbidden": forbidden, "prefix": prefix}
    found = every(run(model_of(family, WORDS), sources(12, seed=6), config, 9, **given))
    assert len(found) >= 12
    for place, one in found:
        assert 4 <= len(one.tokens) <= 9
        assert one.tokens[: len(prefix[place])] == prefix[place]
        assert all(holds(one.tokens, phrase) for phrase in required[place])
        assert not any(holds(one.tokens, phrase) for phrase in forbidden[place])
        grams = [tuple(one.tokens[start : start + 3]) for start in range(len(one.tokens) - 2)]
        assert len(grams) == len(set(grams)) or required[place]  # required phrases stand above repeated n-grams


@EACH
def test_required_phrases_find_their_way_around_forbidden_ones(settings: dict):
    """Greedy wanders until it has to; then [5, 6] bars the way from 5 to 6, and [10, 6, 7] that from 10."""
    given = {"required": [[[6, 7], [8]]] * 40, "forbidden": [[[5, 6], [10, 6, 7], [7, 8], [3, 8]]] * 40}
    for _, one in every(Cheap(WORDS).run(keys(40), SearchConfig(**settings), 7, **given)):
        assert all(holds(one.tokens, phrase) for phrase in ([6, 7], [8]))
        assert not any(holds(one.tokens, phrase) for phrase in given["forbidden"][0])


@pytest.mark.parametrize("family", FAMILIES)
def test_full_width_with_rules_is_brute_force(family: str):
    model, config = model_of(family), SearchConfig(beam=300, nbest=10, length_penalty="gnmt", min_length=1)
    [source] = sources(1, seed=8)
    given = {"required": [[[4]]], "forbidden": [[[5], [4, 6]]]}
    found = run(model, [source], config, 3, **given)[0].hypotheses

    def allowed(tokens: list[int], ended: bool) -> bool:
        return 4 in tokens and 5 not in tokens and not holds(tokens, [4, 6])

    expected = brute_force([model], source, 9, 3, config, allowed)
    # The search always leaves a step for the end, so that required phrases stand before the last step.
    expected = [one for one in expected if one.ended or 4 in one.tokens[:2]][:10]
    assert [one.tokens for one in found] == [one.tokens for one in expected]


def test_a_wider_beam_finds_a_better_place_for_a_phrase():
    cheap, required = Cheap(WORDS), [[[5, 6]]] * 20

    def mean(beam: int) -> float:
        found = cheap.run(keys(20), SearchConfig(beam=beam), 10, required=required)
        return sum(result.hypotheses[0].score for result in found) / 20

    assert mean(1) < mean(4) < mean(12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"required": [[[]]]}, "empty phrase"),
        ({"forbidden": [[[5, 2]]]}, "special id"),
        ({"prefix": [[1]]}, "special id"),
        ({"required": [[[5, 6, 7]]], "forbidden": [[[6, 7]]]}, r"\[5, 6, 7\] has to be said, but \[6, 7\] must not"),
        ({"prefix": [[5, 6]], "forbidden": [[[6]]]}, "must not"),
        ({"required": [[[5, 6, 7], [8]]]}, "limit of 4 steps, the end included, is too small for 4 tokens"),
        ({"prefix": [[5, 6, 7, 8]]}, "too small"),
        ({"prefix": [[99]]}, "id 99, but the target vocabulary has 12"),
        ({"forbidden": [[[token] for token in range(3, 12)]], "config": SearchConfig(min_length=1)}, "nothing can be"),
    ],
)
def test_what_cannot_be_met_is_refused(given: dict, message: str):
    given = dict(given)
    with pytest.raises(ConfigError, match=message):
        Cheap(WORDS).run([0.1], given.pop("config", SearchConfig()), 4, **given)


def test_inputs_for_another_number_of_sentences_are_refused():
    with pytest.raises(ShapeError, match="prefix has 2 entries for 1 sentences"):
        Cheap(WORDS).run([0.1], SearchConfig(), prefix=[[4], [5]])
    with pytest.raises(ConfigError, match="limit of 0"):
        Cheap(WORDS).run([0.1], SearchConfig(), torch.tensor([0]))
    with pytest.raises(ConfigError, match="min_length of 9"):
        Cheap(WORDS).run([0.1], SearchConfig(min_length=9), 4)


def test_a_model_that_gives_no_numbers_is_named():
    with pytest.raises(ConfigError, match="no finite number"):
        Cheap(WORDS, sharpness=float("nan")).run([0.1], SearchConfig())


def test_stages_of_the_required_phrases_take_turns():
    """The best one first whatever its stage; then the furthest stage, and so on round after round."""
    given = [Candidate(0, token, 0.0, -float(token)) for token in range(8)]
    stage = {0: 0, 1: 0, 2: 1, 3: 0, 4: 2, 5: 1, 6: 0, 7: 2}
    assert [one.token for one in in_turn(given, lambda one: stage[one.token])] == [0, 4, 2, 1, 7, 5, 3, 6]
    assert in_turn([], lambda one: 0) == []


def test_tokens_that_bring_a_phrase_nearer_come_into_question_however_unlikely():
    rules = make_rules(0, 12, 0, 0, [], [[7, 8]], [[9]])
    group = BeamGroup(
        rules, chance=lambda: 0.0, place=0, paths=[Path([4], [-1.0], -1.0, 0), Path([5, 7], [-2.0], -2.0, 1)]
    )
    log_probs = torch.full((2, WORDS), -9.0)
    log_probs[0, 7], log_probs[1, 8] = -30.0, -40.0
    likely = [Candidate(0, 4, -0.1, -1.1), Candidate(1, 5, -0.2, -2.2)]
    order = group.with_required(likely, log_probs)
    assert [(one.beam, one.token) for one in order] == [(0, 4), (1, 8), (0, 7), (1, 5)]
    assert order[1].rank == pytest.approx(-42.0)
    log_probs[0, 7] = float("-inf")  # a rule of another kind
    assert (0, 7) not in {(one.beam, one.token) for one in group.with_required(likely, log_probs)}


def test_the_small_rules():
    assert repeating([5, 6, 5], 2) == [6]
    assert repeating([5, 6, 5], 1) == [5, 6, 5]
    assert repeating([5, 6], 3) == []
    assert contains([4, 5, 6], (5, 6))
    assert not contains([4, 5, 7, 6], (5, 6))
    assert begun([4, 5, 5], (5, 5, 6)) == 2
    assert begun([4], (5, 5, 6)) == 0
    rules = make_rules(0, 20, 0, 0, [], [[5, 6], [6], [7, 8]], [])
    assert rules.required == ((5, 6), (7, 8))  # [6] is said with [5, 6]
    assert [rules.needed(said) for said in ([], [5], [5, 6], [5, 6, 7], [7, 8, 5, 6])] == [4, 3, 2, 1, 0]
    assert rules.advancing([5]) == {6}
    assert rules.advancing([]) == {5, 7}
