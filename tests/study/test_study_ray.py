"""The same cells on a Ray of our own, and what happens when one of its workers dies."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from small_studies import SMALL, run, table_without_clocks, without_clocks, write_study

try:
    import ray  # noqa: F401
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("ray is not installed: pip install 'seq2see[scale]'", allow_module_level=True)

# Long enough that a worker can be met at its work.
LONGER = (
    SMALL.replace("updates = 6", "updates = 60")
    .replace("seeds = [1, 2]", "seeds = [1]")
    .replace("save_every = 1", "save_every = 5")
    .replace("validate_every = 3", "validate_every = 30")
)


def kill_one_at_work(process: "subprocess.Popen[bytes]", out: Path) -> bool:
    """Kills the first worker that has saved a checkpoint; False if the study ended before."""
    while process.poll() is None:
        if any(out.glob("cells/*/checkpoints/*")):
            for child in psutil.Process(process.pid).children(recursive=True):
                if child.name().startswith("ray::") and "_work" in child.name():
                    child.kill()
                    return True
        time.sleep(0.02)
    return False


def test_a_worker_of_ray_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    path = write_study(tmp_path, LONGER)
    run(path, tmp_path / "alone")
    command = [sys.executable, "-m", "seq2see", "study", str(path), "--out", str(tmp_path / "out"), "--ray", "local"]
    with subprocess.Popen([*command, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            killed = kill_one_at_work(process, tmp_path / "out")
            _, errors = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 0, errors.decode()
    assert killed
    assert without_clocks(tmp_path / "out") == without_clocks(tmp_path / "alone")
    assert table_without_clocks(tmp_path / "out") == table_without_clocks(tmp_path / "alone")
