"""`--mono`: texts of the target language become pairs whose source a run of the other direction made."""

import json
import sys
from pathlib import Path

import pytest
from folders import make_run

import seq2see
from seq2see.cli import main
from seq2see.data.store import Store, rows
from seq2see.errors import ConfigError, DataError
from seq2see.runs.folder import load_run
from seq2see.session.training import MONO, back_translate

TEXTS = ["나는 학생입니다", "", "우리는 책을 읽는다", "   "]
FAST = {"training": {"steps": 2, "threads": 1}, "data": {"valid_pairs": 8}}


@pytest.fixture
def reverse(tmp_path: Path) -> Path:
    return make_run(tmp_path / "reverse", "rnnsearch")


@pytest.fixture
def mono(tmp_path: Path) -> Path:
    path = tmp_path / "mono.txt"
    path.write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf-8")
    return path


def pairs_of(content: bytes) -> list[tuple[str, str]]:
    entries = map(json.loads, content.decode().splitlines())
    return [(entry["source"], entry["target"]) for entry in entries]


def test_targets_are_the_texts_and_sources_what_the_run_says(reverse: Path, mono: Path) -> None:
    counted: list[int] = []
    content = back_translate(mono, reverse, counting=lambda total: lambda done: counted.extend([total] * done))
    translator = seq2see.load(reverse)
    expected = [(translator.translate(text).text, text) for text in TEXTS if text.strip()]
    assert pairs_of(content) == [pair for pair in expected if pair[0].strip()]
    assert counted == [2, 2]


def test_a_file_without_text_is_refused(reverse: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n \n")
    with pytest.raises(DataError, match="no text to translate back"):
        back_translate(tmp_path / "empty", reverse)


def test_they_are_learned_from_and_never_validated_on(reverse: Path, mono: Path, tmp_path: Path) -> None:
    pairs = [(f"a b {number}", f"b a {number}") for number in range(300)]
    out = tmp_path / "run"
    seq2see.train(pairs, out=out, mono=mono, reverse=reverse, settings=FAST, quiet=True)
    made = pairs_of((out / MONO).read_bytes())
    assert made
    run = load_run(out)
    target = run.tokenizers[1]
    held = Store(out / "data" / "valid")
    assert len(held) > 0
    learned = Store(out / "data" / "train")
    assert len(learned) + len(held) == len(pairs) + len(made)
    texts = {target.decode(ids.tolist()) for ids in rows(held.target, range(len(held)))}
    assert texts <= {pair[1] for pair in pairs}
    assert run.config.data.mono == str(out / MONO)


def test_a_resumed_run_keeps_them(
    reverse: Path, mono: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tsv, out = tmp_path / "pairs.tsv", tmp_path / "run"
    tsv.write_text("".join(f"a b {number}\tb a {number}\n" for number in range(60)))
    steps = ["--set", "training.threads=1", "--set", "training.save_every=1"]
    command = ["train", str(tsv), "--mono", str(mono), "--reverse", str(reverse), "--out", str(out), *steps]
    for more in (["--set", "training.steps=2"], ["--resume", "--set", "training.steps=3"]):
        monkeypatch.setattr(sys, "argv", ["seq2see", *command, *more])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, capsys.readouterr().err
    assert "3 updates" in capsys.readouterr().err


def test_one_without_the_other_is_refused(mono: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="go together"):
        seq2see.train([("a", "b")], out=tmp_path / "run", mono=mono)
    assert not (tmp_path / "run").exists()
