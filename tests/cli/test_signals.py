"""Ctrl-C and SIGTERM lose nothing: a checkpoint, the command that goes on, and the same weights in the end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seq2see import atomic
from seq2see.cli import main

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
SETTINGS = ["training.steps=60", "training.save_every=1000", "training.validate_every=1000", "training.threads=1"]
SETTINGS += ["training.batch_tokens=256"]


def command(out: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "seq2see", "train", *words, "--out", str(out)]


def pairs(folder: Path) -> Path:
    path = folder / "pairs.tsv"
    path.write_text("".join(f"{n} {n * 7 % 100} {n % 9}\t{n % 9} {n}\n" for n in range(400)))
    return path


def fresh(folder: Path, out: Path) -> list[str]:
    words = [str(pairs(folder)), "--model", "rnnsearch", "--size", "tiny", "--set", "model.hidden=32"]
    return command(out, *words, *(word for setting in SETTINGS for word in ("--set", setting)))


def wait_for_updates(out: Path, process: "subprocess.Popen[str]", count: int) -> None:
    metrics = out / "metrics.jsonl"
    for _ in range(30_000):
        if process.poll() is not None:
            raise AssertionError(process.stderr.read() if process.stderr else "ended")
        if metrics.exists() and metrics.read_text().count("\n") >= count:
            return
        time.sleep(0.02)
    raise AssertionError("training makes no updates")


def run_here(words: list[str]) -> None:
    """In this process, which has torch already."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(sys, "argv", ["seq2see", *words[3:]])
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("straight")
    run_here(fresh(folder, folder / "run"))
    return folder / "run"


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_interrupted_and_resumed(number: signal.Signals, straight: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = subprocess.Popen(fresh(tmp_path, out), env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    wait_for_updates(out, process, 5)
    process.send_signal(number)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130
    assert f"seq2see train --resume --out {out}" in said
    assert "Traceback" not in said
    assert len(list((out / "checkpoints").glob("step-*"))) == 1
    run_here(command(out, "--resume"))
    assert atomic.digest(out / "model.safetensors") == atomic.digest(straight / "model.safetensors")
