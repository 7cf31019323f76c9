"""Clients that nobody here wrote, against a live port: libraries, generated requests, and other projects' own tests."""

import os
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.error import HTTPError

import pytest
from deep_translator import LibreTranslator
from deep_translator.exceptions import AuthorizationException
from libretranslatepy import LibreTranslateAPI
from live_server import CONFIG, LiveServer, live_server
from small_runs import TEXTS, make_text_runs

from seq2see.formats.documents.placeholders import has_words
from seq2see.serve.configuration import ServerConfig
from seq2see.serve.http.keys import ApiKeys
from seq2see.serve.workers.worker import load_models

KEYS = ApiKeys({"somebody": "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"})  # of "password"


def test_libretranslatepy(served: LiveServer) -> None:
    client = LibreTranslateAPI(f"{served.url}/", api_key="any")
    assert client.translate("hello <b>", "en", "es") == "HELLO <b>"
    assert client.translate("안녕", "ko", "en") == "안녕"
    assert client.languages()[0] == {"code": "ko", "name": "Korean", "targets": ["en"]}
    assert client.detect("안녕하세요")[0]["language"] == "ko"
    with pytest.raises(HTTPError) as refused:
        client.translate("a", "zz", "en")
    assert refused.value.code == 400
    refused.value.close()


def test_deep_translator(served: LiveServer) -> None:
    client = LibreTranslator(source="en", target="es", custom_url=f"{served.url}/", api_key="any")
    assert client.translate("hello & goodbye?") == "HELLO & GOODBYE?"
    assert client.translate_batch(["one", "two"]) == ["ONE", "TWO"]
    with live_server(replace(CONFIG, keys=KEYS)) as live:
        known = LibreTranslator(source="en", target="es", custom_url=f"{live.url}/", api_key="password")
        assert known.translate("hello") == "HELLO"
        unknown = LibreTranslator(source="en", target="es", custom_url=f"{live.url}/", api_key="other")
        with pytest.raises(AuthorizationException):
            unknown.translate("hello")


def test_the_server_says_what_the_translator_says(tmp_path: Path) -> None:
    """Real models, 8 clients at once, any mixture of texts: byte for byte the same as without a server."""
    from seq2see.session import load

    runs = tuple(run for run in make_text_runs(tmp_path) if run.name != "blind")  # which has nothing to say
    texts = [text for text in TEXTS if has_words(text) and text.isprintable() and "[" not in text]
    alone = {run.name: [made.text for made in load(run.path).translate(texts)] for run in runs}
    config = ServerConfig(runs, texts=1000)
    with live_server(config, partial(load_models, runs, "torch")) as live:

        def ask(number: int) -> list[str]:
            run = runs[number % len(runs)]
            order = [(number * 7 + place) % len(texts) for place in range(len(texts))]
            body = {"q": [texts[place] for place in order], "source": "ko", "target": "en", "model": run.name}
            with type(live.client)(base_url=live.url, timeout=60, trust_env=False) as client:
                said = client.post("/translate", json=body).json()["translatedText"]
            assert said == [alone[run.name][place] for place in order]
            single = client_translate(live, texts[number % len(texts)], run.name)
            assert single == alone[run.name][number % len(texts)]
            return said

        with ThreadPoolExecutor(8) as threads:
            assert len(list(threads.map(ask, range(24)))) == 24


def client_translate(live: LiveServer, text: str, run: str) -> str:
    body = {"q": text, "source": "ko", "target": "en", "model": run}
    return str(live.client.post("/translate", json=body).json()["translatedText"])


def test_schemathesis_finds_nothing_in_our_api(tmp_path: Path) -> None:
    """Short: some requests made from our own OpenAPI document; the slow one makes more."""
    _schemathesis(tmp_path, examples=2)


@pytest.mark.slow
def test_schemathesis_finds_nothing_in_many_requests(tmp_path: Path) -> None:
    _schemathesis(tmp_path, examples=100)


def tool(name: str) -> str:
    """A program of the same environment."""
    return str(Path(sys.executable).parent / name)


REJECTIONS = """[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "413", "415", "429", "5xx"]
"""  # 413: what breaks a schema can be too large as well, and that is seen first


def _schemathesis(folder: Path, examples: int) -> None:
    (folder / "schemathesis.toml").write_text(REJECTIONS)
    runs = make_text_runs(folder / "runs")[:1]
    with live_server(ServerConfig(runs), partial(load_models, runs, "torch")) as live:
        done = subprocess.run(
            [
                tool("schemathesis"), "run", f"{live.url}/api/v1/openapi.json",
                "--phases", "examples,fuzzing", "--max-examples", str(examples), "--seed", "1", "--no-color",
                "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,"
                "response_schema_conformance,negative_data_rejection,unsupported_method",
                "--request-timeout", "60", "--exclude-path", "/api/v1/style",  # a body of sound, which it cannot make
            ],
            capture_output=True, text=True, timeout=900, cwd=folder,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]


# ----- what other projects hold their own servers to; downloaded when it is run, never kept


ADAPTER = """
import os
import httpx2
import pytest

class Answer:
    def __init__(self, answer):
        self.status_code, self.data, self.text = answer.status_code, answer.content, answer.text
        self.json = answer.json()
    def get_json(self):
        return self.json

class Client:
    def __init__(self):
        self.http = httpx2.Client(base_url=os.environ["SERVER"], trust_env=False, timeout=60)
    def get(self, path):
        return Answer(self.http.get(path))
    def post(self, path, data=None, json=None):
        return Answer(self.http.post(path, data=data, json=json))

@pytest.fixture()
def client():
    return Client()
"""


def fetched(folder: Path, *packages: str) -> list[Path]:
    """Wheels of packages, by pip."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder)]
    done = subprocess.run([*command, *packages], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot be downloaded here: {done.stderr[-200:]}")
    return sorted(folder.glob("*.whl"))


@pytest.mark.slow
def test_libretranslate_s_own_tests_pass(tmp_path: Path) -> None:
    (wheel,) = fetched(tmp_path / "wheels", "libretranslate==1.9.6")
    folder = tmp_path / "theirs"
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if "test_api/" in name and Path(name).name.startswith("test_")]
        for name in names:
            (folder / Path(name).name).write_bytes(archive.read(name))
    (folder / "conftest.py").write_text(ADAPTER)
    with live_server() as live:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "SERVER": live.url},
        )
    assert "14 passed" in done.stdout, done.stdout[-5000:]


@pytest.mark.slow
def test_many_clients_many_texts_the_same_bytes(tmp_path: Path) -> None:
    """32 clients ask 1,000 texts each, in an order of their own, one to twenty in a request."""
    import random

    from seq2see.corpora import examples
    from seq2see.session import load

    run = make_text_runs(tmp_path)[0]
    texts = [example.source for example in examples("phrases", "test", limit=1000)]
    alone = dict(zip(texts, (made.text for made in load(run.path).translate(texts)), strict=True))
    wrong: list[tuple[str, str, str]] = []
    statuses: Counter[int] = Counter()
    with live_server(ServerConfig((run,)), partial(load_models, (run,), "torch"), workers=2) as live:

        def ask(seed: int) -> None:
            order = random.Random(seed).sample(texts, len(texts))
            with type(live.client)(base_url=live.url, timeout=120, trust_env=False) as client:
                while order:
                    count = random.Random(len(order) + seed).choice((1, 1, 1, 2, 20))
                    asked, order = order[:count], order[count:]
                    answer = client.post("/translate", json={"q": asked, "source": "ko", "target": "en"})
                    statuses[answer.status_code] += 1
                    if answer.status_code in (429, 504):  # too much, or too late: a busy machine, and no wrong answer
                        order = asked + order
                        time.sleep(1)
                        continue
                    said = answer.json()["translatedText"]
                    pairs = zip(asked, said, strict=True)
                    wrong.extend((text, made, alone[text]) for text, made in pairs if made != alone[text])

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong, wrong[:5]
    assert set(statuses) <= {200, 429, 504}
