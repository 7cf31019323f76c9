"""The chart in the terminal: marks where the scores are, no line too wide, nothing that depends on colour."""

import io
import time

import pytest
from rich.cells import cell_len
from rich.console import Console

from seq2see.evaluate.evaluation import LengthTable
from seq2see.evaluate.length import Bucket, LengthScore
from seq2see.evaluate.resampling import Interval
from seq2see.report.chart import MARKS, LengthChart
from seq2see.report.tables import show_lengths
from seq2see.visible import shortened, visible


def table(scores: list[float | None], around: float | None = None) -> LengthTable:
    rows = [
        LengthScore(
            Bucket(5 * place + 1, 5 * place + 5),
            10,
            score,
            None if around is None or score is None else Interval(max(0.0, score - around), score + around),
        )
        for place, score in enumerate(scores)
    ]
    return LengthTable("bleu", "BLEU", True, "source", "words", tuple(rows))


def drawn(chart: LengthChart, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, no_color=True)
    console.print(chart)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def place_of(mark: str, lines: list[str]) -> list[tuple[int, int]]:
    """(column, row) of each of these marks, from left to right; the legend is not looked at."""
    return sorted(
        (column, row) for row, line in enumerate(lines[2:]) for column, letter in enumerate(line) if letter == mark
    )


def test_marks_stand_at_their_scores() -> None:
    lines = drawn(LengthChart([table([100, 50, 0]), table([75, 75, 25])], ["falls", "stays"]))
    assert lines[0] == "BLEU by length: words of the source"
    assert lines[1] == "● falls   ○ stays"
    first, second = place_of("●", lines), place_of("○", lines)
    assert [row for _, row in first] == [0, 6, 12]
    assert [row for _, row in second] == [3, 3, 9]
    assert all(a[0] < b[0] for a, b in zip(first, second, strict=True))  # side by side, also where they are equal
    ticks = {
        row: int(line.split()[0])
        for row, line in enumerate(lines[2:])
        if line.strip()[:1].isdigit() and "-5" not in line
    }
    assert ticks == {0: 100, 3: 75, 6: 50, 9: 25, 12: 0}
    assert lines[-1].split() == ["1-5", "6-10", "11-15"]


def test_labels_stand_below_their_marks() -> None:
    lines = drawn(LengthChart([table([10.0 * n for n in range(1, 8)])], ["one"]))
    for (column, _), label in zip(place_of("●", lines), lines[-1].split(), strict=True):
        start = lines[-1].index(label)
        assert start <= column < start + len(label)


def test_equal_systems_do_not_hide_each_other() -> None:
    lines = drawn(LengthChart([table([60, 60])] * 3, ["a", "b", "c"]), 40)
    assert [len(place_of(mark, lines)) for mark in MARKS[:3]] == [2, 2, 2]


def test_intervals_are_lines_through_the_marks() -> None:
    lines = drawn(LengthChart([table([40, 40], around=20.0)], ["one"]))
    (column, row), _ = place_of("●", lines)
    assert lines[2].split()[0] == "60"
    assert row == 4
    assert "".join(line[column : column + 1] or " " for line in lines[2:15]) == "││││●││││   ─"


def test_a_bucket_without_a_score_is_a_gap() -> None:
    lines = drawn(LengthChart([table([50, None, 50])], ["one"]))
    assert len(place_of("●", lines)) == 2
    assert not place_of("·", lines)
    assert place_of("·", drawn(LengthChart([table([50, 50])], ["one"])))


@pytest.mark.parametrize("width", [20, 40, 60, 80, 132])
@pytest.mark.parametrize("buckets", [1, 7, 30])
def test_no_line_is_wider_than_the_terminal(width: int, buckets: int) -> None:
    names = ["어텐션이 있는 아주 긴 이름의 모델", "without attention, with a long name", "third"]
    chart = LengthChart([table([n % 100.0 for n in range(0, 7 * buckets, 7)], 5.0)] * 3, names)
    lines = drawn(chart, width)
    assert max(map(cell_len, lines)) <= width
    assert all(name[:4] in "".join(lines) for name in names)
    assert ("…" in "".join(lines[1:5])) == (width < 40)  # a name that was cut says so
    assert len(place_of("●", [*lines[:1], *lines[1:]])) >= buckets  # all of them, in as many panels as it takes


def test_error_rates_above_hundred_have_a_scale_of_their_own() -> None:
    lines = drawn(LengthChart([table([30, 150, 390])], ["one"]))
    assert lines[2].split()[0] == "400"
    lines = drawn(LengthChart([table([30, 150, 1390])], ["one"]))
    assert lines[2].split()[0] == "1600"
    assert drawn(LengthChart([table([100 + 1e-9])], ["one"]))[2].split()[0] == "100"
    assert drawn(LengthChart([table([0.0])], ["one"]))[2].split()[0] == "4"
    assert drawn(LengthChart([table([None])], ["one"]))


def test_colours_are_there_for_a_terminal_and_gone_without() -> None:
    chart = LengthChart([table([10, 20]), table([20, 10])], ["a", "b"])
    coloured = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="truecolor", no_color=False)
    coloured.print(chart)
    assert isinstance(coloured.file, io.StringIO)
    assert "\x1b[" in coloured.file.getvalue()
    assert "\x1b" not in "".join(drawn(chart))


def test_many_buckets_are_drawn_in_a_moment() -> None:
    began = time.process_time()
    drawn(LengthChart([table([50.0] * 2000, 3.0)] * 4, list("abcd")))
    assert time.process_time() - began < 10


def test_the_table_beside_it_is_aligned_with_hangul_names() -> None:
    console = Console(file=io.StringIO(), width=80, no_color=True)
    console.print(show_lengths([table([99.5, None], 1.5)] * 2, ["어텐션 없음 모델 아주 긴 이름", "with"]))
    assert isinstance(console.file, io.StringIO)
    lines = [line for line in console.file.getvalue().splitlines() if line.strip()]
    assert len({cell_len(line.rstrip()) for line in lines if "±" in line or "●" in line or "–" in line}) == 1
    assert "99.5 ± 1.5" in lines[2]
    assert lines[3].split() == ["6-10", "10", "–", "–"]


def test_texts_of_others_cannot_steer_the_terminal() -> None:
    assert visible("a\x1b[31mb\x07\n\x9bc\x7f") == "a␛[31mb␇␊\ufffdc␡"
    assert visible("a\u2028b\u202ec\udcff") == "a␊b\ufffdc\ufffd"
    assert visible("x" * 1000, 10) == "x" * 9 + "…"
    assert shortened("어텐션", 6) == "어텐션"
    assert cell_len(shortened("어텐션", 5)) <= 5
    assert shortened("abc", 0) == ""
    assert "\x1b" not in "".join(drawn(LengthChart([table([1, 2])], ["\x1b[2J"])))
