"""What a person gets who gives nothing but the pairs and a time: `train PAIRS --valid DEV --time-limit TIME`.

    python bench/defaults.py g2p-korean multi30k-de-en --out /tmp/defaults      # trains these rows, one after the other
    python bench/defaults.py --list                                             # the rows and their commands
    python bench/defaults.py --score multi30k-de-en --out /tmp/defaults         # of a run that is there already
    python bench/defaults.py --table --out /tmp/defaults                        # what is there, as a table

The settings are those of the plain command but for one: training.threads=1, so that two rows may go side by side. Time
is that of the process (`time.process_time`), which stands still while other programs have the core: a busy machine
gives the same figures as a quiet one, only later. A row that is there already is not trained again. Scores are of
`evaluate` on all of the validation pairs, greedy: of those the first (500 sentences, 1,000 strings) chose the weights.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MADE = Path(tempfile.gettempdir()) / "seq2see-defaults"  # files made from the corpora
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FAMILIES = ("rnn", "rnnsearch", "luong", "convs2s", "bytenet", "transformer")
# What `seq2see` starts, by the clock of the process.
PROGRAM = "import time; time.monotonic = time.process_time; from seq2see.cli import main; main()"


@dataclass(frozen=True)
class Row:
    """A line of the table: what is trained, for how long, and the dev score that is asked for."""

    train: tuple[str, ...]
    valid: tuple[str, ...]
    minutes: float
    metric: str
    goal: float | None = None
    options: tuple[str, ...] = ()

    def command(self, out: Path, minutes: float) -> list[str]:
        valid = [part for name in self.valid for part in ("--valid", _file(name))]
        limit = ["--time-limit", f"{minutes * 60:.0f}s"]
        return ["train", *map(_file, self.train), *valid, *limit, *self.options, "--out", str(out)]


def _file(name: str) -> str:
    return name if name.startswith("builtin:") else str((MADE if name.startswith("bible/") else DATA) / name)


def make_bible() -> None:
    """Verses in Korean and English, one in twenty for validation."""
    (MADE / "bible").mkdir(parents=True, exist_ok=True)
    with gzip.open(DATA / "bible_koen" / "verses.tsv.gz", "rt", encoding="utf-8") as file:
        verses = [line.rstrip("\n").split("\t")[1:3] for line in file][1:]
    for name, wanted in (("train", False), ("dev", True)):
        rows = ("\t".join(verse) + "\n" for number, verse in enumerate(verses) if (number % 20 == 7) == wanted)
        (MADE / "bible" / f"{name}.tsv").write_text("".join(rows), encoding="utf-8")


def _g2p(language: str, minutes: float, goal: float | None, *options: str) -> Row:
    return Row((f"g2p/{language}_train.tsv",), (f"g2p/{language}_dev.tsv",), minutes, "exact", goal, options)


def _multi30k(source: str, target: str, minutes: float, goal: float | None, *options: str) -> Row:
    train = tuple(f"multi30k/train.lc.norm.tok.{side}.gz" for side in (source, target))
    valid = tuple(f"multi30k/val.lc.norm.tok.{side}.gz" for side in (source, target))
    return Row(train, valid, minutes, "bleu", goal, options)


def _tsv(folder: str, minutes: float, metric: str, *options: str) -> Row:
    return Row((f"{folder}/train.tsv.gz",), (f"{folder}/dev.tsv.gz",), minutes, metric, None, options)


ROWS = {
    "g2p-korean": _g2p("kor", 15, 80.5),
    "g2p-french": _g2p("fre", 15, 91),
    "g2p-italian": _g2p("ita", 5, 74),
    "g2p-english": _g2p("eng_us", 30, 56),
    "inflection-german": Row(("inflection/deu_train.tsv",), ("inflection/deu_dev.tsv",), 15, "exact", 78),
    "multi30k-de-en": _multi30k("de", "en", 45, 37),
    "multi30k-en-de": _multi30k("en", "de", 60, 39),
    "tatoeba": _tsv("tatoeba_koen", 30, "chrf"),
    "koen-docs": _tsv("koen_docs", 90, "chrf"),
    "dates": Row(("builtin:dates",), (), 5, "exact", 100),
    **{f"family-{name}": _multi30k("de", "en", 30, None, "--model", name) for name in FAMILIES},
    # Not looked at while the rules were made:
    "new-sort": Row(("builtin:sort",), (), 5, "exact"),
    "new-spelling-french": _g2p("fre", 15, None, "--flip"),  # from sounds to letters
    "new-bible": Row(("bible/train.tsv",), ("bible/dev.tsv",), 30, "chrf"),
}


def train(name: str, row: Row, out: Path, minutes: float, settings: list[str]) -> dict[str, Any]:
    """Trains a row into out/NAME; result.json beside it says what came out."""
    run = out / name
    changes = [part for setting in ["training.threads=1", *settings] for part in ("--set", setting)]
    arguments = [*row.command(run, minutes), *changes]
    print(f"seq2see {' '.join(arguments)}", file=sys.stderr, flush=True)
    began = time.monotonic()
    with (out / f"{name}.log").open("w", encoding="utf-8") as log:
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        child = subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stderr=log, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{name}: exit code {child.returncode}; see {out / name}.log")
    result = {
        "minutes": minutes,
        "cpu": (usage.ru_utime + usage.ru_stime) / 60,
        "wall": (time.monotonic() - began) / 60,
        "memory": usage.ru_maxrss / 1024,
        "command": " ".join(["seq2see", *arguments]),
    }
    return score(name, row, out, result)


def score(name: str, row: Row, out: Path, result: dict[str, Any]) -> dict[str, Any]:
    """result.json: what was measured of the training, and what the run says to the validation pairs."""
    run = out / name
    test = [_file(part) for part in row.valid or row.train]  # of a built-in corpus the test split
    metrics = ",".join(dict.fromkeys([row.metric, "chrf"]))
    words = ["evaluate", str(run), *test, "--metric", metrics, "--beam", "1", "--json"]
    done = subprocess.run([sys.executable, "-m", "seq2see", *words], capture_output=True, text=True, check=True)
    scores = {entry["metric"]: entry["score"] for entry in json.loads(done.stdout)["scores"]}
    result |= summary(run) | {"scores": scores}
    (out / f"{name}.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    return result


def summary(run: Path) -> dict[str, Any]:
    """What the run folder says of the run: the scores of the weights that were kept, their size."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    validations = [line for line in lines if "validation" in line]
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    metric = config["training"]["stop_metric"]
    best = max(validations, key=lambda line: line["validation"][metric] * (-1 if metric == "loss" else 1))
    updates = max(line["step"] for line in lines)
    return {
        "valid": best["validation"],
        "best_step": best["step"],
        "updates": updates,
        "model": config["model"]["family"],
        "parameters": _parameters(run),
    }


def _parameters(run: Path) -> int:
    """From the header of the weights file."""
    with (run / "model.safetensors").open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    total = 0
    for name, entry in header.items():
        if name != "__metadata__":
            count = 1
            for size in entry["shape"]:
                count *= size
            total += count
    return total


def table(out: Path) -> None:
    print("| row | minutes | goal | dev | model, parameters | updates (best) | memory |")
    print("|---|---:|---:|---:|---|---:|---:|")
    for name, row in ROWS.items():
        file = out / f"{name}.json"
        if not file.exists():
            continue
        result = json.loads(file.read_text(encoding="utf-8"))
        reached = result["scores"][row.metric]
        print(
            f"| {name} | {result['minutes']:g} | {row.goal or ''} | **{reached:.1f}** {row.metric} | "
            f"`{result['model']}`, {result['parameters']:,} | {result['updates']:,} ({result['best_step']:,}) | "
            f"{result['memory']:.0f} MB |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], help="which rows; all of them if none is named")
    parser.add_argument("--out", type=Path, default=Path("runs/defaults"))
    parser.add_argument("--minutes", type=float, help="another time limit than the table's")
    parser.add_argument("--set", dest="settings", action="append", default=[], help="by hand, to compare with")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--score", action="store_true", help="of runs that are there, without training")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        table(given.out)
        return
    for name in given.rows or ROWS:
        row = ROWS[name]
        minutes = given.minutes or row.minutes
        if given.list:
            print(f"{name}: seq2see {' '.join(row.command(Path('RUN'), minutes))}")
        elif given.score:
            print(json.dumps(score(name, row, given.out, {"minutes": minutes}), indent=1))
        elif not (given.out / f"{name}.json").exists():
            if name == "new-bible":
                make_bible()
            given.out.mkdir(parents=True, exist_ok=True)
            result = train(name, row, given.out, minutes, given.settings)
            print(f"{name}: {row.metric} {result['scores'][row.metric]:.2f}, goal {row.goal}", flush=True)


if __name__ == "__main__":
    main()
