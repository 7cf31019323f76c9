"""`torchrun -m seq2see train`: processes that torchrun starts, and starts again when one of them is killed."""

import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from seq2see.atomic import digest
from seq2see.training.reporting import SilentReporter
from seq2see.training.run import new_config, train_run

STEPS = 24
SETTINGS = {
    "data": {"train": ["builtin:reverse,count=300"], "valid_pairs": 10},
    "tokenizer": {"scheme": "word", "byte_fallback": False},
    "model": {"family": "transformer", "width": 16, "heads": 2, "inner": 16, "layers": 1},
    "training": {"steps": STEPS, "batch_tokens": 160, "threads": 1, "warmup": 2, "save_every": 3, "validate_every": 12},
}
RECIPE = """
data = { train = ["builtin:reverse,count=300"], valid_pairs = 10 }
tokenizer = { scheme = "word", byte_fallback = false }
model = { family = "transformer", width = 16, heads = 2, inner = 16, layers = 1 }
training = { steps = 24, batch_tokens = 160, threads = 1, warmup = 2, save_every = 3, validate_every = 12 }
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The weights of two processes that one `seq2see train --processes 2` starts."""
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    training = {**SETTINGS["training"], "processes": 2}
    train_run(new_config(SETTINGS | {"training": training}), out, SilentReporter())
    return digest(out / "model.safetensors")


def start(folder: Path) -> "subprocess.Popen[str]":
    (folder / "recipe.toml").write_text(RECIPE)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["--max-restarts", "3", "--monitor-interval", "0.05", "-m", "seq2see", "train"]
    return subprocess.Popen(
        [*command, "--recipe", str(folder / "recipe.toml"), "--out", str(folder / "run")],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def kill(launcher: int, rank: int) -> None:
    for child in psutil.Process(launcher).children(recursive=True):
        if child.environ().get("RANK") == str(rank):
            child.kill()


def step_of(run: Path) -> int:
    """The last update that metrics.jsonl knows of."""
    if not (run / "metrics.jsonl").exists():
        return 0
    steps = re.findall(r'"step": (\d+)', (run / "metrics.jsonl").read_text())
    return int(steps[-1]) if steps else 0


def trained_in_spite_of(kill_at: int, rank: int, folder: Path) -> str:
    with start(folder) as process:
        try:
            while step_of(folder / "run") < kill_at:
                assert process.poll() is None, process.stderr and process.stderr.read()
                time.sleep(0.005)
            kill(process.pid, rank)
            _, errors = process.communicate(timeout=240)
        finally:
            process.kill()
    assert process.returncode == 0, errors
    return digest(folder / "run" / "model.safetensors")


def test_the_first_process_is_killed_and_all_go_on_from_a_checkpoint(undisturbed: str, tmp_path: Path) -> None:
    assert trained_in_spite_of(7, 0, tmp_path) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("number", range(20))
def test_a_process_is_killed_at_any_update(undisturbed: str, rank: int, number: int, tmp_path: Path) -> None:
    """Every third update is followed by a save, so that some of the kills fall into one."""
    assert trained_in_spite_of(random.Random(number).randint(1, STEPS - 3), rank, tmp_path) == undisturbed
