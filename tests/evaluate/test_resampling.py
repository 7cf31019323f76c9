"""Intervals and p-values: those of sacreBLEU where it has them, and sound where it has none."""

import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from seq2see.corpora import examples
from seq2see.errors import ConfigError, ShapeError
from seq2see.evaluate import Interval, Resampling, bootstrap_interval, make_metric, paired_tests, resampling
from seq2see.evaluate.metrics import Metric, Values, metric_name

REFERENCES = [example.target for example in examples("phrases", "test", limit=120)]
PLAN = Resampling(resamples=400, trials=600)


def noisy(share: float, seed: int) -> list[str]:
    draw = random.Random(seed)
    words = [word for text in REFERENCES for word in text.split()]
    return [
        " ".join(draw.choice(words) if draw.random() < share else word for word in text.split()) for text in REFERENCES
    ]


WORSE, BETTER = noisy(0.3, 1), noisy(0.26, 2)
JUDGES = {"bleu": lambda: BLEU(force=True), "chrf": CHRF, "ter": TER}


def counts(metric: Metric, outputs: list[str]) -> Values:
    return metric.counts(outputs, REFERENCES)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_the_interval_is_sacrebleus(name: str) -> None:
    metric = make_metric(metric_name(name), REFERENCES)
    interval = bootstrap_interval(metric, counts(metric, WORSE), PLAN)
    judged = JUDGES[name]().corpus_score(WORSE, [REFERENCES], n_bootstrap=PLAN.resamples)
    assert interval is not None
    assert interval.half == pytest.approx(judged._ci, abs=1e-4)
    assert interval.low < judged.score < interval.high


@pytest.mark.parametrize("name", ["bleu", "chrf"])
@pytest.mark.parametrize("kind", ["bs", "ar"])
def test_p_values_are_sacrebleus(name: str, kind: str) -> None:
    metric = make_metric(metric_name(name), REFERENCES)
    found = paired_tests(metric, counts(metric, WORSE), counts(metric, BETTER), PLAN)
    samples = PLAN.resamples if kind == "bs" else PLAN.trials
    test = PairedTest([("a", WORSE), ("b", BETTER)], {name: JUDGES[name]()}, [REFERENCES], kind, n_samples=samples)
    judged = next(value for key, value in test()[1].items() if key != "System")
    assert (found.p_bootstrap if kind == "bs" else found.p_randomisation) == judged[1].p_value
    assert found.difference == pytest.approx(judged[1].score - judged[0].score)
    assert 0.002 < judged[1].p_value < 0.9  # or equality would say little


def test_drawing_in_pieces_draws_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = make_metric("bleu", REFERENCES)
    a, b = counts(metric, WORSE), counts(metric, BETTER)
    whole = paired_tests(metric, a, b, PLAN)
    monkeypatch.setattr(resampling, "_CELLS", 32 * len(a) + 1)
    assert paired_tests(metric, a, b, PLAN) == whole
    monkeypatch.setattr(resampling, "_CELLS", 1)
    assert paired_tests(metric, a, b, PLAN) == whole


def test_a_seed_repeats_and_another_differs() -> None:
    metric = make_metric("chrf", REFERENCES)
    one = counts(metric, WORSE)
    assert bootstrap_interval(metric, one, PLAN) == bootstrap_interval(metric, one, PLAN)
    assert bootstrap_interval(metric, one, PLAN) != bootstrap_interval(metric, one, Resampling(resamples=400, seed=1))


def test_a_system_does_not_differ_from_itself() -> None:
    for name in ("bleu", "exact", "ter"):
        metric = make_metric(metric_name(name), REFERENCES)
        one = counts(metric, WORSE)
        found = paired_tests(metric, one, one, PLAN)
        assert found.difference == 0
        assert found.p_bootstrap == found.p_randomisation == 1.0
        assert found.interval == Interval(0, 0)
        assert found.b_wins == 0


def test_the_other_way_round_only_the_sign_changes() -> None:
    metric = make_metric("bleu", REFERENCES)
    a, b = counts(metric, WORSE), counts(metric, BETTER)
    there, back = paired_tests(metric, a, b, PLAN), paired_tests(metric, b, a, PLAN)
    assert there.difference == -(back.difference or 0)
    assert there.p_bootstrap == back.p_bootstrap
    assert there.p_randomisation == back.p_randomisation
    assert there.interval is not None
    assert back.interval == pytest.approx((-there.interval.high, -there.interval.low))
    assert (there.b_wins or 0) > 0.9
    assert (back.b_wins or 1) < 0.1


def test_lower_is_better_for_error_rates() -> None:
    metric = make_metric("wer", REFERENCES)
    found = paired_tests(metric, counts(metric, WORSE), counts(metric, BETTER), PLAN)
    assert (found.difference or 0) < 0
    assert (found.b_wins or 0) > 0.9


def test_one_sentence_has_no_interval_and_proves_nothing() -> None:
    metric = make_metric("chrf", ["the cat sat"])
    a, b = metric.counts(["a dog"], ["the cat sat"]), metric.counts(["the cat sat"], ["the cat sat"])
    assert bootstrap_interval(metric, a, PLAN) is None
    found = paired_tests(metric, a, b, PLAN)
    assert found.difference is not None
    assert (found.interval, found.p_bootstrap, found.b_wins) == (None, None, None)
    assert found.p_randomisation == 1.0


def test_what_has_no_score_has_no_difference() -> None:
    metric = make_metric("bleu", ["yes"])
    short = metric.counts(["yes", "no"], ["yes", "no"])
    assert paired_tests(metric, short, short, PLAN) == (None, None, None, None, None)
    assert bootstrap_interval(metric, short, PLAN) is None


def test_equally_good_systems_are_rarely_told_apart() -> None:
    """Two coins, 60 sentences: at most about one in twenty tests may say that they differ."""
    metric = make_metric("exact", [])
    draw = np.random.default_rng(0)
    plan = Resampling(resamples=40, trials=200)
    alarms = 0
    for _ in range(200):
        sides = [np.stack([draw.integers(2, size=60), np.ones(60)], axis=1).astype(np.float64) for _ in range(2)]
        alarms += (paired_tests(metric, *sides, plan).p_randomisation or 0) < 0.05
    assert alarms <= 18


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="5 resamples are too few"):
        Resampling(resamples=5)
    with pytest.raises(ConfigError, match="seed = -1"):
        Resampling(seed=-1)
    metric = make_metric("exact", [])
    with pytest.raises(ShapeError, match="score the same sentences"):
        paired_tests(metric, np.ones((2, 2)), np.ones((3, 2)), PLAN)
