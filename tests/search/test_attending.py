"""A step that tells what it looked at, for the coverage penalty, and weights that are normed once for many steps."""

from typing import Any

import pytest
import torch
from searching import SMALL, model_of, normalised, said, sources
from torch.nn import functional as F

from seq2see.data import Batch
from seq2see.errors import ConfigError
from seq2see.models import Model, build
from seq2see.search import Covered, Result, SearchConfig, beams, covering, search, seen

ATTENDING = {
    "rnnsearch": ("rnnsearch", {}),
    "rnnsearch-heads": ("rnnsearch", {"attention": {"heads": 2}}),
    "rnnsearch-location_aware": ("rnnsearch", {"attention": {"score": "location_aware"}}),
    "luong": ("luong", {}),
    "luong-local-p": ("luong", {"attention": {"scope": "local-p", "window": 2}}),
    "convs2s": ("convs2s", {}),
    "transformer": ("transformer", {}),
    "transformer-2": ("transformer", {"layers": 2, "positions": "rotary", "kv_heads": 1}),
}
EACH = pytest.mark.parametrize("variant", ATTENDING)


def attending_model(variant: str) -> Model[Any, Any]:
    family, changes = ATTENDING[variant]
    torch.manual_seed(3)
    model = build(family, "tiny", source_vocabulary=13, target_vocabulary=11, **(SMALL[family] | changes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.4)
    return model.double().eval()


@EACH
@torch.no_grad()
def test_it_is_the_step_and_looks_where_look_says(variant: str):
    model = attending_model(variant)
    batch = Batch.of(sources(5), [[4, 5, 6, 7]] * 5)
    looks = [look.weights for look in model.look(batch) if look.kind == "cross"]
    expected = torch.stack(looks).mean(dim=(0, 2))  # (B, T, S)
    memory = model.encode(batch.source, batch.source_mask)
    state = plain = model.start(memory)
    for place, tokens in enumerate(batch.target_in.unbind(dim=1)):
        logits, state, weights = model.step(tokens, memory, state, need_weights=True)
        same, plain = model.step(tokens, memory, plain)
        torch.testing.assert_close(logits, same, rtol=0, atol=1e-10)
        torch.testing.assert_close(weights, expected[:, place], rtol=0, atol=1e-10)


def found_by(model: Model[Any, Any], given: list[list[int]], config: SearchConfig) -> list[Result]:
    batch = Batch.of(given, [[]] * len(given))
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        start = Covered(model.start(memory), (~batch.source_mask.squeeze(1)).double())
    limits = torch.full((len(given),), 7)
    return search(covering(model.step), memory, start, config, limits=limits, coverage_of=seen)


@EACH
def test_the_penalty_is_that_of_the_attention(variant: str, monkeypatch: pytest.MonkeyPatch):
    """Each score once more from `look`; neither the rest of the batch nor the stop rule matters."""
    model, given = attending_model(variant), sources(6, seed=2)
    config = SearchConfig(beam=3, nbest=3, coverage=0.7, length_penalty="gnmt")
    results = found_by(model, given, config)
    for source, result in zip(given, results, strict=True):
        assert said(found_by(model, [source], config)) == [[one.tokens for one in result.hypotheses]]
        for one in result.hypotheses:
            with torch.no_grad():
                looks = [look for look in model.look(Batch.of([source], [one.tokens])) if look.kind == "cross"]
            mean = torch.stack([look.weights[0] for look in looks]).mean(dim=(0, 1))
            covered = mean[: len(one.token_scores)].sum(dim=0).clamp(min=1e-6, max=1).log().sum()
            bare = normalised(sum(one.token_scores), len(one.token_scores), config)
            assert one.score == pytest.approx(bare + 0.7 * float(covered), abs=1e-6)
    monkeypatch.setattr(beams, "done", lambda ended, paths, limit, config: not paths)
    assert said(found_by(model, given, config)) == said(results)


@pytest.mark.parametrize("family", ["rnn", "bytenet"])
def test_without_attention_it_is_refused(family: str):
    model = model_of(family)
    with pytest.raises(ConfigError, match=f"the family {family} has no attention.* set coverage = 0"):
        found_by(model, [[4, 5]], SearchConfig(beam=2, coverage=0.5))


# ------------------------------------------------------------------------------------------------ normed weights


def logits_of(model: Model[Any, Any]) -> torch.Tensor:
    batch = Batch.of([[4, 5, 6]], [[4, 5]])
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        return model.step(batch.target_in[:, 0], memory, model.start(memory))[0]


def fresh(model: Model[Any, Any]) -> Model[Any, Any]:
    """Another model with the same parameters, which has normed nothing yet."""
    other = build("convs2s", "tiny", source_vocabulary=13, target_vocabulary=9, **SMALL["convs2s"])
    other.load_state_dict(model.state_dict())
    return other.eval()


def normed_model() -> Model[Any, Any]:
    torch.manual_seed(0)
    return build("convs2s", "tiny", source_vocabulary=13, target_vocabulary=9, **SMALL["convs2s"]).eval()


def test_weights_are_normed_once_for_many_steps(monkeypatch: pytest.MonkeyPatch):
    model, normed = normed_model(), []
    monkeypatch.setattr(F, "normalize", lambda x, dim: normed.append(1) or x / x.norm(dim=dim, keepdim=True))
    first = logits_of(model)
    once = len(normed)
    assert once > 0
    assert torch.equal(logits_of(model), first)
    assert len(normed) == once


@pytest.mark.parametrize("how", ["optimiser", "in place", "loaded", "other dtype", "replaced"])
def test_weights_that_were_changed_are_normed_again(how: str):
    model = normed_model()
    before = logits_of(model)
    match how:
        case "optimiser":  # fused, as in training: torch does not count what it writes
            model.train()
            adam = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
            batch = Batch.of([[4, 5]], [[6]])
            F.cross_entropy(model(batch).logits.flatten(0, 1), batch.target_out.flatten()).backward()
            adam.step()
            model.eval()
        case "in place":
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.mul_(1.5)
        case "loaded":
            model.load_state_dict({name: value * 1.5 for name, value in model.state_dict().items()})
        case "other dtype":
            model.double()
        case "replaced":
            for module in model.modules():
                if hasattr(module, "direction"):
                    module.direction = torch.nn.Parameter(torch.randn_like(module.direction))
    after = logits_of(model)
    assert not torch.equal(after, before.to(after.dtype))
    expected = logits_of(fresh(model).to(after.dtype))
    torch.testing.assert_close(after, expected, rtol=0, atol=1e-6)


def test_gradients_reach_both_parts_after_decoding():
    model = normed_model()
    logits_of(model)
    model(Batch.of([[4, 5]], [[6]])).logits.sum().backward()
    layer = model.decoder.vocabulary
    assert layer.size.grad is not None
    assert layer.direction.grad is not None
