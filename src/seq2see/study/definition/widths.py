"""Equal parameters: widths grow or shrink until models have as many parameters, before training."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from seq2see import atomic
from seq2see.data.profile import profile
from seq2see.errors import ConfigError, Seq2SeeError
from seq2see.models import configure, from_config, parameters
from seq2see.models.base import ModelConfig
from seq2see.runs import inputs
from seq2see.runs.config import RunConfig, merge
from seq2see.study.definition.cells import StudyCell
from seq2see.study.definition.config import EqualParametersConfig, Settings
from seq2see.study.definition.identity import file_digest, named_error
from seq2see.training.auto import decide
from seq2see.training.prepare import make_tokenizers, sources_of
from seq2see.training.run import new_config

_WIDEST = 64  # times as wide as it was
_VOCABULARIES = "vocabularies"

Say = Callable[[str], None]


class SizedCell(NamedTuple):
    """All model settings of a cell, the named widths changed; the rules that choose settings leave them alone."""

    model: Settings
    parameters: int
    widths: dict[str, Any]  # by their dotted names


class VocabularySizes(NamedTuple):
    source: int
    target: int
    shared: bool


def equal_sizes(
    cells: list[StudyCell],
    baselines: Mapping[str, StudyCell],
    equal: EqualParametersConfig,
    out: Path,
    say: Say,
) -> dict[str, SizedCell]:
    """Condition -> its model. Vocabularies are learned once for each choice of data and pieces, and kept in `out`."""
    sized: dict[str, SizedCell] = {}
    for cell in cells:
        condition = cell.condition.name
        if condition in sized:
            continue
        target = _parameters(_model_config(baselines[condition], out, say))
        try:
            sized[condition] = _fitted(cell, target, equal, out, say)
        except Seq2SeeError as error:
            raise named_error(cell, error) from None
        found = ", ".join(f"{name} = {value}" for name, value in sized[condition].widths.items()) or "as it is"
        share = sized[condition].parameters / target - 1
        say(f"{condition}: {sized[condition].parameters:,} parameters ({share:+.1%} of the baseline's), {found}")
    return sized


def _fitted(cell: StudyCell, target: int, equal: EqualParametersConfig, out: Path, say: Say) -> SizedCell:
    """The widths, all times the same factor, that come nearest; binary search, for parameters grow with widths."""
    config = _model_config(cell, out, say)
    count = _parameters(config)
    if abs(count / target - 1) <= equal.tolerance:
        return SizedCell(_plain(config), count, {})
    names = equal.widths.get(str(cell.settings["model"].get("family")), ())
    if not names:
        raise ConfigError(
            f"has {count:,} parameters, the baseline {target:,}; name widths that may change: "
            f"equal_parameters.widths.{cell.settings['model'].get('family')}"
        )
    widths = {name: _value(_plain(config), name) for name in names}
    first = _first(widths[names[0]])
    low, high = 1, max(1, _WIDEST * first // equal.multiple)
    while low < high:
        middle = (low + high) // 2
        if _parameters(_scaled(config, widths, middle, first, equal)) < target:
            low = middle + 1
        else:
            high = middle
    candidates = [_scaled(config, widths, multiple, first, equal) for multiple in {max(1, low - 1), low}]
    best = min(candidates, key=lambda candidate: abs(_parameters(candidate) - target))
    count = _parameters(best)
    if abs(count / target - 1) > equal.tolerance:
        raise ConfigError(f"comes no nearer to {target:,} parameters than {count:,} by {', '.join(names)}")
    return SizedCell(_plain(best), count, {name: _value(_plain(best), name) for name in names})


def _scaled(
    config: ModelConfig, widths: Mapping[str, Any], multiple: int, first: int, equal: EqualParametersConfig
) -> ModelConfig:
    """With the first width at so many multiples, and the others in proportion."""
    factor = multiple * equal.multiple / first
    settings: Settings = _plain(config)
    for name, value in widths.items():
        settings = merge(settings, _nested(name, _times(value, factor, equal.multiple)))
    return _configure(settings, VocabularySizes(config.source_vocabulary, config.target_vocabulary, False))


def _times(value: Any, factor: float, multiple: int) -> Any:
    if isinstance(value, list | tuple):
        return [_times(inner, factor, multiple) for inner in value]
    return max(multiple, multiple * round(value * factor / multiple))


def _first(value: Any) -> int:
    return int(value[0] if isinstance(value, list | tuple) else value)


def _value(settings: Mapping[str, Any], name: str) -> Any:
    """`model.encoder.hidden` in the settings of a model."""
    value: Any = settings
    for part in name.split(".")[1:]:
        value = value.get(part) if isinstance(value, Mapping) else None
    if not name.startswith("model.") or not _is_width(value):
        raise ConfigError(f"equal_parameters.widths: {name} is no width of this model")
    return value


def _is_width(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_width, value))
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _nested(name: str, value: Any) -> Settings:
    settings: Any = value
    for part in reversed(name.split(".")[1:]):
        settings = {part: settings}
    return dict(settings)


def _plain(config: ModelConfig) -> Settings:
    left_out = {"source_vocabulary", "target_vocabulary"}
    return config.model_dump(mode="json", exclude=left_out)


def _parameters(config: ModelConfig) -> int:
    """Counted on a model without memory."""
    with torch.device("meta"):
        return parameters(from_config(config))


def _model_config(cell: StudyCell, out: Path, say: Say) -> ModelConfig:
    config = new_config(cell.settings)
    sizes = _vocabulary_sizes(config, out / _VOCABULARIES, say)
    model = cell.settings.get("model", {})
    if "family" not in model:
        raise ConfigError("equal parameters need model.family")
    settings = dict(config.model)
    if settings["family"] == "transformer" and sizes.shared:  # as the rules have it where nobody says
        settings = {"tie": "all"} | settings
    return _configure(settings, sizes)


def _configure(settings: Settings, sizes: VocabularySizes) -> ModelConfig:
    wanted = dict(settings)
    family, size = str(wanted.pop("family")), str(wanted.pop("size", "small"))
    return configure(family, size, source_vocabulary=sizes.source, target_vocabulary=sizes.target, settings=wanted)


def _vocabulary_sizes(config: RunConfig, folder: Path, say: Say) -> VocabularySizes:
    """How many pieces there are; learned as a run would learn them, which is quick and the same every time."""
    data, given = config.data, [name for name in config.given or () if name.startswith(("data.", "tokenizer."))]
    files = [file_digest(str(path)) for path in inputs.files_of(data)]
    described = [files, data.model_dump(mode="json"), config.tokenizer.model_dump(mode="json"), given]
    place = folder / hashlib.sha256(json.dumps(described, default=str).encode()).hexdigest()[:16]
    try:
        saved = atomic.read_json(place / "sizes.json")
        return VocabularySizes(int(saved["source"]), int(saved["target"]), bool(saved["shared"]))
    except (OSError, ValueError, KeyError, TypeError):
        place.mkdir(parents=True, exist_ok=True)
    train, _ = sources_of(config.data)
    decided = decide.decide_data(config, profile(pair for corpus in train for pair in corpus.pairs())).config
    source, target = make_tokenizers(decided, train, place, say)
    sizes = VocabularySizes(source.size, target.size, decided.data.shared_vocabulary)
    atomic.write_json(place / "sizes.json", sizes._asdict())
    return sizes
