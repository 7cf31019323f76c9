"""Bulk translation on Ray: lines a second and memory, as the number of lines grows.

    python bench/bulk_ray.py                                # 100,000 and 1,000,000 lines
    python bench/bulk_ray.py --lines 10000,100000 --workers 2

A tiny model that was trained for a few updates, greedy: the point is not the model but what stands around it. The
memory is what a process has for itself (USS), at most, of the driver, of all workers together, and of Ray's own
processes; it is looked at four times a second.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from seq2see.training.reporting import SilentReporter
from seq2see.training.run import new_config, train_run

SETTINGS = {
    "data": {"train": ["builtin:reverse,count=2000"], "valid_pairs": 10},
    "tokenizer": {"scheme": "word", "byte_fallback": False},
    "model": {"family": "rnnsearch", "size": "tiny"},
    "training": {
        "steps": 60,
        "batch_tokens": 512,
        "threads": 1,
        "validate_every": 60,
        "save_every": 60,
        "max_length": 16,
    },
}


def write_lines(path: Path, count: int) -> None:
    draw = random.Random(count)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            file.write(" ".join(draw.choices("abcdefghijkl", k=draw.randrange(2, 6))) + "\n")


def kind_of(process: psutil.Process, driver: int) -> str:
    if process.pid == driver:
        return "driver"
    return "workers" if process.name().startswith("ray::") else "ray"


def run(command: list[str]) -> tuple[float, dict[str, int]]:
    """Seconds, and the most that each kind of process had."""
    began, most = time.monotonic(), Counter[str]()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            now = Counter[str]()
            try:
                for one in (child := psutil.Process(process.pid), *child.children(recursive=True)):
                    now[kind_of(one, process.pid)] += one.memory_full_info().uss
            except psutil.Error:
                continue
            for kind, size in now.items():
                most[kind] = max(most[kind], size)
            time.sleep(0.25)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return time.monotonic() - began, most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", default="100000,1000000")
    parser.add_argument("--workers", default="2")
    given = parser.parse_args()
    print("| lines | seconds | lines a second | driver, MB | workers, MB | Ray, MB |\n|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        train_run(new_config(SETTINGS), folder / "run", SilentReporter())
        for count in map(int, given.lines.split(",")):
            source, out = folder / f"{count}.txt", folder / f"out-{count}"
            write_lines(source, count)
            words = [str(folder / "run"), str(source), "--out", str(out), "--beam", "1", "--engine", "torch"]
            command = [
                sys.executable,
                "-m",
                "seq2see",
                "translate",
                *words,
                "--ray",
                "local",
                "--workers",
                given.workers,
            ]
            seconds, most = run(command)
            lines = sum(1 for _ in (out / source.name).open("rb"))
            assert lines == count, f"{lines} lines for {count}"
            megabytes = [f"{most[kind] / 1e6:,.0f}" for kind in ("driver", "workers", "ray")]
            print(f"| {count:,} | {seconds:,.0f} | {count / seconds:,.0f} | {' | '.join(megabytes)} |", flush=True)


if __name__ == "__main__":
    main()
