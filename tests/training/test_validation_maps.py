"""What training keeps of its validations: three sentences with their outputs, and the map of one of them."""

import base64
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seq2see
from seq2see.look.map.packing import pack
from seq2see.runs.config import METRICS, VALIDATION_MAPS
from seq2see.training.translation import spread_places
from seq2see.training.validation_maps import MOST, ValidationMaps

PAIRS = [
    (" ".join(word), " ".join(reversed(word))) for word in ("abc", "bca", "cab", "acbd", "dcba", "bdac", "adbc")
] * 4
SETTINGS = {
    "data": {"valid_pairs": 5},
    "training": {
        "steps": 9,
        "validate_every": 3,
        "save_every": 3,
        "threads": 1,
        "batch_tokens": 64,
        "stop_metric": "loss",
    },
}

SHOWN = [PAIRS[place] for place in spread_places([source for source, _ in PAIRS[:5]], 3)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def train(out: Path, family: str) -> seq2see.Translator:
    return seq2see.train(PAIRS, valid=PAIRS[:5], out=out, model=family, size="tiny", settings=SETTINGS, quiet=True)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> seq2see.Translator:
    return train(tmp_path_factory.mktemp("maps") / "run", "rnnsearch")


def test_each_validation_keeps_three_sentences(trained: seq2see.Translator) -> None:
    validations = [entry for entry in lines(trained.path / METRICS) if "validation" in entry]
    assert [entry["step"] for entry in validations] == [3, 6, 9]
    for entry in validations:
        assert [sample[:2] for sample in entry["samples"]] == [list(pair) for pair in SHOWN]
    said = [trained.translate(source, beam=1).text for source, _ in SHOWN]
    best = min(validations, key=lambda entry: entry["validation"]["loss"])
    assert [sample[2] for sample in best["samples"]] == said


def test_sentences_differ_and_reach_from_short_to_long() -> None:
    texts = ["aa", "aa", "aa", "a", "aaaaaa", "aaaa", "aaaaa", "aaa"]
    assert [texts[place] for place in spread_places(texts, 3)] == ["aa", "aaaa", "aaaaaa"]
    assert spread_places(["b", "a", "b"], 3) == [0, 1]
    assert spread_places([], 3) == []


def test_each_validation_keeps_the_map_of_the_longest_of_them(trained: seq2see.Translator) -> None:
    kept = lines(trained.path / VALIDATION_MAPS)
    assert [entry["step"] for entry in kept] == [3, 6, 9]
    source, target = max(SHOWN, key=lambda pair: len(pair[1]))
    assert {(entry["source"], entry["target"]) for entry in kept} == {(source, target)}
    validations = [entry for entry in lines(trained.path / METRICS) if "validation" in entry]
    best = min(validations, key=lambda entry: entry["validation"]["loss"])
    expected = trained.look(source, target)
    assert expected is not None
    (own,) = [entry for entry in kept if entry["step"] == best["step"]]
    packed = pack(expected)
    assert {name: own["map"][name] for name in packed if name not in ("cells", "scales")} == {
        name: value for name, value in packed.items() if name not in ("cells", "scales")
    }
    for mine, theirs in zip(own["map"]["scales"], packed["scales"], strict=True):
        numbers = [np.frombuffer(base64.b64decode(text), dtype="<f4") for text in (mine, theirs)]
        np.testing.assert_allclose(*numbers, atol=1e-5)
    assert kept[0]["map"]["cells"] != kept[-1]["map"]["cells"]


def test_a_family_without_attention_keeps_no_map(tmp_path: Path) -> None:
    assert train(tmp_path / "run", "rnn").translate("a").maps == {}
    assert not (tmp_path / "run" / VALIDATION_MAPS).exists()


def picture(step: int) -> dict[str, Any]:
    return {"source": "a", "target": "b", "map": {"cells": [str(step)]}}


def test_there_are_never_more_than_so_many_and_the_newest_is_among_them(tmp_path: Path) -> None:
    maps = ValidationMaps(tmp_path, 0)
    for number in range(1, 5 * MOST):
        maps.add(10 * number, number, picture(10 * number))
        kept = lines(tmp_path / VALIDATION_MAPS)
        assert len(kept) <= MOST
        assert kept[-1]["step"] == 10 * number
        assert [entry["step"] for entry in kept] == sorted(entry["step"] for entry in kept)
    gaps = {later["step"] - earlier["step"] for earlier, later in pairwise(kept[:-1])}
    assert len(gaps) == 1


@pytest.mark.parametrize("cut", [7, MOST + 5, 3 * MOST])
def test_a_resumed_run_takes_back_what_came_later_and_half_lines(tmp_path: Path, cut: int) -> None:
    """Killed after `cut + 3` validations, with its last checkpoint at `cut`: it ends as one that was left alone."""
    for folder in (tmp_path / "whole", tmp_path / "killed"):
        folder.mkdir()
    whole = ValidationMaps(tmp_path / "whole", 0)
    killed = ValidationMaps(tmp_path / "killed", 0)
    for number in range(1, cut + 4):
        killed.add(number, number, picture(number))
    with (tmp_path / "killed" / VALIDATION_MAPS).open("ab") as file:
        file.write(b'{"step": 9')
    resumed = ValidationMaps(tmp_path / "killed", cut)
    for number in range(1, 4 * MOST):
        whole.add(number, number, picture(number))
        if number > cut:
            resumed.add(number, number, picture(number))
    ended = [lines(tmp_path / name / VALIDATION_MAPS) for name in ("whole", "killed")]
    assert [entry["step"] for entry in ended[0]] == [entry["step"] for entry in ended[1]]
