"""The pairs of the demo: training pairs as a file that anyone can open, and unseen sentences of every length."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from seq2see import atomic, corpora
from seq2see.corpora import Example
from seq2see.corpora.phrases import english, lexicon
from seq2see.demo.plan import CORPUS, EDGES, Plan

_MOST = 20_000  # test sentences looked through: long ones are rarer
_SUBJECTS = (("나는", "I am"), ("저는", "I am"), ("너는", "You are"), ("그는", "He is"), ("그녀는", "She is"))
_JOBS = 20  # how many of the grammar's professions
_REPEATS = 4  # so that a minute of training is enough for them


def write_pairs(plan: Plan) -> None:
    """pairs.tsv, once: reading a file is faster than making the sentences anew in each process."""
    first = introductions()[: plan.pairs // 30]  # all of them in a demo of the usual size
    _write(plan.training_pairs, [*first, *corpora.examples(CORPUS, "train", limit=plan.pairs - len(first))])


def introductions() -> list[Example]:
    """Who someone is, with and without a full stop: what people type first, and the grammar says too seldom."""
    pairs = [
        (f"{topic} {noun.korean}입니다", f"{being} {english.article(noun.english)} {noun.english} .")
        for noun in lexicon.NOUNS["role"][:_JOBS]
        for topic, being in _SUBJECTS
    ]
    return [
        Example(source + mark, target, ()) for source, target in pairs for mark in ("", " .") for _ in range(_REPEATS)
    ]


def write_test(plan: Plan) -> list[Example]:
    """Sentences that training never sees, as many of each length, in the order of the corpus; also as test.tsv."""
    chosen, full = [], (len(EDGES) + 1) * plan.each
    counts: Counter[int] = Counter()
    introduced = {example.target for example in introductions()}
    for example in corpora.examples(CORPUS, "test", limit=_MOST):
        if example.target in introduced:
            continue
        bucket = bisect_left(EDGES, len(example.target.split()))
        if counts[bucket] < plan.each:
            counts[bucket] += 1
            chosen.append(example)
        if len(chosen) == full:
            break
    _write(plan.test, chosen)
    return chosen


def _write(path: Path, examples: Iterable[Example]) -> None:
    lines = (f"{example.source}\t{example.target}\n" for example in examples)
    atomic.write_file(path, "".join(lines).encode())


def crossings(example: Example) -> int:
    """How often two words change their order on the way; words that are translated as a whole count as one."""
    partners: dict[int, set[int]] = {}
    for source, target in example.alignment or ():
        partners.setdefault(source, set()).add(target)
    units = {frozenset(targets): sum(targets) / len(targets) for _, targets in sorted(partners.items())}
    places = list(units.values())  # in the order of the source: where each stands in the target
    return sum(later < earlier for place, later in enumerate(places) for earlier in places[:place])
