"""What is in the pairs, before anything learns from them: `seq2see data`.

Most disappointing models were disappointing files: test sentences that stand in the training data, lines that slipped,
sources copied into the target. The report walks once over the pairs and keeps numbers, never texts (some 60 bytes a
pair), so that it can look at more than fits into memory as text. `clean` walks once more and drops what is no use.
"""

import gzip
import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from seq2see import atomic
from seq2see.data.keys import Keys, Mask, as_mask, as_numbers, loosen, repeated
from seq2see.data.shift import Shape, Shift, find_shifts
from seq2see.errors import DataError, printable
from seq2see.formats import Pair

EXAMPLES = 5
"""How many line numbers a finding names."""

ROOM = 8
"""Characters added to both sides before they are compared: "Go." and "가." differ by half, and are a fine pair."""

FAR = 5.0
"""A length ratio is an outlier this many spreads (1.4826 MAD of its logarithm) away from the median."""


class Ratio(NamedTuple):
    """The usual length of a target against its source, in characters, as logarithms: median and robust spread."""

    median: float
    spread: float

    def is_far(self, source: str, target: str) -> bool:
        """Whether one side is much too long for the other."""
        return abs(_log_ratio(source, target) - self.median) > FAR * self.spread


@dataclass(frozen=True)
class Finding:
    """How many pairs, and the lines of the first few; of several files also which file each of them is in."""

    count: int
    lines: tuple[int, ...]
    files: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """`12`, or `a.tsv:12` where there are several files."""
        if not self.files:
            return tuple(map(str, self.lines))
        return tuple(f"{printable(file)}:{line}" for file, line in zip(self.files, self.lines, strict=True))


@dataclass(frozen=True)
class Overlap:
    """Pairs of a held-out set that the training pairs hold too; lines are those of the held-out file.

    The loose findings ignore case, white space and punctuation.
    """

    pairs: int
    same_source: Finding
    same_pair: Finding
    loose_source: Finding
    loose_pair: Finding


@dataclass(frozen=True)
class DataReport:
    """Everything `seq2see data` has to say about the pairs."""

    pairs: int
    ratio: Ratio
    empty: Finding
    """Pairs with nothing, or only white space, on one side or both."""
    duplicates: Finding
    """Pairs that repeat an earlier pair exactly."""
    other_targets: Finding
    """Pairs that give another target to an earlier source."""
    copies: Finding
    """Pairs whose target is their source."""
    far_ratios: Finding
    """Pairs whose one side is much too long for the other."""
    shifts: tuple[Shift, ...]
    overlaps: Mapping[str, Overlap] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The report for people."""
        text = [
            _line("pairs", Finding(self.pairs, ())),
            _line("empty side", self.empty),
            _line("exact duplicates", self.duplicates),
            _line("same source, other target", self.other_targets),
            _line("source = target", self.copies),
            _line("length ratio far off", self.far_ratios),
            _line("likely shifted runs", Finding(len(self.shifts), ())),
        ]
        if self.copies.count > self.pairs / 2:
            text.append("most targets are their own sources: such pairs teach to copy")
        for shift in self.shifts:
            where = f"{abs(shift.by)} line{'s' * (abs(shift.by) > 1)} further {'down' if shift.by > 0 else 'up'}"
            file = f"{printable(shift.file)}: " if shift.file else ""
            text.append(f"  {file}from line {shift.first} to {shift.last}, targets seem to stand {where}")
        for name, overlap in self.overlaps.items():
            text.append(
                f"of {overlap.pairs:,} pairs in {printable(name)}, the training pairs hold (nearly: but for case, "
                "spaces, marks)"
            )
            text.append(_line("  the same pair", overlap.same_pair))
            text.append(_line("  the same source", overlap.same_source))
            text.append(_line("  nearly the same pair", overlap.loose_pair))
            text.append(_line("  nearly the same source", overlap.loose_source))
        return text

    def to_json(self) -> str:
        """The report for programs: one line of JSON with the names of the fields; files where there are several."""

        def stated(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
            return {name: value for name, value in items if value or name not in ("files", "file")}

        fields = asdict(self, dict_factory=stated)
        fields["ratio"] = self.ratio._asdict()
        fields["shifts"] = [stated(shift._asdict().items()) for shift in self.shifts]
        return json.dumps(fields, ensure_ascii=False)


def report(pairs: Iterable[Pair], *, held_out: Mapping[str, Iterable[Pair]] | None = None) -> DataReport:
    """Look at training pairs, and at what they share with held-out sets (`{"test": pairs}`)."""
    return report_files([("", pairs)], held_out=held_out)


def report_files(
    files: Iterable[tuple[str, Iterable[Pair]]], *, held_out: Mapping[str, Iterable[Pair]] | None = None
) -> DataReport:
    """The same of several files with their names: findings say which one they are in."""
    seen = Keys(loose=bool(held_out))
    ratios = array("d")
    names: list[str] = []
    starts: list[int] = []
    shifts: list[Shift] = []
    for name, pairs in files:
        names.append(name)
        starts.append(len(seen.line))
        source, target = Shape(), Shape()
        for pair in pairs:
            seen.add(pair)
            source.add(pair.source)
            target.add(pair.target)
            ratios.append(_log_ratio(pair.source, pair.target))
        # a copy: an array that numpy looks into could not grow with the next file
        shifts += find_shifts(source, target, np.array(seen.line[starts[-1] :], np.int64), name)
    where = _Where(as_numbers(seen.line), names if len(names) > 1 else [], starts)
    lines, empty, copies = where.lines, as_mask(seen.empty), as_mask(seen.copy)
    whole = ~empty & ~copies
    logs = np.frombuffer(ratios, np.float64)
    ratio = _usual_ratio(logs[whole])
    duplicates = repeated(as_numbers(seen.pair), ~empty)
    return DataReport(
        pairs=len(lines),
        ratio=ratio,
        empty=where.finding(empty),
        duplicates=where.finding(duplicates),
        other_targets=where.finding(repeated(as_numbers(seen.source), ~empty & ~duplicates)),
        copies=where.finding(copies),
        far_ratios=where.finding(whole & (np.abs(logs - ratio.median) > FAR * ratio.spread)),
        shifts=tuple(shifts),
        overlaps={name: _overlap(seen, others) for name, others in (held_out or {}).items()},
    )


def clean(pairs: Iterable[Pair], ratio: Ratio, *, held_out: Iterable[Pair] = ()) -> Iterator[Pair]:
    """The pairs without empty sides, duplicates, copies and lengths far off (`report(pairs).ratio` is the measure).

    Whatever has the source of a held-out pair, but for case, spaces and punctuation, goes as well.
    """
    secret = {hash(loosen(pair.source)) for pair in held_out}
    seen: set[int] = set()
    for pair in pairs:
        if not pair.source.strip() or not pair.target.strip() or pair.source.strip() == pair.target.strip():
            continue
        if ratio.is_far(pair.source, pair.target) or (secret and hash(loosen(pair.source)) in secret):
            continue
        key = hash((pair.source, pair.target))
        if key not in seen:
            seen.add(key)
            yield pair


def write_tsv(pairs: Iterable[Pair], path: str | Path) -> int:
    """Write a TSV (packed when named .gz) and say how many pairs it holds; tabs and line ends become spaces.

    The file appears under its name only when it is complete: an error on the way leaves what was there before.
    """
    path = Path(path)
    count = 0
    with (
        atomic.replacing(path, _cannot_write) as temporary,
        temporary.open("wb") as file,
        _packed(file) if path.suffix.lower() == ".gz" else nullcontext(file) as stream,
    ):
        for pair in pairs:
            row = f"{pair.source.translate(_TO_SPACE)}\t{pair.target.translate(_TO_SPACE)}\n"
            stream.write(row.encode())
            count += 1
    return count


def _cannot_write(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot be written: {error.strerror or 'input/output error'}", path=path)


_TO_SPACE = str.maketrans("\t\n\r", "   ")


class _Where(NamedTuple):
    """The line of each pair, and at which pair each file begins; no names for a file that is alone."""

    lines: NDArray[np.int64]
    names: list[str]
    starts: list[int]

    def finding(self, mask: Mask) -> Finding:
        places = np.flatnonzero(mask)[:EXAMPLES]
        files = np.searchsorted(self.starts, places, side="right") - 1 if self.names else ()
        lines = tuple(int(line) for line in self.lines[places])
        return Finding(int(mask.sum()), lines, tuple(self.names[file] for file in files))


def _log_ratio(source: str, target: str) -> float:
    return math.log((len(target) + ROOM) / (len(source) + ROOM))


def _usual_ratio(logs: NDArray[np.float64]) -> Ratio:
    """Median and MAD; the spread is never so small that less than a doubling would be far off."""
    if not len(logs):
        return Ratio(0.0, 1.0)
    median = float(np.median(logs))
    return Ratio(median, max(math.log(2) / FAR, 1.4826 * float(np.median(np.abs(logs - median)))))


def _overlap(seen: Keys, pairs: Iterable[Pair]) -> Overlap:
    held_out = Keys(loose=True)
    for pair in pairs:
        held_out.add(pair)
    lines, whole = as_numbers(held_out.line), ~as_mask(held_out.empty)

    def shared(ours: "array[int]", theirs: "array[int]") -> Finding:
        return _Where(lines, [], []).finding(whole & np.isin(as_numbers(theirs), as_numbers(ours)))

    return Overlap(
        pairs=len(lines),
        same_source=shared(seen.source, held_out.source),
        same_pair=shared(seen.pair, held_out.pair),
        loose_source=shared(seen.loose_source, held_out.loose_source),
        loose_pair=shared(seen.loose_pair, held_out.loose_pair),
    )


def _line(what: str, finding: Finding) -> str:
    more = ", …" if finding.count > len(finding.lines) else ""
    where = f"{'' if finding.files else 'line '}{', '.join(finding.places)}{more}" if finding.lines else ""
    return f"{what:<28}{finding.count:>9,}  {where}".rstrip()


def _packed(file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    """Gzip without a name or a time inside, so that the same pairs give the same bytes."""
    return cast(AbstractContextManager[IO[bytes]], gzip.GzipFile("", "wb", 6, file, mtime=0))
