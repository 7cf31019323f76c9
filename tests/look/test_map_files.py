"""Maps as files: what is read is what was written, to the last bit; damage is one line."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from map_making import maps, random_map, relaxed, same, side_of_words

from seq2see.errors import ConfigError, DataError, RunError, Seq2SeeError
from seq2see.look import AttentionMap, Side

EXACT = ("json", "tsv", "npz")
PAIR = ([["학생", "입니다"], ["😀"]], [["stu", "dent"], ["."]])


@pytest.mark.parametrize("suffix", EXACT)
@relaxed()
@given(attention=maps(), how=st.sampled_from(["as it is", "words", "hidden", "mean"]))
def test_what_is_read_is_what_was_written(tmp_path: Path, suffix: str, attention: AttentionMap, how: str) -> None:
    changed = {
        "as it is": attention,
        "words": attention.words(),
        "hidden": attention.without_sinks(),
        "mean": attention.mean(),
    }
    path = tmp_path / f"map.{suffix}"
    changed[how].save(path)
    assert same(AttentionMap.load(path), changed[how])


@pytest.mark.parametrize("suffix", EXACT)
def test_every_float_comes_back(tmp_path: Path, suffix: str) -> None:
    """Weights from next to nothing to one, with all their bits."""
    random = np.random.default_rng(1)
    drawn = random.integers(0, np.float32(1).view(np.int32), size=(2, 3, 4, 500), dtype=np.int32).view(np.float32)
    source = side_of_words([["a"]] * 499)
    attention = AttentionMap(source, side_of_words([["b"]] * 3), "cross", drawn)
    attention.save(tmp_path / f"map.{suffix}")
    assert np.array_equal(AttentionMap.load(tmp_path / f"map.{suffix}").weights, attention.weights)


@pytest.mark.parametrize("suffix", EXACT)
def test_tokens_may_hold_anything(tmp_path: Path, suffix: str) -> None:
    text = "a\tb\nc\\\r\u2028# \x1b[31m"
    side = Side(text, (text, "\t", "</s>"), ((0, len(text)), (1, 2), (len(text), len(text))), (0, 0, None))
    attention = AttentionMap(side, side, "encoder", np.eye(3)[None, None])
    path = tmp_path / f"map.{suffix}"
    attention.save(path)
    assert same(AttentionMap.load(path), attention)
    if suffix == "tsv":
        assert path.read_bytes().count(b"\n") == 2 + 3


@pytest.mark.parametrize("suffix", EXACT)
def test_the_same_map_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    attention = random_map(*PAIR)
    attention.save(tmp_path / f"a.{suffix}")
    attention.save(tmp_path / f"b.{suffix}")
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_a_table_can_be_read_by_anything(tmp_path: Path) -> None:
    attention = random_map(*PAIR, layers=2, heads=2).without_sinks()
    attention.save(tmp_path / "map.tsv")
    first, names, *lines = (tmp_path / "map.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
    assert first.startswith("# {")
    assert names.split("\t") == ["layer", "head", "target", "hidden", "▁학생", "입니다", "▁😀"]
    assert len(lines) == 2 * 2 * 4
    cells = lines[5].split("\t")
    assert cells[:3] == ["0", "1", "dent"]
    np.testing.assert_allclose([float(cell) for cell in cells[4:]], attention.weights[0, 1, 1], rtol=1e-6)


def test_json_has_short_numbers(tmp_path: Path) -> None:
    side = side_of_words([["a"]])
    AttentionMap(side, side, "cross", np.array([[[[0.1, 0.9], [0, 1]]]])).save(tmp_path / "map.json")
    saved = json.loads((tmp_path / "map.json").read_text())
    assert saved["weights"] == [[[[0.1, 0.9], [0.0, 1.0]]]]
    assert saved["source"] == {"text": "a", "tokens": ["▁a", "</s>"], "spans": [[0, 1], [1, 1]], "words": [0, None]}


def test_a_text_file_is_the_drawing(tmp_path: Path) -> None:
    attention = random_map(*PAIR)
    attention.save(tmp_path / "map.txt")
    text = (tmp_path / "map.txt").read_text(encoding="utf-8")
    assert "★" in text
    assert "입니다" in text
    assert "\x1b" not in text


def test_an_unknown_suffix_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"map.gif: a map can be saved as .json, .tsv, .npz, .txt, .svg, .png, .pdf"):
        random_map(*PAIR).save(tmp_path / "map.gif")
    with pytest.raises(ConfigError, match=r"read from .json, .tsv, .npz"):
        AttentionMap.load(tmp_path / "map.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be written"):
        random_map(*PAIR).save(tmp_path / "none" / "map.json")
    with pytest.raises(DataError, match="no such file"):
        AttentionMap.load(tmp_path / "map.json")


@pytest.mark.parametrize("suffix", EXACT)
def test_a_file_cut_short_or_of_another_kind_is_one_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"map.{suffix}"
    random_map(*PAIR, heads=2).save(path)
    whole = path.read_bytes()
    for content in (
        *(whole[:cut] for cut in range(0, len(whole) - 1, 41)),
        b"[]",
        b"# []\n\n",
        b"\xff\xfe",
        b"PK\x03\x04",
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match="not a map of attention"):
            AttentionMap.load(path)


CHANGES = [
    {"kind": "other"},
    {"level": None},
    {"weights": [[[[1.0]]]]},
    {"weights": [[1, 2], [3]]},
    {"weights": "x"},
    {"layers": [1]},
    {"hidden": [1.0]},
    {"source": None},
    {"version": "1"},
    {"format": "seq2see tokenizer"},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_changed_file_is_one_line(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "map.json"
    random_map(*PAIR).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(DataError, match="not a map of attention"):
        AttentionMap.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"words": [0, 0, 7, None]},
        {"words": [0, 0, -1, None]},
        {"words": [0, 0, 1.5, None]},
        {"spans": [[0, 99], [0, 1], [0, 1], [0, 0]]},
        {"tokens": ["a", "b", "c", 4]},
        {"tokens": ["a", "b", "c", "\ud800"]},
        {"text": 3},
    ],
    ids=str,
)
def test_a_changed_side_is_one_line(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "map.json"
    random_map(*PAIR).save(path)
    saved = json.loads(path.read_text())
    saved["source"] |= change
    path.write_text(json.dumps(saved))
    with pytest.raises(DataError, match="not a map of attention"):
        AttentionMap.load(path)


def test_a_newer_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    random_map(*PAIR).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 3}))
    with pytest.raises(DataError, match="version 3 is newer than 2"):
        AttentionMap.load(path)


def test_an_archive_with_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.npz"
    np.savez(path, frame=np.array([{"a": 1}], dtype=object), weights=np.ones((1, 1, 1, 1)))
    with pytest.raises(Seq2SeeError, match="not a map of attention"):
        AttentionMap.load(path)


def test_a_packed_map_that_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "map.npz"
    side = side_of_words([["a"]] * 80)
    size = len(side.tokens)
    AttentionMap(side, side, "cross", np.full((1, 1, size, size), 1 / size)).save(path)
    AttentionMap.load(path)
    monkeypatch.setattr("seq2see.look.map.files._LARGEST", 10_000)
    assert path.stat().st_size < 10_000 < 4 * size**2
    with pytest.raises(DataError, match="not a map of attention"):
        AttentionMap.load(path)


def test_a_packed_map_that_claims_too_much_is_refused(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (2**20, 2**40)})
    for names in (["frame.npy"], ["weights.npy", "frame.npy"]):
        with zipfile.ZipFile(tmp_path / "map.npz", "w") as packed:
            for name in names:
                packed.writestr(name, header.getvalue())
        with pytest.raises(DataError, match="not a map of attention"):
            AttentionMap.load(tmp_path / "map.npz")


@pytest.mark.parametrize("weights", [10**400, [[[[10**400]]]], [[[[1e999]]]]], ids=["number", "nested", "infinite"])
def test_numbers_that_no_float_holds_are_refused(tmp_path: Path, weights: object) -> None:
    path = tmp_path / "map.json"
    side = side_of_words([["a"]])
    AttentionMap(side, side, "cross", np.array([[[[0.1, 0.9], [0, 1]]]])).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"weights": weights}))
    with pytest.raises(DataError, match="not a map of attention"):
        AttentionMap.load(path)
