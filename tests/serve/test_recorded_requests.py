"""Requests of programs that cannot be run here, byte for byte as their sources put them on the wire.

Mastodon 4, Dialect 2, OmegaT 6 (Apertium), OPUS-CAT's plugins for Trados and OmegaT, Wordfast. What is asserted of each
answer is what that program reads of it.
"""

import json
import socket
from dataclasses import replace
from typing import Any

import pytest
from live_server import CONFIG, LiveServer, live_server


def lines(*headers: str) -> str:
    return "".join(f"{header}\r\n" for header in ("Host: {host}", *headers, "Connection: close"))


RUBY = lines("User-Agent: http.rb/5.2.0 (Mastodon/4.4.0)", "Accept-Encoding: gzip", "Content-Type: application/json")
SOUP = lines("User-Agent: Dialect App", "Accept-Encoding: gzip, deflate, br", "Accept-Language: ko, en;q=0.9")
JAVA = lines("User-Agent: OmegaT 6.0.1", "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2")
DOTNET = lines(
    "User-Agent: RestSharp/106.11.7.0", "Accept: application/json, text/xml", "Content-Type: application/json"
)


def sent(live: LiveServer, line: str, headers: str, body: str = "") -> tuple[int, dict[str, str], str]:
    """Status, headers and body of the answer to exactly these bytes."""
    head = f"{line} HTTP/1.1\r\n{headers.format(host=f'localhost:{live.port}')}"
    content = body.encode()
    if line.startswith("POST"):
        head += f"Content-Length: {len(content)}\r\n"
    with socket.create_connection(("127.0.0.1", live.port), timeout=30) as connection:
        connection.sendall(head.encode() + b"\r\n" + content)
        received = b""
        while part := connection.recv(65536):
            received += part
    start, _, rest = received.partition(b"\r\n\r\n")
    status, *lines = start.decode("latin-1").split("\r\n")
    named = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return int(status.split()[1]), named, rest.decode()


def answered(live: LiveServer, line: str, headers: str, body: str = "") -> Any:
    status, _, text = sent(live, line, headers, body)
    assert status == 200, text
    return json.loads(text)


# ----- Mastodon


def test_mastodon_translates_a_post_with_its_poll_and_its_pictures(served: LiveServer) -> None:
    """A list in HTML; codes of languages, or auto where the author named none."""
    texts = ['<p>hello <a href="https://social.example/tags/x" rel="tag">#<span>x</span></a></p>', "yes", "no", ""]
    for source in ("en", "auto"):
        body = json.dumps({"q": texts, "source": source, "target": "es", "format": "html", "api_key": None})
        answer = answered(served, "POST /translate", RUBY, body)
        said = answer["translatedText"]
        assert [said[0].startswith("<p>HELLO <a href="), *said[1:]] == [True, "YES", "NO", ""]
        if source == "auto":
            assert [guess["language"] for guess in answer["detectedLanguage"]] == ["en"] * 4


def test_mastodon_reads_which_languages_there_are(served: LiveServer) -> None:
    listed = {language["code"]: language["targets"] for language in answered(served, "GET /languages", RUBY)}
    assert listed == {"ko": ["en"], "en": ["es"], "es": []}


# ----- Dialect


def test_dialect_accepts_an_instance_by_its_title_translates_and_tries_a_key() -> None:
    with live_server(replace(CONFIG, title="LibreTranslate", suggestions=True)) as live:
        assert answered(live, "GET /spec", SOUP)["info"]["title"] == "LibreTranslate"
        assert {(one["code"], one["name"]) for one in answered(live, "GET /languages", SOUP)} >= {("ko", "Korean")}
        settings = answered(live, "GET /frontend/settings", SOUP)
        assert (int(settings["charLimit"]), settings["suggestions"], settings["apiKeys"]) == (5000, True, False)
        form = SOUP + "Content-Type: application/x-www-form-urlencoded\r\n"
        assert "confidence" in answered(live, "POST /detect", form, "q=hello&api_key=key")[0]
        typed = SOUP + "Content-Type: application/json\r\n"
        body = json.dumps({"q": "hello", "source": "auto", "target": "es"})
        answer = answered(live, "POST /translate", typed, body)
        assert (answer["translatedText"], answer["detectedLanguage"]["language"]) == ("HELLO", "en")


@pytest.mark.parametrize(
    ("change", "words"),
    [({"source": "zz"}, "is not supported"), ({"q": "x" * 5001}, "exceeds text limit")],
)
def test_dialect_tells_errors_apart_by_their_words(served: LiveServer, change: dict[str, str], words: str) -> None:
    typed = SOUP + "Content-Type: application/json\r\n"
    body = json.dumps({"q": "hello", "source": "en", "target": "es", **change})
    status, _, text = sent(served, "POST /translate", typed, body)
    assert status == 400
    assert words in json.loads(text)["error"]


# ----- OmegaT, by its Apertium connector with a server of one's own


def test_omegat_asks_apertium_with_a_bar_as_it_is(served: LiveServer) -> None:
    line = "GET /apertium/translate?q=hello+%26+%3Cx0%2F%3E+%ED%95%9C&markUnknown=no&langpair=en_US|es&key="
    answer = answered(served, line, JAVA)
    assert answer["responseStatus"] == 200
    assert answer["responseData"]["translatedText"] == "HELLO & <x0/> 한"
    status, _, text = sent(served, "GET /apertium/translate?q=a&markUnknown=no&langpair=ko|fr&key=", JAVA)
    told = json.loads(text)
    assert (status, told["responseStatus"], told["responseData"]) == (400, 400, {"translatedText": None})
    assert told["responseDetails"] == told["message"] == "fr is not supported"


# ----- OPUS-CAT: Trados, OmegaT's plugin, Wordfast

ASKED = "tokenCode=0&input=hello%20there&srcLangCode=en-US&trgLangCode=es-ES&modelTag="


def test_trados_asks_for_pairs_tags_and_status_then_for_a_segment(served: LiveServer) -> None:
    path = "/MtRestService"
    assert answered(served, f"GET {path}/ListSupportedLanguagePairs?tokenCode=0", DOTNET) == ["ko-en", "en-es"]
    tags = f"GET {path}/GetLanguagePairModelTags?tokenCode=0&srcLangCode=en-US&trgLangCode=es-ES"
    assert answered(served, tags, DOTNET) == []
    state = f"GET {path}/CheckModelStatus?tokenCode=0&srcLangCode=en-US&trgLangCode=es-ES&modelTag="
    assert answered(served, state, DOTNET) == "loaded"
    batch = f"POST {path}/PreOrderBatch?tokenCode=0&srcLangCode=en-US&trgLangCode=es-ES&modelTag="
    assert sent(served, batch, DOTNET, '["hello there","good bye"]')[0] == 200
    assert answered(served, f"GET {path}/TranslateJson?{ASKED}", DOTNET)["translation"] == "HELLO THERE"


def test_omegat_s_plugin_of_opus_cat_names_no_token(served: LiveServer) -> None:
    line = "GET /MTRestService/TranslateJson?input=hello+there&srcLangCode=en&trgLangCode=es"
    assert answered(served, line, JAVA) == {"translation": "HELLO THERE"}


def test_wordfast_has_three_ways_to_ask(served: LiveServer) -> None:
    assert answered(served, f"GET /MTRestService/TranslateJson?{ASKED}", JAVA)["translation"] == "HELLO THERE"
    assert answered(served, f"POST /MTRestService/TranslatePost?{ASKED}", JAVA)["translation"] == "HELLO THERE"
    status, headers, text = sent(served, f"GET /MTRestService/TranslateStream?{ASKED}", JAVA)
    assert (status, headers["content-type"], text) == (200, "text/plain; charset=utf-8", "HELLO THERE")
    assert "server" not in headers  # Wordfast Anywhere takes no answer of a server that names itself
