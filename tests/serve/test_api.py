"""Our API over HTTP, with real models behind it: the same bytes as the translator, one shape of errors."""

import io
import json
import random
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import torch
from live_server import LiveServer, live_server
from small_runs import SOURCES, TEXTS, audited_models, tone

import seq2see
from seq2see.runs.config import METRICS, VALIDATION_MAPS
from seq2see.runs.evaluations import keep_evaluation
from seq2see.search import SearchConfig
from seq2see.serve.api.requests import ServedRun
from seq2see.serve.configuration import ServerConfig
from seq2see.session import Request, Translator
from seq2see.session.translator import chosen

API = "/api/v1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("api")


@pytest.fixture(scope="module")
def runs(text_runs: tuple[ServedRun, ...], voice_run: ServedRun) -> tuple[ServedRun, ...]:
    return (*text_runs, voice_run)


@pytest.fixture(scope="module")
def live(runs: tuple[ServedRun, ...], folder: Path) -> Iterator[LiveServer]:
    watched = folder / "watched" / "new"
    watched.mkdir(parents=True)
    (watched / "config.json").write_text('{"version": 1, "model": {"family": "luong"}}')
    config = ServerConfig(runs, watch=(folder / "watched",))
    with live_server(config, partial(audited_models, runs, "torch"), workers=2) as server:
        yield server
        assert server.pool.figures.restarts == 0  # no model process asked another machine anything


@pytest.fixture(scope="module")
def translators(runs: tuple[ServedRun, ...]) -> Iterator[dict[str, Translator]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more would wait for the model processes
    yield {run.name: seq2see.load(run.path) for run in runs if run.kind == "text"}
    torch.set_num_threads(threads)


def post(live: LiveServer, route: str, **fields: Any) -> httpx2.Response:
    return live.client.post(f"{API}/{route}", json=fields)


def get(live: LiveServer, route: str) -> Any:
    return live.client.get(f"{API}/{route}").json()


def test_mixed_requests_of_many_clients_get_the_bytes_of_the_translator(
    live: LiveServer, translators: dict[str, Translator]
) -> None:
    """Texts, runs, searches and constraints in any mixture, 16 at a time: batches change no answer."""
    chance = random.Random(0)
    asked: list[dict[str, Any]] = []
    for number in range(36):
        fields: dict[str, Any] = {"run": chance.choice(["look", "blind", "layers"]), "text": chance.choice(TEXTS)}
        match number % 6:
            case 0:
                fields["beam"] = chance.choice([1, 3])
            case 1:
                fields |= {"nbest": 3}
            case 2:
                fields |= {"required": {"서울에": "Seoul"}, "forbidden": ["am"]}
            case 3:
                fields |= {"sample": True, "seed": chance.randrange(5)}
            case 4:
                fields["text"] = chance.choices(TEXTS, k=3)
            case 5:
                fields["prefix_ids"] = chance.choices(range(4, 12), k=2)
        asked.append(fields)

    def answered(fields: dict[str, Any]) -> Any:
        answer = post(live, "translate", **fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    with ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(answered, asked))
    for fields, answer in zip(asked, answers, strict=True):
        texts = [fields["text"]] if isinstance(fields["text"], str) else fields["text"]
        said = [answer] if isinstance(fields["text"], str) else answer
        expected = _expected(translators[fields["run"]], texts, fields)
        assert [entry["text"] for entry in said] == expected, fields


def _expected(translator: Translator, texts: list[str], fields: dict[str, Any]) -> list[str]:
    if ids := fields.get("prefix_ids"):
        requests = [Request(text, prefix_ids=tuple(ids)) for text in texts]
        return [made.text for made in translator.translate_all(requests, chosen(None, None, None))]
    if fields.get("sample"):
        search = SearchConfig(sample=True, seed=fields["seed"])
        return [made.text for made in translator.translate(texts, search=search)]
    given = {name: fields[name] for name in ("beam", "nbest", "required", "forbidden") if name in fields}
    return [made.text for made in translator.translate(texts, **given)]


def test_a_list_is_answered_by_a_list_and_a_text_by_an_object(live: LiveServer) -> None:
    assert isinstance(post(live, "translate", run="look", text=SOURCES[0]).json(), dict)
    assert len(post(live, "translate", run="look", text=[SOURCES[0]]).json()) == 1
    assert post(live, "translate", run="look", text=[]).json() == []


def test_a_stream_is_a_line_for_each_text_and_a_last_one(live: LiveServer) -> None:
    answer = post(live, "translate/stream", run="look", text=TEXTS)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    lines = [json.loads(line) for line in answer.content.splitlines()]
    assert lines[-1] == {"done": True}
    by_place = {line["place"]: line for line in lines[:-1]}
    assert sorted(by_place) == list(range(len(TEXTS)))
    together = post(live, "translate", run="look", text=TEXTS).json()
    assert [by_place[place]["text"] for place in range(len(TEXTS))] == [entry["text"] for entry in together]


def test_a_text_of_a_stream_that_cannot_be_met_is_an_error_at_its_place(live: LiveServer) -> None:
    answer = post(live, "translate/stream", run="look", text=[SOURCES[0], " "], prefix_ids=[10**6])
    lines = [json.loads(line) for line in answer.content.splitlines()]
    errors = [line for line in lines if "error" in line]
    assert [line["place"] for line in errors] == [0]
    assert "vocabulary" in errors[0]["error"]
    assert lines[-1] == {"done": True}


def test_every_question_is_answered_over_http(live: LiveServer, translators: dict[str, Translator]) -> None:
    made = post(live, "translate", run="look", text=SOURCES[2], nbest=2).json()
    forced = {"run": "look", "source": SOURCES[2], "target_ids": made["token_ids"]}
    assert post(live, "look", **forced).json()["map"]["kind"] == "cross"
    assert post(live, "look", **forced, occlusion=True).json()["occlusion"]["words"] == SOURCES[2].split()
    assert post(live, "explain", **forced, step=1).json()["numpy"].startswith('"""Step 1')
    assert post(live, "beam", run="look", text=SOURCES[2]).json()["tree"]["nodes"]
    compared = post(live, "compare", runs=["look", "blind"], text=SOURCES[2]).json()
    assert [row["run"] for row in compared["runs"]] == ["look", "blind"]
    choices = post(live, "alternatives", **forced, word=1).json()["alternatives"]
    again = post(live, "translate", run="look", text=SOURCES[2], prefix_ids=choices[1]["ids"]).json()
    assert again["text"].startswith(choices[1]["text"])
    assert again["token_ids"][: len(choices[1]["ids"])] == choices[1]["ids"]


def test_runs_are_listed_with_those_in_progress(live: LiveServer, folder: Path) -> None:
    listed = {entry["name"]: entry for entry in get(live, "runs")}
    assert list(listed) == ["look", "blind", "layers", "voice", "new"]
    assert listed["look"]["served"]
    assert listed["look"]["finished"]
    assert (listed["voice"]["kind"], listed["voice"]["tokens"], listed["voice"]["step"]) == ("voice", 5, 2)
    new = listed["new"]
    assert (new["served"], new["finished"], new["step"], new["family"]) == (False, False, 0, "luong")
    update = {"step": 1, "epoch": 0, "loss": 2.5, "positions": 9, "rate": 0.1, "norm": 1.0, "seconds": 0.5}
    (folder / "watched" / "new" / METRICS).write_text(json.dumps(update) + "\n")
    answer = get(live, "runs/new/metrics?points=10")
    assert answer["updates"] == [[1, 2.5, 2.5, 2.5, 0.1, 1.0, 0, 9, 0.5]]
    assert get(live, f"runs/new/metrics?after={answer['next']}&inode={answer['inode']}")["updates"] == []
    assert [entry["step"] for entry in get(live, "runs") if entry["name"] == "new"] == [1]


def test_maps_and_evaluations_of_a_run(live: LiveServer, folder: Path) -> None:
    assert get(live, "runs/new/maps") == []
    kept = {"step": 1, "number": 1, "every": 1, "source": "a", "target": "b", "map": {"cells": []}}
    (folder / "watched" / "new" / VALIDATION_MAPS).write_text(json.dumps(kept) + "\n")
    assert get(live, "runs/new/maps") == [kept]
    assert get(live, "runs/look/evaluations") == []
    keep_evaluation(folder / "watched" / "new", {"test": "a.tsv", "sentences": 3})
    assert get(live, "runs/new/evaluations") == [{"test": "a.tsv", "sentences": 3}]


def test_a_voice_speaks_and_a_recording_sets_its_style(live: LiveServer) -> None:
    spoken = post(live, "speak", run="voice", text="abba").json()
    sound = live.client.get(spoken["audio"])
    assert sound.headers["content-type"] == "audio/wav"
    with wave.open(io.BytesIO(sound.content)) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(spoken["seconds"], abs=1e-3)
    from seq2see.speech import audio

    recording = audio.encoded(tone("abba", 300.0), 16_000)
    headers = {"Content-Type": "audio/wav"}
    heard = live.client.post(f"{API}/style?run=voice", content=recording, headers=headers).json()
    again = post(live, "speak", run="voice", text="abba", style=heard["id"], tokens={"2": 0.5}).json()
    assert [row[2] for row in again["style"]["weights"]] == [0.5, 0.5]
    assert again["audio"] != spoken["audio"]


ERRORS: list[tuple[str, bytes, str]] = [
    ("translate", b"{", "Invalid JSON"),
    ("translate", b'{"run":"look","text":NaN}', "text"),
    ("translate", b'{"run":"look","text":"\\ud800"}', "Invalid JSON"),
    ("translate", b"[" * 100_000, "Invalid JSON"),
    ("translate", b'{"run":"lok","text":"x"}', "run 'lok' is not served; did you mean 'look'?"),
    ("translate", b'{"run":"voice","text":"x"}', "run 'voice' is a voice"),
    ("translate", b'{"run":"look","text":"x","prefix_ids":[999999]}', "a prefix or phrase holds the id 999999"),
    ("translate", b'{"run":"look","text":"x","forbidden":["I"],"required":["I"]}', "sentence 0"),
    ("look", b'{"run":"look","source":"","target_ids":[]}', "the source is empty"),
    ("look", b'{"run":"look","source":"x","target_ids":[1]}', "target_ids.0 = 1"),
    ("look", b'{"run":"layers","source":"x","target_ids":[7],"layer":9}', "layer = 9"),
    ("explain", b'{"run":"look","source":"x","target_ids":[7],"step":0}', "step = 0"),
    ("alternatives", b'{"run":"look","source":"x","target_ids":[7],"word":9}', "word = 9"),
    ("compare", b'{"runs":[],"text":"x"}', "runs"),
    ("compare", b'{"runs":["look","nobody"],"text":"x"}', "run 'nobody' is not served"),
    ("speak", b'{"run":"look","text":"x"}', "run 'look' is no voice"),
    ("speak", b'{"run":"voice","text":""}', "there is nothing to say"),
    ("speak", b'{"run":"voice","text":"ab","tokens":{"x":1}}', "tokens"),
    ("speak", b'{"run":"voice","text":"ab","style":"gone"}', "style"),
    ("style?run=voice", b"not a recording", "the body has to be a WAV file"),
    ("style?run=voice", b"RIFF\0\0\0\0WAVEnothing", ""),
]


@pytest.mark.parametrize(("route", "content", "message"), ERRORS)
def test_every_mistake_is_a_400_with_one_line(live: LiveServer, route: str, content: bytes, message: str) -> None:
    kind = "audio/wav" if route.startswith("style") else "application/json"
    answer = live.client.post(f"{API}/{route}", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 400, answer.text
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"].startswith(message)
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize("route", ["runs/x/metrics", "runs/x/maps", "runs/../evaluations", "audio/x.wav", "nothing"])
def test_what_is_not_there_is_a_404(live: LiveServer, route: str) -> None:
    answer = live.client.get(f"{API}/{route}")
    assert answer.status_code == 404
    assert list(answer.json()) == ["error"]


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "points=0", "points=100000", "inode=1.5", "after=" + "9" * 400]
)
def test_a_query_that_means_nothing_is_a_400(live: LiveServer, query: str) -> None:
    answer = live.client.get(f"{API}/runs/look/metrics?{query}")
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]


def test_the_openapi_document_has_an_example_of_every_body_that_is_one(live: LiveServer) -> None:
    from seq2see.serve.api import requests

    document = get(live, "openapi.json")
    posts = {path: item["post"] for path, item in document["paths"].items() if "post" in item and path.startswith(API)}
    assert len(posts) >= 9
    for path, post_ in posts.items():
        assert "422" not in post_["responses"], path
        content = post_["requestBody"]["content"]
        if "application/json" not in content:
            continue
        (kind,) = [
            kind
            for kind in vars(requests).values()
            if isinstance(kind, type) and kind.__name__ == content["application/json"]["schema"]["title"]
        ]
        requests.read(json.dumps(content["application/json"]["example"]).encode(), kind)
