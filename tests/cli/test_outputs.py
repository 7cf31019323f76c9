"""No verb writes onto what it reads: the same file by any name or link, or a file of the run that it uses."""

import os
import sys
from pathlib import Path

import pytest

from seq2see.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import make_run

VERBS = [
    ["evaluate", "RUN", "FILE", "--output", "OUT"],
    ["evaluate", "--hypotheses", "FILE", "pairs.tsv", "-o", "OUT"],
    ["align", "RUN", "FILE", "--out", "OUT"],
    ["align", "RUN", "pairs.tsv", "--gold", "FILE", "--out", "OUT"],
    ["compare", "RUN", "RUN", "FILE", "--report", "OUT"],
    ["data", "FILE", "--clean", "OUT"],
    ["data", "pairs.tsv", "--valid", "FILE", "--clean", "OUT"],
    ["data", "FILE:2", "pairs.tsv", "--clean", "OUT"],
    ["speak", "RUN", "a", "--style", "FILE", "-o", "OUT"],
    ["style", "RUN", "--sweep", "--style", "FILE", "-o", "OUT"],
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", "luong")


def refused(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: list[str]) -> str:
    monkeypatch.setattr(sys, "argv", ["seq2see", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    message = capfd.readouterr().err
    assert ended.value.code == 2, message
    assert message.count("\n") == 1
    return message


@pytest.mark.parametrize("words", VERBS, ids=lambda words: " ".join(words[:1] + words[-2:]))
def test_the_input_is_never_the_output(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    suffix = ".wav" if "speak" in words else ".png" if "style" in words else ".tsv"
    source = tmp_path / f"file{suffix}"
    source.write_text("나는\tI\n너는\tyou\n")
    (tmp_path / "pairs.tsv").write_text("나는\tI\n너는\tyou\n")
    soft, hard = tmp_path / f"soft{suffix}", tmp_path / f"hard{suffix}"
    soft.symlink_to(source)
    os.link(source, hard)
    for out in (source, soft, hard):
        names = {"RUN": str(run), "FILE": str(source), "FILE:2": f"{source}:2", "OUT": str(out)}
        assert "is also read" in refused(monkeypatch, capfd, [names.get(word, word) for word in words])
        assert source.read_text() == "나는\tI\n너는\tyou\n"


def test_a_run_is_never_written_into(
    run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before = (run / "config.json").read_bytes()
    for words in (["look", str(run), "나는", "-o"], ["translate", str(run), "-o"]):
        assert "is also read" in refused(monkeypatch, capfd, [*words, str(run / "config.json")])
    assert (run / "config.json").read_bytes() == before
