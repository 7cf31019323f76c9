"""Long texts are cut, and nothing of them is lost."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.session.cutting import cut

WORDS = st.text(alphabet="ab .!?。가나\t\n ", max_size=300)


def characters(texts: Sequence[str]) -> list[list[int]]:
    return [[ord(character) for character in text] for text in texts]


@given(text=WORDS, most=st.integers(1, 40))
def test_the_parts_are_the_text(text: str, most: int) -> None:
    (parts,) = cut([text], most, characters)
    assert "".join(part.before + part.text + part.after for part in parts) == text
    assert [part.ids for part in parts] == characters([part.text for part in parts])
    assert all(len(part.text) <= most and part.text == part.text.strip() for part in parts)


def test_a_short_text_is_one_part() -> None:
    assert [part.text for part in cut([" One. Two. "], 20, characters)[0]] == ["One. Two."]


def test_sentences_before_words_before_letters() -> None:
    assert [part.text for part in cut(["Aa bb. Cc dd! Ee."], 10, characters)[0]] == ["Aa bb.", "Cc dd! Ee."]
    assert [part.text for part in cut(["aaaa bbbb cccc"], 10, characters)[0]] == ["aaaa bbbb", "cccc"]
    assert [part.text for part in cut(["aaaaaaaa"], 5, characters)[0]] == ["aaaa", "aaaa"]


def test_full_width_signs_end_a_sentence() -> None:
    assert [part.text for part in cut(["가나다。라마바。"], 5, characters)[0]] == ["가나다。", "라마바。"]


@pytest.mark.parametrize(
    "text",
    ["a" * 1_000_000, pytest.param("a " * 500_000, marks=pytest.mark.slow), "a. " * 300_000, " " * 1_000_000],
)
def test_a_million_characters(text: str) -> None:
    """Measured in bounded pieces: no unit that is counted is longer than ten thousand characters."""
    longest = 0

    def tokenize(texts: Sequence[str]) -> list[list[int]]:
        nonlocal longest
        longest = max(longest, *map(len, texts))
        return characters(texts)

    (parts,) = cut([text], 255, tokenize)
    assert "".join(part.before + part.text + part.after for part in parts) == text
    assert longest <= 10_000


def test_texts_that_fit_are_tokenised_together_and_once() -> None:
    calls: list[list[str]] = []

    def tokenize(texts: Sequence[str]) -> list[list[int]]:
        calls.append(list(texts))
        return characters(texts)

    parts = cut([" one ", "two", ""], 5, tokenize)
    assert calls == [["one", "two", ""]]
    assert [[(part.before, part.text, part.after) for part in one] for one in parts] == [
        [(" ", "one", " ")],
        [("", "two", "")],
        [("", "", "")],
    ]


def test_white_space_around_a_text_does_not_make_it_long() -> None:
    (parts,) = cut(["   aa bb   "], 5, characters)
    assert [(part.before, part.text, part.after) for part in parts] == [("   ", "aa bb", "   ")]
