"""metrics.jsonl, and TensorBoard's events where they are asked for."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seq2see import atomic
from seq2see.errors import MissingExtraError
from seq2see.runs.config import METRICS


class Metrics:
    """metrics.jsonl: a line for each update and validation; a resumed run takes back what came after its checkpoint."""

    def __init__(self, folder: Path, step: int, *, tensorboard: bool = False) -> None:
        path = folder / METRICS
        kept = []
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    if json.loads(line)["step"] <= step:
                        kept.append(line)
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue  # the line that was being written when the power went
        if step or path.exists():
            atomic.write_file(path, "".join(line + "\n" for line in kept).encode())
        self._board = _board(folder / "tensorboard") if tensorboard else None
        self._file = path.open("a", encoding="utf-8")

    def add(self, entry: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
        if self._board is not None:
            for name, value in (entry.get("validation") or entry).items():
                if name != "step":
                    group = "validation" if "validation" in entry else "training"
                    self._board.add_scalar(f"{group}/{name}", value, entry["step"])

    def __enter__(self) -> "Metrics":
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()


def _board(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingExtraError("training.tensorboard", "tensorboard") from None
    return SummaryWriter(str(folder))
