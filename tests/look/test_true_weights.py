"""One rule for every way to see a map: the weights are the model's own, and the star stands on the same cell.

Rows are scaled up only where that is asked for, and then every drawing and file says so.
"""

import base64
import json
import re
import sys
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.cells import cell_len

from depth import THOROUGH
from seq2see.cli import main
from seq2see.look import AttentionMap
from seq2see.look.draw.terminal import plain
from seq2see.look.map.packing import pack

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import SOURCES, TARGETS, make_run
from map_making import of_matrix, random_map

TEXT, SAID = SOURCES[0], TARGETS[0]
LAYER, HEAD = 1, 0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "transformer", "transformer", sharp=1.5)


def seq2see(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def page_data(path: Path) -> Any:
    match = re.search(r'<script type="application/json" class="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def unpacked(packed: dict[str, Any], layer: int, head: int) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """(rows, columns) weights and (rows,) largest weights on text, as view/weights.js reads them."""
    rows, columns = len(packed["target"]["tokens"]), len(packed["source"]["tokens"])
    cells = np.frombuffer(base64.b64decode(packed["cells"][layer]), dtype=np.uint8).reshape(-1, rows, columns)[head]
    scales = np.frombuffer(base64.b64decode(packed["scales"][layer]), dtype="<f4").reshape(-1, rows, 3)[head]
    scale = np.repeat(scales[:, :1], columns, axis=1)
    scale[:, packed["source"]["special"]] = scales[:, 2:]
    return cells / 255 * scale, scales[:, 0]


def starred(drawing: str, attention: AttentionMap) -> list[int]:
    """Which column of each row of a terminal drawing holds the star."""
    label = max(map(cell_len, attention.target.tokens))
    ends = list(accumulate(max(3, cell_len(token)) + 1 for token in attention.source.tokens))
    lines = drawing.splitlines()
    first = lines.index("") + 2
    places = []
    for line in lines[first : first + len(attention.target)]:
        at = cell_len(line.partition("★")[0]) - label
        places.append(next(column for column, end in enumerate(ends) if at < end) if "★" in line else -1)
    return places


@pytest.mark.thinned
def test_explain_json_tsv_terminal_and_page_hold_the_same_numbers(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["look", run, TEXT, "--target", SAID, "--layer", LAYER, "--head", HEAD, "--level", "piece"]
    for suffix in ("json", "tsv", "npz", "txt", "html"):
        assert seq2see(monkeypatch, *given, "-o", tmp_path / f"map.{suffix}") == 0
    capsys.readouterr()
    maps = [AttentionMap.load(tmp_path / f"map.{suffix}") for suffix in ("json", "tsv", "npz")]
    shown = maps[0].weights[0, 0]
    hidden = maps[0].hidden
    assert hidden is not None
    for one in maps:
        assert np.array_equal(one.weights[0, 0], shown)
    (packed,) = (one for one in page_data(tmp_path / "map.html")["examples"][0]["maps"] if one["kind"] == "cross")
    cells, tops = unpacked(packed, LAYER, HEAD)
    drawing = (tmp_path / "map.txt").read_text()
    step_of = ["explain", run, TEXT, "--target", SAID, "--layer", LAYER, "--head", HEAD, "--json", "--step"]
    for step in range(len(shown)) if THOROUGH else (0, 1, len(shown) - 1):
        assert seq2see(monkeypatch, *step_of, step + 1) == 0
        weights = np.array(json.loads(capsys.readouterr().out)["attention"]["weights"])
        np.testing.assert_allclose(shown[step], weights[:-1], atol=1e-6)
        np.testing.assert_allclose(hidden[0, 0, step], weights[-1], atol=1e-6)
        np.testing.assert_allclose(tops[step], weights[:-1].max(), atol=1e-6)
        np.testing.assert_allclose(cells[step], weights, atol=1 / 255)
        assert seq2see(monkeypatch, *step_of[:-2], "--step", step + 1) == 0
        table = capsys.readouterr().out.partition("The weights")[2]
        (line,) = (line for line in table.splitlines() if re.search(r"\d +\* ", line))
        assert line.split()[0] == maps[0].source.tokens[shown[step].argmax()]
    assert f"quarters of {shown.max():.2f}" in drawing
    assert starred(drawing, maps[0]) == shown.argmax(axis=1).tolist()
    assert f"</s> hidden: {100 * hidden.mean():.0f} % of the attention lies there" in drawing


def test_the_page_opens_with_what_the_terminal_shows(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["look", run, TEXT, "--target", SAID, "--beam", 1, "-o"]
    for options, opening in (
        ([], {"level": "word", "hide": True, "rescale": False}),
        (["--layer", 1, "--head", 0, "--sinks"], {"layer": 1, "head": 0, "hide": False}),
        (["--mean", "--level", "piece", "--rescale"], {"layer": None, "head": None, "level": "piece", "rescale": True}),
        (["--kind", "decoder", "--rollout"], {"kind": "decoder", "layer": None}),
    ):
        assert seq2see(monkeypatch, *given, tmp_path / "map.html", *options) == 0
        assert seq2see(monkeypatch, *given, tmp_path / "map.json", *options) == 0
        (example,) = page_data(tmp_path / "map.html")["examples"]
        assert example["opening"].items() >= opening.items()
        shown = AttentionMap.load(tmp_path / "map.json")
        packed = next(one for one in example["maps"] if one["kind"] == shown.kind)
        layer = example["opening"]["layer"]
        assert layer is None or packed["layers"][layer] == shown.layers[0]
        assert ("rollout" in packed["layers"]) == ("--rollout" in options)


@pytest.mark.parametrize("level", ["piece", "word"])
def test_the_star_stays_where_it_is_whatever_is_hidden(level: str) -> None:
    whole = random_map([["a", "b"], ["c"], ["d"]], [["x"], ["y", "z"]], layers=2, heads=2)
    heavy = replace(whole, weights=np.concatenate([whole.weights[..., :-1] / 4, np.full((2, 2, 4, 1), 0.75)], axis=-1))
    shown = (heavy.words() if level == "word" else heavy).layer(1).head(0)
    hidden = shown.without_sinks()
    assert (shown.peaks() == hidden.peaks()).all()
    assert (shown.peaks() == hidden.rescale().peaks()).all()
    for one in (shown, hidden, hidden.rescale()):
        assert starred(plain(one, width=80), one) == one.peaks()[0, 0].tolist()
    aligned = {target: source for source, target in shown.alignment().pairs}
    if level == "word":
        assert [aligned[row] for row in range(2)] == shown.peaks()[0, 0, :2].tolist()


def test_a_row_that_looks_at_no_text_has_no_star() -> None:
    attention = of_matrix([[0.2, 0.8], [0, 0]])
    assert attention.peaks()[0, 0].tolist() == [1, -1, -1]
    assert starred(plain(attention, width=80), attention) == [1, -1, -1]


def test_rescaling_is_asked_for_and_said(tmp_path: Path) -> None:
    shown = random_map([["a"], ["b", "c"]], [["x"], ["y"]], heads=2).without_sinks()
    scaled = shown.rescale()
    assert not shown.rescaled
    assert (shown.weights.sum(axis=-1) < 0.999).any()
    np.testing.assert_allclose(scaled.weights.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(scaled.unscaled().weights, shown.weights, atol=1e-6)
    for derive in (AttentionMap.words, AttentionMap.mean, lambda one: one.head(1)):
        np.testing.assert_allclose(derive(scaled).weights, derive(shown).rescale().weights, atol=1e-6)
        assert derive(scaled).rescaled
    np.testing.assert_allclose(scaled.sink_share(), shown.sink_share(), atol=1e-6)
    assert "rescaled" in scaled.footnote
    assert "rescaled" not in shown.footnote
    assert scaled.footnote in plain(scaled, width=100)
    assert pack(scaled)["rescaled"]
    assert pack(scaled)["cells"] == pack(shown)["cells"]
    for suffix in ("json", "tsv", "npz"):
        scaled.save(tmp_path / f"map.{suffix}")
        read = AttentionMap.load(tmp_path / f"map.{suffix}")
        assert (read.rescaled, read.hidden_tokens) == (True, ("</s>",))
    scaled.mean().save(tmp_path / "map.svg")
    assert "rows rescaled" in text_of_svg(tmp_path / "map.svg")
    shown.save(tmp_path / "grid.svg")
    assert "of the attention lies there" in text_of_svg(tmp_path / "grid.svg")


def text_of_svg(path: Path) -> str:
    """What matplotlib drew as outlines, which it names in comments."""
    return " ".join(re.findall(r"<!-- (.*?) -->", path.read_text()))


def test_maps_of_the_first_version_were_rescaled(tmp_path: Path) -> None:
    shown = random_map([["a"], ["b"]], [["x"]]).without_sinks()
    for one, name in ((shown.rescale(), "hidden"), (random_map([["a"]], [["x"]]), "whole")):
        one.save(tmp_path / "new.json")
        saved = json.loads((tmp_path / "new.json").read_text())
        old = {key: value for key, value in saved.items() if key not in ("hidden_tokens", "rescaled")} | {"version": 1}
        (tmp_path / "old.json").write_text(json.dumps(old))
        read = AttentionMap.load(tmp_path / "old.json")
        assert read.rescaled == (name == "hidden")
        assert read.hidden_tokens == one.hidden_tokens
        assert np.array_equal(read.weights, one.weights)


def test_rescale_needs_something_hidden(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seq2see(monkeypatch, "look", run, TEXT, "--rescale", "--sinks") == 2
    assert capsys.readouterr().err == (
        "seq2see: --rescale makes up for what is hidden, and --sinks hides nothing; leave one of them out\n"
    )
