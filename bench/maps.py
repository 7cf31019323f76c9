"""The maps of docs/attention.md: one small model for each mechanism, one sentence, drawn by `seq2see look`.

    python bench/maps.py                          trains what is not trained yet, draws everything anew
    python bench/maps.py --runs DIR --only cosine local-p

Every model learns the same short pairs of `phrases-basic`, on one core, about a minute each. A run that was stopped
goes on where it was; one that is complete is not trained again. Prints the alignment error of each model's best head
on 500 unseen pairs, beside what it says for the sentence by itself.
"""

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from seq2see import atomic, corpora
from seq2see.evaluate.alignment import pharaoh

SOURCE = "그 변호사는 현우가 주문한 코코아를 마셨어요 ."
TARGET = "The lawyer drank the cocoa that Hyeonwoo ordered ."
CORPUS, PAIRS, UNSEEN, LONGEST = "phrases-basic", 30_000, 500, 14
MAPS = Path(__file__).parents[1] / "docs" / "maps"

COMMON = (
    "data.valid_pairs=200",
    "tokenizer.scheme=word",
    "tokenizer.vocabulary=6000",
    "tokenizer.byte_fallback=false",
    "training.schedule=cosine",
    "training.warmup=50",
    "training.weight_decay=0.0",
    "training.label_smoothing=0.0",
    "training.save_every=200",
    "training.validate_every=1000000",
    "training.threads=1",
    "training.device=cpu",
)
RECURRENT = (
    "training.steps=800",
    "training.batch_tokens=600",
    "training.learning_rate=5e-3",
    "training.beta2=0.999",
    "model.embedding=64",
    "model.hidden=128",
    "model.dropout=0.0",
    "model.encoder.embedding=64",
    "model.encoder.hidden=64",  # two directions: keys of 128, the width of the query, which dot products need
    "model.encoder.dropout=0.0",
)
PARALLEL = ("training.steps=800", "training.batch_tokens=900", "training.learning_rate=2e-3")


@dataclass(frozen=True)
class Mechanism:
    """A model to train, and the pictures to draw of it: (file, options of `look`)."""

    family: str
    settings: tuple[str, ...] = ()
    pictures: tuple[tuple[str, tuple[str, ...]], ...] = ()


def _luong(*settings: str) -> Mechanism:
    """Without input feeding: the decoder then reads a known target in one call, several times as fast."""
    attention = (f"model.attention.{setting}" for setting in settings)
    return Mechanism("luong", (*RECURRENT, "model.input_feeding=false", *attention))


MECHANISMS = {
    "dot": _luong("score=dot"),
    "scaled-dot": _luong("score=scaled_dot"),
    "general": _luong("score=general"),
    "additive": Mechanism("rnnsearch", (*RECURRENT, "model.readout=96", "model.attention.score=additive")),
    "cosine": _luong("score=cosine"),
    "location": _luong("score=location"),
    "location-aware": Mechanism("rnnsearch", (*RECURRENT, "model.readout=96", "model.attention.score=location_aware")),
    "local-m": _luong("score=general", "scope=local-m", "window=3"),
    "local-p": _luong("score=dot", "scope=local-p", "window=3"),
    "multi-head": Mechanism(
        "transformer",
        (*PARALLEL, "model.layers=2", "model.dropout=0.0"),
        (
            ("multi-head-cross", ()),
            ("multi-head-other", ("--layer", "0", "--head", "0")),
            ("encoder-self", ("--kind", "encoder", "--layer", "0", "--head", "0")),
            ("decoder-self", ("--kind", "decoder", "--layer", "0", "--head", "0")),
        ),
    ),
    "convs2s": Mechanism("convs2s", (*PARALLEL, "model.encoder.dropout=0.0", "model.decoder.dropout=0.0")),
}


def seq2see(*words: str, text: str | None = None, capture: bool = False) -> str:
    """Runs one command with `text` on its stdin; returns its stdout if captured."""
    command = [sys.executable, "-m", "seq2see", *words]
    stdout = subprocess.PIPE if capture else None
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(command, check=True, env=environment, text=True, input=text, stdout=stdout).stdout or ""


def short_pairs(split: corpora.Split, count: int) -> list[corpora.Example]:
    every = corpora.examples(CORPUS, split, limit=1_000_000)
    return list(islice((example for example in every if len(example.target.split()) <= LONGEST), count))


def write_pairs(runs: Path) -> None:
    """Pairs to learn from, without their alignment: nobody tells these models where to look; unseen ones with it."""
    if (runs / "unseen.gold").exists():
        return
    files: tuple[tuple[corpora.Split, str, int], ...] = (("train", "pairs.tsv", PAIRS), ("test", "unseen.tsv", UNSEEN))
    for split, file, count in files:
        lines = [f"{example.source}\t{example.target}\n" for example in short_pairs(split, count)]
        atomic.write_file(runs / file, "".join(lines).encode())
    gold = [pharaoh(example.alignment or ()) + "\n" for example in short_pairs("test", UNSEEN)]
    atomic.write_file(runs / "unseen.gold", "".join(gold).encode())


def train(name: str, runs: Path) -> Path:
    """The run folder, trained to its end."""
    run, mechanism = runs / name, MECHANISMS[name]
    if (run / "manifest.json").exists():
        return run
    if (run / "checkpoints").exists():
        seq2see("train", "--resume", "--out", str(run))
        return run
    changes = [word for setting in (*COMMON, *mechanism.settings) for word in ("--set", setting)]
    sized = ["--model", mechanism.family, "--size", "tiny"]
    seq2see("train", str(runs / "pairs.tsv"), *sized, "--out", str(run), *changes)
    return run


def draw(name: str, run: Path) -> None:
    for file, options in MECHANISMS[name].pictures or ((name, ()),):
        seq2see("look", str(run), SOURCE, "--target", TARGET, *options, "-o", str(MAPS / f"{file}.svg"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=Path, default=Path("runs/maps"), help="where the models are kept")
    parser.add_argument("--only", nargs="+", choices=list(MECHANISMS), default=list(MECHANISMS), help="some of them")
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    write_pairs(options.runs)
    MAPS.mkdir(exist_ok=True)
    for name in options.only:
        run = train(name, options.runs)
        unseen = [str(options.runs / "unseen.tsv"), "--gold", str(options.runs / "unseen.gold")]
        figures = json.loads(seq2see("align", str(run), *unseen, "--json", capture=True))
        draw(name, run)
        translation = seq2see("translate", str(run), text=f"{SOURCE}\n", capture=True).strip()
        place = f"layer {figures['layer']}, head {figures['head']}"
        print(f"{name:<15} AER {figures['aer']:.3f} ({place})  {translation}", flush=True)


if __name__ == "__main__":
    main()
