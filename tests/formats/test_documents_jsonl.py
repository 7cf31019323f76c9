"""JSON lines translated in place: no line is lost or moved, no other field changes by a byte."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.formats import jsonl, open_document
from seq2see.formats.documents.placeholders import faithful
from seq2see.formats.documents.translating import Outcome, translate_document, translated_bytes


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def upper(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


def translated(path: Path, translate=upper, **options) -> bytes:
    data = b"".join(translated_bytes(open_document(path, **options), translate, Outcome()))
    write(path.with_name(f"out.{path.name}"), data)
    return data


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"n":1.50,"source":"%s a","x":"\\u00e9"}', '{"n":1.50,"source":"%s a","x":"\\u00e9","target":"%s A"}'),
        ('{"source":"a\\nb","n":1e400}', '{"source":"a\\nb","n":1e400,"target":"A\\nB"}'),
        ('{"source": "a", "target": null, "x": 1}', '{"source": "a", "target": "A", "x": 1}'),
        ('{"target": "" ,"source": "a"}', '{"target": "A" ,"source": "a"}'),
        ('{"source": "a", "target": "kept"}', '{"source": "a", "target": "kept"}'),
        ('{"source": "a", "target": 0}', '{"source": "a", "target": 0}'),
        (' { "source" : "a" } ', ' { "source" : "a", "target": "A" } '),
        ('{"source": "old", "source": "new"}', '{"source": "old", "source": "new", "target": "NEW"}'),
        ('{"source": "", "x": [{"source": "b"}]}', '{"source": "", "x": [{"source": "b"}], "target": ""}'),
        ('{"source": "\\ud83d\\ude00 a"}', '{"source": "\\ud83d\\ude00 a", "target": "😀 A"}'),
        ('{"source": "  %s: {0} "}', '{"source": "  %s: {0} ", "target": "  %s: {0} "}'),
        ("", ""),
        ("  ", "  "),
    ],
)  # fmt: skip
def test_a_line(tmp_path, line, expected):
    assert translated(write(tmp_path / "a.jsonl", line + "\n")).decode() == expected + "\n"
    assert translated(write(tmp_path / "b.jsonl", line)).decode() == expected


@pytest.mark.parametrize(
    ("line", "expected", "problem"),
    [
        ('{"x":1}', """{"x":1,"error":"no field 'source'"}""", "no field 'source'"),
        ("{ }", """{"error": "no field 'source'" }""", "no field"),
        ('{"source": 5}', """{"source": 5, "error": "'source' is not a text"}""", "not a text"),
        ('{"source": null, "error": ""}', """{"source": null, "error": "'source' is not a text"}""", "not a text"),
        ('{"source": ["a"]}', """{"source": ["a"], "error": "'source' is not a text"}""", "not a text"),
        (
            '{"source": "a\\ud800"}',
            """{"source": "a\\ud800", "error": "'source' holds half of a surrogate pair, which is no character"}""",
            "surrogate",
        ),
        ("not json", "not json", "not an object"),
        ('{"source": "a"', '{"source": "a"', "not an object"),
        ('{"source": "a"} {"source": "b"}', '{"source": "a"} {"source": "b"}', "not an object"),
        ('{"source": "a",}', '{"source": "a",}', "not an object"),
        ('{source: "a"}', '{source: "a"}', "not an object"),
        ('{5: "a"}', '{5: "a"}', "not an object"),
        ('["source", "a"]', '["source", "a"]', "not an object"),
        ('"source"', '"source"', "not an object"),
        ("[" * 100_000, "[" * 100_000, "not an object"),
        ('{"source": "a", "x": ' + "[" * 100_000, '{"source": "a", "x": ' + "[" * 100_000, "not an object"),
    ],
)
def test_a_bad_line_says_why_and_keeps_its_place(tmp_path, line, expected, problem):
    path = write(tmp_path / "a.jsonl", f'{{"source":"a"}}\n{line}\n{{"source":"b"}}\n')
    out = tmp_path / "out.jsonl"
    outcome = translate_document(open_document(path), upper, out)
    assert out.read_text() == f'{{"source":"a","target":"A"}}\n{expected}\n{{"source":"b","target":"B"}}\n'
    assert (outcome.translated, outcome.problems) == (2, 1)
    assert outcome.first_problem is not None
    assert outcome.first_problem.startswith(f"{path}:2: ")
    assert problem in outcome.first_problem


def test_numbers_of_any_size_are_not_computed(tmp_path):
    line = '{"n": ' + "9" * 10_000 + ', "source": "a"}'
    assert translated(write(tmp_path / "a.jsonl", line)).decode() == line[:-1] + ', "target": "A"}'


def test_bytes_that_are_no_text_pass_through(tmp_path):
    content = b'\xef\xbb\xbf{"source":"a"}\r\n{"source":"\xff"}\r\n{"source":"b\xe2\x80\xa8c"}'
    assert translated(write(tmp_path / "a.jsonl", content)) == (
        b'\xef\xbb\xbf{"source":"a","target":"A"}\r\n{"source":"\xff"}\r\n'
        b'{"source":"b\xe2\x80\xa8c","target":"B\xe2\x80\xa8C"}'
    )


def test_fields(tmp_path):
    path = write(tmp_path / "a.jsonl.gz", '{"ko": "가", "en": "x"}\n')
    assert translated(path, field="ko", target="de") == '{"ko": "가", "en": "x", "de": "가"}\n'.encode()
    assert translated(path, field="en", target="en") == '{"ko": "가", "en": "X"}\n'.encode()
    assert translated(path, field="ko", target="en") == '{"ko": "가", "en": "x"}\n'.encode()
    replaced = translated(path, field="ko", target="en", existing="replace")
    assert replaced == '{"ko": "가", "en": "가"}\n'.encode()


def test_lines_beyond_all_bounds_pass_through(tmp_path, monkeypatch):
    from seq2see.formats.documents import base

    monkeypatch.setattr(jsonl, "LONGEST_LINE", 50)
    monkeypatch.setattr(base, "LONGEST_LINE", 50)
    long = '{"source": "' + "a" * 200 + '"}'
    path = write(tmp_path / "a.jsonl", f'{{"source":"a"}}\n{long}\n{{"source":"b"}}\n{long}')
    out = tmp_path / "out.jsonl"
    outcome = translate_document(open_document(path), upper, out)
    assert out.read_text() == f'{{"source":"a","target":"A"}}\n{long}\n{{"source":"b","target":"B"}}\n{long}'
    assert (outcome.translated, outcome.problems) == (2, 2)
    assert [segment.line for segment in open_document(path).segments()] == [1, 3]


def test_a_long_line_is_a_line(tmp_path):
    text = "word " * 200_000
    path = write(tmp_path / "a.jsonl", json.dumps({"source": text}))
    assert json.loads(translated(path))["target"] == text.upper()


def test_halves_of_characters_from_a_translator_are_replaced(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"source":"a"}')
    assert json.loads(translated(path, lambda texts: ["x\ud800y"]))["target"] == "x\ufffdy"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
keys = st.sampled_from(["source", "target", "error", "id", "글"]) | st.text(max_size=4)
objects = st.dictionaries(keys, st.text(max_size=20) | values, max_size=5)
lines = st.tuples(objects, st.booleans(), st.sampled_from([(", ", ": "), (",", ":"), (" , ", " : ")])).map(
    lambda t: json.dumps(t[0], ensure_ascii=t[1], separators=t[2]).encode("utf-8", "surrogatepass")
)
rubbish = st.binary(max_size=30).map(lambda data: data.replace(b"\n", b""))


@given(st.lists(lines | rubbish, max_size=8), st.booleans())
def test_any_lines_come_out_in_their_places(tmp_path_factory, rows, ended):
    folder = tmp_path_factory.getbasetemp() / "jsonl"
    folder.mkdir(exist_ok=True)
    rows = ['{"글": 1}'.encode(), *rows]  # a file of UTF-8, whatever comes behind
    content = b"\n".join(rows) + (b"\n" if ended else b"")
    path = write(folder / "a.jsonl", content)
    after = translated(path, existing="replace")
    results = after.split(b"\n")
    assert len(results) == len(content.split(b"\n"))
    for before, result in zip(content.split(b"\n"), results, strict=True):
        try:
            old = json.loads(before.decode())
        except (ValueError, RecursionError):
            old = None
        if not isinstance(old, dict):
            assert result == before or before.startswith(b"\xef\xbb\xbf")
            continue
        new = json.loads(result)
        source = old.get("source")
        good = isinstance(source, str) and not any("\ud800" <= character <= "\udfff" for character in source)
        changed = "target" if good else "error"
        assert {key: value for key, value in new.items() if key != changed} == {
            key: value for key, value in old.items() if key != changed
        }
        assert [key for key in new if key in old] == list(old)
        if good:
            assert faithful(source, new["target"]) or not source.strip()
            assert new["target"].split() == [] or new["target"].strip()[0] == source.strip().upper()[0] or "%" in source
        else:
            assert "source" in new["error"]
