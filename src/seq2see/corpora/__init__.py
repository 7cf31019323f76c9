"""Corpora that come with seq2see: generated, seeded, ours; nothing to download.

    phrases         Korean -> English from a grammar, 2 to 40 words, with gold word alignment (see phrases/)
    phrases-basic   the same grammar with a few words of each kind: what a small model can learn in minutes
    phrases-en-ko   the other direction; Korean keeps to one way of saying, polite 해요체
    dates           a day as people write it in Korean, English or German -> ISO 8601, through Babel's CLDR data
    reverse copy sort   sequences of letters and digits, 5 to 20 long

`examples` streams them. The same name, split, seed and limit give the same examples on every machine and Python
(`dates` also needs the same CLDR release, that is, the same Babel). A larger limit continues the same stream. Which
split an example belongs to follows from a hash of its text, so splits never overlap, whatever the seeds and limits:
of `phrases` neither the Korean nor the English of a test pair is ever seen in training, of `dates` not even the day.
"""

import random
import re
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import Literal, NamedTuple, get_args

from seq2see.errors import ConfigError, nearest

Split = Literal["train", "validation", "test"]


class Example(NamedTuple):
    """A pair, and which source word translates which target word (0-based, over words between spaces)."""

    source: str
    target: str
    alignment: tuple[tuple[int, int], ...] | None


Stream = Callable[[Callable[[], float]], Iterator[Example]]


class _Corpus(NamedTuple):
    """An endless stream of examples, the text that decides the split, and how many examples training gets."""

    stream: Stream
    key: Callable[[Example], str]
    train: int


def _phrases(random_: Callable[[], float]) -> Iterator[Example]:
    from seq2see.corpora.phrases.corpus import pairs

    return (Example(*pair) for pair in pairs(random_, into="english"))


def _phrases_basic(random_: Callable[[], float]) -> Iterator[Example]:
    from seq2see.corpora.phrases.corpus import pairs

    return (Example(*pair) for pair in pairs(random_, into="english", most=_BASIC))


def _phrases_back(random_: Callable[[], float]) -> Iterator[Example]:
    from seq2see.corpora.phrases.corpus import pairs

    return (Example(*pair) for pair in pairs(random_, into="korean"))


def _dates(random_: Callable[[], float]) -> Iterator[Example]:
    from seq2see.corpora.dates import days

    return (Example(written, iso, None) for written, iso in days(random_))


def _sequences(task: str) -> Stream:
    def stream(random_: Callable[[], float]) -> Iterator[Example]:
        from seq2see.corpora.sequences import sequences

        return (Example(*example) for example in sequences(task, random_))

    return stream


def _source(example: Example) -> str:
    return example.source


def _target(example: Example) -> str:
    return example.target


_BASIC = 6  # words of each list of the lexicon
_CORPORA = {
    "phrases": _Corpus(_phrases, _target, 60_000),
    "phrases-basic": _Corpus(_phrases_basic, _target, 60_000),
    "phrases-en-ko": _Corpus(_phrases_back, _source, 60_000),
    "dates": _Corpus(_dates, _target, 20_000),
    "reverse": _Corpus(_sequences("reverse"), _source, 20_000),
    "copy": _Corpus(_sequences("copy"), _source, 20_000),
    "sort": _Corpus(_sequences("sort"), _source, 20_000),
}
HELD_OUT = 2_000
"""The default size of validation and of test."""

# Tenths of all text: one is validation, one is test, the rest is training.
_TENTHS: tuple[Split, ...] = ("validation", "test", *("train",) * 8)
_PATIENCE = 200_000


def names() -> tuple[str, ...]:
    """The corpora there are."""
    return tuple(_CORPORA)


def size(name: str, split: Split) -> int:
    """How many examples a split has when no limit is given."""
    corpus = _known(name)
    return corpus.train if split == "train" else HELD_OUT


def _known(name: str) -> _Corpus:
    if name not in _CORPORA:
        raise ConfigError(f"there is no built-in corpus '{name}'{nearest(name, _CORPORA)}")
    return _CORPORA[name]


def read_settings(spec: str) -> tuple[str, dict[str, int]]:
    """`phrases,count=240000,seed=2` -> the name and its settings."""
    name, *options = spec.split(",")
    settings: dict[str, int] = {}
    known = ("count", "seed")
    for option in options:
        setting, _, value = option.partition("=")
        if setting not in known:
            raise ConfigError(f"a built-in corpus has no setting '{setting}'{nearest(setting, known)}")
        if not re.fullmatch(r"[0-9]{1,9}", value):
            raise ConfigError(f"'{option}': expected a number, such as {setting}=400")
        settings[setting] = int(value)
    return name, settings


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def examples(name: str, split: Split, *, seed: int = 0, limit: int | None = None) -> Iterator[Example]:
    """The examples of a split, no source twice; `limit` goes below or beyond the default size.

    A stream ends early only where a corpus has no new examples (`dates` has about a million pairs).
    """
    corpus = _known(name)
    if split not in get_args(Split):
        raise ConfigError(f"there is no split '{split}'{nearest(split, get_args(Split))}")
    if limit is not None and limit < 0:
        raise ConfigError(f"limit = {limit} must not be negative")
    return islice(_distinct(corpus, name, split, seed), size(name, split) if limit is None else limit)


def _distinct(corpus: _Corpus, name: str, split: Split, seed: int) -> Iterator[Example]:
    generator = random.Random(_digest(f"{name} {seed}"))
    seen: set[int] = set()
    repeated = 0
    for example in corpus.stream(generator.random):
        digest = _digest(corpus.key(example))
        if _TENTHS[digest % 10] != split:
            continue
        source = digest if corpus.key is _source else _digest(example.source)
        if source in seen:
            repeated += 1
            if repeated > _PATIENCE:
                return
            continue
        repeated = 0
        seen.add(source)
        yield example
