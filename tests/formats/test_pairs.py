"""Lines, tables and subtitles: what is read, what is refused, and how it is said."""

import csv
import gzip
import io
import json
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from seq2see.errors import ConfigError, DataError
from seq2see.formats import Pair, read_pairs
from seq2see.formats.reading.unpacking import open_bytes
from seq2see.text import normalise

DATA = Path(__file__).parents[2].parent / "shared/data"

texts = st.text(st.characters(codec="utf-8"))
plain = texts.filter(lambda text: "\n" not in text and not text.endswith("\r") and not text.startswith("\ufeff"))
cells = plain.filter(lambda text: "\t" not in text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def refused(*paths: Path, **options) -> DataError:
    with pytest.raises(DataError) as caught:
        list(read_pairs(paths, **options))
    assert "\n" not in str(caught.value)
    return caught.value


# ---------------------------------------------------------------------------------------------------- normal form


def test_all_hangul_syllables_are_the_same_composed_and_decomposed():
    syllables = [chr(code) for code in range(0xAC00, 0xD7A4)]
    assert len(syllables) == 11172
    assert [normalise(unicodedata.normalize("NFD", syllable)) for syllable in syllables] == syllables


def test_normal_forms():
    assert normalise(" ﬁＡ\t") == " ﬁＡ\t"
    assert normalise("ﬁＡ", "NFKC") == "fiA"
    assert normalise("e\u0301", "none") == "e\u0301"
    with pytest.raises(ConfigError, match="NFC"):
        normalise("x", "NFQ")  # type: ignore[arg-type]


def test_readers_compose_by_default(tmp_path):
    path = write(tmp_path / "a.tsv", unicodedata.normalize("NFD", "한글\té\n"))
    assert list(read_pairs(path)) == [Pair("한글", "é", 1)]
    assert next(read_pairs(path, form="none")).target == "e\u0301"
    with pytest.raises(ConfigError):
        read_pairs(path, form="nfx")  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------- TSV and lines


def test_tsv_keeps_what_is_not_a_separator(tmp_path):
    path = write(tmp_path / "a.tsv", '\ufeff# a\t"b\r\n\u2028c\x0b\x85\td\re\textra\tmore\r\n\t')
    assert list(read_pairs([path])) == [Pair("# a", '"b', 1), Pair("\u2028c\x0b\x85", "d\re", 2), Pair("", "", 3)]


def test_one_column(tmp_path):
    error = refused(write(tmp_path / "a.tsv", "a\tb\nc d\n"))
    assert error.line == 2
    assert "tab" in str(error)


def test_two_plain_files_packed_and_not(tmp_path):
    source, target = write(tmp_path / "a.ko.gz", "가\r\n\n나"), write(tmp_path / "a.en", "a\n\u2028\nb\n")
    assert list(read_pairs([source, target])) == [Pair("가", "a", 1), Pair("", "\u2028", 2), Pair("나", "b", 3)]


@pytest.mark.parametrize(("left", "right"), [(5, 2), (2, 5), (0, 1), (1, 0), (3, 2)])
def test_unequal_line_counts_name_both(tmp_path, left, right):
    error = refused(write(tmp_path / "a.ko", "x\n" * left), write(tmp_path / "a.en", "y\n" * right))
    assert error.line == min(left, right) + 1
    assert f"a.ko:{error.line}: {left} lines" in str(error)
    assert f"a.en has {right}" in str(error)


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.tsv.gz", "a.po", "a.tmx", "a.xlf", "a.mo"])
@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_a_file_without_pairs_is_an_error(tmp_path, name, content):
    assert refused(write(tmp_path / name, content)).path == tmp_path / name


def test_two_empty_files(tmp_path):
    assert "no pairs" in str(refused(write(tmp_path / "a", ""), write(tmp_path / "b", "")))


def test_missing_file_folder_and_wrong_numbers_are_told_at_once(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read_pairs(tmp_path / "none.tsv")
    with pytest.raises(DataError, match="folder"):
        read_pairs([tmp_path])
    path = write(tmp_path / "a.tsv", "a\tb")
    for paths in ([], [path] * 3, [path, path]):
        with pytest.raises(DataError):
            read_pairs(paths)
    with pytest.raises(DataError, match="two files"):
        read_pairs(write(tmp_path / "a.txt", "a\n"))
    with pytest.raises(DataError, match="other language"):
        read_pairs(write(tmp_path / "a.srt", "1\n"))


def test_bad_utf8_gives_the_byte_in_the_file(tmp_path):
    error = refused(write(tmp_path / "a.tsv", b"\xef\xbb\xbfa\tb\nc\t\xc3\x28\n"))
    assert error.line == 2
    assert "byte 9" in str(error)
    assert "UTF-16" in str(refused(write(tmp_path / "b.tsv", "a\tb\n".encode("utf-16"))))
    assert ".gz" in str(refused(write(tmp_path / "c.tsv", gzip.compress(b"a\tb\n"))))


def test_broken_and_truncated_gzip(tmp_path):
    packed = gzip.compress("".join(f"{random.random()}\tb\n" for _ in range(5000)).encode())
    path = tmp_path / "a.tsv.gz"
    for data in (b"a\tb\n", packed[: len(packed) // 2], packed[:-4], packed[:5000] + b"\xff" * 50 + packed[5050:]):
        path.write_bytes(data)
        assert "gzip" in str(refused(path))


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path):
    path = tmp_path / "a.tsv.gz"
    with gzip.open(path, "wb", 1) as stream:
        for _ in range(17):
            stream.write(b"\0" * 2**20)
    assert "16 MiB" in str(refused(path))


# ---------------------------------------------------------------------------------------------------- CSV and JSONL


def test_csv_with_and_without_header(tmp_path):
    rows = '"a, ""b""",\'c\n"two\r\nlines",d,extra\n\nlast,'
    expected = [Pair('a, "b"', "'c", 1), Pair("two\r\nlines", "d", 2), Pair("last", "", 5)]
    assert list(read_pairs(write(tmp_path / "a.csv", rows))) == expected
    headed = write(tmp_path / "b.csv", "\ufeffid,Target,Source\r\n1,b,a\r\n")
    assert list(read_pairs(headed)) == [Pair("a", "b", 2)]


@pytest.mark.parametrize("bad", ["only", '"a"b,c', '"open,\n\n'])
def test_bad_csv_names_the_line_where_the_row_begins(tmp_path, bad):
    assert refused(write(tmp_path / "a.csv", 'x,"y\ny"\n' + bad)).line == 3


def test_jsonl(tmp_path):
    path = write(
        tmp_path / "a.jsonl", '{"source": "a", "target": "\\ud83d\\ude00", "id": 1}\n\n{"source":"","target":"b"}'
    )
    assert list(read_pairs(path)) == [Pair("a", "😀", 1), Pair("", "b", 3)]


def test_jsonl_numbers_of_any_size_are_not_computed(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"n": ' + "9" * 10_000 + ', "source": "a", "target": "b"}\n')
    assert list(read_pairs(path)) == [Pair("a", "b", 1)]


def test_jsonl_translation_chooses_languages(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"translation": {"ko": "가", "en-US": "a", "de": "ä"}}\n')
    assert list(read_pairs(path)) == [Pair("가", "a", 1)]
    assert list(read_pairs(path, source_language="en")) == [Pair("a", "가", 1)]
    assert list(read_pairs(path, target_language="ko")) == [Pair("a", "가", 1)]
    assert list(read_pairs(path, source_language="de", target_language="en")) == [Pair("ä", "a", 1)]
    assert "fr" in str(refused(path, source_language="fr"))


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "[]",
        "null",
        '"a"',
        '{"source": "a"}',
        '{"source": "a", "target": 3}',
        '{"source": "a", "target": "\\ud800"}',
        '{"translation": {"ko": "a"}}',
        '{"translation": "a"}',
        "[" * 100_000,
        '{"a": ' + "1" * 5000 + "}",
    ],
)
def test_bad_jsonl(tmp_path, bad):
    error = refused(write(tmp_path / "a.jsonl", '{"source": "a", "target": "b"}\n' + bad + "\n"))
    assert error.line == 2
    assert len(str(error)) < 400


# ---------------------------------------------------------------------------------------------------- subtitles

KOREAN = """1
00:00:01,000 --> 00:00:03,000
<i>안녕하세요.</i>
{\\an8}반갑습니다.

2
00:00:04,000 --> 00:00:07,000
저는 학생이고 제 친구는 선생님이에요.

3
00:00:20,000 --> 00:00:21,000
그래요?

"""
ENGLISH = """\ufeff1\r
00:00:01.100 --> 00:00:03.200\r
Hello. Nice to meet you.\r
\r
2\r
00:00:04,100 --> 00:00:05,500 X1:40\r
I am a student,\r
\r
3\r
00:00:05,600 --> 00:00:07,100\r
and my friend is a teacher.\r
\r
9\r
00:00:30,000 --> 00:00:31,000\r
The end."""


def test_subtitles_meet_by_time(tmp_path):
    pairs = list(read_pairs([write(tmp_path / "a.ko.srt", KOREAN), write(tmp_path / "a.en.srt.gz", ENGLISH)]))
    assert pairs == [
        Pair("안녕하세요. 반갑습니다.", "Hello. Nice to meet you.", 1),
        Pair("저는 학생이고 제 친구는 선생님이에요.", "I am a student, and my friend is a teacher.", 6),
        Pair("그래요?", "", 10),
        Pair("", "The end.", 13),
    ]


def test_cues_that_only_touch_stay_apart(tmp_path):
    cue = "{}\n00:00:0{},000 --> 00:00:0{},{}00\n{}\n\n".format
    source = write(tmp_path / "a.srt", cue(1, 1, 3, 2, "하나") + cue(2, 4, 6, 0, "둘"))
    target = write(tmp_path / "b.srt", cue(1, 1, 2, 9, "one") + cue(2, 3, 6, 0, "two"))
    assert list(read_pairs([source, target])) == [Pair("하나", "one", 1), Pair("둘", "two", 5)]


def test_subtitles_that_run_apart_are_refused(tmp_path):
    late = KOREAN.replace("00:00:", "00:05:")
    error = refused(write(tmp_path / "a.srt", KOREAN), write(tmp_path / "b.srt", late))
    assert "0 of 3 cues" in str(error)


@pytest.mark.parametrize(
    ("bad", "line"),
    [
        ("text without number\n", 5),
        ("2\nno times\n", 6),
        ("2\n", 6),
        ("2\n00:00:03,000 --> 00:00:02,000\nends early\n", 6),
        ("2\n00:00:00,100 --> 00:00:00,200\ntoo early\n", 6),
        ("2\n00:00:03,000 --> 00:00:04,000\ntext\n3\n00:00:05,000 --> 00:00:06,000\nmore\n", 9),
    ],
)
def test_bad_subtitles(tmp_path, bad, line):
    path = write(tmp_path / "a.srt", "1\n00:00:01,000 --> 00:00:02,000\nfine\n\n" + bad)
    assert refused(path, path).line == line


def test_times_without_hours_pair_as_those_with_them(tmp_path):
    short = write(tmp_path / "a.srt", "1\n01:02,5 --> 01:03,500\na\n")
    long = write(tmp_path / "b.srt", "1\n00:01:02,500 --> 00:01:03,500\nb\n")
    assert list(read_pairs([short, long])) == [Pair("a", "b", 1)]


def test_cues_agree_with_pysubs2(tmp_path):
    pysubs2 = pytest.importorskip("pysubs2")
    from seq2see.formats.subtitles import read_cues

    for content in (KOREAN, ENGLISH):
        ours = [(cue.start, cue.end, cue.text) for cue in read_cues(write(tmp_path / "a.srt", content))]
        events = pysubs2.SSAFile.from_string(content.replace("\r", ""))
        assert ours == [(event.start, event.end, event.plaintext.replace("\n", " ")) for event in events]


# ---------------------------------------------------------------------------------------------------- properties


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5), st.sampled_from(["", ".gz"]))
@example([("\r", "\x85\u2028")], "")
def test_tsv_round_trip(folder, pairs, packed):
    path = write(folder / f"a.tsv{packed}", "".join(f"{s}\t{t}\n" for s, t in pairs))
    assert [(p.source, p.target) for p in read_pairs(path, form="none")] == pairs
    assert [p.source for p in read_pairs(path)] == [unicodedata.normalize("NFC", s) for s, _ in pairs]


@given(st.lists(st.tuples(plain, plain), min_size=1, max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_plain_round_trip(folder, pairs, end):
    files = [write(folder / name, "".join(pair[side] + end for pair in pairs)) for side, name in enumerate("ab")]
    assert list(read_pairs(files, form="none")) == [Pair(s, t, i) for i, (s, t) in enumerate(pairs, 1)]


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_csv_round_trip(folder, pairs, end):
    assume({"source", "target"} - {text.strip().lower() for text in pairs[0]})
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator=end).writerows(pairs)
    path = write(folder / "a.csv", stream.getvalue())
    assert [(p.source, p.target) for p in read_pairs(path, form="none")] == pairs


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5), st.booleans())
def test_jsonl_round_trip(folder, pairs, escaped):
    rows = [json.dumps({"target": t, "source": s}, ensure_ascii=escaped) + "\n" for s, t in pairs]
    path = write(folder / "a.jsonl.gz", "".join(rows))
    assert [(p.source, p.target) for p in read_pairs(path, form="none")] == pairs


GOOD = {
    "a.tsv": b"a\tb\nc\td\n",
    "a.csv": b'source,target\n"a ""b""",c\n',
    "a.jsonl": b'{"source": "a", "target": "b"}\n{"translation": {"ko": "a", "en": "b"}}\n',
    "a.tsv.gz": gzip.compress(b"a\tb\n" * 50),
    "a.srt": KOREAN.encode(),
    "a.txt": b"a\nb\n",
}


@st.composite
def damaged(draw, samples: dict[str, bytes]):
    """A file that begins as a good one and has some bytes replaced, or bytes that were never anything."""
    name = draw(st.sampled_from(sorted(samples)))
    data = samples[name]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        data = data[:start] + draw(st.binary(max_size=8)) + data[start + draw(st.integers(0, 8)) :]
    return name, draw(st.sampled_from([data, draw(st.binary(max_size=64))]))


@given(damaged(GOOD))
def test_no_bytes_raise_anything_but_a_data_error(folder, file):
    name, data = file
    path = folder / f"fuzz-{name}"
    path.write_bytes(data)
    try:
        for pair in read_pairs([path, path] if name in ("a.srt", "a.txt") else path):
            (pair.source + pair.target).encode()
    except DataError as error:
        assert "\n" not in str(error)  # noqa: PT017


def test_line_numbers_of_a_thousand_planted_faults(tmp_path):
    faults = {
        "a.tsv": ("가\tb", [b"one column", b"a\t\xff"]),
        "a.csv": ('"a\nb",c', [b"one", b"a,\xed\xa0\x80"]),
        "a.jsonl": ('{"source": "a", "target": "b"}', [b"{", b'{"source": 1, "target": "\xff"}']),
    }
    random.seed(3)
    for number in range(1000):
        name = random.choice(sorted(faults))
        good, bad = faults[name]
        before = random.randrange(20)
        data = (good + "\n").encode() * before + random.choice(bad) + b"\n" + good.encode()
        error = refused(write(tmp_path / name, data))
        assert error.line == 1 + before * (1 + good.count("\n")), (number, data)


# ---------------------------------------------------------------------------------------------------- the real thing


def test_importing_text_is_light():
    code = "import sys, seq2see.formats.pairs; print({'torch', 'numpy', 'lxml', 'polib', 'pysubs2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.skipif(not DATA.is_dir(), reason="no shared data")
def test_real_corpora():
    captions = list(read_pairs([DATA / "multi30k/train.en.gz", DATA / "multi30k/train.de.gz"]))
    assert len(captions) == 29_000
    assert captions[-1].line == 29_000
    assert sum(1 for _ in read_pairs(DATA / "koen_docs/test.tsv.gz")) == 1_945
    with pytest.raises(DataError, match=r"1014 lines, but .* has 1000"):
        list(read_pairs([DATA / "multi30k/val.en.gz", DATA / "multi30k/test_2016_flickr.de.gz"]))


def test_what_a_reader_does_with_the_bytes_is_not_the_fault_of_the_file(tmp_path):
    """A pipe that closed and a disk that is full are met while the file is open, but not by reading it."""
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"a\n"))
    for name in ("a.txt", "a.txt.gz"):
        for problem in (BrokenPipeError, PermissionError, EOFError, OSError):

            def use(path: Path, problem: type[Exception] = problem) -> None:
                with open_bytes(path) as stream:
                    assert stream.readline() == b"a\n"
                    raise problem

            with pytest.raises(problem):
                use(tmp_path / name)
