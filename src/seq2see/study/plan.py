"""What a study has to do: its cells, each with its digest, and what is known of it already."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from seq2see.errors import Seq2SeeError
from seq2see.progress import duration
from seq2see.study.definition.cells import Condition, StudyCell, baselines_of, cells_of, conditions_of
from seq2see.study.definition.config import BudgetConfig, StudyConfig, read_study
from seq2see.study.definition.identity import (
    VALIDATION,
    ScoredSet,
    alignment_digest,
    cell_digest,
    check_settings,
    named_error,
    sets_of,
)
from seq2see.study.execution.cell_run import CELLS, check_folder, is_trained
from seq2see.study.results import RESULTS, StudyResults, is_scored, joined, read_results

State = Literal["done", "trained", "waiting"]


@dataclass(frozen=True)
class PlannedCell:
    """A cell, and what it is to be measured by."""

    cell: StudyCell
    digest: str
    folder: Path
    validation: ScoredSet
    tests: tuple[ScoredSet, ...]
    alignment: str

    def is_validated(self, results: StudyResults) -> bool:
        known = [(self.validation.name, self.validation.digest)]
        return is_scored(results.cells.get(self.digest), known, self.alignment)

    def is_tested(self, results: StudyResults) -> bool:
        known = [(scored.name, scored.digest) for scored in self.tests]
        return is_scored(results.cells.get(self.digest), known, "")

    def state(self, results: StudyResults, *, test: bool) -> State:
        """A cell whose run is gone is done all the same, unless it lacks a score that only the run can give."""
        if self.is_validated(results) and (not test or self.is_tested(results)):
            return "done"
        return "trained" if is_trained(self.folder) else "waiting"


@dataclass(frozen=True)
class StudyPlan:
    """A study file, its cells, and what is known of them; `committed`: the results that lie beside the file."""

    path: Path
    out: Path
    config: StudyConfig
    conditions: tuple[Condition, ...]
    baselines: Mapping[str, str]
    cells: tuple[PlannedCell, ...]
    results: StudyResults

    def about(self) -> dict[str, Any]:
        """What results.json says of the study itself."""
        return {
            "title": self.config.title,
            "question": self.config.question,
            "metrics": list(self.config.metrics),
            "edges": None if self.config.edges is None else list(self.config.edges),
            "budget": budget_text(self.config.budget),
            "conditions": [condition.name for condition in self.conditions],
            "baselines": dict(self.baselines),
            "cells": [
                {
                    "digest": planned.digest,
                    "name": planned.cell.name,
                    "condition": planned.cell.condition.name,
                    "seed": planned.cell.seed,
                }
                for planned in self.cells
            ],
        }

    def count(self, state: State, *, test: bool) -> int:
        return sum(planned.state(self.results, test=test) == state for planned in self.cells)

    def minutes(self) -> float | None:
        """Of the processor, for one cell: its budget, or the mean of those that are done."""
        if self.config.budget.minutes is not None:
            return self.config.budget.minutes
        spent = [
            self.results.cells[planned.digest]["clock"]["minutes"]
            for planned in self.cells
            if planned.digest in self.results.cells
        ]
        return fmean(spent) if spent else None

    def lines(self, jobs: int, *, test: bool) -> list[str]:
        """What `--plan` prints."""
        waiting, trained = self.count("waiting", test=test), self.count("trained", test=test)
        lines = [
            self.config.title,
            f"{len(self.cells)} cells ({len(self.conditions)} conditions), each with a budget of "
            f"{budget_text(self.config.budget)}",
            f"{self.count('done', test=test)} done, {waiting} to train"
            + (f", {trained} trained and to score" if trained else ""),
        ]
        minutes = self.minutes()
        if not waiting:
            return [*lines, "nothing to train"]
        if minutes is None:
            return [*lines, "hours: known when the first cell is done; a budget of minutes says them before"]
        rounds = -(-waiting // max(1, jobs))
        return [
            *lines,
            f"hours: {minutes * waiting / 60:.1f} of the processor; {duration(60 * minutes * rounds)} with {jobs} "
            f"job{'' if jobs == 1 else 's'} on as many cores, and some seconds a cell for its scores",
        ]


def budget_text(budget: BudgetConfig) -> str:
    if budget.minutes is not None:
        return f"{budget.minutes:g} CPU minutes"
    return f"{budget.updates:,} updates" if budget.updates is not None else f"{budget.tokens:,} tokens"


def committed_results(path: Path) -> Path:
    """studies/NAME.toml -> studies/NAME/results.json."""
    return path.with_suffix("") / RESULTS


def plan_study(path: Path, out: Path) -> StudyPlan:
    """Reads everything, trains nothing; ConfigError or DataError for what could not be trained."""
    config = read_study(path)
    conditions = conditions_of(config)
    baselines = baselines_of(config, conditions)
    cells = cells_of(config, conditions)
    check_settings(cells)
    by_name = {condition.name: condition for condition in conditions}
    planned = tuple(_planned(cell, config, by_name.get(baselines.get(cell.condition.name, "")), out) for cell in cells)
    results = joined(read_results(out / RESULTS), read_results(committed_results(path)))
    return StudyPlan(path, out, config, tuple(conditions), baselines, planned, results)


def _planned(cell: StudyCell, config: StudyConfig, baseline: Condition | None, out: Path) -> PlannedCell:
    try:
        reference = {} if baseline is None else baseline.settings
        validation, *tests = sets_of(cell, config)
        digest = cell_digest(cell, config.equal_parameters, reference)
        assert validation.name == VALIDATION
        return PlannedCell(cell, digest, out / CELLS / cell.name, validation, tuple(tests), alignment_digest(cell))
    except Seq2SeeError as error:
        raise named_error(cell, error) from None


def check_folders(plan: StudyPlan) -> None:
    """Before anything is trained: what lies in the folder of the study belongs to it."""
    for planned in plan.cells:
        if planned.state(plan.results, test=False) != "done":
            check_folder(planned.folder, planned.digest)
