"""Small files that would eat the machine: refused in one line, before the memory or the disk is full."""

import gzip
import tracemalloc
from pathlib import Path

import pytest

from seq2see.errors import DataError
from seq2see.formats import open_document, po, read_pairs, subtitles, tmx, xliff
from seq2see.formats.reading import lines, markup, unpacking
from seq2see.formats.reading.lines import read_lines
from seq2see.session.constraints import read_constraints
from seq2see.speech.corpus.sources import read_corpus

UNIT = "<trans-unit id='1'><source>{}</source><target>b</target></trans-unit>"
XLIFF = "<xliff><file><body>{}</body></file></xliff>"
TMX = "<tmx><body><tu><tuv xml:lang='en'><seg>{}</seg></tuv><tuv xml:lang='ko'><seg>b</seg></tuv></tu></body></tmx>"


def pack(path: Path, row: bytes, count: int, head: bytes = b"") -> Path:
    with gzip.open(path, "wb", 6) as stream:
        stream.write(head)
        for _ in range(count // 1000):
            stream.write(row * 1000)
    return path


def refused(read) -> str:
    with pytest.raises(DataError) as caught:
        for _ in read():
            pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


def peak(read) -> tuple[int, str]:
    """Bytes held at most until it was refused, and what was said."""
    tracemalloc.start()
    try:
        message = refused(read)
        return tracemalloc.get_traced_memory()[1], message
    finally:
        tracemalloc.stop()


BOMBS = {
    "a.tsv": (b"a" * 29 + b"\tb\n", b""),
    "a.csv": (b"a" * 29 + b",b\n", b""),
    "a.jsonl": (b'{"source":"' + b"a" * 200 + b'","target":"b"}\n', b""),
    "a.po": (b'msgid "' + b"a" * 200 + b'"\nmsgstr "b"\n\n', b""),
    "a.tmx": (b"<a>" + b"a" * 200 + b"</a>", b"<tmx><body>"),
    "a.xlf": (b"<a>" + b"a" * 200 + b"</a>", b"<xliff><file>"),
    "a.mo": (b"\0", b"\xde\x12\x04\x95"),
    "a.srt": (b"\n", b"1\n00:00:01,000 --> 00:00:02,000\na\n"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if place % 2 else []) for place, name in enumerate(BOMBS)]
)
def test_a_gz_that_unpacks_to_hundreds_of_times_its_size(tmp_path, monkeypatch, name):
    """2 MB out of some KB; with the true limits it is 2 GB out of 2 MB."""
    monkeypatch.setattr(unpacking, "FREE", 2**16)
    row, head = BOMBS[name]
    path = pack(tmp_path / f"{name}.gz", row, 2_000_000 // len(row), head)
    paths = [path, path] if name == "a.srt" else path
    most, message = peak(lambda: read_pairs(paths))
    assert "unpacks to more than 200 times its size" in message
    assert most < 1_500_000


@pytest.mark.parametrize("name", ["a.jsonl", "a.po", "a.xlf", "a.srt", "a.vtt"])
def test_documents_have_the_same_limit(tmp_path, monkeypatch, name):
    monkeypatch.setattr(unpacking, "FREE", 2**16)
    row, head = {"a.vtt": (b"\n", b"WEBVTT\n")}.get(name) or BOMBS[name]
    path = pack(tmp_path / f"{name}.gz", row, 2_000_000 // len(row), head)
    assert "unpacks to more than 200 times its size" in refused(lambda: open_document(path).parts())


def test_beside_pairs(tmp_path, monkeypatch):
    """Texts, glossaries, recordings."""
    monkeypatch.setattr(unpacking, "FREE", 2**18)
    monkeypatch.setattr("seq2see.session.constraints.MOST_TERMS", 10**9)
    terms = pack(tmp_path / "a.tsv.gz", b"# a comment on nothing\n", 50_000)
    assert "200 times" in refused(lambda: read_constraints(terms).terms)
    assert "200 times" in refused(lambda: read_corpus(str(pack(tmp_path / "b.tsv.gz", b"\n", 2_000_000))))
    assert "200 times" in refused(lambda: read_lines(pack(tmp_path / "c.txt.gz", b"\n", 2_000_000)))


def test_honest_files_beyond_the_limits(tmp_path, monkeypatch):
    """What is plain, or packed as text is, may be as large as it wants."""
    monkeypatch.setattr(unpacking, "FREE", 2**12)
    rows = "".join(f"source {number} text\ttarget {number * 7919 % 10007} words\n" for number in range(20_000))
    for name, data in (("a.tsv", rows.encode()), ("a.tsv.gz", gzip.compress(rows.encode(), 9))):
        (tmp_path / name).write_bytes(data)
        assert sum(1 for _ in read_pairs(tmp_path / name)) == 20_000
    (tmp_path / "b.tsv").write_bytes(b"a\tb\n" * 20_000)
    assert sum(1 for _ in read_pairs(tmp_path / "b.tsv")) == 20_000
    monkeypatch.setattr(unpacking, "LARGEST_UNPACKED", 10_000)
    assert "unpack it and name the plain file" in refused(lambda: read_pairs(tmp_path / "a.tsv.gz"))


# ---------------------------------------------------------------------------------------------------- XML


def both(tmp_path: Path, content: str):
    """An exchange file for pairs, and to be translated."""
    path = tmp_path / "a.xlf"
    path.write_text(content)
    return [lambda: read_pairs(path), lambda: open_document(path, existing="replace").parts()]


def test_elements_nested_without_end(tmp_path):
    for read in both(tmp_path, XLIFF.format(UNIT.format("<g>" * 100_000 + "a" + "</g>" * 100_000))):
        assert "nested deeper than 256" in refused(read)
    (tmp_path / "a.tmx").write_text("<tmx>" + "<a>" * 1000)
    assert "nested deeper than 256" in refused(lambda: read_pairs(tmp_path / "a.tmx"))
    fine = "<g>" * 200 + "a" + "</g>" * 200
    for read in both(tmp_path, XLIFF.format(UNIT.format(fine))):
        assert len(list(read())) >= 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (XLIFF.format(UNIT.format("<x/>" * 10_001)), "a unit holds more than 10,000 elements"),
        (XLIFF.format("<a " + " ".join(f"b{n}=''" for n in range(300)) + "/>"), "more attributes than 256"),
        (XLIFF.format("".join(f"<a{n}/>" for n in range(11_000))), "more different names"),
        (XLIFF.format("".join(f"<a b{n}=''/>" for n in range(11_000))), "more different names"),
    ],
)
def test_more_than_any_exchange_file_needs(tmp_path, content, said):
    for read in both(tmp_path, content):
        assert said in refused(read)
    (tmp_path / "a.tmx").write_text(content.replace("xliff", "tmx").replace("trans-unit", "tu"))
    assert said in refused(lambda: read_pairs(tmp_path / "a.tmx"))


@pytest.mark.parametrize(
    "content",
    [
        "<xliff><!-- " + "a" * 300_000,
        "<xliff><?pi " + "a" * 300_000,
        "<xliff a='" + "a" * 300_000,
        "<xliff " + " " * 300_000,
        "<!DOCTYPE xliff [" + "<!ELEMENT a ANY>" * 20_000,
    ],
)
def test_what_a_parser_would_hold_as_a_whole(tmp_path, monkeypatch, content):
    monkeypatch.setattr(markup, "LARGEST_TAG", 2**16)
    for read in both(tmp_path, content):
        assert "longer than 64 KiB" in refused(read)


def test_a_unit_without_end(tmp_path, monkeypatch):
    for module in (markup, tmx, xliff):
        monkeypatch.setattr(module, "LARGEST_UNIT", 2**18)
    for read in both(tmp_path, XLIFF.format(UNIT.format("a" * 500_000))):
        most, message = peak(read)
        assert "a unit is longer than" in message
        assert most < 3 * 2**20
    (tmp_path / "a.tmx").write_text(TMX.format("a" * 500_000))
    assert "a unit is longer than" in refused(lambda: read_pairs(tmp_path / "a.tmx"))


def test_text_outside_of_units_is_not_held(tmp_path, monkeypatch):
    """A skeleton inside the file may be larger than any unit."""
    for module in (markup, xliff):
        monkeypatch.setattr(module, "LARGEST_UNIT", 2**18)
    content = f"<xliff><file><skl>{'가a' * 300_000}</skl><body>{UNIT.format('a')}</body></file></xliff>"
    pairs, parts = (list(read()) for read in both(tmp_path, content))
    assert [(pair.source, pair.target) for pair in pairs] == [("a", "b")]
    assert b"".join(part.data for part in parts if hasattr(part, "data")).decode().count("가a") == 300_000


def test_elements_outside_of_units_are_not_held(tmp_path):
    path = tmp_path / "a.tmx"
    peaks = []
    for count in (20_000, 60_000):
        path.write_text(f"<tmx><body>{'<a/>' * count}</body></tmx>")
        peaks.append(peak(lambda: read_pairs(path))[0])
    assert peaks[1] < 1.2 * peaks[0]


# ---------------------------------------------------------------------------------------------------- lines that go on


def test_records_that_run_over_lines_without_end(tmp_path, monkeypatch):
    for module in (lines, po, subtitles):
        monkeypatch.setattr(module, "LONGEST_LINE", 2**16)
    monkeypatch.setattr("seq2see.formats.pairs.LONGEST_LINE", 2**16)
    cases = {
        "a.csv": ('"a\n",' * 30_000, "a row without end"),
        "a.po": ('msgid "a"\nmsgstr ""\n' + '"a"\n' * 30_000, "an entry without end"),
        "a.srt": ("1\n00:00:01,000 --> 00:00:02,000\n" + "a\n" * 60_000, "a cue without end"),
    }
    for name, (content, said) in cases.items():
        path = tmp_path / name
        path.write_text(content)
        assert said in refused(lambda path=path: read_pairs([path, path] if path.suffix == ".srt" else path)), name
        if name != "a.csv":
            assert said in refused(lambda path=path: open_document(path).parts()), name


def test_lists_that_are_held_have_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(subtitles, "MOST_CUES", 5)
    film = tmp_path / "a.srt"
    film.write_text("".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},500\na\n\n" for n in range(1, 8)))
    assert "more than 5 cues" in refused(lambda: read_pairs([film, film]))
    monkeypatch.setattr("seq2see.session.constraints.MOST_TERMS", 5)
    terms = tmp_path / "terms.tsv"
    terms.write_text("a\tb\n" * 6)
    assert "more than 5 terms" in refused(lambda: read_constraints(terms).terms)
    terms.write_text("a" * 2000 + "\tb\n")
    assert "more than 1,000 characters" in refused(lambda: read_constraints(terms).terms)
    monkeypatch.setattr("seq2see.speech.corpus.sources.MOST_UTTERANCES", 5)
    (tmp_path / "a.wav").write_bytes(b"")
    recordings = tmp_path / "recordings.tsv"
    recordings.write_text("a.wav\ttext\n" * 6)
    assert "more than 5 recordings" in refused(lambda: read_corpus(str(recordings)))


def test_many_blank_lines_between_cues_are_only_blank(tmp_path):
    path = tmp_path / "a.srt"
    path.write_text("1\n00:00:01,000 --> 00:00:02,000\na\n" + "\n" * 25_000 + "2\n00:00:03,000 --> 00:00:04,000\nb\n")
    parts = list(open_document(path).parts())
    assert sum(part.data.count(b"\n") for part in parts if hasattr(part, "data")) == 25_000
    assert [segment.id for segment in open_document(path).segments()] == ["1", "2"]
