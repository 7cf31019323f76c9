"""Alignment error by hand, Pharaoh form both ways, and the gold files of the shared data."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import DataError, ShapeError
from seq2see.evaluate.alignment import (
    AlignmentCounts,
    Gold,
    count_links,
    diagonal,
    flipped,
    parse_pharaoh,
    pharaoh,
    read_bitext,
    read_gold,
    score_alignments,
)

SHARED = Path(__file__).parents[3] / "shared" / "data" / "align_koen"
links = st.frozensets(st.tuples(st.integers(0, 9), st.integers(0, 9)))


def gold_of(sure: str, possible: str = "") -> Gold:
    return Gold(parse_pharaoh(sure).sure, parse_pharaoh(possible).sure)


def test_the_error_rate_by_hand() -> None:
    gold = gold_of("0-0 1-1", "1-2 2-2")
    counts = count_links(parse_pharaoh("0-0 1-2 3-3").sure, gold)
    assert counts == AlignmentCounts(predicted=3, sure=2, predicted_sure=1, predicted_possible=2)
    assert counts.precision == pytest.approx(2 / 3)
    assert counts.recall == pytest.approx(1 / 2)
    assert counts.aer == pytest.approx(1 - 3 / 5)


def test_counts_are_summed_before_they_are_divided() -> None:
    found = [parse_pharaoh("0-0").sure, parse_pharaoh("0-1 1-0 2-2").sure]
    total = score_alignments(found, [gold_of("0-0"), gold_of("0-0 1-1 2-2")])
    assert total.aer == pytest.approx(1 - (2 * 2) / (4 + 4))
    with pytest.raises(ShapeError, match="1 alignments but 2"):
        score_alignments(found[:1], [gold_of(""), gold_of("")])


@given(links, links)
def test_without_possible_links_the_error_is_one_minus_f1(found: frozenset, sure: frozenset) -> None:
    counts = count_links(found, Gold(sure))
    whole = counts.precision + counts.recall
    if found and sure:
        assert counts.aer == pytest.approx(1 - (2 * counts.precision * counts.recall / whole if whole else 0))
    assert count_links(sure, Gold(sure)).aer == 0


def test_nothing_claimed_and_nothing_to_find() -> None:
    nothing = count_links([], Gold(frozenset()))
    assert (nothing.precision, nothing.recall, nothing.aer) == (1, 1, 0)
    assert count_links([], gold_of("0-0")).aer == 1
    assert count_links([(0, 0)], Gold(frozenset())).aer == 1


def test_possible_links_are_neither_wrong_nor_asked_for() -> None:
    gold = gold_of("0-0", "5-5")
    assert count_links([(0, 0)], gold).aer == 0
    assert count_links([(0, 0), (5, 5)], gold).aer == 0


def test_only_links_between_annotated_words_are_judged() -> None:
    gold = Gold(frozenset({(0, 0), (1, 1)}), frozenset(), frozenset({0, 1}), frozenset({0, 1}))
    assert count_links([(0, 0), (1, 1), (0, 7), (7, 0), (7, 7)], gold) == AlignmentCounts(2, 2, 2, 2)
    assert count_links([(0, 1)], gold) == AlignmentCounts(1, 2, 0, 0)


def test_flipping_gold_flips_everything() -> None:
    gold = Gold(frozenset({(0, 1)}), frozenset({(2, 3)}), frozenset({0, 2}), frozenset({1, 3}))
    back = gold.flipped()
    assert back.sure == {(1, 0)}
    assert back.possible == {(1, 0), (3, 2)}
    assert (back.source, back.target) == ({1, 3}, {0, 2})
    assert back.flipped() == gold


@given(links, links)
def test_pharaoh_form_there_and_back(sure: frozenset, possible: frozenset) -> None:
    gold = Gold(sure, possible)
    assert parse_pharaoh(pharaoh(gold.sure, gold.possible)) == gold
    assert parse_pharaoh(pharaoh(sure)).sure == sure
    assert flipped(flipped(sure)) == sure


def test_pharaoh_form_is_sorted_and_marks_the_possible() -> None:
    assert pharaoh([(10, 0), (2, 1), (2, 0)], [(2, 0), (0, 5)]) == "0?5 2-0 2-1 10-0"
    assert parse_pharaoh("1p2").possible == {(1, 2)}
    assert parse_pharaoh("1p2").sure == frozenset()


@pytest.mark.parametrize("wrong", ["0", "0-", "-1-2", "0-1-2", "a-b", "0:1", "0-1x", "١-٢", "0-" + "9" * 5000])
def test_what_is_no_link_is_one_line_with_its_place(tmp_path: Path, wrong: str) -> None:
    path = tmp_path / "gold"
    path.write_text(f"0-0\n0-0 {wrong}\n")
    with pytest.raises(DataError, match=r"gold:2: .* is no link") as found:
        read_gold(path)
    assert len(str(found.value)) < 300


def test_annotated_words_belong_to_their_lines(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("0-0 3-3\n\n")
    (tmp_path / "marks").write_text("en=0,1 ko=0\nen= ko=\n")
    first, second = read_gold(tmp_path / "gold", tmp_path / "marks")
    assert (first.source, first.target) == ({0, 1}, {0})
    assert (second.source, second.target) == (frozenset(), frozenset())
    assert count_links([(0, 0), (3, 3)], first) == AlignmentCounts(1, 1, 1, 1)
    (tmp_path / "marks").write_text("en=0,1 ko=0\n")
    with pytest.raises(DataError, match=r"1 lines but .* has 2"):
        read_gold(tmp_path / "gold", tmp_path / "marks")
    for wrong in ("en=0,x ko=1", "en=0", "0 1", "en=0 ko=1 de=2"):
        (tmp_path / "marks").write_text(f"en=0 ko=0\n{wrong}\n")
        with pytest.raises(DataError, match=r"marks:2: expected the words of both sides"):
            read_gold(tmp_path / "gold", tmp_path / "marks")


def test_pairs_with_bars_between_them(tmp_path: Path) -> None:
    path = tmp_path / "both"
    path.write_text("나는 학생 ||| I am\n ||| \n", encoding="utf-8")
    assert read_bitext(path) == [("나는 학생", "I am"), ("", "")]
    path.write_text("one side\n")
    with pytest.raises(DataError, match=r"both:1: no '\|\|\|'"):
        read_bitext(path)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [(3, 3, "0-0 1-1 2-2"), (2, 4, "0-0 0-1 1-2 1-3"), (4, 2, "1-0 3-1"), (1, 2, "0-0 0-1"), (0, 2, ""), (3, 0, "")],
)
def test_the_diagonal_links_every_target_word(source: int, target: int, expected: str) -> None:
    assert pharaoh(diagonal(source, target)) == expected


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_diagonal_stays_inside(source: int, target: int) -> None:
    found = diagonal(source, target)
    assert sorted(j for _, j in found) == list(range(target))
    assert all(0 <= i < source for i, _ in found)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
def test_the_shared_gold_holds_together() -> None:
    gold = read_gold(SHARED / "dev.gold", SHARED / "dev.annotated")
    pairs = read_bitext(SHARED / "dev.src-tgt")
    assert len(gold) == len(pairs) == 184
    for one, (english, korean) in zip(gold, pairs, strict=True):
        assert one.judged(one.sure) == one.sure
        assert all(i < len(english.split()) and j < len(korean.split()) for i, j in one.sure)
    baseline = score_alignments([diagonal(len(en.split()), len(ko.split())) for en, ko in pairs], gold)
    assert 0.5 < baseline.aer < 1  # Korean is no English word by word
