"""One cell from its first update to its scores, in the process that it has for itself.

cells/NAME/             the run folder, as any other
cells/NAME.cell.json    the digest of its settings, written before training; what its process took, after it
"""

import resource
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seq2see import atomic
from seq2see.errors import RunError
from seq2see.runs.commit import MANIFEST
from seq2see.study.definition.config import Settings
from seq2see.study.definition.identity import ScoredSet
from seq2see.study.execution.measuring import Measurer, MeasuringPlan, describe_run
from seq2see.training.process import Note, Send, train_or_resume

CELLS = "cells"


@dataclass(frozen=True)
class CellJob:
    """What a process needs to know.

    sets        those that are scored now;  alignment: files of gold, and the digest of their content
    """

    name: str
    condition: str
    seed: int
    digest: str
    folder: Path
    settings: Settings
    widths: Mapping[str, Any]
    sets: tuple[ScoredSet, ...]
    alignment: Mapping[str, str]
    alignment_digest: str
    plan: MeasuringPlan


@dataclass(frozen=True)
class CellOutcome:
    """An entry of results.json, and what it says of the sets that were scored, by their digests."""

    entry: dict[str, Any]
    sets: dict[str, dict[str, Any]]


class InterruptedCellError(RunError):
    """It was asked to stop, and has saved its state."""


def is_trained(folder: Path) -> bool:
    return (folder / MANIFEST).exists()


def check_folder(folder: Path, digest: str) -> None:
    """The run in there, if there is one, is of this cell."""
    if not folder.exists() and not _mark(folder).exists():
        return
    saved = _read_mark(folder)
    if saved.get("digest") != digest:
        raise RunError(
            f"{folder}: was trained with other settings, or for another study; take it away, or choose another --out"
        )


def run_cell(job: CellJob, send: Send) -> CellOutcome:
    """Trains what is not trained, scores what is not scored."""
    check_folder(job.folder, job.digest)
    job.folder.parent.mkdir(parents=True, exist_ok=True)
    if not is_trained(job.folder):
        atomic.write_json(_mark(job.folder), {"digest": job.digest})
        ended = train_or_resume(job.settings, job.folder, send)
        if ended.interrupted:
            raise InterruptedCellError(f"{job.name}: stopped at update {ended.progress.step}")
        atomic.write_json(_mark(job.folder), {"digest": job.digest, "memory": _peak_memory()})
    measurer = Measurer(job.folder, job.plan)
    scores, sets = {}, {}
    for scored in job.sets:
        send(Note(f"translating {scored.name}"))
        scores[scored.name], sets[scored.digest] = measurer.score(scored)
    described = describe_run(job.folder)
    clock = described.pop("clock") | {"memory": _read_mark(job.folder).get("memory"), "decoding": measurer.speed}
    entry = {
        "name": job.name,
        "condition": job.condition,
        "seed": job.seed,
        "digest": job.digest,
        "family": measurer.translator.family,
        "parameters": measurer.parameters,
        "widths": dict(job.widths),
        **described,
        "scores": scores,
        "clock": clock,
    }
    if job.alignment:
        send(Note("aligning"))
        entry["alignment"] = {"set": job.alignment_digest, "result": measurer.align(job.alignment)}
    return CellOutcome(entry, sets)


def _mark(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.cell.json")


def _read_mark(folder: Path) -> dict[str, Any]:
    try:
        saved = atomic.read_json(_mark(folder))
    except (OSError, ValueError):
        return {}
    return saved if isinstance(saved, dict) else {}


def _peak_memory() -> float:
    """Megabytes that this process held at most."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6
