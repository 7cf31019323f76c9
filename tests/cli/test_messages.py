"""What is said about files with odd names, and about many files at once."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from seq2see.cli import main
from seq2see.cli.shell.messages import say
from seq2see.errors import ConfigError, DataError, MissingExtraError, printable

ODD = "a\x1b]0;owned\x07\x1b[2J\n\u202eb\x9b.tsv"


def seq2see(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


def harmless(text: str) -> bool:
    return all(character.isprintable() or character == "\n" for character in text)


def test_errors_are_printable_whatever_they_quote() -> None:
    assert str(DataError("x", path=ODD, line=3)) == "a\\x1b]0;owned\\x07\\x1b[2J\\n\\u202eb\\x9b.tsv:3: x"
    assert str(ConfigError("'\x1b[31m' is unknown")) == "'\\x1b[31m' is unknown"
    assert str(MissingExtraError("a\x07", "b")).startswith("a\\x07 needs the extra 'b'")
    assert printable("이름 é 👍 \\x1b") == "이름 é 👍 \\x1b"
    assert printable("\udcff\ud800\u2028") == "\\xff\\ud800\\u2028"


@pytest.mark.parametrize(
    "words",
    [
        ["data", ODD],
        ["data", "good.tsv", ODD],
        ["data", "good.tsv", "--valid", ODD],
        ["data", "good.tsv", "--clean", f"none/{ODD}"],
        ["translate", ODD],
        ["evaluate", "--hypotheses", ODD, "good.tsv"],
        ["evaluate", ODD, "good.tsv"],
        ["train", "good.tsv", "--out", "run", "--encoding", ODD],
        ["train", "good.tsv", "--out", "run", "--set", f"{ODD}=1"],
        ["train", ODD, "--out", "run"],
    ],
)
def test_no_name_reaches_the_terminal_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.tsv").write_text("하나\tone\n둘\ttwo\n")
    assert seq2see(monkeypatch, *words) == 2
    captured = capfd.readouterr()
    assert harmless(captured.out + captured.err), captured
    assert captured.err.count("\n") == 1


def test_what_was_written_is_printable_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (ODD, "b.tsv"):
        Path(name).write_text("하나\tone\n하나\tone\n둘\ttwo\n")
    assert seq2see(monkeypatch, "data", ODD, "b.tsv", "--valid", ODD, "--clean", f"clean{ODD}") == 0
    captured = capfd.readouterr()
    assert harmless(captured.out + captured.err), captured
    assert "\\x1b" in captured.out
    assert "\\x1b" in captured.err


def test_the_name_of_the_program_stands_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """`verify-resume` starts other trainings, and quotes what they say."""

    def failed(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, 2, "", "loading\nseq2see: recipe.toml: no such recipe\n")

    monkeypatch.setattr(subprocess, "run", failed)
    (tmp_path / "recipe.toml").write_text("")
    assert seq2see(monkeypatch, "verify-resume", tmp_path / "recipe.toml") == 2
    assert capfd.readouterr().err == "seq2see: training failed: recipe.toml: no such recipe\n"
    say(ConfigError("once"))
    assert capfd.readouterr().err == "seq2see: once\n"


def mo(header: str, text: str, translation: str, encoding: str) -> bytes:
    texts = [part.encode(encoding) for part in ("", text, header, translation)]
    head = struct.pack("<7I", 0x950412DE, 0, 2, 28, 44, 0, 0)
    places, offset = b"", 60
    for part in texts:
        places += struct.pack("<2I", len(part), offset)
        offset += len(part) + 1
    return head + places + b"".join(part + b"\0" for part in texts)


def test_many_catalogues_of_which_one_is_in_another_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, encoding in enumerate(("UTF-8", "EUC-KR", "UTF-8")):
        header = f"Language: ko\nContent-Type: text/plain; charset={encoding}\n"
        Path(f"{number}.mo").write_bytes(mo(header, f"Open {number}", "열기", encoding))
    assert seq2see(monkeypatch, "data", "0.mo", "1.mo", "2.mo", "--json") == 0
    report = json.loads(capfd.readouterr().out)
    assert report["pairs"] == 3
    assert report["unread"] == []


def test_of_many_files_one_that_cannot_be_read_is_named_and_the_others_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("하나\tone\n하나\tone\n")
    Path("b.tsv").write_text("둘\ttwo\none column\n")
    Path("c.mo").write_bytes(b"nothing at all, but long enough to be one")
    Path("d.tsv").write_text("하나\tone\n")
    names = ["a.tsv", "b.tsv", "c.mo", "none.tsv", "d.tsv"]
    assert seq2see(monkeypatch, "data", *names, "--clean", "clean.tsv") == 2
    captured = capfd.readouterr()
    assert "pairs                               4" in captured.out
    assert "exact duplicates                    2  a.tsv:2, d.tsv:1" in captured.out
    told = captured.err.split("\n")
    assert told[0].startswith("seq2see: not read, or only up to there: b.tsv:2: one column")
    assert told[1].startswith("seq2see: not read, or only up to there: c.mo: not a compiled gettext catalogue")
    assert told[2].startswith("seq2see: not read, or only up to there: none.tsv: no such file")
    assert told[3].startswith("seq2see: clean.tsv was not written")
    assert not Path("clean.tsv").exists()
    assert seq2see(monkeypatch, "data", *names, "--json") == 2
    assert len(json.loads(capfd.readouterr().out)["unread"]) == 3
    assert seq2see(monkeypatch, "data", "b.tsv") == 2
    assert capfd.readouterr().out == ""
    assert seq2see(monkeypatch, "data", "c.mo", "none.tsv") == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("seq2see: c.mo: not a compiled")
