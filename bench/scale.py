"""Training in several processes: updates a second against one process, the same gradients, and where the time goes.

    python bench/scale.py                                   # transformer and rnnsearch, small; 1, 2 and 4 processes
    python bench/scale.py --processes 1,2 --rounds 3 --steps 40

Multi30k German to English (../shared/data), 4,000 shared pieces, batches of 4,096 pieces, nothing else running beside
it. A round trains each number of processes for some updates, in turn; the figure is the median time of an update, and
the ratio is taken within a round. Beside it stand the time of one all-reduce of as many numbers as the model has
parameters, and what the model of docs/scale.md says.
"""

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from seq2see.processes import cores
from seq2see.training.group import time_all_reduce
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default="transformer,rnnsearch")
    parser.add_argument("--size", default="small")
    parser.add_argument("--processes", default="1,2,4")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    counts = [int(text) for text in given.processes.split(",")]
    print("| model | parameters | processes | s/update | times one process | all-reduce, s | predicted |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for family in given.families.split(","):
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
