"""Sources without a piece, and numbers near the end of float32: our own error or finite numbers, never NaN."""

from contextlib import suppress
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from seq2see.attention import Dot, MultiHead, Normaliser, ScoreName, mechanism, normalise
from seq2see.attention.normalise import NORMALISERS
from seq2see.attention.scopes import SCOPES
from seq2see.attention.scores import SCORES
from seq2see.data.batch import Batch
from seq2see.errors import ConfigError, NumericError, ShapeError
from seq2see.models import FAMILIES, Model, build
from seq2see.search import SearchConfig, search
from seq2see.search.steps import ensemble

HUGE = 1e30
ENCODERS: list[tuple[str, dict[str, Any]]] = [
    *((family, {}) for family in FAMILIES),
    *(
        (family, {"encoder": kind})
        for family in ("rnn", "luong", "transformer")
        for kind in ("convolutional", "recurrent")
    ),
    *(("luong", {"attention": {"score": score}}) for score in SCORES if score not in ("dot", "scaled_dot", "cosine")),
]


def make(family: str, settings: dict[str, Any]) -> Model[Any, Any]:
    torch.manual_seed(0)
    return build(family, "tiny", source_vocabulary=12, target_vocabulary=12, **settings).eval()


def empty(batch: int, length: int) -> tuple[Tensor, Tensor]:
    return torch.full((batch, length), 5), torch.ones(batch, 1, length, dtype=torch.bool)


@pytest.mark.parametrize(("family", "settings"), ENCODERS, ids=str)
def test_a_source_without_a_piece_is_our_own_error(family: str, settings: dict[str, Any]) -> None:
    model = make(family, settings)
    source, mask = empty(2, 0)
    with pytest.raises(ShapeError, match=r"source has shape \(2, 0\); it holds no piece"):
        model.encode(source, mask)
    target = torch.full((2, 3), 4)
    batch = Batch(source, mask, target, target, torch.ones(2, 3, dtype=torch.bool))
    for call in (model, model.look):
        with pytest.raises(ShapeError, match="it holds no piece"):
            call(batch)


@pytest.mark.parametrize(("family", "settings"), ENCODERS, ids=str)
def test_a_target_without_a_piece_is_our_own_error(family: str, settings: dict[str, Any]) -> None:
    source, mask = empty(2, 3)
    target = torch.full((2, 0), 4)
    with pytest.raises(ShapeError, match=r"target has shape \(2, 0\)"):
        make(family, settings)(Batch(source, mask, target, target, torch.ones(2, 0, dtype=torch.bool)))


@pytest.mark.parametrize(("family", "settings"), ENCODERS, ids=str)
def test_a_row_of_padding_alone_stays_finite(family: str, settings: dict[str, Any]) -> None:
    model = make(family, settings)
    source, mask = torch.tensor([[5, 6, 2], [0, 0, 0]]), torch.tensor([[[True] * 3], [[False] * 3]])
    with torch.no_grad():
        memory = model.encode(source, mask)
        logits, _ = model.step(torch.tensor([1, 1]), memory, model.start(memory))
    assert logits.isfinite().all()


# ----- scores

ROWS = [[HUGE, -HUGE, 0.0], [HUGE] * 3, [-HUGE, -HUGE, -2 * HUGE], [3e38, -3e38, 0.0], [HUGE, 5.0, -3e38]]
ALLOWED = [None, [True, True, False], [False, True, True], [False, False, False]]


@pytest.mark.parametrize("kind", NORMALISERS)
@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("allowed", ALLOWED, ids=str)
def test_huge_scores_become_weights(kind: Normaliser, row: list[float], allowed: list[bool] | None) -> None:
    scores = torch.tensor([row], requires_grad=True)
    weights = normalise(scores, None if allowed is None else torch.tensor(allowed), kind)
    total = 0.0 if allowed is not None and not any(allowed) else 1.0
    assert float(weights.detach().sum()) == pytest.approx(total, abs=1e-5)
    (weights * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("size", [HUGE, 1e38, float("nan")])
@pytest.mark.parametrize("score", SCORES)
def test_huge_queries_and_keys_stay_finite_or_raise(score: ScoreName, size: float) -> None:
    torch.manual_seed(0)
    query, keys, values = torch.randn(2, 3, 8) * size, torch.randn(2, 4, 8) * size, torch.randn(2, 4, 8)
    for scope, kind in product(SCOPES, NORMALISERS):
        alone = mechanism(score, 8, 8, scope=scope, normaliser=kind)
        several = MultiHead(8, 8, heads=2, score=score, scope=scope, normaliser=kind)
        for attention, training in product((alone, several), (True, False)):
            attention.train(training)
            for need_weights in (True,) if training else (True, False):  # while training the loss is looked at
                with suppress(NumericError):
                    context, weights = attention(query, keys, values, need_weights=need_weights)
                    assert context.isfinite().all()
                    assert weights is None or weights.isfinite().all()


def test_scores_that_overflow_say_so() -> None:
    with pytest.raises(NumericError, match=r"Dot: the scores are not finite; queries reach 1e\+30, keys 1e\+30"):
        Dot(2, 2)(torch.full((1, 1, 2), HUGE), torch.full((1, 3, 2), HUGE))


def test_a_finite_row_is_not_taken_for_an_overflow() -> None:
    context, _ = Dot(2, 2).eval()(torch.ones(1, 2, 2), torch.ones(1, 3, 2), torch.full((1, 3, 2), 3e38))
    assert context.isfinite().all()


# ----- search


CONFIGS = [
    SearchConfig(),
    SearchConfig(beam=3, nbest=2),
    SearchConfig(beam=2, no_repeat_ngram=2),
    SearchConfig(sample=True),
    SearchConfig(beam=4, groups=2, diversity=0.5),
]


def step_with(*rows: list[float]) -> Any:
    table = torch.tensor(rows)

    def step(tokens: Tensor, memory: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        return table[(tokens % len(table)).long()], state

    return step


def run_search(step: Any, config: SearchConfig) -> list[Any]:
    nothing = torch.zeros(1, 1)
    many = isinstance(step, tuple)
    return search(
        ensemble(step) if many else step,
        (nothing,) * len(step) if many else nothing,
        (nothing,) * len(step) if many else nothing,
        config,
        limits=torch.tensor([4]),
    )


@pytest.mark.parametrize("config", CONFIGS, ids=range(len(CONFIGS)))
def test_huge_logits_have_finite_scores(config: SearchConfig) -> None:
    step = step_with([0.0, 0.0, -HUGE, HUGE, HUGE, 3.0, -3e38], [0.0, 0.0, HUGE, 1.0, HUGE / 2, 3e38, 2.0])
    for steps in (step, (step, step)):
        for result in run_search(steps, config):
            for hypothesis in result.hypotheses:
                assert torch.tensor(hypothesis.score).isfinite()


@pytest.mark.parametrize("config", CONFIGS, ids=range(len(CONFIGS)))
@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_logits_that_are_no_numbers_raise(config: SearchConfig, value: float) -> None:
    step = step_with([0.0, 0.0, 1.0, 2.0, value, 3.0, 4.0])
    for steps in (step, (step, step)):
        with pytest.raises(ConfigError, match="no finite number"):
            run_search(steps, config)
