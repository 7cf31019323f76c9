"""`seq2see learn` as a user runs it: the list, a lesson, files; mistakes get one line and write nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.cells import cell_len

from seq2see.cli import main
from seq2see.learn import CATALOGUE


def seq2see(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


@pytest.mark.parametrize("language", [[], ["--ko"]])
def test_the_list(language: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert seq2see(monkeypatch, "learn", *language) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(cell_len, out.split("\n"))) <= 80
    for number, entry in enumerate(CATALOGUE, start=1):
        assert any(line.split()[:2] == [str(number), entry.name] for line in out.split("\n"))
        summary = entry.summary.ko if language else entry.summary.en
        assert summary.split()[0] in out


def test_the_list_needs_no_torch() -> None:
    script = "import sys; sys.argv = ['seq2see', 'learn']; from seq2see.cli import main\n"
    script += "try:\n    main()\nexcept SystemExit:\n    print(sorted({'torch', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.endswith("[]\n")


def test_a_lesson_with_a_setting(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert seq2see(monkeypatch, "learn", "dot", "--set", "query=4,1", "--set", "sharpness=0.1") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "[4, 1] . [4, 5] = 4 x 4 + 1 x 5 = 21" in out
    assert max(map(cell_len, out.split("\n"))) <= 80
    assert "\x1b" not in out


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page, notebook = tmp_path / "dot.html", tmp_path / "dot.ipynb"
    for path in (page, notebook, page, notebook):  # the second time they take the place of the first
        assert seq2see(monkeypatch, "learn", "dot", "--ko", "-o", path) == 0
        assert str(path) in capsys.readouterr().err
    assert '<html lang="ko">' in page.read_text(encoding="utf-8")
    assert json.loads(notebook.read_text(encoding="utf-8"))["metadata"]["seq2see"]["lesson"] == "dot"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dot.html", "dot.ipynb"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dott"], "there is no lesson 'dott'; did you mean 'dot'?"),
        (["dot", "--set", "quary=1,2"], "quary is unknown; did you mean 'query'?"),
        (["dot", "--set", "query"], "expected a name and a value"),
        (["dot", "--set", "query=1"], "such as query=4,1"),
        (["dot", "--set", "sharpness=-1"], "sharpness = -1: input should be greater than or equal to 0"),
        (["qkv", "--set", "asking=teacher"], "asking = 'teacher'"),
        (["dot", "-o", "{folder}/lesson.pdf"], "can be written as .html or .ipynb"),
        (["dot", "-o", "{folder}/no/lesson.html"], "there is no folder"),
        (["dot", "-o", "{folder}/mine.html"], "seq2see did not write it"),
        (["dot", "-o", "{folder}/mine.ipynb"], "seq2see did not write it"),
        (["--quick"], "name a lesson"),
        (["-o", "{folder}/lesson.html"], "name a lesson"),
    ],
)
def test_mistakes_get_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("mine.html", "mine.ipynb"):
        (tmp_path / name).write_text("{}")
    assert seq2see(monkeypatch, "learn", *(word.format(folder=tmp_path) for word in arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("seq2see: ")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.html", "mine.ipynb"]
    assert (tmp_path / "mine.html").read_text() == "{}"


def test_ctrl_c_keeps_what_is_trained(tmp_path: Path) -> None:
    """Interrupted in its first model: nothing is half-written. That it goes on: tests/learn/test_workshop.py."""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    out = tmp_path / "lesson.html"
    command = [sys.executable, "-m", "seq2see", "learn", "memory", "-o", str(out)]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    lessons = tmp_path / "cache" / "seq2see" / "lessons"
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not list(lessons.glob("memory-tanh-*/metrics.jsonl")):
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert err.strip().split("\n")[-1].startswith("seq2see: stopped; what is trained is kept in ")
    assert not out.exists()
    assert not list(lessons.glob("*.json"))
    run = next(lessons.glob("memory-tanh-*"))
    assert list((run / "checkpoints").iterdir())
