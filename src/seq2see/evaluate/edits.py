"""How many insertions, deletions and substitutions lie between two sequences (Levenshtein 1966)."""

from collections import defaultdict
from collections.abc import Hashable, Sequence


def edit_distance(output: Sequence[Hashable], reference: Sequence[Hashable]) -> int:
    """A whole column of the table at once, its differences kept as the bits of two integers (Myers 1999, Hyyrö 2003).

    Python's integers are as long as the reference, so a sentence costs as many steps as its output is long.
    """
    if not reference:
        return len(output)
    places: defaultdict[Hashable, int] = defaultdict(int)  # of each symbol in the reference, as bits
    for place, symbol in enumerate(reference):
        places[symbol] |= 1 << place
    every, last = (1 << len(reference)) - 1, 1 << (len(reference) - 1)
    up, down = every, 0  # where the table rises or falls by one from a row to the next
    distance = len(reference)
    for symbol in output:
        equal = places.get(symbol, 0)
        straight = (((equal & up) + up) ^ up) | equal | down  # rows reached from the diagonal at no cost
        rises, falls = down | (every & ~(straight | up)), up & straight  # from the column before
        distance += bool(rises & last) - bool(falls & last)
        rises, falls = rises << 1 | 1, falls << 1
        up, down = (falls | ~(straight | rises)) & every, rises & straight & every
    return distance
