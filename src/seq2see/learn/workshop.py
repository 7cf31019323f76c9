"""What lessons train and measure is kept in a cache folder, so that it is done once.

A model is a run folder like any other; what was measured of it is one JSON file. Both carry in their names what they
were made from, so that other settings make others. Training that was interrupted goes on from its checkpoint.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import seq2see
from seq2see import atomic
from seq2see.caching import cache_folder
from seq2see.progress import ProgressCount, ProgressDisplay
from seq2see.runs import folder
from seq2see.runs.checkpoint import Progress
from seq2see.runs.config import merge
from seq2see.training.loop.task import Update, Validation
from seq2see.training.run import new_config, train_run

_LARGEST = 16 * 2**20  # bytes of what was measured


def lessons_folder() -> Path:
    return cache_folder() / "lessons"


@dataclass(frozen=True)
class Workshop:
    """Where lessons work.

    folder   of everything that is kept
    quick    smaller models and shorter training: minutes become seconds, and the numbers are rougher
    """

    folder: Path = field(default_factory=lessons_folder)
    quick: bool = False
    display: ProgressDisplay = field(default_factory=lambda: ProgressDisplay(quiet=True))

    def trained(self, name: str, settings: Mapping[str, Any], pairs: Sequence[tuple[str, str]]) -> Path:
        """The run folder of a model that learned these pairs: trained now, or long ago.

        settings   as a recipe has them, without data
        """
        lines = [
            json.dumps({"source": source, "target": target}, ensure_ascii=False) + "\n" for source, target in pairs
        ]
        content = "".join(lines).encode()
        run = self.place(name, {"settings": settings, "pairs": blake2b(content).hexdigest()})
        if folder.is_finished(run):
            return run
        self._make_room()
        config = new_config(merge(settings, {"data": {"train": [str(run / folder.PAIRS[0])]}}))
        resume = (run / folder.CONFIG).exists()
        if run.exists() and not resume:  # killed before it could be resumed
            atomic.remove_folder(run)
        reporter = LessonReporter(self.display, name)
        try:
            if resume:
                ended = train_run(folder.training_config(run), run, reporter, resume=True)
            else:
                ended = train_run(config, run, reporter, pairs={folder.PAIRS[0]: content})
        finally:
            self.display.finish_all()
        if ended.interrupted:
            raise KeyboardInterrupt
        return run

    def measured(self, name: str, made_from: Mapping[str, Any], measure: Callable[[], Any]) -> Any:
        """What `measure` returns, as JSON holds it: computed now, or long ago from the same things."""
        path = self.place(name, made_from).with_suffix(".json")
        try:
            return atomic.read_json(path, _LARGEST)
        except (OSError, ValueError):  # not there, or damaged: it is made anew
            pass
        result = json.loads(json.dumps(measure(), allow_nan=False))
        self._make_room()
        atomic.write_json(path, result)
        return result

    def place(self, name: str, made_from: Mapping[str, Any]) -> Path:
        """A name that says what it is, and tells apart what was made from different things."""
        described = json.dumps([seq2see.__version__, self.quick, made_from], sort_keys=True, ensure_ascii=False)
        return self.folder / f"{name}-{blake2b(described.encode(), digest_size=6).hexdigest()}"

    def _make_room(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise atomic.cannot_write(self.folder, error) from None


class LessonReporter:
    """Implements training.reporting.RunReporter: one count for each model, and nothing else."""

    def __init__(self, display: ProgressDisplay, name: str) -> None:
        self._count: ProgressCount = display.count(name, rate=False)

    def total(self, steps: int, *, at_most: bool = False) -> None: ...

    def counting(self, what: str) -> Callable[[int], None]:
        self._count.note(what)
        return lambda pairs: None

    def update(self, update: Update, progress: Progress) -> None:
        self._count.update(update.step, progress.total, detail=f"loss {update.loss:.3f}")

    def validation(self, validation: Validation, progress: Progress, *, better: bool) -> None: ...

    def message(self, text: str) -> None: ...
