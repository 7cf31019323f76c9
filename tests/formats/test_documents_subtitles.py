"""Subtitles translated in place: numbers, times and blank lines stay, lines are set anew."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import DataError
from seq2see.formats import open_document
from seq2see.formats.documents.placeholders import placeholders
from seq2see.formats.documents.translating import Outcome, translated_bytes
from seq2see.formats.documents.wrapping import balanced, columns
from seq2see.formats.subtitles import _blocks, read_cues

SRT = """\
1
00:00:01,000 --> 00:00:02,000
<i>Hello there, my old
friend of mine.</i>

2
00:00:03,000 --> 00:00:04,000 X1:0 X2:9
- Who?
- {\\an8}Me and
<b>you</b>.


7
00:00:02,000 --> 00:00:06,000

8
00:00:07,000 --> 00:00:08,000
♪ ♪

9
00:00:09,000 --> 00:00:10,000
End"""

VTT = """\
WEBVTT - a title
X-KEY: value

NOTE not --> for us

STYLE
::cue { color: red }

intro
00:01.000 --> 00:02.000 align:start
<v Roger>Hi &amp; <c.loud>bye</c>

01:00:03.000 --> 01:00:04.000
two <00:00:03.500>words
"""


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def upper(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


def translated(path: Path, translate=upper) -> str:
    data = b"".join(translated_bytes(open_document(path), translate, Outcome()))
    write(path.with_name(f"out.{path.name}"), data)
    return data.decode()


def test_srt(tmp_path):
    after = translated(write(tmp_path / "a.srt", SRT))
    expected = (
        SRT.replace("<i>Hello there, my old\nfriend of mine.</i>", "<i>HELLO THERE, MY OLD\nFRIEND OF MINE.</i>")
        .replace("Who?", "WHO?")
        .replace("}Me and\n<b>you</b>.", "}ME AND\n<b>YOU</b>.")
        .replace("End", "END")
    )
    assert after == expected


def test_vtt(tmp_path):
    after = translated(write(tmp_path / "a.vtt", VTT))
    assert after == VTT.replace("Hi ", "HI ").replace("bye", "BYE").replace("two", "TWO").replace("words", "WORDS")


def test_segments(tmp_path):
    segments = list(open_document(write(tmp_path / "a.srt", SRT)).segments())
    assert [(segment.id, segment.line) for segment in segments] == [("1", 1), ("2", 6), ("8", 16), ("9", 20)]
    assert segments[0].texts == ("<i>Hello there, my old friend of mine.</i>",)
    assert segments[1].texts == ("Who?", "{\\an8}Me and <b>you</b>.")
    assert segments[1].context == "00:00:03,000 --> 00:00:04,000"
    first, second = open_document(write(tmp_path / "a.vtt", VTT)).segments()
    assert (first.id, first.line, second.id, second.line) == ("intro", 9, "", 13)


def test_a_translator_sees_words_and_nothing_around_them(tmp_path):
    seen: list[str] = []
    translated(write(tmp_path / "a.srt", SRT), lambda texts: seen.extend(texts) or texts)
    assert seen == ["Hello there, my old friend of mine.", "Who?", "Me and <b>you</b>.", "End"]
    seen.clear()
    translated(write(tmp_path / "a.vtt", VTT), lambda texts: seen.extend(texts) or texts)
    assert seen == ["Hi &amp; <c.loud>bye</c>", "two <00:00:03.500>words"]


def test_the_same_text_comes_back_byte_for_byte(tmp_path):
    for content in (SRT, SRT.replace("\n", "\r\n"), "\ufeff" + SRT + "\n\n\n"):
        path = write(tmp_path / "a.srt", content)
        assert translated(path, lambda texts: texts).encode() == path.read_bytes()
        assert translated(path, lambda texts: ["" for _ in texts]).encode() == path.read_bytes()
    assert translated(write(tmp_path / "a.vtt", VTT), lambda texts: texts) == VTT


def test_a_translation_uses_no_more_lines_than_the_cue_had(tmp_path):
    path = write(tmp_path / "a.srt", "1\r\n00:00:01,000 --> 00:00:02,000\r\none two three\r\nfour five\r\n\r\n")
    head = "1\r\n00:00:01,000 --> 00:00:02,000\r\n"
    assert translated(path, lambda texts: ["짧다"]) == head + "짧다\r\n\r\n"
    long = translated(path, lambda texts: ["아주 길고 긴 번역문이 여기에 있습니다 정말로"])
    assert long == head + "아주 길고 긴 번역문이\r\n여기에 있습니다 정말로\r\n\r\n"
    assert (
        translated(path, lambda texts: ["一二三四五六七八九十。一二三"])
        == head + "一二三四五六七\r\n八九十。一二三\r\n\r\n"
    )
    single = write(tmp_path / "b.srt", "1\n00:00:01,000 --> 00:00:02,000\nx\n")
    assert translated(single, lambda texts: ["word " * 50]).count("\n") == 3


def test_nothing_in_a_translation_looks_like_the_frame_of_a_cue(tmp_path):
    path = write(
        tmp_path / "a.srt", "1\n00:00:01,000 --> 00:00:02,000\none\ntwo\n\n2\n00:00:03,000 --> 00:00:04,000\nx\n"
    )
    after = translated(path, lambda texts: ["a\n\n7\n00:00:01,000 --> 00:00:02,000\r\n\r\nb" for _ in texts])
    write(tmp_path / "b.srt", after)
    assert [cue.start for cue in read_cues(tmp_path / "b.srt")] == [1000, 3000]
    assert after.count("-->") == 2
    web = write(tmp_path / "a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<i>a</i> b\n")
    assert translated(web, lambda texts: ["1 < 2 <i>x</i>"]).endswith("\n1 &lt; 2 <i>x</i>\n")


words = st.lists(
    st.sampled_from(["a", "긴단어", "字字字", "<i>x</i>", "%s", "…", "<font color='a b'>", "!"]), min_size=1
)


@given(words.map(" ".join), st.integers(1, 4), st.integers(0, 40))
def test_lines_are_balanced_and_nothing_is_lost(text, most, width):
    lines = balanced(text, most, width)
    assert 1 <= len(lines) <= most
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert [found for line in lines for found in placeholders(line)] == list(placeholders(text))
    assert all(line and line == line.strip() for line in lines)


def test_lines_are_even_and_breaks_are_good():
    assert balanced("one two three four five six", 2, 5) == ["one two three", "four five six"]
    assert balanced("one two three", 2, 40) == ["one two three"]
    assert balanced("これは日本語の文です。とても長い。", 2, 10) == ["これは日本語の文で", "す。とても長い。"]
    assert all(not line.startswith("。") for count in range(1, 12) for line in balanced("文です。" * 6, count, 1))
    assert columns("가a\u0301") == 3


texts = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), min_size=1, max_size=30) | st.sampled_from(
    ["- a", "<i>a", "b</i>", "5", "{\\an8}x", "x" * 3000, "%s {0}", "—", "WEBVTT", "NOTE"]
)
cues = st.lists(st.lists(texts.filter(str.strip), max_size=3), max_size=5)


@given(cues, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]), st.sampled_from(["srt", "vtt"]))
def test_any_file_keeps_its_cues(tmp_path_factory, cues, ending, mark, kind):
    folder = tmp_path_factory.getbasetemp() / "subtitles"
    folder.mkdir(exist_ok=True)
    blocks = [
        f"{number}{ending}00:00:0{number}.000 --> 00:00:09.000" + "".join(ending + line for line in lines)
        for number, lines in enumerate(cues, start=1)
    ]
    content = mark + (ending * 2).join(["WEBVTT", *blocks] if kind == "vtt" else blocks) + ending
    path = write(folder / f"a.{kind}", content)
    assert translated(path, lambda texts: texts) == content
    expected = [sorted(placeholders("\n".join(segment.texts))) for segment in open_document(path).segments()]
    for translate in (upper, lambda texts: ["--> \n\n 가" + text[::-1] for text in texts]):
        after = write(folder / f"b.{kind}", translated(path, translate))
        assert after.read_bytes().decode().startswith(mark)
        segments = list(open_document(after).segments())
        assert [segment.id for segment in segments] == [str(n) for n, lines in enumerate(cues, start=1) if lines]
        lines = [line for line in after.read_bytes().decode().split("\n") if "-->" in line]
        assert len(lines) == len(cues)
        counts = [len(block) - 2 for _, block in _blocks(after) if any("-->" in line for line in block)]
        assert all(count <= len(texts) for count, texts in zip(counts, cues, strict=True))
        for segment, wanted in zip(segments, expected, strict=True):
            found = "\n".join(segment.texts)
            assert all(found.count(placeholder) >= 1 for placeholder in wanted)


def test_the_dash_of_a_speaker_makes_no_arrow(tmp_path):
    path = write(tmp_path / "a.srt", "1\n00:00:01.000 --> 00:00:09.000\n-0\n-0\n")
    after = translated(path, lambda texts: ["--> 가" for _ in texts])
    assert after.count("-->") == 1


# ---------------------------------------------------------------------------------------------------- malformed


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\na\n\nb\n", 5, "begins with its number"),
        ("a.srt", "1\n\n", 2, "no times"),
        ("a.srt", "1\nhello\n", 2, "no times"),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\na\n2\n00:00:01,000 --> 00:00:02,000\nb\n", 5, "two cues"),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\n\xb0\xa1\n", 3, "not UTF-8 at byte 32"),
        ("a.vtt", "1\n00:01.000 --> 00:02.000\na\n", 1, "does not begin with WEBVTT"),
        ("a.vtt", "WEBVTT\n\nid\ntext\n", 4, "no times"),
    ],
)
def test_malformed_files_name_the_line_and_write_nothing(tmp_path, name, content, line, message):
    path = write(tmp_path / name, content)
    with pytest.raises(DataError, match=message) as caught:
        translated(path)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert re.search(r"[;,] |--", str(caught.value)) or "UTF-8" in str(caught.value)
