"""The files of an output while it is made, claimed for it alone; when it is whole they get their names.

    out.txt.seq2see-part           what is finished, in order
    out.txt.seq2see-part.report    the rows of a report on it, if one is asked for
    out.txt.seq2see-part.json      the note: whose these files are, and how much of them is whole, with SHA-256
    out.txt.seq2see-part.lock      held while a process writes them

Nothing is written where another file stands: each of them is created, or continued once the note has proven it ours.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from seq2see import atomic
from seq2see.errors import ConfigError, RunError
from seq2see.formats.documents.writing import new_file

SUFFIX = ".seq2see-part"
_FORMAT, _VERSION = "seq2see part", 1
_BLOCK = 1 << 20

Note = Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """How much of a file is written, and its SHA-256. Replaced, never changed: Ctrl-C cannot come in between."""

    size: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def plus(self, data: bytes) -> "Written":
        digest = self.digest.copy()
        digest.update(data)
        return Written(self.size + len(data), digest)

    def note(self) -> dict[str, Any]:
        return {"size": self.size, "sha256": self.digest.hexdigest()}


class Claim:
    """Made by `begin`, or by `take_up` after `saved` has been read."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path)) if path.is_symlink() else path
        self.part = self.path.with_name(self.path.name + SUFFIX)
        self.report = self.part.with_name(self.part.name + ".report")
        self.note = self.part.with_name(self.part.name + ".json")
        self._lock = atomic.Lock(self.part.with_name(self.part.name + ".lock"))
        self._files: dict[Path, IO[bytes]] = {}
        self._ours: list[Path] = []  # what may be removed

    @property
    def anew(self) -> str:
        """For messages: how to start from the beginning."""
        return f"delete {self.part} and {self.note.name} to start anew"

    def saved(self) -> Note | None:
        """The note of an earlier process, if there is one; another file of its name is an error."""
        try:
            note = atomic.read_json(self.note)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise _in_the_way(self.note) from None
        if not isinstance(note, dict) or note.get("format") != _FORMAT or note.get("version") != _VERSION:
            raise _in_the_way(self.note)
        return note

    def begin(self, note: Note) -> None:
        """New files. Those of an earlier process that had not made anything yet are swept away."""
        saved = self.saved()
        try:
            if saved is not None:
                self._sweep(saved)
            for path in (self.note, self.part, self.report):
                self._files[path] = self._locked(path, "xb")
                self._ours.append(path)
            self._files.pop(self.note).close()
            atomic.write_file(self.note, _written(note))
        except FileExistsError as error:
            self.discard()
            raise _in_the_way(Path(error.filename)) from None
        except OSError as error:
            self.discard()
            raise atomic.cannot_write(self.path, error) from None
        except BaseException:
            self.discard()
            raise

    def _sweep(self, saved: Note) -> None:
        """What an earlier process left: nothing is lost by it, or it is an error."""
        if self.part.exists():  # else it was killed at its very beginning or end
            with self._locked(self.part, "r+b"):
                if saved.get("made"):
                    raise ConfigError(
                        f"{self.path}: an earlier call was interrupted, and {self.part.name} holds what it made; "
                        f"--resume goes on with it, or {self.anew}"
                    )
        self._ours = [self.part, self.report, self.note]
        self.discard()

    def take_up(self, part: Note, report: Note) -> tuple[Written, Written]:
        """The files of an earlier process as they were noted, cut behind what is whole."""
        try:
            return self._continued(self.part, part), self._continued(self.report, report)
        except FileNotFoundError as error:
            self.close()
            raise self._changed(Path(error.filename)) from None
        except OSError as error:
            raise atomic.cannot_write(self.path, error) from None
        except ConfigError:
            self.close()
            raise

    def _continued(self, path: Path, noted: Note) -> Written:
        file = self._files[path] = self._locked(path, "r+b")
        self._ours = [self.part, self.report, self.note]
        written = Written()
        while written.size < noted["size"] and (block := file.read(min(_BLOCK, noted["size"] - written.size))):
            written = written.plus(block)
        if written.note() != noted:
            raise self._changed(path)
        file.truncate(written.size)
        file.seek(written.size)
        return written

    def _changed(self, path: Path) -> ConfigError:
        return ConfigError(f"{path}: was changed since it was interrupted; {self.anew}")

    def _locked(self, path: Path, mode: str) -> IO[bytes]:
        """Open; the files are held against other processes until they are closed."""
        if not self._lock.is_held and not self._lock.hold():
            raise ConfigError(f"{path}: another process is writing it; wait for it, or choose another name")
        return path.open(mode)

    def write(self, data: bytes, rows: bytes = b"") -> None:
        try:
            self._files[self.part].write(data)
            if rows:
                self._files[self.report].write(rows)
        except OSError as error:
            raise atomic.cannot_write(self.path, error) from None

    def save(self, note: Note) -> None:
        """What the note vouches for is on the disk before it."""
        self._sync()
        atomic.write_file(self.note, _written(note))

    def _sync(self) -> None:
        try:
            for file in self._files.values():
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise atomic.cannot_write(self.path, error) from None

    def finish(self, report: Path | None) -> None:
        """All is written: the files get their names."""
        self._sync()
        try:
            if report is not None:
                _copy(self.report, report)
            if self.path.suffix.lower() == ".gz":
                _copy(self.part, self.path)
            else:
                self.part.replace(self.path)
                atomic.sync_folder(self.path.absolute().parent)
        except OSError as error:
            raise atomic.cannot_write(self.path, error) from None
        self.discard()

    def discard(self) -> None:
        self.close()
        for path in self._ours:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        self._ours = []

    def close(self) -> None:
        for file in self._files.values():
            with suppress(OSError):  # what could not be written was reported when it was noted
                file.close()
        self._files.clear()
        self._lock.let_go()


def _written(note: Note) -> bytes:
    return json.dumps({"format": _FORMAT, "version": _VERSION, **note}, ensure_ascii=False).encode() + b"\n"


def _copy(source: Path, target: Path) -> None:
    """Packed if it is so named; whole or not there."""
    with source.open("rb") as file, new_file(target) as put:
        while block := file.read(_BLOCK):
            put(block)


def _in_the_way(path: Path) -> RunError:
    return RunError(f"{path}: is in the way: it is not a file that seq2see left there; move it, or choose another name")
