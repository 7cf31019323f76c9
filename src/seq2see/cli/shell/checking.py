"""What can be said at once: names and paths are checked before torch is imported, which takes seconds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seq2see.errors import DataError, RunError


def check_run(*paths: Path | str) -> None:
    """Each of these is the folder of a run; whether it is whole is seen when it is loaded."""
    from seq2see.runs.config import CONFIG, NOT_A_RUN

    for path in map(Path, paths):
        if not _exists(path / CONFIG):
            raise RunError(f"{path}: {NOT_A_RUN}")


def check_translator(*paths: Path | str) -> None:
    """The same of runs that translate; a voice is another thing."""
    from seq2see import atomic
    from seq2see.runs.commit import place_of
    from seq2see.runs.config import CONFIG, VOICE

    check_run(*paths)
    for path in map(Path, paths):
        try:
            saved = atomic.read_json(place_of(path, CONFIG))
        except (OSError, ValueError):  # said when it is loaded
            continue
        model = saved.get("model") if isinstance(saved, dict) else None
        if isinstance(model, dict) and model.get("family") == VOICE:
            raise RunError(f"{path}: is a voice; use `seq2see speak {path}`")


def check_training(settings: Mapping[str, Any], out: Path, base: Path | None) -> None:
    """Settings as a recipe has them: what they name is there, and the folder they would fill is free."""
    from seq2see.models.names import FAMILIES, SIZES, check_family, known_size
    from seq2see.runs.commit import MANIFEST
    from seq2see.runs.config import TAKEN, VOICE, read_config

    config = read_config(settings)
    family = str(config.model.get("family", FAMILIES[0]))  # any that is known, if none is named
    if base is not None:
        check_run(base)
    if family == VOICE:
        _check_corpus(config.data.train)
    else:
        check_family(family)
        known_size(str(config.model.get("size", SIZES[0])))
        check_pairs(config.data.train)
        check_pairs(config.data.valid)
        if config.data.alignments is not None:
            check_files(config.data.alignments)
    if _exists(out / MANIFEST):
        raise RunError(f"{out}: {TAKEN}")


def check_pairs(specs: Sequence[str]) -> None:
    """Pairs as `train` takes them: files that are there, built-in corpora that are known."""
    from seq2see import corpora
    from seq2see.data.sources import parse_sources

    for source in parse_sources(specs) if specs else ():
        if source.builtin is not None:
            corpora.size(source.builtin, "train")
        else:
            check_files(*source.paths)


def check_files(*paths: str | Path) -> None:
    from seq2see.formats.reading.unpacking import check_file

    for path in paths:
        check_file(Path(path))


def check_recordings(*paths: Path) -> None:
    for path in paths:
        if not _exists(path):
            raise DataError("no such recording", path=path)


def _check_corpus(names: tuple[str, ...]) -> None:
    from seq2see.data.sources import BUILTIN

    for name in names:
        if not name.startswith(BUILTIN) and not _exists(Path(name)):
            raise DataError("no such file or folder; check the path", path=name)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # what keeps it from being seen is said when it is read
        return True
