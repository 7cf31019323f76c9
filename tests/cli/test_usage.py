"""The command line before it does anything: help whose examples run, options and their names, completion."""

import gzip
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from seq2see.cli import app, main
from seq2see.cli.shell.search import MOVED
from seq2see.search import SearchConfig

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import SOURCES, TARGETS, make_run

ROOT = Path(__file__).parents[2]
VERBS = {str(command.name): command.callback for command in app.registered_commands}
# Take minutes, need espeak-ng, or go on until stopped; tests/house, tests/serve and tests/study run most of them.
PARSED_ONLY = (
    *("builtin:", "recipes/", "runs/voice", "int8", "seq2see demo", "verify-resume", "doctor", "--resume"),
    *("--ray", "learn --evidence", "seq2see import", "seq2see export", "seq2see study"),
    "seq2see serve",
)
SHORT = ["--set", "training.steps=1", "--set", "training.threads=1"]


def seq2see(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def examples(verb: str) -> list[str]:
    lines = [line.strip() for line in (inspect.getdoc(VERBS[verb]) or "").splitlines()]
    return [line for line in lines if line.startswith("seq2see ") or "| seq2see " in line]


def words_of(example: str) -> list[str]:
    """Its arguments, without what the shell does around it."""
    words = shlex.split(example.rpartition("| ")[2])
    ends = [words.index(sign) for sign in ("<", ">") if sign in words]
    return words[1 : min(ends, default=len(words))]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has every file and run which the examples name."""
    folder = tmp_path_factory.mktemp("user")
    pairs = list(zip(SOURCES, TARGETS, strict=True)) * 3
    table = "".join(f"{source}\t{target}\n" for source, target in pairs)
    sides = ["".join(f"{pair[side]}\n" for pair in pairs) for side in (0, 1)]
    unit = '<tu><tuv xml:lang="ko"><seg>{}</seg></tuv><tuv xml:lang="en"><seg>{}</seg></tuv></tu>'
    texts = {
        **dict.fromkeys(("pairs.tsv", "news.tsv", "train.tsv", "dev.tsv", "test.tsv"), table),
        **dict.fromkeys(("news.ko", "test.ko"), sides[0]),
        **dict.fromkeys(("news.en", "test.en", "output.en", "theirs.en", "ours.en"), sides[1]),
        "pairs.align": "0-0 1-1\n" * len(pairs),
        "glossary.tsv": "학생\tstudent\n\t!beer\n",
        "news.jsonl": '{"text": "나는 학생 입니다 ."}\n',
        "app.po": 'msgid ""\nmsgstr "Language: en\\n"\n\nmsgid "나는 %s"\nmsgstr ""\n',
        "dev.src-tgt": "나는 학생 입니다 ||| I am a student\n",
        "dev.gold": "0-0 1-3 2?1\n",
        "dev.annotated": "en=0,1,2 ko=0,1,3\n",
        "memory.tmx": '<tmx version="1.4"><header srclang="ko" datatype="plaintext" segtype="sentence" adminlang="en" '
        'o-tmf="x" creationtool="x" creationtoolversion="1"/><body>'
        + "".join(unit.format(*pair) for pair in pairs)
        + "</body></tmx>",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("train", "val"):
        for language, text in zip(("de", "en"), sides, strict=True):
            (folder / f"{name}.{language}.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("ko-en", "en-ko", "with", "without"):
        run = make_run(folder / "runs" / name, "rnnsearch", sharp=2.0, seed=len(name))
        (run / "metrics.jsonl").write_text('{"step": 1, "elapsed": 60.0, "validation": {"loss": 2.0}}\n')
    (folder / "runs" / "ko-en-2").symlink_to("ko-en")
    return folder


@pytest.mark.parametrize("verb", VERBS)
def test_the_examples_of_every_help_run(
    verb: str, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert examples(verb), "no example"
    for number, example in enumerate(examples(verb)):
        words = words_of(example)
        assert words[0] == verb
        if any(part in example for part in PARSED_ONLY):
            command = typer.main.get_command(app)
            command.commands[verb].make_context(verb, words[1:])  # type: ignore[attr-defined]
            continue
        if verb == "train":
            words = [*words, *SHORT, *([] if "--from" in words else ["--size", "tiny"])]
            if "--out" in words:
                words[words.index("--out") + 1] += f"-{number}"
        with (place / "news.ko").open("rb") as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert seq2see(monkeypatch, *words) == 0, f"{example}\n{capfd.readouterr().err}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_for_a_file_says_what_is_in_it(verb: str) -> None:
    """With an example, a suffix or a command that writes it."""
    for name, parameter in inspect.signature(VERBS[verb]).parameters.items():
        if "Path" in str(parameter.annotation.__origin__):
            told = str(parameter.annotation.__metadata__[0].help)
            assert re.search(r"\.\w+|\bruns?\b|`|<tab>|folder|recording|output", told), f"{verb} {name}: {told}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["translate", "x", "--nosuch"], "No such option: --nosuch"),
        (["translate", "x", "--beem", "3"], "No such option: --beem (Possible options: --beam)"),
        (["look", "x", "y", "--lvel", "word"], "No such option: --lvel (Possible options: --level)"),
        (["--vrsion"], "No such option: --vrsion (Possible options: --version)"),
        (["--nosuch"], "No such option: --nosuch"),
    ],
)
def test_a_mistyped_option_names_what_is_like_it(
    words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seq2see(monkeypatch, *words) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"Error: {said}"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("alpha", "inf", "alpha = inf: input should be a finite number"),
        ("alpha", "nan", "alpha = nan: input should be a finite number"),
        ("alpha", "1e308", "alpha = 1e+308: input should be less than or equal to 10"),
        ("coverage", "inf", "coverage = inf: input should be a finite number"),
        ("coverage", "1e308", "coverage = 1e+308: input should be less than or equal to 1000000"),
        ("diversity", "nan", "diversity = nan: input should be a finite number"),
        ("temperature", "inf", "temperature = inf: input should be a finite number"),
        ("top_p", "nan", "top_p = nan: input should be a finite number"),
    ],
)
def test_numbers_are_finite(
    name: str, value: str, said: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = ["--sample"] if name in ("temperature", "top_p") else []
    given = ["translate", place / "runs/ko-en", place / "news.ko", "--search", f"{name}={value}", *sample]
    assert seq2see(monkeypatch, *given) == 2
    assert capsys.readouterr().err == f"seq2see: {said}\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("alhpa=0.8", "--search alhpa=0.8: unknown setting 'alhpa'; did you mean 'alpha'?"),
        ("no_repeat=3", "--search no_repeat=3: unknown setting 'no_repeat'; did you mean 'no_repeat_ngram'?"),
        ("alpha", "--search alpha: expected a name and a value, such as max_length=80"),
        ("beam=3", "--search beam=3: beam has an option of its own, --beam"),
        ("sample=true", "--search sample=true: sample has an option of its own, --sample"),
        ("max_length=0", "max_length = 0: input should be greater than or equal to 1"),
        ("groups=2", "groups = 2 does not divide beam = 5"),
    ],
)
def test_a_wrong_search_setting_is_one_line(
    change: str, said: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["translate", place / "runs/ko-en", place / "news.ko", "--search", change]
    assert seq2see(monkeypatch, *given) == 2
    assert capsys.readouterr().err == f"seq2see: {said}\n"


@pytest.mark.parametrize("option", MOVED)
def test_an_option_of_before_says_what_it_is_now(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seq2see(monkeypatch, "translate", "x", option, "1") == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"Error: {option} is now --search {MOVED[option]}=..."
    assert MOVED[option] in SearchConfig.model_fields


def test_only_verbs_that_search_know_the_options_of_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seq2see(monkeypatch, "align", "x", "y", "--alpha", "1") == 2
    assert "--search" not in capsys.readouterr().err


def test_search_settings_reach_the_search(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    common = ["translate", place / "runs/ko-en", place / "news.ko", "--json"]
    for most in (2, 5):
        out = tmp_path / f"{most}.jsonl"
        assert seq2see(monkeypatch, *common, "--search", f"max_length={most}", "--search", "alpha=1", "-o", out) == 0
        lengths = [len(json.loads(line)["tokens"]) for line in out.read_text(encoding="utf-8").splitlines()]
        assert max(lengths) == most


def test_no_description_is_cut_in_the_list_of_verbs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert seq2see(monkeypatch, "--help") == 0
    told = capsys.readouterr().out
    listed = told[told.index("Commands:") :].splitlines()[1:]
    assert [line.split()[0] for line in listed] == list(VERBS)
    assert all(line.endswith(".") and not line.endswith("...") and len(line) <= 80 for line in listed), told


def test_outputs_never_replace_inputs(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    before = Path("test.tsv").read_bytes()
    for words in (
        ["data", "test.tsv", "--clean", "test.tsv"],
        ["evaluate", "runs/ko-en", "test.tsv", "--output", "./test.tsv"],
    ):
        assert seq2see(monkeypatch, *words) == 2
        assert "test.tsv: is also read (as test.tsv); write to another file\n" in capsys.readouterr().err
    assert Path("test.tsv").read_bytes() == before


def test_the_shell_completes_verbs_and_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_SEQ2SEE_COMPLETE", "complete_bash")
    for typed, expected in (("seq2see tr", ["train", "translate"]), ("seq2see look --resc", ["--rescale"])):
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
        assert seq2see(monkeypatch) == 0
        assert capsys.readouterr().out.split() == expected


def test_help_imports_neither_torch_nor_pydantic_nor_other_verbs() -> None:
    code = """
import sys
from seq2see.cli import VERBS, main
heavy = {"torch", "numpy", "pydantic", "matplotlib", "fastapi", "rich", "importlib.metadata"}
def run(*words):
    sys.argv = ["seq2see", *words]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code
run("--version")
run("serve", "--help")
print("alone", sorted({"seq2see.cli.train", "seq2see.cli.doctor"} & set(sys.modules)))
for verb in VERBS:
    run(verb, "--help")
run("--help")
print("heavy", sorted(heavy & set(sys.modules)))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=True)
    assert [line for line in ended.stdout.splitlines() if line.startswith(("alone", "heavy"))] == [
        "alone []",
        "heavy []",
    ]
    assert "--install-completion" in ended.stdout


def test_a_verb_alone_says_what_it_says_among_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["look", "--help"], ["look"], ["look", "x", "--nosuch"], ["look", "x", "y", "--beam", "z"]):
        monkeypatch.delenv("_SEQ2SEE_COMPLETE", raising=False)
        code = seq2see(monkeypatch, *words)
        alone = (code, *capsys.readouterr())
        with pytest.raises(SystemExit) as ended:
            app(words, prog_name="seq2see")
        assert (ended.value.code, *capsys.readouterr()) == alone


def test_what_several_processes_give_is_said() -> None:
    from seq2see.cli.doctor import scale_lines

    findings = {"cores": 4, "processes": 4, "update_seconds": {"1": 1.0, "4": 0.5}, "all_reduce_mb_per_second": 400.0}
    *_, verdict, ray = scale_lines(findings | {"speed_up": 2.0, "ray": "2.60.0"})
    assert verdict.startswith("2.00 times as fast: `seq2see train` takes 4 pro")
    assert ray.startswith("Ray 2.60.0: translate --ray")
    *_, verdict, ray = scale_lines(findings | {"speed_up": 1.1, "ray": None})
    assert "one process is as good" in verdict
    assert ray == "no Ray: pip install 'seq2see[scale]'"


@pytest.mark.slow
def test_several_processes_are_compared() -> None:
    from seq2see.cli.doctor import measure_scale

    assert measure_scale(steps=3)["speed_up"] > 0
