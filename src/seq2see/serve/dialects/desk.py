"""What all dialects share: who asks, whether they may, and which run answers."""

import unicodedata
from dataclasses import dataclass, field
from functools import cached_property

from starlette.requests import Request

from seq2see.serve.configuration import ServerConfig
from seq2see.serve.dialects.languages import Detected, ServedLanguages
from seq2see.serve.http.limits import RateLimit
from seq2see.serve.http.reading import Fields
from seq2see.serve.http.refusal import Refusal
from seq2see.serve.workers.pool import Pool


@dataclass
class Desk:
    """One for the whole server."""

    config: ServerConfig
    pool: Pool
    limit: RateLimit = field(init=False)

    def __post_init__(self) -> None:
        self.limit = RateLimit(self.config.limit)

    @cached_property
    def languages(self) -> ServedLanguages:
        return ServedLanguages(self.config.runs)

    def admit(self, request: Request, key: str | None, cost: int = 1) -> None:
        """A key that is needed and known, and not too much of it in a minute."""
        name = self.config.keys.name_of(key or bearer(request))
        self.limit.spend(f"key {name}" if name is not None else self.address(request), cost)

    def address(self, request: Request) -> str:
        """Whoever connects; behind a proxy of ours, the last one that it names."""
        forwarded = request.headers.get("x-forwarded-for", "") if self.config.forwarded else ""
        return forwarded.split(",")[-1].strip() or (request.client.host if request.client else "")

    def check_size(self, texts: list[str]) -> None:
        """Characters of a text are counted in one spelling, however it was typed."""
        if len(texts) > self.config.texts:
            raise _too_long(len(texts), self.config.texts)
        for text in texts:
            size = len(text)
            if size > self.config.characters:
                size = len(unicodedata.normalize("NFC", text))
            if size > self.config.characters:
                raise _too_long(size, self.config.characters)

    def detect(self, text: str, target: str | None = None) -> list[Detected]:
        """Never empty: where nothing can be told it is English without confidence, as the original says."""
        return self.languages.detect(text, target) or [Detected("en", 0.0)]


def _too_long(size: int, limit: int) -> Refusal:
    return Refusal(f"Invalid request: request ({size}) exceeds text limit ({limit})")


def bearer(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def key_of(fields: Fields) -> str | None:
    """`api_key`; the empty text and null are none."""
    return fields.text("api_key")
