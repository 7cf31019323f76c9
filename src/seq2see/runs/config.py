"""Everything a run was told, in one frozen object: `config.json` of the run folder.

Each default stands here and nowhere else; the descriptions are the help text.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from seq2see.errors import ConfigError
from seq2see.formats.reading.encodings import check_encoding
from seq2see.settings import setting_error
from seq2see.text import NormalForm, PairTokenizerConfig

VERSION = 1  # of the run folder; a newer one is refused
CONFIG, METRICS, VALIDATION_MAPS = "config.json", "metrics.jsonl", "validation_maps.jsonl"
VOICE = "tacotron"  # the family whose run folder is of its own kind: seq2see.speech.training
NOT_A_RUN = f"not a run folder (it has no {CONFIG}); `seq2see train` makes one"
TAKEN = "already holds a run; go on with it by --resume, or choose another --out"

Schedule = Literal["inverse-sqrt", "cosine", "linear", "plateau", "constant"]
Clock = Literal["wall", "cpu"]
StopMetric = Literal["loss", "bleu", "chrf", "exact"]


class ConfigSection(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DataConfig(ConfigSection):
    """Which pairs, and how they are read."""

    train: tuple[str, ...] = Field((), description="files, two plain files, or builtin:NAME; `a.tsv:2` counts twice")
    valid: tuple[str, ...] = Field(
        (), description="validation pairs; if none, some training pairs are held out by hash"
    )
    alignments: str | None = Field(None, description="word alignments of the training pairs, a Pharaoh file")
    mono: str | None = Field(
        None, description="pairs with a machine's sources, as --mono makes them: learned from, never validated on"
    )
    distilled: str | None = Field(
        None, description="pairs with a machine's targets, as --distil makes them: learned from, never validated on"
    )
    form: NormalForm = Field("NFC", description="Unicode normal form of all text")
    source_language: str | None = Field(
        None, description="side of a TMX, XLIFF or JSONL that is the source, such as ko"
    )
    target_language: str | None = Field(
        None, description="side of a TMX, XLIFF or JSONL that is the target, such as en"
    )
    encoding: str | None = Field(
        None, description="of files that do not state it themselves, such as cp949 or utf-16; if not given, UTF-8"
    )
    flip: bool = Field(False, description="learn the other direction: from the target to the source of the pairs")
    shared_vocabulary: bool = Field(False, description="one vocabulary for both sides")
    invented: int = Field(
        0,
        ge=0,
        description="pairs made from training pairs by putting another stem into both sides",
    )
    valid_pairs: int = Field(1000, ge=1, description="how many pairs a validation looks at, at most")
    held_out: int = Field(50, ge=2, description="one source in so many is held out, if no validation pairs are given")

    @field_validator("encoding")
    @classmethod
    def known_encoding(cls, name: str | None) -> str | None:
        return check_encoding(name)


class TrainingConfig(ConfigSection):
    """How it is trained."""

    steps: int | None = Field(None, ge=1, description="updates; if not given, `epochs` decides")
    epochs: int = Field(30, ge=1, description="passes over the pairs, if `steps` is not given")
    time_limit: float | None = Field(
        None, gt=0, description="seconds of training, over all sessions; the schedule is fitted to it"
    )
    clock: Clock = Field(
        "wall", description="what seconds are: wall, or cpu, which counts the processor time of this process alone"
    )
    batch_tokens: int = Field(4096, ge=16, description="pieces in a batch, padding included, of the longer side")
    accumulate: int = Field(1, ge=1, description="batches summed up for one update")
    learning_rate: float = Field(1e-3, gt=0, description="the highest, at the end of warm-up")
    warmup: int = Field(400, ge=0, description="updates until it is reached")
    schedule: Schedule = Field("inverse-sqrt", description="inverse-sqrt, cosine, linear, plateau or constant")
    plateau_factor: float = Field(0.5, gt=0, lt=1, description="of plateau: what the rate is multiplied with")
    plateau_patience: int = Field(2, ge=1, description="of plateau: validations without improvement before that")
    weight_decay: float = Field(0.01, ge=0, description="of AdamW")
    beta2: float = Field(0.98, gt=0, lt=1, description="of AdamW: how long squared gradients are remembered")
    label_smoothing: float = Field(0.1, ge=0, lt=1, description="share of probability spread over all pieces")
    clip: float = Field(1.0, gt=0, description="largest norm of a gradient")
    max_length: int = Field(256, ge=2, le=65_535, description="pairs with more pieces on a side are left out")
    scheduled_sampling: float = Field(
        0.0, ge=0, le=1, description="share of target words replaced by the model's own guesses (two passes)"
    )
    word_dropout: float = Field(
        0.0, ge=0, lt=1, description="share of target words hidden from the decoder, so that it has to look"
    )
    guided_alignment: float = Field(0.0, ge=0, description="weight of the alignment loss; needs alignments")
    ema: float = Field(
        0.0, ge=0, lt=1, description="decay of a moving average of the weights, used for validation and the end"
    )
    average: int = Field(
        0, ge=0, description="how many checkpoints the final weights are the mean of; 0: the best one alone"
    )
    average_of: Literal["last", "best"] = Field("last", description="which checkpoints are averaged")
    validate_every: int = Field(500, ge=1, description="updates between validations")
    save_every: int = Field(500, ge=1, description="updates between checkpoints")
    keep: int = Field(2, ge=2, description="checkpoints kept")
    stop_metric: StopMetric = Field(
        "loss", description="what early stopping and the best weights go by: loss, bleu, chrf or exact"
    )
    patience: int = Field(8, ge=1, description="validations without improvement before training stops")
    seed: int = Field(1, ge=0, description="everything random follows from it")
    threads: int | None = Field(None, ge=1, description="of torch in each process; if not given, one (a voice: two)")
    processes: int = Field(
        1, ge=1, le=1024, description="processes that train together, each on its part of every batch, one thread each"
    )
    shard: bool = Field(
        False, description="of several processes each holds its part of the optimiser's state, which takes less memory"
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("auto", description="auto, cpu, cuda or mps")
    freeze: tuple[str, ...] = Field((), description="parameters that stay as they are, by how their names begin")
    tensorboard: bool = Field(False, description="write TensorBoard events into the run folder as well")

    @model_validator(mode="after")
    def enough_kept(self) -> "TrainingConfig":
        if self.average > 1 and self.average > self.keep and self.average_of == "last":
            raise ValueError(f"average = {self.average} needs as many checkpoints, but keep = {self.keep}")
        return self


class BaseConfig(ConfigSection):
    """The finished run that this one was started from, by --from."""

    run: str = Field(description="its folder")
    sha256: str = Field(description="what tells it from any other")


class RunConfig(ConfigSection):
    """`model` is kept as plain data: its own types stand with the models, and this room is read without torch."""

    version: int = VERSION
    data: DataConfig = Field(default_factory=DataConfig)
    tokenizer: PairTokenizerConfig = Field(default_factory=PairTokenizerConfig)
    model: dict[str, Any] = Field(default_factory=dict)
    training: TrainingConfig = Field(default_factory=TrainingConfig)
    base: BaseConfig | None = None
    chosen: dict[str, str] = Field(default_factory=dict, description="settings that rules chose, and why")
    given: tuple[str, ...] | None = Field(
        None, exclude=True, description="of a new run: settings that a person gave; rules choose all others"
    )

    def as_json(self) -> dict[str, Any]:
        """Plain data for config.json, without what does not apply to this run."""
        unused = {name for name in ("base", "chosen") if not getattr(self, name)}
        saved = self.model_dump(mode="json", exclude=unused)
        for side in ("source", "target"):
            settings = {name: value for name, value in saved["tokenizer"].pop(side).items() if value is not None}
            saved["tokenizer"] |= {side: settings} if settings else {}
        return saved


def read_toml(path: Path) -> dict[str, Any]:
    """A recipe."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such recipe") from None
    except (ValueError, OSError) as error:  # of TOML, of UTF-8, or a number of thousands of digits
        raise ConfigError(f"{path}: not a TOML file ({error})") from None
    except RecursionError:
        raise ConfigError(f"{path}: not a recipe (it is nested too deep)") from None


def parse_changes(changes: Iterable[str]) -> dict[str, Any]:
    """`training.steps=100 model.attention.score=cosine` as nested dictionaries."""
    nested: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        parts = name.strip().split(".")
        if not equals or not all(parts):
            raise ConfigError(f"--set {change}: expected a name and a value, such as training.steps=1000")
        inner = nested
        for part in parts[:-1]:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise ConfigError(f"--set {change}: '{part}' was set to a single value before")
        inner[parts[-1]] = _value(value.strip())
    return nested


def _value(text: str) -> Any:
    """As TOML writes it; what is not TOML is a string, so that names need no quotes."""
    if text.lower() in ("none", "null"):
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes`; a dictionary changes single entries of a dictionary."""
    merged = dict(base)
    for name, value in changes.items():
        inside = merged.get(name)
        merged[name] = merge(inside, value) if isinstance(inside, dict) and isinstance(value, dict) else value
    return merged


def read_config(settings: Mapping[str, Any]) -> RunConfig:
    """Plain data -> RunConfig, with the first thing that is wrong as one line."""
    try:
        return RunConfig.model_validate(dict(settings))
    except ValidationError as error:
        raise setting_error(error, RunConfig) from None
