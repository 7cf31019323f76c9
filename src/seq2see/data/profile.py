"""What the rules for settings need to know of the pairs: how many, how long, in which script, how often words repeat.

One pass; words and characters are counted in the first pairs only, so that memory stays flat.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seq2see.formats import Pair

COUNTED = 50_000  # pairs whose words are counted
_CLOSED_TYPES = 500
_CLOSED_REPEATS = 20  # occurrences of a type, on average, in a closed vocabulary
_STRING_WORDS = 3.0
_STRING_CHARACTERS = 40
_STOPS = (".", "!", "?", "…", "。", "！", "？")
_TAG_SHARE = 0.002  # of the lines a word stands in, if it is a tag rather than a word to be spelled

Kind = Literal["closed", "string", "sentence"]


@dataclass(frozen=True)
class SideProfile:
    """One side of the pairs. Words are what stands between white space."""

    words: float  # of a line, mean
    characters: float  # of a line, mean
    long: int  # characters of a line that one in a hundred lines exceeds
    word_types: int
    word_tokens: int
    once: float  # share of the word tokens that are seen only once
    tags: float  # share of the word tokens that stand in many lines
    alphabet: int  # distinct characters
    syllables: int  # Hangul syllables among them
    hangul: float  # share of all characters that are Hangul syllables
    stopped: float = 0.0  # share of the lines that end with a full stop or the like

    @property
    def kind(self) -> Kind:
        """closed: words of a small set, such as phones or digits; string: to be spelled; sentence: everything else."""
        repeated = self.word_tokens >= _CLOSED_REPEATS * self.word_types
        if self.words >= 2 and self.word_types <= _CLOSED_TYPES and repeated:
            return "closed"
        is_short = self.words <= _STRING_WORDS and self.characters <= _STRING_CHARACTERS
        if is_short and self.stopped < 0.5:  # "Take care." is a sentence
            return "string"
        return "sentence"


@dataclass(frozen=True)
class Profile:
    """Both sides, and what they share."""

    pairs: int
    source: SideProfile
    target: SideProfile
    common_characters: float  # share of a side's characters that the other's alphabet has, the smaller of both
    copied: float  # share of the characters of a target that stand in its source as one run, mean

    @property
    def spelled(self) -> bool:
        """Whether it is a task of strings (pronunciation, inflection, digits) rather than of sentences."""
        return "sentence" not in (self.source.kind, self.target.kind)


def profile(pairs: Iterable[Pair]) -> Profile:
    """Reads all pairs once."""
    count = 0
    source, target = _Counts(), _Counts()
    runs: list[float] = []
    for pair in pairs:
        count += 1
        if count > COUNTED:
            continue
        source.add(pair.source)
        target.add(pair.target)
        if count <= _MATCHED and max(len(pair.source), len(pair.target)) <= _LONGEST_MATCHED:
            runs.append(longest_common_run(pair.source, pair.target)[2] / max(1, len(pair.target)))
    return Profile(
        count,
        source.profile(),
        target.profile(),
        min(_share(target.letters, set(source.letters)), _share(source.letters, set(target.letters))),
        float(np.mean(runs)) if runs else 0.0,
    )


_MATCHED = 2000  # pairs whose longest common run is looked for
_LONGEST_MATCHED = 400  # characters of their sides: time grows with the square, and only short strings are asked for it


class _Counts:
    """The counts of one side."""

    def __init__(self) -> None:
        self.words: Counter[str] = Counter()
        self.lines_with: Counter[str] = Counter()
        self.letters: Counter[str] = Counter()
        self.lengths: list[int] = []
        self.stopped = 0

    def add(self, text: str) -> None:
        words = text.split()
        self.words.update(words)
        self.lines_with.update(set(words))
        self.letters.update(text)
        self.lengths.append(len(text))
        self.stopped += text.rstrip().endswith(_STOPS)

    def profile(self) -> SideProfile:
        lines, tokens = max(1, len(self.lengths)), max(1, self.words.total())
        once = sum(1 for frequency in self.words.values() if frequency == 1)
        tags = sum(self.words[word] for word, count in self.lines_with.items() if count >= max(5, _TAG_SHARE * lines))
        syllables = [letter for letter in self.letters if "가" <= letter <= "힣"]
        return SideProfile(
            words=self.words.total() / lines,
            characters=sum(self.lengths) / lines,
            long=int(np.percentile(self.lengths, 99)) if self.lengths else 0,
            word_types=len(self.words),
            word_tokens=self.words.total(),
            once=once / tokens,
            tags=tags / tokens,
            alphabet=len(self.letters),
            syllables=len(syllables),
            hangul=sum(self.letters[letter] for letter in syllables) / max(1, self.letters.total()),
            stopped=self.stopped / lines,
        )


def _share(letters: "Counter[str]", alphabet: set[str]) -> float:
    return sum(n for letter, n in letters.items() if letter in alphabet) / max(1, letters.total())


def longest_common_run(source: str, target: str) -> tuple[int, int, int]:
    """Where the longest run of characters that both texts hold begins in each, and how long it is."""
    best = (0, 0, 0)
    before: dict[int, int] = {}
    places: dict[str, list[int]] = {}
    for place, letter in enumerate(target):
        places.setdefault(letter, []).append(place)
    for i, letter in enumerate(source):
        now: dict[int, int] = {}
        for j in places.get(letter, ()):
            now[j] = length = before.get(j - 1, 0) + 1
            if length > best[2]:
                best = (i - length + 1, j - length + 1, length)
        before = now
    return best
