"""The chunked loss is the plain one, and its gradients are the plain ones."""

import pytest
import torch
from torch.nn import functional as F

from seq2see.data.batch import Batch
from seq2see.models import Look, Output
from seq2see.models.base import Vocabulary
from seq2see.training import loss as losses
from seq2see.training.loss import alignment_loss, cross_entropy
from seq2see.training.translation import without_words
from seq2see.vocabulary import BOS, PAD, UNK


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("block", [1, 40, 1 << 22])
def test_equals_torch(smoothing: float, bias: bool, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "_LOGITS", block)
    torch.manual_seed(0)
    features = torch.randn(3, 4, 5, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(13, 5, dtype=torch.float64, requires_grad=True)
    offset = torch.randn(13, dtype=torch.float64, requires_grad=True) if bias else None
    targets = torch.randint(4, 13, (3, 4))
    mask = torch.rand(3, 4) < 0.7
    leaves = [leaf for leaf in (features, weight, offset) if leaf is not None]
    ours = cross_entropy(Output(features, Vocabulary(weight, offset)), targets, mask, smoothing)
    plain = F.cross_entropy(
        F.linear(features, weight, offset)[mask], targets[mask], label_smoothing=smoothing, reduction="sum"
    )
    assert float((ours - plain).detach()) == pytest.approx(0, abs=1e-10)
    for got, expected in zip(
        torch.autograd.grad(ours / 7, leaves), torch.autograd.grad(plain / 7, leaves), strict=True
    ):
        assert (got - expected).abs().max() < 1e-12


def test_no_gradient_wanted_keeps_none() -> None:
    with torch.no_grad():
        value = cross_entropy(
            Output(torch.randn(1, 2, 3), Vocabulary(torch.randn(6, 3), None)),
            torch.tensor([[4, 5]]),
            torch.ones(1, 2, dtype=torch.bool),
            0.1,
        )
    assert not value.requires_grad


def test_alignment_loss_is_least_on_the_links() -> None:
    links = torch.zeros(1, 2, 3)
    links[0, 0, 2] = 1.0
    right = torch.tensor([[[[0.0, 0.0, 1.0], [0.3, 0.3, 0.4]]]])
    wrong = torch.tensor([[[[0.9, 0.05, 0.05], [0.3, 0.3, 0.4]]]])
    looks = [[Look("encoder", 0, wrong), Look("cross", 0, weights)] for weights in (right, wrong)]
    assert float(alignment_loss(looks[0], links)) == pytest.approx(0.0)
    assert float(alignment_loss(looks[1], links)) == pytest.approx(-float(torch.log(torch.tensor(0.05))))


def test_one_head_of_the_last_layer_is_guided() -> None:
    torch.manual_seed(0)
    layers = [torch.rand(2, 3, 4, 5).softmax(dim=-1).requires_grad_() for _ in range(2)]
    links = torch.zeros(2, 4, 5)
    links[:, 1, 2] = 1.0
    looks = [Look("cross", number, weights) for number, weights in enumerate(layers)]
    first, last = torch.autograd.grad(alignment_loss(looks, links), layers, allow_unused=True)
    assert first is None
    assert (last[:, 0, 1, 2] < 0).all()
    assert int(torch.count_nonzero(last)) == 2  # nothing else is told where to look: no other head, row or column


def test_some_words_are_hidden_from_the_decoder_and_nothing_else() -> None:
    torch.manual_seed(0)
    batch = Batch.of([[5, 6, 7]] * 300, [[5 + row % 9] * (1 + row % 12) for row in range(300)])
    hidden = without_words(batch, 0.3)
    known = batch.target_in > UNK
    assert 0.25 < float((hidden.target_in == UNK)[known].float().mean()) < 0.35
    assert bool((hidden.target_in[:, 0] == BOS).all())
    assert torch.equal(hidden.target_in == PAD, batch.target_in == PAD)
    kept = hidden.target_in != UNK
    assert torch.equal(hidden.target_in[kept], batch.target_in[kept])
    assert hidden.target_out is batch.target_out
    assert hidden.source is batch.source
