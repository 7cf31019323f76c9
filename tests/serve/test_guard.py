"""What every request passes: hosts, origins, headers, sizes, deadlines, keys, limits; over live ports."""

import hashlib
import http.client
import json
import mimetypes
import random
import socket
import time
from dataclasses import replace

import pytest
from live_server import CONFIG, LiveServer, live_server, wait_until

from seq2see.serve import server
from seq2see.serve.http import guard
from seq2see.serve.http.guard import HEADERS, Hosts
from seq2see.serve.http.keys import ApiKeys
from seq2see.serve.http.pages import MEDIA_TYPES
from seq2see.serve.workers.pool import MOST_CALLS

SECRET = ApiKeys({"weblate": hashlib.sha256(b"secret").hexdigest()})
ASKED = {"q": "a", "source": "en", "target": "es"}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:5000", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("[::1]:5000", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example:5000", 403),
        ("192.168.0.5", 403),
        ("127.0.0.1:x", 403),
        ("127.0.0.1@evil.example", 403),
        ("", 403),
    ],
)
def test_hosts(served: LiveServer, host: str, status: int) -> None:
    for path in ("/health", "/", "/api/v1/runs", "/nothing"):
        answered = served.client.get(path, headers={"Host": host}).status_code
        assert answered == status or (path == "/nothing" and (status, answered) == (200, 404))


def test_who_listens_everywhere_is_called_by_any_address_but_by_no_other_name() -> None:
    everywhere = Hosts(lambda *_: None, ("localhost", "0.0.0.0", "mt.example"))  # type: ignore[arg-type, return-value]
    known = [
        everywhere.knows(host) for host in ("192.168.0.5:80", "[fe80::1]", "mt.example", "evil.example", "1.2.3.4.x")
    ]
    assert known == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_our_api_is_for_our_page(served: LiveServer, headers: dict[str, str], status: int) -> None:
    assert served.client.get("/api/v1/runs", headers=headers).status_code == status
    own = headers or {"Origin": served.url}
    assert served.client.get("/api/v1/runs", headers=own).status_code == status
    assert served.client.post("/translate", json=ASKED, headers=headers).status_code == 200  # the dialects are for all


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_our_api_takes_no_forms(served: LiveServer, kind: str) -> None:
    response = served.client.post("/api/v1/translate", content=b"{}", headers={"Content-Type": kind})
    assert response.status_code == 415


def test_headers_of_everything(served: LiveServer) -> None:
    answers = [
        served.client.get("/"),
        served.client.get("/nothing"),
        served.client.get("/health", headers={"Host": "evil.example"}),
        served.client.post("/translate", json=ASKED),
        served.client.post("/translate", content=b"x" * (2**20 + 1)),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 403, 200, 413]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


def test_files_of_the_page_are_what_our_table_says(monkeypatch: pytest.MonkeyPatch, served: LiveServer) -> None:
    monkeypatch.setattr(mimetypes, "guess_type", lambda *_: ("text/plain", None))  # a registry that was spoiled
    page = served.client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    for path in ("/page/main.js", "/view/matrix.js"):
        script = served.client.get(path)
        assert script.headers["content-type"] == MEDIA_TYPES[".js"] == "text/javascript; charset=utf-8"
        assert script.headers["cache-control"] == "no-cache"
        again = served.client.get(path, headers={"If-None-Match": script.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_no_path_reaches_the_disk(served: LiveServer) -> None:
    """A thousand strings that mean another folder to somebody, sent as they are."""
    parts = ("..", "%2e%2e", "....//", "..%2f", "..%5c", "\\..", "/", "%00", "etc/passwd", "a", "%252e", "~", "app.py")
    choose = random.Random(1)
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    for number in range(1000):
        path = "/".join(choose.choices(parts, k=choose.randint(1, 6)))
        connection.request("GET", ("/download_file/", "/page/", "/view/")[number % 3] + path)
        response = connection.getresponse()
        assert (response.status, list(json.loads(response.read()))) == (404, ["error"]), path
    connection.close()


def raw(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request)
        answer = b""
        while received := connection.recv(65536):
            answer += received
    return answer


def test_what_is_no_http_is_400_in_json(served: LiveServer) -> None:
    for request in (b"hello\r\n\r\n", b"GET /\x00 HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"):
        answer = raw(served.port, request)
        assert b" 400 " in answer or b" 403 " in answer
        assert b'{"error":' in answer
    head, body = raw(served.port, "GET /apertium/translate?q=나 HTTP/1.1\r\nHost: a\r\n\r\n".encode()).split(
        b"\r\n\r\n"
    )
    assert f"content-length: {len(body)}".encode() in head
    assert "%XX" in json.loads(body)["error"]


def test_answers_do_not_wait_for_acknowledgements(served: LiveServer) -> None:
    """A head and a body in two packets, with Nagle's algorithm: 40 ms each time. The quickest of many is far below."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.connect()
    times = []
    for _ in range(20):
        start = time.monotonic()
        connection.request("GET", "/health")
        connection.getresponse().read()
        times.append(time.monotonic() - start)
    connection.close()
    assert min(times) < 0.03


def test_bodies(served: LiveServer) -> None:
    too_large = served.client.post("/translate", content=b"x" * (2**20 + 1))
    assert (too_large.status_code, list(too_large.json())) == (413, ["error"])
    chunked = served.client.post("/translate", content=iter([b"x" * 2**18] * 5))
    assert chunked.status_code == 413
    packed = served.client.post("/translate", content=b"x", headers={"Content-Encoding": "gzip"})
    assert packed.status_code == 415
    query = served.client.post("/translate", params=ASKED | {"q": "가" * 5000})
    assert query.json() == {"translatedText": "가" * 5000}  # 45 kB of address


def test_slow_ones_are_let_go_and_the_others_are_not_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """400 sockets: headers that never end, bodies that never come, and connections that say nothing."""
    monkeypatch.setattr(server.PatientProtocol, "header_seconds", 1.0)
    monkeypatch.setattr(guard.Body.__init__, "__defaults__", (1.0,))
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\n"
    starts = (head, head + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", b"")
    with live_server() as live:
        sockets = [socket.create_connection(("127.0.0.1", live.port), timeout=30) for _ in range(400)]
        for number, connection in enumerate(sockets):
            connection.sendall(starts[number % 3])
        start = time.monotonic()
        assert live.translate("a").json() == {"translatedText": "A"}
        assert time.monotonic() - start < 5
        answers = [connection.recv(4096) for connection in sockets]
        for connection in sockets:
            connection.close()
        assert {answer.split(b"\r\n")[0] for answer in answers[1::3]} == {b"HTTP/1.1 408 Request Timeout"}
        assert {*answers[0::3], *answers[2::3]} == {b""}  # closed without a word
        # A connection that is kept has a second for each request, and not for all of them.
        kept = http.client.HTTPConnection("127.0.0.1", live.port, timeout=30)
        for _ in range(3):
            kept.request("GET", "/health")
            assert kept.getresponse().read() == b'{"status":"ok"}'
            first = kept.sock
            time.sleep(0.6)
            assert kept.sock is first
        kept.close()


def test_who_hangs_up_frees_the_worker() -> None:
    with live_server() as live:
        body = b'{"q":"sleep 60","source":"en","target":"es"}'
        head = "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}"
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", live.port), timeout=30) as connection:
                connection.sendall(head.encode() + b"\r\n\r\n" + body)
                wait_until(lambda: live.pool.calls == 1)
            wait_until(lambda: live.pool.calls == 0)
        start = time.monotonic()
        assert live.translate("a").json() == {"translatedText": "A"}
        assert time.monotonic() - start < 10
        assert live.pool.figures.cancelled == 3
        counted = live.client.get("/metrics").text
        assert 'seq2see_requests_total{route="/translate",status="499"} 3.0' in counted


def test_keys_on_every_route() -> None:
    with live_server(replace(CONFIG, keys=SECRET)) as live:
        no_key = {"error": "Please contact the server operator to get an API key"}
        for path, body in (("/translate", ASKED), ("/detect", {"q": "a"}), ("/api/v1/translate", {})):
            refused = live.client.post(path, json=body)
            assert (refused.status_code, refused.json()) == (400, no_key), path
            wrong = live.client.post(path, json=body, headers={"Authorization": "Bearer other"})
            assert (wrong.status_code, wrong.json()) == (403, {"error": "Invalid API key"}), path
        for path in ("/api/v1/runs", "/api/v1/openapi.json"):
            assert live.client.get(path).status_code == 400
            assert live.client.get(path, headers={"Authorization": "Bearer secret"}).status_code == 200
        file = live.client.post(
            "/translate_file", data={"source": "en", "target": "es"}, files={"file": ("a.txt", b"a")}
        )
        assert (file.status_code, file.json()) == (400, no_key)
        assert live.client.get("/apertium/translate?q=a&langpair=en|es").status_code == 400
        assert live.client.get("/MTRestService/TranslateJson?input=a&srcLangCode=en&trgLangCode=es").status_code == 400
        ways = [
            live.client.post("/translate", json=ASKED | {"api_key": "secret"}),
            live.client.post("/translate", data=ASKED | {"api_key": "secret"}),
            live.client.post("/translate", params=ASKED | {"api_key": "secret"}),
            live.client.post("/translate", json=ASKED, headers={"Authorization": "Bearer secret"}),
            live.client.get("/apertium/translate?q=a&langpair=en|es&key=secret"),
            live.client.get("/MTRestService/TranslateJson?input=a&srcLangCode=en&trgLangCode=es&tokenCode=secret"),
        ]
        assert [way.status_code for way in ways] == [200] * 6
        for path in ("/health", "/ready", "/languages", "/frontend/settings", "/spec", "/", "/page/main.js"):
            assert live.client.get(path).status_code == 200, path
        assert live.client.get("/frontend/settings").json()["keyRequired"] is True


def test_limits_and_forwarded_addresses() -> None:
    with live_server(replace(CONFIG, limit=2, forwarded=True)) as live:
        batch = {**ASKED, "q": ["a", "b"]}
        assert live.client.post("/translate", json=batch).status_code == 200
        refused = live.client.post("/translate", json=ASKED)
        assert (refused.status_code, refused.json()) == (429, {"error": "Slowdown: 2 per 1 minute"})
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        other = live.client.post("/translate", json=ASKED, headers={"X-Forwarded-For": "6.6.6.6, 10.0.0.7"})
        assert other.status_code == 200
        assert live.client.get("/health").status_code == 200


def test_where_too_many_wait_a_request_is_refused_before_it_is_read() -> None:
    with live_server() as live:
        for body in (b'{"q": ', b'{"q": "' + b"x" * 500_000):  # neither is JSON
            live.pool.calls = MOST_CALLS
            refused = live.client.post("/translate", content=body, headers={"Content-Type": "application/json"})
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            live.pool.calls = 0
            assert live.translate("a").json() == {"translatedText": "A"}  # on the same connection


def test_nobody_names_another_address_where_no_proxy_was_told_of() -> None:
    with live_server(replace(CONFIG, limit=2)) as live:
        claims = [{"X-Forwarded-For": f"10.0.0.{number}"} for number in range(3)]
        statuses = [live.client.post("/translate", json=ASKED, headers=claim).status_code for claim in claims]
        assert statuses == [200, 200, 429]


def test_cors_is_for_those_who_were_named() -> None:
    with live_server(replace(CONFIG, cors=("https://a.example",))) as live:
        allowed = live.client.request("OPTIONS", "/translate", headers={"Origin": "https://a.example"})
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == "https://a.example"
        assert allowed.headers["access-control-allow-headers"] == "Authorization, Content-Type"
        assert "access-control-allow-credentials" not in allowed.headers
        answered = live.client.post("/translate", json=ASKED, headers={"Origin": "https://a.example"})
        assert answered.headers["cross-origin-resource-policy"] == "cross-origin"
        for path, origin in (("/translate", "https://b.example"), ("/api/v1/runs", "https://a.example")):
            refused = live.client.request("OPTIONS", path, headers={"Origin": origin})
            assert "access-control-allow-origin" not in refused.headers


def test_metrics(served: LiveServer) -> None:
    served.translate("something new to count")
    served.client.get("/no/such/path")
    text = served.client.get("/metrics").text
    assert 'seq2see_requests_total{route="/translate",status="200"}' in text
    assert 'seq2see_requests_total{route="other",status="404"}' in text
    assert "something" not in text
    assert "such" not in text
    with live_server(replace(CONFIG, metrics_token="token")) as live:
        assert live.client.get("/metrics").status_code == 401
        assert live.client.get("/metrics", headers={"Authorization": "Bearer token"}).status_code == 200
    with live_server(replace(CONFIG, metrics=False)) as live:
        assert live.client.get("/metrics").status_code == 404
