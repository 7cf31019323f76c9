"""`--distil`: what a finished run says to the training sources is learned beside the pairs."""

import json
import sys
from pathlib import Path

import pytest
from folders import make_run

import seq2see
from seq2see.cli import main
from seq2see.data.store import Store, rows
from seq2see.errors import DataError, RunError
from seq2see.runs.config import DataConfig
from seq2see.runs.folder import load_run
from seq2see.session.training import DISTILLED, distil_pairs

FAST = {"training": {"steps": 2, "threads": 1}, "data": {"valid_pairs": 8}}
SOURCES = ["나는 학생입니다", "우리는 책을 읽는다", "나는 학생입니다"]


@pytest.fixture
def teacher(tmp_path: Path) -> Path:
    return make_run(tmp_path / "teacher", "rnnsearch")


@pytest.fixture
def tsv(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{source}\tx{number}\n" for number, source in enumerate(SOURCES)), encoding="utf-8")
    return path


def pairs_of(content: bytes) -> list[tuple[str, str]]:
    entries = map(json.loads, content.decode().splitlines())
    return [(entry["source"], entry["target"]) for entry in entries]


def said_by(runs: list[Path], sources: list[str]) -> list[tuple[str, str]]:
    translator = seq2see.load(runs)
    said = [(source, translator.translate(source).text) for source in sources]
    return [pair for pair in said if pair[1].strip()]


def test_each_source_once_with_what_the_teacher_says(teacher: Path, tsv: Path) -> None:
    counted: list[int] = []
    content = distil_pairs(
        DataConfig(train=(str(tsv),)), [teacher], counting=lambda total: lambda done: counted.extend([total] * done)
    )
    assert pairs_of(content) == said_by([teacher], list(dict.fromkeys(SOURCES)))
    assert counted == [2, 2]


def test_several_teachers_are_one_ensemble(teacher: Path, tsv: Path, tmp_path: Path) -> None:
    both = [teacher, make_run(tmp_path / "other", "rnnsearch")]
    assert pairs_of(distil_pairs(DataConfig(train=(str(tsv),)), both)) == said_by(both, list(dict.fromkeys(SOURCES)))


def test_the_other_direction_translates_the_other_side(teacher: Path, tmp_path: Path) -> None:
    tsv = tmp_path / "flipped.tsv"
    tsv.write_text("x\t나는 학생입니다\n", encoding="utf-8")
    sources = [source for source, _ in pairs_of(distil_pairs(DataConfig(train=(str(tsv),), flip=True), [teacher]))]
    assert sources == ["나는 학생입니다"]


def test_they_are_learned_from_and_never_validated_on(teacher: Path, tmp_path: Path) -> None:
    pairs = [(f"나는 학생 {number}", f"b a {number}") for number in range(300)]
    out = tmp_path / "run"
    seq2see.train(pairs, out=out, distil=teacher, settings=FAST, quiet=True)
    made = pairs_of((out / DISTILLED).read_bytes())
    assert made
    run = load_run(out)
    learned, held = Store(out / "data" / "train"), Store(out / "data" / "valid")
    source, target = run.tokenizers
    held_sources = {source.decode(ids.tolist()) for ids in rows(held.source, range(len(held)))}
    learned_sources = {source.decode(ids.tolist()) for ids in rows(learned.source, range(len(learned)))}
    assert held_sources
    assert not held_sources & learned_sources  # the teacher's translation of a held-out source is held out as well
    assert len(learned) == len(pairs) - len(held) + sum(said not in held_sources for said, _ in made)
    texts = {target.decode(ids.tolist()) for ids in rows(held.target, range(len(held)))}
    assert texts <= {pair[1] for pair in pairs}
    assert run.config.data.distilled == str(out / DISTILLED)


def test_a_resumed_run_keeps_them(
    teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tsv, out = tmp_path / "many.tsv", tmp_path / "run"
    tsv.write_text("".join(f"나는 {number}\tb a {number}\n" for number in range(60)), encoding="utf-8")
    steps = ["--set", "training.threads=1", "--set", "training.save_every=1"]
    command = ["train", str(tsv), "--distil", str(teacher), "--out", str(out), *steps]
    for more in (["--set", "training.steps=2"], ["--resume", "--set", "training.steps=3"]):
        monkeypatch.setattr(sys, "argv", ["seq2see", *command, *more])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, capsys.readouterr().err
    assert "3 updates" in capsys.readouterr().err


def test_what_is_no_run_is_refused(tsv: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        seq2see.train(tsv, out=tmp_path / "run", distil=tmp_path / "nothing")
    assert not (tmp_path / "run").exists()


def test_pairs_without_a_source_are_refused(teacher: Path, tmp_path: Path) -> None:
    tsv = tmp_path / "empty.tsv"
    tsv.write_text("\tx\n \ty\n")
    with pytest.raises(DataError, match="no source that a teacher could translate"):
        distil_pairs(DataConfig(train=(str(tsv),)), [teacher])
