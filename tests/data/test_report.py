"""The data report: every fault planted is found and counted, clean data is left in peace."""

import gzip
import json
import os
import random
import unicodedata
from itertools import starmap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data import report as module
from seq2see.data.report import Finding, clean, report, report_files, write_tsv
from seq2see.data.shift import Shift
from seq2see.errors import DataError
from seq2see.formats import Pair, read_pairs

DATA = Path(__file__).parents[2].parent / "shared/data"

WORDS = ["one", "small", "house", "stands", "behind", "the", "old", "river", "and", "nobody", "lives", "there", "again"]


def sentences(count: int, seed: int = 0) -> list[Pair]:
    """Pairs whose sides agree in length, numbers and end mark, as translations do."""
    draw = random.Random(seed)
    pairs = []
    for line in range(1, count + 1):
        words = [draw.choice(WORDS) for _ in range(draw.randint(3, 25))]
        number = f" {draw.randint(2, 999)}" if draw.random() < 0.2 else ""
        mark = draw.choice("..?")
        source = f"{line} ".join(words[:2]) + " " + " ".join(words[2:]) + number + mark
        target = "".join(reversed(" ".join(words))) + f" {line}" + number + mark
        pairs.append(Pair(source, target, line))
    return pairs


@pytest.mark.parametrize(("copied", "said"), [(6, True), (5, False)])
def test_pairs_that_teach_to_copy_are_said_to_do_so(copied: int, said: bool) -> None:
    pairs = [Pair(f"text {line}", f"{'text' if line <= copied else 'Text'} {line}", line) for line in range(1, 11)]
    assert any("teach to copy" in line for line in report(pairs).lines()) == said


def test_clean_data_has_no_findings():
    found = report(sentences(2000))
    assert found.pairs == 2000
    for finding in (found.empty, found.duplicates, found.other_targets, found.copies, found.far_ratios):
        assert finding == Finding(0, ())
    assert found.shifts == ()


def test_every_planted_fault_is_found():
    pairs = sentences(500)
    pairs[10] = Pair("", "text", 11)
    pairs[20] = Pair("text", " \u3000", 21)
    pairs[30] = Pair(*pairs[5][:2], 31)
    pairs[31] = Pair(*pairs[5][:2], 32)
    pairs[40] = Pair(pairs[6].source, pairs[7].target, 41)
    pairs[50] = Pair("just the same", "just the same ", 51)
    pairs[60] = Pair(pairs[60].source, "x" * 900, 61)
    pairs[70] = Pair("y" * 900, pairs[70].target, 71)
    found = report(pairs)
    assert found.empty == Finding(2, (11, 21))
    assert found.duplicates == Finding(2, (31, 32))
    assert found.other_targets == Finding(1, (41,))
    assert found.copies == Finding(1, (51,))
    assert found.far_ratios == Finding(2, (61, 71))
    kept = {pair.line for pair in clean(pairs, found.ratio)}
    assert kept == set(range(1, 501)) - {11, 21, 31, 32, 51, 61, 71}
    assert report(clean(pairs, found.ratio)).duplicates.count == 0


def test_short_pairs_are_no_outliers():
    pairs = [*sentences(300), Pair("Go.", "가.", 301), Pair("가", "Go away", 302), Pair("No", "아니요, 됐어요.", 303)]
    assert report(pairs).far_ratios.count == 0


def test_examples_are_few_and_the_first():
    found = report([Pair("a", "", line) for line in range(1, 100)])
    assert found.empty == Finding(99, (1, 2, 3, 4, 5))


@pytest.mark.parametrize("by", [-3, -2, -1, 1, 2, 3])
@pytest.mark.parametrize(("first", "last"), [(400, 520), (1, 1000), (800, 1000)])
def test_shifted_runs_are_found_from_their_first_line(by, first, last):
    pairs = sentences(1000, seed=by)
    targets = [pair.target for pair in pairs]
    strangers = ["nothing of the kind"] * abs(by)
    run = targets[first - 1 : last]
    targets[first - 1 : last] = run[-by:] + strangers if by < 0 else strangers + run[:-by]
    (shift,) = report(Pair(pair.source, target, pair.line) for pair, target in zip(pairs, targets, strict=True)).shifts
    assert shift.by == by
    assert abs(shift.first - first) <= 5
    assert abs(shift.last - last) <= 5


@pytest.mark.parametrize(
    "signs", [[f" {line:03}" for line in range(200)], [".?!:"[line * line % 7 % 4] for line in range(200)]]
)
def test_numbers_and_end_marks_alone_betray_a_shift(signs):
    """Every line is as long as its neighbours, and the target of each stands one line further down."""
    slipped = zip(signs, [signs[-1], *signs[:-1]], strict=True)
    pairs = [Pair(f"item{one}", f"stück{other}", line) for line, (one, other) in enumerate(slipped, start=1)]
    assert [shift.by for shift in report(pairs).shifts] == [1]


def test_neighbours_that_are_alike_are_not_taken_for_a_shift():
    assert report([Pair(f"item {line % 2}", f"stück {line % 2}", line) for line in range(2000)]).shifts == ()
    assert report([Pair("same length", "gleich lang", line) for line in range(2000)]).shifts == ()
    shuffled = [pair.target for pair in sentences(3000)]
    random.Random(1).shuffle(shuffled)
    mixed = [Pair(pair.source, target, pair.line) for pair, target in zip(sentences(3000), shuffled, strict=True)]
    assert report(mixed).shifts == ()


def test_findings_of_several_files_say_which_one():
    shifted = [pair.target for pair in sentences(300, seed=2)]
    shifted = ["nothing of the kind", *shifted[:-1]]
    slipped = [
        Pair(pair.source, target, pair.line) for pair, target in zip(sentences(300, seed=2), shifted, strict=True)
    ]
    files = [
        ("a.po", [Pair("one", "하나", 1), Pair("two", "", 2)]),
        ("b.po", [Pair("one", "하나", 7), Pair("", "셋", 9)]),
        ("c\x1b.tsv", slipped),
        ("empty.po", []),
    ]
    found = report_files(files)
    assert found.pairs == 304
    assert found.empty == Finding(2, (2, 9), ("a.po", "b.po"))
    assert found.duplicates == Finding(1, (7,), ("b.po",))
    assert [(shift.file, shift.by) for shift in found.shifts] == [("c\x1b.tsv", 1)]
    text = "\n".join(found.lines())
    assert "empty side                          2  a.po:2, b.po:9" in text
    assert "exact duplicates                    1  b.po:7" in text
    assert "  c\\x1b.tsv: from line" in text
    data = json.loads(found.to_json())
    assert data["empty"] == {"count": 2, "lines": [2, 9], "files": ["a.po", "b.po"]}
    alone = report_files(files[:1])
    assert alone.empty == report(files[0][1]).empty == Finding(1, (2,))
    assert "line 2" in "\n".join(alone.lines())


def test_runs_do_not_reach_over_files():
    """What is the end of one file and the beginning of the next does not add up to a shifted run."""
    pairs = sentences(40)
    targets = ["nothing of the kind", *(pair.target for pair in pairs)]
    slipped = [Pair(pair.source, target, pair.line) for pair, target in zip(pairs, targets, strict=False)]
    assert len(report(slipped).shifts) == 1
    assert report_files((str(start), slipped[start : start + 4]) for start in range(0, 40, 4)).shifts == ()


def test_overlap_with_held_out_sets():
    train = [Pair("Hello, World!", "안녕, 세상!", 1), Pair("Good night.", "잘 자.", 2), Pair("", "", 3)]
    test = [
        Pair("Hello, World!", "안녕, 세상!", 1),
        Pair("Good night.", "좋은 밤.", 2),
        Pair("hello   world", "안녕 세상", 3),
        Pair("GOOD NIGHT", "좋은 밤", 4),
        Pair("other", "다른", 5),
        Pair("", "", 6),
    ]
    found = report(train, held_out={"test": iter(test), "valid": []})
    overlap = found.overlaps["test"]
    assert overlap.pairs == 6
    assert overlap.same_pair == Finding(1, (1,))
    assert overlap.same_source == Finding(2, (1, 2))
    assert overlap.loose_pair == Finding(2, (1, 3))
    assert overlap.loose_source == Finding(4, (1, 2, 3, 4))
    assert found.overlaps["valid"].pairs == 0
    assert list(clean(train, found.ratio, held_out=test)) == []


def test_loosening_keeps_marks_that_belong_to_letters():
    assert module.loosen("Ça  va?") == "çava"
    assert module.loosen("हिन्दी।") == "हिन्दी"
    assert module.loosen("...") == "..."


def test_report_in_words_and_in_json():
    pairs = sentences(200)
    pairs[1:] = [Pair(a.source, b.target, a.line) for a, b in zip(pairs[1:], pairs, strict=False)]
    found = report([*pairs, Pair("a", "", 201)], held_out={"test": pairs[:3]})
    text = "\n".join(found.lines())
    assert "empty side                          1  line 201" in text
    assert "1 line further down" in text
    assert "of 3 pairs in test" in text
    data = json.loads(found.to_json())
    assert data["pairs"] == 201
    assert data["empty"] == {"count": 1, "lines": [201]}
    assert data["shifts"][0]["by"] == 1
    assert data["overlaps"]["test"]["same_pair"]["count"] == 3
    assert isinstance(found.shifts[0], Shift)


def test_nothing_at_all():
    found = report([])
    assert found.pairs == 0
    assert found.lines()
    assert list(clean([], found.ratio)) == []


# ---------------------------------------------------------------------------------------------------- writing


def test_write_tsv_is_read_back_and_holds_one_pair_a_line(tmp_path):
    pairs = [Pair("a\tb", "c\nd\re", 7), Pair("한글", "", 9)]
    for name in ("a.tsv", "a.tsv.gz"):
        assert write_tsv(pairs, tmp_path / name) == 2
        assert list(read_pairs(tmp_path / name)) == [Pair("a b", "c d e", 1), Pair("한글", "", 2)]
    first = (tmp_path / "a.tsv.gz").read_bytes()
    write_tsv(pairs, tmp_path / "a.tsv.gz")
    assert (tmp_path / "a.tsv.gz").read_bytes() == first
    assert gzip.decompress(first) == (tmp_path / "a.tsv").read_bytes()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.tsv"
    write_tsv([Pair("old", "alt", 1)], path)

    def broken():
        yield Pair("new", "neu", 1)
        raise DataError("half way")

    with pytest.raises(DataError, match="half way"):
        write_tsv(broken(), path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(DataError, match="No space left"):
            write_tsv([Pair("new", "neu", 1)], path)
    assert path.read_text() == "old\talt\n"
    assert os.listdir(tmp_path) == ["a.tsv"]  # noqa: PTH208
    with pytest.raises(DataError, match="cannot be written"):
        write_tsv([], tmp_path / "none" / "a.tsv")


texts = st.text(st.characters(codec="utf-8"))


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8))
def test_any_text_is_written_reported_and_cleaned(tmp_path_factory, rows):
    pairs = [Pair(source, target, line) for line, (source, target) in enumerate(rows, 1)]
    found = report(pairs, held_out={"itself": pairs})
    assert found.pairs == len(pairs)
    assert found.overlaps["itself"].same_pair.count == len(pairs) - found.empty.count
    json.loads(found.to_json())
    kept = list(clean(pairs, found.ratio))
    assert (
        len(kept)
        >= len(pairs) - found.empty.count - found.duplicates.count - found.copies.count - found.far_ratios.count
    )
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    write_tsv([Pair("first", "line", 0), *pairs], path)
    spaced = str.maketrans("\t\n\r", "   ")
    expected = [unicodedata.normalize("NFC", text.translate(spaced)) for row in rows for text in row]
    assert [text for pair in list(read_pairs(path))[1:] for text in pair[:2]] == expected


# ---------------------------------------------------------------------------------------------------- the real thing


@pytest.mark.skipif(not DATA.is_dir(), reason="no shared data")
def test_real_captions_and_a_line_lost_in_them():
    pairs = list(read_pairs([DATA / "multi30k/train.en.gz", DATA / "multi30k/train.de.gz"]))
    found = report(pairs)
    assert found.shifts == ()
    assert found.duplicates.count == 3
    assert found.far_ratios == Finding(3, (16510, 16664, 24586))  # two captions are "@@"
    targets = [pair.target for pair in pairs]
    targets = [*targets[:9_999], *targets[10_000:15_000], "Ende.", *targets[15_000:]]
    rows = zip([pair.source for pair in pairs], targets, range(1, 29_001), strict=True)
    (shift,) = report(starmap(Pair, rows)).shifts
    assert shift.by == -1
    assert abs(shift.first - 10_000) < 10
    assert abs(shift.last - 15_000) < 10
