"""docs/results.md says of our studies what their committed results say, once they are there."""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from small_studies import SMALL, run, write_study

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("study_results", ROOT / "bench" / "study_results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_document_has_a_row_for_each_condition_and_nothing_that_nobody_measured(
    script: ModuleType, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run(write_study(tmp_path, SMALL.replace("seeds = [1, 2]", "seeds = [1]")), out)
    (tmp_path / "small").mkdir()
    shutil.copy(out / "results.json", tmp_path / "small")
    marked = "before\n<!-- study small -->\n{}<!-- end of small -->\nafter\n"
    text = script.written(marked.format("| a row that nobody measured |\n"), tmp_path)
    first, _, last = text.partition("<!-- end of small -->")
    state, scores, title, lengths = first.partition("\n")[2].partition("\n")[2].strip().split("\n\n")
    head, rule, *rows = scores.splitlines()
    assert state.startswith("2 of 2 cells")
    assert (text.splitlines()[0], last) == ("before", "\nafter\n")
    assert head.count("|") == rule.count("|") == rows[0].count("|")
    assert [row.split(" | ")[0] for row in rows] == ["| `general`", "| `dot`"]
    assert "baseline" in rows[0]
    assert "by length" in title
    assert [row.split(" | ")[0] for row in lengths.splitlines()[2:]] == ["| general", "| dot"]
    assert script.written(text, tmp_path) == text


def test_the_tables_of_our_document_are_what_the_committed_results_say(script: ModuleType) -> None:
    document = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert script.written(document) == document
    for results in (ROOT / "studies").glob("*/results.json"):
        assert f"<!-- study {results.parent.name} -->" in document
        assert (results.parent / "table.md").exists()
