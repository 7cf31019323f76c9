"""`reverse`, `copy` and `sort`: tasks whose right attention is known exactly.

A sequence is 5 to 20 letters and digits separated by spaces. Equal symbols keep their order when sorted, so every
target position has one source position.
"""

from collections.abc import Callable, Iterator

SYMBOLS = "abcdefghijklmnopqrstuvwxyz0123456789"
SHORTEST, LONGEST = 5, 20


def order(task: str, symbols: list[str]) -> list[int]:
    """For each target position, the source position it comes from."""
    positions = list(range(len(symbols)))
    match task:
        case "copy":
            return positions
        case "reverse":
            return positions[::-1]
        case "sort":
            return sorted(positions, key=symbols.__getitem__)
    raise ValueError(f"unknown task {task!r}")


def sequences(task: str, random: Callable[[], float]) -> Iterator[tuple[str, str, tuple[tuple[int, int], ...]]]:
    """An endless stream of (source, target, alignment)."""
    while True:
        length = SHORTEST + int(random() * (LONGEST - SHORTEST + 1))
        symbols = [SYMBOLS[int(random() * len(SYMBOLS))] for _ in range(length)]
        sources = order(task, symbols)
        target = " ".join([symbols[position] for position in sources])
        links = sorted((source, position) for position, source in enumerate(sources))
        yield " ".join(symbols), target, tuple(links)
