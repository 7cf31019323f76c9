"""validation_maps.jsonl: what a run looked at in one fixed sentence, at each validation. Attention seen learning.

A line for each validation, as a page unpacks it (`look.map.packing`). There are never more than `MOST`: then every
second one goes, and from there on every second validation is kept, then every fourth, and so on; the newest always.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seq2see import atomic
from seq2see.runs.config import VALIDATION_MAPS

MOST = 128
LARGEST = 8_192  # weights of one map; heads or layers are averaged above it
_MOST_BYTES = 64 * 2**20


class ValidationMaps:
    """The file of a run; a resumed one takes back what came after its checkpoint."""

    def __init__(self, folder: Path, step: int) -> None:
        self.path = folder / VALIDATION_MAPS
        before = read_validation_maps(folder)
        self._entries = [entry for entry in before if entry["step"] <= step]
        self._every = max((entry["every"] for entry in self._entries), default=1)
        if len(self._entries) < len(before) or (self.path.exists() and not self._entries):
            self._write()

    def add(self, step: int, number: int, picture: Mapping[str, Any] | None) -> None:
        """number: of the validation, from 0, over all sessions."""
        if picture is None:
            return
        before, kept = self._entries, self._kept()
        while len(kept) >= MOST:
            self._every *= 2
            kept = self._kept()
        self._entries = [*kept, {"step": step, "number": number, "every": self._every, **picture}]
        if len(kept) < len(before):
            self._write()
        else:
            with self.path.open("ab") as file:
                file.write(_line(self._entries[-1]))

    def _kept(self) -> list[dict[str, Any]]:
        return [entry for entry in self._entries if entry["number"] % self._every == 0]

    def _write(self) -> None:
        atomic.write_file(self.path, b"".join(map(_line, self._entries)))


def read_validation_maps(folder: Path) -> list[dict[str, Any]]:
    """What a run folder holds; the line that was being written when the power went is left out."""
    try:
        content = atomic.read_file(folder / VALIDATION_MAPS, _MOST_BYTES)
    except (OSError, ValueError):
        return []
    entries = []
    for line in content.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(entry, dict) or not isinstance(entry.get("map"), dict):
            continue
        if all(isinstance(entry.get(name), int) for name in ("step", "number", "every")):
            entries.append(entry)
    return entries


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"
