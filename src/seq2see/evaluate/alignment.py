"""Word alignments and how far they are from gold ones: precision, recall, error rate (Och and Ney 2003).

    0-0 1-2 2-1 2?3      one sentence in Pharaoh form: source-target, counted from 0; `?` or `p` marks a link that is
                         possible, `-` one that is sure
    en=2,5,6 ko=0,1      the words that were annotated; a link is judged only if both its ends are among them

With A the predicted links, S the sure ones and P the possible ones (S among them):

    precision = |A and P| / |A|      recall = |A and S| / |S|      AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)

Counts are summed over the test set before they are divided.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from seq2see.errors import DataError, ShapeError
from seq2see.evaluate.testset import MOST_PAIRS
from seq2see.formats.reading.lines import at_most, read_lines

Link = tuple[int, int]
"""(source word, target word), counted from 0."""

_LINK = re.compile(r"([0-9]{1,9})([-?p])([0-9]{1,9})")
_BETWEEN = " ||| "


@dataclass(frozen=True)
class Gold:
    """The alignment that people drew. `source` and `target` are the words they annotated; None: all of them."""

    sure: frozenset[Link]
    possible: frozenset[Link] = frozenset()
    source: frozenset[int] | None = None
    target: frozenset[int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)

    def judged(self, links: Iterable[Link]) -> frozenset[Link]:
        """Those between annotated words."""
        return frozenset(
            (i, j)
            for i, j in links
            if (self.source is None or i in self.source) and (self.target is None or j in self.target)
        )

    def flipped(self) -> "Gold":
        """The same for the other direction of translation."""
        return Gold(flipped(self.sure), flipped(self.possible), self.target, self.source)


class AlignmentCounts(NamedTuple):
    """Sums over sentences, from which precision, recall and AER follow."""

    predicted: int = 0  # |A|
    sure: int = 0  # |S|
    predicted_sure: int = 0  # |A and S|
    predicted_possible: int = 0  # |A and P|

    def plus(self, other: "AlignmentCounts") -> "AlignmentCounts":
        return AlignmentCounts(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        """1 when no link was predicted."""
        return self.predicted_possible / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        """1 when there is no sure link."""
        return self.predicted_sure / self.sure if self.sure else 1.0

    @property
    def aer(self) -> float:
        """Alignment error rate, 0 to 1; 0 when there is no sure link and none was predicted."""
        total = self.predicted + self.sure
        return 1 - (self.predicted_sure + self.predicted_possible) / total if total else 0.0


def count_links(predicted: Iterable[Link], gold: Gold) -> AlignmentCounts:
    """The counts of one sentence. Links of words that nobody annotated count on neither side."""
    links, sure = gold.judged(predicted), gold.judged(gold.sure)
    return AlignmentCounts(len(links), len(sure), len(links & sure), len(links & gold.judged(gold.possible)))


def score_alignments(predicted: Sequence[Iterable[Link]], gold: Sequence[Gold]) -> AlignmentCounts:
    """The counts of a test set; its scores are their `.aer`, `.precision` and `.recall`."""
    if len(predicted) != len(gold):
        raise ShapeError(f"{len(predicted)} alignments but {len(gold)} sentences of gold; one for each is needed")
    total = AlignmentCounts()
    for links, reference in zip(predicted, gold, strict=True):
        total = total.plus(count_links(links, reference))
    return total


def flipped(links: Iterable[Link]) -> frozenset[Link]:
    return frozenset((j, i) for i, j in links)


def diagonal(source: int, target: int) -> frozenset[Link]:
    """The baseline that reads nothing: each target word with the source word at the same share of the way."""
    if not source:
        return frozenset()
    return frozenset((min(source - 1, (2 * j + 1) * source // (2 * target)), j) for j in range(target))


def pharaoh(links: Iterable[Link], possible: Iterable[Link] = ()) -> str:
    """`0-0 1-2`; links that are only possible are written `1?2`."""
    sure = set(links)
    marked = sorted([(i, j, "-") for i, j in sure] + [(i, j, "?") for i, j in set(possible) - sure])
    return " ".join(f"{i}{mark}{j}" for i, j, mark in marked)


_NO_LINKS = Gold(frozenset())  # one for all: a file of nothing but line ends has millions of them


def parse_pharaoh(text: str) -> Gold:
    """One line; an empty one is a sentence without links."""
    if not text.strip():
        return _NO_LINKS
    sure: set[Link] = set()
    possible: set[Link] = set()
    for word in text.split():
        match = _LINK.fullmatch(word)
        if match is None:
            raise DataError(f"'{word[:40]}' is no link; expected source-target counted from 0, such as 0-2 or 0?2")
        (sure if match[2] == "-" else possible).add((int(match[1]), int(match[3])))
    return Gold(frozenset(sure), frozenset(possible))


def read_gold(path: str | Path, annotated: str | Path | None = None) -> list[Gold]:
    """A line for each sentence, and of the annotated words as well if there is a file of them."""
    gold = [_parse(text, Path(path), line) for line, text in enumerate(_lines(Path(path)), start=1)]
    if annotated is None:
        return gold
    annotations = [
        _annotated(text, Path(annotated), line) for line, text in enumerate(_lines(Path(annotated)), start=1)
    ]
    if len(annotations) != len(gold):
        raise DataError(f"{len(annotations)} lines but {path} has {len(gold)}; they must go together", path=annotated)
    return [Gold(links.sure, links.possible, *words) for links, words in zip(gold, annotations, strict=True)]


def read_bitext(path: str | Path, encoding: str | None = None) -> list[tuple[str, str]]:
    """`source ||| target` on each line, the form that alignment test sets and fast_align use."""
    pairs = []
    for line, text in enumerate(_lines(Path(path), encoding), start=1):
        source, between, target = text.partition(_BETWEEN)
        if not between:
            raise DataError(f"no '{_BETWEEN.strip()}' between source and target", path=path, line=line)
        pairs.append((source, target))
    return pairs


def _lines(path: Path, encoding: str | None = None) -> Iterator[str]:
    return at_most(MOST_PAIRS, read_lines(path, encoding), "lines", path)


def _parse(text: str, path: Path, line: int) -> Gold:
    try:
        return parse_pharaoh(text)
    except DataError as error:
        raise DataError(str(error), path=path, line=line) from None


def _annotated(text: str, path: Path, line: int) -> tuple[frozenset[int], frozenset[int]]:
    """`en=2,5 ko=0,1` -> the source's words, the target's."""
    sides = []
    for field in text.split():
        _, equals, numbers = field.partition("=")
        words = [number for number in numbers.split(",") if number]
        if not equals or not all(number.isascii() and number.isdigit() for number in words):
            break
        sides.append(frozenset(map(int, words)))
    if len(sides) != 2:
        raise DataError("expected the words of both sides, such as en=2,5 ko=0,1", path=path, line=line)
    return sides[0], sides[1]
