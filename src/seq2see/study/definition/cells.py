"""The cells of a study: axes crossed, exclusions left out, extra cells added, each with every seed.

A condition is one choice of settings; a cell is a condition with one seed, and one run folder.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from seq2see.errors import ConfigError, brief, nearest
from seq2see.runs.config import merge
from seq2see.study.definition.config import Settings, StudyConfig

_NAME = re.compile(r"[A-Za-z0-9_.,+=-]{1,80}")
_REASON = "reason"
_OURS = {
    "seed": "seeds",
    "steps": "[budget]",
    "epochs": "[budget]",
    "time_limit": "[budget]",
    "clock": "[budget]",
    "threads": "--jobs",
    "device": "--jobs",
}
"""Settings of training that the study itself decides -> where."""
_NO_END = 1_000_000  # epochs and validations without gain: the budget ends a cell, nothing else


@dataclass(frozen=True)
class Condition:
    """One choice of settings. `values`: which value of each axis it has; none of an extra cell."""

    name: str
    settings: Settings
    values: Mapping[str, str] = field(default_factory=dict)
    seeds: tuple[int, ...] = (1,)


@dataclass(frozen=True)
class StudyCell:
    """One run. `settings` are what `train` takes; `test` and `alignment` are what it is measured by."""

    name: str
    condition: Condition
    seed: int
    settings: Settings
    test: Mapping[str, tuple[str, ...]]
    alignment: Mapping[str, str]


def conditions_of(study: StudyConfig) -> list[Condition]:
    """In the order of the file; ConfigError if two have one name, or there are none."""
    _check_exclusions(study)
    conditions = [*_crossing(study), *_extra(study)]
    if not conditions:
        raise ConfigError("there are no cells: give axes or cells, and do not exclude all of them")
    names = [condition.name for condition in conditions]
    for name in names:
        if _NAME.fullmatch(name) is None or name.startswith("."):
            raise ConfigError(f"{brief(name)} is no name for a cell: letters, digits and -_.,+= only")
        if names.count(name) > 1:
            raise ConfigError(f"two cells are called {name}; name the values of the axes apart")
    return conditions


def _crossing(study: StudyConfig) -> Iterator[Condition]:
    for chosen in product(*study.axes.values()) if study.axes else ():
        values = dict(zip(study.axes, chosen, strict=True))
        if any(_is_excluded(values, exclusion) for exclusion in study.exclude):
            continue
        settings = study.base
        for axis, name in values.items():
            settings = merge(settings, study.axes[axis][name])
        yield Condition("-".join(chosen), settings, values, study.seeds)


def _extra(study: StudyConfig) -> Iterator[Condition]:
    for cell in study.cells:
        yield Condition(cell.name, merge(study.base, cell.settings), {}, cell.seeds or study.seeds)


def _is_excluded(values: Mapping[str, str], exclusion: Mapping[str, Any]) -> bool:
    return all(values[axis] in _listed(names) for axis, names in exclusion.items() if axis != _REASON)


def _check_exclusions(study: StudyConfig) -> None:
    for exclusion in study.exclude:
        for axis, names in exclusion.items():
            if axis == _REASON:
                continue
            if axis not in study.axes:
                raise ConfigError(f"exclude.{axis} is no axis{nearest(axis, [*study.axes, _REASON])}")
            for name in _listed(names):
                if name not in study.axes[axis]:
                    raise ConfigError(f"exclude.{axis} = {brief(name)} is unknown{nearest(name, study.axes[axis])}")
        if not set(exclusion) - {_REASON}:
            raise ConfigError("an exclusion names no axis: it would leave out everything")


def _listed(names: Any) -> list[str]:
    return [str(name) for name in names] if isinstance(names, list | tuple) else [str(names)]


def cells_of(study: StudyConfig, conditions: list[Condition]) -> list[StudyCell]:
    """Every condition with each of its seeds; seeds side by side, so that early results say something of all."""
    cells = [_cell(study, condition, seed) for condition in conditions for seed in condition.seeds]
    return sorted(cells, key=lambda cell: cell.condition.seeds.index(cell.seed))


def _cell(study: StudyConfig, condition: Condition, seed: int) -> StudyCell:
    name = f"{condition.name}-seed{seed}"
    settings = {section: inside for section, inside in condition.settings.items() if section not in _MEASURED}
    for setting in settings.get("training", {}):
        if setting in _OURS:
            raise ConfigError(f"{condition.name}: training.{setting} is for the study to say: {_OURS[setting]}")
    if not settings.get("data", {}).get("train"):
        raise ConfigError(f"{condition.name}: data.train is missing; name the training pairs")
    training = {"seed": seed, "threads": 1, "device": "cpu", "clock": "cpu", **_budget(study, condition)}
    return StudyCell(
        name,
        condition,
        seed,
        merge(settings, {"training": training}),
        _test_sets(condition),
        _alignment(condition),
    )


_MEASURED = ("test", "alignment")


def _budget(study: StudyConfig, condition: Condition) -> Settings:
    """The budget as settings of training. Patience is for runs that somebody waits for; equal budgets are spent."""
    training = condition.settings.get("training", {})
    patience = {"patience": training.get("patience", _NO_END), "epochs": _NO_END}
    budget = study.budget
    if budget.minutes is not None:
        return patience | {"time_limit": 60 * budget.minutes}
    if budget.updates is not None:
        return patience | {"steps": budget.updates}
    each = training.get("batch_tokens")
    if budget.tokens is None or not isinstance(each, int) or each < 1:
        raise ConfigError(f"{condition.name}: budget.tokens needs training.batch_tokens")
    accumulate = training.get("accumulate", 1)
    return patience | {"steps": max(1, budget.tokens // (each * (accumulate if isinstance(accumulate, int) else 1)))}


def _test_sets(condition: Condition) -> dict[str, tuple[str, ...]]:
    sets = {}
    for name, pairs in condition.settings.get("test", {}).items():
        if not isinstance(pairs, list) or not pairs or not all(isinstance(spec, str) for spec in pairs):
            raise ConfigError(f'{condition.name}: test.{name} is a list of pairs, such as ["test.tsv"]')
        sets[name] = tuple(pairs)
    return sets


def _alignment(condition: Condition) -> dict[str, str]:
    alignment = condition.settings.get("alignment", {})
    known = ("pairs", "gold", "annotated", "flip")
    for name in alignment:
        if name not in known:
            raise ConfigError(f"{condition.name}: alignment.{name} is unknown{nearest(name, known)}")
    if alignment and not {"pairs", "gold"} <= set(alignment):
        raise ConfigError(f"{condition.name}: alignment needs pairs (a .src-tgt file) and gold (a Pharaoh file)")
    return {name: str(value) for name, value in alignment.items()}


def baselines_of(study: StudyConfig, conditions: list[Condition]) -> dict[str, str]:
    """Condition -> the condition that it is tested against.

    By values of axes: the one that has these and is otherwise as this one. An extra cell is tested against a baseline
    that is named, or that is the only one.
    """
    names = [condition.name for condition in conditions]
    if isinstance(study.baseline, str):
        if study.baseline not in names:
            raise ConfigError(f"baseline = {brief(study.baseline)} is no cell{nearest(study.baseline, names)}")
        return dict.fromkeys(names, study.baseline)
    for axis, value in study.baseline.items():
        if axis not in study.axes:
            raise ConfigError(f"baseline.{axis} is no axis{nearest(axis, study.axes)}")
        if value not in study.axes[axis]:
            raise ConfigError(f"baseline.{axis} = {brief(value)} is unknown{nearest(value, study.axes[axis])}")
    by_values = {tuple(condition.values.items()): condition.name for condition in conditions if condition.values}
    chosen = study.baseline
    baselines = {}
    for condition in conditions:
        values = {axis: chosen.get(axis, name) for axis, name in condition.values.items()}
        if (baseline := by_values.get(tuple(values.items()))) is not None and condition.values:
            baselines[condition.name] = baseline
    only = set(baselines.values())
    for condition in conditions:
        if not condition.values and len(only) == 1:
            baselines[condition.name] = next(iter(only))
    if not baselines:
        raise ConfigError("baseline names cells that are excluded; choose another")
    return baselines
