"""What a step would have said, had it looked at one place alone: the same as forcing that very row, in every family."""

from collections.abc import Iterator

import pytest
import torch
from small_models import ATTENTIVE, BATCH, PAIR, batch_of, model_of

from seq2see.look.posterior import likelihoods, posterior_looks
from seq2see.look.whatif import Force, what_if


@pytest.fixture(autouse=True, scope="module")
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


@pytest.mark.parametrize("variant", ATTENTIVE)
def test_likelihoods_are_those_of_forced_rows(variant: str) -> None:
    model, batch = model_of(variant), BATCH
    places = batch.source.size(1)
    for layer in sorted(look.layer for look in model.look(batch) if look.kind == "cross"):
        found = likelihoods(model, batch, layer)
        for step, place in ((0, 0), (1, places - 1), (2, 1)):
            row = tuple(float(other == place) for other in range(places))
            forced = what_if(model, [Force("cross", layer, None, step + 1, row)])
            told = torch.log_softmax(forced(batch).logits[0, step], dim=-1)[batch.target_out[0, step]]
            torch.testing.assert_close(found[0, step, place], told, rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", ATTENTIVE)
def test_the_posterior_is_attention_times_likelihood(variant: str) -> None:
    model, batch = model_of(variant), batch_of([PAIR, ([7, 8, 2], [6, 5]), ([9, 2], [4])])
    before = {look.layer: look for look in model.look(batch) if look.kind == "cross"}
    last = max(before)
    for look in posterior_looks(model, batch, (last,)):
        if look.kind != "cross" or look.layer != last:
            continue
        told = torch.exp(likelihoods(model, batch, last)).unsqueeze(1)
        product = before[last].weights * told
        seen = before[last].weights.sum(dim=-1) > 0
        expected = product / product.sum(dim=-1, keepdim=True)
        torch.testing.assert_close(look.weights[seen], expected[seen], rtol=0, atol=1e-9)
        assert float((look.weights.sum(dim=-1)[seen] - 1).abs().max()) < 1e-9
    for one, other in zip(posterior_looks(model, batch, ()), model.look(batch), strict=True):
        assert torch.equal(one.weights, other.weights)
