"""What a cell and a test set are, as digests: settings and the content of data files, not where they lie.

A cell with the digest of one that was trained before is that cell, whatever it is called and on whatever machine.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from seq2see import atomic, corpora
from seq2see.data.sources import BUILTIN, Source, Split, parse_sources
from seq2see.errors import ConfigError, DataError, Seq2SeeError
from seq2see.formats.reading.unpacking import check_file
from seq2see.runs import inputs
from seq2see.runs.config import DataConfig, read_config
from seq2see.study.definition.cells import StudyCell
from seq2see.study.definition.config import EqualParametersConfig, Settings, StudyConfig

VALIDATION = "validation"
"""What the validation set is called among the sets of a cell."""


@dataclass(frozen=True)
class ScoredSet:
    """Pairs that a cell is scored on, read as the cell reads its training pairs."""

    name: str
    pairs: tuple[str, ...]
    split: Split
    limit: int | None
    data: DataConfig
    digest: str = ""

    def sources(self) -> list[Source]:
        data = self.data
        return parse_sources(
            self.pairs,
            form=data.form,
            source_language=data.source_language,
            target_language=data.target_language,
            split=self.split,
            flip=data.flip,
            encoding=data.encoding,
        )


@cache
def file_digest(path: str) -> str:
    """Once for each file: cells share their data."""
    check_file(Path(path))
    try:
        return atomic.digest(Path(path))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def cell_digest(cell: StudyCell, equal: EqualParametersConfig | None, baseline: Settings) -> str:
    """baseline: the settings whose number of parameters the cell gets, where equal parameters are asked for."""
    described: dict[str, Any] = {"settings": _described(cell.settings)}
    if equal is not None:
        reference = {name: inside for name, inside in baseline.items() if name in ("data", "tokenizer", "model")}
        described["equal"] = equal.model_dump(mode="json") | {"baseline": _described(reference)}
    return _digest(described)


def _described(settings: Settings) -> Settings:
    """Settings with the SHA-256 of each file in the place of its name; how it is read follows from its suffixes."""
    data = inputs.renamed(
        read_config({"data": settings.get("data", {})}).data,
        lambda path: f"{file_digest(path)}{''.join(Path(path).suffixes)}",
    )
    return settings | {"data": data.model_dump(mode="json", exclude_defaults=True)}


def sets_of(cell: StudyCell, study: StudyConfig) -> list[ScoredSet]:
    """The validation set, then the test sets."""
    data = read_config({"data": cell.settings["data"]}).data
    validation = ScoredSet(VALIDATION, _validation_pairs(data), "validation", study.validation_pairs, data)
    tests = [ScoredSet(name, pairs, "test", None, data) for name, pairs in cell.test.items()]
    if VALIDATION in cell.test:
        raise ConfigError(f"test.{VALIDATION} is the name of the validation set; choose another")
    return [replace(scored, digest=_set_digest(scored, study)) for scored in (validation, *tests)]


def _validation_pairs(data: DataConfig) -> tuple[str, ...]:
    if data.valid:
        return data.valid
    if all(spec.startswith(BUILTIN) for spec in data.train):
        return data.train
    raise ConfigError("data.valid is missing; a study needs validation pairs of its own")


def _set_digest(scored: ScoredSet, study: StudyConfig) -> str:
    sources = scored.sources()
    for source in sources:
        if source.builtin is not None:
            corpora.size(source.builtin, scored.split)  # complains of a name that is unknown
    digests = {path: file_digest(path) for source in sources if source.builtin is None for path in source.paths}
    fingerprints = [source.fingerprint(digests) for source in sources]
    return _digest([fingerprints, scored.limit, list(study.metrics), study.tokenize, study.beam])


def alignment_digest(cell: StudyCell) -> str:
    """Empty where there is no gold."""
    files = {name: path for name, path in cell.alignment.items() if name != "flip"}
    return _digest({name: file_digest(path) for name, path in files.items()}) if files else ""


def _digest(described: Any) -> str:
    text = json.dumps(described, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def named_error(cell: StudyCell, error: Seq2SeeError) -> ConfigError:
    """What is wrong with the settings of a cell, with its name in front."""
    return ConfigError(f"{cell.condition.name}: {error}")


def check_settings(cells: Sequence[StudyCell]) -> None:
    """Every cell could be trained: its settings fit together and its files are there."""
    from seq2see.training.run import new_config

    for cell in cells:
        try:
            config = new_config(cell.settings)
            for path in inputs.files_of(config.data):
                check_file(path)
        except Seq2SeeError as error:
            raise named_error(cell, error) from None
