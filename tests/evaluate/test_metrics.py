"""Metrics against sacreBLEU's public scores and against plain definitions."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from seq2see.errors import ConfigError, ShapeError
from seq2see.evaluate import METRICS, NAMES, exact_match, make_metric, score, sentence_chrf
from seq2see.evaluate.edits import edit_distance
from seq2see.evaluate.metrics import metric_name, tokenizer_for, tokenizer_name

WORDS = ["나는", "학교에", "간다", ".", "the", "cat", "sat", "on", "a", "mat,", "Ünïcode", "🙂", "12.5", "x-y"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
TEXTS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8)
JAPANESE = ["私は学校に行きます。", "猫が好きです。", "今日はとても天気がいい。"]
KOREAN = ["나는 학교에 간다 .", "오늘은 날씨가 좋다 .", "고양이를 좋아해요 ."]


def noisy(texts: list[str], share: float, seed: int = 0) -> list[str]:
    """The same texts with a share of their words replaced."""
    draw = random.Random(seed)
    words = [word for text in texts for word in text.split()]
    return [" ".join(draw.choice(words) if draw.random() < share else word for word in text.split()) for text in texts]


def plain_distance(one: list[str], other: list[str]) -> int:
    """Levenshtein's table, cell by cell."""
    row = list(range(len(other) + 1))
    for left, a in enumerate(one, start=1):
        above, row = row, [left]
        for right, b in enumerate(other, start=1):
            row.append(min(above[right] + 1, row[-1] + 1, above[right - 1] + (a != b)))
    return row[-1]


@given(st.lists(st.sampled_from("abc"), max_size=90), st.lists(st.sampled_from("abc"), max_size=90))
def test_edit_distance_is_levenshteins(one: list[str], other: list[str]) -> None:
    assert edit_distance(one, other) == plain_distance(one, other)


@given(TEXTS)
def test_scores_of_sums_are_sacrebleus_corpus_scores(pairs: list[tuple[str, str]]) -> None:
    outputs, references = [one for one, _ in pairs], [other for _, other in pairs]
    judges = {
        "bleu": BLEU(force=True, tokenize="13a"),
        "chrf": CHRF(),
        "ter": TER(),
    }
    for name, judge in judges.items():
        metric = make_metric(metric_name(name), references, "13a")
        totals = metric.counts(outputs, references).sum(axis=0)
        assert float(metric.scores(totals)) == pytest.approx(judge.corpus_score(outputs, [references]).score, abs=1e-9)


@pytest.mark.parametrize("tokenize", ["13a", "char", "intl", "zh", "none"])
def test_bleu_of_a_resample_is_sacrebleus_score_of_the_drawn_sentences(tokenize: str) -> None:
    references = [*KOREAN, "the cat sat on the mat .", "a dog, 3.5 kg", "short", ""]
    outputs = noisy(references, 0.3)
    metric = make_metric("bleu", references, tokenizer_name(tokenize))
    counts = metric.counts(outputs, references)
    draw = np.random.default_rng(5)
    for _ in range(20):
        rows = draw.integers(len(references), size=len(references))
        again = BLEU(force=True, tokenize=tokenize).corpus_score(
            [outputs[row] for row in rows], [[references[row] for row in rows]]
        )
        assert float(metric.scores(counts[rows].sum(axis=0))) == pytest.approx(again.score, abs=1e-9)


def test_scores_are_taken_of_many_sums_at_once() -> None:
    references = ["the cat sat on the mat", "나는 학교에 간다 지금 당장", "a b c d e"]
    outputs = ["the cat sat on a mat", "나는 집에 간다 지금 당장", ""]
    for name in NAMES:
        metric = make_metric(name, references)
        counts = metric.counts(outputs, references)
        together = metric.scores(np.stack([counts, counts[::-1]]))
        assert together.shape == (2, 3)
        assert together[0].tolist() == [float(metric.scores(row)) for row in counts]


def test_rows_of_chrf_are_sentence_chrf() -> None:
    outputs, references = ["the cat", "나는 간다", "", "x"], ["the cat sat", "나는 학교에 간다", "word", ""]
    metric = make_metric("chrf", references)
    rows = metric.scores(metric.counts(outputs, references)).tolist()
    assert rows == pytest.approx([sentence_chrf(*pair) for pair in zip(outputs, references, strict=True)])


@pytest.mark.parametrize(
    ("name", "output", "reference", "expected"),
    [
        ("wer", "the cat sat", "the cat sat down", 25.0),
        ("wer", "a b c d", "a", 300.0),
        ("wer", "  the   cat ", "the cat", 0.0),
        ("cer", "abd", "abc", 100 / 3),
        ("cer", "가 나", "가나", 50.0),  # the space counts
        ("cer", "가  나", "가 나", 0.0),  # but only once
        ("per", "k æ t", "k ʌ t s", 50.0),
        ("per", "tʃ i", "t ʃ i", 200 / 3),  # a phone is a token, however many letters it has
        ("wer", "something", "", 100.0),
        ("wer", "", "", 0.0),
        ("cer", "", "abc", 100.0),
        ("exact", "a b", "a b", 100.0),
        ("exact", "a b ", "a b", 0.0),
    ],
)
def test_error_rates_by_hand(name: str, output: str, reference: str, expected: float) -> None:
    metric = make_metric(metric_name(name), [reference])
    assert metric.score(metric.counts([output], [reference])) == pytest.approx(expected)


def test_error_rates_are_of_the_whole_and_not_means_of_sentences() -> None:
    references = ["a", "b c d e f g h i j"]
    metric = make_metric("wer", references)
    assert metric.score(metric.counts(["x", references[1]], references)) == pytest.approx(10.0)


def test_bleu_is_not_defined_where_no_reference_has_four_words() -> None:
    short = ["yes", "no thanks", "all right then"]
    metric = make_metric("bleu", short)
    assert metric.score(metric.counts(short, short)) is None
    long = [*short, "one two three four"]
    assert metric.score(metric.counts(long, long)) == pytest.approx(100)
    assert metric.score(metric.counts([""] * 4, long)) == 0.0  # empty outputs are simply bad


def test_languages_without_spaces_are_cut_into_characters() -> None:
    assert tokenizer_for(JAPANESE) == "char"
    assert tokenizer_for(["我喜欢猫。", "今天天气很好。"]) == "char"
    assert tokenizer_for(["ฉันชอบแมว", "วันนี้อากาศดี"]) == "char"
    assert tokenizer_for(KOREAN) == "13a"
    assert tokenizer_for(["the 猫 sat on the mat"]) == "13a"
    assert tokenizer_for(["", "12 34"]) == "13a"
    assert "tok:char" in make_metric("bleu", JAPANESE).signature()
    assert "tok:13a" in make_metric("bleu", JAPANESE, "13a").signature()
    assert "asian:yes" in make_metric("ter", JAPANESE).signature()
    assert "asian:no" in make_metric("ter", KOREAN).signature()


def test_signatures_say_how_to_get_the_number_again() -> None:
    metric = make_metric("bleu", KOREAN)
    judge = BLEU(force=True, tokenize="13a")
    judge.corpus_score(KOREAN, [KOREAN], n_bootstrap=1000)
    assert metric.signature(resamples=1000, seed=12345) == str(judge.get_signature())
    assert "ar:10000" in metric.signature(trials=10_000)
    for name in ("exact", "wer", "cer", "per"):
        assert make_metric(name, KOREAN).signature(1000, 7).startswith("nrefs:1|bs:1000|seed:7|case:mixed|unit:")


def test_names_that_are_not_known_are_refused_with_a_hint() -> None:
    with pytest.raises(ConfigError, match="did you mean 'bleu'"):
        metric_name("blue")
    with pytest.raises(ConfigError, match="did you mean 'ko-mecab'"):
        tokenizer_name("mecab-ko")
    with pytest.raises(ConfigError, match="flores200"):  # would fetch a model over the network
        tokenizer_name("flores200")
    with pytest.raises(ShapeError, match="2 outputs but 1 references"):
        make_metric("chrf", ["a"]).counts(["a", "b"], ["a"])


def test_a_tokenizer_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_ko_mecab.MeCab", None)
    with pytest.raises(ConfigError, match=r"pip install 'sacrebleu\[ko\]', or take char") as refused:
        make_metric("bleu", KOREAN, "ko-mecab")
    assert "\n" not in str(refused.value)


def test_counting_is_heard() -> None:
    heard: list[int] = []
    make_metric("exact", ["a"]).counts(["a"] * 120, ["a"] * 120, heard.append)
    assert sum(heard) == 120
    assert len(heard) > 1


def test_what_training_stops_by_stays_as_it_is() -> None:
    assert METRICS == ("bleu", "chrf", "exact")
    references = KOREAN * 3
    outputs = noisy(references, 0.2)
    assert score("bleu", outputs, references) == BLEU(force=True).corpus_score(outputs, [references]).score
    assert score("chrf", outputs, references) == CHRF().corpus_score(outputs, [references]).score
    assert score("exact", ["a", "b", "c", "d"], ["a", "b", "x", "y"]) == exact_match(["a", "b"], ["a", "y"]) == 50.0
