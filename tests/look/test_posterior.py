"""What a step would have said, had it looked at one place alone: the same as forcing that very row, in every family."""

from collections.abc import Iterator

import pytest
import torch
from small_models import ATTENTIVE, BATCH, PAIR, batch_of, model_of, tried

from seq2see.look.intervene.posterior import likelihoods, posterior_looks
from seq2see.look.intervene.whatif import Force, what_if


@pytest.fixture(autouse=True, scope="module")
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


@pytest.mark.parametrize("variant", tried(ATTENTIVE))
def test_likelihoods_are_those_of_forced_rows(variant: str) -> None:
    model, batch = model_of(variant), BATCH
    places = batch.source.size(1)
    found = likelihoods(model, batch)
    for step, place in ((0, 0), (1, places - 1), (2, 1), (4, 2)):
        row = tuple(float(other == place) for other in range(places))
        forced = what_if(model, [Force("cross", None, None, step + 1, row)])
        told = torch.log_softmax(forced(batch).logits[0, step], dim=-1)[batch.target_out[0, step]]
        torch.testing.assert_close(found[0, step, place], told, rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", tried(ATTENTIVE))
def test_the_posterior_is_attention_times_likelihood(variant: str) -> None:
    model, batch = model_of(variant), batch_of([PAIR, ([7, 8, 2], [6, 5]), ([9, 2], [4])])
    told = torch.exp(likelihoods(model, batch)).unsqueeze(1)
    for after, before in zip(posterior_looks(model, batch), model.look(batch), strict=True):
        if before.kind != "cross":
            assert torch.equal(after.weights, before.weights)
            continue
        product = before.weights * told
        seen = before.weights.sum(dim=-1) > 0
        expected = product / product.sum(dim=-1, keepdim=True)
        torch.testing.assert_close(after.weights[seen], expected[seen], rtol=0, atol=1e-9)
        assert float((after.weights.sum(dim=-1)[seen] - 1).abs().max()) < 1e-9


def test_a_model_without_attention_has_nothing_to_weigh() -> None:
    assert posterior_looks(model_of("rnn"), BATCH) == model_of("rnn").look(BATCH) == ()
