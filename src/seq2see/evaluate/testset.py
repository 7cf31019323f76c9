"""What systems are measured against: pairs that were kept aside, and the outputs that others have written for them."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from seq2see.data.sources import Source, Split, parse_sources
from seq2see.errors import ConfigError, DataError
from seq2see.formats.reading.encodings import check_encoding
from seq2see.formats.reading.lines import at_most, encoding_of, fits_utf_8, lines_of, read_lines, standard_input
from seq2see.text import NormalForm, normalise

STANDARD_INPUT = "-"
MOST_PAIRS = 5_000_000
"""Of a test set, which is held in memory."""


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
    encoding: str | None = None,
    split: Split = "test",
) -> References:
    """Pairs in any form that training reads; of a built-in corpus the split that is asked for."""
    if limit is not None and limit < 1:
        raise ConfigError(f"limit = {limit} leaves nothing to score; give a positive number")
    sources = parse_sources(
        specs,
        form=form,
        source_language=source_language,
        target_language=target_language,
        split=split,
        flip=flip,
        encoding=encoding,
    )
    for source in sources:
        if source.weight != 1:
            raise ConfigError(f"{source.name}: a test set counts each pair once; leave the weight away")
    pairs = islice(((pair, source) for source in sources for pair in source.pairs()), limit)
    chosen = list(at_most(MOST_PAIRS, pairs, "pairs, too many for a test set", Path(sources[0].paths[0])))
    return References(
        " ".join(specs),
        tuple(pair.source for pair, _ in chosen),
        tuple(pair.target for pair, _ in chosen),
        tuple(f"{_place(source)}:{pair.line}" for pair, source in chosen),
    )


def _place(source: Source) -> str:
    return f"{source.paths[0]}:{source.split}" if source.builtin is not None else source.paths[0]


def read_outputs(
    path: str | Path, test: References, form: NormalForm = "NFC", encoding: str | None = None
) -> tuple[str, ...]:
    """One line for each pair of the test set, no more and no fewer; `-` is standard input.

    Outputs of our own are UTF-8 whatever the test set is in, so the encoding is only tried where that fails.
    """
    encoding = check_encoding(encoding)
    if str(path) == STANDARD_INPUT:
        where, data = Path("standard input"), standard_input().read()
        fits = encoding is None or fits_utf_8(io.BytesIO(data).read, where)
        lines = lines_of(io.BytesIO(data).read, where, None if fits else encoding)
    else:
        where = Path(path)
        lines = read_lines(where, encoding_of(where, encoding))
    outputs = tuple(normalise(line, form) for line in islice(lines, MOST_PAIRS + 1))
    if len(outputs) != len(test):
        raise DataError(
            f"{len(outputs):,} lines, but {test.name} has {len(test):,} pairs; there must be one output line for each "
            "pair, empty ones too",
            path=where,
        )
    return outputs
