"""Occlusion: a saliency of source words that does not read attention, as a second opinion on a map.

Each source word is left out in turn, and the same translation is scored again (after Zeiler and Fergus 2014).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

# A source text -> the log-probability of each piece of the translation that is kept, its end included.
TokenScores = Callable[[str], Sequence[float]]


class Occlusion(NamedTuple):
    """How much less likely each target piece becomes when a source word is left out."""

    words: tuple[str, ...]  # of the source
    pieces: tuple[str, ...]  # of the target, its end included
    loss: list[list[float]]  # [word][piece]: log-probability before minus after

    def totals(self) -> list[float]:
        """Of the whole translation, for each source word."""
        return [sum(row) for row in self.loss]


def occlude(
    token_scores: TokenScores, source: str, pieces: Sequence[str], progress: Callable[[int], None] | None = None
) -> Occlusion:
    """The saliency of each word of `source`, words being what stands between white space.

    token_scores   scores the kept translation for any source text
    pieces         of that translation, as they are shown, its end included
    progress       called with 1 after each word
    """
    words = source.split()
    before = token_scores(source)
    loss = []
    for dropped in range(len(words)):
        after = token_scores(" ".join(words[:dropped] + words[dropped + 1 :]))
        loss.append([whole - without for whole, without in zip(before, after, strict=True)])
        if progress is not None:
            progress(1)
    return Occlusion(tuple(words), tuple(pieces), loss)
