"""Results into a file: in order whatever order they come in, whole or not there, gone on with after any end."""

import gzip
import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from seq2see.errors import ConfigError, RunError, Seq2SeeError
from seq2see.formats.documents.remarks import Remark
from seq2see.session.files import output as writing
from seq2see.session.files.output import OrderedOutput

PIECES = [f"piece {number}\n".encode() * (number % 4) for number in range(40)]
SETTINGS = {"beam": 5, "fields": ["source", "target"], "max_length": None}


def remarks(number: int) -> list[Remark]:
    return [Remark(number + 1, "", "empty", "a\tb", "c\nd")] if number % 7 == 0 else []


def work(output: OrderedOutput, order: Iterable[int], stop: int | None = None) -> int:
    """Reads every piece, makes those that are wanted in this order, and is interrupted before number `stop` of them."""
    wanted = {number for number in range(len(PIECES)) if output.wants(number, b"%d" % number)}
    output.require_proof()
    made = 0
    for number in order:
        if number in wanted:
            if made == stop:
                raise KeyboardInterrupt
            output.put(number, PIECES[number], remarks(number))
            made += 1
    return made


def note_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_SECONDS", -1.0)
    monkeypatch.setattr(writing, "_SHARE", float("inf"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
@pytest.mark.parametrize("stop", [1, 7, 39])
def test_in_any_order_and_interrupted_again_and_again(tmp_path: Path, name: str, stop: int) -> None:
    report, out = tmp_path / "report.tsv", tmp_path / name
    order = random.Random(stop).sample(range(40), 40)
    made, resume = 0, False
    while not out.exists():
        with pytest.MonkeyPatch.context() as patched:
            note_everything(patched)
            try:
                with OrderedOutput(out, SETTINGS, report=report, resume=resume) as output:
                    made += work(output, order, stop)
            except KeyboardInterrupt:
                made += stop
                resume = True
                assert names(tmp_path) == [f"{name}.seq2see-part{end}" for end in ("", ".json", ".report")]
    assert made == 40
    content = out.read_bytes()
    assert (gzip.decompress(content) if out.suffix == ".gz" else content) == b"".join(PIECES)
    rows = report.read_text().split("\n")
    assert rows[1:-1] == [f"{number + 1}\t\tempty\ta\\tb\tc\\nd" for number in range(0, 40, 7)]
    assert output.tally.counts == {"empty": 6}
    assert output.tally.lines == {"empty": (1, 8, 15)}
    assert names(tmp_path) == sorted([name, "report.tsv"])


def test_a_process_that_is_killed_goes_on_from_its_last_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it wrote after the note, whole or torn, is made again."""
    note_everything(monkeypatch)
    out = tmp_path / "out"
    output = OrderedOutput(out, SETTINGS)
    with pytest.raises(KeyboardInterrupt):
        work(output, list(range(40)), 20)
    output._pause = 1e9
    for number in range(20, 25):
        output.put(number, PIECES[number])
    output._sink.close()  # killed: no word is said
    with OrderedOutput(out, SETTINGS, resume=True) as output:
        assert output.made == 20
        assert work(output, list(range(40))) == 20
    assert out.read_bytes() == b"".join(PIECES)
    assert names(tmp_path) == ["out"]


def test_what_was_begun_and_killed_at_once_is_no_hindrance(tmp_path: Path) -> None:
    for _ in range(2):
        output = OrderedOutput(tmp_path / "out", SETTINGS)
        output._sink.close()
    (tmp_path / "out.seq2see-part").unlink()
    with OrderedOutput(tmp_path / "out", SETTINGS) as output:
        work(output, list(range(40)))
    assert names(tmp_path) == ["out"]


def test_two_processes_do_not_write_the_same_file(tmp_path: Path) -> None:
    with OrderedOutput(tmp_path / "out", SETTINGS) as output:
        for resume in (False, True):
            with pytest.raises(ConfigError, match="another process is writing it"):
                OrderedOutput(tmp_path / "out", SETTINGS, resume=resume)
        work(output, list(range(40)))
    assert (tmp_path / "out").read_bytes() == b"".join(PIECES)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with OrderedOutput(tmp_path / "link", SETTINGS) as output:
        work(output, list(range(40)))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"".join(PIECES)


def test_an_error_on_the_way_keeps_what_was_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    out.write_text("before")
    with pytest.raises(KeyboardInterrupt), OrderedOutput(out, SETTINGS, unit="cues", go_on="the command") as output:
        work(output, list(range(40)), 5)
    assert out.read_text() == "before"
    assert "5 cues are done and kept in" in (message := capsys.readouterr().err)
    assert message.endswith("go on with: the command\n")


def test_a_full_disk_keeps_the_last_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import os

    out = tmp_path / "out"
    note_everything(monkeypatch)
    real = os.fsync

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    def fill(number: int) -> int:
        monkeypatch.setattr(os, "fsync", full if number >= 30 else real)
        return number

    with pytest.raises(RunError, match="no space left"), OrderedOutput(out, SETTINGS) as output:
        work(output, map(fill, range(40)))
    assert "30 lines are done" in capsys.readouterr().err
    monkeypatch.setattr(os, "fsync", real)
    with OrderedOutput(out, SETTINGS, resume=True) as output:
        assert work(output, list(range(40))) == 10
    assert out.read_bytes() == b"".join(PIECES)


def test_a_note_that_somebody_else_wrote_is_refused(tmp_path: Path) -> None:
    out, note = tmp_path / "out", tmp_path / "out.seq2see-part.json"
    with pytest.raises(KeyboardInterrupt), OrderedOutput(out, SETTINGS) as output:
        work(output, list(range(40)), 9)
    saved = json.loads(note.read_text())
    wrong: list[tuple[str, object]] = [
        ("pieces", "9"),
        ("early", [[1]]),
        ("part", {"size": -1}),
        ("part", []),
        ("read", None),
        ("lines", []),
        ("settings", []),
    ]
    for name, value in wrong:
        note.write_text(json.dumps(saved | {name: value}))
        with (
            pytest.raises(Seq2SeeError, match=r"out\.seq2see-part"),
            OrderedOutput(out, SETTINGS, resume=True) as output,
        ):
            work(output, list(range(40)))
        note.write_text(json.dumps({key: content for key, content in saved.items() if key != name}))
        with (
            pytest.raises(Seq2SeeError, match=r"out\.seq2see-part"),
            OrderedOutput(out, SETTINGS, resume=True) as output,
        ):
            work(output, list(range(40)))
