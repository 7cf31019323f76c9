"""Files, suggestions, HTML; Apertium and OPUS-CAT as their clients ask; over a live port."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from live_server import CONFIG, LiveServer, live_server
from stand_in_host import EN_ES

from seq2see.formats import read_pairs
from seq2see.serve.dialects import files

LANGUAGES = {"source": "en", "target": "es"}


def sent(live: LiveServer, name: str, content: bytes) -> tuple[int, bytes | dict[str, str]]:
    answer = live.client.post("/translate_file", data=LANGUAGES, files={"file": (name, content)})
    if answer.status_code != 200:
        return answer.status_code, answer.json()
    url = answer.json()["translatedFileUrl"]
    assert url.startswith(f"{live.url}/download_file/")
    fetched = live.client.get(url)
    assert "attachment" in fetched.headers["content-disposition"]
    return fetched.status_code, fetched.content


@pytest.mark.parametrize(
    ("name", "content", "translated"),
    [
        ("a.txt", b"one line\r\n\r\n  two\n---\n", b"ONE LINE\r\n\r\n  TWO\n---\n"),
        ("a.srt", b"1\n00:00:01,000 --> 00:00:02,000\nhi\n\n", b"1\n00:00:01,000 --> 00:00:02,000\nHI\n\n"),
        ("a.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n", b"WEBVTT\n\n00:01.000 --> 00:02.000\nHELLO\n"),
        ("A.JSONL", b'{"source": "a", "n": 1.50}\n', b'{"source": "a", "n": 1.50, "target": "A"}\n'),
    ],
)
def test_files_come_back_translated_in_place(served: LiveServer, name: str, content: bytes, translated: bytes) -> None:
    status, answer = sent(served, name, content)
    assert status == 200
    assert answer == translated


def test_catalogues_keep_their_placeholders(served: LiveServer) -> None:
    catalogue = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "%d files in {x}"\nmsgstr ""\n'
    _, answer = sent(served, "a.po", catalogue)
    assert isinstance(answer, bytes)
    line = answer.decode().splitlines()[-1]
    assert "%d" in line
    assert "{x}" in line
    assert "FILES" in line


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.docx", b"PK\x03\x04", "Invalid request: file format not supported"),
        ("a.txt", b"PK\x03\x04", "Invalid request: file format not supported"),
        ("a.txt", b"\xff\xfea\x00", "Invalid request: the file is not UTF-8"),
        ("a.txt.gz", b"\x1f\x8b", "Invalid request: file format not supported"),
        ("a", b"x", "Invalid request: file format not supported"),
        ("a.srt", b"no subtitles\n\x80", None),
        ("a.xlf", b"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><xliff>&b;</xliff>", None),
        ("a.xlf", b"<xliff" + b"<g>" * 100_000, None),
    ],
)
def test_files_that_cannot_be(served: LiveServer, name: str, content: bytes, error: str | None) -> None:
    status, answer = sent(served, name, content)
    assert status == 400
    assert isinstance(answer, dict)
    assert answer["error"].startswith("Invalid request: ")
    assert "/tmp" not in answer["error"]
    assert error is None or answer["error"] == error


def test_what_a_file_needs(served: LiveServer) -> None:
    for fields, name in (({"source": "en"}, "target"), ({"target": "es"}, "source")):
        answer = served.client.post("/translate_file", data=fields, files={"file": ("a.txt", b"a")})
        assert answer.json() == {"error": f"Invalid request: missing {name} parameter"}
    without = served.client.post("/translate_file", data=LANGUAGES)
    assert (without.status_code, without.json()) == (400, {"error": "Invalid request: missing file parameter"})
    too_large = served.client.post("/translate_file", data=LANGUAGES, files={"file": ("a.txt", b"a" * (9 * 2**20))})
    assert too_large.status_code == 413


def test_files_are_forgotten_and_their_folder_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "KEPT_FILES", 2)
    made: list[Path] = []
    real = files.tempfile.mkdtemp

    def mkdtemp(prefix: str) -> str:
        made.append(Path(real(prefix=prefix)))
        return str(made[0])

    monkeypatch.setattr(files.tempfile, "mkdtemp", mkdtemp)
    with live_server() as live:
        urls = []
        for number in range(3):
            answer = live.client.post("/translate_file", data=LANGUAGES, files={"file": (f"{number}.txt", b"a")})
            urls.append(answer.json()["translatedFileUrl"])
        assert [live.client.get(url).status_code for url in urls] == [404, 200, 200]
        assert len(list(made[0].iterdir())) == 2
        assert made[0].stat().st_mode & 0o077 == 0
        monkeypatch.setattr(files, "KEPT_SECONDS", -1.0)
        answer = live.client.post("/translate_file", data=LANGUAGES, files={"file": ("old.txt", b"a")})
        assert live.client.get(answer.json()["translatedFileUrl"]).status_code == 404
    assert not made[0].exists()


def test_files_may_be_switched_off() -> None:
    with live_server(replace(CONFIG, files=False)) as live:
        assert sent(live, "a.txt", b"a")[0] == 403
        assert live.client.get("/frontend/settings").json()["supportedFilesFormat"] == []


def test_suggestions_become_pairs_that_train_reads(served: LiveServer, tmp_path: Path) -> None:
    off = served.client.post("/suggest", json={"q": "a", "s": "b", **LANGUAGES})
    assert off.status_code == 403
    run = replace(EN_ES, path=tmp_path)
    with live_server(replace(CONFIG, runs=(run,), suggestions=True)) as live:
        assert live.client.post("/suggest", json={"q": "a\nb", "s": "c", **LANGUAGES}).json() == {"success": True}
        assert live.client.post("/suggest", data={"q": "가", "s": "x", **LANGUAGES}).json() == {"success": True}
        for name in ("q", "s", "source", "target"):
            fields = {"q": "a", "s": "b", **LANGUAGES}
            del fields[name]
            answer = live.client.post("/suggest", json=fields)
            assert (answer.status_code, answer.json()) == (400, {"error": f"Invalid request: missing {name} parameter"})
    pairs = list(read_pairs([str(tmp_path / "suggestions.jsonl")]))
    assert [(pair.source, pair.target) for pair in pairs][-1] == ("가", "x")
    assert len(pairs) == 2


def test_html_over_the_wire(served: LiveServer) -> None:
    """As Mastodon asks: a list, in HTML."""
    page = "<p>one <a href='x'>two</a><br/>three &amp; <code>four</code></p>"
    answer = served.translate([page, "<p></p>"], format="html", alternatives=1).json()
    first, second = answer["translatedText"]
    assert (second, answer["alternatives"][1]) == ("<p></p>", [])
    assert first.startswith("<p>")
    assert all(part in first for part in ("<a href='x'>", "</a>", "<br/>", "&amp;", "<code>four</code>", "THREE"))


def test_weblate_marks_come_back(served: LiveServer) -> None:
    texts = [f"a [X{number}X] b %s {{x}}" for number in range(20)]
    answer = served.client.post(
        "/translate",
        content=json.dumps({"q": texts, **LANGUAGES, "api_key": ""}),
        headers={
            "Content-Type": "application/json",
            "Accept": "application/json; charset=utf-8",
            "Referer": "http://w/",
        },
    ).json()["translatedText"]
    assert len(answer) == 20
    for number, text in enumerate(answer):
        assert all(mark in text for mark in (f"[X{number}X]", "%s", "{x}"))


# ----- other protocols


def test_apertium_as_omegat_asks(served: LiveServer) -> None:
    answer = served.client.get("/apertium/translate?q=hello+there&markUnknown=no&langpair=en_US|es&key=")
    assert answer.json() == {
        "responseData": {"translatedText": "HELLO THERE"},
        "responseDetails": None,
        "responseStatus": 200,
    }
    pairs = served.client.get("/apertium/listPairs").json()
    assert pairs["responseData"][0] == {"sourceLanguage": "ko", "targetLanguage": "en"}
    for query in ("q=a", "q=a&langpair=en", "q=a&langpair=zz|es", "langpair=en|es"):
        refused = served.client.get(f"/apertium/translate?{query}")
        assert (refused.status_code, refused.json()["status"], refused.json()["code"]) == (400, "error", 400)
    posted = served.client.post("/apertium/translate", data={"q": "a", "langpair": "en|es"})
    assert posted.json()["responseData"] == {"translatedText": "A"}


def test_opus_cat_as_its_plugins_ask(served: LiveServer) -> None:
    query = "tokenCode=0&input=hello&srcLangCode=en&trgLangCode=es&modelTag=&inputIsSingleSentence=true"
    for path in ("MTRestService/TranslateJson", "mtrestservice/translatejson"):
        assert served.client.get(f"/{path}?{query}").json() == {"translation": "HELLO"}
    assert served.client.post(f"/MTRestService/TranslatePost?{query}").json() == {"translation": "HELLO"}
    assert served.client.get("/MTRestService/ListSupportedLanguagePairs?tokenCode=").json() == ["ko-en", "en-es"]
    assert served.client.get("/MTRestService/GetLanguagePairModelTags").json() == []
    assert served.client.post("/MTRestService/PreOrderBatch?tokenCode=", json=["a", "b"]).status_code == 200
    assert served.client.get("/MTRestService/Nothing").status_code == 404
    assert served.client.get("/MTRestService/TranslateJson?input=a").status_code == 400
