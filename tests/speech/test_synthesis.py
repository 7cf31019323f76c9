"""Voice and Speech: what a person touches."""

from pathlib import Path

import numpy as np
import pytest
import torch

from seq2see.errors import ConfigError, DataError, RunError
from seq2see.speech import audio
from seq2see.speech.corpus.letters import Letters, LettersConfig
from seq2see.speech.synthesis import Voice, letters_side


@pytest.fixture(scope="module")
def voice(voice_run: Path) -> Voice:
    return Voice.load(voice_run)


@pytest.fixture(scope="module")
def reference(corpus: Path) -> Path:
    return corpus.parent / "abba-400.wav"


def test_speech_holds_sound_alignment_and_style(voice: Voice, tmp_path: Path) -> None:
    speech = voice.speak("abba")
    steps = speech.alignment.weights.shape[2]
    assert speech.alignment.source.tokens == ("a", "b", "b", "a", "</s>")
    assert speech.mel.shape == (4 * steps, 80)
    assert len(speech.samples) == (4 * steps - 1) * 200
    np.testing.assert_allclose(speech.alignment.weights.sum(axis=-1), 1.0, atol=1e-5)
    assert speech.style is not None
    assert speech.style.weights.shape == (1, 2, 1, 5)
    np.testing.assert_allclose(speech.style.weights.sum(axis=-1), 1.0, atol=1e-5)
    speech.save(tmp_path / "abba.flac")
    assert abs(len(audio.read(tmp_path / "abba.flac", 16_000)) - len(speech.samples)) <= 1
    assert 'src="data:audio/wav;base64,UklGR' in speech._repr_html_()
    assert repr(speech).startswith("Speech('abba', ")


def test_no_style_is_the_mean_and_a_reference_is_its_own_weights(voice: Voice, reference: Path) -> None:
    assert voice.model.style is not None
    mean, own = voice.weights(), voice.weights(reference)
    assert mean is not None
    assert own is not None
    torch.testing.assert_close(mean, voice.model.style.mean)
    assert not torch.allclose(own, mean)
    again = voice.weights(voice.style(reference))
    assert again is not None
    torch.testing.assert_close(own, again)
    hand = voice.weights(reference, {2: 0.5})
    assert hand is not None
    assert hand[:, 2].tolist() == [0.5, 0.5]


def test_many_texts_are_said_as_each_by_itself(voice: Voice) -> None:
    texts = ["ab", "abba. ba", "bbabab"]
    for together, text in zip(voice.speak_all(texts), texts, strict=True):
        alone = voice.speak(text)
        np.testing.assert_allclose(together.mel, alone.mel, atol=1e-5)
        assert together.text == text


def test_a_long_text_is_said_sentence_by_sentence(voice: Voice) -> None:
    assert voice.parts("abba, ba! ab... Ba") == ["abba", "ba", "ab", "Ba"]
    speech = voice.speak("ab. ba")
    first, second = voice.speak("ab"), voice.speak("ba")
    pause = int(0.2 * 16_000)
    assert len(speech.samples) == len(first.samples) + pause + len(second.samples)
    np.testing.assert_allclose(speech.samples[len(first.samples) :][:pause], 0.0)
    steps = first.alignment.weights.shape[2]
    np.testing.assert_allclose(speech.alignment.weights[0, 0, :steps, :3], first.alignment.weights[0, 0], atol=1e-5)
    assert speech.alignment.weights[0, 0, :steps, 3:].max() == 0


def test_three_thousand_letters_without_a_mark_are_cut(voice: Voice) -> None:
    parts = voice.parts("ab" * 1500)
    assert "".join(parts) == "ab" * 1500
    assert max(map(len, parts)) <= 110


def test_a_sentence_too_long_is_cut_between_words(corpus: Path, voice_run: Path) -> None:
    voice = Voice.load(voice_run)
    voice.letters = Letters([" ", "a", "b"], LettersConfig(kind="characters"))
    parts = voice.parts(" ".join(["abab"] * 50))
    assert len(parts) == 3
    assert " ".join(parts) == " ".join(["abab"] * 50)


@pytest.mark.parametrize("text", ["", "  \n", "..."])
def test_nothing_to_say(voice: Voice, text: str) -> None:
    with pytest.raises(DataError, match="nothing to say"):
        voice.speak(text)


def test_letters_outside_the_alphabet_are_named(voice: Voice) -> None:
    with pytest.raises(DataError, match=r"'7' \(U\+0037\).*outside the voice's alphabet"):
        voice.speak("ab7")


def test_a_style_of_another_voice(voice: Voice, reference: Path) -> None:
    other = voice.style(reference).head(0)
    with pytest.raises(ConfigError, match="another voice"):
        voice.speak("ab", style=other)


def test_not_a_voice(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        Voice.load(tmp_path)


def test_the_letters_of_a_syllable_share_its_place() -> None:
    letters = Letters.fit(["한 a"], LettersConfig())
    side = letters_side(letters, letters.ids("한 a"))
    assert side.text == "한 a"
    assert side.spans == ((0, 1), (0, 1), (0, 1), (1, 2), (2, 3), (3, 3))
    assert side.words == (0, 0, 0, 1, 1, None)
