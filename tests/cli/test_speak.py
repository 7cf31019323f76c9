"""`seq2see speak` and `seq2see style`: files in, files out, one line for a mistake."""

import sys
from pathlib import Path

import numpy as np
import pytest

from seq2see import cli
from seq2see.cli.speak import parse_tokens
from seq2see.errors import ConfigError
from seq2see.speech import audio
from seq2see.speech.training import new_config, train_voice
from seq2see.training.reporting import SilentReporter

WORDS = ("ab", "ba", "abba", "baab", "aab", "bba")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A voice of a few updates in `voice/`, and its recordings beside it."""
    folder = tmp_path_factory.mktemp("speak")
    for number, word in enumerate(WORDS):
        time = np.arange(1600 * len(word)) / 16_000
        sound = 0.3 * np.sin(2 * np.pi * (200 + 40 * number) * time)
        audio.write(folder / f"{word}.wav", sound.astype(np.float32), 16_000)
    (folder / "tones.tsv").write_text("".join(f"{word}.wav\t{word}\n" for word in WORDS))
    style = {"tokens": 5, "heads": 2, "width": 8, "channels": [4, 8], "summary": 8, "crop": 16}
    sizes = {"embedding": 8, "encoder": 8, "bank": 2, "attention_width": 8, "decoder": 8, "prenet": 8, "postnet": 8}
    settings = {
        "data": {"train": [str(folder / "tones.tsv")]},
        "model": {"family": "tacotron", "style": style, "lessons": {"batch": 4, "valid": 2}} | sizes,
        "training": {"steps": 2},
    }
    train_voice(new_config(settings), folder / "voice", SilentReporter())
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_a_text_becomes_a_file_and_a_picture(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, plot = tmp_path / "said.wav", tmp_path / "said.png"
    code = run(monkeypatch, "speak", folder / "voice", "abba", "-o", out, "--style", folder / "ab.wav", "--plot", plot)
    told = capsys.readouterr()
    assert code == 0
    assert told.out == f"{out}\n"
    assert "s of speech" in told.err
    assert len(audio.read(out, 16_000)) > 0
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_lines_become_numbered_files(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("ab\n\nba\n")
    with lines.open() as given:
        monkeypatch.setattr(sys, "stdin", given)
        code = run(monkeypatch, "speak", folder / "voice", "-o", tmp_path / "said.wav", "--tokens", "1:3=0.8,0=0.1")
    assert code == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / f"said-000{number}.wav") for number in (1, 2)]
    assert (tmp_path / "said-0002.wav").exists()


def test_style_is_a_table(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "style", folder / "voice", folder / "ab.wav", folder / "ba.wav") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["recording", "head", *(f"token {number}" for number in range(5))]
    assert [row[:2] for row in rows[1:]] == [
        [str(folder / name), head] for name in ("ab.wav", "ba.wav") for head in ("0", "1")
    ]
    assert all(sum(map(float, row[2:])) == pytest.approx(1, abs=0.003) for row in rows[1:])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ab7"], "'7' (U+0037) is outside the voice's alphabet"),
        (["ab", "--tokens", "99=0.5"], "there is no token 99; this voice has tokens 0 to 4"),
        (["ab", "--tokens", "loud"], "'loud' is not like 3=0.8"),
        (["ab", "--style", "nowhere.wav"], "nowhere.wav: no such recording"),
        (["ab", "-o", "said.mp3"], "said.mp3: sound is written as .wav or .flac, not '.mp3'"),
        (["ab", "-o", "nowhere/said.wav"], "there is no folder nowhere"),
        (["ab", "--plot", "said.jpg"], "a picture is .png, .svg or .pdf"),
    ],
)
def test_a_mistake_is_one_line(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "speak", folder / "voice", *arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("seq2see: ")
    assert told.err.count("\n") == 1
    assert said in told.err
    assert list(tmp_path.iterdir()) == []


def test_a_voice_is_not_asked_to_translate(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "translate", folder / "voice", folder / "tones.tsv") == 2
    assert capsys.readouterr().err.strip().endswith(f"is a voice; use `seq2see speak {folder / 'voice'}`")


@pytest.mark.parametrize("text", ["3", "3=", "=0.5", "x:3=1", "3=0.5;4=0.5"])
def test_tokens_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ConfigError, match="is not like"):
        parse_tokens(text)


def test_tokens_are_read() -> None:
    assert parse_tokens("3=0.8, 1:5=0.2") == {3: 0.8, (1, 5): 0.2}
