"""The run folder: a model is one directory that describes itself, and loading it runs no code.

config.json              everything the run was told, with the format's version
tokenizer.source.json    how text becomes pieces
tokenizer.target.json
model.safetensors        the weights
manifest.json            SHA-256 of the files above; written last, so a folder that has it is complete
metrics.jsonl            a line for each update and validation
checkpoints/             the state of training
data/                    the pairs as ids; can be deleted when training is over
pairs.jsonl              pairs that were given as a list rather than as a file; valid.jsonl likewise
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from seq2see import durable
from seq2see.errors import RunError
from seq2see.models import Model, from_config, load_config
from seq2see.text import Tokenizer
from seq2see.training.config import VERSION, RunConfig, read_config
from seq2see.training.weights import save_weights

CONFIG, WEIGHTS, MANIFEST = "config.json", "model.safetensors", "manifest.json"
TOKENIZERS = ("tokenizer.source.json", "tokenizer.target.json")
PAIRS = ("pairs.jsonl", "valid.jsonl")
VOICE = "tacotron"  # the family that has a folder of its own kind: seq2see.speech.training
_LISTED = (CONFIG, *TOKENIZERS, WEIGHTS)  # what the manifest vouches for


@dataclass(frozen=True)
class Run:
    """A run as it was loaded."""

    path: Path
    config: RunConfig
    tokenizers: tuple[Tokenizer, Tokenizer]
    model: Model[Any, Any]


def read_run_config(path: Path) -> RunConfig:
    """config.json of a run folder, finished or not."""
    try:
        saved = json.loads((path / CONFIG).read_text(encoding="utf-8"))
        version = saved["version"]
    except FileNotFoundError:
        raise RunError(f"{path}: not a run folder (it has no {CONFIG}); `seq2see train` makes one") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{path / CONFIG}: cannot be read ({type(error).__name__}: {error})") from None
    if not isinstance(version, int) or version > VERSION:
        raise RunError(f"{path}: made by a newer seq2see (format {version}; this one reads up to {VERSION})")
    return read_config(saved)


def load_tokenizers(path: Path) -> tuple[Tokenizer, Tokenizer]:
    return Tokenizer.load(path / TOKENIZERS[0]), Tokenizer.load(path / TOKENIZERS[1])


def load_run(path: Path) -> Run:
    """A finished run, every file checked against the manifest."""
    config = read_run_config(path)
    if config.model.get("family") == VOICE:
        raise RunError(f"{path}: is a voice; use `seq2see speak {path}`")
    check_manifest(path)
    model = from_config(load_config(config.model))
    load_weights(path, model)
    return Run(path, config, load_tokenizers(path), model.eval())


def load_weights(path: Path, model: nn.Module) -> None:
    """The weights of a run into a model made from its config."""
    try:
        weights = load_file(path / WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise RunError(f"{path / WEIGHTS}: cannot be read ({error})") from None
    expected = model.state_dict()
    missing, unexpected = sorted(expected.keys() - weights.keys()), sorted(weights.keys() - expected.keys())
    if missing or unexpected:
        raise RunError(f"{path / WEIGHTS}: does not fit {CONFIG}; missing {missing[:3]}, unexpected {unexpected[:3]}")
    for name, value in weights.items():
        if value.shape != expected[name].shape:
            raise RunError(
                f"{path / WEIGHTS}: {name} has shape {tuple(value.shape)}, the model {tuple(expected[name].shape)}"
            )
    model.load_state_dict(weights)


def finish(path: Path, model: nn.Module, listed: Sequence[str] = _LISTED) -> None:
    """The last word of training: the weights, then the manifest."""
    save_weights(path / WEIGHTS, model.state_dict())
    durable.write_json(path / MANIFEST, {name: durable.digest(path / name) for name in listed})


def is_finished(path: Path) -> bool:
    return (path / MANIFEST).exists()


def check_manifest(path: Path, listed: Sequence[str] = _LISTED) -> None:
    """Every file of a finished run is what training wrote."""
    try:
        manifest = json.loads((path / MANIFEST).read_text())
    except FileNotFoundError:
        raise RunError(f"{path}: training has not finished; go on with `seq2see train --resume --out {path}`") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{path / MANIFEST}: cannot be read ({error})") from None
    if not isinstance(manifest, dict) or not set(listed) <= manifest.keys():
        raise RunError(f"{path / MANIFEST}: cannot be read (it does not list {', '.join(listed)})")
    for name, expected in manifest.items():
        try:
            found = durable.digest(path / Path(name).name)
        except OSError as error:
            raise RunError(f"{path / name}: cannot be read ({error.strerror})") from None
        if found != expected:
            raise RunError(f"{path / name}: damaged or changed (its SHA-256 is not the one in {MANIFEST})")
