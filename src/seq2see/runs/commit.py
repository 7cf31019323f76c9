"""Files of a run that change together: at every moment, kill -9 included, the folder is the old run or the new one.

    finishing/       the new files, flushed to the disk
    manifest.json    replaced in one rename: from here on the new files are the run
    then each file moves to its place, and finishing/ goes

Between these steps a file is found by what the manifest says of it: `place_of`.
"""

import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from seq2see import atomic
from seq2see.errors import Seq2SeeError

MANIFEST = "manifest.json"
_STAGED = "finishing"


def place_of(path: Path, name: str) -> Path:
    """Where this file of a run lies: at its place, but for one that was committed and has not moved there yet."""
    staged = path / _STAGED / name
    return staged if staged.is_file() and _is_committed(path, staged) else path / name


def commit(path: Path, writers: Mapping[str, Callable[[Path], None]], listed: Sequence[str]) -> None:
    """Each writer makes its file where it is told to; the manifest vouches for all that are `listed`."""
    recover(path)
    staging = path / _STAGED
    try:
        staging.mkdir()
        for name, write in writers.items():
            write(staging / name)
            atomic.sync_file(staging / name)
        atomic.sync_folder(staging)
        files = {name: staging / name if name in writers else path / name for name in listed}
        atomic.write_json(path / MANIFEST, {name: atomic.digest(file) for name, file in files.items()})
        recover(path)
    except OSError as error:
        _recover_quietly(path)
        raise atomic.cannot_write(path, error) from None
    except Seq2SeeError:
        _recover_quietly(path)
        raise


def recover(path: Path) -> None:
    """What a commit left behind that was cut off: files that the manifest vouches for take their place, others go."""
    staging = path / _STAGED
    if not staging.is_dir():
        return
    for file in sorted(staging.iterdir()):
        if file.is_file() and _is_committed(path, file):
            file.rename(path / file.name)
    atomic.sync_folder(path)
    shutil.rmtree(staging)


def _recover_quietly(path: Path) -> None:
    """After an error that is to be told, this one is not; the next training tries again."""
    with contextlib.suppress(OSError):
        recover(path)


def _is_committed(path: Path, file: Path) -> bool:
    try:
        manifest = atomic.read_json(path / MANIFEST)
        return bool(manifest.get(file.name) == atomic.digest(file))
    except (OSError, ValueError, AttributeError):
        return False
