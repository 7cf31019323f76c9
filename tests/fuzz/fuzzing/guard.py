"""What a reader may do while it reads: so much time and memory, files of its own folders, no foreign code."""

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

MOST_MEMORY = 512 << 20  # bytes above what the process held before
_FORGOTTEN = 32 << 20
_ADDRESSES = 2 << 30  # bytes of address space above it, where allocation fails
_LARGEST_FILE = 256 << 20  # bytes
LIGHT, HEAVY = 5.0, 30.0  # seconds of CPU time
_ASLEEP = 5.0  # seconds on the clock without any work: something waits for what never comes
_WORK = 0.02  # seconds of CPU in that time; a busy machine gives more

_FORBIDDEN = (
    "subprocess.",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "pty.",
    "socket.",
    "pickle.",
)
_CODE = ("exec", "marshal.loads", "code.__new__", "ctypes.dlopen")  # to compile is no harm: literal_eval does
_CHANGES = (
    "os.remove",
    "os.rmdir",
    "os.mkdir",
    "os.rename",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class TimeLimitError(BaseException):
    """Not an Exception: no reader may take it for its own."""


class Guard:
    """Watches this process through an audit hook, which cannot be taken off again."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = tuple(folder.resolve() for folder in folders)
        self.violations: list[str] = []
        self._armed = False
        self._worked = 0.0  # seconds of CPU when we last looked
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
        signal.signal(signal.SIGPROF, self._out_of_time)
        signal.signal(signal.SIGALRM, self._out_of_time)
        sys.addaudithook(self._hear)

    @contextlib.contextmanager
    def watching(self, seconds: float) -> Iterator[None]:
        self.violations.clear()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + _ADDRESSES, hard))
        signal.setitimer(signal.ITIMER_PROF, seconds)
        self._worked = time.process_time()
        asleep = min(_ASLEEP, 3 * seconds)
        signal.setitimer(signal.ITIMER_REAL, asleep, asleep)
        self._armed = True
        try:
            yield
        finally:
            self._armed = False
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

    def _out_of_time(self, number: int, frame: FrameType | None) -> None:
        if not self._armed:
            return
        if number == signal.SIGPROF:
            raise TimeLimitError("too many seconds of CPU")
        worked, self._worked = self._worked, time.process_time()
        if self._worked - worked < _WORK:
            raise TimeLimitError("it waits for what never comes")

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._armed:
            return
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITING and not self._inside(path):
                self._forbid(f"opens {path!r} for writing")
        elif event.startswith(_CHANGES):
            descriptors = [value for value in arguments if isinstance(value, int) and value >= 0]
            for path in arguments[:2]:
                if isinstance(path, str | bytes | os.PathLike) and not self._inside(path, descriptors):
                    self._forbid(f"{event} {path!r}")
        elif event.startswith(_FORBIDDEN):
            self._forbid(f"{event} {arguments!r:.80}")
        elif event.startswith(_CODE) and not _is_import():
            self.violations.append(f"{event} {arguments!r:.80}")

    def _forbid(self, what: str) -> None:
        """Noted even if the reader takes the error for its own."""
        self.violations.append(what)
        raise PermissionError(f"not for readers: {what}")

    def _inside(self, path: Any, descriptors: Sequence[int] = ()) -> bool:
        """Whether this lies in one of the folders; links on the way are followed, the last name is not."""
        if isinstance(path, int):
            return True
        named = Path(os.fsdecode(path))
        if not named.is_absolute() and descriptors:  # relative to a folder that is open, as rmtree does it
            named = Path(f"/proc/self/fd/{descriptors[-1]}").readlink() / named
        place = named.parent.resolve() / named.name
        return str(place) == os.devnull or any(place.is_relative_to(folder) for folder in self.folders)


def _is_import() -> bool:
    """Whether a module is being imported, or a class is being made (a named tuple uses eval)."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("importlib") or name in ("collections", "dataclasses", "enum", "typing", "functools"):
            return True
        if name == "fuzzing.worker":
            return False
        frame = frame.f_back
    return False


def _address_space() -> int:
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[0]) * resource.getpagesize()


class Peak:
    """How much more memory the process held for a while than before."""

    def __init__(self) -> None:
        self.start, self.highest = _held()
        if self.highest - self.start > _FORGOTTEN:  # forgetting walks over all pages, which is slow
            with contextlib.suppress(OSError), Path("/proc/self/clear_refs").open("w") as file:
                file.write("5")
            self.start, self.highest = _held()

    def bytes(self) -> int:
        """0 if it was not more than `_FORGOTTEN` at most."""
        highest = _held()[1]
        return highest - self.start if highest > self.highest else 0


def _held() -> tuple[int, int]:
    """Bytes in memory, now and at most."""
    with Path("/proc/self/status").open() as file:
        lines = dict(line.split(":", 1) for line in file if line.startswith(("VmRSS", "VmHWM")))
    now, most = (int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return now, most
