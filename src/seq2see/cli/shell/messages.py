"""Messages on standard error: one line, with the program's name before it, and safe for a terminal."""

import sys

from seq2see.errors import printable

PREFIX = "seq2see: "


def say(message: object) -> None:
    """`message` may quote names of files and input."""
    print(f"{PREFIX}{printable(str(message))}", file=sys.stderr)
