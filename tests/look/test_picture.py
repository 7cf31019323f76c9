"""Pictures: every script without boxes or warnings (warnings are errors here), no settings changed, sizes bounded."""

import copy
import re
import time
from pathlib import Path

import numpy as np
import pytest
from map_making import random_map, side_of_words

from seq2see.look import AttentionMap

pytest.importorskip("matplotlib")

import matplotlib as mpl
from matplotlib.font_manager import fontManager, get_font

from seq2see.look.draw import fonts
from seq2see.look.draw.picture import picture, render
from seq2see.look.draw.picture_format import PictureFormat

SCRIPTS = [
    ["나는"],
    ["학생", "입니다"],
    ["뷁ㄱㅏ"],
    ["ひらがな"],
    ["カタカナ"],
    ["漢字気図"],
    ["▁"],
    ["😀"],
    ["🚀"],
    ["👨‍👩‍👧❤️"],
    ["$\\no{$"],
]
LATIN = [["$\\nosuch{$"], ["a_b^c"], ["%s"], ["{x}"], ["é"], ["<b>&amp;"], ["नमस्ते"], ["\U0010ffff"], ["\x07\u202e"]]


def everything(heads: int = 1) -> AttentionMap:
    return random_map(SCRIPTS, LATIN, heads=heads)


FORMS = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF-"}


@pytest.mark.parametrize(
    ("form", "heads"),
    [
        *((form, 1) for form in ("svg", "pdf")),
        ("png", 2),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (("png", 1), ("svg", 2), ("pdf", 2))),
    ],
)
def test_every_script_is_drawn_without_a_warning(tmp_path: Path, form: str, heads: int) -> None:
    path = tmp_path / f"map.{form}"
    everything(heads).save(path)
    assert path.read_bytes().startswith(FORMS[form])
    everything().without_sinks().words().save(path)


# One that matplotlib's own font has, one that it has not, a skin tone, a flag, a keycap, a family held by joiners.
EMOJI = ["😀", "🚀", "👍🏽", "🇰🇷", "7️⃣", "👨‍👩‍👧"]


@pytest.mark.parametrize("form", FORMS)
def test_emoji_are_drawn_or_spelled_out_without_a_warning(form: PictureFormat) -> None:
    words = [word for emoji in EMOJI for word in ([f"좋다{emoji}"], [emoji])]
    file = render(random_map(words, [[emoji, "ok"] for emoji in EMOJI]), form)
    assert file.startswith(FORMS[form])


@pytest.mark.parametrize("form", FORMS)
def test_a_glyph_that_no_font_has_would_be_noticed(form: PictureFormat, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests above rest on: matplotlib warns, in each kind of file, and a warning is an error here."""
    monkeypatch.setattr("seq2see.look.draw.picture.drawable", str)
    with pytest.warns(UserWarning, match="[Gg]lyph"):
        render(random_map([["a"]], [["\U0010fffd"]]), form)


def test_glyphs_come_from_fonts_that_have_them() -> None:
    """No box: each character of each name has a glyph in a font of the list; what has none is spelled out."""
    figure = picture(everything())
    axes = figure.axes[0]
    names = [label.get_text() for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    files = [get_font(fontManager.findfont(name, fallback_to_default=False)) for name in fonts.families()]
    known = set().union(*(file.get_charmap() for file in files))
    assert all(ord(character) in known for name in names for character in name)
    assert {"▁나는", "입니다", "▁ひらがな", "▁漢字気図", "▁▁", "▁😀", "</s>"} <= set(names)
    assert any("U+0928" in name for name in names)
    assert any("U+10FFFF" in name for name in names)
    assert any("U+0007U+202E" in name for name in names)


@pytest.mark.parametrize("text", ["가힣뷁", "ぁヶー", "漢字気図", "▁", "😀", "ㄱㅏㄴ", "、。「」"])
def test_korean_and_japanese_need_no_font_of_the_system(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(fonts, "_SYSTEM", ())
    fonts.families.cache_clear()
    fonts.covered.cache_clear()
    try:
        assert len(fonts.families()) >= 2
        assert fonts.drawable(text) == text
    finally:
        fonts.families.cache_clear()
        fonts.covered.cache_clear()


def test_joiners_are_left_out_and_long_names_cut() -> None:
    assert fonts.drawable("a\u200db\ufe0f") == "ab"
    assert len(fonts.drawable("가" * 100)) == 18
    assert fonts.drawable("가" * 100).endswith("…")


def test_without_any_such_font_characters_are_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_SYSTEM", ())
    monkeypatch.setattr(fonts, "_PACKAGED", ())
    fonts.families.cache_clear()
    fonts.covered.cache_clear()
    try:
        assert fonts.drawable("가a") == "U+AC00a"
        render(everything(), "png")
    finally:
        fonts.families.cache_clear()
        fonts.covered.cache_clear()


def test_settings_of_matplotlib_are_not_changed() -> None:
    before = copy.deepcopy(dict(mpl.rcParams))
    render(everything(), "svg")
    assert dict(mpl.rcParams) == before


def test_settings_of_others_do_no_harm() -> None:
    """Someone who writes papers has these on."""
    with mpl.rc_context({"text.usetex": True, "font.family": "serif", "axes.grid": True, "axes.titlesize": 30}):
        render(random_map(SCRIPTS[:3], LATIN[:3]), "png")


@pytest.mark.parametrize("form", FORMS)
def test_the_same_map_gives_the_same_bytes(form: str) -> None:
    attention = random_map([["학생"]], [["a"], ["b"]])
    assert render(attention, form) == render(attention, form)  # type: ignore[arg-type]


def test_the_svg_is_well_formed_and_its_references_hold() -> None:
    from lxml import etree

    tree = etree.fromstring(render(random_map([["학생"], ["<b>&"]], [["a"], ["]]>"]]), "svg"))
    ids = {element.get("id") for element in tree.iter() if element.get("id")}
    text = etree.tostring(tree).decode()
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    assert used
    assert used <= ids


def test_one_map_says_what_it_shows() -> None:
    attention = random_map([["나는"], ["학생"]], [["I"], ["am"]], layers=2, heads=2).layer(1).head(0)
    figure = picture(attention)
    axes, bar = figure.axes
    assert figure.get_suptitle() == "cross-attention, layer 1, head 0, 3 x 3 pieces"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["▁나는", "▁학생", "</s>"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["▁I", "▁am", "</s>"]
    assert axes.yaxis_inverted()
    drawn = axes.collections[0].get_array()
    np.testing.assert_allclose(np.asarray(drawn).reshape(3, 3), attention.weights[0, 0])
    stars = axes.collections[1].get_offsets()
    peaks = attention.weights[0, 0, :, :2].argmax(axis=1)  # never on </s>
    np.testing.assert_allclose(np.asarray(stars), [(column + 0.5, row + 0.5) for row, column in enumerate(peaks)])
    assert bar.get_ylim() == pytest.approx((0, attention.weights.max()))


def test_hidden_shares_stand_beside_the_rows() -> None:
    seen = random_map([["a"], ["b"]], [["x"]]).without_sinks()
    assert seen.hidden is not None
    bars = picture(seen).axes[1].patches
    np.testing.assert_allclose([bar.get_width() for bar in bars], seen.hidden[0, 0])


def test_several_heads_are_a_grid_with_one_scale() -> None:
    attention = random_map([["a"]], [["b"]], layers=2, heads=3)
    figure = picture(attention)
    *maps, _ = figure.axes
    assert [axes.get_title() for axes in maps] == [f"layer {i}, head {j}" for i in range(2) for j in range(3)]
    assert {axes.collections[0].get_clim() for axes in maps} == {(0, float(attention.weights.max()))}


@pytest.mark.parametrize("form", ["png", *(pytest.param(form, marks=pytest.mark.slow) for form in ("svg", "pdf"))])
def test_a_long_source_is_drawn_in_bounded_time_and_size(form: str) -> None:
    side = side_of_words([[f"낱말{number}"] for number in range(511)])
    weights = np.eye(512, dtype=np.float32) * 0.5 + 0.5 / 512
    before = time.process_time()
    drawn = render(AttentionMap(side, side, "cross", weights[None, None]), form)  # type: ignore[arg-type]
    assert time.process_time() - before < 20
    assert len(drawn) < 3_000_000
    assert max(picture(AttentionMap(side, side, "cross", weights[None, None])).get_size_inches()) < 25
