"""Placeholders in a translation that was made without them: where the model looked at the words they stood at."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.formats.documents.placeholders import faithful, placeholders
from seq2see.formats.documents.projection import Attended, projected, without_placeholders


def words_of(text: str) -> list[tuple[int, int]]:
    """The spans of words, as a vocabulary of words has them, and of the end mark."""
    spans, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        spans.append((at, at + len(word)))
        at += len(word)
    return [*spans, (len(text), len(text))]


def attended(source: str, translation: str, looked_at: list[int]) -> Attended:
    """Each word of the translation looks at one of the source, by its number, and a little at all others."""
    columns, rows = words_of(source), words_of(translation)
    weights = np.full((len(rows), len(columns)), 0.02)
    for row, column in enumerate(looked_at):
        weights[row, column] = 0.8
    return Attended(weights, rows, columns)


@pytest.mark.parametrize(
    ("source", "plain", "places"),
    [
        ("Press <1>the</1> key", "Press the key", (6, 9)),
        ("Press <1/> now", "Press now", (6,)),
        ("%s of %d", " of ", (0, 4)),
        ("<b>나는</b> 학생", "나는 학생", (0, 2)),
        ("no more", "no more", ()),
    ],
)
def test_a_text_without_its_placeholders_and_where_they_stood(source: str, plain: str, places: tuple[int, ...]) -> None:
    text, stood = without_placeholders(source)
    assert text.strip() == plain.strip()
    assert len(stood) == len(placeholders(source)) == len(places)
    assert all(text[place:].strip() == plain[at:].strip() for place, at in zip(stood, places, strict=True))


@pytest.mark.parametrize(
    ("source", "translation", "looked_at", "whole"),
    [
        # a pair moves with its words, wherever they go
        ("나는 <1>빵을</1> 먹는다 .", "I eat bread .", [0, 2, 1, 3], "I eat <1>bread</1> ."),
        ("<1>나는</1> 빵을 먹는다 .", "bread is eaten by me .", [1, 2, 2, 0, 0, 3], "bread is eaten <1>by me</1> ."),
        # what is inside stays inside
        ("<1>따뜻한 <2>빵을</2></1> 먹는다", "eat warm bread", [2, 0, 1], "eat <1>warm <2>bread</2></1>"),
        # one stray look does not stretch it over the sentence
        ("a <b>b</b> c d", "c b x a d b", [2, 1, 3, 0, 3, 1], "c <b>b</b> x a d b"),
        # marks stay outside, unless the source has one inside
        ("나는 <1>학생이다</1>", "I am a student .", [0, 1, 1, 1, 1], "I <1>am a student</1> ."),
        # one that stands alone goes before the word that translates the one behind it
        ("나는 %s 빵을 먹는다", "I eat bread", [0, 2, 1], "I eat %s bread"),
        ("나는 빵을 <br/> 먹는다", "I eat bread", [0, 2, 1], "I <br/> eat bread"),
        ("나는 빵을 먹는다 %s", "I eat bread", [0, 2, 1], "I eat %s bread"),  # at the end: behind the last word's
    ],
)
def test_placeholders_follow_the_words_they_stood_at(
    source: str, translation: str, looked_at: list[int], whole: str
) -> None:
    plain = without_placeholders(source)
    assert projected(source, plain, translation, attended(plain.text, translation, looked_at)) == whole


def test_without_attention_they_are_spread_over_the_words() -> None:
    source = "나는 <1>학생</1> 입니다"
    assert projected(source, without_placeholders(source), "I am a student", None) == "I am <1>a</1> student"


TEXTS = st.lists(
    st.sampled_from(["a", "가나", "<b>", "</b>", "<1/>", "%s", "{x}", " ", ".", "<i>", "</i>"]), max_size=14
)


@given(TEXTS.map("".join), st.lists(st.sampled_from(["x", "y", "z.", "다"]), max_size=6), st.integers(0, 2**32 - 1))
def test_whatever_it_looked_at_nothing_is_lost(source: str, said: list[str], seed: int) -> None:
    plain, translation = without_placeholders(source), " ".join(said)
    rows, columns = words_of(translation), words_of(plain.text)
    weights = np.random.default_rng(seed).random((len(rows), len(columns)))
    assert faithful(source, projected(source, plain, translation, Attended(weights, rows, columns)))
