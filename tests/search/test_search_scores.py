"""Length and coverage penalties, their bound, settings that do not fit, and the consensus of several translations."""

import pytest
import torch
from pydantic import ValidationError
from searching import Cheap, keys, model_of, normalised, said, sources
from torch import Tensor

from seq2see.data import Batch
from seq2see.errors import ConfigError, ShapeError
from seq2see.models import build
from seq2see.search import (
    Covered,
    SearchConfig,
    attainable,
    beams,
    coverage_penalty,
    covering,
    length_penalty,
    minimum_bayes_risk,
    search,
    seen,
)


def test_length_penalties():
    assert length_penalty(7, SearchConfig()) == 1
    assert length_penalty(7, SearchConfig(length_penalty="average")) == 7
    assert length_penalty(7, SearchConfig(length_penalty="gnmt", alpha=1.0)) == 2
    assert length_penalty(1, SearchConfig(length_penalty="gnmt", alpha=0.6)) == 1
    assert length_penalty(19, SearchConfig(length_penalty="gnmt", alpha=0.5)) == 2


@pytest.mark.parametrize("penalty", ["none", "gnmt", "average"])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.3])
def test_the_bound_is_reached_and_never_passed(penalty: str, alpha: float):
    config = SearchConfig(length_penalty=penalty, alpha=alpha)
    for total in (-0.1, -7.3):
        bound = attainable(total, 20, config)
        reached = [normalised(total - worse, length, config) for length in range(1, 21) for worse in (0.0, 0.5)]
        assert max(reached) == pytest.approx(bound)


def test_the_end_counts_as_a_token():
    [result] = Cheap(9).run(keys(1), SearchConfig(beam=3, nbest=3, length_penalty="average"))
    for one in result.hypotheses:
        assert one.score == pytest.approx(sum(one.token_scores) / (len(one.tokens) + one.ended))


# ----------------------------------------------------------------------------------------------------------- coverage


def test_coverage_costs_what_was_not_looked_at():
    covered = torch.tensor([[1.0, 1.0, 3.0], [0.5, 1.0, 1.0], [0.0, 1.0, 1.0]])
    full, half, none = coverage_penalty(covered)
    assert full == 0
    assert half == pytest.approx(torch.tensor(0.5).log().item())
    assert -100 < none < half


def attending(tokens: Tensor, memory: Tensor, state: Tensor, need_weights: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Says 5 or 6, or ends; looks at the first word for 5, at the second for 6, at nothing new at the end."""
    logits = torch.tensor([[-9.0, -9, 0.9, -9, -9, 1.0, 0.8]]).repeat(len(tokens), 1)
    looked = torch.zeros(len(tokens), 3)
    looked[tokens == 5, 0] = 1.0
    looked[tokens == 6, 1] = 1.0
    return logits, state, looked


def test_a_hypothesis_that_covers_the_source_wins():
    memory, mask = torch.zeros(1, 1), torch.tensor([[True, True, False]])
    start = Covered(torch.zeros(1, 1), (~mask).float())
    plain = SearchConfig(beam=4)
    given = covering(attending), memory, start
    assert said(search(*given, plain, limits=torch.tensor([5]), coverage_of=seen)) == [[[]]]
    weighed = SearchConfig(beam=16, coverage=1.0)
    [[found]] = said(search(*given, weighed, limits=torch.tensor([5]), coverage_of=seen))
    assert set(found) == {5, 6}


@pytest.mark.parametrize("family", ["rnnsearch", "luong"])
def test_coverage_of_a_family_that_remembers_its_weights(family: str, monkeypatch: pytest.MonkeyPatch):
    """Location-aware attention keeps the sum of its weights in the state; the penalty agrees with `look`."""
    torch.manual_seed(0)
    settings = {"hidden": 8, "embedding": 6, "encoder": {"embedding": 6, "hidden": 4}}
    attention = {"score": "location_aware"}
    model = build(family, "tiny", source_vocabulary=13, target_vocabulary=9, attention=attention, **settings).eval()
    given = sources(5)
    batch = Batch.of(given, [[]] * 5)
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        state = model.start(memory)

    def coverage_of(memory, state):
        return state.history[:, :, 1].mean(dim=1) + ~memory.mask.squeeze(1)

    config = SearchConfig(beam=3, nbest=3, coverage=0.7, length_penalty="gnmt")

    def found():
        return search(model.step, memory, state, config, limits=torch.full((5,), 6), coverage_of=coverage_of)

    results = found()
    for source, result in zip(given, results, strict=True):
        for one in result.hypotheses:
            with torch.no_grad():
                [look] = model.look(Batch.of([source], [one.tokens]))
            seen_words = look.weights[0, 0, : len(one.token_scores)].sum(dim=0)
            plain = normalised(sum(one.token_scores), len(one.token_scores), config)
            assert one.score == pytest.approx(plain + 0.7 * float(seen_words.clamp(max=1).log().sum()), abs=1e-4)
    monkeypatch.setattr(beams, "done", lambda ended, paths, limit, config: not paths)
    assert said(found()) == said(results)


def test_coverage_is_refused_where_no_attention_is_given():
    model = model_of("rnn")
    batch = Batch.of([[4, 5]], [[]])
    memory = model.encode(batch.source, batch.source_mask)
    with pytest.raises(ConfigError, match=r"coverage = 0\.2 needs the attention of every step"):
        search(model.step, memory, model.start(memory), SearchConfig(coverage=0.2), limits=torch.tensor([3]))


# ----------------------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sample": True, "beam": 3}, "beam = 3 must be 1"),
        ({"beam": 2, "nbest": 3}, "nbest = 3 hypotheses cannot come from beam = 2"),
        ({"beam": 4, "groups": 3, "diversity": 1.0}, "groups = 3 does not divide beam = 4"),
        ({"beam": 4, "groups": 2}, "diversity above 0"),
        ({"beam": 4, "diversity": 1.0}, "groups above 1"),
        ({"min_length": 5, "max_length": 4}, "min_length = 5 is above max_length = 4"),
        ({"top_k": 5}, "top_k is for sampling"),
        ({"top_p": 0.5}, "top_p is for sampling"),
        ({"temperature": 0.5}, "temperature is for sampling"),
        ({"beams": 5}, "Extra inputs"),
        ({"alpha": -1.0}, "greater than or equal to 0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict, message: str):
    with pytest.raises(ValidationError, match=message):
        SearchConfig(**settings)


def test_every_setting_is_described():
    assert all(field.description for field in SearchConfig.model_fields.values())


# ---------------------------------------------------------------------------------------------------------- consensus


def overlap(candidate: str, reference: str) -> float:
    first, second = set(candidate.split()), set(reference.split())
    return len(first & second) / max(1, len(first | second))


def test_the_consensus_is_chosen():
    texts = ["a dog ran home", "the cat sat", "the cat sat down", "the cat slept", "the cat sat"]
    ranked = minimum_bayes_risk(texts, overlap)
    assert [one.place for one in ranked][:2] == [1, 4]
    assert ranked[-1].place == 0
    slow = [sum(overlap(text, other) for other in texts) / len(texts) for text in texts]
    assert [one.utility for one in ranked] == pytest.approx(sorted(slow, reverse=True))


def test_weights_can_turn_the_consensus():
    texts = ["a b", "a c", "x y"]
    assert minimum_bayes_risk(texts, overlap)[0].place in (0, 1)
    assert minimum_bayes_risk(texts, overlap, [0.1, 0.1, 0.8])[0].place == 2
    assert minimum_bayes_risk([], overlap) == []
    with pytest.raises(ShapeError, match="3 texts but 1 weights"):
        minimum_bayes_risk(texts, overlap, [1.0])


def test_equal_texts_are_compared_once():
    calls = []
    minimum_bayes_risk(["a"] * 50 + ["b"], lambda one, other: calls.append(1) or float(one == other))
    assert len(calls) == 4
