"""A stand-in for models, in a module of its own: the process that makes it imports no torch and starts at once."""

from collections.abc import Callable, Sequence
from typing import Any

from seq2see.serve.api.requests import SearchOptions, ServedRun, TextJob


class Parrot:
    """A ModelHost that says every word again, in capital letters."""

    def __init__(self, runs: Sequence[ServedRun]) -> None:
        self.runs = runs

    def describe(self) -> list[dict[str, Any]]:
        return [{"name": run.name, "kind": "text", "source": "ko", "target": "en", "layers": 0} for run in self.runs]

    def translate(
        self, run: str, jobs: Sequence[TextJob], search: SearchOptions, cancelled: Callable[[], bool] | None = None
    ) -> list[dict[str, Any]]:
        return [
            {"source": job.text, "text": job.text.upper(), "score": -1.0, "token_ids": [], "words": [], "ms": 1.0}
            for job in jobs
        ]

    def answer(self, request: Any) -> dict[str, Any]:
        return {}
