"""Runs on disk, seen without torch: which are there, how far they are, and their learning curves as they grow.

metrics.jsonl is appended to while a run is trained, and replaced by a shorter one when it is resumed: a reader that
goes on from an offset has to look at the inode, and the last line may be half of one.
"""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from seq2see import atomic
from seq2see.runs.commit import MANIFEST, place_of
from seq2see.runs.config import CONFIG, METRICS, VOICE
from seq2see.runs.evaluations import read_evaluations
from seq2see.training.validation_maps import read_validation_maps

MOST_POINTS = 5_000
_MOST_BYTES = 64 * 2**20  # that one answer reads
_AT_ONCE = 1000  # lines that are parsed together
_DEEPEST = 3  # folders below a watched one
_MOST_FOLDERS = 2_000
_LARGEST_STEP = 2**53
_NUMBERS = {int, float}
_FIELDS = itemgetter("step", "epoch", "loss", "positions", "rate", "norm", "seconds")
COLUMNS = ("step", "loss_min", "loss_mean", "loss_max", "rate", "norm", "epoch", "positions", "seconds")


class FolderState(NamedTuple):
    """How far a run folder is."""

    family: str
    kind: str
    source: str | None
    target: str | None
    finished: bool
    step: int
    best: dict[str, Any] | None  # the scores of its best validation, by loss, with their step


def watched_runs(folders: Iterable[Path], served: Mapping[str, Path] | None = None) -> dict[str, Path]:
    """Every run folder below these, by its path from there; one that training has just begun is there already.

    served   runs that have their names already: another one of the same name gets that of its folder in front
    """
    taken = dict(served or {})
    there = {path.resolve() for path in taken.values()}
    watched: dict[str, Path] = {}
    for folder in folders:
        for path in _run_folders(folder):
            if (real := path.resolve()) in there:
                continue
            name = path.relative_to(folder).as_posix() if path != folder else folder.name
            if name in taken:
                name = f"{folder.resolve().name}/{name}"
            if name not in taken:
                there.add(real)
                watched[name] = taken[name] = path
    return watched


def _run_folders(folder: Path) -> Iterator[Path]:
    level, seen = [folder], 0
    for _ in range(_DEEPEST + 1):
        below: list[Path] = []
        for path in level:
            if (path / CONFIG).is_file():
                yield path
                continue
            try:
                children = sorted(child for child in path.iterdir() if child.is_dir() and not child.is_symlink())
            except OSError:
                continue
            seen += len(children)
            if seen > _MOST_FOLDERS:
                return
            below += [child for child in children if not child.name.startswith(".")]
        level = below


class RunStates:
    """How far run folders are. What was read of a file once is not read again."""

    def __init__(self) -> None:
        self._progress: dict[Path, _Progress] = {}

    def state(self, path: Path) -> FolderState | None:
        """None for a folder that is no run any more, or not yet."""
        try:
            saved = atomic.read_json(place_of(path, CONFIG))
            family, data = str(saved["model"].get("family", "")), saved.get("data") or {}
            source, target = data.get("source_language"), data.get("target_language")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        progress = self._progress[path] = _further(path, self._progress.get(path, _Progress()))
        return FolderState(
            family,
            "voice" if family == VOICE else "text",
            source if isinstance(source, str) else None,
            target if isinstance(target, str) else None,
            (path / MANIFEST).exists(),
            progress.step,
            progress.best,
        )


class _Progress(NamedTuple):
    next: int = 0
    inode: int | None = None
    step: int = 0
    best: dict[str, Any] | None = None


def _further(path: Path, known: _Progress) -> _Progress:
    tail = read_metrics(path, known.next, known.inode)
    known = _Progress() if tail.reset else known
    validations = [{"step": entry["step"], **entry["validation"]} for entry in tail.validations]
    measured = [*([known.best] if known.best is not None else []), *validations]
    best = min((_finite(scores) for scores in measured), key=_loss, default=None)
    steps = [known.step, *(update.step for update in tail.updates), *(entry["step"] for entry in tail.validations)]
    return _Progress(tail.next, tail.inode, max(steps), best)


def _loss(scores: dict[str, Any]) -> float:
    loss = scores.get("loss")
    return float(loss) if isinstance(loss, int | float) else math.inf


class UpdateLine(NamedTuple):
    """What a line of metrics.jsonl says of an update."""

    step: int
    epoch: int
    loss: float
    positions: int
    rate: float
    norm: float
    seconds: float


@dataclass(frozen=True)
class MetricsTail:
    """The whole lines from an offset on."""

    updates: list[UpdateLine]
    validations: list[dict[str, Any]]
    next: int  # where the next call goes on
    inode: int
    reset: bool  # the file is another one, or was cut: what came before `next` is void


def read_metrics(path: Path, after: int, inode: int | None) -> MetricsTail:
    """after, inode: what the answer before said. A file that is not there yet is an empty one."""
    try:
        with atomic.open_plain(path / METRICS) as file:
            status = os.fstat(file.fileno())
            reset = after > status.st_size or (inode is not None and inode != status.st_ino)
            start = 0 if reset else after
            file.seek(start)
            content = file.read(_MOST_BYTES)
    except OSError:
        return MetricsTail([], [], 0, 0, reset=after > 0)
    whole = content[: content.rfind(b"\n") + 1]
    updates: list[UpdateLine] = []
    validations: list[dict[str, Any]] = []
    for entry in _parsed_lines(whole):
        step = entry.get("step")
        if type(step) is not int or not 0 <= step < _LARGEST_STEP:
            continue
        if (update := _update_line(entry)) is not None:
            updates.append(update)
        if isinstance(entry.get("validation"), dict):
            validations.append(entry)
    return MetricsTail(updates, validations, start + len(whole), status.st_ino, reset)


def _parsed_lines(content: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; what was being written when the power went is left out."""
    lines = content.splitlines()
    for start in range(0, len(lines), _AT_ONCE):
        some = lines[start : start + _AT_ONCE]
        try:
            parsed = from_json(b"[%b]" % b",".join(some))  # several times as fast as one by one
        except ValueError:
            parsed = map(_parsed, some)
        yield from (entry for entry in parsed if isinstance(entry, dict))


def _parsed(line: bytes) -> Any:
    try:
        return from_json(line)
    except ValueError:
        return None


def _update_line(entry: dict[str, Any]) -> UpdateLine | None:
    """None for a line of another kind, or with a number that nobody wrote."""
    try:
        values = _FIELDS(entry)
        if not _NUMBERS.issuperset(map(type, values)):
            return None
        sum(values, 0.0)
    except (KeyError, OverflowError):  # a whole number can be larger than any float
        return None
    return UpdateLine._make(values)


def metrics_answer(path: Path, after: int, inode: int | None, points: int) -> dict[str, Any]:
    """What `GET runs/NAME/metrics` says: updates as at most `points` columns, validations as they are."""
    finished = (path / MANIFEST).exists()  # before the lines are read: a run that ends meanwhile is asked once more
    tail = read_metrics(path, after, inode)
    return {
        "next": tail.next,
        "inode": tail.inode,
        "reset": tail.reset,
        "columns": list(COLUMNS),
        "updates": decimate(tail.updates, points),
        "validations": [_finite(entry) for entry in tail.validations],
        "finished": finished,
        "planned": _planned(path),
    }


def _planned(path: Path) -> dict[str, float | None]:
    """When training ends by its settings: after so many updates, after so many seconds; null: they do not say."""
    try:
        training = atomic.read_json(place_of(path, CONFIG)).get("training") or {}
        values = training.get("steps"), training.get("time_limit")
    except (OSError, ValueError, AttributeError):
        values = None, None
    numbers = [value if isinstance(value, int | float) and value is not True else 0 for value in values]
    known = [value if 0 < value < 2**53 else None for value in numbers]
    return dict(zip(("steps", "seconds"), known, strict=True))


def stored_maps(path: Path) -> list[dict[str, Any]]:
    """The map of one validation sentence at each validation, as training packed it."""
    return [_finite(entry) for entry in read_validation_maps(path)]


def stored_evaluations(path: Path) -> list[dict[str, Any]]:
    """What `runs.evaluations` keeps in the run folder; the newest first."""
    return [_finite(fields) for fields in read_evaluations(path)]


def decimate(updates: Sequence[UpdateLine], points: int) -> list[list[float | None]]:
    """At most `points` rows of COLUMNS: the last step, least, mean and largest loss of a stretch, sums of the rest."""
    each = max(1, -(-len(updates) // points))
    return [_column(updates[start : start + each]) for start in range(0, len(updates), each)]


def _column(updates: Sequence[UpdateLine]) -> list[float | None]:
    _, _, losses, positions, _, _, seconds = zip(*updates, strict=True)
    known = [loss for loss in losses if math.isfinite(loss)]
    loss = [min(known), sum(known) / len(known), max(known)] if known else [math.nan] * 3
    last = updates[-1]
    return [last.step, *map(_short, (*loss, last.rate, last.norm, last.epoch, sum(positions), sum(seconds)))]


def _short(value: float) -> float | None:
    """Six digits are more than a chart shows."""
    return value if type(value) is int else float(f"{value:.6g}") if math.isfinite(value) else None


def _finite(value: Any) -> Any:
    """JSON has no infinity and no NaN: null."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {str(name): _finite(inner) for name, inner in value.items()}
        case list():
            return [_finite(inner) for inner in value]
    return value
