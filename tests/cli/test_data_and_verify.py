"""`seq2see data` and `seq2see verify-resume` from the command line."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from seq2see.cli import main
from seq2see.training.reporting import SilentReporter
from seq2see.training.run import new_config, train_run

RECIPE = """
[data]
train = ["{pairs}"]
[tokenizer]
scheme = "char"
[model]
family = "rnn"
size = "tiny"
embedding = 16
hidden = 16
encoder = {{ embedding = 16, hidden = 16 }}
[training]
batch_tokens = 256
"""


class Ended(NamedTuple):
    """What came of a command in this process."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def seq2see(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    def call(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["seq2see", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(int(ended.value.code or 0), *capfd.readouterr())

    return call


Command = Callable[..., Ended]


def pairs(folder: Path) -> Path:
    path = folder / "pairs.tsv"
    path.write_text("".join(f"source {n} text\ttarget {n} words\n" for n in range(200)), encoding="utf-8")
    return path


def test_data_reports_and_cleans(tmp_path: Path, seq2see: Command) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("하나\tone\n하나\tone\n둘\t\nthree\tthree\n넷\tfour\n", encoding="utf-8")
    held_out = tmp_path / "dev.tsv"
    held_out.write_text("넷\tfour\n", encoding="utf-8")
    clean = tmp_path / "clean.tsv"
    done = seq2see("data", str(path), "--valid", str(held_out), "--clean", str(clean), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["pairs"] == 5
    assert found["empty"]["lines"] == [3]
    assert found["duplicates"]["lines"] == [2]
    assert found["copies"]["lines"] == [4]
    assert clean.read_text(encoding="utf-8").splitlines() == ["하나\tone"]
    assert "exact duplicates" in seq2see("data", str(path)).stdout


def test_data_refuses_in_one_line(tmp_path: Path, seq2see: Command) -> None:
    done = seq2see("data", str(tmp_path / "none.tsv"))
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_one_file_of_two_that_cannot_be_read_is_told_and_fails(tmp_path: Path, seq2see: Command) -> None:
    path = tmp_path / "broken.tmx"
    path.write_text("<tmx><body><tu>", encoding="utf-8")
    done = seq2see("data", str(pairs(tmp_path)), str(path), "--clean", str(tmp_path / "clean.tsv"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "broken.tmx" in done.stdout + done.stderr
    assert "clean.tsv was not written" in done.stderr


@pytest.mark.parametrize("given", ["run", pytest.param("recipe", marks=pytest.mark.slow)])
def test_verify_resume_proves_it(given: str, tmp_path: Path, seq2see: Command) -> None:
    """A run is the longer way: its settings become a recipe first."""
    recipe, out = tmp_path / "recipe.toml", tmp_path / "run"
    recipe.write_text(RECIPE.format(pairs=pairs(tmp_path)))
    if given == "run":
        settings = tomllib.loads(recipe.read_text()) | {"training": {"batch_tokens": 256, "steps": 2, "threads": 1}}
        train_run(new_config(settings), out, SilentReporter())
    done = seq2see("verify-resume", str(out if given == "run" else recipe), "--steps", "60", "--kills", "1")
    assert done.returncode == 0, done.stderr
    assert "identical: resume is exact" in done.stdout


def test_verify_resume_says_what_is_missing(tmp_path: Path, seq2see: Command) -> None:
    missing = seq2see("verify-resume", str(tmp_path / "none.toml"))
    assert missing.returncode == 2
    assert "none.toml" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_help_names_an_example_and_needs_no_torch(seq2see: Command) -> None:
    for verb in ("train", "data", "verify-resume"):
        assert f"seq2see {verb}" in seq2see(verb, "--help").stdout
    code = """
import sys
sys.argv = ["seq2see", "--help"]
from seq2see.cli import main
try:
    main()
except SystemExit:
    pass
assert "torch" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
