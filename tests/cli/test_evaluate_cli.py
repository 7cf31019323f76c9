"""`seq2see evaluate` as a person meets it: outputs that are there, a trained run, and how it refuses."""

import io
import json
import multiprocessing
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU

from seq2see.cli import main
from seq2see.corpora import examples
from seq2see.runs.evaluations import read_evaluations
from seq2see.runs.folder import load_run
from seq2see.session import bulk
from seq2see.training.translation import translate

REFERENCES = ["I go to school now .", "the cat sat on the mat .", "it is a very good day today , is it not ?", "yes"]
SOURCES = ["나는 지금 학교에 간다 .", "고양이가 앉았다 .", "오늘은 참 좋은 날이다 , 그렇지 않니 ?", "네"]
OUTPUTS = ["I go to school now .", "a cat sat on the mat .", "it is good", ""]


def seq2see(*words: str) -> int:
    """Runs the command line in this process; its exit code."""
    before = sys.argv
    sys.argv = ["seq2see", *words]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a test set and outputs for it."""
    monkeypatch.chdir(tmp_path)
    pairs = zip(SOURCES, REFERENCES, strict=True)
    (tmp_path / "test.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
    (tmp_path / "out.txt").write_text("".join(f"{text}\n" for text in OUTPUTS), encoding="utf-8")
    return tmp_path


@pytest.fixture(scope="session")
def copy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was trained for seconds."""
    out = tmp_path_factory.mktemp("runs") / "copy"
    fast = ["--set", "training.steps=20", "--set", "training.threads=1", "--set", "data.valid_pairs=8"]
    given = ["builtin:copy,count=600", "--model", "rnnsearch", "--size", "tiny"]
    assert seq2see("train", *given, "--out", str(out), *fast) == 0
    return out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line that a mistake gets; exit code 2."""
    assert seq2see("evaluate", *words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.strip().splitlines()) == 1
    return said.err


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict:  # type: ignore[type-arg]
    """What --json says."""
    assert seq2see("evaluate", *words, "--json") == 0
    return dict(json.loads(capsys.readouterr().out))


def test_outputs_are_scored_without_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert seq2see("evaluate", "--hypotheses", "out.txt", "test.tsv") == 0
    said = capsys.readouterr()
    expected = BLEU(force=True).corpus_score(OUTPUTS, [REFERENCES])
    rows = {line.split()[0]: line.split() for line in said.out.splitlines() if line.strip()}
    assert rows["exact"][1] == "nrefs:1|bs:1000|seed:12345|case:mixed|unit:sentence|version:seq2see-0.1.0"
    assert f"BLEU      {expected.score:.1f}" in said.out
    assert "tok:13a|smooth:exp" in said.out
    assert "note: 1 of 4 outputs of out.txt are empty" in said.out
    assert "command seq2see evaluate --hypotheses out.txt test.tsv" in said.out
    assert "by length" not in said.out


def test_json_has_the_same_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "--hypotheses", "out.txt", "test.tsv", "--by-length", "--edges", "4,7", "--metric", "bleu,wer")
    assert [score["metric"] for score in found["scores"]] == ["bleu", "wer"]
    expected = BLEU(force=True).corpus_score(OUTPUTS, [REFERENCES]).score
    assert found["scores"][0]["score"] == pytest.approx(expected)
    buckets = found["by_length"]["buckets"]
    assert [(one["from"], one["to"], one["sentences"]) for one in buckets] == [(1, 4, 2), (5, 7, 1), (8, None, 1)]
    assert found["sentences"] == 4
    assert "by_length" not in told(capsys, "--hypotheses", "out.txt", "test.tsv")


def test_quality_by_length_is_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--hypotheses", "out.txt", "test.tsv", "--by-length", "--length-of", "reference", "--metric", "chrf")
    assert seq2see("evaluate", *words) == 0
    said = capsys.readouterr().out
    assert "chrF2 by length: words of the reference" in said
    assert "● out.txt" in said
    assert re.search(r"6-10 +2 +\d+\.\d ± *\d+\.\d", said)
    assert re.search(r"11-15 +1 +\d+\.\d *\n", said)  # one sentence has no interval


def test_outputs_can_come_from_a_pipe(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((folder / "out.txt").read_bytes())))
    assert told(capsys, "--hypotheses", "-", "test.tsv", "--metric", "exact")["scores"][0]["score"] == 25


def test_scoring_needs_no_torch(folder: Path) -> None:
    script = (
        "import sys; sys.argv = ['seq2see', 'evaluate', '--hypotheses', 'out.txt', 'test.tsv', '--by-length']\n"
        "from seq2see.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stdout.splitlines()[-1] == "False"


def test_a_run_is_scored_on_the_unseen_split(copy_run: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (str(copy_run), "builtin:copy", "--limit", "12", "--beam", "1", "--metric", "chrf,per")
    found = told(capsys, *words, "--output", "kept.txt", "--search", "length_penalty=none")
    pairs = list(examples("copy", "test", limit=12))
    kept = (folder / "kept.txt").read_text(encoding="utf-8").splitlines()
    run = load_run(copy_run)
    assert kept == translate(
        run.model, run.tokenizers, [pair.source for pair in pairs], next(run.model.parameters()).device
    )
    again = told(capsys, "--hypotheses", "kept.txt", "builtin:copy", "--limit", "12", "--metric", "chrf,per")
    assert found["scores"] == again["scores"]
    assert found["system"] == str(copy_run)
    assert seq2see("evaluate", *words, "--by-length") == 0
    assert str(copy_run) in capsys.readouterr().out


def test_an_evaluation_is_kept_with_its_run(copy_run: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "pairs.tsv").write_text("a b\ta b\nb a c\tb a c\n", encoding="utf-8")
    words = (str(copy_run), "pairs.tsv", "--metric", "chrf", "--beam", "1")
    told(capsys, *words, "--limit", "1")  # a part of a test set is no result to keep
    told(capsys, *words, "--with", str(copy_run))
    assert read_evaluations(copy_run) == []
    found = told(capsys, *words)
    (kept,) = read_evaluations(copy_run)
    assert (kept["scores"], kept["test"]) == (found["scores"], "pairs.tsv")
    assert [one["source"] for bucket in kept["worst"] for one in bucket]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_workers_and_ensembles_say_the_same(
    copy_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers that are forked need not import torch again; those of `translate` are started as a user starts them."""
    monkeypatch.setattr(bulk, "get_context", lambda _: multiprocessing.get_context("fork"))
    words = ("builtin:copy", "--limit", "40", "--metric", "chrf")
    alone = told(capsys, str(copy_run), *words)["scores"]
    assert told(capsys, str(copy_run), *words, "--workers", "2")["scores"] == alone
    together = told(capsys, str(copy_run), *words, "--with", str(copy_run))
    assert together["scores"][0]["score"] == pytest.approx(alone[0]["score"], abs=1e-6)
    assert together["system"] == f"{copy_run} + {copy_run}"


def test_empty_sources_stay_in_place(copy_run: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "holes.tsv").write_text("\t\na b c d e\ta b c d e\n \tx\n", encoding="utf-8")
    found = told(capsys, str(copy_run), "holes.tsv", "--output", "kept.txt")
    assert found["sentences"] == 3
    kept = (folder / "kept.txt").read_text(encoding="utf-8").split("\n")
    assert len(kept) == 4
    assert kept[0].strip() == kept[2].strip() == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "needs a run folder and a test set"),
        (("test.tsv",), "test.tsv: not a run folder"),
        (("none", "test.tsv"), "none: not a run folder"),
        ((".", "test.tsv"), "not a run folder (it has no config.json)"),
        (("--hypotheses", "out.txt"), "needs a test set"),
        (("--hypotheses", "out.txt", "none.tsv"), "none.tsv: no such file"),
        (("--hypotheses", "none.txt", "test.tsv"), "none.txt: no such file"),
        (("--hypotheses", "short.txt", "test.tsv"), "short.txt: 2 lines, but test.tsv has 4 pairs"),
        (("--hypotheses", "out.txt", "test.tsv", "--metric", "blue"), "did you mean 'bleu'"),
        (("--hypotheses", "out.txt", "test.tsv", "--metric", "bleu,bleu"), "name each once"),
        (("--hypotheses", "out.txt", "test.tsv", "--tokenize", "13b"), "did you mean '13a'"),
        (("--hypotheses", "out.txt", "test.tsv", "--edges", "5,x"), "--edges 5,x: expected rising lengths"),
        (("--hypotheses", "out.txt", "test.tsv", "--edges", "5,3"), "expected rising lengths"),
        (("--hypotheses", "out.txt", "test.tsv", "--length-of", "both"), "expected source or reference"),
        (("--hypotheses", "out.txt", "test.tsv", "--resamples", "2"), "too few"),
        (("--hypotheses", "out.txt", "test.tsv", "--limit", "0"), "limit = 0"),
        (("--hypotheses", "out.txt", "test.tsv", "--with", "x"), "--with joins runs"),
        (("--hypotheses", "out.txt", "builtin:nothing"), "no built-in corpus 'nothing'"),
        (("--hypotheses", "out.txt", "test.tsv:2"), "leave the weight away"),
        (
            ("--hypotheses", "out.txt", "test.tsv", "--output", "no/such/kept.txt"),
            "kept.txt: there is no folder no/such",
        ),
    ],
)
def test_mistakes_get_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    (folder / "short.txt").write_text("a\nb\n")
    assert expected in refused(capsys, *words)


def test_a_search_that_cannot_be_is_refused(copy_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, str(copy_run), "builtin:copy", "--limit", "2", "--search", "length_penalty=long")
    assert "length_penalty" in said


def test_help_names_examples() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "seq2see", "evaluate", "--help"], capture_output=True, text=True, check=True
    )
    assert "seq2see evaluate runs/ko-en test.tsv" in done.stdout
    assert "seq2see evaluate --hypotheses output.en test.ko test.en" in done.stdout
