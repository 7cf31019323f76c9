"""The data files of a run: what they were when training began, and whether they still are.

inputs.json    the run's own place then; of each file its place, size, SHA-256, and what `stat` says of it

A file of the same size, times and inode as then is taken for the same; any other is read, and its SHA-256 decides. So
a large corpus costs one reading when training begins, and none on resume unless somebody has touched it.
"""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from seq2see import atomic
from seq2see.data.sources import BUILTIN, parse_sources, split_weight
from seq2see.errors import DataError
from seq2see.formats.reading.unpacking import check_file
from seq2see.runs.config import DataConfig, RunConfig

INPUTS = "inputs.json"
_SHOWN = 3  # files named in a message
_LARGEST = 2**28  # bytes of inputs.json: a voice lists every recording
_UNKNOWN = ""  # the SHA-256 of a file that is gone and was never read

Say = Callable[[str], None]


class Input(NamedTuple):
    """A data file as it was read."""

    path: str
    size: int
    sha256: str
    stat: tuple[int, ...]  # size, modification and change in nanoseconds, inode


@dataclass(frozen=True)
class Record:
    """inputs.json."""

    run: str
    files: tuple[Input, ...]


def renamed(data: DataConfig, rename: Callable[[str], str]) -> DataConfig:
    """Every file of a configuration by another name; weights (`a.tsv:2`) and built-in corpora stay."""

    def spec(text: str) -> str:
        path, weight = split_weight(text)
        return text if text.startswith(BUILTIN) else rename(path) + weight

    links = data.alignments
    changes = {
        "train": tuple(map(spec, data.train)),
        "valid": tuple(map(spec, data.valid)),
        "alignments": None if links is None else rename(links),
        "mono": None if data.mono is None else rename(data.mono),
        "distilled": None if data.distilled is None else rename(data.distilled),
    }
    return data.model_copy(update=changes)


def absolute(data: DataConfig) -> DataConfig:
    """The same files by names that mean the same from every folder."""
    return renamed(data, _absolute)


def describe(files: Sequence[Path], known: Sequence[Input] = ()) -> list[Input]:
    """What these files are now; those that nobody has touched since they were `known` are not read again."""
    untouched = {(file.path, file.stat): file for file in known}
    try:
        return [_described(path, untouched) for path in files]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=error.filename) from None


def _described(path: Path, untouched: Mapping[tuple[str, tuple[int, ...]], Input]) -> Input:
    check_file(path)
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise DataError("is no ordinary file; training reads its data more than once", path=path)
    seen = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
    return untouched.get((str(path), seen)) or Input(str(path), status.st_size, atomic.digest(path), seen)


def remember(out: Path, files: Sequence[Input]) -> None:
    record = Record(_absolute(out), tuple(files))
    if not (out / INPUTS).exists() or read(out) != record:
        atomic.write_json(out / INPUTS, {"run": record.run, "files": [file._asdict() for file in files]})


def read(out: Path) -> Record | None:
    """None for a run of an older seq2see, which kept no record."""
    try:
        saved = atomic.read_json(out / INPUTS, _LARGEST)
        files = tuple(_input(entry) for entry in saved["files"])
        return Record(str(saved["run"]), files)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"cannot be read ({type(error).__name__}); delete it if the data is what it was", path=out / INPUTS
        ) from None


def _input(saved: Mapping[str, Any]) -> Input:
    return Input(str(saved["path"]), int(saved["size"]), str(saved["sha256"]), tuple(map(int, saved["stat"])))


def located(config: RunConfig, out: Path) -> RunConfig:
    """Data files and the base run by absolute names; what moved along with the run folder, from its new place."""
    data = absolute(config.data)
    record = read(out)
    if record is not None:
        run = record.run
        data = renamed(data, lambda path: _beside(path, run, out))
        if config.base is not None:
            base = config.base.model_copy(update={"run": _beside(config.base.run, run, out)})
            config = config.model_copy(update={"base": base})
    return config.model_copy(update={"data": data})


def _beside(path: str, run: str, out: Path) -> str:
    """Where a file lies if it moved together with the run."""
    place = os.path.normpath(_absolute(out / os.path.relpath(path, run)))
    return place if not Path(path).exists() and Path(place).exists() else path


def _absolute(path: str | Path) -> str:
    """From the root; links stay links, and what `..` means behind one is left to the file system."""
    return str(Path(path).absolute())


def files_of(data: DataConfig) -> list[Path]:
    """The files that pairs are read from, in a fixed order."""
    single = [path for path in (data.alignments, data.mono, data.distilled) if path]
    sources = [source for specs in (data.train, data.valid) if specs for source in parse_sources(specs)]
    paths = [path for source in sources for path in source.paths]
    return [Path(path) for path in (*paths, *single) if not path.startswith(BUILTIN)]


def check(out: Path, files: Sequence[Path], say: Say, *, accept: bool) -> list[Input]:
    """The data files of a run that goes on, each the same as when it began, or an error that names those that are not.

    accept   goes on with what is there; of a file that is gone its ids in data/ may still be
    """
    record = read(out)
    known = record.files if record is not None else ()
    described: list[Input] = []
    problems: list[str] = []
    for place, path in enumerate(files):
        before = known[place] if place < len(known) else None
        if not path.exists():
            problems.append(f"{path} is gone")
            described.append((before or Input("", 0, _UNKNOWN, ()))._replace(path=str(path)))
            continue
        now = describe([path], [before] if before is not None else [])[0]
        described.append(now)
        if before is not None and now.sha256 != before.sha256:
            problems.append(_difference(before, now))
        elif before is not None and now.path != before.path:
            say(f"{before.path} has moved to {now.path}; its content is the same")
    if record is not None and len(files) != len(known) and not problems:
        problems.append(f"there are {len(files)} files where {len(known)} were")
    if record is None and files:
        say(
            "this run was begun by an older seq2see, which kept no SHA-256 of its data: nobody can tell whether it is "
            "the same"
        )
    if problems:
        _complain(out, problems, say, accept=accept)
    return described


def _difference(before: Input, now: Input) -> str:
    sizes = f"{before.size:,} bytes then, {now.size:,} now"
    if now.path != before.path:
        return f"{now.path} is not what {before.path} was ({sizes})"
    return f"{now.path} has changed ({sizes})"


def _complain(out: Path, problems: Sequence[str], say: Say, *, accept: bool) -> None:
    shown = ", ".join(problems[:_SHOWN]) + (f" and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else "")
    if accept:
        say(f"going on although {shown}")
        return
    raise DataError(
        f"not the data that {out} was trained on: {shown}; put it back, name its new place "
        f"(seq2see train FILE --resume --out {out}), or go on with what is there by --changed-data"
    )


def check_unchanged(files: Sequence[Input]) -> None:
    """After the files were read: nobody wrote into one of them meanwhile."""
    present = [file for file in files if Path(file.path).exists()]
    for before, now in zip(present, describe([Path(file.path) for file in present], present), strict=True):
        if now.sha256 != before.sha256:
            raise DataError("has changed while it was read; start again", path=now.path)
