"""What `seq2see translate` writes, and where: not onto its input, not onto a stranger's file; nothing done is lost."""

import gzip
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from seq2see.cli import main
from seq2see.session import decoding
from seq2see.session.decoding import Decoding

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import SOURCES, make_run

PART = ".seq2see-part"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", "luong", sharp=2.0)


@pytest.fixture(scope="module")
def other_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "other", "luong", sharp=2.0, seed=1)


Call = Callable[..., int]


@pytest.fixture
def seq2see(monkeypatch: pytest.MonkeyPatch) -> Call:
    def call(*words: object) -> int:
        monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return code if isinstance(code, int) else 0

    return call


def numbered(count: int) -> list[str]:
    return [f"{SOURCES[number % 4]} {number}" for number in range(count)]


def as_text(texts: Sequence[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


def as_po(texts: Sequence[str]) -> str:
    return 'msgid ""\nmsgstr "Language: en\\n"\n\n' + "".join(f'msgid "{text}"\nmsgstr ""\n\n' for text in texts)


def as_xliff(texts: Sequence[str]) -> str:
    units = "".join(f'<trans-unit id="{n}"><source>{text}</source></trans-unit>\n' for n, text in enumerate(texts))
    head = '<xliff version="1.2"><file original="a" source-language="ko" target-language="en"><body>\n'
    return f"{head}{units}</body></file></xliff>\n"


def as_srt(texts: Sequence[str]) -> str:
    times = "00:00:01,000 --> 00:00:02,000"
    return "".join(f"{number}\n{times}\n{text}\n\n" for number, text in enumerate(texts, start=1))


def as_jsonl(texts: Sequence[str]) -> str:
    return "".join(json.dumps({"id": n, "source": text}, ensure_ascii=False) + "\n" for n, text in enumerate(texts))


FORMATS: dict[str, Callable[[Sequence[str]], str]] = {
    "a.txt": as_text,
    "a.po": as_po,
    "a.xlf": as_xliff,
    "a.srt": as_srt,
    "a.jsonl": as_jsonl,
}
QUICK = ("--beam", "1", "--search", "max_length=6")


# Lines and a document: what is done with the part of an output does not ask for more. All of them in `make test-slow`.
TWO = ("a.txt", "a.po")
IN_TWO_FORMATS = pytest.mark.parametrize(
    "source", [pytest.param(name, marks=[] if name in TWO else pytest.mark.slow) for name in FORMATS], indirect=True
)


@pytest.fixture(params=FORMATS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of each format with thirty texts."""
    path = tmp_path / str(request.param)
    path.write_text(FORMATS[path.name](numbered(30)), encoding="utf-8")
    return path


# ----- 1: output and input


def links(source: Path) -> Iterator[Path]:
    """The same file by other names."""
    yield source
    yield source.parent / "." / ".." / source.parent.name / source.name
    soft = source.with_name(f"soft{source.suffix}")
    soft.symlink_to(source)
    yield soft
    hard = source.with_name(f"hard{source.suffix}")
    os.link(source, hard)
    yield hard


def test_the_input_is_never_the_output(
    run: Path, source: Path, seq2see: Call, capfd: pytest.CaptureFixture[str]
) -> None:
    before = source.read_bytes()
    for out in links(source):
        for option in ("--out", "--report"):
            words = [option, out] if option == "--out" else ["--out", source.with_name("x"), option, out]
            assert seq2see("translate", run, source, *words, *QUICK) == 2
            message = capfd.readouterr().err
            assert "is also read" in message
            assert message.count("\n") == 1
            assert source.read_bytes() == before


def test_nothing_else_that_is_read_is_written(
    run: Path, tmp_path: Path, seq2see: Call, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text("나는\n")
    (tmp_path / "terms.tsv").write_text("나는\tme\n")
    before = (run / "config.json").read_bytes()
    words = ["translate", run, tmp_path / "in.txt", "--constraints", tmp_path / "terms.tsv", *QUICK]
    for out in (tmp_path / "terms.tsv", run / "config.json"):
        assert seq2see(*words, "--out", out) == 2
        assert "is also read" in capfd.readouterr().err
    assert seq2see(*words, "--out", tmp_path / "out", "--report", tmp_path / "out") == 2
    assert "--report and --out" in capfd.readouterr().err
    assert (tmp_path / "terms.tsv").read_text() == "나는\tme\n"
    assert (run / "config.json").read_bytes() == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("stranger", ["x.part", f"x{PART}", f"x{PART}.json", f"x{PART}.report"])
def test_a_file_with_the_name_of_a_part_is_not_touched(
    run: Path, tmp_path: Path, seq2see: Call, capfd: pytest.CaptureFixture[str], stranger: str
) -> None:
    """As the input, and as a stranger that stands there."""
    (tmp_path / stranger).write_text(as_text(numbered(3)))
    (tmp_path / "in.txt").write_text("나는\n")
    for name in (stranger, "in.txt"):
        code = seq2see("translate", run, tmp_path / name, "-o", tmp_path / "x", "--format", "text", *QUICK)
        captured = capfd.readouterr()
        assert (tmp_path / stranger).read_text() == as_text(numbered(3))
        if stranger == "x.part":
            assert code == 0
            assert (tmp_path / "x").read_text().count("\n") == (3 if name == stranger else 1)
        else:
            assert code == 2
            assert "in the way" in captured.err
            assert not (tmp_path / "x").exists()


def test_the_file_is_there_when_it_is_whole_and_packed_if_so_named(run: Path, source: Path, seq2see: Call) -> None:
    out, packed = (source.with_name(f"out{source.suffix}{end}") for end in ("", ".gz"))
    assert seq2see("translate", run, source, "-o", out, *QUICK) == 0
    assert seq2see("translate", run, source, "-o", packed, *QUICK) == 0
    assert gzip.decompress(packed.read_bytes()) == out.read_bytes()
    assert sorted(path.name for path in source.parent.iterdir()) == sorted([source.name, out.name, packed.name])


# ----- 13: Ctrl-C and --resume


class Counted:
    """Counts what is decoded, and presses Ctrl-C before a batch."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        self.stop_at: int | None = None
        self._batches = 0
        monkeypatch.setattr(decoding, "BATCH_ROWS", (4, 4))
        decode = Decoding.decode

        def counted(this: Decoding, requests: Sequence[Any], sources: Sequence[Any]) -> Any:
            if self._batches == self.stop_at:
                raise KeyboardInterrupt
            self._batches += 1
            self.texts += [request.text for request in requests]
            return decode(this, requests, sources)

        monkeypatch.setattr(Decoding, "decode", counted)

    def again(self, stop_at: int | None) -> None:
        self.texts, self.stop_at, self._batches = [], stop_at, 0


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


@pytest.mark.parametrize(
    ("source", "sampled"),
    [
        pytest.param(name, sampled, marks=[] if name in TWO or not sampled else pytest.mark.slow)
        for name in FORMATS
        for sampled in ((), ("--sample", "--search", "seed=3"))
    ],
    indirect=["source"],
)
def test_ctrl_c_keeps_what_is_done_and_resume_does_not_do_it_again(
    run: Path,
    source: Path,
    seq2see: Call,
    decoded: Counted,
    capfd: pytest.CaptureFixture[str],
    sampled: tuple[str, ...],
) -> None:
    """All thirty texts are of one window; four batches of eight are done when Ctrl-C comes, twice."""
    folder = source.parent
    whole, out = folder / f"whole{source.suffix}", folder / f"out{source.suffix}"
    options = [*QUICK, *sampled]
    assert seq2see("translate", run, source, "-o", whole, "--report", folder / "whole.tsv", *options) == 0
    capfd.readouterr()
    words = ["translate", run, source, "-o", out, "--report", folder / "out.tsv", *options]
    done = []
    for resume in ([], ["--resume"]):
        decoded.again(stop_at=3)
        assert seq2see(*words, *resume) == 130
        message = capfd.readouterr().err
        assert f"-o {out}" in message
        assert "--resume" in message
        assert message.count("--resume") == 1
        assert not out.exists()
        done += decoded.texts
    decoded.again(stop_at=None)
    assert seq2see(*words, "--resume") == 0
    assert not set(done) & set(decoded.texts)
    assert len(done) + len(decoded.texts) == 30
    assert out.read_bytes() == whole.read_bytes()
    assert (folder / "out.tsv").read_bytes() == (folder / "whole.tsv").read_bytes()
    names = ["out.tsv", "whole.tsv", source.name, out.name, whole.name]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_ctrl_c_before_anything_is_done_leaves_nothing_and_says_so(
    run: Path, source: Path, seq2see: Call, decoded: Counted, capfd: pytest.CaptureFixture[str]
) -> None:
    decoded.again(stop_at=0)
    assert seq2see("translate", run, source, "-o", source.with_name("out"), *QUICK) == 130
    assert "interrupted" in capfd.readouterr().err
    assert [path.name for path in source.parent.iterdir()] == [source.name]


def interrupted(seq2see: Call, decoded: Counted, *words: object) -> None:
    decoded.again(stop_at=2)
    assert seq2see(*words) == 130
    decoded.again(stop_at=None)


@IN_TWO_FORMATS
def test_starting_anew_does_not_throw_away_what_was_done(
    run: Path, source: Path, seq2see: Call, decoded: Counted, capfd: pytest.CaptureFixture[str]
) -> None:
    out = source.with_name("out")
    interrupted(seq2see, decoded, "translate", run, source, "-o", out, *QUICK)
    left = {path.name: path.read_bytes() for path in source.parent.iterdir()}
    capfd.readouterr()
    assert seq2see("translate", run, source, "-o", out, *QUICK) == 2
    message = capfd.readouterr().err
    assert "--resume" in message
    assert "delete" in message
    assert {path.name: path.read_bytes() for path in source.parent.iterdir()} == left


def test_standard_input_is_resumed_too(
    run: Path, tmp_path: Path, seq2see: Call, decoded: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever feeds it begins at the beginning again; what was read before has to be the same."""
    texts = numbered(30)
    (tmp_path / "same").write_text(as_text([*texts, "more"]))
    (tmp_path / "other").write_text(as_text(["other", *texts[1:]]))
    (tmp_path / "first").write_text(as_text(texts))
    words = ["translate", run, "-o", tmp_path / "out", *QUICK]
    codes = []
    for name, stop_at in (("first", 3), ("other", None), ("same", None)):
        decoded.again(stop_at=stop_at)
        with (tmp_path / name).open() as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            codes.append(seq2see(*words, *(["--resume"] if codes else [])))
    assert codes == [130, 2, 0]
    assert len(decoded.texts) == 31 - 12
    assert seq2see("translate", run, tmp_path / "same", "-o", tmp_path / "whole", *QUICK) == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


# ----- 7: the same job, or none


@IN_TWO_FORMATS
def test_resume_goes_on_with_the_same_input_only(
    run: Path, source: Path, seq2see: Call, decoded: Counted, capfd: pytest.CaptureFixture[str]
) -> None:
    out, write = source.with_name("out"), FORMATS[source.name]
    words = ["translate", run, source, "-o", out, *QUICK]
    interrupted(seq2see, decoded, *words)
    part = out.with_name(out.name + PART)
    left = part.read_bytes(), part.with_name(part.name + ".json").read_bytes()
    texts = numbered(30)
    for changed in ([*texts[:2], "다른", *texts[3:]], texts[::-1], texts[:3], []):
        source.write_text(write(changed), encoding="utf-8")
        capfd.readouterr()
        assert seq2see(*words, "--resume") == 2, changed
        message = capfd.readouterr().err
        assert str(part) in message
        assert message.count("\n") == 1
        assert not decoded.texts
        assert (part.read_bytes(), part.with_name(part.name + ".json").read_bytes()) == left
    source.write_text(write(texts), encoding="utf-8")
    assert seq2see(*words, "--resume") == 0


@IN_TWO_FORMATS
def test_resume_goes_on_with_the_same_settings_only(
    run: Path,
    other_run: Path,
    source: Path,
    seq2see: Call,
    decoded: Counted,
    capfd: pytest.CaptureFixture[str],
) -> None:
    out, terms = source.with_name("out"), source.with_name("terms.tsv")
    terms.write_text("학생\tpupil\n")
    words = ["translate", run, source, "-o", out, "--beam", "1"]
    interrupted(seq2see, decoded, *words, "--search", "max_length=6")
    changes: list[tuple[list[object], str]] = [
        (["translate", other_run, *words[2:], "--search", "max_length=6"], "run"),
        ([*words, "--search", "max_length=5"], "max_length 6, not 5"),
        ([*words, "--search", "max_length=6", "--beam", "2"], "beam 1, not 2"),
        ([*words, "--search", "max_length=6", "--prefix", "Well"], "prefix"),
        ([*words, "--search", "max_length=6", "--constraints", terms], "constraints"),
        ([*words, "--search", "max_length=6", "--with", other_run], "run"),
    ]
    for changed, what in changes:
        capfd.readouterr()
        assert seq2see(*changed, "--resume") == 2
        message = capfd.readouterr().err
        assert what in message
        assert message.count("\n") == 1
        assert not decoded.texts
    assert seq2see(*words, "--search", "max_length=6", "--resume") == 0


@IN_TWO_FORMATS
def test_resume_does_not_go_on_with_a_part_that_was_changed(
    run: Path, source: Path, seq2see: Call, decoded: Counted, capfd: pytest.CaptureFixture[str]
) -> None:
    out = source.with_name("out")
    words = ["translate", run, source, "-o", out, *QUICK]
    interrupted(seq2see, decoded, *words)
    part = out.with_name(out.name + PART)
    content, about = part.read_bytes(), part.with_name(part.name + ".json")
    part.write_bytes(content + b"torn off in the middle of a wri")
    assert seq2see(*words, "--resume") == 0
    whole = out.read_bytes()
    out.unlink()
    interrupted(seq2see, decoded, *words)
    told = about.read_bytes()
    if content:
        part.write_bytes(b"?" + content[1:])
        capfd.readouterr()
        assert seq2see(*words, "--resume") == 2
        assert "changed" in capfd.readouterr().err
        part.write_bytes(content)
    for damaged in (b"", b"{", b"[]", b"{}", told.replace(b'"version"', b'"verse"')):
        about.write_bytes(damaged)
        capfd.readouterr()
        assert seq2see(*words, "--resume") == 2
        message = capfd.readouterr().err
        assert str(about) in message
        assert message.count("\n") == 1
    about.write_bytes(told)
    assert seq2see(*words, "--resume") == 0
    assert out.read_bytes() == whole


# ----- 17: what deserves a look


def test_a_report_lists_what_deserves_a_look(
    run: Path, tmp_path: Path, seq2see: Call, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from seq2see.text import Tokenizer

    monkeypatch.setattr(Tokenizer, "decode", lambda self, ids: "")
    (tmp_path / "in.txt").write_text("나는\n\n   \n너는\n")
    words = [
        "translate",
        run,
        tmp_path / "in.txt",
        "-o",
        tmp_path / "out.txt",
        "--beam",
        "1",
        "--search",
        "max_length=3",
    ]
    assert seq2see(*words, "--report", tmp_path / "look.tsv") == 0
    message = capfd.readouterr().err
    assert "2 empty (line 1, 4)" in message
    assert str(tmp_path / "look.tsv") in message
    header, *rows = [line.split("\t") for line in (tmp_path / "look.tsv").read_text().split("\n")[:-1]]
    assert header == ["line", "id", "problem", "source", "translation"]
    assert [row[:4] for row in rows if row[2] == "empty"] == [["1", "", "empty", "나는"], ["4", "", "empty", "너는"]]
    assert seq2see(*words, "--report", tmp_path / "look.jsonl") == 0
    told = [json.loads(line) for line in (tmp_path / "look.jsonl").read_text().split("\n")[:-1]]
    assert [[str(one[name]) for name in header] for one in told] == rows
    capfd.readouterr()
    assert seq2see(*words) == 0
    assert "--report FILE lists them" in capfd.readouterr().err


def test_a_report_on_a_document(
    run: Path, tmp_path: Path, seq2see: Call, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from seq2see.text import Tokenizer

    said = ""
    monkeypatch.setattr(Tokenizer, "decode", lambda self, ids: said)
    source = tmp_path / "a.jsonl"
    source.write_text(as_jsonl(["나는 %s 학생", "그는"]) + "{bad\n" + as_jsonl(["너는 선생님"]), encoding="utf-8")
    words = ["translate", run, source, "-o", tmp_path / "out", "--beam", "1", "--search", "max_length=9"]
    assert seq2see(*words) == 0
    message = capfd.readouterr().err
    assert "0 translated" in message
    assert "3 empty (line 1, 2, 4)" in message
    said, report = "words", tmp_path / "look.tsv"
    assert seq2see(*words, "--report", report) == 0
    message = capfd.readouterr().err
    assert "3 translated" in message
    assert "1 repaired (line 1)" in message
    rows = [line.split("\t") for line in report.read_text().split("\n")[1:-1]]
    assert ["1", "1", "repaired", "나는 %s 학생", "%s words"] in rows
    assert [row[0] for row in rows if row[2] == "not translated"] == ["3"]


# ----- 24: rough edges


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["RUN", "in.txt", "--workers", "0"], "--workers"),
        (["in.txt", "in.txt"], "in.txt: not a run folder"),
        (["RUN", "나는 학생 입니다"], "echo '나는 학생 입니다' | seq2see translate"),
        (["RUN", "in.txt", "--resume"], "needs --out"),
        (["RUN", "a.po", "--resume"], "needs --out"),
        (["RUN", "in.txt", "-o", "nothing-here", "--resume"], "nothing to resume"),
        (["RUN", "a.po", "-o", "nothing-here", "--resume"], "nothing to resume"),
        (["RUN", "in.txt", "-o", "no/such/folder"], "no folder"),
        (["RUN", "a.po", "-o", "no/such/folder"], "no folder"),
        (["RUN", "in.txt", "-o", "."], "is a folder"),
        (["RUN", "in.txt", "--report", "no/such/folder"], "no folder"),
    ],
)
def test_wrong_words(
    run: Path,
    tmp_path: Path,
    seq2see: Call,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.txt").write_text("나는\n")
    Path("a.po").write_text(as_po(["나는"]))
    assert seq2see("translate", *[run if word == "RUN" else word for word in words]) == 2
    told = capfd.readouterr().err
    assert message in told
    assert "Traceback" not in told
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["a.po", "in.txt"]


def test_a_dash_is_standard_input(
    run: Path, tmp_path: Path, seq2see: Call, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text("나는\n너는\n")
    with (tmp_path / "in.txt").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert seq2see("translate", run, "-", *QUICK) == 0
    assert capfd.readouterr().out.count("\n") == 2
