"""The files of the page: they parse, they hold nothing that runs text, and both languages say everything."""

import gzip
import json
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
import typer

from seq2see.cli import app

SOURCE = Path(__file__).parents[3] / "src" / "seq2see"
PAGE, VIEW = SOURCE / "serve" / "page", SOURCE / "look" / "draw" / "view"
SCRIPTS = sorted([*PAGE.glob("*.js"), *VIEW.glob("*.js")])
FILES = sorted([*SCRIPTS, *PAGE.glob("*.css"), *PAGE.glob("*.html")])
NODE = shutil.which("node")


@cache
def exported(file: Path, name: str) -> dict[str, object]:
    """What a module without imports exports, read by node."""
    code = f"import({str(file)!r}).then((module) => console.log(JSON.stringify(module.{name})))"
    done = subprocess.run(
        [NODE or "node", "--input-type=module", "-e", code], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_every_script_parses(tmp_path: Path) -> None:
    """What `node --check` does, for all of them in one process."""
    names = []
    for script in SCRIPTS:
        copy = tmp_path / f"{script.parent.name}-{script.stem}.mjs"
        copy.write_bytes(script.read_bytes())
        names.append(str(copy))
    code = """const { SourceTextModule } = require("node:vm"); const { readFileSync } = require("node:fs");
    for (const name of process.argv.slice(1)) new SourceTextModule(readFileSync(name, "utf8"), { identifier: name });"""
    command = [NODE or "node", "--experimental-vm-modules", "--no-warnings", "-e", code, *names]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_nothing_runs_text_and_nothing_is_fetched_from_elsewhere(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    found = re.findall(
        r"innerHTML|insertAdjacentHTML|\beval\b|new Function|document\.write|style=|srcdoc|on(?:click|load|error)=",
        text,
    )
    assert found == []
    assert [url for url in re.findall(r"https?:[^\"'` )]*", text) if url != "http://www.w3.org/2000/svg"] == []
    imports = re.findall(r'(?:^import .* from |import\()["`]([^"`]+)["`]', text, re.MULTILINE)
    assert [one for one in imports if not one.startswith(("/page/", "/view/", "./"))] == []


def test_the_commands_that_it_names_exist() -> None:
    commands = re.findall(r"seq2see (\w+) ([^\"'`|]+)", (PAGE / "main.js").read_text(encoding="utf-8"))
    assert [verb for verb, _ in commands] == ["train", "translate", "serve"]
    verbs = typer.main.get_command(app)
    for verb, rest in commands:
        verbs.commands[verb].make_context(verb, shlex.split(rest))  # type: ignore[attr-defined]


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_both_languages_say_everything_and_nothing_is_left_over() -> None:
    texts = exported(PAGE / "texts.js", "TEXTS")
    for key, said in texts.items():
        assert isinstance(said, list), key
        english, korean = said
        assert english, key
        assert korean, key
        assert sorted(re.findall(r"\{\w+\}", english)) == sorted(re.findall(r"\{\w+\}", korean)), key
    code = "".join(script.read_text(encoding="utf-8") for script in PAGE.glob("*.js") if script.name != "texts.js")
    asked = set(re.findall(r'\bt\("([\w.]+)"', code)) | set(re.findall(r'"(keys\.\w+)"', code))
    stems = set(re.findall(r"\bt\(`([\w.]+)\$\{", code))
    assert asked - set(texts) == set()
    unused = [key for key in texts if key not in asked and not any(key.startswith(stem) for stem in stems)]
    assert unused == []


@pytest.mark.skipif(NODE is None, reason="no node on this machine")
def test_the_drawings_say_everything_in_korean_too() -> None:
    korean = exported(VIEW / "korean.js", "DRAWINGS")
    code = "".join(script.read_text(encoding="utf-8") for script in VIEW.glob("*.js"))
    said = set(re.findall(r'\bsay\("([^"]+)"', code)) - {"English text"}
    assert said - set(korean) == set()
    for english, other in korean.items():
        assert sorted(re.findall(r"\{\w+\}", english)) == sorted(re.findall(r"\{\w+\}", str(other))), english


def test_the_reasons_of_the_search_are_said_in_korean() -> None:
    from seq2see.look.map.tree import REASONS, RULES

    text = (VIEW / "korean.js").read_text(encoding="utf-8")
    for english in (*REASONS, *REASONS.values(), *RULES.values()):
        assert f'"{english}":' in text or f"{english}:" in text, english


def test_it_is_small() -> None:
    """All of it; what a visit begins with is counted in test_frame."""
    packed = sum(len(gzip.compress(file.read_bytes(), 9)) for file in {*FILES, VIEW / "page.css"})
    assert packed <= 115_000
