"""What systems are measured against: pairs that were kept aside, and the outputs that others have written for them."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import islice
from pathlib import Path

from seq2see.data.sources import Source, parse_sources
from seq2see.errors import ConfigError, DataError
from seq2see.text import NormalForm, normalise
from seq2see.text.lines import read_lines

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class References:
    """A test set in memory; `places` say where each pair stands, for people who want to look it up."""

    name: str
    sources: tuple[str, ...]
    references: tuple[str, ...]
    places: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.references)


def references_of(pairs: Iterable[tuple[str, str]], name: str = "pairs") -> References:
    """A test set from pairs in memory."""
    listed = list(pairs)
    places = tuple(f"{name}:{number}" for number in range(1, len(listed) + 1))
    return References(name, tuple(source for source, _ in listed), tuple(target for _, target in listed), places)


def read_references(
    specs: Sequence[str],
    *,
    form: NormalForm = "NFC",
    source_language: str | None = None,
    target_language: str | None = None,
    flip: bool = False,
    limit: int | None = None,
) -> References:
    """Pairs in any form that training reads; of a built-in corpus the test split, which training never sees."""
    if limit is not None and limit < 1:
        raise ConfigError(f"limit = {limit} leaves nothing to score; give a positive number")
    sources = parse_sources(
        specs, form=form, source_language=source_language, target_language=target_language, split="test", flip=flip
    )
    for source in sources:
        if source.weight != 1:
            raise ConfigError(f"{source.name}: a test set counts each pair once; leave the weight away")
    found = list(islice(((pair, source) for source in sources for pair in source.pairs()), limit))
    return References(
        " ".join(specs),
        tuple(pair.source for pair, _ in found),
        tuple(pair.target for pair, _ in found),
        tuple(f"{_place(source)}:{pair.line}" for pair, source in found),
    )


def _place(source: Source) -> str:
    return f"{source.paths[0]}:test" if source.builtin is not None else source.paths[0]


def read_outputs(path: str | Path, test: References, form: NormalForm = "NFC") -> tuple[str, ...]:
    """One line for each pair of the test set, no more and no fewer; `-` is standard input."""
    lines = _standard_input() if str(path) == STANDARD_INPUT else read_lines(Path(path))
    found = tuple(normalise(line, form) for line in lines)
    if len(found) != len(test):
        raise DataError(
            f"{len(found):,} lines, but {test.name} has {len(test):,} pairs; there must be one output line for each "
            "pair, empty ones too",
            path="standard input" if str(path) == STANDARD_INPUT else path,
        )
    return found


def _standard_input() -> Iterator[str]:
    stream: BufferedIOBase = sys.stdin.buffer  # type: ignore[assignment]
    for number, data in enumerate(stream, start=1):
        try:
            text = data.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"not UTF-8 at byte {error.start} of the line", path="standard input", line=number
            ) from None
        yield text.removesuffix("\n").removesuffix("\r")
