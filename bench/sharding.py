"""What each process holds while several train one model: with the optimiser's state whole, and divided (--shard).

    python bench/sharding.py                                # a Transformer of 50 million parameters, 1 and 2 processes
    python bench/sharding.py --width 1024 --processes 2,4

Bytes for a parameter are the peak of the process's own memory above what it had before the model was made, divided by
the number of parameters; batches are a few pieces, so that activations hardly count. No validation and one checkpoint,
at the end, when the first process holds the whole state once.
"""

import argparse
import json
import statistics
import tempfile
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from seq2see.training import run
from seq2see.training.parallel.group import ProcessGroup
from seq2see.training.reporting import SilentReporter
from seq2see.training.run import follow_run, new_config, train_run


def settings(width: int, processes: int, *, shard: bool) -> dict[str, Any]:
    return {
        "data": {"train": ["builtin:reverse,count=300"], "valid_pairs": 4},
        "tokenizer": {"scheme": "word", "byte_fallback": False},
        "model": {"family": "transformer", "width": width, "heads": 8, "inner": 4 * width, "layers": 4},
        "training": {
            **{"steps": 6, "batch_tokens": 64, "threads": 1, "processes": processes, "shard": shard},
            **{"validate_every": 10**6, "save_every": 10**6, "stop_metric": "loss", "device": "cpu"},
        },
    }


def memory(key: str) -> int:
    """Of this process, in bytes: VmRSS now, VmHWM at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(f"{key}:"))


def forget_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def write_down(out: Path, rank: int, before: int, when: str) -> None:
    (out / f"memory-{rank}-{when}").write_text(str(memory("VmHWM") - before))


def measured_follow(out: Path, group: ProcessGroup) -> None:
    before = forget_peak()
    follow_run(out, group)
    write_down(out, group.rank, before, "end")


class Measuring(SilentReporter):
    """The first process, at its last update: before the checkpoint and the final weights."""

    def __init__(self, out: Path) -> None:
        self.out, self.before = out, forget_peak()

    def update(self, update: Any, progress: Any) -> None:
        if update.step == progress.total:
            write_down(self.out, 0, self.before, "updates")


def train_measured(width: int, processes: int, out: Path, shard: bool) -> None:
    reporter = Measuring(out)
    train_run(new_config(settings(width, processes, shard=shard)), out, reporter)
    write_down(out, 0, reporter.before, "end")


def measure(width: int, processes: int, folder: Path, *, shard: bool) -> tuple[int, float, dict[str, int]]:
    """Parameters, seconds an update, bytes above the beginning by process and moment."""
    out = folder / f"{processes}-{shard}"
    first = get_context("spawn").Process(target=train_measured, args=(width, processes, out, shard))
    first.start()  # memory that an earlier training has given back would be used again unseen
    first.join()
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    seconds = statistics.median(line["seconds"] for line in lines[1:] if "seconds" in line)
    found = {path.name.removeprefix("memory-"): int(path.read_text()) for path in out.glob("memory-*")}
    return (out / "model.safetensors").stat().st_size // 4, seconds, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--processes", default="1,2")
    given = parser.parse_args()
    print("| parameters | processes | state | s/update | bytes a parameter: first | with checkpoint | other |")
    with tempfile.TemporaryDirectory() as folder:
        for processes in map(int, given.processes.split(",")):
            for shard in (False, True) if processes > 1 else (False,):
                size, seconds, found = measure(given.width, processes, Path(folder), shard=shard)
                figures = [found.get(key, 0) / size for key in ("0-updates", "0-end", "1-end")]
                print(
                    f"| {size:,} | {processes} | {'divided' if shard else 'whole'} | {seconds:.2f} | "
                    + " | ".join(f"{figure:.1f}" for figure in figures)
                    + " |",
                    flush=True,
                )


# Other processes are started by the name of this function, which the rules of `spawn` look up in this file.
run.follow_run = measured_follow  # type: ignore[assignment]

if __name__ == "__main__":
    main()
