"""What rules read and what they say."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from seq2see.data.profile import Profile

FEW = 10_000  # sentence pairs below which recurrent models learn most
SMALL_CORPUS = 20_000  # pairs for which tiny is large enough
_SHORT = 200  # characters of a line that is called short


class SettingChoice(NamedTuple):
    """One line of the plan: settings by their dotted names, and why."""

    topic: str
    settings: Mapping[str, Any]
    reason: str

    def line(self) -> str:
        return f"{self.topic}: {self.reason}"


@dataclass(frozen=True)
class Budget:
    """What there is to learn from, and how long."""

    pairs: int
    epoch_pieces: int  # pieces of all pairs, of the longer side of each
    seconds: float | None = None  # of updates, or None without a time limit

    def epochs(self, speed: float) -> float:
        """Passes over the pairs that fit, at so many pieces a second."""
        assert self.seconds is not None
        return self.seconds * speed / max(1, self.epoch_pieces)


class UpdatePlan(NamedTuple):
    """What the remaining rules agree on."""

    batch: int  # pieces
    updates: int | None  # planned, None without a time limit
    epochs: float  # planned, or a guess


def described(profile: Profile) -> str:
    if not profile.spelled:
        return counted(profile.pairs, "sentence")
    is_short = max(profile.source.characters, profile.target.characters) <= _SHORT
    return counted(profile.pairs, "short string" if is_short else "line")


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
