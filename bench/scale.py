"""Training in several processes: updates a second against one process, the same gradients, and where the time goes.

    python bench/scale.py                                   # transformer and rnnsearch, small; 1, 2 and 4 processes
    python bench/scale.py --processes 1,2 --rounds 3 --steps 40
    python bench/scale.py --beside 1 --processes 1,2        # while one other program keeps a core busy

Multi30k German to English (../shared/data), 4,000 shared pieces, batches of 4,096 pieces, nothing else running beside
it. A round trains each number of processes for some updates, in turn; the figure is the median time of an update, and
the ratio is taken within a round. Beside it stand the time of one all-reduce of as many numbers as the model has
parameters, and what the model of docs/scale.md says. Beside other programs (--beside) it is also said what
`seq2see train` would choose by itself, three times: its probe is a measurement too.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seq2see.processes import cores
from seq2see.training.parallel.group import time_all_reduce
from seq2see.training.reporting import SilentReporter
from seq2see.training.run import new_config, train_run

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"


def settings(family: str, size: str, processes: int, steps: int) -> dict[str, Any]:
    sides = [f"{DATA}/train.lc.norm.tok.{side}.gz" for side in ("de", "en")]
    valid = [f"{DATA}/val.lc.norm.tok.{side}.gz" for side in ("de", "en")]
    return {
        "data": {"train": sides, "valid": valid, "shared_vocabulary": True, "valid_pairs": 4},
        "tokenizer": {"scheme": "bpe", "vocabulary": 4000},
        "model": {"family": family, "size": size},
        "training": {
            **{"steps": steps, "batch_tokens": 4096, "threads": 1, "processes": processes},
            **{"validate_every": 10**6, "save_every": 10**6, "stop_metric": "loss"},
        },
    }


def update_seconds(family: str, size: str, processes: int, steps: int, folder: Path) -> float:
    """Median over updates, the first ones left out."""
    out = folder / f"{family}-{processes}-{time.monotonic_ns()}"
    train_run(new_config(settings(family, size, processes, steps)), out, SilentReporter())
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return statistics.median(line["seconds"] for line in lines[5:] if "seconds" in line)


def parameters(folder: Path) -> int:
    from safetensors.torch import load_file

    newest = max(folder.glob("*/model.safetensors"), key=lambda path: path.stat().st_mtime)
    return sum(weight.numel() for weight in load_file(newest).values())


@contextmanager
def others_at_work(count: int) -> Iterator[None]:
    busy = [subprocess.Popen([sys.executable, "-Sc", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def chosen(family: str, size: str) -> int:
    """How many processes `seq2see train` takes by itself now."""
    sides = [f"{DATA}/train.lc.norm.tok.{side}.gz" for side in ("de", "en")]
    command = [sys.executable, "-m", "seq2see", "train", *sides, "--model", family, "--size", size, "--plan"]
    said = subprocess.run([*command, "--time-limit", "5m"], capture_output=True, text=True, check=True)
    found = re.search(r"^processes: (\d+)", said.stdout + said.stderr, re.MULTILINE)
    return int(found[1]) if found else 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default="transformer,rnnsearch")
    parser.add_argument("--size", default="small")
    parser.add_argument("--processes", default="1,2,4")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--beside", type=int, default=0, help="programs that keep a core busy meanwhile")
    given = parser.parse_args()
    with others_at_work(given.beside):
        compare(given)


def compare(given: argparse.Namespace) -> None:
    counts = [int(text) for text in given.processes.split(",")]
    print("| model | parameters | processes | s/update | times one process | all-reduce, s | predicted |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for family in given.families.split(","):
        if given.beside:
            choices = [chosen(family, given.size) for _ in range(3)]
            print(f"{family} {given.size} beside {given.beside}: chooses {choices} processes", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            rounds = [
                {count: update_seconds(family, given.size, count, given.steps, Path(folder)) for count in counts}
                for _ in range(given.rounds)
            ]
            size = parameters(Path(folder))
        for count in counts:
            seconds = statistics.median(measured[count] for measured in rounds)
            ratio = statistics.median(measured[counts[0]] / measured[count] for measured in rounds)
            reduce = time_all_reduce(size, count, 20) if count > 1 else 0.0
            alone = statistics.median(measured[counts[0]] for measured in rounds)
            predicted = alone / (alone / min(count, cores()) + reduce)
            print(
                f"| {family} {given.size} | {size:,} | {count} | {seconds:.3f} | {ratio:.2f} | {reduce:.3f} | "
                f"{predicted:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
