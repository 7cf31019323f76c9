"""Learning a unigram vocabulary (Kudo 2018), the same bytes from the same text.

The trainer of the `tokenizers` library sums floats in the order of a hash table that is seeded anew in every process,
so its scores, and now and then its pieces, differ from run to run. Here the counts are integers: each word is cut
along its best path (Viterbi, by the library) and pieces are counted along it, instead of over all paths at once.
Pieces whose loss would cost least, next to the best way around them, are dropped until the vocabulary fits.
"""

from collections import Counter
from collections.abc import Mapping
from math import inf, log

import tokenizers

_LONGEST_PIECE = 16
_LONGEST_WORD = 64  # a longer run without a break teaches in slices
_SEEDS_PER_PIECE = 10
_SHRINK = 0.7
_LAST_ROUNDS = 2

Scores = dict[str, float]


def learn_unigram(words: Mapping[str, int], size: int) -> Scores:
    """At most `size` pieces with their log probabilities, the likeliest first; all characters are among them."""
    counts = _slices(words)
    scores = _estimate(_seeds(counts, size))
    while len(scores) > size:
        used = _count(scores, counts)
        scores = _prune(_estimate(used), used, max(size, int(len(scores) * _SHRINK)))
    for _ in range(_LAST_ROUNDS):
        scores = _estimate(_count(scores, counts))
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _slices(words: Mapping[str, int]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for start in range(0, len(word), _LONGEST_WORD):
            counts[word[start : start + _LONGEST_WORD]] += count
    return counts


def _seeds(words: Mapping[str, int], size: int) -> Counter[str]:
    """Every character, and the substrings seen twice that cover most text."""
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for start in range(len(word)):
            for end in range(start + 1, min(start + _LONGEST_PIECE, len(word)) + 1):
                counts[word[start:end]] += count
    long = [piece for piece, count in counts.items() if len(piece) > 1 and count > 1]
    long.sort(key=lambda piece: (-counts[piece] * len(piece), piece))
    kept = sorted(piece for piece in counts if len(piece) == 1) + long[: size * _SEEDS_PER_PIECE]
    return Counter({piece: counts[piece] for piece in kept})


def _estimate(counts: Mapping[str, int]) -> Scores:
    """Relative frequencies; a piece on no best path keeps half a count, so that it may come back."""
    total = log(sum(max(count, 0.5) for count in counts.values()) or 1.0)
    return {piece: log(max(count, 0.5)) - total for piece, count in counts.items()}


def _count(scores: Scores, words: Mapping[str, int]) -> Counter[str]:
    """How often each piece lies on the best path of a word."""
    pieces = list(scores)
    backend = tokenizers.Tokenizer(tokenizers.models.Unigram(list(scores.items()), None, False))
    counts = [0] * len(pieces)
    for encoding, count in zip(backend.encode_batch_fast(list(words)), words.values(), strict=True):
        for piece in encoding.ids:
            counts[piece] += count
    return Counter(dict(zip(pieces, counts, strict=True)))


def _prune(scores: Scores, counts: Mapping[str, int], size: int) -> Scores:
    """Keeps every character and the `size` pieces whose loss would lower the likelihood most."""
    longer = [piece for piece in scores if len(piece) > 1]
    loss = {
        piece: counts[piece] * (scores[piece] - _way_around(piece, scores)) if counts[piece] else 0.0
        for piece in longer
    }
    ranked = sorted(longer, key=lambda piece: (-loss[piece], -scores[piece], piece))
    characters = [piece for piece in scores if len(piece) == 1]
    return {piece: scores[piece] for piece in characters + ranked[: max(size - len(characters), 0)]}


def _way_around(piece: str, scores: Scores) -> float:
    """The log probability of the best path through a piece that does not use it."""
    best = [0.0] + [-inf] * len(piece)
    for end in range(1, len(piece) + 1):
        for start in range(1 if end == len(piece) else 0, end):
            best[end] = max(best[end], best[start] + scores.get(piece[start:end], -inf))
    return best[-1]
