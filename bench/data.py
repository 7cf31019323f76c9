"""Peak memory of `seq2see train` against the size of the corpus: it must not grow with it.

    python bench/data.py                        10^5 and 3 x 10^6 generated pairs, a tiny model, a few updates
    python bench/data.py --pairs 100000 1000000

Prints pairs read a second and the peak resident memory of the whole process, and the growth between the sizes.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def write_pairs(path: Path, count: int) -> None:
    """Sentences over 5,000 made-up words, 3 to 15 words long; the target is the source with its words changed."""
    generator = random.Random(0)
    words = [
        "".join(generator.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(generator.randint(2, 8)))
        for _ in range(5000)
    ]
    others = [word[::-1] for word in words]
    with path.open("w") as file:
        for _ in range(count):
            indices = [generator.randrange(5000) for _ in range(generator.randint(3, 15))]
            file.write(" ".join(words[i] for i in indices) + "\t" + " ".join(others[i] for i in indices) + "\n")


def measure(count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        pairs, out = Path(folder) / "pairs.tsv", Path(folder) / "run"
        write_pairs(pairs, count)
        began = time.monotonic()
        command = [sys.executable, "-m", "seq2see", "train", str(pairs), "--model", "rnn", "--size", "tiny"]
        settings = ["training.steps=20", "training.threads=1", "training.batch_tokens=2048"]
        words = [word for setting in settings for word in ("--set", setting)]
        child = subprocess.Popen([*command, "--out", str(out), *words], stderr=subprocess.DEVNULL)
        _, status, usage = wait4(child.pid)
        if status:
            raise SystemExit(f"training on {count} pairs failed")
        return {"pairs": count, "seconds": time.monotonic() - began, "peak_mb": usage.ru_maxrss / 1024}


def wait4(pid: int) -> tuple[int, int, resource.struct_rusage]:
    import os

    return os.wait4(pid, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 3_000_000], help="corpus sizes to compare")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    rows = [measure(count) for count in arguments.pairs]
    if arguments.json:
        print(json.dumps(rows))
        return
    print(f"{'pairs':>12}  {'seconds':>8}  {'pairs/s':>8}  {'peak MB':>8}")
    for row in rows:
        speed = row["pairs"] / row["seconds"]
        print(f"{row['pairs']:>12,}  {row['seconds']:>8.1f}  {speed:>8,.0f}  {row['peak_mb']:>8.0f}")
    print(f"growth of the peak from the smallest to the largest: {rows[-1]['peak_mb'] - rows[0]['peak_mb']:.0f} MB")


if __name__ == "__main__":
    main()
