"""API keys: only their SHA-256 is kept, in a JSON file of name -> digest, compared in constant time.

{"weblate": "5e884898da28..."}         printf %s KEY | sha256sum
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seq2see import atomic
from seq2see.errors import ConfigError, brief
from seq2see.serve.http.refusal import NoKey, WrongKey

_DIGEST = re.compile(r"[\da-f]{64}")


@dataclass(frozen=True)
class ApiKeys:
    """None at all: nobody needs one."""

    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def required(self) -> bool:
        return bool(self.digests)

    def name_of(self, key: str | None) -> str | None:
        """Whose key it is; None where nobody needs one. NoKey, WrongKey."""
        if not self.required:
            return None
        if not key:
            raise NoKey
        digest = hashlib.sha256(key.encode(errors="replace")).hexdigest()
        names = [name for name, known in self.digests.items() if hmac.compare_digest(digest, known)]
        if not names:
            raise WrongKey
        return names[0]


def read_keys(path: Path) -> ApiKeys:
    try:
        saved = atomic.read_json(path)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: keys cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if not isinstance(saved, dict) or not saved:
        raise ConfigError(f'{path}: expected an object of names and SHA-256 digests, such as {{"weblate": "5e88..."}}')
    for name, digest in saved.items():
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise ConfigError(
                f"{path}: {brief(name)} has no SHA-256 digest; `printf %s KEY | sha256sum` makes one, 64 hex digits"
            )
    return ApiKeys(saved)
