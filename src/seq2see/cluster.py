"""Ray: one started here, or a cluster that is there already (the extra `scale`)."""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

from seq2see.errors import ConfigError, MissingExtraError

LOCAL = "local"
_SECONDS = 10.0  # that a machine may take to answer


@contextmanager
def connected(address: str, at_once: int | None) -> Iterator[Any]:
    """The module `ray`, connected. `address`: `local` starts a Ray of `at_once` cores here; else that of a cluster."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing phones home
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # as work without Ray: its 15 waits behind every other program
    try:
        import ray
    except ImportError:
        raise MissingExtraError("--ray", "scale") from None
    options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    if address == LOCAL:
        options |= {"address": LOCAL, "num_cpus": at_once, "include_dashboard": False}
    else:
        _check_listening(address)
        options |= {"address": address}
    environment = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
    terminated = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(runtime_env={"env_vars": environment}, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ConfigError(f"--ray {address}: cannot be reached ({reason[:200]})") from None
    if terminated is not None and current_thread() is main_thread():
        signal.signal(signal.SIGTERM, terminated)  # Ray's own ends the process at once, with a trace
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_listening(address: str) -> None:
    """Ray itself would call a machine that does not answer for many minutes, a line every few seconds."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return  # auto, or what Ray knows by another name
    try:
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "no answer"
        raise ConfigError(f"--ray {address}: cannot be reached ({reason})") from None
