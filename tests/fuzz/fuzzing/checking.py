"""What the tests of every room share: some hundred seeds, nothing found, and inputs that are worth their time."""

from collections.abc import Iterable

from fuzzing.catalogue import room
from fuzzing.harness import Harness


def names(*rooms: str) -> list[str]:
    return [target.name for place in rooms for target in room(place)]


def check(harness: Harness, name: str, seeds: Iterable[int], *, refuses: bool = True) -> None:
    """No finding; and among the inputs are some that get through, and some that do not."""
    findings = harness.run(name, seeds)
    assert not findings, "\n" + "\n".join(map(str, findings))
    figures = harness.figures[name]
    assert figures.accepted > 0, f"none of {figures.inputs} inputs is accepted: the damage is too great to test much"
    assert figures.refused > 0 or not refuses, f"none of {figures.inputs} inputs is refused: there is hardly any damage"
