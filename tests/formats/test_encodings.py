"""Text that is not UTF-8: refused with the encoding that it seems to be, read when that is named, written as it was."""

import gzip
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import ConfigError, DataError
from seq2see.formats import Pair, open_document, read_pairs
from seq2see.formats.documents.translating import Outcome, translate_document, translated_bytes
from seq2see.formats.reading.encodings import NAMES, check_encoding, find_encoding
from seq2see.formats.reading.lines import check_text, encoding_of, read_lines

KOREAN = "나는 학생입니다.\n안녕하세요, 오늘 날씨가 좋습니다!\n막걸리 한 잔 주세요.\n"
TEXTS = {
    "cp949": KOREAN + "똠방각하\n",
    "utf-16": KOREAN,
    "utf-16-le": KOREAN,
    "utf-16-be": KOREAN,
    "shift_jis": "私は学生です。\nこんにちは、世界。\n",
    "euc-jp": "私は学生です。\nこんにちは、世界。\n",
    "gb18030": "我是学生。\n你好，世界，今天的天气很好。\n",
    "big5": "我是學生。\n你好，世界，今天的天氣很好。\n",
    "windows-1251": "Я студент.\nПривет, мир! Сегодня хорошая погода.\n",
    "koi8-r": "Я студент.\nПривет, мир! Сегодня хорошая погода.\n",
    "windows-1253": "Είμαι φοιτητής.\nΚαλημέρα, κόσμε.\n",
    "windows-1252": "Die Straße führt über die Brücke.\nUn café, s'il vous plaît, garçon.\n",
    "windows-1250": "Źdźbło trawy na łące.\nPříliš žluťoučký kůň úpěl ďábelské ódy.\n",
}


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def refused(path: Path, encoding: str | None = None) -> str:
    with pytest.raises(DataError) as caught:
        list(read_lines(path, encoding))
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------------------------------------------- names


def test_names_are_known_in_any_spelling_and_nothing_else_is_looked_up():
    assert {find_encoding(name) for name in ("CP949", "uhc", "ms949", "KS_C_5601-1987")} == {"cp949"}
    assert [find_encoding(name) for name in ("EUC_KR", "Latin1", "Shift-JIS", "ISO_8859-15", "UTF8")] == [
        "euc-kr",
        "iso-8859-1",
        "shift_jis",
        "iso-8859-15",
        "utf-8",
    ]
    for codec in (
        "idna",
        "punycode",
        "unicode_escape",
        "raw_unicode_escape",
        "hex",
        "rot13",
        "zlib",
        "utf-7",
        "",
        "\0",
    ):
        assert find_encoding(codec) is None
    for name in NAMES:
        assert check_encoding(name) == name
    with pytest.raises(ConfigError, match="did you mean 'cp949'"):
        check_encoding("cp94")
    with pytest.raises(ConfigError, match="such as utf-8, utf-16, cp949"):
        check_encoding("klingon")


# ---------------------------------------------------------------------------------------------------- detection


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_the_likely_encoding_is_named_and_reads_the_file(tmp_path, encoding, packed):
    path = write(tmp_path / f"a.txt{packed}", TEXTS[encoding].encode(encoding))
    told = refused(path)
    advised = re.search(r"add --encoding (\S+)$", told)
    assert advised, told
    assert advised[1] == encoding
    assert list(read_lines(path, advised[1])) == TEXTS[encoding].split("\n")[:-1]


@pytest.mark.parametrize("encoding", TEXTS)
def test_every_single_line_is_enough(tmp_path, encoding):
    for line in TEXTS[encoding].split("\n")[:-1]:
        told = refused(write(tmp_path / "a.txt", (line + "\n").encode(encoding)))
        assert told.endswith(f"add --encoding {encoding}"), told


def test_plain_letters_in_utf_16_are_no_utf_8(tmp_path):
    """Every byte of it is valid UTF-8, so nothing fails by itself."""
    for encoding in ("utf-16-le", "utf-16-be"):
        assert f"add --encoding {encoding}" in refused(write(tmp_path / "a.txt", "hello\nworld\n".encode(encoding)))
    assert list(read_lines(write(tmp_path / "b.txt", b"a\0b\n\0\n"))) == ["a\0b", "\0"]  # zeros alone are none


def test_a_few_broken_bytes_are_no_other_encoding(tmp_path):
    path = write(tmp_path / "a.txt", KOREAN.encode() + b"\xea\xb0\n" + KOREAN.encode())
    assert "UTF-8 with broken bytes" in refused(path)
    assert "a.txt:4: not UTF-8 at byte" in refused(path)
    lines = list(read_lines(path, "utf-8-replace"))
    assert lines == [*KOREAN.split("\n")[:-1], "\ufffd", *KOREAN.split("\n")[:-1]]


def test_line_and_byte_of_the_first_fault_in_a_long_file(tmp_path):
    good = ("가나다\n" * 20_000).encode()
    for encoding, fault in (("utf-8", b"\xff"), ("cp949", b"\xff")):
        data = good.decode().encode(encoding)
        path = write(tmp_path / "a.txt", data + b"abc" + fault + b"\n" + data)
        told = refused(path, None if encoding == "utf-8" else encoding)
        assert f"a.txt:20001: not {encoding.upper()} at byte {len(data) + 3}" in told


def test_the_wrong_name_is_told_when_the_file_is_utf_8(tmp_path):
    path = write(tmp_path / "a.txt", KOREAN.encode())
    for encoding in ("windows-1252", "cp949", "iso-8859-1", "gb18030"):
        assert refused(path, encoding).endswith(f"is UTF-8, not {encoding.upper()}; leave --encoding away")
    marked = write(tmp_path / "b.txt", b"\xef\xbb\xbfa\n")
    assert "leave --encoding away" in refused(marked, "windows-1252")


def test_lines_before_the_fault_are_read(tmp_path):
    path = write(tmp_path / "a.txt", "하나\n둘\n셋\n".encode("cp949") + b"\xff\xff\n")
    lines = read_lines(path, "cp949")
    assert [next(lines) for _ in range(3)] == ["하나", "둘", "셋"]
    with pytest.raises(DataError, match=r"a\.txt:4"):
        next(lines)


def test_marks_and_halves(tmp_path):
    for encoding in ("utf-16", "utf-32", "utf-8-sig"):
        path = write(tmp_path / "a.txt", "가\r\n나".encode(encoding))
        assert list(read_lines(path, encoding.removesuffix("-sig"))) == ["가", "나"]
    big = write(tmp_path / "b.txt", b"\xfe\xff" + "가\n".encode("utf-16-be"))
    assert list(read_lines(big, "utf-16")) == ["가"]
    half = write(tmp_path / "c.txt", "a\n".encode("utf-16-le") + b"\x00\xd8a\x00")
    assert "c.txt:2: not UTF-16-LE at byte 4" in refused(half, "utf-16-le")


def test_a_file_beside_another_may_be_utf_8(tmp_path):
    assert encoding_of(write(tmp_path / "a", KOREAN.encode()), "cp949") is None
    assert encoding_of(write(tmp_path / "b", KOREAN.encode("cp949")), "cp949") == "cp949"
    check_text(tmp_path / "a")
    with pytest.raises(DataError, match="CP949"):
        check_text(tmp_path / "b")


@given(st.lists(st.binary(max_size=40), max_size=6), st.sampled_from([None, *NAMES]))
def test_any_bytes_are_lines_or_one_error(tmp_path_factory, chunks, encoding):
    path = write(tmp_path_factory.getbasetemp() / "any", b"\n".join(chunks))
    try:
        for line in read_lines(path, encoding):
            line.encode()
    except DataError as error:
        assert "\n" not in str(error)  # noqa: PT017


@given(
    st.sampled_from(["utf-16", "cp949", "euc-kr", "shift_jis", "gb18030", "windows-1251", "johab"]),
    st.text("가나다라마바사뷁漢字ひらабв abc\n", max_size=200),
)
def test_any_text_survives_its_encoding(tmp_path_factory, encoding, text):
    text = "".join(character for character in text if fits(character, encoding))
    path = write(tmp_path_factory.getbasetemp() / "some.txt", text.encode(encoding))
    assert "\n".join(read_lines(path, encoding)) == text.removesuffix("\n")


def fits(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


# ---------------------------------------------------------------------------------------------------- pairs

PAIRS = [Pair("나는 학생입니다", "I am a student", 1), Pair("너는", "you", 2)]
FILES = {
    "a.tsv": "".join(f"{pair.source}\t{pair.target}\n" for pair in PAIRS),
    "a.csv": "".join(f'"{pair.source}",{pair.target}\n' for pair in PAIRS),
    "a.jsonl": "".join(f'{{"source": "{pair.source}", "target": "{pair.target}"}}\n' for pair in PAIRS),
    "a.tsv.gz": "".join(f"{pair.source}\t{pair.target}\n" for pair in PAIRS),
}


@pytest.mark.parametrize("encoding", ["cp949", "utf-16", "utf-16-be", "euc-kr"])
@pytest.mark.parametrize("name", FILES)
def test_pairs_in_any_encoding(tmp_path, name, encoding):
    path = write(tmp_path / name, FILES[name].encode(encoding))
    with pytest.raises(DataError, match="--encoding"):
        list(read_pairs(path))
    assert list(read_pairs(path, encoding=encoding.upper())) == PAIRS


def test_two_files_in_one_encoding(tmp_path):
    source = write(tmp_path / "a.ko", "나는\n너는\n".encode("cp949"))
    target = write(tmp_path / "a.en", b"I\nyou\n")
    assert list(read_pairs([source, target], encoding="cp949")) == [Pair("나는", "I", 1), Pair("너는", "you", 2)]
    cue = "1\n00:00:01,000 --> 00:00:02,000\n{}\n"
    films = [
        write(tmp_path / f"{number}.srt", cue.format(text).encode("cp949"))
        for number, text in enumerate(("안녕", "hi"))
    ]
    assert list(read_pairs(films, encoding="cp949")) == [Pair("안녕", "hi", 1)]


PO = (
    'msgid ""\nmsgstr ""\n"Language: ko\\n"\n"Content-Type: text/plain; charset={}\\n"\n\nmsgid "Open"\nmsgstr "열기"\n'
)


@pytest.mark.parametrize("encoding", ["EUC-KR", "CP949", "UTF-8", "utf8"])
def test_catalogues_are_read_in_the_encoding_of_their_header(tmp_path, encoding):
    path = write(tmp_path / "a.po", PO.format(encoding).encode(encoding))
    assert list(read_pairs(path)) == [Pair("Open", "열기", 6)]
    assert list(read_pairs(path, encoding="shift_jis")) == [Pair("Open", "열기", 6)]  # meant for others of a mixture
    compiled = write(
        tmp_path / "a.mo", mo({"": f"Content-Type: text/plain; charset={encoding}\n", "Open": "열기"}, encoding)
    )
    assert list(read_pairs(compiled)) == [Pair("Open", "열기", 2)]


def mo(messages: dict[str, str], encoding: str) -> bytes:
    """A compiled catalogue."""
    texts = [[text.encode(encoding) for text in side] for side in (messages, messages.values())]
    count = len(messages)
    head = struct.pack("<7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, 0)
    tables, data, offset = b"", b"", 28 + 16 * count
    for text in (*texts[0], *texts[1]):
        tables += struct.pack("<2I", len(text), offset + len(data))
        data += text + b"\0"
    return head + tables + data


def test_catalogues_whose_header_is_wrong_or_silent(tmp_path):
    lying = write(tmp_path / "a.po", PO.format("UTF-8").encode("cp949"))
    with pytest.raises(DataError, match=r"a\.po:7: not UTF-8 at byte \d+, as the file says it is; mend it"):
        list(read_pairs(lying))
    silent = write(tmp_path / "b.po", PO.format("CHARSET").encode("cp949"))
    with pytest.raises(DataError, match="add --encoding cp949"):
        list(read_pairs(silent))
    assert list(read_pairs(silent, encoding="cp949")) == [Pair("Open", "열기", 6)]
    silent = write(tmp_path / "c.mo", mo({"Open": "열기를 할 수 있습니다"}, "cp949"))
    with pytest.raises(DataError, match="add --encoding cp949"):
        list(read_pairs(silent))
    assert list(read_pairs(silent, encoding="cp949")) == [Pair("Open", "열기를 할 수 있습니다", 1)]
    odd = write(tmp_path / "d.mo", mo({"": "Content-Type: text/plain; charset=punycode\n", "a": "b"}, "utf-8"))
    with pytest.raises(DataError, match="unknown encoding punycode"):
        list(read_pairs(odd))


# ---------------------------------------------------------------------------------------------------- documents

SRT = "1\r\n00:00:01,000 --> 00:00:02,000\r\n안녕하세요\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n반갑습니다\r\n"
WRITTEN = {
    "a.srt": SRT,
    "a.vtt": "WEBVTT\n\n" + SRT.replace("\r", "").replace(",", "."),
    "a.jsonl": '{"id": 1, "source": "안녕하세요"}\n{"source": "반갑습니다"}\n',
    "a.po": 'msgid "안녕하세요 여러분"\nmsgstr ""\n',
}


def shouted(texts: list[str]) -> list[str]:
    return [text + " 네!" for text in texts]


@pytest.mark.parametrize("encoding", ["cp949", "euc-kr", "utf-16", "utf-16-le", "utf-16-be", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("name", WRITTEN)
def test_a_document_keeps_its_encoding(tmp_path, name, encoding):
    path = write(tmp_path / name, WRITTEN[name].encode(encoding))
    named = encoding.removesuffix("-sig")
    if named != "utf-8":
        with pytest.raises(DataError, match="--encoding"):
            list(open_document(path).segments())
    out = tmp_path / f"out.{name}"
    assert translate_document(open_document(path, encoding=named), shouted, out).translated
    plain = write(tmp_path / f"plain.{name}", WRITTEN[name].encode())
    expected = b"".join(translated_bytes(open_document(plain), shouted, Outcome())).decode()
    assert "네!" in expected
    assert out.read_bytes() == expected.encode(encoding)
    kept = b"".join(translated_bytes(open_document(path, encoding=named), lambda texts: [""] * len(texts), Outcome()))
    assert kept == path.read_bytes() or name == "a.jsonl"


def test_a_character_that_the_encoding_lacks(tmp_path):
    path = write(tmp_path / "a.srt", SRT.encode("cp949"))
    with pytest.raises(DataError, match=r"'é' of a translation cannot be written in CP949.*iconv -f cp949 -t utf-8"):
        translate_document(open_document(path, encoding="cp949"), lambda texts: ["café"] * len(texts), tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["a.srt"]
    po = write(tmp_path / "a.po", PO.replace("열기", "").format("EUC-KR").encode("euc-kr"))
    with pytest.raises(DataError, match="msgconv --to-code=UTF-8"):
        translate_document(open_document(po), lambda texts: ["café"] * len(texts), tmp_path / "out")


def test_a_catalogue_in_its_stated_encoding_is_translated_in_it(tmp_path):
    content = PO.replace("열기", "") + 'msgid "이미"\nmsgstr "있음"\n'
    path = write(tmp_path / "a.po", content.format("EUC-KR").encode("euc-kr"))
    translate_document(open_document(path), shouted, tmp_path / "out.po")
    after = (tmp_path / "out.po").read_bytes().decode("euc-kr")
    assert 'msgstr "Open 네!"' in after
    assert 'msgid "이미"\nmsgstr "있음"\n' in after


def test_records_in_another_encoding_are_refused_and_a_bad_line_is_not(tmp_path):
    other = write(tmp_path / "a.jsonl", b'{"id": 1}\n' + '{"source": "안녕하세요"}\n'.encode("cp949"))
    with pytest.raises(DataError, match=r"a\.jsonl:2: not UTF-8 .* add --encoding cp949"):
        list(open_document(other).parts())
    bad = b'{"source": "x\xff"}\n'
    path = write(tmp_path / "b.jsonl", '{"source": "안녕"}\n'.encode() + bad)
    assert b"".join(translated_bytes(open_document(path), lambda texts: texts, Outcome())).endswith(bad)


@pytest.mark.parametrize(
    "encoding", ["idna", "punycode", "unicode_escape", "raw_unicode_escape", "utf-7", "undefined", "mbcs", "rot13"]
)
def test_exchange_files_in_what_is_no_encoding(tmp_path, encoding):
    unit = "<trans-unit id='1'><source>a\\ud800 \xe9</source><target>b</target></trans-unit>"
    content = f"<?xml version='1.0' encoding='{encoding}'?><xliff><file><body>{unit}</body></file></xliff>"
    path = write(tmp_path / "a.xlf", content.encode("latin-1"))
    for read in (lambda: list(read_pairs(path)), lambda: list(open_document(path).parts())):
        with pytest.raises(DataError, match=f"unknown encoding {encoding}") as caught:
            read()
        assert caught.value.line == 1


def test_exchange_files_that_say_ascii_stay_ascii(tmp_path):
    unit = "<trans-unit id='1'><source>a</source></trans-unit>"
    path = write(
        tmp_path / "a.xlf", f"<?xml version='1.0' encoding='us-ascii'?><xliff><file>{unit}</file></xliff>".encode()
    )
    data = b"".join(translated_bytes(open_document(path), lambda texts: ["가"] * len(texts), Outcome()))
    assert b"&#44032;" in data
    assert data.isascii()
    wrong = write(tmp_path / "b.xlf", b"<?xml version='1.0' encoding='utf-16'?><xliff/>")
    with pytest.raises(DataError, match="says that it is utf-16, which it is not"):
        list(open_document(wrong).parts())


@pytest.mark.parametrize("encoding", ["euc-kr", "cp949", "utf-16", "gb18030"])
def test_exchange_files_say_their_encoding(tmp_path, encoding):
    unit = "<tu><tuv xml:lang='ko'><seg>하나</seg></tuv><tuv xml:lang='en'><seg>one</seg></tuv></tu>"
    content = f"<?xml version='1.0' encoding='{encoding}'?><tmx><header srclang='ko'/><body>{unit}</body></tmx>"
    assert list(read_pairs(write(tmp_path / "a.tmx", content.encode(encoding)))) == [Pair("하나", "one", 1)]
