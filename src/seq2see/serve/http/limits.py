"""How much one asker may ask: a moving window of a minute for each key or address."""

import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from seq2see.serve.http.refusal import Overloaded

WINDOW = 60.0  # seconds
ASKERS = 10_000  # that are remembered; the one that was silent longest is forgotten first


@dataclass
class _Spent:
    """(when, how much), oldest first, and the sum."""

    entries: deque[tuple[float, int]] = field(default_factory=deque)
    total: int = 0

    def forget(self, before: float) -> None:
        while self.entries and self.entries[0][0] <= before:
            self.total -= self.entries.popleft()[1]


class RateLimit:
    """Texts a minute. One process, so one place to count."""

    def __init__(self, limit: int | None, window: float = WINDOW) -> None:
        self.limit, self.window = limit, window
        self._spent: OrderedDict[str, _Spent] = OrderedDict()

    def __len__(self) -> int:
        return len(self._spent)

    def spend(self, asker: str, cost: int = 1, now: float | None = None) -> None:
        """A batch costs as much as it has texts. What is refused costs nothing; one batch alone is never too large."""
        if self.limit is None:
            return
        now = time.monotonic() if now is None else now
        spent = self._spent.setdefault(asker, _Spent())
        self._spent.move_to_end(asker)
        if len(self._spent) > ASKERS:
            self._spent.popitem(last=False)
        spent.forget(now - self.window)
        if spent.total and spent.total + cost > self.limit:
            raise Overloaded(f"Slowdown: {self.limit} per 1 minute", spent.entries[0][0] + self.window - now)
        spent.entries.append((now, cost))
        spent.total += cost
