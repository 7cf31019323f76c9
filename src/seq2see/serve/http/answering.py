"""Plain data as an HTTP answer: JSON that keeps every letter as it is, and one shape for all that goes wrong."""

import json
import re
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from seq2see.serve.http.refusal import Refusal

_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonAnswer(Response):
    """UTF-8, no NaN; half a surrogate pair, which UTF-8 cannot say, becomes U+FFFD."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return (text if text.isascii() else _SURROGATE.sub("\ufffd", text)).encode()


def error_answer(status: int, text: str, headers: Mapping[str, str] | None = None) -> JsonAnswer:
    return JsonAnswer({"error": text}, status, dict(headers or {}))


def refusal_answer(refusal: Refusal) -> JsonAnswer:
    return error_answer(refusal.status, str(refusal), refusal.headers)
