"""Our dialect beside LibreTranslate itself: the same requests to both, the same statuses, shapes and error texts.

The original runs in an environment of its own, made when the test runs, with an engine that only repeats: its
protocol is what is compared. It is never kept here. `ALLOWED` is the whole list of differences.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from live_server import LiveServer, live_server, wait_until

VERSION = "libretranslate==1.9.6"
PACKAGES = (
    *("flask==2.2.5", "werkzeug==2.3.8", "flask-babel==3.1.0", "flask-limiter==2.6.3", "flask-swagger==0.2.14"),
    *("flask-swagger-ui==4.11.1", "itsdangerous", "apscheduler", "expiringdict", "langdetect", "lexilang", "packaging"),
    *("polib", "redis", "waitress", "setuptools<81", "prometheus-client", "numpy<2", "requests"),
)
# What the original asks of its engine: languages that can be translated, each also into itself; files; models to fetch.
STAND_INS = {
    "argostranslate/package.py": "def get_installed_packages(): return [1, 2]\n",
    "argostranslate/translate.py": """
class Hypothesis:
    def __init__(self, value): self.value = value
class Repeat:
    def __init__(self, to): self.to_lang = to
    def hypotheses(self, text, count): return [Hypothesis(f"{text}{' again' * n}") for n in range(count)]
    def translate(self, text): return text
class Language:
    def __init__(self, code, name): self.code, self.name, self.translations_from = code, name, []
    def get_translation(self, to):
        return next((one for one in self.translations_from if one.to_lang.code == to.code), None)
def get_installed_languages():
    ko, en, es = Language("ko", "Korean"), Language("en", "English"), Language("es", "Spanish")
    ko.translations_from, en.translations_from = [Repeat(ko), Repeat(en)], [Repeat(en), Repeat(es)]
    es.translations_from = [Repeat(es)]
    return [ko, en, es]
""",
    "argostranslate/__init__.py": "",
    "argostranslatefiles/__init__.py": """
import shutil
class Plain: supported_file_extensions = [".txt", ".srt"]
def get_supported_formats(): return [Plain]
def get_texts(path): return open(path).read()
def translate_file(translation, path):
    shutil.copy(path, path.replace(".txt", "_es.txt"))
    return path.replace(".txt", "_es.txt")
""",
    "argostranslatefiles/translatehtml.py": "def translate_html(translation, text): return text\n",
    "minisbd.py": "def download_models(codes, say): pass\n",
}
START = """
import sys
from werkzeug.serving import run_simple
port, sys.argv = int(sys.argv[1]), ["", "--load-only", "ko,en,es", "--char-limit", "5000", "--batch-limit", "100"]
sys.argv += ["--alternatives-limit", "5", "--disable-web-ui"]
from libretranslate.app import create_app
from libretranslate.main import get_args
run_simple("127.0.0.1", port, create_app(get_args()), threaded=True)
"""


@dataclass(frozen=True)
class Question:
    """One request. way: how its fields travel."""

    method: str
    path: str
    way: str
    fields: dict[str, Any] = field(default_factory=dict)

    def sent(self, client: httpx2.Client) -> httpx2.Response:
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in self.fields.items()}
        match self.way:
            case "json":
                return client.request(self.method, self.path, json=self.fields)
            case "form":
                return client.request(self.method, self.path, data=texts)
            case "multipart":
                parts = {name: (None, value) for name, value in texts.items()}
                return client.request(self.method, self.path, files=parts or {"x": (None, "y")})
            case "query":
                return client.request(self.method, self.path, params=texts)
            case "wrong type":
                headers = {"Content-Type": "text/plain"}
                return client.request(self.method, self.path, content=json.dumps(self.fields), headers=headers)
        return client.request(self.method, self.path)

    @property
    def texts(self) -> list[Any]:
        q = self.fields.get("q")
        return q if isinstance(q, list) else [q]


@dataclass(frozen=True)
class Reply:
    status: int
    data: Any  # None: no JSON

    @classmethod
    def of(cls, response: httpx2.Response) -> "Reply":
        try:
            return cls(response.status_code, response.json())
        except ValueError:
            return cls(response.status_code, None)

    @property
    def error(self) -> str:
        return str(self.data.get("error")) if isinstance(self.data, dict) else ""


# ----- what is compared


def shape(value: Any) -> Any:
    match value:
        case dict():
            return {name: shape(inner) for name, inner in sorted(value.items())}
        case list():
            return [shape(inner) for inner in value]
        case bool() | None:
            return type(value).__name__
        case int() | float():
            return "number"
    return "text"


def difference(question: Question, theirs: Reply, ours: Reply) -> str | None:
    """None: the same, as far as a client can tell."""
    if theirs.status != ours.status:
        return f"status {theirs.status} {theirs.error!r} is {ours.status} {ours.error!r} here"
    if theirs.status in (404, 405):
        return None if list(ours.data) == ["error"] else "no JSON with an error"
    if question.method == "OPTIONS":
        return None
    if question.path in ("/spec", "/detect", "/frontend/settings", "/languages"):
        return _same_kind(question, theirs.data, ours.data)
    if theirs.status != 200 and theirs.error != ours.error:
        return f"error {theirs.error!r} is {ours.error!r} here"
    if shape(_comparable(theirs.data)) != shape(_comparable(ours.data)):
        return f"shape {theirs.data} is {ours.data} here"
    return None


def _same_kind(question: Question, theirs: Any, ours: Any) -> str | None:
    if isinstance(theirs, list) and theirs and isinstance(ours, list) and ours:
        theirs, ours = theirs[0], ours[0]
    if question.path == "/spec":
        theirs, ours = sorted(theirs["paths"]), sorted(ours["paths"])
        return None if theirs == ours else f"paths {theirs} are {ours} here"
    names = [set(one) if isinstance(one, dict) else type(one) for one in (theirs, ours)]
    return None if names[0] == names[1] else f"{names[0]} is {names[1]} here"


def _comparable(data: Any) -> Any:
    """How many alternatives there are is up to the engine; that there is a list, for each text, is not."""
    if not isinstance(data, dict) or "alternatives" not in data:
        return data
    many = isinstance(data["translatedText"], list)
    return data | {"alternatives": [[] for _ in data["alternatives"]] if many else []}


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


Allowed = Callable[[Question, Reply, Reply], bool]
ALLOWED: dict[str, Allowed] = {
    "what made the original fail (500) is answered, or refused with 400": (
        lambda question, theirs, ours: theirs.status == 500 and ours.status in (200, 400)
    ),
    "fields that are no text are refused in our own words": (
        lambda question, theirs, ours: ours.status == 400 and not all(map(_is_text, question.fields.values()))
    ),
    "a text without a letter is returned as it is; the original takes it for English": (
        lambda question, theirs, ours: not any(map(str.isalpha, "".join(map(str, question.texts))))
    ),
    "auto chooses among the languages that can be translated; each text of a list by itself": (
        lambda question, theirs, ours: (
            str(question.fields.get("source")).lower() == "auto" and ours.status in (200, 400)
        )
    ),
    "a language into itself is refused; the original repeats the text": (
        lambda question, theirs, ours: "is not available as a target language" in ours.error and theirs.status == 200
    ),
    "an empty field is none": lambda question, theirs, ours: "" in question.fields.values() and ours.status != 500,
    "what JSON is wrong is said in our own words": (
        lambda question, theirs, ours: (theirs.status, ours.status, ours.error) == (400, 400, "Invalid JSON format")
    ),
    "OPTIONS is 200 wherever it is sent": lambda question, theirs, ours: question.method == "OPTIONS",
    "a region may stand behind a code": (
        lambda question, theirs, ours: any("-" in str(question.fields.get(name)) for name in ("source", "target"))
    ),
}


def check(question: Question, theirs: Reply, ours: Reply) -> str | None:
    found = difference(question, theirs, ours)
    if found is None or any(allowed(question, theirs, ours) for allowed in ALLOWED.values()):
        return None
    return found


# ----- requests

WORDS = [
    "hello",
    "안녕 하세요",
    "a",
    "Hello, world!",
    "<b>x</b> & y",
    "line\nline",
    "  hi  ",
    "5",
    "",
    " ",
    "🙂",
    "x" * 5001,
    "%s {x}",
]
TEXTS = st.sampled_from(WORDS) | st.text(max_size=20)
CODES = st.sampled_from(["ko", "en", "es", "en", "ko", "auto", "zz", "EN", "ko-KR", "", None, 5])
FIELDS = {
    "q": TEXTS | st.lists(TEXTS, max_size=3) | st.sampled_from([None, 5, {}, ["a", 5], ["a"] * 101]),
    "source": CODES,
    "target": CODES,
    "format": st.sampled_from(["text", "html", "md", "", None, 5]),
    "alternatives": st.sampled_from([0, 1, 2, 5, 6, -1, "2", "x", 1.5, True, [], 10**30]),
    "api_key": st.sampled_from(["", None, "key"]),
    "unknown": st.just("field"),
    "s": st.just("better"),
}
USUAL = {"q": "hello", "source": "en", "target": "es"}
PATHS = ["/translate"] * 6 + ["/detect", "/suggest", "/languages", "/health", "/frontend/settings", "/nothing"]
WAYS = st.sampled_from(["json", "json", "json", "form", "form", "multipart", "query", "wrong type", "nothing"])


@st.composite
def questions(draw: st.DrawFn) -> Question:
    """Mostly a good request with some fields changed or left out."""
    path = draw(st.sampled_from(PATHS))
    usual = "POST" if path in ("/translate", "/detect", "/suggest") else "GET"
    method = draw(st.sampled_from([usual, usual, usual, usual, "GET", "POST", "PUT", "DELETE", "OPTIONS"]))
    changed = draw(st.lists(st.sampled_from(list(FIELDS)), max_size=3, unique=True))
    fields = {name: value for name, value in USUAL.items() if name not in changed or draw(st.booleans())}
    fields |= {name: draw(FIELDS[name]) for name in changed if name in fields or draw(st.booleans())}
    way = draw(WAYS) if method == "POST" else "nothing"
    if way != "json":  # elsewhere there are only texts
        fields = {name: value for name, value in fields.items() if isinstance(value, str | int) and value is not True}
    return Question(method, path, way, fields)


# ----- the original


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    folder = tmp_path_factory.mktemp("original")
    packages = Path(tempfile.gettempdir()) / "seq2see-oracle" / VERSION  # minutes to install: once for all runs
    install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(packages)]
    commands = [] if packages.exists() else [[*install, *PACKAGES], [*install, "--no-deps", VERSION]]
    for words in commands:
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(packages, ignore_errors=True)
            pytest.skip(f"cannot be installed here: {done.stderr[-300:]}")
    for name, text in STAND_INS.items():
        (folder / "stand_ins" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "stand_ins" / name).write_text(text)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    paths = os.pathsep.join(map(str, (folder / "stand_ins", packages)))
    log = (folder / "log").open("w")
    command = [sys.executable, "-c", START, str(port)]
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, stdout=log, stderr=log)
    with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
        try:
            wait_until(lambda: process.poll() is not None or _lives(client))
            assert process.poll() is None, (folder / "log").read_text()[-3000:]
            yield client
        finally:
            process.kill()
            process.wait()
            log.close()


def _lives(client: httpx2.Client) -> bool:
    try:
        return client.get("/health").status_code == 200
    except httpx2.TransportError:
        return False


@pytest.fixture(scope="module")
def ours() -> Iterator[LiveServer]:
    with live_server() as live:
        yield live


def compare(count: int, original: httpx2.Client, ours: LiveServer) -> None:
    statuses: set[int] = set()

    @settings(max_examples=count, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
              suppress_health_check=[HealthCheck.too_slow], derandomize=True)  # fmt: skip
    @given(questions())
    def same(question: Question) -> None:
        theirs, own = Reply.of(question.sent(original)), Reply.of(question.sent(ours.client))
        statuses.add(own.status)
        assert own.status != 422
        assert own.status < 500
        assert (found := check(question, theirs, own)) is None, f"{question}: {found}"

    same()
    assert statuses >= {200, 400, 403, 404, 405}


@pytest.mark.slow
def test_two_thousand_requests_are_answered_as_the_original_does(original: httpx2.Client, ours: LiveServer) -> None:
    compare(2000, original, ours)


@pytest.mark.slow
def test_the_document_of_its_routes_names_the_same_paths(original: httpx2.Client, ours: LiveServer) -> None:
    question = Question("GET", "/spec", "nothing")
    assert difference(question, Reply.of(question.sent(original)), Reply.of(question.sent(ours.client))) is None


@pytest.mark.slow
def test_files_are_taken_as_the_original_takes_them(original: httpx2.Client, ours: LiveServer) -> None:
    fields = {"source": "en", "target": "es"}
    for name, changed in (
        ("a.txt", {}), ("a.exe", {}), ("a", {}), ("a.txt", {"source": "zz"}), ("a.txt", {"target": "zz"}),
        ("a.txt", {"source": ""}), ("a.txt", {"target": ""}),
    ):  # fmt: skip
        question = Question("POST", "/translate_file", "multipart", fields | changed)
        replies = [
            Reply.of(client.post("/translate_file", data=fields | changed, files={"file": (name, b"hello")}))
            for client in (original, ours.client)
        ]
        assert difference(question, *replies) is None, (name, changed)


# ----- that the comparison sees something


def test_the_comparison_sees_what_clients_would_stumble_over() -> None:
    asked = Question("POST", "/translate", "json", {**USUAL, "q": ["a", "b"], "alternatives": 1})
    good = Reply(200, {"translatedText": ["A", "B"], "alternatives": [[], []]})
    assert check(asked, good, good) is None
    mutants = [
        Reply(422, {"detail": []}),
        Reply(200, {"translatedText": ["A"], "alternatives": [[]]}),
        Reply(200, {"translatedText": "A", "alternatives": [[], []]}),
        Reply(200, {"translatedText": ["A", "B"]}),  # left out because they are empty
        Reply(200, {"translatedText": ["A", None], "alternatives": [[], []]}),
        Reply(200, {"translatedText": ["A", "B"], "alternatives": []}),
        Reply(200, {"translatedText": ["A", "B"], "alternatives": [[], []], "detectedLanguage": []}),
        Reply(500, {"error": "x"}),
    ]
    assert [check(asked, good, mutant) is not None for mutant in mutants] == [True] * len(mutants)
    refused = Reply(400, {"error": "zz is not supported"})
    asked = Question("POST", "/translate", "form", {**USUAL, "target": "zz"})
    assert check(asked, refused, Reply(400, {"error": "zz: unknown"})) is not None
    assert check(asked, refused, Reply(400, {"message": "zz is not supported"})) is not None
    assert check(Question("GET", "/translate", "nothing"), Reply(405, None), Reply(405, {"error": "x"})) is None
