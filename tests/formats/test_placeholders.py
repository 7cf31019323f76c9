"""Placeholders: what counts as one, and the promise that a repaired translation holds exactly those of its source."""

import random
import time
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seq2see.formats.documents.placeholders import faithful, has_words, missing, placeholders, repaired, spans

FOUND = [
    ("%s of %d, %1$s, %(name)s, %-5.2f, %05d, %ld, %@", "%s|%d|%1$s|%(name)s|%-5.2f|%05d|%ld|%@"),
    ("%%", ["%%"]),
    ("100%% of %s%%", ["%%", "%s", "%%"]),
    ("%%s", ["%%"]),
    ("10%1$s", ["%1$s"]),
    ("%dx%dpx", ["%d", "%d"]),
    ("%1 of %2", ["%1", "%2"]),
    ("%Y-%m-%d %H:%M", ["%Y", "%m", "%d", "%H", "%M"]),
    ("%PATH% and %{name} and %<n>d", ["%PATH%", "%{name}", "%<n>d"]),
    ("{0} {name} {} {x.y[0]} {x!r} {x:>5} {day:%d %b} { a }", "{0}|{name}|{}|{x.y[0]}|{x!r}|{x:>5}|{day:%d %b}|{ a }"),
    ("{{ x }} {{{x}}} ${x} #{x} {% if a %} $HOME", "{{ x }}|{{{x}}}|${x}|#{x}|{% if a %}|$HOME"),
    ("{n, number} {n, date, short}", "{n, number}|{n, date, short}"),
    ("You have {n, plural, one {# item} other {{n} items}} left", ["{n, plural, one {# item} other {{n} items}}"]),
    ("{n, plural, one {# item} {0}", ["{0}"]),  # never closed: no message, and what is inside still counts
    ("<b>a</b> <br/> <a href='x' title=\"a>b\">c</a>", "<b>|</b>|<br/>|<a href='x' title=\"a>b\">|</a>"),
    ("<1>a</1><2/> <!-- c --> <xliff:g id='1'>", "<1>|</1>|<2/>|<!-- c -->|<xliff:g id='1'>"),
    ("{\\an8}<v Roger Bingham>Hi <00:01.000>you", "{\\an8}|<v Roger Bingham>|<00:01.000>"),
    ("&amp; &#39; &#x2019; \\n \\t \\\" \\u00e9 \\\\", '&amp;|&#39;|&#x2019;|\\n|\\t|\\"|\\u00e9|\\\\'),
    ("See https://example.org/a_(b)?c=%20d, www.a.org.", "https://example.org/a_(b)?c=%20d|www.a.org"),
    ("[X0X] files in [X15X], [x0x] [XX] [X1]", ["[X0X]", "[X15X]"]),
    ("https://example.org에서 me@example.org로", ["https://example.org", "me@example.org"]),
]  # fmt: skip
PROSE = [
    "50% discount, 100% sure, 50%off, 100 %-ige Sicherheit, %50 indirim",
    "a < b > c, x<3, if x<y and z>w",
    "US$5, Ke$ha, $5",
    "{웃음} {note: this is prose}",
    "AT&T, R&D;",
    "me @ home, a@b",
    "한국어 문장입니다. 日本語。",
    "C:\\Program",
    "[X] marks it, X0X [0] [Xenon]",
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_what_counts(text, expected):
    assert list(placeholders(text)) == (expected.split("|") if isinstance(expected, str) else expected)


@pytest.mark.parametrize("text", PROSE)
def test_prose_holds_none(text):
    assert placeholders(text) == ()


def test_missing_is_a_difference_of_multisets_in_the_order_of_the_source():
    assert missing("%s %s {0} <b>", "{0} %s") == ("%s", "<b>")
    assert missing("%s", "%s %s %d") == ()


def test_words():
    assert has_words("%s file")
    assert has_words("3 1 4")  # a task may be about numbers
    assert not has_words("%s: {0} <b>…</b> --- ")


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("Hello %s.", "안녕하세요.", "안녕하세요 %s."),
        ("Save %s", "％S 저장", "%s 저장"),
        ("Delete %d files", "% d개 파일 삭제", "%d개 파일 삭제"),
        ("a <b>c</b>", "A < B >C</ B >", "A <b>C</b>"),
        ("Delete <b>%d</b> now", "지금 </b>%d개<b> 삭제", "지금 <b>%d개</b> 삭제"),
        ("Click <1>here</1> please", "여기를 클릭하세요", "여기를 <1>클릭하세요</1>"),
        ("Click <1>here</1> please", "请点击这里", "请点<1>击</1>这里"),
        ("one %s", "하나 %d %s %s 둘", "하나 %s 둘"),
        ("<b><i>x</i></b> y", "<b><i>X</b></i> Y", "<b><i>X</i></b> Y"),
        ("100%% of %s", "%s의 100 ％", "%s의 100 %%"),
        ("%s is 100%% done", "%s 100% 완료", "%s 100%% 완료"),
        ("%d off", "50% Discount", "%d 50% Discount"),  # not the % of another number, not the D of a word
        ("%s%s", "", "%s%s"),
        ("", "%s", ""),
    ],
)
def test_repaired(source, translation, expected):
    assert repaired(source, translation) == expected


def test_a_faithful_translation_is_left_alone():
    for source, translation in [
        ("%s and %d", "%d 그리고  %s "),
        ("a<br>b <i>c</i>", "<i>C</i> B<br>A"),  # a tag that nothing closes may move
        ("<b>a</b> <i>b</i>", "<i>b</i> <b>a</b>"),
    ]:
        assert faithful(source, translation)
        assert repaired(source, translation) is translation


def test_nesting():
    assert not faithful("<b>a</b>", "</b>a<b>")
    assert not faithful("<b>a</b> <i>c</i>", "<b>a<i></b>c</i>")
    assert faithful("<b>a<i>b</b>c</i>", "<b>A<i>B</b>C</i>")  # as crossed as the source, and no worse
    assert not faithful("<b>a<i>b</b>c</i>", "<b>A</i>B</b>C<i>")


def test_an_alignment_says_where():
    source, translation = "one two %s three", "하나 둘 셋 넷 다섯"
    places = {8: 3}
    assert repaired(source, translation, places.__getitem__) == "하나 %s 둘 셋 넷 다섯"
    places = {8: 9}
    assert repaired(source, translation, places.__getitem__) == "하나 둘 셋 넷 %s 다섯"
    assert placeholders(repaired(source, translation, lambda _: 10**9)) == ("%s",)
    assert placeholders(repaired(source, translation, lambda _: -5)) == ("%s",)


def test_an_alignment_counts_in_the_translation_it_was_given():
    # the misspelt % s and the wrong {x} are gone from the result, but not from what the alignment counts in
    source, translation = "a %s b <b>c</b>", "{x} 가 % s 나 다 라"
    place = translation.index("다")
    result = repaired(source, translation, lambda at: place if source[at:].startswith("<b>") else len(translation))
    assert result == "가 %s 나 <b>다 라</b>"


ROUGH = """
%s %d %% % %1$s {0} {{x}} { } ${x} $x <b> </b> <i> </i> <1> </1> <2/> <br> </a> &amp; & ; \\n \\ https://a.org/ www.a
a@b.c @ {n,plural, {\\an8} < > = s 1 . 가 다. 字 word ’ # ( ) ' " - <!-- -->
"""
SPACED = ["<a href='x'>", "{n, plural, one {a} other {b}}", "<v A>", " ", " ", "\n", "\r", "\u3000"]
pieces = st.sampled_from(ROUGH.split() + SPACED)
texts = st.one_of(st.lists(pieces, max_size=14).map("".join), st.text(max_size=30))


@given(texts, texts)
@example("%d", "%")
@example("{0}", "{")
@example("<b>x</b>", "%</b>s<b>{0")
@example("http://a.org/ x", "ww%w.a http:/")
@example("%s%s", "%")
def test_repaired_holds_exactly_the_placeholders_of_the_source(source, translation):
    result = repaired(source, translation)
    assert Counter(placeholders(result)) == Counter(placeholders(source))
    assert faithful(source, result)
    assert repaired(source, result) == result


@given(texts, texts, st.integers(0, 2**32))
def test_with_any_alignment_too(source, translation, seed):
    generator = random.Random(seed)
    result = repaired(source, translation, lambda place: generator.randint(-3, 40))
    assert Counter(placeholders(result)) == Counter(placeholders(source))


@given(st.lists(st.sampled_from(["사과", "달", "나무", "x1", "."]), min_size=1, max_size=8), texts)
def test_words_are_never_broken_or_lost(words, source):
    result = repaired(source, " ".join(words))
    places = list(spans(result))
    ends = [0, *(end for _, end in places)]
    starts = [*(start for start, _ in places), len(result)]
    outside = [result[end:start] for end, start in zip(ends, starts, strict=True)]
    assert "".join("".join(outside).split()) == "".join(words)
    assert all(part.strip(".") in {*words, ""} for piece in outside for part in piece.split())


@given(texts)
def test_spans_are_in_order_and_never_overlap(text):
    places = list(spans(text))
    assert all(start < end for start, end in places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))


@pytest.mark.parametrize(
    "seed", ["<a ", "<a x='", "<!--", "{a,plural,", "{{", "{%", "%(", "a@", "%1,", "<b>", "%s ", "\\"]
)
def test_time_grows_with_the_length_and_no_faster(seed):
    def seconds(size: int) -> float:
        text = seed * (size // len(seed))
        if seed == "<b>":  # as deep as it is long
            text = text[: size // 2 // 3 * 3] + "x" + "</b>" * (size // 2 // 3)
        start = time.process_time()
        placeholders(text)
        repaired("hello %s <b>x</b>", text)
        repaired(text, "word " * 500)
        return time.process_time() - start

    seconds(1000)
    short = min(seconds(5_000) for _ in range(2))
    assert seconds(40_000) < 8 * short * 4 + 0.5  # quadratic would be 64 times as long


@pytest.mark.parametrize("translation", ["files in", "[ x0x ] files [X15X]", "[X0X] [X0X] files", "X0X files ［X15X］"])
def test_what_weblate_puts_in_comes_back(translation):
    """Weblate finds its own marks by a regular expression, and they have to be spelled as it sent them."""
    source = "[X0X] files in [X15X]"
    assert Counter(placeholders(repaired(source, translation))) == Counter(["[X0X]", "[X15X]"])
