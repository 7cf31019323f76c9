"""Study files: what they cross, and what is said about those that are wrong."""

import sys
import tomllib
from pathlib import Path

import pytest
from small_studies import SMALL, write_study

from seq2see.cli import main
from seq2see.study.definition.cells import baselines_of, cells_of, conditions_of
from seq2see.study.definition.config import make_study, read_study
from seq2see.study.definition.identity import cell_digest, check_settings, sets_of
from seq2see.study.definition.widths import equal_sizes
from seq2see.study.plan import plan_study

GRID = """
title = "Grid"
baseline = { scope = "global" }
[budget]
minutes = 10
[base]
data = { train = ["builtin:copy"] }
[axes.score]
dot = { model.attention.score = "dot" }
location = { model.attention.score = "location" }
[axes.scope]
global = {}
local = { model.attention.scope = "local-m" }
[[exclude]]
score = "location"
scope = ["local"]
reason = "it has no content to look for"
[[cells]]
name = "none"
seeds = [3, 4]
settings = { model = { family = "rnn" } }
"""


def said(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    monkeypatch.setattr(sys, "argv", ["seq2see", "study", str(path), "--plan", *more])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


def test_axes_are_crossed_and_exclusions_left_out() -> None:
    study = make_study(tomllib.loads(GRID))
    conditions = conditions_of(study)
    assert [condition.name for condition in conditions] == ["dot-global", "dot-local", "location-global", "none"]
    assert baselines_of(study, conditions) == {
        "dot-global": "dot-global",
        "dot-local": "dot-global",
        "location-global": "location-global",
    }
    cells = cells_of(study, conditions)
    assert [cell.name for cell in cells if cell.condition.name == "none"] == ["none-seed3", "none-seed4"]
    assert cells[1].settings["model"]["attention"] == {"score": "dot", "scope": "local-m"}
    assert {cell.settings["training"]["time_limit"] for cell in cells} == {600.0}
    assert {cell.settings["training"]["clock"] for cell in cells} == {"cpu"}


def test_a_budget_of_tokens_becomes_updates() -> None:
    text = SMALL.replace("updates = 6", "tokens = 1000")
    study = make_study(tomllib.loads(text))
    assert cells_of(study, conditions_of(study))[0].settings["training"]["steps"] == 1000 // 64


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("seeds =", "seads =", "seads is unknown; did you mean 'seeds'?"),
        ("[axes.score]", "[axes.score]\n[axes.empty]\n[axes.score2]", "axes.score is empty: give it values"),
        ("updates = 6", "updates = 0", "budget.updates = 0: input should be greater than or equal to 1"),
        ("updates = 6", "updates = 6\nminutes = 1", "budget: give one of minutes, updates and tokens"),
        ("updates = 6", "hours = 1", "budget.hours is unknown"),
        ('["cer", "exact"]', '["cre"]', "there is no metric 'cre'; did you mean 'cer'?"),
        ("seeds = [1, 2]", "seeds = [1, 1]", "seeds: a seed stands there twice"),
        ("seeds = [1, 2]", "seeds = []", "seeds = []:"),
        ('baseline = "general"', 'baseline = "generel"', "baseline = 'generel' is no cell; did you mean 'general'?"),
        ('baseline = "general"', 'baseline = { scor = "dot" }', "baseline.scor is no axis; did you mean 'score'?"),
        ("tokenizer = {", "tokeniser = {", "base.tokeniser is unknown; did you mean 'tokenizer'?"),
        ("warmup = 2", "wormup = 2", "general: training.wormup is unknown; did you mean 'warmup'?"),
        ("warmup = 2", "seed = 2", "general: training.seed is for the study to say: seeds"),
        ("warmup = 2", "steps = 2", "general: training.steps is for the study to say: [budget]"),
        ('score = "dot"', 'score = "dto"', "dot: model.attention.score = 'dto': input should be"),
        ("builtin:copy,count=100", "nowhere.tsv", "nowhere.tsv: no such file"),
        ("builtin:copy,count=100", "builtin:cpy", "cpy"),
        ('title = "Small"', "", "title is missing"),
        ('title = "Small"', "title = ", "not a TOML file"),
        ("\ndot = {", '\n"do/t" = {', "is no name for a cell"),
        (
            "[axes.score]",
            '[[exclude]]\nscroe = "dot"\n[axes.score]',
            "exclude.scroe is no axis; did you mean 'score'?",
        ),
        ("[axes.score]", '[[exclude]]\nscore = ["dot", "general"]\n[axes.score]', "there are no cells"),
        ("[axes.score]", '[[cells]]\nname = "dot"\n[axes.score]', "two cells are called dot"),
        ("[axes.score]", "[base.alignment]\ngold = 'x'\n[axes.score]", "general: alignment needs pairs"),
        ("[axes.score]", "[base.test]\ntest = 'x'\n[axes.score]", "general: test.test is a list of pairs"),
    ],
)
def test_what_is_wrong_is_one_line(
    old: str,
    new: str,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert old in SMALL
    assert expected in said(write_study(tmp_path, SMALL.replace(old, new, 1)), monkeypatch, capsys)


def test_a_file_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no such study file" in said(tmp_path / "none.toml", monkeypatch, capsys)


def test_the_plan_counts_cells_and_hours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_study(tmp_path, SMALL.replace("updates = 6", "minutes = 30"))
    monkeypatch.setattr(sys, "argv", ["seq2see", "study", str(path), "--plan", "--jobs", "2"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    printed = capsys.readouterr().out
    assert "4 cells (2 conditions), each with a budget of 30 CPU minutes" in printed
    assert "0 done, 4 to train" in printed
    assert "hours: 2.0 of the processor; 1 h 00 min with 2 jobs" in printed


def test_a_digest_is_of_content_not_of_places(tmp_path: Path) -> None:
    digests = []
    for name, line in (("a", "1 2\t1 2\n"), ("b", "1 2\t1 2\n"), ("c", "1 2\t2 1\n")):
        pairs = tmp_path / name / "pairs.tsv"
        pairs.parent.mkdir()
        pairs.write_text(line * 3)
        text = SMALL.replace('["builtin:copy,count=100"]', f'["{pairs}"], valid = ["{pairs}"]')
        study = make_study(tomllib.loads(text))
        cell = cells_of(study, conditions_of(study))[0]
        digests.append((cell_digest(cell, None, {}), sets_of(cell, study)[0].digest))
    assert digests[0] == digests[1]
    assert digests[0][0] != digests[2][0]
    assert digests[0][1] != digests[2][1]


def test_pairs_without_validation_are_refused(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("1 2\t1 2\n")
    path = write_study(tmp_path, SMALL.replace("builtin:copy,count=100", str(pairs)))
    with pytest.raises(ValueError, match=r"^general: data\.valid is missing"):
        plan_study(path, tmp_path / "out")


STUDIES = sorted((Path(__file__).parents[2] / "studies").glob("*.toml"))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_our_own_studies_have_settings_that_train_takes_and_the_hours_that_their_guide_says(path: Path) -> None:
    study = read_study(path)
    conditions = conditions_of(study)
    baselines_of(study, conditions)
    cells = cells_of(study, conditions)
    check_settings(cells)
    assert study.budget.minutes
    row = f"| {len(cells)} | {len(cells) * study.budget.minutes / 60:.1f} |"
    guide = (path.parents[1] / "docs" / "study.md").read_text(encoding="utf-8")
    assert next(line for line in guide.splitlines() if line.startswith(f"| `studies/{path.name}`")).endswith(row)


@pytest.mark.slow
@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_model_of_our_own_studies_comes_to_its_parameters(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Widths that grow by one factor may no longer fit each other: that would end a study before its first cell."""
    monkeypatch.chdir(path.parents[1])
    study = read_study(path)
    if study.equal_parameters is None:
        pytest.skip("models as they are")
    if not all(Path(name).exists() for name in study.base["data"]["train"]):
        pytest.skip("its data is not here")
    plan = plan_study(path, tmp_path)
    cells = {planned.cell.condition.name: planned.cell for planned in plan.cells}
    baselines = {name: cells[plan.baselines.get(name, name)] for name in cells}
    sized = equal_sizes(list(cells.values()), baselines, study.equal_parameters, tmp_path, lambda line: None)
    assert sized.keys() == cells.keys()
