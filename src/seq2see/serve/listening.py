"""The socket, before anything is loaded: this file imports no framework."""

import socket

from seq2see.errors import ConfigError


def bind(host: str, port: int) -> socket.socket:
    """Ours, before anything is loaded: a port that is taken is one line and not a minute of waiting."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    address = host.strip("[]")
    # The protocol is named because asyncio turns off Nagle's algorithm only where it is: else every answer, sent as a
    # head and a body, waits 40 ms for the client to acknowledge the head.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((address, port))
        opened.listen(2048)
    except (OSError, OverflowError) as error:
        opened.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{host}:{port}: cannot be listened on ({reason}); choose another --port") from None
    opened.setblocking(False)
    return opened
