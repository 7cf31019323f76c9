"""Quality by length: buckets that hold every sentence once, scores of each as if it were a test set of its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from seq2see.errors import ConfigError, ShapeError
from seq2see.evaluate import Resampling, make_metric
from seq2see.evaluate.length import Bucket, make_buckets, measure_lengths, score_by_length

PLAN = Resampling(resamples=100)


def labels(lengths: list[int], edges: list[int] | None = None) -> list[str]:
    return [bucket.label for bucket in make_buckets(np.array(lengths, dtype=np.int64), edges)]


def test_buckets_read_well() -> None:
    assert labels([1, 7, 23]) == ["1-5", "6-10", "11-15", "16-20", "21-25"]
    assert labels([12, 13]) == ["11-15"]
    assert labels([0, 3]) == ["0-5"]
    assert labels([31, 400]) == ["31-40", "41-50", "51-75", "76-100", "101+"]
    assert labels([]) == []


def test_buckets_as_asked_for_are_all_there() -> None:
    assert labels([9], [8, 16, 24]) == ["1-8", "9-16", "17-24"]
    assert labels([9, 25], [8, 16, 24]) == ["1-8", "9-16", "17-24", "25+"]
    assert labels([2, 0], [1, 2]) == ["0-1", "2"]
    assert labels([5], [1]) == ["1", "2+"]


@given(st.lists(st.integers(0, 200), min_size=1), st.sets(st.integers(1, 150), min_size=1) | st.none())
def test_every_sentence_is_in_one_bucket(lengths: list[int], edges: set[int] | None) -> None:
    values = np.array(lengths, dtype=np.int64)
    inside = [bucket.holds(values) for bucket in make_buckets(values, None if edges is None else sorted(edges))]
    assert np.sum(inside, axis=0).tolist() == [1] * len(lengths)


@pytest.mark.parametrize("edges", [[], [0, 5], [5, 5], [10, 5]])
def test_edges_that_do_not_rise_are_refused(edges: list[int]) -> None:
    with pytest.raises(ConfigError, match="expected rising lengths such as 5,10,15,20"):
        make_buckets(np.array([3], dtype=np.int64), edges)


def test_a_bucket_scores_what_its_sentences_score_alone() -> None:
    references = [" ".join("abcdefghijkl"[: n % 12 + 1]) for n in range(60)]
    outputs = [text.replace("c", "x").replace("g", "y") if n % 3 else text for n, text in enumerate(references)]
    metric = make_metric("bleu", references)
    lengths = measure_lengths(references, "reference", [5, 8])
    rows = score_by_length(metric, metric.counts(outputs, references), lengths, PLAN)
    assert [row.sentences for row in rows] == [25, 15, 20]
    for row in rows:
        inside = [
            n for n, text in enumerate(references) if row.bucket.low <= len(text.split()) <= (row.bucket.high or 99)
        ]
        alone = BLEU(force=True).corpus_score([outputs[n] for n in inside], [[references[n] for n in inside]])
        assert row.score == pytest.approx(alone.score, abs=1e-9)
        assert row.interval is not None
        assert row.interval.low <= row.score <= row.interval.high


def test_empty_and_small_buckets_have_no_interval() -> None:
    references = ["one two three four five", " ".join("abcdefghijklmnop"), " ".join("qrstuvwxyzabcdef")]
    metric = make_metric("bleu", references)
    lengths = measure_lengths(references, "source", [5, 10, 20])
    rows = score_by_length(metric, metric.counts(references, references), lengths, PLAN)
    assert [(row.bucket, row.sentences) for row in rows] == [(Bucket(1, 5), 1), (Bucket(6, 10), 0), (Bucket(11, 20), 2)]
    assert rows[0].score == pytest.approx(100)
    assert rows[0].interval is None
    assert (rows[1].score, rows[1].interval) == (None, None)
    assert rows[2].interval == pytest.approx((100, 100))


def test_japanese_is_counted_in_characters_and_korean_in_words() -> None:
    japanese = measure_lengths(["猫が 好きです。", "はい"], "source")
    assert (japanese.unit, japanese.values.tolist()) == ("characters", [7, 2])
    assert japanese.title == "characters of the source"
    korean = measure_lengths(["나는 학교에 간다 .", ""], "reference")
    assert (korean.unit, korean.values.tolist()) == ("words", [4, 0])


def test_counts_of_other_sentences_are_refused() -> None:
    with pytest.raises(ShapeError, match="counts of 2 sentences but lengths of 1"):
        score_by_length(make_metric("exact", []), np.ones((2, 2)), measure_lengths(["a"], "source"), PLAN)
