"""`seq2see translate` as a user runs it: lines stay lines, bad input gets one line."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seq2see import atomic
from seq2see.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import SOURCES, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", "luong", sharp=2.0)


def seq2see(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


NASTY = [
    "나는 학생 입니다 .",
    "",
    "   ",
    "\t",
    "a\u2028b\u0085c\x0bd",
    "\x00\x01\x1b[31m",
    "carriage\rreturn",
    "\ufeffmark",
    "ᛗ" * 50,
    "e\u0301" * 400,
    "마지막",
]


def test_as_many_lines_out_as_in(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes("\n".join(NASTY).encode() + b"\n\xff\xfe broken\n")
    given = ["--search", "max_length=20", "--encoding", "utf-8-replace"]
    assert seq2see(monkeypatch, "translate", run, source, "--out", out, *given) == 0
    content = out.read_bytes().decode()
    assert content.endswith("\n")
    lines = content.removesuffix("\n").split("\n")
    assert len(lines) == len(NASTY) + 1
    assert [line == "" for line in lines].count(True) == 1
    assert lines[2:4] == ["   ", "\t"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt"]


def test_each_line_is_translated_as_if_alone(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Order kept, whatever was sorted on the way: shuffled input gives the same lines shuffled."""
    lines = [f"{source} {number}" for number in range(25) for source in SOURCES]
    (tmp_path / "a").write_text("\n".join(lines))
    (tmp_path / "b").write_text("\n".join(reversed(lines)) + "\n")
    for name in "ab":
        assert seq2see(monkeypatch, "translate", run, tmp_path / name, "-o", tmp_path / f"{name}.out", "--beam", 2) == 0
    forth, back = ((tmp_path / f"{name}.out").read_text().split("\n")[:-1] for name in "ab")
    assert forth == back[::-1]
    assert len(set(forth)) > 20


def test_standard_input_to_standard_output(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """In a process of its own: the test of a reader that goes away."""
    (tmp_path / "in").write_text("나는 학생 입니다 .\n\n그는 책을 읽습니다 .")
    with (tmp_path / "in").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert seq2see(monkeypatch, "translate", run, "--beam", "1") == 0
    out, err = capfdbinary.readouterr()
    assert err == b""
    assert out.count(b"\n") == 3
    assert out.split(b"\n")[1] == b""


def test_alternatives_and_json(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in.txt"
    source.write_text("나는\n\n너는\n")
    assert (
        seq2see(monkeypatch, "translate", run, source, "-o", tmp_path / "n", "--nbest", 7, "--search", "max_length=6")
        == 0
    )  # more than the beam of 5 holds: it is widened
    rows = [line.split("\t") for line in (tmp_path / "n").read_text().split("\n")[:-1]]
    assert [len(row) for row in rows] == [7, 1, 7]
    assert (
        seq2see(
            monkeypatch,
            "translate",
            run,
            source,
            "-o",
            tmp_path / "j",
            "--nbest",
            3,
            "--search",
            "max_length=6",
            "--json",
        )
        == 0
    )
    told = [json.loads(line) for line in (tmp_path / "j").read_text().split("\n")[:-1]]
    assert [one["text"] for one in told[0]["nbest"]] == [
        told[0]["text"],
        *[one["text"] for one in told[0]["nbest"][1:]],
    ]
    assert len(told[0]["token_scores"]) == len(told[0]["tokens"]) + told[0]["ended"]


def test_all_cores_give_the_same_file(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in.txt"
    source.write_text("".join(f"{SOURCES[number % 4]} {number}\n" for number in range(1500)) + "\nlast")
    common = ["translate", run, source, "--beam", 1, "--search", "max_length=5"]
    assert seq2see(monkeypatch, *common, "-o", tmp_path / "one", "--workers", 1) == 0
    assert seq2see(monkeypatch, *common, "-o", tmp_path / "two", "--workers", 2) == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").read_bytes().count(b"\n") == 1502


def test_a_glossary(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.txt").write_text("\n".join(SOURCES) + "\n")
    (tmp_path / "terms.tsv").write_text("학생\tpupil\n\t!teacher\n")
    given = ["--constraints", tmp_path / "terms.tsv", "--prefix", "Well"]
    assert seq2see(monkeypatch, "translate", run, tmp_path / "in.txt", "-o", tmp_path / "out", *given) == 0
    lines = (tmp_path / "out").read_text().split("\n")[:-1]
    assert "pupil" in lines[0]
    assert all(line.startswith("Well") for line in lines)
    assert not any("teacher" in line for line in lines)


def test_samples_repeat(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.txt").write_text("나는\n" * 5)
    for name in "ab":
        given = ["--sample", "--search", "seed=7", "--search", "top_k=20"]
        given += ["--search", "temperature=0.9", "-o", tmp_path / name]
        assert seq2see(monkeypatch, "translate", run, tmp_path / "in.txt", *given) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert len(set((tmp_path / "a").read_text().split("\n"))) > 2


def test_ctrl_c_keeps_what_is_done_and_resume_goes_on(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("".join(f"{SOURCES[number % 4]} {number}\n" for number in range(60_000)))
    command = [sys.executable, "-m", "seq2see", "translate", str(run), str(source), "-o", str(out), "--beam", "1"]
    words = [*command, "--workers", "1", "--search", "max_length=4", "--engine", "torch"]
    # A shell that starts tests in the background lets them ignore Ctrl-C, and their children with them.
    process = subprocess.Popen(
        words, stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    )
    part = tmp_path / "out.txt.seq2see-part"
    deadline = time.monotonic() + 600
    while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=600)
    assert process.returncode == 130
    assert b"--resume\n" in told
    assert f"-o {out}".encode() in told
    assert not out.exists()
    assert 0 < part.read_bytes().count(b"\n") < 60_000
    read = json.loads((tmp_path / "out.txt.seq2see-part.json").read_text())["read"]["pieces"]
    assert read < 60_000
    source.write_text("".join(f"{SOURCES[number % 4]} {number}\n" for number in range(read + 40)))  # enough to compare
    with part.open("ab") as file:
        file.write(b"half a li")
    given = ["--beam", 1, "--workers", 1, "--search", "max_length=4"]
    assert seq2see(monkeypatch, "translate", run, source, "-o", out, *given, "--resume") == 0
    assert seq2see(monkeypatch, "translate", run, source, "-o", tmp_path / "whole", *given) == 0
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_reader_that_goes_away_is_no_bug(run: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("나는 학생\n" * 3000)
    command = (
        f"{sys.executable} -m seq2see translate {run} < {source} --beam 1 --workers 1 --search max_length=3 | head -1"
    )
    ended = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=600)
    assert ended.stderr == b""
    assert ended.stdout.count(b"\n") == 1


def damaged(run: Path, tmp_path: Path, name: str, content: bytes | None) -> Path:
    copy = tmp_path / "damaged"
    copy.mkdir()
    for file in run.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    if content is None:
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(content)
    return copy


def test_bad_runs_get_one_line(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    config = json.loads((run / "config.json").read_text())
    weights = bytearray((run / "model.safetensors").read_bytes())
    weights[-100] ^= 4
    panics = json.loads((run / "tokenizer.source.json").read_text())
    panics["tokenizer"]["model"]["merges"] = [["a"], "b"]
    cases = [
        ("config.json", None, "not a run folder"),
        ("config.json", json.dumps(config | {"version": 99}).encode(), "made by a newer seq2see"),
        ("config.json", b"{", "cannot be read"),
        ("config.json", b"[]", "cannot be read"),
        ("model.safetensors", bytes(weights), "damaged or changed"),
        ("model.safetensors", b"", "damaged or changed"),
        ("manifest.json", b"[]", "cannot be read"),
        ("manifest.json", None, "training has not finished"),
        ("tokenizer.source.json", json.dumps(panics).encode(), "damaged or changed"),
    ]
    for number, (name, content, said) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert seq2see(monkeypatch, "translate", damaged(run, folder, name, content)) == 2, name
        captured = capfd.readouterr()
        assert said in captured.err, name
        assert captured.err.count("\n") == 1, name
        assert captured.out == ""


def test_a_tokenizer_that_makes_the_library_panic(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With a manifest that fits: made by somebody, not damaged on the way."""
    saved = json.loads((run / "tokenizer.source.json").read_text())
    saved["tokenizer"]["model"]["merges"] = [["a"], "b"]
    copy = damaged(run, tmp_path, "tokenizer.source.json", json.dumps(saved).encode())
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["tokenizer.source.json"] = atomic.digest(copy / "tokenizer.source.json")
    atomic.write_json(copy / "manifest.json", manifest)
    assert seq2see(monkeypatch, "translate", copy) == 2
    assert "not a tokenizer that can be used" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--search", "top_k=5"], "--search top_k is for --sample"),
        (["--search", "length_penalty=long"], "length_penalty = 'long'"),
        (["--sample", "--search", "coverage=-1"], "coverage"),
        (["--format", "docx"], "--format docx: expected one of"),
        (["--resume"], "needs --out"),
        (["--resume", "-o", "nothing-here"], "nothing to resume"),
        (["--constraints", "no-such-file"], "no such file"),
    ],
)
def test_bad_options_get_one_line(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    options: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("나는\n")
    assert seq2see(monkeypatch, "translate", run, "in.txt", *options) == 2
    captured = capfd.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert [path.name for path in Path.cwd().iterdir()] == ["in.txt"]
