"""What the demo trains: two models of one size that differ in attention, on the same pairs, for about as long."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from seq2see import atomic
from seq2see.errors import RunError
from seq2see.runs.config import merge

Family = Literal["rnn", "rnnsearch"]
FAMILIES: tuple[Family, ...] = get_args(Family)

CORPUS = "phrases-basic"
EDGES = (8, 16, 24, 32)
"""Quality is shown for references of up to so many words, and above."""
LONG = 25
"""Words from which on a sentence is called long; where a bucket begins."""

_MARK = "demo.json"
_NEVER = 1_000_000  # updates: the last one saves anyway

# Found by trying: at a higher rate or with smaller batches attention finds its place too late. Both models get the
# same; the one without attention makes more updates in the same time.
_TRAINING = {
    "batch_tokens": 900,
    "learning_rate": 6e-3,
    "warmup": 50,
    "schedule": "cosine",
    "beta2": 0.999,
    "weight_decay": 0.0,
    "label_smoothing": 0.0,
    "save_every": _NEVER,
    "threads": 1,
    "device": "cpu",
}
_UPDATES: dict[Family, int] = {"rnn": 1750, "rnnsearch": 1100}
_VALIDATIONS = 5  # each keeps its sentences and a map: on the page of `serve`, attention is seen learning
_ENCODER = {"embedding": 64, "hidden": 96, "bidirectional": True, "dropout": 0.0}
_MODELS: dict[Family, dict[str, Any]] = {
    # A wider decoder makes up for the parameters of the attention it lacks.
    "rnn": {"embedding": 64, "hidden": 100, "dropout": 0.0, "encoder": _ENCODER},
    "rnnsearch": {"embedding": 64, "hidden": 96, "readout": 96, "dropout": 0.0, "encoder": _ENCODER},
}
_TOKENIZER = {"scheme": "word", "vocabulary": 6000, "byte_fallback": False}


@dataclass(frozen=True)
class Plan:
    """One demo.

    seconds   of training, for each model; None: as many updates as were found to be enough
    pairs     to train on;  each: test sentences of each length
    """

    out: Path
    seconds: float | None = None
    seed: int = 1
    pairs: int = 30_000
    each: int = 120

    @property
    def training_pairs(self) -> Path:
        return self.out / "pairs.tsv"

    @property
    def test(self) -> Path:
        return self.out / "test.tsv"

    @property
    def report(self) -> Path:
        return self.out / "report.html"

    def run(self, family: Family) -> Path:
        return self.out / family

    def settings(self, family: Family) -> dict[str, Any]:
        """As a recipe has them."""
        length = {"steps": _UPDATES[family]} if self.seconds is None else {"time_limit": self.seconds, "epochs": _NEVER}
        return {
            "data": {
                "train": [str(self.training_pairs)],
                "valid_pairs": 200,
                "source_language": "ko",  # what `seq2see serve` tells other programs
                "target_language": "en",
            },
            "tokenizer": _TOKENIZER,
            "model": merge({"family": family, "size": "tiny"}, _MODELS[family]),
            "training": _TRAINING | {"seed": self.seed, "validate_every": _UPDATES[family] // _VALIDATIONS} | length,
        }

    def mark(self) -> dict[str, Any]:
        """What makes it another demo, so that one that was interrupted goes on only as itself."""
        return {"corpus": CORPUS, "pairs": self.pairs, "seed": self.seed, "seconds": self.seconds}


def claim(plan: Plan) -> None:
    """Makes the folder, or takes the one that the same demo has made before."""
    out, mark = plan.out, plan.out / _MARK
    if mark.exists():
        _check(mark, plan)
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out}: is not empty and holds no demo; choose a new folder for --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise atomic.cannot_write(out, error) from None
    atomic.write_json(mark, plan.mark())


def _check(mark: Path, plan: Plan) -> None:
    try:
        saved = atomic.read_json(mark)
    except (OSError, ValueError) as error:
        raise RunError(f"{mark}: cannot be read ({error}); delete {mark.parent} and start again") from None
    if saved != plan.mark():
        raise RunError(
            f"{mark.parent}: holds a demo with other options ({mark.name} says which); "
            "choose another --out, or delete the folder"
        )
