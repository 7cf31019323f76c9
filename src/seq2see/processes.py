"""Child processes: SIGINT is blocked in them, so that only the first process handles Ctrl-C; they end with it."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from threading import Thread


def cores() -> int:
    """Those this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def interrupts_blocked(*others: signal.Signals) -> Iterator[None]:
    """A process started here inherits the blocked SIGINT: a terminal sends Ctrl-C to the whole group at once.

    others   signals that are blocked in it as well: a supervisor may send SIGTERM to every process of a service
    """
    resource_tracker.ensure_running()  # Python's own helper: starting it would unblock SIGINT again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *others})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """Called in a process that was started: it ends when its parent does, in whatever way and whatever it is doing."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()  # a pipe that the parent holds open: killed without a word, it is closed all the same
        os._exit(1)

    Thread(target=watch, daemon=True).start()
