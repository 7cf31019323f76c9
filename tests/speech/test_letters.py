"""Text to letters: alphabets, errors that name a letter, files."""

import json
from pathlib import Path
from unicodedata import normalize

import pytest
from needed import needs_espeak

from seq2see.errors import DataError, RunError
from seq2see.speech.corpus.letters import END, Letters, LettersConfig, spelled

TEXTS = ["The small birds", "작은 새가 노래해요"]
JAMO = Letters.fit(TEXTS, LettersConfig())


def test_ids_and_back() -> None:
    ids = JAMO.ids("the  새가")
    assert JAMO.symbols(ids) == ["t", "h", "e", " ", "ᄉ", "ᅢ", "ᄀ", "ᅡ", "</s>"]
    assert ids[-1] == END
    assert JAMO.show(ids) == "the 새가"
    assert JAMO.show([*ids, 0, 0]) == "the 새가"


def test_every_id_is_in_range_and_has_its_own_letter() -> None:
    ids = [id_ for text in TEXTS for id_ in JAMO.ids(text)]
    assert set(ids) == set(range(1, JAMO.size))


def test_decomposed_and_capital_spelling_is_the_same() -> None:
    assert JAMO.ids(normalize("NFD", "새가 THE")) == JAMO.ids("새가 the")


def test_jamo_say_syllables_never_seen_and_characters_do_not() -> None:
    assert JAMO.show(JAMO.ids("새는")) == "새는"
    characters = Letters.fit(TEXTS, LettersConfig(kind="characters"))
    with pytest.raises(DataError, match=r"'는' \(U\+B294\) is outside the voice's alphabet \(after '새'\)"):
        characters.ids("새는")


def test_unknown_letters_are_named_once_with_their_place() -> None:
    with pytest.raises(DataError) as caught:
        JAMO.ids("the 7 birds 7 & &")
    message = str(caught.value)
    assert message.startswith(
        "'7' (U+0037), '&' (U+0026) are outside the voice's alphabet (after 'the '); it reads: a b"
    )
    assert "\n" not in message


def test_many_unknown_letters_are_cut_short() -> None:
    with pytest.raises(DataError, match=r"and 3 more are outside .* \(at the beginning\)"):
        JAMO.ids("01234567")


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_to_say(text: str) -> None:
    with pytest.raises(DataError, match="nothing to say"):
        JAMO.ids(text)
    with pytest.raises(DataError, match="no letters to learn"):
        Letters.fit([text], LettersConfig())


def test_typographic_signs_are_read_like_plain_ones() -> None:
    assert spelled("Don’t – “go”…", LettersConfig()) == 'don\'t - "go".'


def test_saved_and_loaded(tmp_path: Path) -> None:
    JAMO.save(tmp_path / "letters.json")
    again = Letters.load(tmp_path / "letters.json")
    assert again.alphabet == JAMO.alphabet
    assert again.config == JAMO.config


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not an alphabet"),
        ("[]", "not an alphabet"),
        ('{"version": 1, "kind": "runes", "alphabet": []}', "not an alphabet"),
        (json.dumps({"version": 9, "kind": "jamo", "alphabet": ["a"]}), "version 9"),
        (json.dumps({"version": 1, "kind": "jamo", "alphabet": [1]}), "not a list of texts"),
    ],
)
def test_a_damaged_alphabet(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "letters.json"
    path.write_text(content)
    with pytest.raises(RunError, match=said):
        Letters.load(path)


def test_a_missing_alphabet(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such file"):
        Letters.load(tmp_path / "letters.json")


@needs_espeak
def test_phonemes() -> None:
    config = LettersConfig(kind="phonemes")
    assert spelled("the sea", config) == spelled("the see", config) != spelled("the sow", config)
    assert "(" not in spelled("작은 hello", config)
    letters = Letters.fit(["the sea is blue", "새가"], config)
    assert letters.show(letters.ids("blue sea")) == spelled("blue sea", config)
