"""Answers that were given before. A result does not depend on its batch, so what was said once can be said again."""

from collections import OrderedDict
from collections.abc import Hashable
from sys import getsizeof
from typing import Any

CACHE_BYTES = 32 * 2**20


class AnswerCache:
    """The least recently used goes first, by the memory that all of them take."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit, self.size = limit, 0
        self._answers: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: Hashable) -> Any | None:
        if key not in self._answers:
            return None
        self._answers.move_to_end(key)
        return self._answers[key][0]

    def put(self, key: Hashable, answer: Any) -> None:
        if key in self._answers:
            self.size -= self._answers.pop(key)[1]
        size = memory_of(answer) + memory_of(key)
        self._answers[key] = answer, size
        self.size += size
        while self.size > self.limit:
            _, (_, size) = self._answers.popitem(last=False)
            self.size -= size


def memory_of(value: Any) -> int:
    """Bytes, roughly: of plain data with everything in it."""
    match value:
        case dict():
            return getsizeof(value) + sum(memory_of(key) + memory_of(inner) for key, inner in value.items())
        case list() | tuple():
            return getsizeof(value) + sum(map(memory_of, value))
        case str() | bytes() | int() | float() | None:
            return getsizeof(value)
    return 500 + sum(map(memory_of, getattr(value, "__dict__", {}).values()))
