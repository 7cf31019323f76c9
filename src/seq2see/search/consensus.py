"""Minimum Bayes risk: not the likeliest translation, but the one that the others agree with most."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from seq2see.errors import ShapeError


class Consensus(NamedTuple):
    place: int  # among the translations given
    utility: float  # expected over all of them


def minimum_bayes_risk(
    texts: Sequence[str], utility: Callable[[str, str], float], weights: Sequence[float] | None = None
) -> list[Consensus]:
    """Best first. utility(candidate, reference), such as sentence chrF, is higher for better ones.

    Each text is a candidate and a reference for all; samples count as often as they were drawn, and the entries of
    an n-best list by `weights`, their probabilities. Equal texts are compared once.
    """
    if weights is not None and len(weights) != len(texts):
        raise ShapeError(f"{len(texts)} texts but {len(weights)} weights")
    mass: Counter[str] = Counter()
    for text, weight in zip(texts, [1.0] * len(texts) if weights is None else weights, strict=True):
        mass[text] += weight  # type: ignore[assignment]
    whole = sum(mass.values()) or 1.0
    expected = {
        text: sum(weight * utility(text, reference) for reference, weight in mass.items()) / whole for text in mass
    }
    ranked = sorted(range(len(texts)), key=lambda place: -expected[texts[place]])
    return [Consensus(place, expected[texts[place]]) for place in ranked]
