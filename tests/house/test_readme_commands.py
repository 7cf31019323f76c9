"""Every command block of the READMEs runs, with shortened training, in a folder that has the files they name."""

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Work on the repository itself, which this very test is part of.
ELSEWHERE = ("make ",)

# Stands in front of the real command: the same verbs, with as little training as there can be.
WRAPPER = """#!{python}
import sys
from seq2see.cli import main

words = sys.argv[1:]
if words[:1] == ["train"] and "--resume" not in words:
    words += ["--set", "training.steps=3", "--set", "training.threads=1"]
    words += [] if "tacotron" in words else ["--size", "tiny"]
    words = [word.replace("builtin:espeak", "builtin:espeak,count=40") for word in words]
if words[:1] == ["demo"]:
    words += ["--seconds", "3"]
if words[:1] in (["translate"], ["look"]):
    words += ["--search", "max_length=12"]
sys.argv = ["seq2see", *words]
if __name__ == "__main__":  # processes that are spawned read this file as well
    main()
"""


def commands(path: Path) -> list[str]:
    """The lines of all shell blocks, without those for the repository."""
    lines = [line.strip() for block in BLOCK.findall(path.read_text(encoding="utf-8")) for line in block.splitlines()]
    return [line for line in lines if line and not line.startswith((*ELSEWHERE, "#"))]


def bare(command: str) -> str:
    """A command without the remark behind it."""
    return re.sub(r"\s+#.*$", "", command)


def can_teach() -> bool:
    """The built-in voice needs espeak-ng; where it is missing only CI complains."""
    return shutil.which("espeak-ng") is not None or os.environ.get("CI") == "true"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder: a translation memory, texts, a catalogue, a glossary, a test set."""
    folder = tmp_path_factory.mktemp("user")
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
    (folder / "glossary.tsv").write_text("학생\tstudent\n\t!teacher\n", encoding="utf-8")
    catalogue = 'msgid ""\nmsgstr "Language: en\\n"\n\nmsgid "나는 %s"\nmsgstr ""\n'
    (folder / "app.po").write_text(catalogue, encoding="utf-8")
    program = folder / "bin" / "seq2see"
    program.parent.mkdir()
    program.write_text(WRAPPER.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


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
        "look",
        "explain",
        "align",
        "speak",
        "style",
        "demo",
        "doctor",
    }


def test_every_command_runs(place: Path) -> None:
    environment = os.environ | {
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "NO_COLOR": "1",
        "XDG_CACHE_HOME": str(place / "cache"),
    }
    for command in commands(ROOT / "README.md"):
        if "runs/voice" in command and not can_teach():
            continue
        shell = ["bash", "-c", command]
        ended = subprocess.run(shell, cwd=place, env=environment, capture_output=True, text=True, timeout=600)
        assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
        assert "Traceback" not in ended.stderr, f"{command}\n{ended.stderr}"


def test_both_readmes_lack_the_same_parts() -> None:
    """Speech stood among what is not there yet in one of them, long after it came."""
    english = re.search(r"\*\*Not there yet\*\*: (.*?)\.\s", (ROOT / "README.md").read_text(), re.DOTALL)
    korean = re.search(r"\*\*아직 없는 것\*\*: (.*?)\.\s", (ROOT / "README.ko.md").read_text(), re.DOTALL)
    assert english is not None
    assert korean is not None
    assert len(re.split(r", and |, ", english[1])) == len(korean[1].split(", "))
    assert "음성" not in korean[1]
