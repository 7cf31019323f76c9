"""Evaluations that a run folder keeps: one file for each test set, the newest counts. Read without torch.

evaluations/NAME.json    what `Evaluation.as_dict` gives; NAME is a hash of what the test set is called
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seq2see import atomic

EVALUATIONS = "evaluations"
_MOST = 100
_LARGEST = 4 * 2**20


def keep_evaluation(run: Path, fields: Mapping[str, Any]) -> Path:
    """RunError if it cannot be written."""
    name = hashlib.sha256(str(fields["test"]).encode(errors="replace")).hexdigest()[:16]
    path = run / EVALUATIONS / f"{name}.json"
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise atomic.cannot_write(path.parent, error) from None
    atomic.write_json(path, dict(fields))
    return path


def read_evaluations(run: Path) -> list[dict[str, Any]]:
    """Those that can be read, the newest first."""
    folder = run / EVALUATIONS
    try:
        paths = sorted(folder.glob("*.json"), key=lambda path: (-path.stat().st_mtime_ns, path.name))[:_MOST]
    except OSError:
        return []
    evaluations = []
    for path in paths:
        try:
            fields = atomic.read_json(path, _LARGEST)
        except (OSError, ValueError):
            continue
        if isinstance(fields, dict):
            evaluations.append(fields)
    return evaluations
