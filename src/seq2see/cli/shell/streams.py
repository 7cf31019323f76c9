"""Standard input, output and error that are closed, broken or full: a message or silence, never a traceback."""

import io
import os
import sys
from pathlib import Path
from typing import NoReturn, TextIO, cast

from seq2see.errors import ConfigError


class _Closed(io.TextIOBase):
    """In place of a standard stream that was closed before the program began: an error to use, none to have."""

    def __init__(self, name: str, advice: str) -> None:
        self._message = f"{name} is closed; {advice}"

    def _refuse(self, *arguments: object) -> NoReturn:
        raise ConfigError(self._message)

    read = read1 = readline = write = __next__ = _refuse

    @property
    def buffer(self) -> "_Closed":
        return self


class _ClosedInput(_Closed):
    def fileno(self) -> int:
        self._refuse()


def replace_closed() -> None:
    """Python has None for a closed stream, and the next file that is opened would get its number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one
    if sys.stdin is None:
        sys.stdin = cast(TextIO, _ClosedInput("standard input", "name a file to read"))
    if sys.stdout is None:
        sys.stdout = cast(TextIO, _Closed("standard output", "name a file to write, with --out"))
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # for as long as the program runs


def give_up_output() -> None:
    """After a write to standard output has failed: what is left in its buffer goes nowhere, without another word."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):  # not a stream of the system
        pass
