"""What is fuzzed: a reader, valid inputs for it, and what its format is made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

SPECIALS = ("fifo", "folder", "missing", "link to /dev/zero", "link to itself", "link outside")


@dataclass(frozen=True)
class Special:
    """A file that is none: one of SPECIALS."""

    kind: str


Content = bytes | Special
Files = Mapping[str, Content]
"""An input: relative names and what they hold."""

Mutator = Callable[[bytes, Random], bytes]
Room = Literal["readers", "documents", "sound", "folders", "planted"]


class BrokenPromiseError(Exception):
    """A check of the harness that did not hold, such as a byte that changed outside a slot."""


@dataclass(frozen=True)
class Target:
    """One reader under test.

    seeds     valid inputs, made once in the child process
    exercise  reads the input in a folder; the second path is an empty folder that it may write to
    tokens    words of the format, put in at random places
    frozen    files that stay as they are
    refit     whether digests inside JSON files are made right again after a mutation (most of the time)
    specials  whether files may become pipes, folders or links
    writes    whether the reader may change the folder of its input
    tolerant  whether any exception is a refusal; what is worse than an exception is a finding still
    """

    name: str
    room: Room
    seeds: Callable[[], Sequence[Files]]
    exercise: Callable[[Path, Path], None]
    tokens: Sequence[bytes] = ()
    frozen: frozenset[str] = frozenset()
    refit: bool = False
    specials: bool = False
    writes: bool = False
    tolerant: bool = False


def written(files: Files, folder: Path) -> None:
    """Puts an input on the disk."""
    import os

    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
            continue
        match content.kind:
            case "fifo":
                os.mkfifo(path)
            case "folder":
                path.mkdir()
            case "link to /dev/zero":
                path.symlink_to("/dev/zero")
            case "link to itself":
                path.symlink_to(path)
            case "link outside":
                path.symlink_to("/etc/hostname")
            case "missing":
                pass
