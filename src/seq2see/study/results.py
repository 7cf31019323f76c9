"""results.json: everything that a study found out, small enough to be kept with its file.

    study     title, question, metrics, which condition is tested against which, the digests of its cells in order
    cells     an entry for each cell that was ever finished here; a cell is known by its digest
    sets      what the sets are, by their digests: lengths of the sentences, how BLEU cuts them

A study that has changed keeps the entries of cells that it no longer has: nothing that was trained is lost.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seq2see import atomic
from seq2see.errors import RunError

RESULTS = "results.json"
VERSION = 1
_LARGEST = 512 * 2**20

Entry = dict[str, Any]


@dataclass(frozen=True)
class StudyResults:
    """`study` is empty where nothing has been written yet."""

    study: Mapping[str, Any] = field(default_factory=dict)
    cells: Mapping[str, Entry] = field(default_factory=dict)  # digest -> entry
    sets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def with_outcome(self, entry: Entry, sets: Mapping[str, Mapping[str, Any]]) -> "StudyResults":
        """What was known of the same cell stays, unless it is known anew."""
        before = self.cells.get(entry["digest"], {})
        kept = {"scores": {**before.get("scores", {}), **entry["scores"]}}
        if "alignment" not in entry and "alignment" in before:
            kept["alignment"] = before["alignment"]
        if entry["clock"].get("decoding") is None and before:
            kept["clock"] = {**entry["clock"], "decoding": before["clock"].get("decoding")}
        cells = {**self.cells, entry["digest"]: {**entry, **kept}}
        return StudyResults(self.study, cells, {**self.sets, **sets})

    def with_study(self, study: Mapping[str, Any]) -> "StudyResults":
        return StudyResults(study, self.cells, self.sets)

    def shown(self) -> list[Entry]:
        """The entries of the study as it is now, in its order, under its names."""
        listed = self.study.get("cells", [])
        return [
            {**self.cells[cell["digest"]], **cell}
            for cell in listed
            if isinstance(cell, dict) and cell["digest"] in self.cells
        ]


def is_scored(entry: Mapping[str, Any] | None, sets: Iterable[tuple[str, str]], alignment: str) -> bool:
    """Whether a finished cell has scores on these sets: (name, digest) each."""
    if entry is None:
        return False
    scores = entry.get("scores", {})
    aligned = not alignment or entry.get("alignment", {}).get("set") == alignment
    return aligned and all(scores.get(name, {}).get("set") == digest for name, digest in sets)


def read_results(path: Path) -> StudyResults:
    """Nothing where there is no file; RunError for a file that is not one of ours."""
    try:
        saved = atomic.read_json(path, _LARGEST)
    except FileNotFoundError:
        return StudyResults()
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise RunError(f"{path}: cannot be read ({error})") from None
    if not isinstance(saved, dict) or not isinstance(saved.get("version"), int):
        raise RunError(f"{path}: no results of a study")
    if saved["version"] > VERSION:
        raise RunError(f"{path}: made by a newer seq2see (format {saved['version']}; this one reads up to {VERSION})")
    try:
        cells = {str(entry["digest"]): entry for entry in saved["cells"]}
        return StudyResults(dict(saved["study"]), cells, dict(saved["sets"]))
    except (KeyError, TypeError, ValueError):
        raise RunError(f"{path}: no results of a study") from None


def joined(first: StudyResults, second: StudyResults) -> StudyResults:
    """Both; of the same cell what `first` knows, and the scores on sets that only `second` has."""
    cells = dict(second.cells)
    for digest, entry in first.cells.items():
        other = cells.get(digest, {})
        cells[digest] = {**other, **entry, "scores": {**other.get("scores", {}), **entry.get("scores", {})}}
    return StudyResults(first.study or second.study, cells, {**second.sets, **first.sets})


def write_results(path: Path, results: StudyResults) -> None:
    order = [cell["digest"] for cell in results.study.get("cells", [])]
    cells = sorted(results.cells.values(), key=lambda entry: _place(entry["digest"], order))
    used = {scored["set"] for entry in cells for scored in entry.get("scores", {}).values()}
    sets = {digest: about for digest, about in results.sets.items() if digest in used}
    atomic.write_json(path, {"version": VERSION, "study": dict(results.study), "sets": sets, "cells": cells})


def _place(digest: str, order: Sequence[str]) -> tuple[int, str]:
    return (order.index(digest), "") if digest in order else (len(order), digest)
