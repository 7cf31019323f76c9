"""The built-in corpora: the promises of `examples`, and what the grammar of `phrases` must keep."""

import hashlib
import random
import re
from collections import Counter
from datetime import date
from functools import cache
from itertools import islice, pairwise
from typing import get_args

import pytest

from seq2see import corpora
from seq2see.corpora import Example, Split, examples, names, size
from seq2see.corpora.dates import FORMATS, write
from seq2see.corpora.phrases import english, lexicon
from seq2see.corpora.phrases.corpus import pairs
from seq2see.data.sources import parse_sources
from seq2see.errors import ConfigError

SPLITS: tuple[Split, ...] = get_args(Split)


@cache
def sample(name: str, split: Split, seed: int = 0, limit: int = 3000) -> list[Example]:
    return list(examples(name, split, seed=seed, limit=limit))


@cache
def _drawn(into: str, count: int) -> list[tuple[str, str, tuple[tuple[int, int], ...]]]:
    return list(islice(pairs(random.Random(99).random, into=into), count))


def many(into: str = "english") -> list[tuple[str, str, tuple[tuple[int, int], ...]]]:
    """Pairs as the grammar gives them, repetitions included."""
    return _drawn(into, 20_000 if into == "english" else 10_000)


def test_names_and_sizes() -> None:
    assert names() == ("phrases", "phrases-basic", "phrases-en-ko", "dates", "reverse", "copy", "sort")
    assert size("phrases", "train") == 60_000
    assert all(size(name, split) == 2_000 for name in names() for split in SPLITS[1:])


def test_mistakes_are_answered_with_a_hint() -> None:
    with pytest.raises(ConfigError, match="did you mean 'phrases'"):
        examples("phrase", "train")
    with pytest.raises(ConfigError, match="did you mean 'validation'"):
        examples("copy", "validaton")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="limit = -1"):
        examples("copy", "train", limit=-1)


def test_a_mixture_says_how_much_of_a_corpus_it_takes() -> None:
    (few,) = parse_sources(["builtin:copy,count=7,seed=3:2"])
    assert (few.builtin, few.weight) == ("copy", 2.0)
    assert [(one.source, one.target) for one in few.pairs()] == [
        (one.source, one.target) for one in examples("copy", "train", seed=3, limit=7)
    ]
    (default,) = parse_sources(["builtin:copy"])
    assert few.fingerprint({}) != default.fingerprint({})
    (held_out,) = parse_sources(["builtin:copy,count=7"], split="test")
    assert sum(1 for _ in held_out.pairs()) == size("copy", "test")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("builtin:copy,cuont=3", "did you mean 'count'"),
        ("builtin:copy,count=", "expected a number, such as count=400"),
        ("builtin:copy,count=-1", "expected a number"),
        ("builtin:copy,7", "has no setting '7'"),
    ],
)
def test_settings_that_are_none(spec: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        list(parse_sources([spec])[0].pairs())


@pytest.mark.parametrize("name", names())
def test_the_same_call_gives_the_same_examples(name: str) -> None:
    once = list(examples(name, "train", seed=3, limit=200))
    assert once == list(examples(name, "train", seed=3, limit=200))
    assert once[:50] == list(examples(name, "train", seed=3, limit=50))
    assert once != list(examples(name, "train", seed=4, limit=200))


# A change of these sums changes every corpus that users train on: bump the version and say so in the changelog.
SUMS = {
    "phrases": "be423821f98c9f5067d058a524e7be506a8d784956927783144cc76b94e5af82",
    "phrases-basic": "dc22697405543c77d3de220afdab40ac71b056a96678b41392b8671ff5644f50",
    "phrases-en-ko": "de8f9dfe7e7a9c2c230e01dce689e736dc7b273d037dc92d413ba8fc3e700b44",
    "reverse": "8dcca6368548f5de74b48fd118b2f9c0b236741659cbbb5f2afc35fd42417a5b",
    "copy": "32d7d873a65f822a837613004f32952c2b624911fe4c622c36668c4a3ad115d6",
    "sort": "6854bb1e3e52d90ee19618b684f6d360a813455760b286656dad3bdf355282fb",
}


@pytest.mark.parametrize("name", sorted(SUMS))
def test_the_first_thousand_never_change_silently(name: str) -> None:
    text = "\n".join(map(repr, islice(examples(name, "train"), 1000)))
    assert hashlib.sha256(text.encode()).hexdigest() == SUMS[name]


@pytest.mark.parametrize("name", names())
def test_splits_do_not_overlap_whatever_the_seed(name: str) -> None:
    trained = {example.source for seed in (0, 1) for example in sample(name, "train", seed, 1500)}
    held_out = {example.source for split in SPLITS[1:] for example in sample(name, split, 1, 150)}
    assert len(held_out) == 300
    assert not trained & held_out
    if name in ("phrases", "phrases-basic", "phrases-en-ko", "dates"):
        targets = {example.target for example in sample(name, "train", 0, 1500)}
        assert not targets & {example.target for split in SPLITS[1:] for example in sample(name, split, 1, 150)}


@pytest.mark.parametrize("name", names())
def test_no_source_comes_twice(name: str) -> None:
    sources = [example.source for example in sample(name, "train", 0, 1500)]
    assert len(set(sources)) == len(sources)


def test_basic_phrases_are_the_same_grammar_with_fewer_words() -> None:
    few, all_ = (
        {word for one in sample(name, "train", 0, 1500) for word in one.target.split()}
        for name in ("phrases-basic", "phrases")
    )
    assert len(few) < len(all_) / 2
    lengths = [len(one.target.split()) for one in sample("phrases-basic", "train", 0, 1500)]
    assert max(lengths) > 35
    assert min(lengths) < 5


@pytest.mark.parametrize("name", ["reverse", "copy", "sort"])
def test_sequence_tasks(name: str) -> None:
    for source, target, alignment in sample(name, "test", 0, 500):
        words, answer = source.split(), target.split()
        assert 5 <= len(words) <= 20
        assert answer == {"copy": words, "reverse": words[::-1], "sort": sorted(words)}[name]
        assert alignment is not None
        assert [words[one] for one, _ in alignment] == [answer[two] for _, two in alignment]
        assert sorted(two for _, two in alignment) == list(range(len(answer)))


# dates -------------------------------------------------------------------------------------------------------------


def numbers_of(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def read_back(text: str) -> str:
    """An independent reader: month names from Babel, order from the shape of the text."""
    from babel.dates import get_month_names

    found = numbers_of(text)
    for locale in ("en_US", "de"):
        for width in ("wide", "abbreviated"):
            for month, name in get_month_names(width, "format", locale).items():
                if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                    day, year = sorted(found)
                    return date(year, month, day).isoformat()
    if "년" in text or re.match(r"\d+\. ", text) or re.match(r"\d{4}\.", text):
        year, month, day = found
    elif "/" in text:
        month, day, year = found
    else:
        day, month, year = found
    if year < 100:
        year += 1900 if year >= 50 else 2000
    return date(year, month, day).isoformat()


def test_dates_read_back_to_the_same_day() -> None:
    generator = random.Random(5)
    for locale, patterns in FORMATS.items():
        for pattern in patterns:
            for _ in range(40):
                day = date.fromordinal(date(1950, 1, 1).toordinal() + int(generator.random() * 36_525))
                assert read_back(write(day, locale, pattern)) == day.isoformat(), (locale, pattern)


def test_a_written_date_means_one_day() -> None:
    meaning: dict[str, str] = {}
    for split in SPLITS:
        for source, target, alignment in sample("dates", split, 0, 1500):
            assert meaning.setdefault(source, target) == target
            assert date.fromisoformat(target).isoformat() == target
            assert alignment is None
    assert {"ko", "en_US", "de"} == set(FORMATS)


# phrases -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("into", [pytest.param("english", marks=pytest.mark.slow), "korean"])
def test_the_target_is_a_function_of_the_source(into: str) -> None:
    meaning: dict[str, str] = {}
    assert [s for s, t, _ in many(into) if meaning.setdefault(s, t) != t] == []


@pytest.mark.parametrize("into", ["english", "korean"])
def test_alignment_covers_every_word_of_both_sides(into: str) -> None:
    for source, target, alignment in many(into):
        assert {one for one, _ in alignment} == set(range(len(source.split()))), (source, target)
        assert {two for _, two in alignment} == set(range(len(target.split()))), (source, target)


def test_lengths_spread_from_two_to_forty() -> None:
    lengths = [len(target.split()) for _, target, _ in many()]
    assert min(lengths) == 2
    assert max(lengths) == 40
    assert max(len(source.split()) for source, _, _ in many()) <= 40
    buckets = Counter((length - 1) // 5 for length in lengths)
    assert min(buckets[bucket] for bucket in range(8)) >= 0.03 * len(lengths)


@pytest.mark.parametrize("split", ["validation", "test"])
def test_held_out_lengths_spread_too(split: Split) -> None:
    buckets = Counter((len(example.target.split()) - 1) // 5 for example in sample("phrases", split, 1, 150))
    assert set(buckets) == set(range(8))


def test_the_shape_of_the_text() -> None:
    hangul_only = re.compile(r"[가-힣]+|[.?]")
    latin_only = re.compile(r"[A-Za-z][A-Za-z'-]*|[.,?]")
    for source, target, _ in many():
        assert all(hangul_only.fullmatch(word) for word in source.split(" ")), source
        assert all(latin_only.fullmatch(word) for word in target.split(" ")), target
        assert target[0].isupper()
        assert source[-2:] == target[-2:]
        assert source[-2:] in (" .", " ?")


def test_a_and_an_follow_the_sound() -> None:
    for _, target, _ in many():
        words = target.lower().split()
        for one, two in pairwise(words):
            if one in ("a", "an"):
                assert english.article(two) == one, target


def test_the_vocabulary_counts_three_thousand_words() -> None:
    """In 20,000 pairs already; the grammar holds more of both."""
    korean = {word for source, _, _ in many() for word in source.split()}
    latin = {word.lower() for _, target, _ in many() for word in target.split()}
    assert len(latin) >= 2_500
    assert len(korean) >= 12_000


def test_pairs_hardly_repeat() -> None:
    """A sample: 99% of 20,000 draws are distinct; the full count is the slow test below."""
    assert len({(source, target) for source, target, _ in many()}) >= 0.985 * len(many())


@pytest.mark.slow
def test_two_hundred_thousand_distinct_pairs() -> None:
    seen = set()
    meaning: dict[str, str] = {}
    for example in examples("phrases", "train", limit=200_000):
        seen.add(example[:2])
        assert meaning.setdefault(example.source, example.target) == example.target
    assert len(seen) == 200_000


def test_no_word_is_ambiguous() -> None:
    nouns = {noun for members in lexicon.NOUNS.values() for noun in members}
    assert len({noun.korean for noun in nouns}) == len(nouns)
    assert len({noun.english.lower() for noun in nouns}) == len(nouns)
    people = [phrase.korean for phrase in (*lexicon.MALE, *lexicon.FEMALE)]
    assert len(set(people)) == len(people)


def test_korean_particles_never_clash_with_the_final_consonant() -> None:
    """No 를 after a consonant and no 을 after a vowel: neither can end any other Korean word."""
    words = {word for source, _, _ in many() for word in source.split()}
    marked = [word for word in words if word[-1] in "을를" and len(word) > 1 and word not in ("을", "를")]
    for word in marked:
        closed = (ord(word[-2]) - 0xAC00) % 28 != 0
        assert word[-1] == "을" or not closed, word
    assert len(marked) > 1_000


CONSTRUCTIONS = r"""
고 있(다|어요|습니다|던|는)     고 싶(다|어요|습니다|었다)     싶어 하     수 (있|없)
[아어해가와]야 (하|해|했)     지 (않|못)     \s안\s     \s못\s     께서\s     께서는\s     께\s     면\s
\s때\s     기 전에\s     (후에|뒤에)\s     면서\s     려고\s     다고\s     라고\s     는지\s
[을할갈]지\s     다는 것을     라는 것을     지만\s     때문에\s     니까\s     던\s     적이 (있|없)
거예요 \.     것이다 \.     것입니다 \.     겠습니다 \.     니 \?     습니까 \?     세요 \.     십시오 \.
시다 \.     자 \.     보다 더     않아도     \s명[이을에과]     \s마리[가를]     \s권[이을]
\s잔[이을]     \s켤레[가를]     \s그루[가를]     \s대[가를]     \s송이[가를]     월 .일에     \s시 .* 분
원이     기로 (결정|약속)     는 법을     는 것을 (좋아|싫어|즐)     기 시작
"""


@pytest.mark.parametrize("pattern", [p for p in re.split(r" {3,}|\n", CONSTRUCTIONS.strip()) if p])
def test_every_construction_occurs(pattern: str) -> None:
    assert any(re.search(pattern, source) for source, _, _ in many())


def test_english_to_korean_is_always_polite() -> None:
    endings = Counter(example.target.split()[-2][-1] for example in sample("phrases-en-ko", "train", 0, 1500))
    assert set(endings) <= {"요", "다"}  # 다 is -읍시다, let us
    assert endings["요"] > 0.95 * sum(endings.values())


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("stop", "stop stops stopped stopped stopping"), ("study", "study studies studied studied studying"),
        ("visit", "visit visits visited visited visiting"), ("write", "write writes wrote written writing"),
        ("lie down", "lie lies lay lain lying"), ("fish", "fish fishes fished fished fishing"),
        ("quit", "quit quits quit quit quitting"), ("play", "play plays played played playing"),
        ("see", "see sees saw seen seeing"), ("be", "be is was been being"), ("tie", "tie ties tied tied tying"),
    ],
)  # fmt: skip
def test_english_verbs(word: str, forms: str) -> None:
    assert list(english.verb(word)[:5]) == forms.split()


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("city", "cities"), ("boy", "boys"), ("bus", "buses"), ("potato", "potatoes"), ("piano", "pianos"),
        ("knife", "knives"), ("police officer", "police officers"), ("fisherman", "fishermen"),
        ("child", "children"), ("watch", "watches"),
    ],
)  # fmt: skip
def test_english_plurals(noun: str, expected: str) -> None:
    assert english.plural(noun) == expected


def test_english_articles_and_comparatives() -> None:
    words = ("apple", "hour", "university student", "umbrella", "European city", "honest man", "useful tool", "egg")
    assert [english.article(word) for word in words] == ["an", "an", "a", "an", "a", "an", "a", "an"]
    assert english.comparative("big") == ("bigger",)
    assert english.comparative("pretty") == ("prettier",)
    assert english.comparative("expensive") == ("more", "expensive")


def test_the_package_needs_no_torch() -> None:
    import subprocess
    import sys

    # The parent package is stood in for, so that this is about the corpora alone.
    code = (
        "import sys, types, seq2see; parent = types.ModuleType('seq2see.data'); "
        "parent.__path__ = [seq2see.__path__[0] + '/data']; sys.modules['seq2see.data'] = parent; "
        "import seq2see.corpora as corpora; next(corpora.examples('phrases', 'train')); "
        "assert 'torch' not in sys.modules and 'babel' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
    assert corpora.HELD_OUT == 2_000
