"""`--encoding` of every verb that reads files, and what is said without it."""

import json
import sys
from pathlib import Path

import pytest

import seq2see as package
from seq2see.cli import main
from seq2see.session.constraints import read_constraints
from seq2see.text import TokenizerConfig

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import SOURCES, TARGETS, make_run

TEXT = "".join(f"{source}\n" for source in SOURCES)
PAIRS = "".join(f"{source}\t{target}\n" for source, target in zip(SOURCES, TARGETS, strict=True))
SRT = "1\n00:00:01,000 --> 00:00:02,000\n나는 학생 입니다\n\n2\n00:00:03,000 --> 00:00:04,000\n책\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = TokenizerConfig(scheme="word", byte_fallback=False)  # whole words can be written in any encoding
    return make_run(tmp_path_factory.mktemp("runs") / "run", "luong", sharp=2.0, cutting=words)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def seq2see(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


def write(name: str, text: str, encoding: str = "utf-8") -> Path:
    path = Path(name)
    path.write_bytes(text.encode(encoding))
    return path


SHORT = ("--beam", 1, "--search", "max_length=8")


@pytest.mark.parametrize("encoding", ["utf-16", "cp949", "utf-16-le"])
@pytest.mark.parametrize("late", [False, True])
def test_translate_refuses_before_any_output(
    run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], encoding: str, late: bool
) -> None:
    """Also where the first thousands of lines are plain letters, which are the same in CP949."""
    late = late and encoding == "cp949"
    source = write("in.txt", "hello\n" * (4000 if late else 0) + TEXT, encoding)
    for out in ([], ["--out", "out.txt"]):
        assert seq2see(monkeypatch, "translate", run, source, *out, *SHORT) == 2
        captured = capfd.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert f"in.txt:{4001 if late else 1}: not UTF-8" in captured.err
        assert f"add --encoding {encoding}" in captured.err
    assert [path.name for path in Path.cwd().iterdir()] == ["in.txt"]


def test_translate_reads_what_is_named(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert seq2see(monkeypatch, "translate", run, write("a", TEXT), "-o", "a.out", *SHORT) == 0
    for encoding in ("utf-16", "cp949", "EUC-KR", "utf-16-be"):
        source = write("b", TEXT, encoding)
        assert seq2see(monkeypatch, "translate", run, source, "-o", "b.out", *SHORT, "--encoding", encoding) == 0
        assert Path("b.out").read_bytes() == Path("a.out").read_bytes()


def with_input(monkeypatch: pytest.MonkeyPatch, data: bytes, *arguments: object) -> int:
    Path("input").write_bytes(data)
    with Path("input").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        return seq2see(monkeypatch, *arguments)


def test_standard_input_ends_at_the_first_bad_line(
    run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    data = TEXT.encode() + "너는 누구 입니까\n".encode("cp949") + TEXT.encode()
    assert with_input(monkeypatch, data, "translate", run, *SHORT) == 2
    captured = capfd.readouterr()
    assert captured.out.count("\n") == len(SOURCES)
    assert captured.err.count("\n") == 1
    assert "standard input:5: not UTF-8" in captured.err
    expected = captured.out
    data = TEXT.encode("cp949")
    assert with_input(monkeypatch, data, "translate", run, *SHORT, "--encoding", "cp949") == 0
    assert capfd.readouterr().out == expected


def test_broken_bytes_go_on_when_asked_for(
    run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("in").write_bytes(TEXT.encode() + b"\xff\n" + TEXT.encode())
    assert seq2see(monkeypatch, "translate", run, "in", "-o", "out", *SHORT) == 2
    assert "add --encoding utf-8-replace" in capfd.readouterr().err
    assert seq2see(monkeypatch, "translate", run, "in", "-o", "out", *SHORT, "--encoding", "utf-8-replace") == 0
    assert Path("out").read_text().count("\n") == 2 * len(SOURCES) + 1
    assert "1 line is not valid UTF-8 (line 5)" in capfd.readouterr().err


def test_subtitles_keep_their_encoding(
    run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    film = write("film.srt", SRT, "cp949")
    for out in ([], ["-o", "out.srt"]):
        assert seq2see(monkeypatch, "translate", run, film, *out, *SHORT) == 2
        captured = capfd.readouterr()
        assert captured.out == ""
        assert captured.err.endswith("add --encoding cp949\n")
    assert seq2see(monkeypatch, "translate", run, film, "-o", "out.srt", *SHORT, "--encoding", "cp949") == 0
    assert seq2see(monkeypatch, "translate", run, write("utf.srt", SRT), "-o", "utf.out.srt", *SHORT) == 0
    assert Path("out.srt").read_bytes().decode("cp949") == Path("utf.out.srt").read_text()


def test_a_document_for_standard_output_is_refused_before_anything_is_written(
    run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    cues = "".join(f"{n}\n00:00:01,000 --> 00:00:02,000\na\n\n" for n in range(1, 1200))
    film = write("film.srt", cues + SRT, "cp949")
    assert seq2see(monkeypatch, "translate", run, film, *SHORT) == 2
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_a_glossary_is_utf_8_or_in_the_encoding_of_the_text(
    run: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    terms = write("terms.tsv", "학생\ta\n", encoding)
    assert read_constraints(terms, encoding="cp949").request("나는 학생", 0).required == ("a",)
    lines = write("lines.jsonl", '{"prefix": "학생"}\n', encoding)
    assert read_constraints(lines, encoding="cp949").request("나는 학생", 0).prefix == "학생"
    text = write("in.txt", TEXT, "cp949")
    words = ["translate", run, text, "-o", "out", *SHORT, "--constraints", terms, "--encoding", "cp949"]
    assert seq2see(monkeypatch, *words) == 0


@pytest.mark.parametrize("verb", ["data", "evaluate", "compare", "align", "train"])
def test_pairs_of_every_verb(
    run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], verb: str
) -> None:
    pairs = write("pairs.tsv", PAIRS, "cp949")
    outputs = write("outputs.txt", "".join(f"{source}\n" for source in SOURCES))
    settings = ["training.steps=1", "training.threads=1", "model.family=rnn", "model.size=tiny"]
    words: dict[str, list[object]] = {
        "data": ["data", pairs],
        "evaluate": ["evaluate", "--hypotheses", outputs, pairs, "--resamples", 100],
        "compare": ["compare", outputs, outputs, pairs, "--resamples", 100, "--json"],
        "align": ["align", run, pairs, "--layer", 0, "--head", 0],
        "train": ["train", pairs, "--out", "run", *(word for one in settings for word in ("--set", one))],
    }
    assert seq2see(monkeypatch, *words[verb]) == 2
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert told.endswith("pairs.tsv:1: not UTF-8 at byte 0; this looks like CP949 (Korean); add --encoding cp949\n")
    assert seq2see(monkeypatch, *words[verb], "--encoding", "cp949") == 0
    assert seq2see(monkeypatch, *words[verb], "--encoding", "klingon") == 2
    assert "'klingon' is no encoding of text" in capfd.readouterr().err


def test_outputs_may_be_utf_8_beside_pairs_that_are_not(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    flipped = write("pairs.tsv", "".join(f"{b}\t{a}\n" for a, b in zip(SOURCES, TARGETS, strict=True)), "cp949")
    scores = []
    for encoding in ("utf-8", "cp949"):
        outputs = write("outputs.txt", TEXT, encoding)
        for name in (outputs, "-"):
            words = ["--hypotheses", name, flipped, "--metric", "exact", "--json", "--encoding", "cp949"]
            assert with_input(monkeypatch, outputs.read_bytes(), "evaluate", *words, "--resamples", 100) == 0
            scores.append(json.loads(capfd.readouterr().out)["scores"][0]["score"])
    assert scores == [100.0] * 4


def test_training_and_its_resumption_read_the_same_way(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = PAIRS * 3
    settings = {
        "training": {"steps": 2, "threads": 1},
        "tokenizer": {"scheme": "char"},
        "data": {"encoding": "UHC"},
    }
    pairs = write("pairs.tsv", lines, "cp949")
    package.train(pairs, out="run", model="rnn", size="tiny", settings=settings, quiet=True)
    assert json.loads(Path("run/config.json").read_text())["data"]["encoding"] == "cp949"
    plain = write("plain.tsv", lines)
    package.train(plain, out="plain", model="rnn", size="tiny", settings=settings | {"data": {}}, quiet=True)
    assert Path("run/model.safetensors").read_bytes() == Path("plain/model.safetensors").read_bytes()
    more = ["train", "--resume", "--out", "run", "--set", "training.steps=3"]
    assert seq2see(monkeypatch, *more, "--encoding", "utf-16") == 2
    assert "read as cp949, not as utf-16" in capfd.readouterr().err
    assert seq2see(monkeypatch, *more, "--encoding", "CP949") == 0
