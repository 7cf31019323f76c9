"""`seq2see translate` on files with structure: everything but the translations stays, placeholders too."""

import json
import sys
from pathlib import Path

import pytest

from seq2see.cli import main
from seq2see.formats.documents.placeholders import faithful

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import make_run

PO = """# a comment
msgid ""
msgstr "Language: en\\nPlural-Forms: nplurals=2; plural=(n != 1);\\n"

#: a.c:3
msgid "나는 %s 학생 <b>입니다</b>"
msgstr ""

msgid "이미"
msgstr "already"

msgid "파일 %d개"
msgid_plural "파일 %d개들"
msgstr[0] ""
msgstr[1] ""
"""
SRT = "1\n00:00:01,000 --> 00:00:02,000\n나는 <i>학생</i>\n입니다\n\n2\n00:00:03,000 --> 00:00:04,000\n책\n"
JSONL = '{"id": 1, "source": "나는"}\n{bad\n{"source": "\\ud800"}\n{"source": 3}\n\n{"source": "너는 {0}", "x": [1]}\n'
XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="a" source-language="ko" target-language="en" datatype="plaintext"><body>
    <trans-unit id="1"><source>나는 <g id="1">학생</g> %s</source></trans-unit>
  </body></file>
</xliff>
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", "luong", sharp=2.0)


def translate(
    monkeypatch: pytest.MonkeyPatch, run: Path, source: Path, out: Path, *options: str, expected: int = 0
) -> None:
    words = ["translate", str(run), str(source), "-o", str(out), "--beam", "2", "--search", "max_length=24", *options]
    monkeypatch.setattr(sys, "argv", ["seq2see", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code or 0) == expected


def made(tmp_path: Path, name: str, content: str) -> tuple[Path, Path]:
    (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path / name, tmp_path / f"out.{name}"


def test_a_catalogue(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import polib

    source, out = made(tmp_path, "app.po", PO)
    translate(monkeypatch, run, source, out)
    before, after = polib.pofile(str(source)), polib.pofile(str(out))
    assert [entry.msgid for entry in after] == [entry.msgid for entry in before]
    assert after[1].msgstr == "already"
    assert not after[1].fuzzy
    assert after[0].fuzzy
    assert faithful(after[0].msgid, after[0].msgstr)
    forms = after[2].msgstr_plural
    assert set(forms) == {0, 1}
    assert all("%d" in form for form in forms.values())
    assert out.read_text(encoding="utf-8").startswith("# a comment\n")
    assert not list(tmp_path.glob(".*"))


def test_subtitles(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = made(tmp_path, "film.srt", SRT)
    translate(monkeypatch, run, source, out)
    text = out.read_text(encoding="utf-8")
    assert [line for line in text.split("\n") if "-->" in line] == [line for line in SRT.split("\n") if "-->" in line]
    assert text.count("<i>") == text.count("</i>") == 1


def test_records(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    source, out = made(tmp_path, "data.jsonl", JSONL)
    translate(monkeypatch, run, source, out)
    lines = out.read_text(encoding="utf-8").split("\n")
    assert len(lines) == len(JSONL.split("\n"))
    assert lines[1] == "{bad"
    assert "surrogate" in json.loads(lines[2])["error"]
    assert "not a text" in json.loads(lines[3])["error"]
    last = json.loads(lines[5])
    assert last["x"] == [1]
    assert faithful(last["source"], last["target"])
    assert "3 could not be translated" in capfd.readouterr().err


def test_an_exchange_file(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lxml import etree

    source, out = made(tmp_path, "job.xlf", XLIFF)
    translate(monkeypatch, run, source, out)
    target = etree.parse(str(out)).find(".//{*}target")
    assert target is not None
    assert [child.get("id") for child in target] == ["1"]
    assert "%s" in "".join(target.itertext())


def test_standard_output_gets_the_document(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    source, out = made(tmp_path, "film.srt", SRT)
    translate(monkeypatch, run, source, out)
    translate(monkeypatch, run, source, Path("/dev/stdout"))
    assert capfd.readouterr().out == out.read_text(encoding="utf-8")
    assert Path("/dev/stdout").is_symlink()  # written to, never replaced


@pytest.mark.parametrize(
    ("name", "content", "options", "said"),
    [
        ("a.po", 'msgid "a\n', [], "a.po:1"),
        ("a.xlf", "<xliff", [], "a.xlf"),
        ("a.po", PO, ["--json"], "keeps its own form"),
        ("a.po", PO, ["--existing", "drop"], "--existing drop"),
        ("a.po", PO, ["--nbest", "2"], "keeps its own form"),
    ],
)
def test_bad_documents_get_one_line_and_leave_nothing(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    name: str,
    content: str,
    options: list[str],
    said: str,
) -> None:
    source, out = made(tmp_path, name, content)
    translate(monkeypatch, run, source, out, *options, expected=2)
    told = capfd.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]
