"""LibreTranslate's protocol: exact answers and error texts, over a live port."""

import json

import pytest
from live_server import CONFIG, LiveServer, live_server

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"q": "abc"}, {"translatedText": "ABC"}),
        ({"q": ["a", "b"]}, {"translatedText": ["A", "B"]}),
        ({"q": ["a"]}, {"translatedText": ["A"]}),
        ({"q": ["", "a"]}, {"translatedText": ["", "A"]}),
        ({"q": ["", ""]}, {"translatedText": ["", ""]}),
        ({"q": "  "}, {"translatedText": "  "}),
        ({"q": "😀"}, {"translatedText": "😀"}),
        ({"q": " a \r\n\n\tb "}, {"translatedText": " A \r\n\n\tB "}),
        ({"q": "a", "alternatives": 2}, {"translatedText": "A", "alternatives": ["A 1", "A 2"]}),
        ({"q": "a", "alternatives": "1"}, {"translatedText": "A", "alternatives": ["A 1"]}),
        ({"q": "a", "alternatives": 1.5}, {"translatedText": "A", "alternatives": ["A 1"]}),
        ({"q": "a", "alternatives": -3}, {"translatedText": "A"}),
        ({"q": "...", "alternatives": 1}, {"translatedText": "...", "alternatives": []}),
        (
            {"q": ["a", "b"], "alternatives": 1},
            {"translatedText": ["A", "B"], "alternatives": [["A 1"], ["B 1"]]},
        ),
        ({"q": "a", "api_key": "", "secret": "x", "apiKey": None}, {"translatedText": "A"}),
        ({"q": "a", "api_key": None}, {"translatedText": "A"}),
        ({"q": "a", "format": ""}, {"translatedText": "A"}),
        ({"q": "a", "source": "EN", "target": "es-MX"}, {"translatedText": "A"}),
        ({"q": "a", "source": "en_US", "target": "ES"}, {"translatedText": "A"}),
        ({"q": "a", "model": "en-es"}, {"translatedText": "A"}),
    ],
)
def test_what_is_answered(served: LiveServer, body: dict[str, object], answer: dict[str, object]) -> None:
    response = served.client.post("/translate", json={"source": "en", "target": "es", **body})
    assert (response.status_code, response.json()) == (200, answer)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"q": ""}, "Invalid request: missing q parameter"),
        ({"q": []}, "Invalid request: missing q parameter"),
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": 5}, "Invalid request: q parameter is not a text or a list of texts"),
        ({"q": ["a", 5]}, "Invalid request: q parameter is not a text or a list of texts"),
        ({"q": "a", "source": ""}, "Invalid request: missing source parameter"),
        ({"q": "a", "target": None}, "Invalid request: missing target parameter"),
        ({"q": "a", "source": 5}, "Invalid request: source parameter is not a text"),
        ({"q": "a", "source": "zz"}, "zz is not supported"),
        ({"q": "a", "target": "zz"}, "zz is not supported"),
        (
            {"q": "a", "source": "es", "target": "en"},
            "English (en) is not available as a target language from Spanish (es)",
        ),
        (
            {"q": "a", "source": "en", "target": "en"},
            "English (en) is not available as a target language from English (en)",
        ),
        ({"q": "a" * 5001}, "Invalid request: request (5001) exceeds text limit (5000)"),
        ({"q": ["a"] * 101}, "Invalid request: request (101) exceeds text limit (100)"),
        ({"q": "a", "alternatives": 6}, "Invalid request: alternatives parameter must be <= 5"),
        ({"q": "a", "alternatives": "x"}, "Invalid request: alternatives parameter is not a number"),
        ({"q": "a", "alternatives": []}, "Invalid request: alternatives parameter is not a number"),
        ({"q": "a", "alternatives": "9" * 101}, "Invalid request: alternatives parameter is not a number"),
        ({"q": "a", "format": "md", "source": "es"}, "md format is not supported"),
        ({"q": "a", "format": "md"}, "md format is not supported"),
        ({"q": "a", "model": "other"}, "no model other from en to es"),
        ({"q": "refuse this"}, "this one cannot be done"),
    ],
)
def test_what_is_refused(served: LiveServer, body: dict[str, object], error: str) -> None:
    response = served.client.post("/translate", json={"source": "en", "target": "es", **body})
    assert (response.status_code, response.json()) == (400, {"error": error})


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"q": ' + b"9" * 5000 + b"}",
        b'{"q": "\xff"}',
        b'{"q": NaN}',
        b"[]",
        b"null",
        b"",
        b"{",
        "{}".encode("utf-16"),
    ],
)
def test_json_that_is_none_is_400(served: LiveServer, body: bytes) -> None:
    response = served.client.post("/translate", content=body, headers=JSON)
    assert (response.status_code, response.json()) == (400, {"error": "Invalid JSON format"})


def test_half_a_surrogate_pair_is_answered(served: LiveServer) -> None:
    body = b'{"q": "a\\ud800b", "source": "en", "target": "es"}'
    response = served.client.post("/translate", content=body, headers=JSON)
    assert (response.status_code, response.json()["translatedText"]) == (200, "A\ufffdB")


def test_every_way_of_asking(served: LiveServer) -> None:
    fields = {"q": "나는 a&b", "source": "en", "target": "es"}
    wanted = {"translatedText": "나는 A&B"}
    ways = {
        "query of a POST, no body": served.client.post("/translate", params=fields),
        "form": served.client.post("/translate", data=fields),
        "raw letters in a form": served.client.post(
            "/translate",
            content="q=나는 a%26b&source=en&target=es".encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        ),
        "multipart": served.client.post("/translate", files={name: (None, text) for name, text in fields.items()}),
        "JSON with a charset": served.client.post(
            "/translate", content=json.dumps(fields), headers={"Content-Type": "application/json; charset=utf-8"}
        ),
        "another JSON": served.client.post(
            "/translate", content=json.dumps(fields), headers={"Content-Type": "application/vnd.api+json"}
        ),
    }
    assert {way: response.json() for way, response in ways.items()} == dict.fromkeys(ways, wanted)
    untyped = served.client.post("/translate", content=json.dumps(fields), headers={"Content-Type": "text/plain"})
    assert (untyped.status_code, untyped.json()) == (400, {"error": "Invalid request: missing q parameter"})


def test_lines_of_a_form_end_with_lf_and_those_of_json_as_they_are(served: LiveServer) -> None:
    form = served.client.post("/translate", data={"q": "a\r\nb", "source": "en", "target": "es"})
    assert form.json()["translatedText"] == "A\nB"
    assert served.translate("a\r\nb").json()["translatedText"] == "A\r\nB"


def test_a_list_in_a_form_is_one_text(served: LiveServer) -> None:
    response = served.client.post("/translate", data={"q": '["a","b"]', "source": "en", "target": "es"})
    assert response.json() == {"translatedText": '["A","B"]'}


def test_auto_and_detect(served: LiveServer) -> None:
    both = served.client.post("/translate", json={"q": ["나는 학생", "..."], "source": "auto", "target": "en"}).json()
    assert both["detectedLanguage"] == [
        {"confidence": 100.0, "language": "ko"},
        {"confidence": 0.0, "language": "ko"},
    ]
    single = served.client.post("/translate", json={"q": "hello", "source": "auto", "target": "es"}).json()
    assert single == {"translatedText": "HELLO", "detectedLanguage": {"confidence": 100.0, "language": "en"}}
    guesses = served.client.post("/detect", data={"q": "안녕하세요"}).json()
    assert guesses[0]["language"] == "ko"
    assert guesses[0]["confidence"] > 90
    assert served.client.post("/detect", json={"q": ["hello there", "my friend"]}).json()[0]["language"] == "en"
    assert served.client.post("/detect", json={"q": "123"}).json() == [{"confidence": 0.0, "language": "en"}]
    missing = served.client.post("/detect", json={})
    assert (missing.status_code, missing.json()) == (400, {"error": "Invalid request: missing q parameter"})


def test_languages_list_what_is_only_a_target(served: LiveServer) -> None:
    assert served.client.request("GET", "/languages", content=b"api_key=k", params={"x": "y"}).json() == [
        {"code": "ko", "name": "Korean", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": ["es"]},
        {"code": "es", "name": "Spanish", "targets": []},
    ]


def test_settings_spec_and_health(served: LiveServer) -> None:
    settings = served.client.get("/frontend/settings").json()
    assert settings == {
        "apiKeys": False,
        "charLimit": 5000,
        "filesTranslation": True,
        "frontendTimeout": 500,
        "keyRequired": False,
        "language": {"source": {"code": "ko", "name": "Korean"}, "target": {"code": "en", "name": "English"}},
        "suggestions": False,
        "supportedFilesFormat": [".txt", ".srt", ".vtt", ".po", ".xlf", ".xliff", ".jsonl"],
    }
    spec = served.client.get("/spec").json()
    assert (spec["swagger"], spec["info"]["title"], spec["basePath"]) == ("2.0", "seq2see", "/")
    paths = ["/detect", "/frontend/settings", "/health", "/languages", "/suggest", "/translate", "/translate_file"]
    assert sorted(spec["paths"]) == paths
    assert served.client.get("/health").content == b'{"status":"ok"}'
    assert served.client.get("/ready").json() == {"ready": True, "workers": 1}


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/translate", "POST"),
        ("GET", "/detect", "POST"),
        ("POST", "/languages", "GET"),
        ("POST", "/health", "GET"),
        ("POST", "/spec", "GET"),
        ("POST", "/frontend/settings", "GET"),
        ("DELETE", "/translate", "POST"),
    ],
)
def test_other_methods(served: LiveServer, method: str, path: str, allow: str) -> None:
    response = served.client.request(method, path)
    assert response.status_code == 405
    assert allow in response.headers["allow"]
    assert response.json() == {"error": "Method Not Allowed"}
    assert served.client.request("OPTIONS", path).status_code == 200


def test_unknown_paths_are_404_in_json(served: LiveServer) -> None:
    for path in ("/nothing", "/translate/", "/page/nothing.js", "/page/../app.py", "/view/%2e%2e/x", "/api/v1/nothing"):
        response = served.client.get(path)
        assert (response.status_code, list(response.json())) == (404, ["error"]), path


def test_a_mistake_of_ours_says_nothing_of_what_was_sent(served: LiveServer) -> None:
    response = served.translate("fail at a secret")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert served.translate("a").status_code == 200  # the model process lives on


def test_weblate_may_save_its_settings() -> None:
    from dataclasses import replace

    with live_server(replace(CONFIG, weblate=True, characters=50, title="LibreTranslate")) as live:
        test = {"q": ["test"], "source": "en", "target": "de", "api_key": ""}
        assert live.client.post("/translate", json=test).json() == {"translatedText": ["Test"]}
        other = live.client.post("/translate", json=test | {"q": ["tests"]})
        assert (other.status_code, other.json()) == (400, {"error": "de is not supported"})
        assert live.translate("a" * 51).json() == {"error": "Invalid request: request (51) exceeds text limit (50)"}
        assert live.translate("é" * 50).status_code == 200
        assert live.translate("e\u0301" * 50).status_code == 200  # counted as they are read: 50 letters
        assert live.client.get("/spec").json()["info"]["title"] == "LibreTranslate"
