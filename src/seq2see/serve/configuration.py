"""What a server was told, in one frozen object."""

from dataclasses import dataclass, field
from pathlib import Path

from seq2see.serve.api.requests import ServedRun
from seq2see.serve.http.keys import ApiKeys

PORT = 5000
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
CHARACTERS = 5000  # of a text, and of all texts of a request together
TEXTS = 100  # in one request
ALTERNATIVES = 5


@dataclass(frozen=True)
class ServerConfig:
    """Every default of a server that is not one of the pool."""

    runs: tuple[ServedRun, ...]
    host: str = "127.0.0.1"
    port: int = PORT
    characters: int = CHARACTERS
    texts: int = TEXTS
    alternatives: int = ALTERNATIVES
    keys: ApiKeys = field(default_factory=ApiKeys)
    limit: int | None = None  # texts a minute for each key or address
    cors: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()  # names beside the local ones
    forwarded: bool = False  # a proxy in front of us says who asks, in X-Forwarded-For
    weblate: bool = False
    files: bool = True
    suggestions: bool = False
    metrics: bool = False
    metrics_token: str | None = None
    title: str = "seq2see"  # of /spec
    watch: tuple[Path, ...] = ()

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        bound = f"[{self.host}]" if ":" in self.host else self.host
        return (*LOCAL_HOSTS, bound, *self.hosts)
