"""Fuzzes readers for as long as one likes.

    python tests/fuzz/run.py --minutes 60                    everything, in turns
    python tests/fuzz/run.py --hours 2 --only xliff          one format; a room: readers, documents, folders, sound
    python tests/fuzz/run.py --format po --seed 12345        one input again, with what came of it
    python tests/fuzz/run.py --format po --input FOLDER      an input that was saved

Ends with a table in Markdown and exit code 1 if anything was found; inputs of findings lie in --save.
"""

import argparse
import json
import sys
import time
from itertools import cycle
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parents[2] / "src"))

from fuzzing.catalogue import chosen
from fuzzing.harness import Harness, as_json, table

SLICE = 5.0  # seconds of a target until it is the next one's turn


def main() -> int:
    arguments = _arguments()
    if arguments.list:
        for target in chosen(arguments.only):
            print(f"{target.room:10} {target.name}")
        return 0
    with Harness(keep=arguments.save) as harness:
        if arguments.format is not None:
            return _one(harness, arguments)
        _all(harness, arguments)
        print(table(harness.figures))
        if arguments.json is not None:
            arguments.json.write_text(as_json(harness) + "\n")
        for finding, count in harness.different():
            print(f"\n{count:,} times {finding}")
        return 1 if harness.findings else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--hours", type=float, default=0.0)
    parser.add_argument("--inputs", type=int, help="of each target, instead of a time")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a target, a format or a room")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--format", metavar="TARGET", help="one target, with --seed or --input")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--input", type=Path, metavar="FOLDER")
    parser.add_argument("--save", type=Path, default=Path("runs/fuzz"), metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures for programs")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.format is not None and (arguments.seed is None) == (arguments.input is None):
        parser.error("--format goes with --seed or with --input")
    if arguments.format is None and not (arguments.minutes or arguments.hours or arguments.inputs or arguments.list):
        parser.error("how long? --minutes, --hours or --inputs")
    return arguments


def _one(harness: Harness, arguments: argparse.Namespace) -> int:
    if arguments.input is not None:
        answer = harness.run_saved(arguments.format, arguments.input.resolve())
        print(json.dumps(answer, ensure_ascii=False, indent=1))
        return 0 if answer["kind"] in ("accepted", "refused") else 1
    findings = harness.run(arguments.format, [arguments.seed])
    harness.save(arguments.format, arguments.seed, folder := arguments.save / f"{arguments.format}-{arguments.seed}")
    figures = harness.figures[arguments.format]
    print(
        *findings or ["accepted" if figures.accepted else "refused, as it should be"], f"the input: {folder}", sep="\n"
    )
    return 1 if findings else 0


def _all(harness: Harness, arguments: argparse.Namespace) -> None:
    """In turns, each target for some seconds; the next turn goes on with the next seeds."""
    names = [target.name for target in chosen(arguments.only)]
    if arguments.inputs is not None:
        for name in names:
            _report(harness, name, range(arguments.start, arguments.start + arguments.inputs))
        return
    seeds = dict.fromkeys(names, arguments.start)
    end = time.monotonic() + 60 * arguments.minutes + 3600 * arguments.hours
    for name in cycle(names):
        slice_end = min(end, time.monotonic() + SLICE)
        step = 10
        while time.monotonic() < slice_end:
            _report(harness, name, range(seeds[name], seeds[name] + step))
            seeds[name] += step
            step = min(2 * step, 160)
        if time.monotonic() >= end:
            return


def _report(harness: Harness, name: str, seeds: range) -> None:
    """What is new is said at once, for those who watch."""
    known = len(harness.different())
    harness.run(name, seeds)
    for finding, _ in harness.different()[known:]:
        print(finding, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
