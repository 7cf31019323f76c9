"""What a study file says: base settings, axes, seeds, a budget, metrics; what is wrong with it as one line."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from seq2see.errors import ConfigError, nearest
from seq2see.evaluate.metrics import Name, Tokenize, metric_name, tokenizer_name
from seq2see.runs.config import ConfigSection, read_toml
from seq2see.settings import setting_error

SECTIONS = ("data", "tokenizer", "model", "training", "test", "alignment")
"""Of the settings of a cell: what `train` takes, the test sets, and gold alignments."""
_LARGEST_SEED = 2**31

Settings = dict[str, Any]


class BudgetConfig(ConfigSection):
    """How much each cell may learn; one of the three."""

    minutes: float | None = Field(None, gt=0, description="of the processor's clock; a busy machine changes nothing")
    updates: int | None = Field(None, ge=1, description="of the weights")
    tokens: int | None = Field(None, ge=1, description="pieces in batches, padding included: see training.batch_tokens")

    @model_validator(mode="after")
    def is_one(self) -> Self:
        if sum(value is not None for value in (self.minutes, self.updates, self.tokens)) != 1:
            raise ValueError("give one of minutes, updates and tokens")
        return self


class EqualParametersConfig(ConfigSection):
    """Every cell gets as many parameters as its baseline, by widths that are decided before anything is trained."""

    tolerance: float = Field(0.05, gt=0, lt=1, description="how far off a cell may be, as a share")
    multiple: int = Field(8, ge=1, description="widths are multiples of this number")
    widths: dict[str, tuple[str, ...]] = Field(
        default_factory=dict, description="for each family the settings that grow and shrink together"
    )


class ExtraCellConfig(ConfigSection):
    """A cell beside the crossing."""

    name: str
    settings: Settings = Field(default_factory=dict)
    seeds: tuple[int, ...] | None = None


class StudyConfig(ConfigSection):
    """A study file."""

    title: str = Field(min_length=1, description="what stands over the table")
    question: str = Field("", description="a sentence or two below it")
    base: Settings = Field(default_factory=dict, description="what all cells share")
    axes: dict[str, dict[str, Settings]] = Field(default_factory=dict, description="named values, crossed")
    exclude: tuple[dict[str, Any], ...] = Field((), description="parts of the crossing that are left out, and why")
    cells: tuple[ExtraCellConfig, ...] = Field((), description="cells beside the crossing")
    seeds: tuple[int, ...] = Field((1,), min_length=1, description="each cell is trained once with each")
    budget: BudgetConfig
    baseline: str | dict[str, str] = Field(description="what others are tested against: a cell, or values of axes")
    metrics: tuple[Name, ...] = Field(("bleu", "chrf"), min_length=1, description="the first one ranks")
    tokenize: Tokenize | None = Field(None, description="of BLEU")
    beam: int = Field(5, ge=1, description="hypotheses kept when a set is translated")
    validation_pairs: int = Field(2000, ge=1, description="pairs of the validation set that are scored, at most")
    edges: tuple[int, ...] | None = Field(None, description="the last length of each bucket")
    equal_parameters: EqualParametersConfig | None = None

    @field_validator("seeds")
    @classmethod
    def seeds_differ(cls, seeds: tuple[int, ...]) -> tuple[int, ...]:
        return _checked_seeds(seeds)

    @field_validator("metrics", mode="before")
    @classmethod
    def known_metrics(cls, metrics: Any) -> Any:
        names = [metric_name(str(name)) for name in metrics] if isinstance(metrics, list) else metrics
        if isinstance(names, list) and len(set(names)) < len(names):
            raise ValueError("name each metric once")
        return names

    @field_validator("tokenize", mode="before")
    @classmethod
    def known_tokenizer(cls, name: Any) -> Any:
        return tokenizer_name(name) if isinstance(name, str) else name

    @field_validator("cells")
    @classmethod
    def extra_seeds_differ(cls, cells: tuple[ExtraCellConfig, ...]) -> tuple[ExtraCellConfig, ...]:
        for cell in cells:
            _checked_seeds(cell.seeds or (1,))
        return cells


def _checked_seeds(seeds: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(seeds)) < len(seeds):
        raise ValueError("a seed stands there twice")
    if any(not 0 <= seed < _LARGEST_SEED for seed in seeds):
        raise ValueError(f"a seed is a number from 0 to {_LARGEST_SEED - 1}")
    return seeds


def read_study(path: Path) -> StudyConfig:
    """ConfigError, with the name of the file in front, for whatever is wrong with it."""
    try:
        return make_study(read_toml(path))
    except ConfigError as error:
        text = str(error).replace("no such recipe", "no such study file")
        raise ConfigError(text if text.startswith(f"{path}: ") else f"{path}: {text}") from None


def make_study(settings: Settings) -> StudyConfig:
    try:
        study = StudyConfig.model_validate(settings)
    except ValidationError as error:
        raise setting_error(error, StudyConfig) from None
    check_sections(study.base, "base")
    for axis, values in study.axes.items():
        if not values:
            raise ConfigError(f"axes.{axis} is empty: give it values, such as axes.{axis}.NAME = {{ ... }}")
        for name, value in values.items():
            check_sections(value, f"axes.{axis}.{name}")
    for cell in study.cells:
        check_sections(cell.settings, f"cells.{cell.name}")
    return study


def check_sections(settings: Settings, where: str) -> None:
    for name, inside in settings.items():
        if name not in SECTIONS:
            raise ConfigError(f"{where}.{name} is unknown{nearest(name, SECTIONS)}")
        if not isinstance(inside, dict):
            raise ConfigError(f"{where}.{name} is a group of settings, such as {where}.{name}.NAME = ...")
