"""An interrupted run ends with the same bytes as one that was left alone, wherever it was interrupted."""

import json
import multiprocessing
import random
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import killing
import pytest

from depth import THOROUGH
from seq2see import atomic
from seq2see.runs import checkpoint
from seq2see.runs.folder import load_run

SERVER = multiprocessing.get_context("forkserver")
# Not "killing": the server of Python 3.11 does not know the folder of the tests.
SERVER.set_forkserver_preload(["seq2see.training.run", "seq2see.data.report"])
RESUME_FAULTS = [
    "random numbers not restored",
    "data position lost",
    "optimiser state lost",
    "optimiser step lost",
    "moving average lost",
]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    made = random.Random(0)
    rows = []
    for _ in range(120):
        words = [made.choice("abcdefgh") for _ in range(made.randint(2, 7))]
        rows.append(f"{' '.join(words)}\t{' '.join(reversed(words))}")
    path.write_text("\n".join(rows) + "\n")
    return path


def run(
    pairs: Path, out: Path, *, step: int | None = None, call: int | None = None, fault: str | None = None
) -> tuple[int | None, int]:
    """The exit code of a training process, and how many I/O calls it counted if it lived."""
    queue = SERVER.Queue()
    process = SERVER.Process(target=killing.child, args=(pairs, out, step, call, fault, queue))
    process.start()
    process.join(600)
    assert process.exitcode is not None, "training hangs"
    calls = queue.get() if process.exitcode == 0 else 0
    return process.exitcode, calls


def result(out: Path) -> dict[str, str]:
    return {name: atomic.digest(out / name) for name in ("model.safetensors", "config.json", "manifest.json")}


@pytest.fixture(scope="module")
def straight(pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], int]:
    out = tmp_path_factory.mktemp("straight") / "run"
    code, calls = run(pairs, out)
    assert code == 0
    return result(out), calls


@pytest.fixture(scope="module")
def stopped(pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was killed after update 5; whoever wants to go on with it takes a copy."""
    out = tmp_path_factory.mktemp("stopped") / "run"
    assert run(pairs, out, step=5)[0] == -signal.SIGKILL
    return out


def test_the_same_seed_gives_the_same_bytes(pairs: Path, straight: Any, tmp_path: Path) -> None:
    assert run(pairs, tmp_path / "run")[0] == 0
    assert result(tmp_path / "run") == straight[0]


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_kill_at_every_io_call_of_saving(every: int, pairs: Path, straight: Any, tmp_path: Path) -> None:
    expected, calls = straight
    assert calls > 40
    for call in range(1, calls + 1, every):
        out = tmp_path / f"run-{call}"
        assert run(pairs, out, call=call)[0] == -signal.SIGKILL
        standing = checkpoint.paths(out / "checkpoints")
        assert [checkpoint.check(path) for path in standing] == [None] * len(standing), f"call {call}"
        assert run(pairs, out)[0] == 0
        assert result(out) == expected, f"killed at I/O call {call}"
        leftovers = [path.name for path in (out / "checkpoints").iterdir() if path.name.startswith(".")]
        assert leftovers == [], f"call {call}"
        shutil.rmtree(out)


@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_kill_at_random_steps(rounds: int, pairs: Path, straight: Any, tmp_path: Path) -> None:
    made = random.Random(1)
    for round_ in range(rounds):
        out = tmp_path / f"run-{round_}"
        steps = sorted(made.choices(range(1, killing.STEPS + 1), k=made.randint(1, 3)))
        for step in steps:
            run(pairs, out, step=step)
        code, _ = run(pairs, out)
        assert code == 0
        assert result(out) == straight[0], f"killed at steps {steps}"
        shutil.rmtree(out)


@pytest.mark.parametrize("fault", RESUME_FAULTS)
def test_planted_faults_are_caught(fault: str, pairs: Path, straight: Any, stopped: Path, tmp_path: Path) -> None:
    """The test above would fail if resume forgot any of these."""
    out = Path(shutil.copytree(stopped, tmp_path / "run"))
    assert run(pairs, out, fault=fault)[0] == 0
    assert result(out)["model.safetensors"] != straight[0]["model.safetensors"]


def test_a_rename_before_the_sync_is_caught(pairs: Path, straight: Any, tmp_path: Path) -> None:
    damaged = 0
    for call in range(1, straight[1] + 1):
        out = tmp_path / f"run-{call}"
        run(pairs, out, call=call, fault="renamed before synced")
        damaged += any(checkpoint.check(path) is not None for path in checkpoint.paths(out / "checkpoints"))
        shutil.rmtree(out)
        if damaged:
            break
    assert damaged


def stopped_at_five(stopped: Path, out: Path) -> list[Path]:
    """A copy of the run that was killed, and its two checkpoints."""
    shutil.copytree(stopped, out)
    found = checkpoint.paths(out / "checkpoints")
    assert len(found) == 2
    return found


@pytest.mark.thinned
@pytest.mark.parametrize("damage", ["truncated", "bit flipped", "zero tail", "missing file", "no manifest"])
@pytest.mark.parametrize("name", checkpoint.FILES)
def test_damage_is_found_and_the_checkpoint_before_is_used(
    damage: str, name: str, pairs: Path, straight: Any, stopped: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    newest, before = stopped_at_five(stopped, out)
    ruin(newest / name, damage)
    found, passed = checkpoint.newest(out / "checkpoints")
    assert found is not None
    assert found.path == before
    assert len(passed) == 1
    assert str(newest) in passed[0]
    if THOROUGH or damage == "truncated":  # once for each file: from here on it does not matter what was wrong with it
        assert run(pairs, out)[0] == 0
        assert result(out) == straight[0]


def ruin(path: Path, damage: str) -> None:
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "bit flipped":
        content[len(content) // 2] ^= 4
        path.write_bytes(content)
    elif damage == "zero tail":
        content[-8:] = bytes(8) if any(content[-8:]) else b"\1" * 8
        path.write_bytes(content)
    elif damage == "missing file":
        path.unlink()
    else:
        (path.parent / "manifest.json").unlink()


def test_every_bit_of_a_header_and_random_bits_are_guarded(stopped: Path, tmp_path: Path) -> None:
    newest, _ = stopped_at_five(stopped, tmp_path / "run")
    made = random.Random(2)
    path = newest / "model.safetensors"
    whole = path.read_bytes()
    places = [*range(64), *(made.randrange(len(whole)) for _ in range(200))]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << made.randrange(8)
        path.write_bytes(damaged)
        assert checkpoint.check(newest) is not None, place
    for end in range(0, len(whole), 4096):
        path.write_bytes(whole[:end])
        assert checkpoint.check(newest) is not None, end


def test_a_finished_run_loads_and_resume_leaves_it_alone(pairs: Path, straight: Any, tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(pairs, out)
    loaded = load_run(out)
    assert loaded.model.config.model_dump()["family"] == "luong"
    assert run(pairs, out)[0] == 0
    assert result(out) == straight[0]


def test_metrics_have_each_step_once_after_a_kill(pairs: Path, stopped: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(stopped, tmp_path / "run"))
    with (out / "metrics.jsonl").open("a") as file:
        file.write('{"step": 6, "lo')  # the line that was being written
    run(pairs, out)
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "loss" in line] == list(range(1, killing.STEPS + 1))


def test_a_full_disk_keeps_the_checkpoint_before(pairs: Path, straight: Any, tmp_path: Path) -> None:
    """A real one: a file system of a few hundred kilobytes, made larger afterwards."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        out = disk / "run"
        assert run(pairs, out)[0] == 1  # killing.child does not catch our error, so it ends the process
        standing = checkpoint.paths(out / "checkpoints")
        assert [checkpoint.check(path) for path in standing] == [None] * len(standing)
        assert not [path for path in (out / "checkpoints").iterdir() if path.name.startswith(".")]
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True, capture_output=True)
        assert run(pairs, out)[0] == 0
        assert result(out) == straight[0]
    finally:
        subprocess.run(["umount", str(disk)], check=False, capture_output=True)
