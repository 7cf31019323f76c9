"""Every command of the READMEs and the guides runs, with shortened training, in a folder that has the files they name.

They run in this process, which has torch already; `make test-slow` also gives the README's to a shell, as a user does.
"""

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import seq2see
from seq2see import demo
from seq2see.cli import main
from seq2see.demo import running
from seq2see.demo.plan import FAMILIES
from seq2see.training.reporting import SilentReporter
from seq2see.training.run import new_config, train_run

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```py\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PIPED = re.compile(r'(?:echo "(?P<text>.*)" \| )?seq2see (?P<words>.*?)(?: > (?P<file>\S+))?')
GUIDES = ("train.md", "translate.md", "look.md", "learn.md", "compare.md", "python.md")
# Work on the repository itself, which this very test is part of; the server, which tests/serve starts; folders of other
# programs, which tests/doors makes.
ELSEWHERE = ("make ", "pip ", "seq2see serve", "curl ", "seq2see import", "seq2see export")
DEMO = "seq2see demo --out runs/demo"  # what `make demo` runs


SMALL_VOICE = ("encoder=16", "bank=2", "decoder=32", "attention_width=16", "postnet=16", "lessons.batch=4")


def shortened(words: list[str]) -> list[str]:
    """The same verb, with as little training as there can be."""
    if words[:1] == ["train"] and not {"--resume", "--list-settings"} & {*words}:
        words = [*words, "--set", "training.steps=3", "--set", "training.threads=1"]
        words += [] if {"tacotron", "--from", "--recipe"} & {*words} else ["--size", "tiny"]
        words = [word.replace("builtin:espeak", "builtin:espeak,count=20") for word in words]
    if "tacotron" in words:
        words += [word for setting in SMALL_VOICE for word in ("--set", f"model.{setting}")]
    if "--recipe" in words:
        words = [*words, "builtin:dates,count=400"]
    if words[:2] == ["evaluate", "runs/voice"]:
        words = ["1" if word == "4" else word for word in words]
    if words[:1] == ["learn"] and len(words) > 1 and not words[1].startswith("-"):
        words = [*words, "--quick"]
    if words[:1] == ["demo"]:
        words = [*words, "--seconds", "1", "--pairs", "400"]
    return words


STUDY = """
title = "One cell"
baseline = "tiny"
budget = { updates = 3 }
base.data = { train = ["builtin:copy,count=100"] }
axes.size.tiny = { model = { family = "rnn", size = "tiny" } }
"""

# Stands in front of the real command.
WRAPPER = """#!{python}
import sys
sys.path.insert(0, "{here}")
from test_readme_commands import shortened
from seq2see.cli import main

sys.argv = ["seq2see", *shortened(sys.argv[1:])]
if __name__ == "__main__":  # processes that are spawned read this file as well
    main()
"""


def commands(path: Path) -> list[str]:
    """The lines of all shell blocks, without those for the repository."""
    lines = [line.strip() for block in BLOCK.findall(path.read_text(encoding="utf-8")) for line in block.splitlines()]
    lines = [re.sub(r"^make demo\b", DEMO, line) for line in lines]
    return [line for line in lines if line and not line.startswith((*ELSEWHERE, "#"))]


def bare(command: str) -> str:
    """A command without the remark behind it."""
    return re.sub(r"\s+#.*$", "", command)


def can_teach() -> bool:
    """The built-in voice needs espeak-ng; where it is missing only CI complains."""
    return shutil.which("espeak-ng") is not None or os.environ.get("CI") == "true"


def make_place(folder: Path) -> Path:
    """A user's folder: a translation memory, texts, a catalogue, a glossary, a test set."""
    pairs = [(f"나는 학생 {number} 입니다", f"I am student {number} .") for number in range(40)]
    units = "".join(
        f'<tu><tuv xml:lang="ko"><seg>{source}</seg></tuv><tuv xml:lang="en"><seg>{target}</seg></tuv></tu>'
        for source, target in pairs
    )
    header = '<header srclang="ko" datatype="plaintext" segtype="sentence" adminlang="en" o-tmf="x" creationtool="x" '
    header += 'creationtoolversion="1"/>'
    (folder / "memory.tmx").write_text(f'<tmx version="1.4">{header}<body>{units}</body></tmx>', encoding="utf-8")
    (folder / "test.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs[:12]), encoding="utf-8")
    (folder / "news.ko").write_text("".join(f"{a}\n" for a, _ in pairs[:5]), encoding="utf-8")
    (folder / "more.ko").write_text("".join(f"{a}\n" for a, _ in pairs[5:8]), encoding="utf-8")
    (folder / "news.ref.en").write_text("".join(f"{b}\n" for _, b in pairs[:5]), encoding="utf-8")
    (folder / "glossary.tsv").write_text("학생\tstudent\n\t!teacher\n", encoding="utf-8")
    catalogue = 'msgid ""\nmsgstr "Language: en\\n"\n\nmsgid "나는 %s"\nmsgstr ""\n'
    (folder / "app.po").write_text(catalogue, encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """With a `seq2see` that trains for three updates."""
    program = tmp_path / "bin" / "seq2see"
    program.parent.mkdir()
    program.write_text(WRAPPER.format(python=sys.executable, here=Path(__file__).parent))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return make_place(tmp_path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With what a reader of the README has when a guide begins: clean pairs and the run runs/ko-en."""
    folder = make_place(tmp_path_factory.mktemp("reader"))
    (folder / "recipes").symlink_to(ROOT / "recipes")
    with pytest.MonkeyPatch.context() as monkeypatch:
        run_here(monkeypatch, folder, "seq2see data memory.tmx --clean pairs.tsv")
        run_here(monkeypatch, folder, "seq2see train pairs.tsv --model rnnsearch --out runs/ko-en")
        run_here(monkeypatch, folder, "seq2see translate runs/ko-en news.ko --out news.en")
    return folder


def run_here(monkeypatch: pytest.MonkeyPatch, folder: Path, command: str) -> None:
    """One command line in this process; `echo "..." |` in front and `> file` behind it are the only shell it knows."""
    parts = PIPED.fullmatch(bare(command))
    assert parts is not None, f"not understood: {command}"
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setattr(sys, "argv", ["seq2see", *shortened(shlex.split(parts["words"]))])
    (folder / "stdin").write_text(f"{parts['text']}\n", encoding="utf-8")
    with (folder / "stdin").open(encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code, command


def test_both_readmes_have_the_same_commands() -> None:
    english, korean = ([bare(line) for line in commands(ROOT / name)] for name in ("README.md", "README.ko.md"))
    assert english == korean
    verbs = {line.split("seq2see ")[1].split()[0] for line in english if "seq2see " in line}
    assert verbs >= {
        "data",
        "train",
        "translate",
        "evaluate",
        "compare",
        "study",
        "look",
        "explain",
        "learn",
        "align",
        "speak",
        "style",
        "demo",
        "doctor",
    }


def readme_commands() -> list[str]:
    """Those that can run here."""
    return [line for line in commands(ROOT / "README.md") if "runs/voice" not in line or can_teach()]


def train_here(plan: demo.Plan, listener: object) -> None:
    """Both models of the demo in this process; how it trains them in two of their own, see demo/test_demo_whole.py."""
    for family in FAMILIES:
        train_run(new_config(plan.settings(family)), plan.run(family), SilentReporter())


def test_every_command_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    make_place(tmp_path)
    monkeypatch.setattr(demo, "Plan", partial(demo.Plan, each=6))
    monkeypatch.setattr(running, "train_both", train_here)
    for command in readme_commands():
        run_here(monkeypatch, tmp_path, command)
        assert "Traceback" not in capfd.readouterr().err, command


@pytest.mark.slow
def test_every_command_of_the_readme_runs_in_a_shell(place: Path) -> None:
    environment = os.environ | {
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "NO_COLOR": "1",
        "XDG_CACHE_HOME": str(place / "cache"),
    }
    for command in readme_commands():
        shell = ["bash", "-c", command]
        ended = subprocess.run(shell, cwd=place, env=environment, capture_output=True, text=True, timeout=600)
        assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr, f"{command}\n{ended.stderr}"


LONG_GUIDES = {"train.md", "translate.md"}  # every command of theirs trains or loads a model


@pytest.mark.parametrize(
    "guide", [pytest.param(guide, marks=pytest.mark.slow if guide in LONG_GUIDES else []) for guide in GUIDES]
)
def test_every_command_of_the_guides_runs(guide: str, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in commands(ROOT / "docs" / guide):
        run_here(monkeypatch, trained, command)


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{guide}" for guide in GUIDES)])
def test_python_of_the_guides_runs(page: str, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks marked `py` show what can be called; those marked `python` show what they print, see test_readme."""
    monkeypatch.chdir(trained)
    monkeypatch.setattr(seq2see, "train", partial(seq2see.train, settings={"training": {"steps": 3, "threads": 1}}))
    for code in PYTHON.findall((ROOT / page).read_text(encoding="utf-8")):
        exec(compile(code, page, "exec"), {"__name__": "guide"})


def test_guides_that_have_commands_are_known() -> None:
    pages = {path.name for path in (ROOT / "docs").glob("*.md") if BLOCK.search(path.read_text(encoding="utf-8"))}
    assert pages <= {*GUIDES, "doors.md"}  # which has commands of ELSEWHERE alone


def test_make_demo_runs_what_is_tested_here() -> None:
    assert DEMO in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "README.ko.md"])
def test_a_readme_is_read_in_one_sitting(name: str) -> None:
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= 220


def test_both_readmes_have_the_same_parts() -> None:
    english, korean = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.ko.md"))
    headings = [re.findall(r"^(#+) ", BLOCK.sub("", text), re.MULTILINE) for text in (english, korean)]
    assert headings[0] == headings[1]
    links = [set(re.findall(r"\]\(((?:docs|recipes)[^)]*)\)", text)) for text in (english, korean)]
    assert links[0] == links[1]


def test_both_readmes_lack_the_same_parts() -> None:
    """Speech stood among what is not there yet in one of them, long after it came."""
    english = re.search(r"\*\*Not there yet\*\*: (.*?)\.\s", (ROOT / "README.md").read_text(), re.DOTALL)
    korean = re.search(r"\*\*아직 없는 것\*\*: (.*?)\.\s", (ROOT / "README.ko.md").read_text(), re.DOTALL)
    assert (english is None) == (korean is None)
    if english is None or korean is None:
        return
    assert len(re.split(r", and |, ", english[1])) == len(korean[1].split(", "))
    assert "음성" not in korean[1]
