"""What our API takes: strict types, read from bytes; one line for everything else, whatever the bytes are."""

import json
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from seq2see.errors import ConfigError
from seq2see.serve.api.requests import (
    AlternativesRequest,
    BeamRequest,
    CompareRequest,
    ExplainRequest,
    LookRequest,
    SearchOptions,
    SpeakRequest,
    TextJob,
    TranslateRequest,
    read,
)

FORCED = {"run": "a", "source": "가", "target_ids": [4, 5]}
WHOLE: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (TranslateRequest, {"run": "a", "text": "가"}),
    (LookRequest, FORCED),
    (BeamRequest, {"run": "a", "text": "가"}),
    (ExplainRequest, {**FORCED, "step": 1}),
    (AlternativesRequest, {**FORCED, "word": 0}),
    (CompareRequest, {"runs": ["a", "b"], "text": "가"}),
    (SpeakRequest, {"run": "a", "text": "ab"}),
]


def body(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def test_each_body_is_read_and_travels_to_another_process() -> None:
    for kind, fields in WHOLE:
        asked = read(body(**fields), kind)
        assert asked.model_dump(mode="json", include=set(fields)) == fields
        assert pickle.loads(pickle.dumps(asked)) == asked


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "Invalid JSON"),
        (b"{", "Invalid JSON"),
        (b"\xff\xfe", "Invalid JSON"),
        (b"[" * 100_000, "Invalid JSON: recursion limit"),
        (b'{"run":"a","text":"\\ud800"}', "Invalid JSON"),
        (b'{"run":"a","text":"x","beam":' + b"9" * 5_000 + b"}", "Invalid JSON: number out of range"),
        (b"[]", "the body has to be a JSON object"),
        (b"null", "the body has to be a JSON object"),
        (b'{"run":"a","text":NaN}', "text"),
        (
            b'{"run":"a","text":"x","sample":true,"temperature":NaN}',
            "temperature = nan: input should be a finite number",
        ),
        (b'{"run":"a","text":"x","sample":true,"temperature":1e999}', "temperature"),
        (b'{"run":"a","text":"x","beam":"5"}', "beam = '5': input should be a valid integer"),
        (b'{"run":"a","text":"x","beam":5.0}', "beam"),
        (b'{"run":"a","text":"x","beam":true}', "beam"),
        (b'{"run":"a","text":"x","beam":33}', "beam = 33: input should be less than or equal to 32"),
        (b'{"run":"a","text":"x","sample":1}', "sample"),
        (b'{"run":"a","text":"x","bean":5}', "bean is unknown; did you mean 'beam'?"),
        (b'{"run":"a"}', "text is missing"),
        (b'{"run":"a","text":["x",1]}', "text"),
        (b'{"run":"a","text":"x","required":[""]}', "required"),
        (b'{"run":"a","text":"x","prefix_ids":[2]}', "prefix_ids.0 = 2: input should be greater than or equal to 3"),
        (b'{"run":"a","text":"x","prefix":"I","prefix_ids":[7]}', "prefix and prefix_ids"),
        (b'{"run":"a","text":"x","nbest":3,"beam":2}', "nbest = 3 hypotheses cannot come from beam = 2"),
        (b'{"run":"a","text":"x","temperature":2.0}', "temperature is for sampling"),
        (b'{"run":"a","text":"x","sample":true,"beam":5}', "sample draws nbest translations"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(content: bytes, message: str) -> None:
    with pytest.raises(ConfigError) as problem:
        read(content, TranslateRequest)
    assert str(problem.value).startswith(message)
    assert "\n" not in str(problem.value)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(content: bytes) -> None:
    for kind, _ in WHOLE:
        with pytest.raises(ConfigError):
            read(content, kind)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_a_field_of_any_type_is_read_or_refused(data: st.DataObject) -> None:
    kind, fields = data.draw(st.sampled_from(WHOLE))
    name = data.draw(st.sampled_from(sorted(kind.model_fields)))
    content = json.dumps({**fields, name: data.draw(VALUES)}).encode(errors="surrogatepass")
    try:
        asked = read(content, kind)
    except ConfigError:
        return
    json.dumps(asked.model_dump(mode="json"), allow_nan=False)


def test_a_list_of_texts_becomes_numbered_jobs_that_share_their_constraints() -> None:
    asked = read(
        body(run="a", text=["가", "나"], required={"나": "B"}, forbidden=["C"], prefix_ids=[7, 8]), TranslateRequest
    )
    assert asked.jobs == tuple(
        TextJob(text, number, "", (7, 8), (("나", "B"),), ("C",)) for number, text in enumerate(("가", "나"))
    )
    plain = read(body(run="a", text="가", required=["B"]), TranslateRequest)
    assert plain.jobs == (TextJob("가", 0, required=(("", "B"),)),)


def test_batches_are_told_apart_by_the_search_and_nothing_else() -> None:
    one, other = (read(body(run=run, text="x", beam=3), TranslateRequest).search for run in "ab")
    assert one == other == SearchOptions(beam=3)
    assert len({one, other, SearchOptions(beam=3), SearchOptions(beam=4)}) == 2


def test_requests_are_read_without_torch() -> None:
    code = "import sys, seq2see.serve.api.requests, seq2see.serve.api.routes; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
