"""Pairs as ids on disk, built once in one streaming pass and read where they lie: memory does not grow with the corpus.

source.ids target.ids     all ids one behind the other
source.ends target.ends   where each pair's ids end (int64)
*.lengths                 how many each pair has (uint16)
links.ids links.ends      pieces that belong together, as source * 2^16 + target, where alignments are known
store.json                what it was built from, size and SHA-256 of each file; written last, when they are on the disk
"""

import hashlib
import json
import mmap
import os
import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seq2see import atomic
from seq2see.data.sources import Links, Sample, Source
from seq2see.errors import DataError, RunError
from seq2see.text import Tokenizer
from seq2see.vocabulary import EOS

VERSION = 3
_ABOUT = "store.json"
_LONGEST = (1 << 16) - 1  # pieces on a side, or links of a pair: what a length of two bytes can say
_PARTS = ("ids", "ends", "lengths")
_CHUNK = 1024  # pairs that are cut into pieces in one call
Ids = NDArray[np.uint32]


class CorpusRange(NamedTuple):
    """A corpus of the mixture inside the store: pairs start .. end - 1, each `weight` times in an epoch."""

    start: int
    end: int
    weight: float


class Column:
    """Ragged rows on disk: row i is ids[ends[i - 1] : ends[i]].

    Rows are read by position, not through a map: pages of a map count as our memory until they are given back, and
    shuffled reading touches all of them. Only the lengths, two bytes a pair, are mapped.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._ids = os.open(folder / f"{name}.ids", os.O_RDONLY)
        self._ends = os.open(folder / f"{name}.ends", os.O_RDONLY)
        weakref.finalize(self, _close, self._ids, self._ends)
        self._lengths = _mapped(folder / f"{name}.lengths")

    def __len__(self) -> int:
        return len(self._lengths)

    def row(self, index: int) -> Ids:
        length = int(self._lengths[index])
        end = int.from_bytes(os.pread(self._ends, 8, 8 * index), "little")
        ids = os.pread(self._ids, 4 * length, 4 * (end - length)) if end >= length else b""
        if len(ids) != 4 * length:
            raise RunError(f"{self._folder}: its ids were changed while training read them; go on with --resume")
        return np.frombuffer(ids, dtype=np.uint32)

    def lengths(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._lengths[indices].astype(np.int64)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


class Store:
    """A store that was built; see `build`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about: dict[str, Any] = atomic.read_json(folder / _ABOUT)
        self.source = Column(folder, "source")
        self.target = Column(folder, "target")
        self.links = Column(folder, "links") if self.about["links"] else None
        self.groups = [CorpusRange(*group) for group in self.about["groups"]]

    def __len__(self) -> int:
        return len(self.source)

    def links_of(self, index: int) -> list[tuple[int, int]]:
        """Pieces of this pair that belong together."""
        return [] if self.links is None else [(int(link) >> 16, int(link) & 0xFFFF) for link in self.links.row(index)]


class Limits(NamedTuple):
    """Pairs longer than this, in pieces, are left out."""

    source: int
    target: int


def build(
    folder: Path,
    sources: Sequence[Source],
    tokenizers: tuple[Tokenizer, Tokenizer],
    limits: Limits,
    *,
    keep: Callable[[Sample], bool],
    with_links: bool,
    fingerprint: str,
    advance: Callable[[int], None],
    say: Callable[[str], None] = lambda text: None,
) -> Store:
    """Cuts every pair that `keep` wants into pieces and writes them; an existing store of the same input is reused.

    `advance` is told how many more pairs were read, `say` that a store was damaged.
    """
    if is_current(folder, fingerprint):
        problem = damage(folder)
        if problem is None:
            return Store(folder)
        say(f"{folder}: {problem}; it is built again")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
        with _Writer(folder) as writer:
            groups = [_add(writer, source, tokenizers, limits, keep, with_links, advance) for source in sources]
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise atomic.cannot_write(folder, error) from None
    about = {
        "version": VERSION,
        "fingerprint": fingerprint,
        "pairs": writer.pairs,
        "empty": writer.empty,
        "too_long": writer.too_long,
        "links": writer.linked,
        "groups": groups,
        "files": {path.name: [path.stat().st_size, atomic.digest(path)] for path in writer.paths()},
    }
    if not writer.pairs:
        shutil.rmtree(folder, ignore_errors=True)
        raise DataError(_nothing_left(writer, limits), path=sources[0].name)
    atomic.write_json(folder / _ABOUT, about | {"sha256": _own_digest(about)})
    return Store(folder)


def is_current(folder: Path, fingerprint: str) -> bool:
    try:
        about = atomic.read_json(folder / _ABOUT)
        return bool(about["version"] == VERSION and about["fingerprint"] == fingerprint)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def damage(folder: Path) -> str | None:
    """What is wrong with a store that has its store.json, or None if every file is what was written."""
    try:
        about = atomic.read_json(folder / _ABOUT)
        if about["sha256"] != _own_digest(about):
            return f"{_ABOUT} was changed"
        for name, (size, digest) in about["files"].items():
            if (folder / name).stat().st_size != size:
                return f"{name} has {(folder / name).stat().st_size:,} bytes where {size:,} were written"
            if atomic.digest(folder / name) != digest:
                return f"{name} is damaged (its SHA-256 is not the one in store.json)"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"is incomplete or damaged ({type(error).__name__})"
    return None


def _own_digest(about: Mapping[str, Any]) -> str:
    """Of store.json itself: the ranges and weights of its corpora are part of what is learned from."""
    content = {name: value for name, value in about.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _nothing_left(writer: "_Writer", limits: Limits) -> str:
    if writer.too_long:
        return (
            f"all pairs are too long or empty: {writer.too_long} are longer than {limits.source} source or "
            f"{limits.target} target pieces, {writer.empty} are empty; cut them into sentences, or raise "
            "training.max_length (slower)"
        )
    return "holds no pair with text on both sides"


class _Writer:
    """The files while they grow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pairs = self.empty = self.too_long = 0
        self.linked = False
        self._ends = {"source": 0, "target": 0, "links": 0}
        self._files: dict[str, tuple[BinaryIO, BinaryIO, BinaryIO]] = {}

    def __enter__(self) -> "_Writer":
        for name in self._ends:
            ids, ends, lengths = ((self.folder / f"{name}.{part}").open("wb") for part in _PARTS)
            self._files[name] = ids, ends, lengths
        return self

    def __exit__(self, *problem: object) -> None:
        """On the disk before store.json vouches for them."""
        for files in self._files.values():
            for file in files:
                with file:
                    if problem[0] is None:
                        file.flush()
                        os.fsync(file.fileno())

    def paths(self) -> list[Path]:
        return [self.folder / f"{name}.{part}" for name in self._ends for part in _PARTS]

    def add(self, source: Sequence[int], target: Sequence[int], links: Sequence[int]) -> None:
        self.pairs += 1
        self.linked = self.linked or bool(links)
        for name, ids in (("source", source), ("target", target), ("links", links)):
            data, ends, lengths = self._files[name]
            data.write(np.asarray(ids, dtype=np.uint32).tobytes())
            self._ends[name] += len(ids)
            ends.write(self._ends[name].to_bytes(8, "little"))
            lengths.write(min(len(ids), _LONGEST).to_bytes(2, "little"))


def _add(
    writer: _Writer,
    source: Source,
    tokenizers: tuple[Tokenizer, Tokenizer],
    limits: Limits,
    keep: Callable[[Sample], bool],
    with_links: bool,
    advance: Callable[[int], None],
) -> CorpusRange:
    start = writer.pairs
    kept = (sample for sample in source.samples() if keep(sample))
    while chunk := list(islice(kept, _CHUNK)):
        for source_ids, target_ids, links in _cut(chunk, tokenizers, with_links):
            if len(source_ids) <= 1 or not target_ids:
                writer.empty += 1
            elif len(source_ids) > limits.source or len(target_ids) > limits.target:
                writer.too_long += 1
            else:
                writer.add(source_ids, target_ids, links)
        advance(len(chunk))
    return CorpusRange(start, writer.pairs, source.weight)


def _cut(
    chunk: list[Sample], tokenizers: tuple[Tokenizer, Tokenizer], with_links: bool
) -> Iterator[tuple[list[int], list[int], list[int]]]:
    sources, targets = [sample.pair.source for sample in chunk], [sample.pair.target for sample in chunk]
    if not with_links:
        for source, target in zip(
            encode_sources(tokenizers[0], sources), tokenizers[1].ids_batch(targets), strict=True
        ):
            yield source, target, []
        return
    encoded = zip(chunk, tokenizers[0].encode_batch(sources), tokenizers[1].encode_batch(targets), strict=True)
    for sample, source_pieces, target_pieces in encoded:
        words = tokenizers[0].words(source_pieces), tokenizers[1].words(target_pieces)
        links = piece_links(sample.links or (), *words)
        yield [*source_pieces.ids, EOS], list(target_pieces.ids), links


def encode_sources(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Source pieces end with EOS everywhere: training, validation, translation."""
    return [[*ids, EOS] for ids in tokenizer.ids_batch(texts)]


def piece_links(links: Links, source_words: Sequence[int], target_words: Sequence[int]) -> list[int]:
    """Word links as piece links: every piece of a word with every piece of its partner."""
    partners: dict[int, set[int]] = {}
    for source, target in links:
        partners.setdefault(target, set()).add(source)
    return [
        source << 16 | target
        for target, word in enumerate(target_words)
        for source, source_word in enumerate(source_words)
        if source_word in partners.get(word, ())
    ]


def _mapped(path: Path) -> NDArray[np.uint16]:
    if path.stat().st_size == 0:
        return np.empty(0, dtype=np.uint16)
    with path.open("rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint16)


def rows(column: Column, indices: Iterable[int]) -> list[Ids]:
    return [column.row(int(index)) for index in indices]
