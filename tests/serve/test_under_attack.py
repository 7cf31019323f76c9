"""What somebody would try: every route without a key, foreign pages, bombs in files, hanging up, texts that kill."""

import gzip
import http.client
import io
import itertools
import json
import random
import socket
import threading
import time
import zipfile
from dataclasses import replace

import pytest
from live_server import CONFIG, LiveServer, live_server, wait_until
from test_guard import ASKED, SECRET

from seq2see.serve.app import make_routes
from seq2see.serve.dialects.desk import Desk
from seq2see.serve.http.pages import MEDIA_TYPES, PAGE, VIEW
from seq2see.serve.http.prometheus import PrometheusMetrics
from seq2see.serve.workers.pool import Pool

# ----- every route, with and without a key

OPEN = {  # who may be told what this server is, and what has a secret of its own
    *("/", "/page/{name}", "/view/{name}", "/favicon.ico", "/health", "/ready", "/metrics"),
    *("/languages", "/frontend/settings", "/spec", "/apertium/listPairs", "/download_file/{name:path}"),
}
GUARDED = {"/translate", "/detect", "/suggest", "/translate_file", "/apertium/translate", "/api/v1/openapi.json"}
SERVICES = {"/MTRestService/{operation}", "/mtrestservice/{operation}", "/MtRestService/{operation}"}
NO_KEY = "Please contact the server operator to get an API key"


def routes() -> dict[str, set[str]]:
    """Path -> methods, of everything but our own API."""
    pool = Pool(lambda: None, 1)  # type: ignore[arg-type, return-value]
    app = make_routes(Desk(CONFIG, pool), PrometheusMetrics(CONFIG, pool))
    return {path: route.methods - {"HEAD"} for route in app.routes if (path := getattr(route, "path", None))}


def asked(live: LiveServer, method: str, path: str, key: str | None) -> tuple[int, str]:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    json_body = dict(ASKED) if method == "POST" else None
    query = "?input=a&srcLangCode=en&trgLangCode=es&q=a&langpair=en|es" if "trans" in path.lower() else ""
    answer = live.client.request(method, path + query, json=json_body, headers=headers)
    return answer.status_code, answer.text


def test_every_route_wants_a_key_or_is_named_as_open() -> None:
    known = routes()
    assert set(known) == OPEN | GUARDED | SERVICES  # a new one has to say what it is
    with live_server(replace(CONFIG, keys=SECRET, suggestions=True)) as live:
        for path in sorted(OPEN):
            for method, key in itertools.product(sorted(known[path]), (None, "other", "secret")):
                status, text = asked(live, method, path.replace("{name}", "main.js"), key)
                assert status != 403, path
                assert NO_KEY not in text, path
        guarded = [(method, path) for path in GUARDED for method in known[path]]
        guarded += [
            (method, path.format(operation=operation))
            for path in SERVICES
            for method in known[path]
            for operation in ("Translate", "TranslateJson", "TranslatePost", "TranslateStream")
        ]
        described = live.client.get("/api/v1/openapi.json", headers={"Authorization": "Bearer secret"}).json()
        guarded += [(method.upper(), path) for path, item in described["paths"].items() for method in item]
        assert len(guarded) > 40
        for method, path in sorted(guarded):
            assert asked(live, method, path, None)[0] == 400, path
            assert NO_KEY in asked(live, method, path, None)[1], path
            assert asked(live, method, path, "other")[0] == 403, path
            status, text = asked(live, method, path, "secret")
            assert status != 403, path
            assert NO_KEY not in text, path


# ----- pages of others


def test_hosts_and_origins_in_every_combination(served: LiveServer) -> None:
    port = served.port
    hosts = {
        f"127.0.0.1:{port}": True,
        f"localhost:{port}": True,
        "evil.example": False,
        f"127.0.0.1.evil.example:{port}": False,
    }
    sites = {None: True, "same-origin": True, "none": True, "same-site": False, "cross-site": False}
    origins = {
        None: True,
        "": True,
        "own": True,
        "null": False,
        "http://evil.example": False,
        f"https://evil.example:{port}": False,
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = json.dumps(ASKED)
    for (host, known), (site, near), (origin, own) in itertools.product(hosts.items(), sites.items(), origins.items()):
        headers = {"Host": host, "Content-Type": "application/json"}
        if site is not None:
            headers["Sec-Fetch-Site"] = site
        if origin:
            headers["Origin"] = f"http://{host}" if origin == "own" else origin
        for path, ours in (("/api/v1/runs", True), ("/translate", False), ("/", False)):
            method = "POST" if path == "/translate" else "GET"
            connection.request(method, path, body if method == "POST" else None, headers)
            answer = connection.getresponse()
            text = answer.read()
            allowed = known and (not ours or (near and own))
            assert answer.status == (200 if allowed else 403), (host, site, origin, path, text)
            assert answer.getheader("Access-Control-Allow-Origin") is None
    connection.close()


def test_every_file_of_the_page_has_the_type_of_our_table(served: LiveServer) -> None:
    for folder, prefix in ((PAGE, "/page/"), (VIEW, "/view/")):
        for file in sorted(folder.iterdir()):
            if file.suffix in MEDIA_TYPES:
                answer = served.client.get(prefix + file.name)
                assert answer.status_code == 200
                assert answer.headers["content-type"] == MEDIA_TYPES[file.suffix], file.name
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert answer.content == file.read_bytes()


# ----- files


def zip_bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(64 * 2**20))
    return packed.getvalue()


LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha"}">' for n in range(10))
XLIFF = (
    '<xliff version="1.2"><file source-language="en" datatype="plaintext" original="x"><body>{}</body></file></xliff>'
)
UNIT = '<trans-unit id="1"><source>{}</source></trans-unit>'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.docx", zip_bomb()),
        ("a.xlf", zip_bomb()),
        ("a.txt", gzip.compress(bytes(2**26))),
        ("a.xlf", f"<!DOCTYPE x [{LAUGHS}]>{XLIFF.format(UNIT.format('&a9;'))}".encode()),
        ("a.xlf", f'<!DOCTYPE x [<!ENTITY a "{"a" * 50_000}">]>{XLIFF.format(UNIT.format("&a;" * 9999))}'.encode()),
        ("a.xlf", f'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>{XLIFF.format(UNIT.format("&a;"))}'.encode()),
        ("a.xlf", (XLIFF.format(UNIT.format("<g>" * 50_000 + "</g>" * 50_000))).encode()),
        ("a.xliff", b"<xliff " + b"".join(b'a%d="x" ' % n for n in range(200_000)) + b"/>"),
    ],
    ids=["zip", "zip as xliff", "gzip", "laughs", "quadratic", "file", "deep", "attributes"],
)
def test_bombs_are_refused_quickly_and_cost_little(served: LiveServer, name: str, content: bytes) -> None:
    fields = {"source": "en", "target": "es"}
    answer = served.client.post("/translate_file", data=fields, files={"file": (name, content)})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("Invalid request: ")
    assert "root:" not in answer.text
    assert "/tmp" not in answer.text
    assert served.translate("still here").status_code == 200


def test_what_a_file_refers_to_is_not_fetched(served: LiveServer) -> None:
    """The tests of this folder forbid connections to elsewhere; this one would be to a port that nobody listens at."""
    content = f'<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">{XLIFF.format(UNIT.format("a"))}'.encode()
    answer = served.client.post(
        "/translate_file", data={"source": "en", "target": "es"}, files={"file": ("a.xlf", content)}
    )
    assert answer.status_code == 200
    assert b"<target" in served.client.get(answer.json()["translatedFileUrl"]).content


# ----- hanging up, and texts that kill


def hang_up(port: int, chance: random.Random) -> None:
    """A request that ends anywhere: in its head, in its body, while it is worked on, or after the answer."""
    body = json.dumps({**ASKED, "q": f"sleep {chance.choice((0, 0.01, 0.05))} {chance.random()}"})
    head = (
        f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    whole = f"{head}\r\n\r\n{body}"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(whole[: chance.choice((len(whole), chance.randint(0, len(whole))))].encode())
        time.sleep(chance.choice((0, 0, 0.005, 0.03)))
        if chance.random() < 0.5:  # without a word: RST
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


def check_hanging_up(live: LiveServer, count: int, seed: int) -> None:
    chance = random.Random(seed)
    seeds = [chance.random() for _ in range(count)]

    def some(numbers: list[float]) -> None:
        for number in numbers:
            hang_up(live.port, random.Random(number))

    threads = [threading.Thread(target=some, args=(seeds[start::8],)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: live.pool.calls == 0 and len(live.pool.line) == 0)
    assert live.pool.figures.restarts == 0
    for number in range(5):
        assert live.translate(f"after {count} {number}").json() == {"translatedText": f"AFTER {count} {number}"}


def test_who_hangs_up_at_any_moment_leaves_nothing_behind(caplog: pytest.LogCaptureFixture) -> None:
    with live_server() as live:
        check_hanging_up(live, 60, seed=1)
    assert not caplog.text  # no traceback for a body that did not come


@pytest.mark.slow
def test_two_thousand_hang_up_at_any_moment() -> None:
    with live_server(workers=2) as live:
        check_hanging_up(live, 2000, seed=2)
        assert "seq2see_queue_depth 0.0" in live.client.get("/metrics").text


def test_a_text_that_kills_is_refused_and_a_hundred_others_are_answered() -> None:
    """While its workers die of it, over HTTP."""
    answers: dict[str, tuple[int, bytes]] = {}
    with live_server(workers=2) as live:

        def ask(text: str) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=60)
            connection.request(
                "POST", "/translate", json.dumps({**ASKED, "q": text}), {"Content-Type": "application/json"}
            )
            answer = connection.getresponse()
            answers[text] = answer.status, answer.read()
            connection.close()

        texts = [f"sleep 0.01 {number}" for number in range(100)]
        threads = [threading.Thread(target=ask, args=(text,)) for text in (*texts[:50], "die", *texts[50:])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status, body = answers.pop("die")
        assert (status, list(json.loads(body))) == (500, ["error"])
        assert {text: status for text, (status, _) in answers.items()} == dict.fromkeys(texts, 200)
        wait_until(lambda: live.pool.figures.restarts >= 2)  # a death is answered before its process is put away
        assert live.pool.figures.restarts <= 3  # two alone, and one before them if it had others in its batch
