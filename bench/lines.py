"""Memory of `seq2see translate` on a file of any size: flat, and not a line lost.

    python bench/lines.py                     10^6 generated lines, a tiny model, greedy, all cores
    python bench/lines.py --lines 100000 --workers 1

A tiny model is trained for a few updates first (what it says does not matter here; that it ends does). While the file
is translated, the resident memory of the whole family of processes is read twice a second and set beside the number
of lines written by then. Prints lines a second, memory at 10^4 lines, the highest after that, and the growth.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil


def write_lines(path: Path, count: int) -> None:
    generator = random.Random(0)
    letters = "abcdefghij0123456789"
    with path.open("w") as file:
        for _ in range(count):
            file.write(" ".join(generator.choice(letters) for _ in range(generator.randint(5, 8))) + "\n")


def make_run(out: Path) -> None:
    command = [sys.executable, "-m", "seq2see", "train", "builtin:copy", "--model", "rnn", "--size", "tiny"]
    settings = ["training.steps=150", "training.threads=1", "training.learning_rate=4e-3"]
    flags = [flag for setting in settings for flag in ("--set", setting)]
    subprocess.run([*command, "--out", str(out), *flags], check=True, stderr=subprocess.DEVNULL)


def resident(process: psutil.Process) -> float:
    """Megabytes of a process and its children; pages they share count once for each, so this is an upper bound."""
    total = 0
    for member in (process, *process.children(recursive=True)):
        try:
            total += member.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 1e6


def translate(run: Path, source: Path, out: Path, workers: int) -> tuple[float, list[tuple[int, float]]]:
    """Seconds, and (lines written, megabytes) over time."""
    command = [sys.executable, "-m", "seq2see", "translate", str(run), str(source), "-o", str(out), "--beam", "1"]
    began = time.monotonic()
    child = subprocess.Popen(
        [*command, "--workers", str(workers), "--search", "max_length=12"], stderr=subprocess.DEVNULL
    )
    process, part = psutil.Process(child.pid), out.with_name(out.name + ".part")
    usage: list[tuple[int, float]] = []
    written = offset = 0
    while child.poll() is None:
        time.sleep(0.5)
        try:
            with part.open("rb") as file:
                file.seek(offset)
                fresh = file.read()
            offset, written = offset + len(fresh), written + fresh.count(b"\n")
            usage.append((written, resident(process)))
        except (FileNotFoundError, psutil.NoSuchProcess):
            continue
    if child.returncode:
        raise SystemExit("translate failed")
    return time.monotonic() - began, usage


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000, help="lines to translate")
    parser.add_argument("--workers", type=int, default=psutil.cpu_count() or 1, help="processes")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, source, out = Path(folder) / "run", Path(folder) / "in.txt", Path(folder) / "out.txt"
        make_run(run)
        write_lines(source, arguments.lines)
        seconds, usage = translate(run, source, out, arguments.workers)
        with out.open("rb") as file:
            lines = sum(1 for _ in file)
    if lines != arguments.lines:
        raise SystemExit(f"{arguments.lines} lines in, {lines} lines out")
    early = [megabytes for written, megabytes in usage if written >= 10_000][:1] or [usage[-1][1]]
    late = max((megabytes for written, megabytes in usage if written >= 10_000), default=usage[-1][1])
    row = {
        "lines": lines,
        "workers": arguments.workers,
        "seconds": round(seconds, 1),
        "lines_per_second": round(lines / seconds),
        "mb_at_10000": round(early[0]),
        "mb_highest_after": round(late),
        "growth_mb": round(late - early[0]),
    }
    print(json.dumps(row) if arguments.json else "  ".join(f"{name} {value:,}" for name, value in row.items()))


if __name__ == "__main__":
    main()
