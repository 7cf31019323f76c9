"""Recordings with texts: the teacher's corpus, LJSpeech folders, TSV files, Debian's prompts."""

import gzip
from pathlib import Path
from random import Random

import numpy as np
import pytest
from needed import needs_espeak

from seq2see.caching import cache_folder
from seq2see.errors import ConfigError, DataError
from seq2see.speech import audio
from seq2see.speech.corpus import espeak, sentences, sources, teacher
from seq2see.speech.corpus.sources import Utterance, asterisk_tsv, read_corpus, references

SOUND = (0.3 * np.sin(np.arange(4000) / 7)).astype(np.float32)


def recorded(path: Path, rate: int = 16_000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    audio.write(path, SOUND, rate)
    return path


class TestGrammar:
    @pytest.mark.parametrize("language", ["en", "ko"])
    def test_texts_keep_to_the_words_and_the_lengths(self, language: espeak.Language) -> None:
        for kind, lengths in (("short", range(2, 4)), ("sentence", range(4, 11))):
            known, random = set(sentences.words(language, kind)), Random(1)
            texts = [sentences.text(language, kind, random).split() for _ in range(2000)]
            assert {len(text) for text in texts} == set(lengths)
            assert {word for text in texts for word in text} == known

    def test_32_words_for_short_texts_and_60_to_80_in_all(self) -> None:
        for language in ("en", "ko"):
            assert len(set(sentences.words(language, "short"))) == 32
            assert 60 <= len(set(sentences.words(language))) <= 80

    def test_a_seed_gives_the_same_text(self) -> None:
        assert sentences.text("ko", "sentence", Random(3)) == sentences.text("ko", "sentence", Random(3))


class TestPlan:
    PLAN = teacher.plan(teacher.TeacherSettings(count=800, seed=1))

    def of(self, split: str) -> list[teacher.Planned]:
        return [one for one in self.PLAN if one.name.startswith(split)]

    def test_no_tested_text_is_trained_on(self) -> None:
        trained = {one.text for one in self.of("train")}
        tested = [one.text for one in self.of("test")]
        assert len(self.of("train")) == 800
        assert len(tested) == len(set(tested)) == 40
        assert not trained & set(tested)
        assert not trained & {one.text for one in self.of("reference")}

    def test_another_seed_has_the_same_split(self) -> None:
        other = teacher.plan(teacher.TeacherSettings(count=800, seed=2))
        assert not {one.text for one in other if one.name.startswith("train")} & {one.text for one in self.of("test")}

    def test_a_larger_count_goes_on(self) -> None:
        larger = teacher.plan(teacher.TeacherSettings(count=900, seed=1))
        assert [one for one in larger if one.name.startswith("train")][:800] == self.of("train")

    def test_a_reference_is_another_text_in_the_same_style(self) -> None:
        pairs = list(zip(self.of("test"), self.of("reference"), strict=True))
        assert all(one.manner == other.manner and one.text != other.text for one, other in pairs)

    def test_voices_lengths_and_languages_have_their_shares(self) -> None:
        labels = [one.labels() for one in self.of("train")]

        def share(name: str, value: object) -> float:
            return sum(label[name] == value for label in labels) / len(labels)

        assert share("voice", "plain") == pytest.approx(0.45, abs=0.06)
        assert share("voice", "whisper") == pytest.approx(0.15, abs=0.05)
        assert share("language", "ko") == 0.5
        assert sum(float(label["words"]) <= 3 for label in labels) == 400
        assert {label["pitch"] for label in labels} == {50, 75, 99}
        assert {label["speed"] for label in labels} == {130, 175, 240}


@needs_espeak
class TestTeacher:
    def test_rendered_once_in_known_styles(self, tmp_path: Path) -> None:
        said: list[str] = []
        steps: list[tuple[int, int]] = []
        train, test = read_corpus(
            "builtin:espeak,count=20,seed=3", cache=tmp_path, say=said.append, progress=lambda *step: steps.append(step)
        )
        assert (len(train), len(test)) == (20, 8)
        assert steps[-1] == (36, 36)
        assert "36 utterances" in said[0]
        for one, other in zip(test, references(test), strict=True):
            assert one.text != other.text
            assert {**one.labels, "words": 0} == {**other.labels, "words": 0}
            assert 0.3 < len(audio.read(other.audio, 16_000)) / 16_000 < 8
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.wav")}
        assert read_corpus("builtin:espeak,count=20,seed=3", cache=tmp_path, say=said.append) == (train, test)
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.wav")} == before
        assert len(said) == 1

    def test_what_was_left_unfinished_is_finished(self, tmp_path: Path) -> None:
        train, _ = read_corpus("builtin:espeak-ko,count=20", cache=tmp_path)
        (train[0].audio.parent / "plan.jsonl").unlink()
        train[3].audio.unlink()
        kept = train[4].audio.stat().st_mtime_ns
        again, _ = read_corpus("builtin:espeak-ko,count=20", cache=tmp_path)
        assert again[3].audio.is_file()
        assert again[4].audio.stat().st_mtime_ns == kept
        assert {one.labels["language"] for one in again} == {"ko"}

    def test_a_damaged_plan(self, tmp_path: Path) -> None:
        _, test = read_corpus("builtin:espeak-en,count=20", cache=tmp_path)
        (test[0].audio.parent / "plan.jsonl").write_text("{}\n")
        with pytest.raises(DataError, match="not a complete folder"):
            references(test)

    def test_speed_pitch_and_voice_are_heard(self) -> None:
        def say(voice: espeak.Voice, pitch: int, speed: int) -> audio.Samples:
            return espeak.say("the small birds sing", espeak.Manner("en", voice, pitch, speed), 16_000)

        slow, fast = say("plain", 50, 130), say("plain", 50, 240)
        assert len(slow) > 1.4 * len(fast)
        assert not np.array_equal(say("plain", 99, 130), slow)
        assert np.array_equal(say("plain", 50, 130), slow)

    def test_a_text_that_looks_like_an_option(self) -> None:
        assert len(espeak.say("--version", espeak.Manner("en", "plain", 50, 175), 16_000)) > 4_000

    def test_nothing_to_say_is_one_line(self) -> None:
        with pytest.raises(DataError, match=r"espeak-ng could not say ''.*recording"):
            espeak.say("", espeak.Manner("en", "plain", 50, 175), 16_000)


def test_without_espeak_one_sentence_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    espeak.version.cache_clear()
    with pytest.raises(DataError, match=r"^the program espeak-ng is needed .*: apt-get install espeak-ng$"):
        read_corpus("builtin:espeak", cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("builtin:espaek", "did you mean 'espeak'"),
        ("builtin:espeak,cuont=3", "did you mean 'count'"),
        ("builtin:espeak,count=many", "expected a number, such as count=400"),
        ("builtin:espeak,count=3", "too few"),
        ("builtin:asterisk,count=3", "has no settings"),
    ],
)
def test_names_that_lead_nowhere(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said):
        read_corpus(name, cache=tmp_path)


def test_the_cache_follows_the_standard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "seq2see"


class TestFiles:
    def test_tsv(self, tmp_path: Path) -> None:
        for number in range(60):
            recorded(tmp_path / "sounds" / f"{number}.wav", 8_000)
        lines = [f"sounds/{number}.wav\ttext {number}\n" for number in range(60)]
        (tmp_path / "a.tsv").write_text("".join(lines) + "\n")
        said: list[str] = []
        train, test = read_corpus(str(tmp_path / "a.tsv"), say=said.append)
        assert len(train) + len(test) == 60
        assert 1 <= len(test) <= 8
        assert "recorded at 8,000 Hz (nothing above 4,000 Hz is in them)" in said[0]
        assert train[0].audio.is_file()
        assert train[0].labels == {}
        # A corpus that shrinks or grows keeps the side of every text.
        (tmp_path / "a.tsv").write_text("".join(lines[:55]))
        fewer, _ = read_corpus(str(tmp_path / "a.tsv"))
        assert {one.text for one in fewer} <= {one.text for one in train}

    def test_the_same_text_is_on_one_side(self, tmp_path: Path) -> None:
        recorded(tmp_path / "a.wav")
        (tmp_path / "a.tsv").write_text("".join(f"a.wav\ttext {number % 30}\n" for number in range(90)))
        train, test = read_corpus(str(tmp_path / "a.tsv"))
        assert not {one.text for one in train} & {one.text for one in test}

    def test_ljspeech(self, tmp_path: Path) -> None:
        recorded(tmp_path / "wavs" / "LJ001.wav")
        recorded(tmp_path / "wavs" / "LJ002.wav")
        (tmp_path / "metadata.csv").write_text('LJ001|He said "no|He said no\nLJ002|Yes|\n')
        train, test = read_corpus(str(tmp_path))
        assert {(one.name, one.text) for one in train + test} == {("LJ001", "He said no"), ("LJ002", "Yes")}
        assert len(test) == 1

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("a.wav text\n", r"a\.tsv:1: expected `recording<TAB>text`"),
            ("a.wav\ttext\na.wav\t \n", r"a\.tsv:2: expected"),
            ("a.wav\ttext\nb.wav\tother\n", r"a\.tsv:2: there is no recording .*b\.wav"),
            ("a.wav\ttext\na.wav\ttext\n", "has 1 texts; at least two"),
            ("", "has 0 texts"),
        ],
    )
    def test_bad_lines(self, tmp_path: Path, content: str, said: str) -> None:
        recorded(tmp_path / "a.wav")
        (tmp_path / "a.tsv").write_text(content)
        with pytest.raises(DataError, match=said):
            read_corpus(str(tmp_path / "a.tsv"))

    def test_bad_folders(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"has no metadata\.csv"):
            read_corpus(str(tmp_path))
        (tmp_path / "metadata.csv").write_text("LJ001|text\n")
        with pytest.raises(DataError, match=r"metadata\.csv:1: there is no recording"):
            read_corpus(str(tmp_path))
        (tmp_path / "metadata.csv").write_text("LJ001\n")
        with pytest.raises(DataError, match=r"metadata\.csv:1: expected `name"):
            read_corpus(str(tmp_path))
        with pytest.raises(DataError, match="no such corpus"):
            read_corpus(str(tmp_path / "none"))

    def test_a_recording_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "a.wav").write_text("hello")
        (tmp_path / "a.tsv").write_text("a.wav\ttext\na.wav\tother\n")
        with pytest.raises(DataError, match=r"a\.wav: is not a readable"):
            read_corpus(str(tmp_path / "a.tsv"))


def test_references_of_recordings_without_labels_are_other_texts() -> None:
    test = [Utterance(Path(name), text, name, {}) for name, text in (("a", "x"), ("b", "x"), ("c", "y"))]
    assert [one.name for one in references(test)] == ["c", "c", "a"]
    with pytest.raises(DataError, match="not two texts"):
        references(test[:2])


class TestPrompts:
    LINES = (
        "; a remark\n\nhello: Hello there.\ndigits/1: one\nbeep: [a beep]\ngone: Not here.\n"
        "press: Press 2, or 4.\nmany: Press 12 now.\nmail: mail a@b now\n"
    )

    def test_transcripts_become_a_tsv(self, tmp_path: Path) -> None:
        for name in ("hello", "digits/1", "beep", "press", "many", "mail"):
            recorded(tmp_path / f"{name}.wav")
        texts = tmp_path / "texts.gz"
        texts.write_bytes(gzip.compress(self.LINES.encode()))
        assert asterisk_tsv(tmp_path, tmp_path / "out.tsv", texts) == 3
        train, test = read_corpus(str(tmp_path / "out.tsv"))
        assert {one.text for one in train + test} == {"Hello there.", "one", "Press two, or four."}

    def test_without_the_package_one_line(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sources, "_SOUNDS", tmp_path / "none")
        with pytest.raises(DataError, match="apt-get install asterisk-core-sounds-en-wav"):
            read_corpus("builtin:asterisk", cache=tmp_path)
