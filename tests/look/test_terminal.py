"""The heat map in a terminal: cells align whatever is in them, colours follow it, nothing grows without end."""

import io
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from map_making import maps, of_matrix, random_map, relaxed, side_of_words
from rich.cells import cell_len
from rich.console import Console

from seq2see.look import AttentionMap, Side
from seq2see.look.draw.terminal import plain

KOREAN = [["나는"], ["학생", "입니다"], ["."]]
ENGLISH = [["I"], ["am"], ["a"], ["student"], ["."]]


def drawn(attention: AttentionMap, width: int = 80, **options: object) -> str:
    file = io.StringIO()
    Console(file=file, width=width, _environ={}, **options).print(attention)  # type: ignore[arg-type]
    return file.getvalue()


def body(text: str) -> list[str]:
    """The lines of the heat map: names of columns and rows."""
    return [line for line in text.split("\n")[2:-1] if line.strip()]


# ---------------------------------------------------------------------------------------------------------- alignment


def test_a_drawing_by_hand() -> None:
    attention = of_matrix([[0.03, 0.97], [0.7, 0.3]], end=False)
    assert plain(attention, width=40).split("\n") == [
        "cross-attention, layer 0, head 0, 2 x 2 pieces",
        "",
        "    ▁a0 ▁a1",
        "▁b0  ·  █★█",
        "▁b1 ▓★▓ ▒▒▒",
        "★ the word looked at most   ░▒▓█ quarters of 0.97",
    ]


def columns_of_stars(text: str) -> list[int]:
    """The column of the terminal at which each star stands."""
    return [cell_len(line[: line.index("★")]) for line in body(text) if "★" in line]


def test_wide_letters_and_narrow_ones_take_their_columns() -> None:
    """Under every kind of letter a full cell is exactly as wide as the name above it."""
    names = ["학생입니다", "abc", "かなカナ", "漢字", "é", "😀", "🚀", "▁", "ㄱㄴㄷ", "…"]
    side = side_of_words([[name] for name in names])
    attention = AttentionMap(side, side, "cross", np.ones((1, 1, 11, 11)) / 11)
    for line in body(plain(attention, width=200))[1:]:
        assert cell_len(line) == cell_len(body(plain(attention, width=200))[0].rstrip())


@relaxed()
@given(maps(), st.integers(24, 100))
def test_nothing_is_wider_than_the_terminal_and_each_row_has_its_star(attention: AttentionMap, width: int) -> None:
    lines = body(plain(attention, width=width))
    assert all(cell_len(line) <= width for line in lines)
    assert sum(line.count("★") for line in lines) == len(attention.target)


@relaxed()
@given(st.permutations(range(4)))
def test_stars_stand_under_the_column_that_was_looked_at(order: list[int]) -> None:
    names = ["가나다라", "bb", "カ", "dddddd"]
    columns = side_of_words([[name] for name in names]).pick(range(4))
    lines = side_of_words([["x"]] * 4).pick(range(4))
    text = plain(AttentionMap(columns, lines, "cross", np.eye(4)[order][None, None]), width=80)
    head = body(text)[0]
    starts = [cell_len(head[: head.index(name)]) for name in names]
    for star, column in zip(columns_of_stars(text), order, strict=True):
        assert starts[column] - 1 <= star <= starts[column] + cell_len(names[column])


def test_a_wide_map_is_folded_into_panels() -> None:
    attention = random_map([["원천문장"]] * 19, ENGLISH)
    text = plain(attention, width=60)
    heads = [line for line in body(text) if "원천문장" in line]
    assert len(heads) > 1
    assert sum(line.count("원천문장") for line in heads) == 19
    assert sum(line.count("</s>") for line in heads) == 1
    assert sum(line.count("★") for line in body(text)) == len(attention.target)


def test_long_tokens_are_cut() -> None:
    attention = random_map([["가" * 100]], [["b" * 100]])
    assert all(cell_len(line) <= 60 for line in body(plain(attention, width=60)))
    assert "…" in plain(attention, width=60)


def test_the_hidden_share_has_a_column() -> None:
    columns, lines = side_of_words([["a"]]), side_of_words([["x"]])
    hidden = AttentionMap(columns, lines, "cross", np.array([[[[0.25, 0.75], [0, 1]]]])).without_sinks()
    text = body(plain(hidden, width=60))
    assert text[0].endswith("hidden")
    assert text[1].endswith("75%")
    assert text[2].endswith("100%")
    assert "★" not in text[2]


def test_several_heads_are_drawn_as_their_mean() -> None:
    attention = random_map(KOREAN, ENGLISH, layers=2, heads=2)
    assert plain(attention, width=80) == plain(attention.mean(), width=80)
    assert "mean of layers, mean of heads" in plain(attention, width=80)


# ------------------------------------------------------------------------------------------------------------ colours


def test_colours_follow_the_terminal() -> None:
    attention = random_map(KOREAN, ENGLISH)
    true = drawn(attention, force_terminal=True, color_system="truecolor")
    assert "48;2;" in true
    few = drawn(attention, force_terminal=True, color_system="256")
    assert "48;5;" in few
    assert "48;2;" not in few
    basic = drawn(attention, force_terminal=True, color_system="standard")
    assert "48;" not in basic
    assert any(f";{code}m" in basic for code in range(40, 48))
    for text in (true, few, basic):
        assert not set("░▒▓█") & set(text)
        assert text.count("★") == len(attention.target) + 1


@pytest.mark.parametrize("options", [{"no_color": True, "force_terminal": True}, {"force_terminal": False}])
def test_shades_stand_in_where_there_are_no_colours(options: dict[str, object]) -> None:
    text = drawn(random_map(KOREAN, ENGLISH), **options)
    assert set("░▒▓█") & set(text)
    assert "48;" not in text


def test_no_color_in_the_environment_is_heeded() -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80, color_system="truecolor", _environ={"NO_COLOR": "1"})
    console.print(random_map(KOREAN, ENGLISH))
    assert "48;2;" not in file.getvalue()
    assert "█" in file.getvalue()


class Ascii(io.StringIO):
    encoding = "ascii"


def test_an_ascii_terminal_gets_digits() -> None:
    file = Ascii()
    Console(file=file, width=60, force_terminal=False, _environ={}).print(of_matrix([[0.2, 0.8], [0.8, 0.2]]))
    text = file.getvalue()
    assert "*8" in text or "*9" in text
    assert not set("░▒▓█★·") & set(text)


# ------------------------------------------------------------------------------------------------------------- safety


def test_tokens_cannot_move_the_cursor_or_turn_the_writing() -> None:
    evil = ("\x1b[2J", "\r\n", "x\u202ey", "\x07\x9b", "\ud800", "[bold]x[/bold]")
    side = Side("123456", evil, tuple((place, place + 1) for place in range(6)), (0,) * 6)
    attention = AttentionMap(side, side, "cross", np.eye(6)[None, None])
    for text in (plain(attention, width=120), str(attention), drawn(attention, 120, force_terminal=False)):
        assert not set("\x1b\r\u202e\x07\x9b\ud800") & set(text)
        assert "x<202E>y" in text
        assert "[bold]x[/bold]" in text


def sentence(tokens: int) -> AttentionMap:
    side = side_of_words([[f"낱말{number}"] for number in range(tokens - 1)])
    weights = np.eye(tokens, dtype=np.float32) * 0.9 + 0.1 / tokens
    return AttentionMap(side, side, "cross", weights[None, None])


@pytest.mark.parametrize("tokens", [150, 512, 2000])
@pytest.mark.parametrize("width", [24, 80, 200])
def test_a_long_source_is_drawn_in_bounded_time_and_size(tokens: int, width: int) -> None:
    attention = sentence(tokens)
    before = time.process_time()
    lines = plain(attention, width=width).split("\n")
    assert time.process_time() - before < 2
    assert len(lines) <= 405
    assert all(cell_len(line) <= width for line in lines[1:-2])


def test_an_overview_keeps_rows_whole() -> None:
    """Two columns to a cell are summed and rows averaged, so the star of a diagonal walks across."""
    text = body(plain(sentence(512), width=100))
    assert "rows (their mean)" in text[-1]
    stars = columns_of_stars("\n\n" + "\n".join(text) + "\n")
    assert stars == sorted(stars)
    assert len(stars) > 40
    assert stars[-1] > 90


def test_an_empty_map_of_one_token_is_drawn() -> None:
    side = side_of_words([])
    assert "</s>" in str(AttentionMap(side, side, "cross", np.zeros((1, 1, 1, 1))))
