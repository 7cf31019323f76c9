"""`seq2see compare` as a person meets it: files, runs, both; numbers, chart, sentences; and how it refuses."""

import json
import random
import sys
from pathlib import Path

import pytest

from seq2see.cli import main
from seq2see.corpora import examples

PAIRS = [(example.source, example.target) for example in examples("phrases", "test", limit=60)]


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
    """A test set, a system that falls with length, and one that does not."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(4)
    targets = [target for _, target in PAIRS]
    words = [word for target in targets for word in target.split()]

    def write(name: str, share: float, growth: float) -> None:
        lines = []
        for target in targets:
            wrong = share + growth * len(target.split())
            lines.append(" ".join(draw.choice(words) if draw.random() < wrong else word for word in target.split()))
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    write("falls.en", 0.0, 0.03)
    write("stays.en", 0.05, 0.0)
    (tmp_path / "test.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS), encoding="utf-8")
    return tmp_path


def test_two_files_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert seq2see("compare", "falls.en", "stays.en", "test.tsv", "--examples", "2", "--edges", "5,10,15") == 0
    said = capsys.readouterr().out
    assert "BLEU: B is better" in said
    assert "● A falls.en   ○ B stays.en" in said
    assert said.count("reference  ") >= 3
    assert "where A wins most" in said
    assert "where B wins most" in said
    assert "nrefs:1|bs:1000|ar:10000|seed:12345" in said
    assert "command seq2see compare falls.en stays.en test.tsv --examples 2 --edges 5,10,15" in said
    assert "wins most" not in _said(capsys, "compare", "falls.en", "stays.en", "test.tsv", "--examples", "0")


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert seq2see(*words) == 0
    return capsys.readouterr().out


def test_json_tells_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("compare", "falls.en", "stays.en", "test.tsv", "--json", "--metric", "chrf,bleu,ter")
    found = json.loads(_said(capsys, *words))
    assert [score["metric"] for score in found["scores"]] == ["chrf", "bleu", "ter"]
    assert all(score["winner"] == "b" for score in found["scores"])
    assert found["by_length"]["metric"] == "chrf"
    gaps = [bucket["difference"]["score"] for bucket in found["by_length"]["buckets"] if bucket["sentences"] > 3]
    assert gaps[-1] > gaps[0]
    assert sum(found["ahead"].values()) == found["sentences"] == len(PAIRS)
    assert found == json.loads(_said(capsys, *words))  # the same seed, the same numbers
    assert json.loads(_said(capsys, *words, "--seed", "1"))["scores"][0]["a"]["low"] != found["scores"][0]["a"]["low"]


def test_a_run_and_a_file_and_two_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fast = ["--set", "training.steps=2", "--set", "training.threads=1", "--set", "data.valid_pairs=8", "--size", "tiny"]
    for name in ("rnn", "luong"):
        assert seq2see("train", "test.tsv", "--model", name, "--out", name, *fast) == 0
    capsys.readouterr()
    quick = ("--limit", "6", "--beam", "1", "--search", "max_length=12", "--json")
    assert seq2see("evaluate", "rnn", "test.tsv", "--output", "rnn.en", *quick) == 0
    capsys.readouterr()
    one = json.loads(_said(capsys, "compare", "rnn", "luong", "test.tsv", *quick))
    other = json.loads(_said(capsys, "compare", "rnn.en", "luong", "test.tsv", *quick))
    assert one["scores"] == other["scores"]
    assert (one["a"], other["a"]) == ("rnn", "rnn.en")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("falls.en", "test.tsv"), "compare needs two systems and a test set"),
        (("falls.en", "none.en", "test.tsv"), "none.en: no such file"),
        (("falls.en", "short.en", "test.tsv"), "short.en: 1 lines, but test.tsv has 60 pairs"),
        ((".", "falls.en", "test.tsv"), "not a run folder (it has no config.json)"),
        (("falls.en", "stays.en", "test.tsv", "--metric", "meteor"), "there is no metric 'meteor'"),
    ],
)
def test_mistakes_get_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    (folder / "short.en").write_text("a\n")
    assert seq2see("compare", *words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert expected in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_one_sentence_and_empty_outputs_work(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "one.tsv").write_text("안녕\thello there you all\n", encoding="utf-8")
    (folder / "a.txt").write_text("\n")
    (folder / "b.txt").write_text("hello there you all\n")
    said = _said(capsys, "compare", "a.txt", "b.txt", "one.tsv")
    assert "no difference that this test set can show" in said
    assert "1 sentence is too few to trust an interval" in said
    assert "1 of 1 outputs of a.txt are empty" in said


def test_the_report_holds_it_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert seq2see("compare", "falls.en", "stays.en", "test.tsv") == 0
    assert "report.html written" in capsys.readouterr().err
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "falls.en" in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    (folder / "report.html").unlink()
    assert seq2see("compare", "falls.en", "stays.en", "test.tsv", "--json") == 0
    assert not (folder / "report.html").exists()
    assert seq2see("compare", "falls.en", "stays.en", "test.tsv", "--json", "--report", "other.html") == 0
    assert (folder / "other.html").exists()


def test_only_a_report_of_its_own_is_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("compare", "falls.en", "stays.en", "test.tsv", "--examples", "0")
    (folder / "report.html").write_text("<html>my thesis</html>")
    for options, name in (((), "report.html"), (("--json", "--report", "report.html"), "report.html")):
        assert seq2see(*words, *options) == 2
        told = capsys.readouterr()
        assert told.err == (
            f"seq2see: {name}: is there already, and seq2see did not write it; name another file with --report\n"
        )
        assert told.out == ""
    assert (folder / "report.html").read_text() == "<html>my thesis</html>"
    assert seq2see(*words, "--report", "ours.html") == 0
    first = (folder / "ours.html").read_text()
    assert seq2see(*words, "--report", "ours.html") == 0  # its own
    (folder / "ours.html").write_text(first.replace('<meta name="generator" content="seq2see">\n', ""))
    assert seq2see(*words, "--report", "ours.html") == 0  # one of an earlier version
    (folder / "ours.html").write_text("")
    assert seq2see(*words, "--report", "ours.html") == 0
    capsys.readouterr()
    for name in ("falls.en", "test.tsv"):
        before = (folder / name).read_text()
        assert seq2see(*words, "--report", name) == 2
        assert "is also read" in capsys.readouterr().err
        assert (folder / name).read_text() == before
