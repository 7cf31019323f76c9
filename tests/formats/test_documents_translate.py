"""A document in, a document out: what a translator is shown, how files are written, how much is held."""

import gc
import gzip
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import ConfigError, DataError, Seq2SeeError
from seq2see.formats import format_of, open_document
from seq2see.formats.documents import translating
from seq2see.formats.documents.frame import framed, settled
from seq2see.formats.documents.placeholders import faithful
from seq2see.formats.documents.translating import Outcome, translate_document, translated_bytes
from seq2see.formats.documents.writing import new_file
from seq2see.formats.reading import markup


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  Save %s \n", ["Save %s"]),
        ("<b> <i>Save</i></b>", ["Save"]),
        ("<b>a</b> <b>c</b>", ["<b>a</b> <b>c</b>"]),
        ("<b>a</b>", ["a"]),
        ("<b>a <b>c</b></b>", ["a <b>c</b>"]),
        ("one\n\n two\r\n%s: {0}\n---", ["one", "two"]),
        ("<br>a", ["<br>a"]),
        ("{\\an8}<i>a</i>", ["a"]),
        ("<x/>a</x>", ["<x/>a</x>"]),
        ("%s", []),
        ("", []),
        ("12", ["12"]),
    ],
)
def test_frames(text, shown):
    frame = framed(text)
    assert list(frame.texts) == shown
    assert frame.filled(shown) == text


texts = st.text(max_size=40) | st.lists(
    st.sampled_from(
        ["<b>", "</b>", "<1>", "</1>", "%s", "\n", " ", "\r", "a", "글 ", "{\\an8}", "\u2028", "\x85", "<v A>"]
    )
).map("".join)


@given(texts)
def test_what_was_taken_apart_goes_together_again(text):
    text = text.encode("utf-8", "replace").decode()
    frame = framed(text)
    assert frame.filled(frame.texts) == text
    assert all(shown.strip() == shown != "" and "\n" not in shown for shown in frame.texts)
    other = frame.filled([f"\n{shown.upper()}\nx\n" for shown in frame.texts])
    assert faithful(text, other)
    assert other.count("\n") == text.count("\n")


def test_settled():
    assert settled("\n a %s ", "b") == "\n b %s "
    assert settled(" a ", "  ") == ""
    assert settled("a", "\ud800") == "\ufffd"


def write(path: Path, content: str) -> Path:
    path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return path


def test_formats(tmp_path):
    names = ["a.po", "a.POT.gz", "b.xlf", "b.xliff", "c.srt", "d.vtt", "e.jsonl", "e.ndjson.gz", "f.txt", "g.gz", "h"]
    formats = ["po", "po", "xliff", "xliff", "srt", "vtt", "jsonl", "jsonl", None, None, None]
    assert [format_of(name) for name in names] == formats
    with pytest.raises(DataError, match="no such file"):
        open_document(tmp_path / "a.po")
    path = write(tmp_path / "a.txt", '{"source":"a"}')
    with pytest.raises(DataError, match=r"\.po \.pot .*name its format"):
        open_document(path)
    assert next(open_document(path, "jsonl").segments()).text == "a"
    with pytest.raises(ConfigError, match="did you mean 'jsonl'"):
        open_document(path, "json")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="existing"):
        open_document(path, "jsonl", existing="drop")  # type: ignore[arg-type]


def test_the_same_text_is_translated_once_and_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(translating, "CHUNK_SEGMENTS", 3)
    path = write(tmp_path / "a.jsonl", "".join(f'{{"source":"{word}"}}\n' for word in "abacda"))
    calls = []

    def translate(texts):
        calls.append(list(texts))
        return (text.upper() for text in texts)  # any iterable will do

    told = []
    outcome = translate_document(open_document(path), translate, tmp_path / "out", lambda *counts: told.append(counts))
    assert calls == [["a", "b"], ["c", "d", "a"]]
    assert [line[-4:] for line in (tmp_path / "out").read_text().splitlines()] == [f'"{word}"}}' for word in "ABACDA"]
    assert told == [(3, 6), (6, 6)]
    assert outcome == Outcome(translated=6)


def test_a_translator_that_miscounts_is_caught(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"source":"a"}\n{"source":"b"}\n')
    for wrong in (lambda texts: texts[1:], lambda texts: [*texts, "c"]):
        with pytest.raises(ValueError, match="translations for 2 texts"):
            translate_document(open_document(path), wrong, tmp_path / "out.jsonl")
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]


def test_write_takes_translations_in_order(tmp_path):
    path = write(tmp_path / "a.po", 'msgid " %d a\\n"\nmsgid_plural "b"\nmsgstr[0] ""\nmsgstr[1] ""\n')
    open_document(path).write(tmp_path / "b.po", ["eins", "zwei"])
    assert (tmp_path / "b.po").read_text().endswith('msgstr[0] " %d eins\\n"\nmsgstr[1] "zwei"\n')
    for wrong, message in (
        (["eins"], "end before the segment of line 1"),
        (["eins", "zwei", "drei"], "more translations"),
    ):
        with pytest.raises(ValueError, match=message):
            open_document(path).write(tmp_path / "c.po", wrong)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.po", "b.po"]


# ---------------------------------------------------------------------------------------------------- writing


def test_an_error_leaves_what_was_there(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"source":"a"}')
    out = write(tmp_path / "out.jsonl", "before")

    def broken(texts):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        translate_document(open_document(path), broken, out)
    assert out.read_text() == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.jsonl", "out.jsonl"]
    translate_document(open_document(path), lambda texts: ["b"], path)  # onto itself
    assert path.read_text() == '{"source":"a","target":"b"}'


def test_packed_output_is_the_same_each_time(tmp_path):
    path = write(tmp_path / "a.jsonl.gz", '{"source":"a"}\n')
    for name in ("b.jsonl.gz", "c.jsonl.gz"):
        translate_document(open_document(path), lambda texts: texts, tmp_path / name)
    assert (tmp_path / "b.jsonl.gz").read_bytes() == (tmp_path / "c.jsonl.gz").read_bytes()
    assert (tmp_path / "b.jsonl.gz").read_bytes()[4:8] == bytes(4)  # the time of writing is left out
    assert gzip.decompress((tmp_path / "b.jsonl.gz").read_bytes()) == b'{"source":"a","target":"a"}\n'


def test_places_that_cannot_be_written(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"source":"a"}')
    for out, message in ((tmp_path / "no" / "b.jsonl", "does not exist"), (tmp_path, "is a folder")):
        with pytest.raises(DataError, match=message):
            translate_document(open_document(path), lambda texts: texts, out)


def test_a_pipe_is_written_straight(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = write(tmp_path / "a.jsonl", '{"source":"a"}')
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    translate_document(open_document(path), lambda texts: texts, pipe)
    assert reader.communicate(timeout=600)[0] == b'{"source":"a","target":"a"}'
    assert pipe.is_fifo()


def test_a_pipe_is_read_in_one_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(translating, "check", lambda _: pytest.fail("a second pass would wait for ever"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f'printf \'{{"source":"a"}}\\n\' > {pipe}'])
    translate_document(open_document(pipe, "jsonl"), lambda texts: texts, tmp_path / "out")
    writer.wait(timeout=600)
    assert (tmp_path / "out").read_text() == '{"source":"a","target":"a"}\n'


@pytest.mark.parametrize("size", [700, 10_000])  # less and more than what is held back before it is written
@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path, name, size):
    """A child with a limit on the size of files: what a full disk looks like to it."""
    script = f"""
import os, resource, signal
from pathlib import Path
from seq2see.formats.documents.writing import new_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with new_file(Path({str(tmp_path / name)!r})) as put:
        for _ in range(1000):
            put(os.urandom({size}))
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=600)
    assert done.stdout.startswith(f"DataError {tmp_path / name}: cannot be written")
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_no_space_left_says_so(tmp_path):
    with pytest.raises(DataError, match="no space left"), new_file(Path("/dev/full")) as put:
        put(b"x" * 10**6)


# ---------------------------------------------------------------------------------------------------- memory


def rows(kind: str, count: int):
    """A document of so many segments, piece by piece."""
    heads = {"jsonl": "", "srt": "", "po": "", "xliff": "<xliff><file><body>\n", "vtt": "WEBVTT\n\n"}
    yield heads[kind]
    cue = "00:00:00,000 --> 00:00:01,000\nword number {0}\nand more words\n\n"
    row = {
        "jsonl": '{{"source": "word number {0} and more words", "id": {0}}}\n',
        "srt": "{0}\n" + cue,
        "vtt": "{0}\n" + cue.replace(",", "."),
        "po": '#: a.c:{0}\nmsgid "word number {0} and more words"\nmsgstr ""\n\n',
        "xliff": '<trans-unit id="{0}"><source>word number {0} and <g id="1">more</g> words</source></trans-unit>\n',
    }[kind]
    for number in range(count):
        yield row.format(number)
    yield "</body></file></xliff>" if kind == "xliff" else ""


@pytest.mark.parametrize(
    "kind", ["xliff", "srt", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("po", "jsonl", "vtt"))]
)
def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(translating, "CHUNK_SEGMENTS", 50)
    monkeypatch.setattr(markup, "CHUNK", 4096)
    path = tmp_path / f"a.{kind}"
    peaks = []
    for count in (400, 2_200):
        with path.open("w") as file:
            file.writelines(rows(kind, count))
        outcome = Outcome()
        gc.collect()  # what earlier tests have left is not this one's
        tracemalloc.start()
        for _ in translated_bytes(open_document(path), lambda texts: [text + "!" for text in texts], outcome):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert outcome.translated == count
    assert peaks[1] < peaks[0] + 500_000  # 1800 more segments would hold more than a megabyte


def test_pieces_can_be_sent_anywhere(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"source":"a"}\n{"source":1}\n')
    outcome = Outcome()
    sent = b"".join(translated_bytes(open_document(path), lambda texts: texts, outcome))
    assert sent.count(b"\n") == 2
    assert (outcome.translated, outcome.problems) == (1, 1)


@given(st.binary(max_size=200), st.sampled_from(["po", "xliff", "srt", "vtt", "jsonl"]))
def test_any_bytes_are_translated_or_refused_in_one_line(tmp_path_factory, data, kind):
    folder = tmp_path_factory.getbasetemp() / "bytes"
    folder.mkdir(exist_ok=True)
    heads = {"po": b'msgid "a"\nmsgstr ""\n', "xliff": b"<xliff>", "srt": b"", "vtt": b"WEBVTT\n\n", "jsonl": b""}
    path = folder / "a"
    path.write_bytes(heads[kind] + data)
    try:
        translate_document(open_document(path, kind), lambda texts: texts, folder / "out")
    except Seq2SeeError as error:
        message = str(error)
    else:
        message = ""
    assert "\n" not in message
