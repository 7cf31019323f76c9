"""The run folder: a model is one directory that describes itself, and loading it runs no code.

config.json              everything the run was told, with the format's version
tokenizer.source.json    how text becomes pieces
tokenizer.target.json
model.safetensors        the weights
manifest.json            SHA-256 of the files above; written last, so a folder that has it is complete
metrics.jsonl            a line for each update and validation, with three sentences and what it made of them
validation_maps.jsonl    what it looked at in one of them, at each validation
evaluations/             what `seq2see evaluate` found, test set by test set
checkpoints/             the state of training
data/                    the pairs as ids; can be deleted when training is over
engines/, shortlist/     graphs of ONNX Runtime and a shortlist, each with a manifest of its own; can be made again
inputs.json              which data files it learns from: place, size, SHA-256
extension.json           settings of a finished run that is being trained further; config.json from the end of it on
pairs.jsonl              pairs that were given as a list rather than as a file; valid.jsonl likewise
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from seq2see import atomic
from seq2see.errors import ConfigError, RunError, brief
from seq2see.models import Model, ModelConfig, from_config, load_config
from seq2see.runs.commit import MANIFEST, commit, place_of
from seq2see.runs.config import CONFIG as CONFIG
from seq2see.runs.config import NOT_A_RUN, VERSION, RunConfig, read_config
from seq2see.runs.config import VOICE as VOICE
from seq2see.runs.weights import check_finite, save_weights
from seq2see.runs.weights_file import fill, make_unfilled
from seq2see.text import Tokenizer

WEIGHTS, EXTENSION = "model.safetensors", "extension.json"
TOKENIZERS = ("tokenizer.source.json", "tokenizer.target.json")
PAIRS = ("pairs.jsonl", "valid.jsonl", "mono.jsonl", "distilled.jsonl")  # what a run may bring along
LETTERS = "letters.json"  # of a voice, where a model of text has its tokenizers
_LONGEST_NAME = 255  # what file systems allow
LISTED = (CONFIG, *TOKENIZERS, WEIGHTS)  # what the manifest vouches for


@dataclass(frozen=True)
class Run:
    """A run as it was loaded."""

    path: Path
    config: RunConfig
    tokenizers: tuple[Tokenizer, Tokenizer]
    model: Model[Any, Any]


def read_run_config(path: Path, name: str = CONFIG) -> RunConfig:
    """config.json of a run folder, finished or not."""
    try:
        saved = atomic.read_json(place_of(path, name))
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{path}: {NOT_A_RUN}") from None
    except OSError as error:
        raise RunError(f"{path / name}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise RunError(f"{path / name}: cannot be read ({error})") from None
    version = saved.get("version") if isinstance(saved, dict) else None
    if version is None:
        raise RunError(f"{path / name}: cannot be read (it names no version)")
    if not isinstance(version, int) or version > VERSION:
        raise RunError(f"{path}: made by a newer seq2see (format {brief(version)}; this one reads up to {VERSION})")
    try:
        return read_config(saved)
    except ConfigError as error:
        raise RunError(f"{path / CONFIG}: {error}") from None


def load_tokenizers(path: Path) -> tuple[Tokenizer, Tokenizer]:
    return Tokenizer.load(path / TOKENIZERS[0]), Tokenizer.load(path / TOKENIZERS[1])


def load_run(path: Path) -> Run:
    """A finished run, every file checked against the manifest. What does not fit is refused before memory is taken."""
    config = read_run_config(path)
    if config.model.get("family") == VOICE:
        raise RunError(f"{path}: is a voice; use `seq2see speak {path}`")
    check_manifest(path)
    model_config = _model_config(path, config)
    weights = place_of(path, WEIGHTS)
    model = make_unfilled(weights, lambda: from_config(model_config), model_config.model_dump())
    tokenizers = load_tokenizers(path)
    check_vocabularies(path, config, tokenizers)
    return Run(path, config, tokenizers, fill(weights, model))


def _model_config(path: Path, config: RunConfig) -> ModelConfig:
    try:
        return load_config(config.model)
    except ConfigError as error:
        raise RunError(f"{path / CONFIG}: {error}") from None


def check_vocabularies(path: Path, config: RunConfig, tokenizers: tuple[Tokenizer, Tokenizer]) -> None:
    """The model has a vector for each piece of its tokenizers, and no other."""
    for side, name, tokenizer in zip(("source", "target"), TOKENIZERS, tokenizers, strict=True):
        size = config.model.get(f"{side}_vocabulary")
        if size != tokenizer.size:
            raise RunError(
                f"{path}: {name} has {tokenizer.size} pieces, but {CONFIG} says model.{side}_vocabulary = {brief(size)}"
            )


def finish(path: Path, model: nn.Module, listed: Sequence[str] = LISTED) -> None:
    """The last word of training: the weights, the settings if they were extended, and the manifest, all at once."""
    weights = model.state_dict()
    check_finite(weights, "at the end of training")
    extension = path / EXTENSION
    writers = {WEIGHTS: lambda file: save_weights(file, weights)}
    if extension.exists():
        writers[CONFIG] = lambda file: atomic.write_file(file, extension.read_bytes())
    commit(path, writers, listed)
    extension.unlink(missing_ok=True)


def training_config(path: Path) -> RunConfig:
    """What is being trained, or was: the settings of an extension, else config.json."""
    return read_run_config(path, EXTENSION if (path / EXTENSION).exists() else CONFIG)


def remember(path: Path, config: RunConfig) -> None:
    """Settings that training goes on with. A finished run keeps its own beside them, until the new one is whole."""
    if config != training_config(path):
        name = EXTENSION if is_finished(path) else CONFIG
        atomic.write_json(path / name, config.as_json())


def write_config(path: Path, config: RunConfig) -> None:
    atomic.write_json(path / CONFIG, config.as_json())


def run_digest(path: Path) -> str:
    """What tells this finished run from any other, or from itself before it was trained further."""
    manifest = atomic.read_json(path / MANIFEST)
    return hashlib.sha256("".join(manifest[name] for name in LISTED).encode()).hexdigest()


def is_finished(path: Path) -> bool:
    return (path / MANIFEST).exists()


def check_manifest(path: Path, listed: Sequence[str] = LISTED) -> None:
    """Every file of a finished run is what training wrote."""
    try:
        manifest = atomic.read_json(path / MANIFEST)
    except FileNotFoundError:
        raise RunError(f"{path}: training has not finished; go on with `seq2see train --resume --out {path}`") from None
    except OSError as error:
        raise RunError(f"{path / MANIFEST}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise RunError(f"{path / MANIFEST}: cannot be read ({error})") from None
    if not isinstance(manifest, dict) or not set(listed) <= manifest.keys():
        raise RunError(f"{path / MANIFEST}: cannot be read (it does not list {', '.join(listed)})")
    for name, expected in manifest.items():
        if name != Path(name).name or name in ("", "..") or len(name) > _LONGEST_NAME:
            raise RunError(f"{path / MANIFEST}: lists {brief(name)}, which is no name of a file in this folder")
        try:
            digest = atomic.digest(place_of(path, name))
        except OSError as error:
            raise RunError(f"{path / name}: cannot be read ({error.strerror})") from None
        if digest != expected:
            raise RunError(f"{path / name}: damaged or changed (its SHA-256 is not the one in {MANIFEST})")
