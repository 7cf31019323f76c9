"""What stands around the server: names of runs, languages, keys, limits, HTML, names of files."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import ConfigError, RunError
from seq2see.runs.config import DataConfig
from seq2see.serve.api.requests import ServedRun
from seq2see.serve.dialects.files import check_content, safe_name
from seq2see.serve.dialects.languages import ServedLanguages, name_of
from seq2see.serve.dialects.markup import HtmlText
from seq2see.serve.http.keys import ApiKeys, read_keys
from seq2see.serve.http.limits import ASKERS, RateLimit
from seq2see.serve.http.refusal import NoKey, Overloaded, Refusal, WrongKey
from seq2see.serve.served import base_code, languages_of, read_runs

# ----- runs


def make_run(folder: Path, *, family: str = "rnn", finished: bool = True, **data: object) -> Path:
    folder.mkdir(parents=True)
    config = {"version": 1, "model": {"family": family}, "data": {"train": ["a.tsv"], **data}}
    (folder / "config.json").write_text(json.dumps(config))
    if finished:
        (folder / "manifest.json").write_text("{}")
    return folder


def test_languages_come_from_the_command_line_the_settings_or_the_corpus(tmp_path: Path) -> None:
    specs = [
        f"{make_run(tmp_path / 'a')}@ko-en",
        str(make_run(tmp_path / "b", source_language="ko-KR", target_language="EN")),
        str(make_run(tmp_path / "c", train=["builtin:phrases-basic,count=9:2"], flip=True)),
        str(make_run(tmp_path / "d")),
        str(make_run(tmp_path / "x" / "a", family="tacotron")),
        f"{make_run(tmp_path / 'y@ko-en')}",
    ]
    runs = read_runs(specs)
    assert [(run.name, run.source, run.target, run.kind) for run in runs] == [
        ("a", "ko", "en", "text"),
        ("b", "ko", "en", "text"),
        ("c", "en", "ko", "text"),
        ("d", None, None, "text"),
        ("a-2", None, None, "voice"),
        ("y@ko-en", None, None, "text"),
    ]


@pytest.mark.parametrize(("corpus", "codes"), [("dates", (None, None)), ("phrases-en-ko", ("en", "ko"))])
def test_what_built_in_corpora_are_in(corpus: str, codes: tuple[str | None, str | None]) -> None:
    assert languages_of(DataConfig(train=(f"builtin:{corpus}",))) == codes


def test_folders_that_cannot_be_served(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        read_runs([str(tmp_path / "nothing")])
    with pytest.raises(RunError, match=r"has not finished; --watch"):
        read_runs([str(make_run(tmp_path / "half", finished=False))])
    with pytest.raises(ConfigError, match="written as in"):
        read_runs([f"{tmp_path / 'nothing'}@korean"])
    broken = make_run(tmp_path / "broken")
    (broken / "config.json").write_text("{")
    with pytest.raises(RunError, match="cannot be read"):
        read_runs([str(broken)])


@pytest.mark.parametrize(
    ("code", "base"), [("KO", "ko"), ("ko_KR", "ko"), ("zh-hant-TW", "zh-Hant"), ("pt-BR", "pt"), ("ast", "ast")]
)
def test_codes(code: str, base: str) -> None:
    assert base_code(code) == base


# ----- languages


def served(*pairs: tuple[str, str]) -> ServedLanguages:
    return ServedLanguages(tuple(ServedRun(f"{a}-{b}", Path(), a, b, "text") for a, b in pairs))


def test_of_two_runs_of_a_pair_the_first_answers_and_another_can_be_named() -> None:
    runs = tuple(ServedRun(name, Path(), "ko", "en", "text") for name in ("one", "two"))
    languages = ServedLanguages((*runs, ServedRun("three", Path(), "en", "ko", "text")))
    assert languages.run("ko", "en").name == "one"
    assert languages.run("ko", "en", "two").name == "two"
    with pytest.raises(Refusal, match="no model three from ko to en"):
        languages.run("ko", "en", "three")


def test_names_are_english() -> None:
    assert [name_of(code) for code in ("ko", "zh-Hant", "de", "qqq")] == [
        "Korean", "Chinese (Traditional)", "German", "qqq",
    ]  # fmt: skip


def test_one_language_is_told_by_its_script() -> None:
    languages = served(("ko", "en"))
    assert [(guess.language, guess.confidence) for guess in languages.detect("나는 ab")] == [("ko", 50.0)]
    assert languages.detect("123 !") == []
    assert served().detect("abc") == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("나는 학생입니다", "ko"),
        ("I am a student", "en"),
        ("Ich bin heute nicht zu Hause", "de"),
        ("私は学生です", "ja"),
    ],
)
def test_several_languages(text: str, code: str) -> None:
    languages = served(("ko", "en"), ("en", "ko"), ("de", "en"), ("ja", "en"))
    guesses = languages.detect(text)
    assert guesses[0].language == code
    assert sum(guess.confidence for guess in guesses) == pytest.approx(100, abs=0.3)
    assert {guess.language for guess in languages.detect(text, "ko")} == {"en"}


# ----- keys and limits


def test_keys(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"weblate": hashlib.sha256(b"secret").hexdigest()}))
    keys = read_keys(file)
    assert keys.name_of("secret") == "weblate"
    with pytest.raises(WrongKey):
        keys.name_of("Secret")
    with pytest.raises(NoKey):
        keys.name_of("")
    assert ApiKeys().name_of("anything") is None


@pytest.mark.parametrize("text", ["{}", "[]", '{"a": "secret"}', '{"a": 5}', "{", ""])
def test_a_file_of_keys_that_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "keys.json").write_text(text)
    with pytest.raises(ConfigError, match=r"keys\.json"):
        read_keys(tmp_path / "keys.json")


def test_a_minute_moves() -> None:
    limit = RateLimit(3)
    limit.spend("a", 2, now=0.0)
    limit.spend("a", 1, now=30.0)
    limit.spend("b", 3, now=30.0)
    with pytest.raises(Overloaded, match="Slowdown: 3 per 1 minute") as refused:
        limit.spend("a", 1, now=59.0)
    assert refused.value.headers == {"Retry-After": "1"}
    limit.spend("a", 2, now=60.5)
    with pytest.raises(Overloaded):
        limit.spend("a", 1, now=60.6)
    limit.spend("c", 100, now=0.0)  # larger than the limit: alone, it passes


def test_who_is_remembered_is_bounded() -> None:
    limit = RateLimit(1)
    for number in range(ASKERS + 10):
        limit.spend(str(number), now=float(number))
    assert len(limit) == ASKERS


# ----- HTML


@pytest.mark.parametrize(
    ("page", "units", "written"),
    [
        ("<p>a <b>bold</b> word</p>", ["a <1>bold</1> word"], "<p>A <b>BOLD</b> WORD</p>"),
        ("<p>a</p>\n <p>b\n\n c</p>", ["a", "b c"], "<p>A</p>\n <p>B C</p>"),
        ("a<br/>b<br>c", ["a", "b", "c"], "A<br/>B<br>C"),
        ("<i>a <b>b</b> c</i>", ["<1>a <2>b</2> c</1>"], "<i>A <b>B</b> C</i>"),
        ("x <!-- note --> y", ["x <1/> y"], "X <!-- note --> Y"),
        ('<p>a <span translate="no">b c</span></p>', ["a <1/>"], '<p>A <span translate="no">b c</span></p>'),
        ('<div class="x notranslate">a<div>b</div></div>c', ["c"], '<div class="x notranslate">a<div>b</div></div>C'),
        ("<script>if (a < b) x('<p>')</script>a", ["a"], "<script>if (a < b) x('<p>')</script>A"),
        ("use <code>a b</code> here", ["use <1/> here"], "USE <code>a b</code> HERE"),
        ("<pre>a\n b</pre>", [], "<pre>a\n b</pre>"),
        ("a &amp; b &lt;script&gt; &#39;", ["a &amp; b &lt;script&gt; &#39;"], "A &amp; B &lt;SCRIPT&gt; &#39;"),
        ("<!DOCTYPE html><?pi?><p>a</p>", ["a"], "<!DOCTYPE html><?pi?><p>A</p>"),
        ("<ul><li>a<li>b</ul>", ["a", "b"], "<ul><li>A<li>B</ul>"),
        ("a < b > c", ["a < b > c"], "A &lt; B &gt; C"),
        ('<img src="x" alt="y"> a', ["<1/> a"], '<img src="x" alt="y"> A'),
        ("<p>  </p><p>1 &nbsp;</p>", ["1 &nbsp;"], "<p>  </p><p>1 &nbsp;</p>"),
        ("<b>a", ["<1/>a"], "<b>A"),
        ("", [], ""),
    ],
)
def test_html(page: str, units: list[str], written: str) -> None:
    read = HtmlText.read(page)
    assert [unit.text for unit in read.units] == units
    assert read.written([capitals(unit) for unit in units]) == written


def capitals(unit: str) -> str:
    """What a translator makes of it that keeps entities and tags."""
    parts = re.split(r"(&#?\w+;|</?\d+/?>)", unit)
    return "".join(part if place % 2 else part.upper() for place, part in enumerate(parts))


def test_a_translation_cannot_bring_tags_of_its_own() -> None:
    (unit,) = HtmlText.read("<p>a <b>b</b></p>").units
    assert unit.written("<1>x</1> 1 < 2 & 3") == "<b>x</b> 1 &lt; 2 &amp; 3"


@given(st.text("<>/!-ab &;'\"=\n brp?", max_size=60))
def test_whatever_is_sent_comes_back_whole(page: str) -> None:
    read = HtmlText.read(page)
    parts = [part if isinstance(part, str) else part.before + "".join(_codes(part)) + part.after for part in read.parts]
    spaced = " ".join("".join(parts).split())
    assert spaced == " ".join(page.split())


def _codes(unit: object) -> list[str]:
    """The unit with its tags back, and no escaping."""
    from seq2see.formats.documents.inline import _NUMBERED

    tagged = unit.tagged  # type: ignore[attr-defined]
    return [_NUMBERED.sub(lambda tag: tagged.codes.get(tag[0], tag[0]), tagged.text)]


# ----- files


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\a\\b.srt", "b.srt"),
        ("한국어.po", "한국어.po"),
        ('a"\r\nX: y.txt', "a___X_ y.txt"),
        ("", "file"),
        (".txt", "file.txt"),
        ("a" * 300 + ".txt", "a" * 80 + ".txt"),
    ],
)
def test_names_of_files(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@pytest.mark.parametrize("content", [b"PK\x03\x04zip", b"\x1f\x8bgz", b"a\x00b", b"\x7fELF", b"x" * (8 * 2**20 + 1)])
def test_contents_that_are_no_text(content: bytes) -> None:
    with pytest.raises(Refusal):
        check_content(content)
