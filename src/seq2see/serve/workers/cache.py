"""Answers that were given before. A result does not depend on its batch, so what was said once can be said again."""

import json
from collections import OrderedDict
from hashlib import blake2b
from typing import Any

CACHE_BYTES = 32 * 2**20
_ENTRY_BYTES = 250  # of the key, the entry, and what surrounds the bytes of an answer


def answer_key(*asked: Any) -> bytes:
    """Of a run, a text and a search; what is equal has one repr."""
    return blake2b(repr(asked).encode("utf-8", "backslashreplace"), digest_size=16).digest()


class AnswerCache:
    """The least recently used goes first, by the memory that all of them take.

    Keys are digests, answers JSON, which they become in the end anyway: through 32 MB of dictionaries the garbage
    collector would walk with each full pass, and everybody waits for a tenth of a second meanwhile.
    """

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit, self.size = limit, 0
        self._answers: OrderedDict[bytes, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: bytes) -> Any | None:
        if key not in self._answers:
            return None
        self._answers.move_to_end(key)
        return json.loads(self._answers[key])

    def put(self, key: bytes, answer: Any) -> None:
        if key in self._answers:
            self.size -= _size(self._answers.pop(key))
        written = json.dumps(answer, separators=(",", ":"))  # ASCII: a byte a character
        self._answers[key] = written
        self.size += _size(written)
        while self.size > self.limit:
            self.size -= _size(self._answers.popitem(last=False)[1])


def _size(written: str) -> int:
    return len(written) + _ENTRY_BYTES
