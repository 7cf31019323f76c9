"""Maps in the browser: what is shown equals the map, from file:// and in notebooks, whatever the texts hold."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import FOREIGN, SCRIPTS, Watched, chromium, opened, spent, written
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from depth import THOROUGH
from seq2see.errors import ConfigError
from seq2see.look import AttentionMap, Best, Side
from seq2see.look.draw.page import SCRIPTS as MODULES
from seq2see.look.draw.page import PageExample, bundle, embedded, gather, inert_json, page
from seq2see.look.map.packing import fit, pack, quantise
from seq2see.look.map.side import shifted, words_of
from seq2see.look.map.tree import BeamTree, Node

VIEW = Path(__file__).parents[2] / "src" / "seq2see" / "look" / "draw" / "view"
STEP = 1 / 255


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


def side(*pieces: str) -> Side:
    """Pieces with `▁` where a word begins, and the end."""
    spans, at, text = [], 0, "".join(pieces).replace("▁", " ").lstrip()
    for piece in pieces:
        size = len(piece) - (at == 0 and piece.startswith("▁"))
        spans.append((at, at + size))
        at += size
    return Side(text, (*pieces, "</s>"), (*spans, (at, at)), (*words_of(text, spans), None))


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


SOURCE = side("▁나", "는", "▁어제", "▁책", "을", "▁읽", "었다")
TARGET = side("▁I", "▁read", "▁a", "▁bo", "ok", "▁yesterday")


def cross(layers: int = 3, heads: int = 2, seed: int = 0, sink: float = 0.0) -> AttentionMap:
    scores = np.random.default_rng(seed).normal(0, 2, (layers, heads, len(TARGET), len(SOURCE)))
    scores[..., -1] += sink
    return AttentionMap(SOURCE, TARGET, "cross", softmax(scores))


def encoder(seed: int = 1) -> AttentionMap:
    scores = np.random.default_rng(seed).normal(0, 2, (3, 2, len(SOURCE), len(SOURCE)))
    return AttentionMap(SOURCE, SOURCE, "encoder", softmax(scores))


def decoder(seed: int = 2) -> AttentionMap:
    scores = np.random.default_rng(seed).normal(0, 2, (3, 2, len(TARGET), len(TARGET)))
    causal = np.where(np.tril(np.ones((len(TARGET),) * 2)) > 0, scores, -np.inf)
    return AttentionMap(shifted(TARGET), TARGET, "decoder", softmax(causal))


def long(tokens: int, layers: int = 1, heads: int = 1) -> AttentionMap:
    one = side(*(f"▁w{number}" for number in range(tokens - 1)))
    scores = np.random.default_rng(0).normal(0, 1, (layers, heads, tokens, tokens)).astype(np.float32)
    scores[..., np.arange(tokens), np.arange(tokens)] += 8
    return AttentionMap(one, one, "cross", softmax(scores))


TREE = BeamTree(
    (
        Node(0, None, 4, "▁I", -0.1, -0.1, "kept", None),
        Node(0, None, 5, "▁You", -3.0, -3.0, "pruned", None),
        Node(1, 0, 6, "▁read", -0.2, -0.3, "kept", None),
        Node(1, 0, 4, "▁I", -4.0, -4.1, "blocked", "repeated"),
        Node(2, 2, 2, "</s>", -0.1, -0.4, "ended", None, 1),
    ),
    (-0.4,),
)


# ----- what travels


def unpacked(attention: AttentionMap) -> np.ndarray:
    """(layers, heads, rows, columns) from the bytes, the way the page reads them."""
    cells, scales = quantise(attention)
    special = attention.source.special
    factor = np.where(special, scales[..., 2:3], scales[..., 0:1]) / 255
    return cells * factor


@given(st.integers(0, 10_000), st.floats(-5, 12), st.floats(0.1, 6))
def test_bytes_are_within_a_step_for_pieces_and_for_words(seed: int, sink: float, sharpness: float) -> None:
    scores = np.random.default_rng(seed).normal(0, sharpness, (2, 2, len(TARGET), len(SOURCE)))
    scores[..., -1] += sink
    attention = AttentionMap(SOURCE, TARGET, "cross", softmax(scores))
    found = unpacked(attention)
    assert np.abs(found - attention.weights).max() <= STEP
    running = found[..., :-1].cumsum(axis=-1) - attention.weights[..., :-1].cumsum(axis=-1)  # without the end
    assert np.abs(running).max() <= STEP / 2 + 1e-6
    groups = SOURCE.grouped()[1]
    sums = np.stack([found[..., group].sum(axis=-1) for group in groups], axis=-1)
    right = np.stack([attention.weights[..., group].sum(axis=-1) for group in groups], axis=-1)
    assert np.abs(sums - right).max() <= STEP + 1e-6


def test_the_many_pieces_of_one_word_add_up() -> None:
    """Rounded one by one, pieces that are all a little short of a step would lose it twenty times."""
    pieces = side("▁one", *"abcdefghijklmnopqrst", "▁two")
    weights = np.full((1, 1, len(pieces), len(pieces)), 0.4 / 255, dtype=np.float32)
    weights[..., 21] = 1.0
    weights[..., 22] = 0.0
    found = unpacked(AttentionMap(pieces, pieces, "cross", weights))
    assert np.abs(found[..., :21].sum(axis=-1) - weights[..., :21].sum(axis=-1)).max() <= STEP


def test_a_row_that_looks_everywhere_a_little_keeps_its_shape() -> None:
    one = long(512)
    flat = AttentionMap(
        one.source, one.target, "cross", softmax(np.random.default_rng(0).normal(0, 1, (1, 1, 512, 512)))
    )
    error = np.abs(unpacked(flat) - flat.weights).max(axis=-1)
    assert (error <= flat.weights.max(axis=-1) * STEP * 1.001).all()  # one 255th of the row's largest, not of one


def test_zero_stays_zero_and_an_empty_row_is_empty() -> None:
    weights = np.zeros((1, 1, len(TARGET), len(SOURCE)), dtype=np.float32)
    weights[0, 0, 1, 3] = 1.0
    found = unpacked(AttentionMap(SOURCE, TARGET, "cross", weights))
    assert (found == weights).all()


def test_too_many_weights_are_averaged_and_that_is_said_then_refused() -> None:
    attention = cross(6, 8)
    whole, note = fit([attention], attention.weights.size)
    assert whole[0] is attention
    assert note == ""
    by_layer, note = fit([attention], attention.weights.size // 8)
    assert by_layer[0].weights.shape == (6, 1, *attention.weights.shape[2:])
    np.testing.assert_allclose(by_layer[0].weights[:, 0], attention.weights.mean(axis=1), atol=1e-6)
    assert "heads of each layer are averaged" in note
    mean, note = fit([attention], attention.weights.size // 48)
    np.testing.assert_allclose(mean[0].weights[0, 0], attention.weights.mean(axis=(0, 1)), atol=1e-6)
    assert "All layers and heads are averaged" in note
    with pytest.raises(ConfigError, match="do not fit into a page"):
        fit([attention], 10)


def test_a_hundred_tokens_of_six_layers_and_eight_heads_stay_below_two_megabytes() -> None:
    assert len(page(long(100, 6, 8)).encode()) < 2_000_000


# ----- what is made


def test_maps_of_one_pair_are_one_example_and_others_are_not() -> None:
    other = side("▁He", "▁reads")
    elsewhere = AttentionMap(other, other, "encoder", np.full((1, 1, 3, 3), 1 / 3, dtype=np.float32))
    found = gather(
        [cross(), encoder(), decoder(), cross(seed=5), elsewhere, PageExample((cross(),), "mine"), encoder()]
    )
    kinds = [[one.kind for one in example.maps] for example in found]
    assert kinds == [["cross", "encoder", "decoder"], ["cross"], ["encoder"], ["cross"], ["encoder"]]


def test_what_cannot_be_shown_is_refused_in_one_line() -> None:
    with pytest.raises(ConfigError, match="at least one map"):
        page([])
    with pytest.raises(ConfigError, match="one map of each kind, not cross, cross"):
        PageExample((cross(), cross()))


def test_json_in_a_page_cannot_end_its_element() -> None:
    data = {"texts": SCRIPTS}
    text = inert_json(data)
    assert not set("<>&\u2028\u2029") & set(text)
    assert text.isascii()
    assert json.loads(text) == data


def test_modules_import_only_what_stands_before_them() -> None:
    """The order in which they are put together is an order of their imports, and nothing else is imported."""
    exported: dict[str, set[str]] = {}
    for name in (*MODULES, "chart", "page", "report", "korean", "blocks", "lesson"):
        text = (VIEW / f"{name}.js").read_text(encoding="utf-8")
        for names, module in re.findall(r'^import \{ (.+) \} from "\./(\w+)\.js";$', text, re.MULTILINE):
            assert set(names.split(", ")) <= exported[module], f"{name}.js imports {names} from {module}.js"
        assert text.count("import ") == len(re.findall(r"^import \{", text, re.MULTILINE))
        exported[name] = set(re.findall(r"^export (?:class|function|const) (\w+)", text, re.MULTILINE))
    assert {path.stem for path in VIEW.glob("*.js")} == exported.keys()


def test_nothing_in_the_page_names_another_place() -> None:
    text = page([cross()])
    assert set(re.findall(r"https?://[\w.]+", text)) == {"http://www.w3.org"}  # the name of SVG, never fetched
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)


# ----- in the browser


def reading(watched: Watched) -> str:
    return watched.page.locator(".reading").inner_text()


def place(watched: Watched) -> tuple[int, int]:
    data = watched.page.evaluate("({...document.querySelector('.explorer').dataset})")
    return int(data["row"]), int(data["column"])


def settle(watched: Watched) -> None:
    """Two frames: what was asked for is drawn."""
    watched.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def picture(watched: Watched) -> str:
    settle(watched)
    return str(watched.page.evaluate("document.querySelector('.stage canvas').toDataURL()"))


def numbers(watched: Watched) -> dict[str, float]:
    """What the panel says: token -> weight."""
    lines = "[...document.querySelectorAll('.reading li')]"
    found = watched.page.evaluate(f"{lines}.map((line) => [...line.children].map((part) => part.textContent))")
    return {token: float(number) for token, _, number in found}


PIXELS = """(spots) => {
    const shown = document.querySelector(".stage canvas");
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [shown.width, shown.height];
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(shown, 0, 0);
    return spots.map(([x, y]) => [...context.getImageData(x, y, 1, 1).data]);
}"""


def move(watched: Watched, x: float, y: float) -> None:
    box = watched.page.locator(".stage").bounding_box()
    assert box is not None
    watched.page.mouse.move(box["x"] + x, box["y"] + y)


def test_opens_from_a_file_and_hovering_lights_up_a_row_with_its_numbers(browser: Browser, tmp_path: Path) -> None:
    attention = cross(1, 1)
    with opened(browser, written(tmp_path, page(attention, title="나는 학생입니다"))) as watched:
        assert watched.page.title() == "나는 학생입니다"
        assert watched.page.locator("h1").inner_text() == "나는 학생입니다"
        settle(watched)
        before = picture(watched)
        box = watched.page.locator(".stage").bounding_box()
        assert box is not None
        seen = set()
        for y in range(0, int(box["height"]), 10):
            move(watched, 30, y)
            row, column = place(watched)
            seen.add(row)
            if row < 0:
                continue
            assert column == -1
            assert f"Saying {TARGET.tokens[row]} it looked at" in reading(watched).replace("\n", " ")
            shown = numbers(watched)
            right = dict(zip(SOURCE.tokens, attention.weights[0, 0, row].tolist(), strict=True))
            assert shown.keys() == right.keys()
            assert max(abs(shown[token] - right[token]) for token in right) <= STEP + 0.005  # two decimals
        assert seen == {-1, *range(len(TARGET))}
        move(watched, 30, box["height"] * 0.6)
        one = picture(watched)
        move(watched, 30, box["height"] * 0.6 + 40)
        assert len({before, one, picture(watched)}) == 3
        assert watched.requests == [f"file://{tmp_path}/page.html"]


def test_the_row_in_focus_keeps_its_colours_and_others_fade(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, page(cross(1, 1)))) as watched:
        settle(watched)
        spots = {}  # the first point of each cell of a column, as the pointer finds it
        for y in range(40, 280, 6):  # a cell is four times as high
            move(watched, 200, y)
            row, column = place(watched)
            if row >= 0 and column >= 0:
                spots.setdefault(row, (200, y + 3))
        assert len(spots) == len(TARGET)

        def colours() -> dict[int, list[int]]:
            settle(watched)
            return dict(zip(spots, watched.page.evaluate(PIXELS, list(spots.values())), strict=True))

        watched.page.mouse.move(2, 2)
        plain = colours()
        for focus in spots:
            move(watched, 20, spots[focus][1])
            assert place(watched) == (focus, -1)
            found = colours()
            assert [row for row in spots if found[row] == plain[row]] == [focus]


def test_a_cell_lights_its_column_too_and_a_click_keeps_it(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, page(cross(1, 1)))) as watched:
        settle(watched)
        move(watched, 300, 120)
        row, column = place(watched)
        assert row >= 0
        assert column >= 0
        watched.page.mouse.down()
        watched.page.mouse.up()
        move(watched, 300, 200)
        assert place(watched) == (row, column)
        assert "pinned" in reading(watched)
        watched.page.mouse.move(2, 2)
        assert place(watched) == (row, column)
        move(watched, 300, 120)
        watched.page.mouse.down()
        watched.page.mouse.up()
        assert place(watched) == (-1, -1)


def test_everything_works_from_the_keyboard(browser: Browser, tmp_path: Path) -> None:
    attention = cross(1, 1)
    with opened(browser, written(tmp_path, page(attention))) as watched:
        stage = watched.page.get_by_role("application")
        while not stage.evaluate("(e) => e === document.activeElement"):
            watched.page.keyboard.press("Tab")
        assert place(watched) == (0, -1)
        watched.page.keyboard.press("ArrowDown")
        watched.page.keyboard.press("ArrowDown")
        watched.page.keyboard.press("s")
        row, column = place(watched)
        assert (row, column) == (2, int(attention.weights[0, 0, 2].argmax()))
        spoken = watched.page.locator(".reading [aria-live]").inner_text()
        token, number = SOURCE.tokens[column], attention.weights[0, 0, 2, column]
        assert spoken == f"Saying {TARGET.tokens[2]} it looked at: {token} {number:.2f}"
        watched.page.keyboard.press("Escape")
        assert place(watched) == (-1, -1)
        watched.page.keyboard.press("End")
        watched.page.keyboard.press("ArrowUp")
        assert place(watched)[1] == len(SOURCE) - 1


def test_rows_are_selected_from_the_keyboard_and_their_weights_added(browser: Browser, tmp_path: Path) -> None:
    """Shift and an arrow from an anchor on, as in any list; Ctrl and an arrow goes along, Shift and Enter adds one."""
    attention = cross(1, 1)
    weights = attention.weights[0, 0]
    with opened(browser, written(tmp_path, page(attention))) as watched:
        settle(watched)
        explorer, press = watched.page.locator(".explorer"), watched.page.keyboard.press
        for view in ("matrix", "lines"):
            watched.page.get_by_text(view.capitalize(), exact=True).click()
            if view == "matrix":
                watched.page.keyboard.press("Tab")
                watched.page.locator(".matrix").focus()
                press("ArrowDown")
            else:
                press("Tab")
                watched.page.locator(".side.target .word").nth(1).focus()
            press("Shift+ArrowDown")
            assert explorer.get_attribute("data-rows") == "1 2"
            told = float(watched.page.locator(".reading li .number").first.inner_text())
            assert abs(told - weights[1:3].sum(axis=0).max()) < 0.02
            press("Shift+ArrowUp")
            press("Shift+ArrowUp")
            assert explorer.get_attribute("data-rows") == "0 1"  # the row it began with stays
            press("Control+ArrowDown")
            press("Control+ArrowDown")
            press("Control+ArrowDown")
            assert explorer.get_attribute("data-rows") == "0 1"
            press("Shift+Enter")
            assert explorer.get_attribute("data-rows") == "0 1 3"
            press("ArrowUp")
            assert explorer.get_attribute("data-rows") == ""
            assert place(watched) == (2, -1)
            press("Escape")
        assert watched.problems == []


def test_lines_have_words_that_can_be_pointed_at_and_walked_through(browser: Browser, tmp_path: Path) -> None:
    attention = cross(1, 1)
    with opened(browser, written(tmp_path, page(attention))) as watched:
        watched.page.get_by_text("Lines", exact=True).click()
        before = picture(watched)
        said = watched.page.locator(".side.target .word")
        said.nth(3).hover()
        assert place(watched) == (3, -1)
        assert picture(watched) != before
        beside = watched.page.locator(".side.source .word .number").all_inner_texts()
        for text, right in zip(beside, attention.weights[0, 0, 3], strict=True):
            assert abs(float(text or 0) - right) <= STEP + 0.005
        said.nth(0).focus()
        watched.page.keyboard.press("ArrowDown")
        assert place(watched) == (1, -1)
        watched.page.keyboard.press("ArrowLeft")
        assert place(watched) == (-1, 1)
        assert "while saying" in reading(watched)


def test_pickers_choose_kind_layer_head_level_and_sinks(browser: Browser, tmp_path: Path) -> None:
    maps = [cross(sink=3.0), encoder(), decoder()]
    with opened(browser, written(tmp_path, page(maps))) as watched:
        pickers = watched.page.locator(".heads-of select")

        def row_of(row: int) -> dict[str, float]:
            watched.page.get_by_role("application").focus()
            watched.page.keyboard.press("Escape")
            for _ in range(row + 2):
                watched.page.keyboard.press("ArrowDown")
            for _ in range(place(watched)[0] - row):
                watched.page.keyboard.press("ArrowUp")
            assert place(watched)[0] == row
            return numbers(watched)

        def agree(shown: dict[str, float], attention: AttentionMap, row: int) -> None:
            mean = attention.mean()
            right = dict(zip(mean.source.tokens, mean.weights[0, 0, row].tolist(), strict=True))
            for token, number in shown.items():
                assert abs(number - right[token]) <= STEP + 0.005, token

        agree(row_of(2), maps[0], 2)
        pickers.nth(0).select_option("1")
        agree(row_of(2), maps[0].layer(1), 2)
        pickers.nth(1).select_option("0")
        agree(row_of(2), maps[0].layer(1).head(0), 2)
        watched.page.get_by_text("Words", exact=True).click()
        agree(row_of(3), maps[0].layer(1).head(0).words(), 3)
        watched.page.get_by_text("Hide </s>").click()
        hidden = maps[0].layer(1).head(0).words().without_sinks()
        shown = row_of(3)
        assert "</s>" not in shown
        agree(shown, hidden, 3)
        assert hidden.hidden is not None
        assert f"not shown: {hidden.hidden[0, 0, 3]:.2f}" in reading(watched)
        assert hidden.footnote in watched.page.locator(".legend").inner_text()
        watched.page.get_by_text("Rescale rows").click()
        agree(row_of(3), hidden.rescale(), 3)
        assert hidden.rescale().footnote in watched.page.locator(".legend").inner_text()
        watched.page.get_by_text("Rescale rows").click()
        watched.page.get_by_text("Decoder", exact=True).click()
        agree(row_of(1), maps[2].words().without_sinks(), 1)
        watched.page.get_by_text("Encoder", exact=True).click()
        agree(row_of(1), maps[1].words().without_sinks(), 1)


def test_every_choice_shows_the_numbers_of_the_map(browser: Browser) -> None:
    """All kinds, layers, heads, means, levels, with and without sinks: the page's arithmetic is the map's."""
    script = f"([packed, asked]) => {{ {bundle(('weights',))} const map = new AttentionMap(packed);" + (
        "return asked.map((one) => { const made = map.matrix(...one);"
        " return [made.rows, made.columns, [...made.values], made.hidden && [...made.hidden], made.peaks]; }); }"
    )
    choices = [
        (i, j, level, hide, scale)
        for i in (None, 0, 2)
        for j in (None, 1)
        for level in ("piece", "word")
        for hide in (False, True)
        for scale in (False, True)
    ]
    with browser.new_context() as context:
        empty = context.new_page()
        for attention in (cross(), cross(sink=9.0), encoder(), decoder(), cross(sink=6.0).without_sinks()):
            found = empty.evaluate(script, [pack(attention), [list(choice) for choice in choices]])
            for (i, j, level, hide, scale), (rows, columns, values, hidden, peaks) in zip(choices, found, strict=True):
                one = attention if i is None else attention.layer(i)
                one = (one if j is None else one.head(j)).mean()
                one = one.words() if level == "word" else one
                one = one.without_sinks() if hide else one
                one = one.rescale() if scale else one
                assert (tuple(rows), tuple(columns)) == (one.target.tokens, one.source.tokens)
                shown = np.array(values).reshape(one.weights.shape[2:])
                assert np.abs(shown - one.weights[0, 0]).max() <= STEP * 1.01
                assert (hidden is None) == (one.hidden is None)
                if one.hidden is not None:
                    assert np.abs(np.array(hidden) - one.hidden[0, 0]).max() <= 1e-5
                assert not one.source.special[peaks].any()
                most = np.where(one.source.special, 0, one.weights[0, 0])
                taken = np.take_along_axis(most, np.array(peaks)[:, None], axis=1)[:, 0]
                assert (taken >= most.max(axis=-1) - STEP).all()


def test_a_head_can_be_chosen_among_all_and_the_best_one_comes_first(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, page([PageExample((cross(),), best=Best(2, 1, 0.1))]))) as watched:
        pickers = watched.page.locator(".heads-of select")
        assert [pickers.nth(n).input_value() for n in (0, 1)] == ["2", "1"]
        watched.page.get_by_text("Heads", exact=True).click()
        assert watched.page.locator(".heads button").count() == 6
        watched.page.get_by_label("Layer 1, head 0").click()
        assert [pickers.nth(n).input_value() for n in (0, 1)] == ["1", "0"]
        assert watched.page.locator(".stage.matrix").is_visible()
        assert watched.page.get_by_role("radio", name="Matrix").is_checked()


def test_sentences_can_be_changed_and_a_beam_tree_walked_through(browser: Browser, tmp_path: Path) -> None:
    examples = [PageExample((cross(),), "first"), PageExample((), "second", (("output", "I read"),), TREE)]
    with opened(browser, written(tmp_path, page(examples))) as watched:
        watched.page.get_by_label("Next sentence").click()
        assert watched.page.locator(".texts dd").inner_text() == "I read"
        assert watched.page.locator(".explorer").get_attribute("data-view") == "beam"
        assert watched.page.locator(".candidate").count() == 5
        assert "hypothesis #1, with a score of -0.400" in watched.page.locator(".story").inner_text()
        watched.page.locator(".candidate.blocked").hover()
        assert "it would repeat an n-gram" in watched.page.locator(".story").inner_text()
        watched.page.locator(".candidate").first.focus()
        watched.page.keyboard.press("ArrowRight")
        watched.page.keyboard.press("ArrowRight")
        assert watched.page.locator(".story .said bdi").all_inner_texts() == ["▁I", "▁read", "</s>"]
        watched.page.get_by_text("that were dropped").click()
        assert watched.page.locator(".candidate").count() == 3
        watched.page.get_by_label("Previous sentence").click()
        assert watched.page.locator(".stage.matrix").is_visible()


def test_both_themes_and_a_phone(browser: Browser, tmp_path: Path) -> None:
    long_texts = PageExample((cross(), encoder()), "x" * 300, (("source", "y" * 400),), TREE)
    file = written(tmp_path, page([long_texts, PageExample((cross(),), "나는 " * 90)], title="t" * 200))
    pictures = set()
    for scheme in ("light", "dark"):
        with opened(
            browser, file, color_scheme=scheme, viewport={"width": 360, "height": 740}, has_touch=True
        ) as watched:
            assert watched.page.evaluate("document.documentElement.dataset.theme") == scheme
            for view in ("Matrix", "Lines", "Heads", "Beam"):
                watched.page.get_by_text(view, exact=True).click()
                assert watched.page.evaluate("document.documentElement.scrollWidth") <= 360, view
            watched.page.get_by_text("Matrix", exact=True).click()
            pictures.add(picture(watched))
            watched.page.locator(".stage").tap(position={"x": 200, "y": 150})
            assert place(watched)[0] >= 0
            watched.page.get_by_role("button", name="Theme").click()
            assert watched.page.evaluate("document.documentElement.dataset.theme") == "light"
    assert len(pictures) == 2


@pytest.mark.thinned
def test_a_source_of_512_tokens_opens_scrolls_and_shows_its_last_word(browser: Browser, tmp_path: Path) -> None:
    layers, heads = (6, 8) if THOROUGH else (2, 3)
    attention = long(512, layers, heads)
    file = written(tmp_path, page(attention))
    assert file.stat().st_size < 20_000_000
    began = spent()
    with opened(browser, file) as watched:
        settle(watched)
        sizes = watched.page.evaluate(
            "(() => { const c = document.querySelector('canvas'); return [c.width, c.height]; })()"
        )
        assert max(sizes) < 2_000  # what can be seen, not all of it
        watched.page.locator(".stage").evaluate("(e) => e.scrollTo(e.scrollWidth, e.scrollHeight)")
        settle(watched)
        box = watched.page.locator(".stage").bounding_box()
        assert box is not None
        move(watched, 20, box["height"] - 24)
        assert place(watched)[0] == 511
        assert abs(numbers(watched)["</s>"] - attention.mean().weights[0, 0, 511, 511]) <= STEP + 0.005
        watched.page.get_by_text("All at once").click()
        settle(watched)
        stage = watched.page.locator(".stage")
        assert stage.evaluate("(e) => e.scrollHeight <= e.clientHeight && e.scrollWidth <= e.clientWidth")
        before = picture(watched)
        box = stage.bounding_box()
        assert box is not None
        move(watched, 300, box["height"] - 9)
        assert place(watched)[0] >= 505
        assert picture(watched) != before
        watched.page.get_by_text("Lines", exact=True).click()
        watched.page.locator(".side.target .word").nth(500).hover()
        assert place(watched) == (500, -1)
        watched.page.get_by_text("Heads", exact=True).click()
        assert watched.page.locator(".heads button").count() == layers * heads
        assert spent() - began < 120  # about ten; not by the clock, which runs on while a loaded machine waits


def test_texts_that_look_like_code_stay_texts(browser: Browser, tmp_path: Path) -> None:
    words = [f"▁{text}" for text in SCRIPTS]
    one = Side(" ".join(SCRIPTS), tuple(words), tuple((n, n + 1) for n in range(len(words))), tuple(range(len(words))))
    attention = AttentionMap(
        one, one, "cross", np.full((1, 1, len(words), len(words)), 1 / len(words), dtype=np.float32)
    )
    nodes = tuple(Node(0, None, n, text, -1.0, -1.0, "kept", None) for n, text in enumerate(SCRIPTS))
    examples = [
        PageExample((attention,), text, tuple((label, text) for label in SCRIPTS), BeamTree(nodes))
        for text in SCRIPTS[:5]
    ]
    with opened(browser, written(tmp_path, page(examples, title="".join(SCRIPTS)))) as watched:
        for view in ("Lines", "Beam", "Matrix"):
            watched.page.get_by_text(view, exact=True).click()
        move(watched, 20, 200)
        assert watched.page.locator(".texts dd").first.inner_text() == SCRIPTS[0]
        watched.page.get_by_label("Next sentence").click()
        nothing_foreign(watched)


# Each ends another kind of element, attribute, string or comment; the test above has all of them in one page.
ENDINGS = {
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "`${alert(1)}`",
    "');alert(1);//",
    '\\"});alert(1);//',
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u2028alert(1)\u2029",
    "\ud800<script>alert(1)</script>",
    "__proto__",
}


@pytest.mark.thinned
def test_each_of_them_as_title_token_and_text(browser: Browser, tmp_path: Path) -> None:
    assert len(SCRIPTS) >= 50
    assert {*SCRIPTS} >= ENDINGS
    with opened(browser, written(tmp_path, page(cross(1, 1)))) as watched:
        for text in SCRIPTS if THOROUGH else [text for text in SCRIPTS if text in ENDINGS]:
            token = Side(text, (text,), ((0, len(text)),), (0,))
            attention = AttentionMap(token, token, "cross", np.ones((1, 1, 1, 1), dtype=np.float32))
            watched.page.goto(
                written(tmp_path, page([PageExample((attention,), text, ((text, text),))], title=text)).as_uri()
            )
            nothing_foreign(watched)
            printable = text.isprintable() and len(text) < 60
            assert watched.page.locator(".texts dd").text_content() == text or not printable
            assert watched.page.title() == text or not printable


def nothing_foreign(watched: Watched) -> None:
    count = "(chosen) => document.querySelectorAll(chosen).length"
    assert [watched.page.evaluate(count, chosen) for chosen in (FOREIGN, "script", "meta, style, title")] == [0, 2, 7]
    assert watched.page.locator(".explorer").count() == 1


def test_several_in_a_notebook_do_not_meet(browser: Browser, tmp_path: Path) -> None:
    cells = "".join(f"<div>{embedded(cross(1, 1, seed))}</div>" for seed in (0, 1))
    outside = f"<!DOCTYPE html><meta charset=utf-8><body class=quiet><p class=choice>a</p>{cells}"
    with opened(browser, written(tmp_path, outside)) as watched:
        before = watched.page.evaluate("Object.keys(window).length")
        first, second = (watched.page.frame_locator("iframe").nth(n) for n in (0, 1))
        first.locator(".stage").hover(position={"x": 20, "y": 120})
        assert int(first.locator(".explorer").get_attribute("data-row") or -1) >= 0
        assert second.locator(".explorer").get_attribute("data-row") == "-1"
        assert watched.page.evaluate("Object.keys(window).length") == before
        assert watched.page.evaluate("getComputedStyle(document.querySelector('p')).display") == "block"
        assert watched.page.evaluate("document.querySelectorAll('[id]').length") == 0


def test_no_page_leaves_names_behind(browser: Browser, tmp_path: Path) -> None:
    """Beside a blank page's: nothing of ours is global."""
    names = "Object.getOwnPropertyNames(window).sort()"
    with opened(browser, written(tmp_path, "<!DOCTYPE html><title>x</title>", "blank.html")) as watched:
        blank = watched.page.evaluate(names)
    with opened(browser, written(tmp_path, page(cross()))) as watched:
        assert watched.page.evaluate(names) == blank


def test_the_modules_run_as_modules_too(browser: Browser) -> None:
    """As a server hands them out: real imports, no bundle."""
    with browser.new_context() as context:
        problems: list[str] = []
        context.route(
            "http://view.test/*.js",
            lambda route: route.fulfill(
                path=VIEW / route.request.url.rsplit("/", 1)[1], content_type="text/javascript"
            ),
        )
        data = inert_json(
            {
                "title": "modules",
                "note": "",
                "examples": [{"title": "x", "texts": [], "maps": [pack(cross())], "tree": None, "best": None}],
            }
        )
        context.route(
            "http://view.test/",
            lambda route: route.fulfill(
                content_type="text/html",
                body=(
                    f'<!DOCTYPE html><script type="application/json" class="data">{data}</script>'
                    '<script type="module" src="/page.js"></script>'
                ),
            ),
        )
        tab = context.new_page()
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.goto("http://view.test/")
        assert tab.locator("h1").inner_text() == "modules"
        assert tab.locator(".stage.matrix").count() == 1
        assert problems == []


def test_the_page_forbids_itself_everything_else(browser: Browser, tmp_path: Path) -> None:
    """Even a script that got into it could not run, nor ask for anything."""
    text = page(cross()).replace(
        "</body>", "<script>window.ran = 1</script><img src=http://example.invalid/x.png></body>"
    )
    with browser.new_context() as context:
        tab = context.new_page()
        asked: list[str] = []
        tab.on("requestfinished", lambda request: asked.append(request.url))
        tab.goto(written(tmp_path, text).as_uri())
        assert tab.locator(".stage").is_visible()
        assert tab.evaluate("window.ran") is None
        assert [url for url in asked if url.startswith("http")] == []


def test_a_page_needs_no_torch() -> None:
    modules = "seq2see.look.draw.page, seq2see.look.draw.branches, seq2see.report.page"
    script = f"import sys, {modules}; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_a_map_saves_itself_as_html(tmp_path: Path) -> None:
    attention: Any = cross()
    attention.save(tmp_path / "map.html")
    assert (tmp_path / "map.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
