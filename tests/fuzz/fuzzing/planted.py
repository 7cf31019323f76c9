"""Readers with faults, for the test of the harness itself."""

import ctypes
import os
import pickle
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from fuzzing.target import BrokenPromiseError, Target
from seq2see.errors import DataError

_LIBRARY = ctypes.CDLL(None)
_VALID = b"valid" * 20


def _when_damaged(fault: Callable[[Path, Path, bytes], object]) -> Callable[[Path, Path], None]:
    """The fault shows on what begins in another way than the valid input; the rest is refused, as it should be."""

    def exercise(folder: Path, out: Path) -> None:
        data = (folder / "a.txt").read_bytes()
        if not data.startswith(b"valid"):
            fault(folder, out, data)
        if data != _VALID:
            raise DataError("damaged", path=folder / "a.txt")

    return exercise


def _raise(error: BaseException) -> None:
    raise error


def _spin(*_: object) -> None:
    while True:
        pass


def _leave_half(folder: Path, out: Path, data: bytes) -> None:
    (out / "half").write_bytes(b"x")
    raise DataError("damaged")


class _RawError(DataError):
    """Says what it was told, printable or not."""

    def __str__(self) -> str:
        return str(self.args[0])


class _Command:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("true",)


FAULTS: dict[str, tuple[str, Callable[[Path, Path, bytes], object]]] = {
    "key": ("exception", lambda folder, out, data: {}["missing"]),
    "recursion": ("exception", lambda folder, out, data: _raise(RecursionError())),
    "panic": ("exception", lambda folder, out, data: _raise(BaseException("panic"))),
    "spin": ("time", _spin),
    "wait": ("time", lambda folder, out, data: time.sleep(10_000)),
    "abort": ("signal", lambda folder, out, data: os.kill(os.getpid(), signal.SIGSEGV)),
    "exit": ("signal", lambda folder, out, data: os._exit(3)),
    "memory": ("memory", lambda folder, out, data: bytearray(os.urandom(1 << 20)) * 700),
    "exhausted": ("memory", lambda folder, out, data: bytearray(1 << 40)),
    "outside": ("forbidden", lambda folder, out, data: (folder.parent.parent / "planted").write_bytes(b"")),
    "beside": ("files", lambda folder, out, data: _touched_natively(folder.parent / "beside")),
    "changed": ("files", lambda folder, out, data: (folder / "a.txt").write_bytes(b"changed")),
    "half": ("files", _leave_half),
    "shell": ("forbidden", lambda folder, out, data: os.system("true")),
    "process": ("forbidden", lambda folder, out, data: subprocess.run(["true"], check=False)),
    "socket": ("forbidden", lambda folder, out, data: socket.create_connection(("127.0.0.1", 9), timeout=0.1)),
    "code": ("forbidden", lambda folder, out, data: exec("1 + 1")),
    "pickle": ("forbidden", lambda folder, out, data: pickle.loads(pickle.dumps(_Command()))),
    "message": ("message", lambda folder, out, data: _raise(_RawError("two\nlines"))),
    "surrogate": ("message", lambda folder, out, data: _raise(_RawError("half \ud800"))),
    "promise": ("promise", lambda folder, out, data: _raise(BrokenPromiseError("a byte has changed"))),
}


def _touched_natively(path: Path) -> None:
    """A file that native code makes: no audit hook sees it."""
    _LIBRARY.close(_LIBRARY.open(os.fsencode(path), os.O_WRONLY | os.O_CREAT, 0o600))


def _deaf(*_: object) -> None:
    """Native code that does not come back: no handler of a signal runs."""
    _LIBRARY.sleep.argtypes = [ctypes.c_uint]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGPROF})
    _LIBRARY.sleep(10_000)


_OTHERS: dict[str, Callable[[Path, Path, bytes], object]] = {"deaf": _deaf, "nothing": lambda folder, out, data: None}
TARGETS: list[Target] = [
    Target(f"planted-{name}", "planted", lambda: [{"a.txt": _VALID}], _when_damaged(fault))
    for name, fault in ({name: fault for name, (_, fault) in FAULTS.items()} | _OTHERS).items()
]
