"""A name or a path that is wrong is told at once: before torch, which takes seconds to import, and in one line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

# The command line as it is, in a Python that has no torch: whoever needs it to find the mistake is caught. A child is
# forked for every command, since starting a Python of its own for each would take most of the time.
SCRIPT = """
import json, os, sys, traceback
import numpy, pydantic, rich
sys.modules["torch"] = None
from seq2see.cli import main
# What the commands import when they run, once for all of them.
import seq2see.formats.pairs, seq2see.runs.config

def run(words):
    sys.argv = ["seq2see", *words]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

told = []
for words in json.load(sys.stdin):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writing, 2)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 0)
        code = run(words)
        sys.stderr.flush()
        os._exit(code)
    os.close(writing)
    with open(reading) as message:
        told.append([message.read(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])])
json.dump(told, sys.stdout)
"""

MISTAKES = {
    "train: no such file": (["train", "no.tsv", "--out", "new"], "no.tsv: no such file"),
    "train: no such model": (["train", "pairs.tsv", "--model", "lung", "--out", "new"], "did you mean 'luong'?"),
    "train: no such size": (["train", "pairs.tsv", "--size", "tny", "--out", "new"], "did you mean 'tiny'?"),
    "train: no such setting": (["train", "pairs.tsv", "--set", "training.stepps=3", "--out", "new"], "'steps'?"),
    "train: no such corpus": (["train", "builtin:dats", "--out", "new"], "did you mean 'dates'?"),
    "train: no such base": (["train", "pairs.tsv", "--from", "no", "--out", "new"], "no: not a run folder"),
    "train: no such recipe": (["train", "--recipe", "no.toml", "--out", "new"], "no.toml: no such recipe"),
    "train: no such alignments": (["train", "pairs.tsv", "--alignments", "no", "--out", "new"], "no: no such file"),
    "train: no such recordings": (["train", "no.tsv", "--model", "tacotron", "--out", "new"], "no.tsv: no such file"),
    "train: a finished run": (["train", "pairs.tsv", "--out", "run"], "run: already holds a run"),
    "train: nothing to resume": (["train", "--resume", "--out", "no"], "no: not a run folder"),
    "train: --changed-data alone": (["train", "pairs.tsv", "--changed-data", "--out", "new"], "belongs to --resume"),
    "translate: no such run": (["translate", "no", "pairs.tsv"], "no: not a run folder"),
    "translate: no such file": (["translate", "run", "no.txt"], "no.txt: no such file"),
    "translate: no such glossary": (["translate", "run", "--constraints", "no.tsv"], "no.tsv: no such file"),
    "translate: no such second run": (["translate", "run", "--with", "no"], "no: not a run folder"),
    "look: no such run": (["look", "no", "text"], "no: not a run folder"),
    "explain: no such run": (["explain", "no", "text"], "no: not a run folder"),
    "align: no such run": (["align", "no", "pairs.tsv"], "no: not a run folder"),
    "align: no such pairs": (["align", "run", "no.tsv"], "no.tsv: no such file"),
    "align: no such gold": (["align", "run", "pairs.tsv", "--gold", "no.gold"], "no.gold: no such file"),
    "evaluate: no such run": (["evaluate", "no", "pairs.tsv"], "no: not a run folder"),
    "evaluate: a folder that is no run": (["evaluate", ".", "pairs.tsv"], ".: not a run folder"),
    "compare: no such run": (["compare", "no", "run", "pairs.tsv"], "no: no such file"),
    "compare: no such test set": (["compare", "run", "run", "no.tsv"], "no.tsv: no such file"),
    "speak: no such run": (["speak", "no", "text"], "no: not a run folder"),
    "speak: no such recording": (["speak", "run", "text", "--style", "no.wav"], "no.wav: no such recording"),
    "style: no such run": (["style", "no", "a.wav"], "no: not a run folder"),
    "style: no such recording": (["style", "run", "no.wav"], "no.wav: no such recording"),
    "verify-resume: no such recipe": (["verify-resume", "no.toml"], "no.toml: no such recipe or run folder"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What stands there: pairs, and something that looks like a finished run."""
    made = tmp_path_factory.mktemp("early")
    (made / "pairs.tsv").write_text("a\tb\n")
    (made / "run").mkdir()
    (made / "run" / "config.json").write_text("{}")
    (made / "run" / "manifest.json").write_text("{}")
    return made


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[str, tuple[str, int]]:
    """What was said about each mistake, and the exit code."""
    commands = [words for words, _ in MISTAKES.values()]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(MISTAKES, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_name_is_told_before_torch_is_imported(
    mistake: str, folder: Path, told: dict[str, tuple[str, int]]
) -> None:
    _, expected = MISTAKES[mistake]
    message, code = told[mistake]
    assert code == 2, message
    assert len(message.strip().splitlines()) == 1, message
    assert expected in message
    assert not (folder / "new").exists()
