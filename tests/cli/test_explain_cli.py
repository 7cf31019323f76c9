"""`seq2see explain` as a user runs it: numbers, JSON, a script that runs, a lesson; mistakes get one line."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from seq2see.cli import main
from seq2see.session import load

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import FAMILIES, SOURCES, make_run

TEXT = SOURCES[0]
TARGET = "I am a teacher ."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {family: make_run(folder / family, family) for family in FAMILIES}


@pytest.fixture(scope="module")
def run(runs: dict[str, Path]) -> Path:
    return runs["rnnsearch"]


def seq2see(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_explained(
    runs: dict[str, Path],
    family: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert seq2see(monkeypatch, "explain", runs[family], TEXT, "--target", TARGET, "--step", 2) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"{TEXT}\n{TARGET}\n")
    assert "step 2 of" in out
    assert "What to say" in out
    attentive = family not in ("rnn", "bytenet")
    assert ("The weights: softmax" in out) == attentive
    assert ("no attention" in out) != attentive
    assert max(map(cell_len, out.split("\n"))) <= 80


def test_json_holds_what_the_session_looks_at(
    runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for family in ("luong", "transformer"):
        translator = load(runs[family])
        seen = translator.look(TEXT, TARGET)
        assert seen is not None
        layers, heads, steps, _ = seen.weights.shape
        for step in (1, steps):
            given = ["--step", step, "--layer", layers - 1, "--head", heads - 1, "--target", TARGET, "--json"]
            assert seq2see(monkeypatch, "explain", runs[family], TEXT, *given) == 0
            told = json.loads(capsys.readouterr().out)
            np.testing.assert_allclose(told["attention"]["weights"], seen.weights[-1, -1, step - 1], atol=1e-6)
            assert tuple(told["attention"]["tokens"]) == seen.source.tokens
            assert told["target"]["token"] == seen.target.tokens[step - 1]
            assert (told["source_text"], told["target_text"]) == (TEXT, TARGET)
            score = translator.score([TEXT], [TARGET])[0].token_scores[step - 1]
            assert np.log(told["target"]["probability"]) == pytest.approx(score, abs=1e-4)


def test_without_a_target_it_explains_what_it_says(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = load(run).translate(TEXT)
    assert seq2see(monkeypatch, "explain", run, TEXT, "--step", 2, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["steps"] == len(said.token_ids) + 1
    assert told["target"]["id"] == said.token_ids[1]
    assert told["said"] == [said.tokens[0]]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_script_runs(
    runs: dict[str, Path],
    family: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ["explain", runs[family], TEXT, "--target", TARGET, "--step", 3]
    assert seq2see(monkeypatch, *given, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert seq2see(monkeypatch, *given, "--numpy") == 0
    script = capsys.readouterr().out
    space: dict[str, Any] = {}
    exec(script, space)
    if told["attention"] is not None:
        for name in ("scores", "weights", "context"):
            np.testing.assert_allclose(space[name], told["attention"][name], rtol=1e-5, atol=1e-5)
        assert "largest difference from the model" in capsys.readouterr().out
    np.testing.assert_allclose(space["probabilities"], [one["probability"] for one in told["choices"]], atol=1e-6)


def test_what_if_is_explained(run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["explain", run, TEXT, "--target", TARGET, "--step", 2]
    assert seq2see(monkeypatch, *given, "--force", "2:#2=1", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    row = np.array(told["attention"]["weights"])
    assert row.sum() == pytest.approx(1.0)
    assert told["attention"]["changed"]
    words = load(run).look(TEXT, TARGET)
    assert words is not None
    assert [place for place, weight in enumerate(row) if weight] == [
        place for place, word in enumerate(words.source.words) if word == 1
    ]
    assert seq2see(monkeypatch, *given, "--ablate", "cross:0.0", "--json") == 0
    assert not any(json.loads(capsys.readouterr().out)["attention"]["weights"])
    assert seq2see(monkeypatch, *given, "--scale", "#1=0", "--json") == 0
    assert json.loads(capsys.readouterr().out)["attention"]["weights"][0] == 0.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([TEXT, "--target", TARGET, "--step", "0"], "(1 to "),
        ([TEXT, "--target", TARGET, "--step", "-3"], "step = -3, but this target has"),
        ([TEXT, "--target", TARGET, "--step", "99"], "the last one says </s>"),
        ([TEXT, "--target", TARGET, "--layer", "4"], "layers of cross attention are 0 to 0"),
        ([TEXT, "--target", TARGET, "--head", "1"], "there is one head, 0"),
        ([TEXT, "--target", TARGET, "--kind", "decoder"], "no decoder attention"),
        ([TEXT, "--kind", "both"], "--kind both: expected one of"),
        ([TEXT, "--json", "--numpy"], "one of them"),
        ([TEXT, "--language", "ko"], "belong to --lesson"),
        ([TEXT, "--step-by-step"], "belong to --lesson"),
        ([TEXT, "--lesson"], "give it no run"),
        (["   "], "the text is empty"),
        ([], "name a run and a text"),
        ([TEXT, "--force", "2:nowhere=1"], "the source has no word 'nowhere'"),
        ([TEXT, "--ablate", "cross:7.0"], "layers of cross attention are 0 to 0"),
        ([TEXT * 40], "explain one sentence"),
    ],
)
def test_mistakes_get_one_line(
    run: Path,
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert seq2see(monkeypatch, "explain", run, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("seq2see: ")
    assert said in err
    assert err.count("\n") == 1


def test_a_folder_that_is_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seq2see(monkeypatch, "explain", tmp_path, TEXT) == 2
    assert "not a run folder" in capsys.readouterr().err


@pytest.mark.parametrize(("language", "first"), [("en", "Query, key and value"), ("ko", "쿼리, 키, 밸류")])
def test_the_lesson(
    language: str, first: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seq2see(monkeypatch, "explain", "--lesson", "--language", language) == 0
    out, err = capsys.readouterr()
    assert out.startswith(first)
    assert err == ""
    assert [line[0] for line in out.split("\n") if line[1:3] == ". "] == list("123456789")
    assert max(map(cell_len, out.split("\n"))) <= 80


def test_the_lesson_waits_for_its_reader(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert seq2see(monkeypatch, "explain", "--lesson") == 0
    whole = capsys.readouterr().out
    for typed, asked in (("\n" * 20, 11), ("\n\n", 3), ("", 1)):  # nobody there any more: it goes through
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        assert seq2see(monkeypatch, "explain", "--lesson", "--step-by-step") == 0
        out, err = capsys.readouterr()
        assert out == whole
        assert err.count("[Enter]") == asked


def test_an_unknown_language(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert seq2see(monkeypatch, "explain", "--lesson", "--language", "fr") == 2
    assert "known: en, ko" in capsys.readouterr().err
