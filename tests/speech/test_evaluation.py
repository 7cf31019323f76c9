"""Recognisers, and the report of a voice beside its teacher."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from needed import needs_espeak, needs_pocketsphinx, needs_pyworld
from numpy.typing import NDArray

from seq2see.errors import DataError, ShapeError
from seq2see.speech import audio
from seq2see.speech.audio import AudioConfig
from seq2see.speech.corpus import espeak, sentences
from seq2see.speech.corpus.sources import Utterance, read_corpus, references
from seq2see.speech.evaluate.evaluation import SynthesizedSpeech, UtteranceMeasures, VoiceReport, figures, listen
from seq2see.speech.evaluate.measures import Reading
from seq2see.speech.evaluate.recognise import TextRecogniser, WordRecogniser, understood

CONFIG = AudioConfig()
PLAIN = espeak.Manner("en", "plain", 75, 175)


class TestUnderstood:
    @pytest.mark.parametrize(
        ("said", "heard", "right"),
        [
            ("a b c", "a b c", 3),
            ("a b c", "a x c", 2),
            ("a b c", "a c", 2),
            ("a b c", "a b c d", 2),
            ("a b c", "", 0),
            ("a", "x y z", 0),
            ("a b c", "c b a", 1),
        ],
    )
    def test_words(self, said: str, heard: str, right: int) -> None:
        assert understood(said.split(), heard.split()) == right


def _tones(pitches: list[int]) -> audio.Samples:
    """A tenth of a second each."""
    time = np.arange(1600) / 16_000
    return np.concatenate([0.3 * np.sin(2 * np.pi * pitch * time) for pitch in pitches]).astype(np.float32)


@needs_espeak
@needs_pocketsphinx
class TestWords:
    def test_the_teacher_is_understood_and_a_hum_is_not(self) -> None:
        ears = WordRecogniser(sentences.words("en", "short"))
        assert ears.unknown == []
        texts = ["your students travel", "hungry children laugh", "doctors sing together", "some happy horses"]
        right = sum(understood(text.split(), ears.hear(espeak.say(text, PLAIN, 16_000), 16_000)) for text in texts)
        assert right >= 9  # of 12
        hum = (0.3 * np.sin(np.arange(16_000) / 20)).astype(np.float32)
        assert understood(["your", "students", "travel"], ears.hear(hum, 16_000)) == 0

    def test_another_rate_is_understood_alike(self) -> None:
        ears = WordRecogniser(["one two three four five six seven"])
        assert ears.hear(espeak.say("three seven four", PLAIN, 22_050), 22_050) == ["three", "seven", "four"]

    def test_a_sound_is_heard_alike_whatever_came_before(self) -> None:
        """Tones on the verge of being a word, which a recogniser takes for another one the second time."""
        words = ["ab ba abba baab"]
        for word in ("ab", "baab", "aab"):
            sound = _tones([300 if letter == "a" else 600 for letter in word])
            ears, fresh = WordRecogniser(words), WordRecogniser(words)
            first = fresh.hear(sound, 16_000)
            ears.hear(_tones([400, 400, 200]), 16_000)
            assert ears.hear(sound, 16_000) == ears.hear(sound, 16_000) == first

    def test_silence_says_nothing(self) -> None:
        assert WordRecogniser(["seven", "three"]).hear(np.zeros(8000, np.float32), 16_000) in ([], ["three"])

    def test_words_outside_the_dictionary(self) -> None:
        assert WordRecogniser(["seven", "xqzzy"]).unknown == ["xqzzy"]
        with pytest.raises(DataError, match="none of the corpus' words"):
            WordRecogniser(["xqzzy"])


@needs_espeak
class TestTexts:
    TEXTS = ("작은 새가 자요", "우리 누나가 웃어요", "말이 천천히 떠나요", "그 학생이 기다려요")

    def test_the_right_text_in_another_style(self) -> None:
        def say(text: str, voice: espeak.Voice, pitch: int, speed: int) -> audio.Samples:
            return espeak.say(text, espeak.Manner("ko", voice, pitch, speed), 16_000)

        ears = TextRecogniser({text: say(text, "plain", 75, 175) for text in self.TEXTS}, 16_000)
        assert [ears.hear(say(text, "f2", 99, 240)) for text in self.TEXTS] == list(self.TEXTS)

    def test_two_texts_at_least(self) -> None:
        with pytest.raises(DataError, match="at least two"):
            TextRecogniser({"a": np.zeros(2000, np.float32)}, 16_000)


def heard(text: str = "a b", **changes: object) -> UtteranceMeasures:
    fields = {"name": "x", "text": text, "labels": {"voice": "plain"}, "duration": 1.0, "pitch": 150.0}
    return UtteranceMeasures(**{**fields, "teacher_pitch": 150.0, "distortion": 1.0, **changes})  # type: ignore[arg-type]


class TestFigures:
    def test_pitch_counts_voiced_utterances_from_100_hz(self) -> None:
        whisper = {"labels": {"voice": "whisper"}, "pitch": None}
        found = figures(
            [
                heard(pitch=152.0),
                heard(pitch=210.0, teacher_pitch=200.0),
                heard(pitch=None),  # lost its voice: not within
                heard(pitch=300.0, teacher_pitch=150.0),  # an octave off
                heard(pitch=40.0, teacher_pitch=90.0),
                heard(**whisper),
            ]
        )
        assert found.pitch_within_200_cents == 0.5
        assert found.pitch_error_cents == pytest.approx(84.5, abs=1)

    def test_shares(self) -> None:
        clean, torn = Reading(0.8, 1.0, 2, 0), Reading(0.6, 0.9, 9, 0)
        found = figures(
            [
                heard(words=2, understood=2, duration=1.14, reading=clean, stopped=True, recognised=None),
                heard(words=6, understood=4, duration=1.16, reading=torn, stopped=False, recognised=True),
            ]
        )
        assert found.words_understood == 0.75
        assert found.duration_within_15_percent == 0.5
        assert (found.stopped, found.no_repeat_or_skip, found.texts_recognised) == (0.5, 0.5, 1.0)
        assert found.focus == pytest.approx(0.7)

    def test_nothing_known(self) -> None:
        found = figures([heard(pitch=None, teacher_pitch=None, distortion=None)])
        assert set(found[1:]) == {None}

    def test_groups(self) -> None:
        ones = (heard(), heard("a b c d"), heard(labels={"voice": "whisper"}))
        assert VoiceReport(ones, ones, ones).groups() == {
            "up to 3 words": [0],
            "more than 3 words": [1],
            "whispered": [2],
            "all": [0, 1, 2],
        }


def diagonal(steps: int, letters: int) -> NDArray[np.float32]:
    weights = np.zeros((steps, letters), np.float32)
    weights[np.arange(steps), np.arange(steps) * letters // steps] = 1
    return weights


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Utterance], list[Utterance]]:
    _, test = read_corpus("builtin:espeak,count=20", cache=tmp_path_factory.mktemp("cache"))
    return test, references(test)


@needs_espeak
@needs_pocketsphinx
@needs_pyworld
class TestListening:
    def test_a_parrot_is_as_good_as_the_round_trip(self, corpus: tuple[list[Utterance], list[Utterance]]) -> None:
        # English, Korean and Korean: two texts to tell apart. Short ones, since pocketsphinx takes its time.
        test, styles = ([side[place] for place in (0, 1, 5)] for side in corpus)
        asked: list[tuple[str, Path]] = []
        sounds = {one.text: audio.trimmed(audio.read(one.audio, CONFIG.rate), CONFIG.rate) for one in test}

        def parrot(text: str, reference: Path) -> SynthesizedSpeech:
            asked.append((text, reference))
            mel = audio.log_mel(torch.from_numpy(sounds[text]), CONFIG)
            return SynthesizedSpeech(audio.griffin_lim(mel, CONFIG), CONFIG.rate, diagonal(60, 20), True)

        report = listen(test, styles, parrot, CONFIG)
        assert asked == [(one.text, style.audio) for one, style in zip(test, styles, strict=True)]
        found = report.as_dict()["figures"]["all"]
        shared = {"stopped", "focus", "monotonicity", "no_repeat_or_skip"}
        assert {key: value for key, value in found["voice"].items() if key not in shared} == {
            key: value for key, value in found["round trip"].items() if key not in shared
        }
        assert found["voice"]["stopped"] == found["voice"]["focus"] == 1.0
        assert found["teacher"]["distortion"] is None
        assert found["voice"]["distortion"] < 3
        assert found["voice"]["pitch_within_200_cents"] == 1.0
        assert found["teacher"]["texts_recognised"] == 1.0
        assert json.loads(json.dumps(report.as_dict()))["utterances"][0]["name"] == test[0].name
        assert "words understood" in report.table()
        assert "round trip" in report.table().splitlines()[0]

    def test_a_voice_that_goes_on_and_hums(self, corpus: tuple[list[Utterance], list[Utterance]]) -> None:
        test, styles = corpus[0][:1], corpus[1][:1]
        hum = (0.3 * np.sin(2 * np.pi * 100 * np.arange(40_000) / 16_000)).astype(np.float32)
        report = listen(test, styles, lambda text, path: SynthesizedSpeech(hum, 16_000, diagonal(9, 20), True), CONFIG)
        found = figures(report.voice)
        assert found.stopped == 0
        assert found.distortion is not None
        assert found.distortion > 5
        assert found.words_understood is not None
        assert found.words_understood < 0.5  # it always hears some word

    def test_one_reference_each(self, corpus: tuple[list[Utterance], list[Utterance]]) -> None:
        with pytest.raises(ShapeError, match="8 utterances and 7 references"):
            listen(corpus[0], corpus[1][:7], lambda text, path: pytest.fail("spoke"), CONFIG)
        with pytest.raises(DataError, match="nothing to measure"):
            listen([], [], lambda text, path: pytest.fail("spoke"), CONFIG)
