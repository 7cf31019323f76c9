"""What the OpenAPI document says of our API: the types of bodies, examples of bodies and answers."""

from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_ERROR: Schema = {
    "content": {
        "application/json": {
            "schema": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}},
            "example": {"error": "run 'ko-de' is not served; did you mean 'ko-en'?"},
        }
    }
}
ERRORS: dict[int | str, Schema] = {
    400: {"description": "the request cannot be met: says what is wrong with it", **_ERROR},
    403: {"description": "a wrong key, or asked for by another page", **_ERROR},
    404: {"description": "nothing has this name", **_ERROR},
    413: {"description": "too large", **_ERROR},
    429: {"description": "too much at once: try again after Retry-After seconds", **_ERROR},
    500: {"description": "a mistake of ours", **_ERROR},
    503: {"description": "models are being loaded, or the server is about to stop", **_ERROR},
    504: {"description": "it waited past its deadline", **_ERROR},
    "default": {"description": "anything else that is wrong", **_ERROR},  # else FastAPI promises 422
}

_WORDS = [
    {"text": "I", "span": [0, 1], "pieces": [0, 1], "probability": 0.97},
    {"text": "sleep", "span": [2, 7], "pieces": [1, 2], "probability": 0.91},
]
TRANSLATION: Schema = {
    "source": "나는 잔다",
    "text": "I sleep",
    "score": -0.11,
    "tokens": ["▁I", "▁sleep"],
    "token_scores": [-0.03, -0.09, -0.01],
    "ended": True,
    "token_ids": [17, 412],
    "words": _WORDS,
    "truncated": False,
    "ms": 21.4,
}
RUNS = [
    {
        "name": "ko-en",
        "kind": "text",
        "family": "rnnsearch",
        "source": "ko",
        "target": "en",
        "parameters": 588742,
        "layers": 1,
        "heads": 1,
        "max_length": 256,
        "engine": "onnx",
        "head": {"layer": 0, "head": 0, "aer": 0.12},
        "finished": True,
        "step": 1100,
        "best": {"step": 1000, "loss": 0.21, "bleu": 81.2},
        "served": True,
    }
]
LESSONS: list[Schema] = [
    {"name": "dot", "title": "Attention by hand", "summary": "One query, three keys.", "trains": False}
]
LESSON: Schema = {
    "title": "Attention by hand",
    "language": "en",
    "sections": [{"title": "Question", "blocks": [{"kind": "text", "text": "..."}]}],
    "origins": {"title": "Where it comes from", "lines": [["Vaswani 2017", "3.2.1"]]},
    "following": {"title": "What to read next", "lessons": ["qkv"], "lines": [["seq2see learn qkv", "..."]]},
    "command": ["the command of this page", "seq2see learn dot"],
}
METRICS: Schema = {
    "next": 120873,
    "inode": 1312,
    "reset": False,
    "columns": ["step", "loss_min", "loss_mean", "loss_max", "rate", "norm", "epoch", "positions", "seconds"],
    "updates": [[500, 1.21, 1.34, 1.52, 0.001, 0.8, 3, 20480, 4.2]],
    "validations": [{"step": 500, "elapsed": 61.2, "validation": {"loss": 1.1}, "samples": [["가", "A", "B"]]}],
    "finished": False,
    "planned": {"steps": 20000, "seconds": None},
}
_SIDE = {
    "tokens": ["▁나는", "▁잔다", "</s>"],
    "special": [2],
    "words": ["나는", "잔다", "</s>"],
    "groups": [[0], [1], [2]],
}
_MAP: Schema = {
    "kind": "cross",
    "level": "piece",
    "layers": ["0"],
    "heads": ["0"],
    "source": _SIDE,
    "target": {"tokens": ["▁I", "</s>"], "special": [1], "words": ["I", "</s>"], "groups": [[0], [1]]},
    "cells": ["/wAAAAD/"],
    "scales": ["AACAPwAAgD8AAAAAAAAAAAAAAAAAAIA/"],
    "hidden": False,
    "hidden_tokens": [],
    "rescaled": False,
}
MAPS = [{"step": 500, "source": "나는 잔다", "target": "I sleep", "map": _MAP}]
LOOK: Schema = {"map": _MAP, "layers": ["0"], "kinds": ["cross"], "head": {"layer": 0, "head": 0, "aer": 0.12}}
BEAM: Schema = {
    "tree": {
        "summary": "1 step, 2 candidates: 1 ended, 1 pruned",
        "reasons": {"ended": "said the end of the sentence"},
        "rules": {},
        "scores": [-0.11],
        "nodes": [[0, None, "▁I", -0.03, -0.03, "kept", None, None, 17]],
    },
    "translation": TRANSLATION,
}
EXPLAIN: Schema = {
    "source_text": "나는 잔다",
    "target_text": "I sleep",
    "family": "rnnsearch",
    "step": 1,
    "steps": 3,
    "source": ["▁나는", "▁잔다", "</s>"],
    "said": [],
    "numpy": "import numpy as np\n",
}
ALTERNATIVES: Schema = {
    "alternatives": [
        {"word": "sleep", "ids": [17, 412], "probability": 0.91, "text": "I sleep"},
        {"word": "slept", "ids": [17, 413], "probability": 0.05, "text": "I slept"},
    ]
}
COMPARE: Schema = {
    "text": "나는 잔다",
    "runs": [{"run": "ko-en", "translation": TRANSLATION, "map": _MAP}, {"run": "rnn", "translation": {}, "map": None}],
}
STYLE: Schema = {"id": "Zk3v0hX1c0m8sQ7y", "map": _MAP, "weights": [[0.1, 0.7, 0.2]]}
SPEAK: Schema = {
    "audio": "/api/v1/audio/Zk3v0hX1c0m8sQ7y.wav",
    "text": "the happy birds sing",
    "seconds": 1.62,
    "rate": 16000,
    "stopped": True,
    "alignment": _MAP,
    "style": {"map": _MAP, "weights": [[0.1, 0.7, 0.2]]},
    "mel": {"frames": 1, "mels": 3, "low": -4.0, "high": 4.0, "cells": "AIH/"},
}
EVALUATIONS = [
    {
        "system": "runs/ko-en",
        "test": "test.tsv",
        "sentences": 500,
        "scores": [{"metric": "bleu", "label": "BLEU", "score": 81.2, "low": 79.0, "high": 83.1}],
        "by_length": {"metric": "bleu", "side": "source", "unit": "words", "buckets": []},
        "notes": [],
        "command": "seq2see evaluate runs/ko-en test.tsv",
    }
]
WAV: dict[int | str, Schema] = {
    200: {"description": "a sound", "content": {"audio/wav": {"schema": {"type": "string", "format": "binary"}}}}
}
WAV_BODY: Schema = {
    "requestBody": {
        "required": True,
        "content": {"audio/wav": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_BODIES: dict[str, Schema] = {
    "LessonRequest": {"name": "dot", "language": "en", "changes": ["query=4,1"]},
    "TranslateRequest": {"run": "ko-en", "text": "나는 잔다", "beam": 5, "nbest": 3},
    "LookRequest": {"run": "ko-en", "source": "나는 잔다", "target_ids": [17, 412]},
    "BeamRequest": {"run": "ko-en", "text": "나는 잔다", "beam": 5},
    "ExplainRequest": {"run": "ko-en", "source": "나는 잔다", "target_ids": [17, 412], "step": 1},
    "AlternativesRequest": {"run": "ko-en", "source": "나는 잔다", "target_ids": [17, 412], "word": 1},
    "CompareRequest": {"runs": ["ko-en", "rnn"], "text": "나는 잔다"},
    "SpeakRequest": {"run": "voice", "text": "the happy birds sing", "tokens": {"3": 0.8}},
}


def body(kind: type[BaseModel]) -> Schema:
    """The body of a route."""
    schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
    schema = _inlined(schema, schema.pop("$defs", {}))
    content = {"schema": schema, "example": _BODIES[kind.__name__]}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def answer(example: Any, media_type: str = "application/json") -> dict[int | str, Schema]:
    """The answer of a route, by an example: its shape is that of `as_dict`, `pack` and `plain`."""
    kind = "array" if isinstance(example, list) else "object"
    return {200: {"description": "the answer", "content": {media_type: {"schema": {"type": kind}, "example": example}}}}


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """Without references: an OpenAPI document looks for them elsewhere."""
    match schema:
        case {"$ref": str(reference)}:
            rest = {name: value for name, value in schema.items() if name != "$ref"}
            return {**_inlined(definitions[reference.rpartition("/")[2]], definitions), **rest}
        case dict():
            return {name: _inlined(value, definitions) for name, value in schema.items()}
        case list():
            return [_inlined(value, definitions) for value in schema]
    return schema
