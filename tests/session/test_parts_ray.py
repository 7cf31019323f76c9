"""Files in parts on Ray: interrupted, workers killed, lines that kill; the bytes are those of one process."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from folders import SOURCES, make_run
from poisoned import DEADLY, FAILING

from seq2see.search import SearchConfig
from seq2see.session import DEFAULT, load
from seq2see.session.files.lines import as_line
from seq2see.session.parts.folder import JOB
from seq2see.session.parts.translating import PLACEHOLDER

try:
    import ray  # noqa: F401
except ImportError:
    if os.environ.get("CI"):
        raise
    pytest.skip("ray is not installed: pip install 'seq2see[scale]'", allow_module_level=True)

Process = subprocess.Popen[str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", "luong", sharp=2.0, max_length=12)


def texts(count: int, first: int = 0) -> list[str]:
    return [f"{SOURCES[number % 4]} {number}" for number in range(first, first + count)]


def in_one_process(run: Path, lines: list[str], search: SearchConfig = DEFAULT) -> bytes:
    return b"".join(as_line(found, search) for found in load(run, engine="torch").translate_all(lines, search))


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def start(run: Path, out: Path, inputs: list[Path], seconds: float) -> Process:
    script = Path(__file__).with_name("poisoned.py")
    command = [sys.executable, str(script), str(run), str(out), str(seconds), *map(str, inputs)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def committed(out: Path) -> int:
    manifest = out / JOB / "manifest.jsonl"
    return manifest.read_bytes().count(b"\n") if manifest.exists() else 0


def wait_for(parts: int, out: Path, process: Process) -> bool:
    """Until so many parts are committed; False if it ended before."""
    while process.poll() is None:
        if committed(out) >= parts:
            return True
        time.sleep(0.02)
    return False


def kill_a_worker(process: Process, choose: random.Random) -> bool:
    try:
        children = psutil.Process(process.pid).children(recursive=True)
        workers = [child for child in children if child.name().startswith("ray::") and "Worker" in child.name()]
        if workers:
            choose.choice(workers).kill()
        return bool(workers)
    except psutil.NoSuchProcess:
        return False


def test_what_was_interrupted_goes_on_and_lines_that_kill_are_told(run: Path, tmp_path: Path) -> None:
    lines = texts(300)
    poisoned = [*lines]
    poisoned[70], poisoned[205] = FAILING, DEADLY
    inputs = [write(tmp_path / "a.ko", poisoned), write(tmp_path / "b.ko", texts(150, 300))]
    out = tmp_path / "out"

    with start(run, out, inputs, 0.2) as process:
        try:
            assert wait_for(2, out, process), process.stderr and process.stderr.read()
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130
    before = (out / JOB / "manifest.jsonl").read_bytes()
    assert not (out / "b.ko").exists()

    with start(run, out, inputs, 0.05) as process:
        try:
            wait_for(before.count(b"\n") + 1, out, process)
            killed = kill_a_worker(process, random.Random(1))
            said, errors = process.communicate(timeout=240)
        finally:
            process.kill()
    assert process.returncode == 0, errors
    assert killed
    assert (out / JOB / "manifest.jsonl").read_bytes().startswith(before), "what was committed was made again"
    expected = in_one_process(run, lines).split(b"\n")
    expected[70] = expected[205] = PLACEHOLDER.encode()
    assert (out / "a.ko").read_bytes().split(b"\n") == expected
    assert (out / "b.ko").read_bytes() == in_one_process(run, texts(150, 300))
    assert "a.ko\t71\t\tnot translated\tfailing\tplanted" in said
    assert "a.ko\t206\t\tnot translated\tdeadly\t2 workers died over it" in said
    assert "one after the other now" in errors


@pytest.mark.slow
def test_fifty_kills_of_workers_and_of_the_driver_change_nothing(run: Path, tmp_path: Path) -> None:
    choose = random.Random(int(os.environ.get("SEQ2SEE_SEED", "1")))
    lines = texts(6000)
    inputs = [write(tmp_path / f"{name}.ko", lines[name * 1500 : (name + 1) * 1500]) for name in range(4)]
    expected = [in_one_process(run, lines[name * 1500 : (name + 1) * 1500]) for name in range(4)]
    workers = drivers = jobs = 0
    while workers + drivers < 50:
        out, jobs = tmp_path / f"out{jobs}", jobs + 1
        ended = False
        while not ended:
            with start(run, out, inputs, 0.1) as process:
                try:
                    begun = wait_for(committed(out) + 1, out, process)  # whoever is killed before does nothing yet
                    while begun and process.poll() is None and workers + drivers < 50:
                        time.sleep(choose.uniform(0.1, 2.5))
                        if process.poll() is None and choose.random() < 0.25:
                            process.kill()
                            drivers += 1
                        else:
                            workers += kill_a_worker(process, choose)
                    _, errors = process.communicate(timeout=400)
                finally:
                    process.kill()
            ended = process.returncode == 0
            assert ended or process.returncode == -signal.SIGKILL, errors
        assert [(out / path.name).read_bytes() for path in inputs] == expected
    print(f"{workers} workers and {drivers} drivers killed, in {jobs} jobs")
    assert workers > 20
    assert drivers > 3
