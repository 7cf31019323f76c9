"""Studies of a few updates, and how tests run them: cells are forked from the test process, which has torch already."""

import json
import multiprocessing
from pathlib import Path
from typing import Any

from seq2see.study.execution import pool
from seq2see.study.plan import plan_study
from seq2see.study.running import StudyEnd, run_study

SMALL = """
title = "Small"
question = "Which score?"
baseline = "general"
seeds = [1, 2]
metrics = ["cer", "exact"]
validation_pairs = 20

[budget]
updates = 6

[base]
data = { train = ["builtin:copy,count=100"], valid_pairs = 20 }
tokenizer = { scheme = "word", byte_fallback = false }
model = { family = "luong", size = "tiny", embedding = 12, hidden = 12, encoder = { embedding = 12, hidden = 6 } }
training = { batch_tokens = 64, save_every = 1, validate_every = 3, warmup = 2 }

[axes.score]
general = { model.attention.score = "general" }
dot = { model.attention.score = "dot" }
"""
CELLS = ("general-seed1", "dot-seed1", "general-seed2", "dot-seed2")


def write_study(folder: Path, text: str = SMALL) -> Path:
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def forked(method: str) -> Any:
    return multiprocessing.get_context("fork")


def run(path: Path, out: Path, *, jobs: int = 2, test: bool = False) -> StudyEnd:
    """What the command does, in this process."""
    pool.get_context = forked  # type: ignore[assignment]
    return run_study(plan_study(path, out), jobs=jobs, ray=None, test=test, command="seq2see study small.toml")


def without_clocks(out: Path) -> Any:
    """results.json but for what a clock or the system says."""
    saved = json.loads((out / "results.json").read_text(encoding="utf-8"))
    for cell in saved["cells"]:
        assert cell.pop("clock")["minutes"] > 0
    return saved


def table_without_clocks(out: Path) -> list[list[str]]:
    """The rows of table.md without the columns of clocks, which are the last three of a table of scores."""
    lines = (out / "table.md").read_text(encoding="utf-8").splitlines()
    rows, clocks = [], False
    for line in lines:
        cells = line.split(" | ")
        if line.startswith("| cell"):
            clocks = "CPU minutes" in line
        rows.append(cells[:-3] if clocks and line.startswith("| ") else cells)
    return rows
