"""Everything between the files a person names and the first update: tokenizers, ids on disk, the held-out pairs."""

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from seq2see import atomic
from seq2see.data import store
from seq2see.data.invented import find_stems, invent
from seq2see.data.sources import Sample, Source, first_pairs, parse_sources
from seq2see.data.store import Limits, Store
from seq2see.errors import ConfigError, DataError
from seq2see.formats import Pair
from seq2see.runs.config import DataConfig, RunConfig
from seq2see.runs.folder import TOKENIZERS, check_vocabularies, load_tokenizers
from seq2see.runs.inputs import Input
from seq2see.text import Tokenizer, train_pair

REPORTED = 100_000  # pairs that the report at the start of training looks at: memory stays flat
_TOKENIZER_PAIRS = 500_000  # pairs that a vocabulary is learned from, of each corpus

Say = Callable[[str], None]
Counting = Callable[[str], Callable[[int], None]]


class PreparedData(NamedTuple):
    """What training needs of the data."""

    tokenizers: tuple[Tokenizer, Tokenizer]
    train: Store
    valid: Store


def sources_of(data: DataConfig) -> tuple[list[Source], list[Source]]:
    """Training and validation corpora; validation is empty if some training pairs are to be held out."""
    train = parse_sources(
        data.train,
        form=data.form,
        source_language=data.source_language,
        target_language=data.target_language,
        alignments=data.alignments,
        flip=data.flip,
        encoding=data.encoding,
    )
    made = [path for path in (data.mono, data.distilled) if path is not None]
    train += [Source((path,), form=data.form, synthetic=True) for path in made]
    if data.valid:
        valid = parse_sources(
            data.valid,
            form=data.form,
            source_language=data.source_language,
            target_language=data.target_language,
            split="validation",
            flip=data.flip,
            encoding=data.encoding,
        )
        return train, valid
    builtin = [source for source in train if source.builtin is not None]
    return train, [replace(source, split="validation", weight=1.0) for source in builtin]


def report_lines(train: Sequence[Source], valid: Sequence[Source], limit: int | None = REPORTED) -> list[str]:
    """What `seq2see data` would say of the pairs, or of the first of them."""
    from seq2see.data.report import report

    count = limit if limit is not None else 1 << 62
    held_out = {"validation": first_pairs(valid, count)} if valid else {}
    pairs_report = report(first_pairs(train, count), held_out=held_out)
    lines = pairs_report.lines()
    if limit is not None and pairs_report.pairs >= limit:
        lines.append(f"(the first {limit:,} pairs; `seq2see data` looks at all of them)")
    return lines


def prepare(config: RunConfig, out: Path, files: Sequence[Input], say: Say, counting: Counting) -> PreparedData:
    """Trains the tokenizers and builds the stores of these data files, or takes those that are there and still fit."""
    train, valid = sources_of(config.data)
    tokenizers = make_tokenizers(config, train, out, say)
    if "source_vocabulary" in config.model:  # not yet while its settings are being chosen
        check_vocabularies(out, config, tokenizers)
    size = config.training.max_length
    guided = config.training.guided_alignment > 0
    print_key = _fingerprint(config, train, valid, out, files)
    train_store = store.build(
        out / "data" / "train",
        [*train, *_invented(config, train, out, held=bool(valid))],
        tokenizers,
        Limits(size, size),
        keep=_Holdout(config.data, held=bool(valid), wanted=False),
        with_links=guided,
        fingerprint=print_key,
        advance=counting("reading training pairs"),
        say=say,
    )
    if guided and train_store.links is None:
        raise ConfigError(
            "training.guided_alignment needs word alignments: give data.alignments (a Pharaoh file), or train on "
            "builtin:phrases, which knows its own"
        )
    valid_store = _valid_store(config, train, valid, tokenizers, out, print_key, say, counting)
    _tell(train_store, valid_store, say)
    if "training.max_length" not in (config.given or ()):
        _check_lengths(train_store, size)
    return PreparedData(tokenizers, train_store, valid_store)


def _invented(config: RunConfig, train: list[Source], out: Path, *, held: bool) -> list[Source]:
    """A corpus of pairs with other stems, made from the training pairs alone; it lies in the run folder."""
    if not config.data.invented:
        return []
    path = out / "data" / "invented.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    learned = _Holdout(config.data, held=held, wanted=False)
    samples = (sample for corpus in train for sample in corpus.samples())
    stems = find_stems(sample.pair for sample in samples if learned(sample))
    pairs = invent(stems, config.data.invented, config.training.seed)
    lines = (json.dumps({"source": pair.source, "target": pair.target}, ensure_ascii=False) + "\n" for pair in pairs)
    atomic.write_file(path, "".join(lines).encode())
    return [Source((str(path),), form=config.data.form)] if stems else []


def _valid_store(
    config: RunConfig,
    train: list[Source],
    valid: list[Source],
    tokenizers: tuple[Tokenizer, Tokenizer],
    out: Path,
    print_key: str,
    say: Say,
    counting: Counting,
) -> Store:
    folder, size = out / "data" / "valid", config.training.max_length
    human = [source for source in train if not source.synthetic]
    counter = counting("reading validation pairs")

    def built(sources: list[Source], keep: Callable[[Sample], bool]) -> Store:
        return store.build(
            folder,
            sources,
            tokenizers,
            Limits(size, size),
            keep=keep,
            with_links=False,
            fingerprint=print_key,
            advance=counter,
            say=say,
        )

    if valid:
        return built(valid, _First(config.data.valid_pairs))
    try:
        return built(human, _Holdout(config.data, held=False, wanted=True))
    except DataError:
        say("too few pairs to hold any out: validation looks at training pairs, so its score is no measure of quality")
        return built(human, _First(config.data.valid_pairs))


def _tell(train: Store, valid: Store, say: Say) -> None:
    about = train.about
    left_out = [f"{about[key]:,} {what}" for key, what in (("empty", "empty"), ("too_long", "too long")) if about[key]]
    say(
        f"{len(train):,} training pairs, {len(valid):,} validation pairs"
        + (f"; left out: {', '.join(left_out)}" if left_out else "")
    )


def _check_lengths(train: Store, most: int) -> None:
    """Long lines are left out one by one, but not most of what a person has."""
    long = train.about["too_long"]
    if long > len(train):
        raise DataError(
            f"{long:,} of {long + len(train):,} pairs have more than {most:,} pieces on a side and would be left out; "
            f"cut them into sentences, or allow more by --set training.max_length={2 * most} (slower)"
        )


class _First:
    """The first so many."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def __call__(self, sample: Sample) -> bool:
        self.left -= 1
        return self.left >= 0


class _Holdout:
    """Holds pairs out by a hash of their source until there are enough; the same pairs in every pass.

    A source that was held out stays out, with whatever target it comes again.
    """

    def __init__(self, data: DataConfig, *, held: bool, wanted: bool) -> None:
        self.limit = 0 if held else data.valid_pairs
        self.every = data.held_out
        self.wanted = wanted
        self.out: set[int] = set()

    def __call__(self, sample: Sample) -> bool:
        if not self.limit:
            return not self.wanted
        code = zlib.crc32(sample.pair.source.encode())
        if code not in self.out and code % self.every == 0 and len(self.out) < self.limit:
            self.out.add(code)
        return (code in self.out) == self.wanted


def make_tokenizers(config: RunConfig, train: list[Source], out: Path, say: Say) -> tuple[Tokenizer, Tokenizer]:
    if all((out / name).exists() for name in TOKENIZERS):
        return load_tokenizers(out)
    sides = config.tokenizer.sides
    described = [f"{side.scheme}, at most {side.vocabulary:,} pieces" for side in dict.fromkeys(sides)]
    say(f"learning vocabularies ({'; '.join(described)})")
    tokenizers = train_pair(
        (pair.source for pair in _for_vocabulary(train)),
        (pair.target for pair in _for_vocabulary(train)),
        sides,
        shared=config.data.shared_vocabulary,
    )
    for tokenizer, name in zip(tokenizers, TOKENIZERS, strict=True):
        tokenizer.save(out / name)
    return tokenizers


def _for_vocabulary(sources: list[Source]) -> Iterator[Pair]:
    for source in sources:
        yield from islice(source.pairs(), _TOKENIZER_PAIRS)


def _fingerprint(config: RunConfig, train: list[Source], valid: list[Source], out: Path, files: Sequence[Input]) -> str:
    """Changes whenever the stores would: other inputs, other tokenizers, other limits."""
    digests = {file.path: file.sha256 for file in files}
    parts: list[object] = [[source.fingerprint(digests), source.weight] for source in (*train, *valid)]
    parts += [atomic.digest(out / name) for name in TOKENIZERS]
    parts += [config.data.invented, config.training.seed] if config.data.invented else []
    parts += [config.training.max_length, config.data.valid_pairs, config.training.guided_alignment > 0]
    parts += [config.data.held_out] if config.data.held_out != DataConfig().held_out else []  # older runs have none
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()
