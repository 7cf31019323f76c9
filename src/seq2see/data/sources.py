"""Where pairs come from: files and built-in corpora, several of them with weights.

a.tsv                  one file
a.tsv:2 b.tmx          a mixture: every pair of a.tsv twice in an epoch
text.ko text.en        two plain files, source and target
builtin:phrases        a corpus that seq2see makes itself; builtin:phrases,count=240000: more training pairs
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from seq2see import corpora
from seq2see.errors import DataError
from seq2see.formats import Pair, is_one_file, read_pairs
from seq2see.formats.reading.encodings import check_encoding
from seq2see.formats.reading.lines import read_lines
from seq2see.text import NormalForm, normalise

BUILTIN = "builtin:"
Split = Literal["train", "validation", "test"]
Links = tuple[tuple[int, int], ...]


class Sample(NamedTuple):
    """A pair, with the words that belong together where somebody knows: (source word, target word), from 0."""

    pair: Pair
    links: Links | None


@dataclass(frozen=True)
class Source:
    """One corpus of a mixture; can be read any number of times."""

    paths: tuple[str, ...]
    weight: float = 1.0
    form: NormalForm = "NFC"
    source_language: str | None = None
    target_language: str | None = None
    alignments: str | None = None
    split: Split = "train"
    flip: bool = False  # target to source
    encoding: str | None = None  # of files that do not state it themselves; None is UTF-8
    synthetic: bool = False  # one of its sides is a machine's: nothing to validate on

    @property
    def name(self) -> str:
        return " ".join(self.paths)

    @property
    def builtin(self) -> str | None:
        """The name of a built-in corpus, or None for files."""
        return self._settings()[0] if self.paths[0].startswith(BUILTIN) else None

    def _settings(self) -> tuple[str, dict[str, int]]:
        return corpora.read_settings(self.paths[0].removeprefix(BUILTIN))

    def pairs(self) -> Iterator[Pair]:
        return (sample.pair for sample in self.samples())

    def samples(self) -> Iterator[Sample]:
        return (flipped(sample) for sample in self._samples()) if self.flip else self._samples()

    def _samples(self) -> Iterator[Sample]:
        if self.builtin is not None:
            return self._made()
        pairs = read_pairs(
            self.paths,
            form=self.form,
            source_language=self.source_language,
            target_language=self.target_language,
            encoding=self.encoding,
        )
        return (Sample(pair, None) for pair in pairs) if self.alignments is None else self._aligned(pairs)

    def _made(self) -> Iterator[Sample]:
        name, settings = self._settings()
        limit = settings.get("count") if self.split == "train" else None  # what is held out stays as large as it is
        made = corpora.examples(name, self.split, seed=settings.get("seed", 0), limit=limit)
        for line, example in enumerate(made, start=1):
            source, target = normalise(example.source, self.form), normalise(example.target, self.form)
            yield Sample(Pair(source, target, line), example.alignment)

    def _aligned(self, pairs: Iterator[Pair]) -> Iterator[Sample]:
        assert self.alignments is not None
        path = Path(self.alignments)
        links = enumerate(read_lines(path), start=1)
        number = 0
        for pair in pairs:
            numbered_line = next(links, None)
            if numbered_line is None:
                raise DataError(f"has {number} lines but {self.name} has more pairs", path=path)
            number, text = numbered_line
            yield Sample(pair, read_links(text, path, number))
        if next(links, None) is not None:
            raise DataError(f"has more than {number} lines but {self.name} has {number} pairs", path=path)

    def fingerprint(self, digests: Mapping[str, str]) -> list[object]:
        """What tells whether the input is the one a store was built from: the SHA-256 of each file, not its place."""
        if self.builtin is not None:
            return [self.name, self.split, self.form, self.flip]
        contents = [digests[path] for path in (*self.paths, *([self.alignments] if self.alignments else []))]
        kinds = [Path(path).suffixes for path in self.paths]  # how a file is read follows from its name
        languages = [self.source_language, self.target_language]
        return [contents, kinds, self.form, *languages, self.flip, self.encoding]


def flipped(sample: Sample) -> Sample:
    """The same pair the other way round."""
    pair, links = sample
    turned = pair._replace(source=pair.target, target=pair.source)
    return Sample(turned, None if links is None else tuple((target, source) for source, target in links))


def read_links(text: str, path: Path, line: int) -> Links:
    """A line in Pharaoh form: `0-0 1-2 2-1`, source word - target word."""
    links = []
    for link in text.split():
        match = re.fullmatch(r"([0-9]{1,9})[-p]([0-9]{1,9})", link)
        if match is None:
            raise DataError(
                f"'{link[:20]}' is not a link; expected source-target numbers such as 0-0 1-2", path=path, line=line
            )
        links.append((int(match[1]), int(match[2])))
    return tuple(links)


def parse_sources(
    specs: Sequence[str],
    *,
    form: NormalForm = "NFC",
    source_language: str | None = None,
    target_language: str | None = None,
    alignments: str | None = None,
    split: Split = "train",
    flip: bool = False,
    encoding: str | None = None,
) -> list[Source]:
    """What the command line names; plain text files belong together two by two."""
    encoding = check_encoding(encoding)
    sources: list[Source] = []
    waiting: list[tuple[str, float]] = []
    for spec in specs:
        path, weight = _weight(spec)
        waiting.append((path, weight))
        alone = path.startswith(BUILTIN) or is_one_file(path)
        if alone and len(waiting) == 2:
            break
        if alone or len(waiting) == 2:
            weights = [weight for _, weight in waiting if weight != 1.0] or [1.0]
            paths = tuple(path for path, _ in waiting)
            sources.append(
                Source(paths, weights[0], form, source_language, target_language, alignments, split, flip, encoding)
            )
            waiting = []
    if waiting:
        unpaired = Path(waiting[0][0])
        if not unpaired.exists():
            raise DataError("no such file; check the path", path=unpaired)
        raise DataError(
            "is plain text and stands alone; give the source and the target file one after the other, or a .tsv",
            path=unpaired,
        )
    if not sources:
        raise DataError("no pairs given; name a file, two plain text files, or builtin:phrases")
    if alignments is not None and len(sources) > 1:
        raise DataError("goes with one corpus, not with a mixture", path=alignments)
    return sources


def split_weight(spec: str) -> tuple[str, str]:
    """`a.tsv:2` -> `a.tsv` and `:2`; a name that ends like that on disk is taken as it is."""
    match = re.fullmatch(r"(.+)(:\d+(?:\.\d+)?)", spec)
    return (spec, "") if match is None or Path(spec).exists() else (match[1], match[2])


def _weight(spec: str) -> tuple[str, float]:
    path, ending = split_weight(spec)
    weight = float(ending[1:] or 1)
    if weight <= 0:
        raise DataError(f"weight {ending[1:]} leaves nothing; give a positive number", path=path)
    return path, weight


def first_pairs(sources: Sequence[Source], limit: int) -> Iterator[Pair]:
    """The beginning of a mixture, for a look at the data that stays small."""
    return islice((pair for source in sources for pair in source.pairs()), limit)
