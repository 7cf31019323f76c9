"""What the rules for settings know of the pairs."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see import corpora
from seq2see.data.profile import Profile, longest_common_run, profile
from seq2see.formats import Pair


def made(pairs: Iterable[tuple[str, str]]) -> Profile:
    return profile(Pair(source, target, line) for line, (source, target) in enumerate(pairs, start=1))


def builtin(name: str, count: int) -> Profile:
    return made((example.source, example.target) for example in corpora.examples(name, "train", seed=0, limit=count))


@pytest.mark.parametrize(
    ("name", "source", "target"),
    [("phrases", "sentence", "sentence"), ("reverse", "closed", "closed"), ("sort", "closed", "closed")],
)
def test_built_in_corpora_are_what_they_are(name: str, source: str, target: str) -> None:
    seen = builtin(name, 800)
    assert (seen.source.kind, seen.target.kind) == (source, target)
    assert seen.spelled == (source != "sentence")


def test_words_and_their_phones_are_strings_and_a_closed_set() -> None:
    letters = "abcdefghijklmnop"
    words = [f"{a}{b}{c}" for a in letters for b in letters for c in letters[:4]]
    seen = made((word, " ".join(word)) for word in words)
    assert (seen.source.kind, seen.target.kind) == ("string", "closed")
    assert seen.source.once == 1.0
    assert seen.target.word_types == 16
    assert seen.pairs == len(words)


def test_tags_are_words_that_stand_in_many_lines() -> None:
    seen = made((f"stem{number} V;PST", f"stem{number}ed") for number in range(200))
    assert seen.source.tags == 0.5
    assert seen.copied > 0.6
    assert 0.5 < seen.common_characters < 0.8  # the target has no V;PST


def test_hangul_is_counted() -> None:
    seen = made([("나는 학생", "a student"), ("너는 학생", "a student")])
    assert (seen.source.syllables, seen.target.syllables) == (5, 0)
    assert seen.source.hangul == 0.8
    assert seen.common_characters == pytest.approx(1 / 9)  # the space


def test_sides_have_as_much_in_common_in_either_order() -> None:
    """Korean documents are full of English words; an English text has no Hangul."""
    pairs = [
        ("지난번에 만든 file 을 엽니다", "open the file"),
        ("지금 멈춘 server 를 다시 시작합니다", "start the server"),
    ]
    there, back = made(pairs), made([(target, source) for source, target in pairs])
    assert there.common_characters == back.common_characters < 0.6


def test_nothing_at_all_has_a_profile() -> None:
    seen = made([])
    assert seen.pairs == 0
    assert seen.source.word_types == 0


@given(st.text("abc ", max_size=12), st.text("abc ", max_size=12))
def test_the_longest_common_run_is_common_and_none_is_longer(source: str, target: str) -> None:
    start, other, length = longest_common_run(source, target)
    assert source[start : start + length] == target[other : other + length]
    longer = {source[place : place + length + 1] for place in range(len(source) - length)}
    assert not any(run in target for run in longer)


def test_short_lines_with_full_stops_are_sentences() -> None:
    pairs = [("Take care.", "주의하세요."), ("No way!", "절대 아니야."), ("Cool off!", "진정해!"), ("Go.", "가.")]
    seen = made(pairs * 50)
    assert (seen.source.kind, seen.target.kind) == ("sentence", "sentence")
    bare = made([(source[:-1], target[:-1]) for source, target in pairs] * 50)
    assert (bare.source.kind, bare.target.kind) == ("string", "string")
