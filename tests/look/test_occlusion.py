"""Saliency by occlusion: each word left out in turn, against scores that are known."""

from seq2see.look.intervene.occlusion import occlude

WORTH = {"나는": 3.0, "정말": 0.5, "학생입니다": 2.0}


def token_scores(source: str) -> list[float]:
    """Each word present makes the first piece likelier by its worth; the end does not care."""
    return [-10.0 + sum(WORTH[word] for word in source.split()), -1.0]


def test_each_word_is_worth_what_is_lost_without_it() -> None:
    done: list[int] = []
    occlusion = occlude(token_scores, "나는  정말 학생입니다", ("student", "</s>"), done.append)
    assert occlusion.words == ("나는", "정말", "학생입니다")
    assert occlusion.pieces == ("student", "</s>")
    assert occlusion.loss == [[3.0, 0.0], [0.5, 0.0], [2.0, 0.0]]
    assert occlusion.totals() == [3.0, 0.5, 2.0]
    assert done == [1, 1, 1]


def test_a_repeated_word_is_left_out_once() -> None:
    occlusion = occlude(token_scores, "나는 나는", ("I", "</s>"))
    assert occlusion.totals() == [3.0, 3.0]
