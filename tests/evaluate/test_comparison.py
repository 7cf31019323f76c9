"""One system or two on a test set: everything that is told about them, also in odd cases."""

import io
import json
from dataclasses import FrozenInstanceError, replace

import pytest
from rich.console import Console, RenderableType

from seq2see.corpora import examples
from seq2see.errors import ConfigError, ShapeError
from seq2see.evaluate import (
    NAMES,
    EvaluationSettings,
    Resampling,
    compare_outputs,
    evaluate_outputs,
    references_of,
    sentence_chrf,
)
from seq2see.evaluate.evaluation import worst_by_length
from seq2see.report.tables import show_comparison, show_evaluation, verdict

PLAN = Resampling(resamples=200, trials=200)
TEST = references_of([(example.source, example.target) for example in examples("phrases", "test", limit=80)], "phrases")
FEW = references_of([(example.source, example.target) for example in examples("phrases", "test", limit=30)], "phrases")
GOOD = list(TEST.references)
BAD = [" ".join(reversed(text.split())) for text in GOOD]
MIXED = [good if len(good.split()) < 10 else bad for good, bad in zip(GOOD, BAD, strict=True)]
QUICK = EvaluationSettings(metrics=("bleu", "chrf", "exact"), plan=PLAN)


def printed(renderable: RenderableType, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, no_color=True)
    console.print(renderable, crop=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_an_evaluation_has_every_metric_with_interval_and_signature() -> None:
    found = evaluate_outputs(MIXED[:30], FEW, EvaluationSettings(metrics=NAMES, plan=PLAN), system="run")
    assert [score.metric for score in found.scores] == list(NAMES)
    for score in found.scores:
        assert score.value is not None
        assert score.interval is not None
        assert score.interval.low <= score.value <= score.interval.high
        assert "version:" in score.signature
    assert {score.metric for score in found.scores if not score.higher_is_better} == {"ter", "wer", "cer", "per"}
    assert sum(row.sentences for row in found.by_length.rows) == len(FEW)
    scores = [row.score for row in found.by_length.rows if row.score is not None]
    assert scores[0] == pytest.approx(100)
    assert scores[-1] < 60  # what the table is for
    told = printed(show_evaluation(found, lengths=True))
    assert all(score.signature in told for score in found.scores)
    assert "by length" in told
    assert "by length" not in printed(show_evaluation(found, lengths=False))
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["scores"][0]["metric"] == "bleu"


def test_length_can_be_of_the_reference() -> None:
    found = evaluate_outputs(GOOD, TEST, replace(QUICK, side="reference", edges=(8, 16)))
    expected = [sum(low <= len(text.split()) <= high for text in GOOD) for low, high in ((0, 8), (9, 16), (17, 999))]
    assert [row.sentences for row in found.by_length.rows] == expected
    assert found.by_length.title == "BLEU by length: words of the reference"


def test_a_comparison_sees_who_is_better_and_where() -> None:
    found = compare_outputs(BAD, MIXED, TEST, QUICK, systems=("bad", "mixed"))
    assert [contrast.winner for contrast in found.contrasts] == ["b", "b", "b"]
    short, *_, long = found.by_length.paired
    assert (short.difference or 0) > 20
    assert long.difference == 0
    assert long.p_randomisation == 1
    expected = sum(bad != mixed for bad, mixed in zip(BAD, MIXED, strict=True))
    assert found.tally == {"a": 0, "equal": len(TEST) - expected, "b": expected}
    back = compare_outputs(MIXED, BAD, TEST, QUICK)
    assert [contrast.winner for contrast in back.contrasts] == ["a", "a", "a"]
    assert back.wins("b", 5) == []


def test_for_error_rates_the_lower_one_wins() -> None:
    found = compare_outputs(BAD[:30], GOOD[:30], FEW, replace(QUICK, metrics=("wer", "ter")))
    assert [contrast.winner for contrast in found.contrasts] == ["b", "b"]
    assert all((contrast.paired.difference or 0) < 0 for contrast in found.contrasts)
    assert "WER: B is better (B is" in verdict(found.contrasts[0])
    assert "below A" in verdict(found.contrasts[0])


def test_equal_systems_have_no_winner() -> None:
    found = compare_outputs(MIXED, MIXED, TEST, QUICK)
    assert [contrast.winner for contrast in found.contrasts] == [None, None, None]
    assert verdict(found.contrasts[0]) == "BLEU: no difference that this test set can show"
    assert found.tally == {"a": 0, "equal": len(TEST), "b": 0}


def test_wins_come_with_the_largest_first() -> None:
    half = [good if place % 2 else bad for place, (good, bad) in enumerate(zip(GOOD, BAD, strict=True))]
    other = [bad if place % 2 else good for place, (good, bad) in enumerate(zip(GOOD, BAD, strict=True))]
    found = compare_outputs(half, other, TEST, QUICK)
    for which, sign in (("b", 1), ("a", -1)):
        best = found.wins(which, 4)  # type: ignore[arg-type]
        gains = [sign * sentence.gain for sentence in best]
        assert len(best) == 4
        assert gains == sorted(gains, reverse=True)
        assert gains[0] == max(sign * sentence.gain for sentence in found.sentences)
        assert gains[-1] > 0
    one = found.wins("b", 1)[0]
    assert one.chrf_b == pytest.approx(sentence_chrf(one.b, one.reference))
    place = int(one.place.split(":")[1]) - 1
    assert (one.source, one.reference) == (TEST.sources[place], TEST.references[place])


def test_a_comparison_is_frozen_and_holds_what_a_report_needs() -> None:
    found = compare_outputs(BAD, GOOD, TEST, QUICK, systems=("a/run", "b/run"))
    with pytest.raises(FrozenInstanceError):
        found.a = "other"  # type: ignore[misc]
    assert len(found.sentences) == len(TEST)
    told = json.loads(json.dumps(found.as_dict(2), allow_nan=False))
    assert {"a", "b", "test", "scores", "by_length", "ahead", "a_wins", "b_wins", "notes", "command"} <= set(told)
    assert len(told["b_wins"]) == 2
    bucket = told["by_length"]["buckets"][0]
    assert {"from", "to", "sentences", "a", "b", "difference", "p_bootstrap", "p_randomisation"} <= set(bucket)
    text = printed(show_comparison(replace(found, command="seq2see compare x"), examples=2))
    assert "where B wins most" in text
    assert "where A wins most" not in text
    assert "command seq2see compare x" in text
    assert all(contrast.signature in text for contrast in found.contrasts)
    tables = [line for line in text.splitlines() if "nrefs" not in line]
    assert max(map(len, tables)) <= 80


def test_chrf_is_counted_once_or_not_asked_for() -> None:
    heard: list[str] = []

    def counting(what: str):  # type: ignore[no-untyped-def]
        heard.append(what)
        return lambda more: None

    compare_outputs(BAD, GOOD, TEST, QUICK, counting=counting)
    assert heard.count("chrF2 of A") == 1
    found = compare_outputs(BAD, GOOD, TEST, replace(QUICK, metrics=("exact",)))
    assert found.wins("b", 1)[0].chrf_b == pytest.approx(100)


@pytest.mark.parametrize(
    ("pairs", "a", "b"),
    [
        ([("나는 간다", "I go")], ["I go"], [""]),
        ([("", "")], [""], [""]),
        ([("", ""), ("a b", "c d")], ["x", ""], ["", "c d"]),
        ([("한 마리 고양이", "one cat sits here"), ("b", "")], ["one cat sits here", ""], ["a", "b"]),
    ],
)
def test_small_and_empty_test_sets_work(pairs: list[tuple[str, str]], a: list[str], b: list[str]) -> None:
    test = references_of(pairs)
    settings = EvaluationSettings(metrics=NAMES, plan=PLAN)
    found = evaluate_outputs(a, test, settings)
    json.dumps(found.as_dict(), allow_nan=False)
    assert any("too few" in note for note in found.notes)
    printed(show_evaluation(found, lengths=True))
    both = compare_outputs(a, b, test, settings)
    json.dumps(both.as_dict(), allow_nan=False)
    printed(show_comparison(both, examples=3))
    assert all(contrast.winner is None for contrast in both.contrasts)


def test_what_a_reader_should_know_is_said() -> None:
    korean = references_of([("I go", "나는 학교에 간다 지금")] * 40)
    assert any("--tokenize char or ko-mecab" in note for note in evaluate_outputs(["가"] * 40, korean, QUICK).notes)
    asked = replace(QUICK, tokenize="char")
    assert evaluate_outputs(["가"] * 40, korean, asked).notes == ()
    japanese = references_of([("I go", "私は学校に行きます。")] * 40)
    assert any(
        "BLEU counts characters (tok:char)" in note for note in evaluate_outputs(["私"] * 40, japanese, QUICK).notes
    )
    empty = references_of([("a b c d", "e f g h"), ("x", "")] * 20)
    notes = evaluate_outputs(["e f g h", " "] * 20, empty, QUICK, system="run").notes
    assert "20 of 40 references are empty" in notes
    assert "20 of 40 outputs of run are empty" in notes
    short = references_of([("a", "yes")] * 40)
    assert any("BLEU is not defined" in note for note in evaluate_outputs(["yes"] * 40, short, QUICK).notes)


def test_wrong_numbers_of_outputs_are_refused() -> None:
    with pytest.raises(ShapeError, match="run: 1 outputs for 80 pairs"):
        evaluate_outputs(["a"], TEST, QUICK, system="run")
    with pytest.raises(ShapeError, match="B: 1 outputs for 80 pairs"):
        compare_outputs(GOOD, ["a"], TEST, QUICK)
    with pytest.raises(ConfigError, match="no pairs to score"):
        evaluate_outputs([], references_of([]), QUICK)
    with pytest.raises(ConfigError, match="name each once"):
        EvaluationSettings(metrics=("bleu", "bleu"))
    with pytest.raises(ConfigError, match="at least one"):
        EvaluationSettings(metrics=())


def test_each_side_of_a_comparison_is_its_own_evaluation() -> None:
    comparison = compare_outputs(MIXED, GOOD, TEST, QUICK, systems=("mixed", "good"))
    alone = evaluate_outputs(MIXED, TEST, QUICK, system="mixed")
    found = comparison.evaluation("a")
    assert (found.system, found.test, found.sentences) == ("mixed", "phrases", len(TEST))
    assert [score.value for score in found.scores] == [score.value for score in alone.scores]
    assert [row.score for row in found.by_length.rows] == [row.score for row in alone.by_length.rows]
    assert comparison.evaluation("b").system == "good"


def test_the_worst_sentences_of_each_length_come_first() -> None:
    found = evaluate_outputs(MIXED, TEST, QUICK)
    worst = worst_by_length(MIXED, TEST, found.by_length, most=3)
    assert [len(bucket) for bucket in worst] == [min(3, row.sentences) for row in found.by_length.rows]
    for bucket, row in zip(worst, found.by_length.rows, strict=True):
        assert [one["chrf"] for one in bucket] == sorted(one["chrf"] for one in bucket)
        for one in bucket:
            place = TEST.sources.index(one["source"])
            assert (one["reference"], one["output"]) == (TEST.references[place], MIXED[place])
            length = len(one["source"].split())
            assert row.bucket.low <= length
            assert row.bucket.high is None or length <= row.bucket.high
            assert one["chrf"] == sentence_chrf(one["output"], one["reference"])
