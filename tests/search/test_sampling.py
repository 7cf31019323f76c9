"""Sampling: by the right probabilities, the same for the same seed, from the tokens that top_k and top_p leave."""

from collections import Counter

import pytest
import torch
from searching import Cheap, keys, model_of, run, said, sources

from seq2see.models import FAMILIES
from seq2see.search import SearchConfig
from seq2see.search.candidates import drawable
from seq2see.vocabulary import BOS, PAD


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_repeats_and_another_one_differs(family: str):
    model, given = model_of(family, words=14), sources(10)
    first, again, other = (said(run(model, given, SearchConfig(sample=True, nbest=3, seed=seed))) for seed in (1, 1, 2))
    assert first == again != other


def test_samples_of_one_sentence_differ_and_more_of_them_begin_alike():
    few = said(Cheap(30).run(keys(5), SearchConfig(sample=True, nbest=4)))
    many = said(Cheap(30).run(keys(5), SearchConfig(sample=True, nbest=16)))
    assert [found[:4] for found in many] == few
    assert all(len({tuple(tokens) for tokens in found}) > 8 for found in many)


def test_sentences_have_their_own_seeds_if_given():
    config = SearchConfig(sample=True)
    same = said(Cheap(30).run([0.3] * 40, config))
    assert len({str(found) for found in same}) == 1
    seeded = said(Cheap(30).run([0.3] * 40, config, seeds=range(40)))
    assert len({str(found) for found in seeded}) > 20
    turned = said(Cheap(30).run([0.3] * 40, config, seeds=range(39, -1, -1)))
    assert turned == seeded[::-1]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_by_their_probability(temperature: float):
    logits = torch.tensor([0.0, 0.0, 1.0, -1.0, 0.5, 2.0])

    def step(tokens, memory, state):
        return logits.repeat(len(tokens), 1), state

    # A cut-off sentence of one token, or the end.
    cheap = type("Fixed", (Cheap,), {"step": staticmethod(step)})(6)
    count = 4000
    config = SearchConfig(sample=True, temperature=temperature)
    found = cheap.run([0.0] * count, config, limit=1, seeds=range(count))
    counts = Counter((tokens or [2])[0] for [tokens] in said(found))
    scaled = logits / temperature
    scaled[[PAD, BOS]] = float("-inf")
    for token, share in enumerate(torch.softmax(scaled, dim=0).tolist()):
        assert counts[token] / count == pytest.approx(share, abs=4 * (0.25 / count) ** 0.5)
    own = torch.log_softmax(logits, dim=0)  # the score stays the model's
    assert all(one.token_scores[0] == pytest.approx(float(own[(one.tokens or [2])[0]])) for one in first_of(found))


def first_of(results):
    return [result.hypotheses[0] for result in results]


def test_top_k_and_top_p_leave_the_likeliest():
    log_probs = torch.tensor([[0.4, 0.1, 0.25, 0.05, 0.2], [0.2, 0.2, 0.2, 0.2, 0.2]]).log()

    def left(**settings) -> list[list[int]]:
        chances = drawable(log_probs, SearchConfig(sample=True, **settings))
        return [row.nonzero().flatten().tolist() for row in chances]

    assert left() == [[0, 1, 2, 3, 4]] * 2
    assert left(top_k=1) == [[0], [0]]
    assert left(top_k=3) == [[0, 2, 4], [0, 1, 2]]
    assert left(top_k=99) == [[0, 1, 2, 3, 4]] * 2
    assert left(top_p=0.39) == [[0], [0, 1]]
    assert left(top_p=0.41) == [[0, 2], [0, 1, 2]]
    assert left(top_p=0.84) == [[0, 2, 4], [0, 1, 2, 3, 4]]
    assert left(top_p=0.3, top_k=2) == [[0], [0]]
    assert left(temperature=0.1, top_p=0.9) == [[0], [0, 1, 2, 3, 4]]


@pytest.mark.parametrize("family", FAMILIES)
def test_top_k_of_one_is_greedy(family: str):
    model, given = model_of(family), sources(8)
    assert said(run(model, given, SearchConfig(sample=True, top_k=1))) == said(run(model, given, SearchConfig()))


def test_one_sample_can_be_streamed():
    told: list[int] = []
    found = Cheap(9).run([0.4], SearchConfig(sample=True, seed=3), on_token=lambda _, token: told.append(token))
    assert [[told]] == said(found)
