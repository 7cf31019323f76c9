"""One reader for everything that clients of other programs send: query, form, multipart and JSON.

deep-translator puts all of it into the query of a POST without a body, libretranslatepy sends forms, Weblate JSON. What
a framework's own reader answers with 500 (brackets without end, integers of thousands of digits, bytes that are no
UTF-8) is 400 here.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from seq2see.serve.http.guard import FILE_BYTES
from seq2see.serve.http.refusal import Refusal

_JSON = re.compile(r"application/(?:json|[\w.+-]+\+json)", re.ASCII)
_FIELDS = 20


@dataclass(frozen=True)
class SentFile:
    """A file of a form, in memory: the body has been limited before."""

    name: str
    content: bytes


@dataclass(frozen=True)
class Fields:
    """What was asked, by name. Values of a form or query are texts; those of JSON may be anything."""

    values: Mapping[str, Any]
    from_json: bool = False
    file: SentFile | None = None

    def text(self, name: str) -> str | None:
        """Nothing, null and the empty text are the same."""
        value = self.values.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            raise Refusal(f"Invalid request: {name} parameter is not a text")
        return value

    def required(self, name: str) -> str:
        value = self.text(name)
        if value is None:
            raise missing(name)
        return value

    def number(self, name: str, most: int) -> int:
        """0 if it is not given, or less than that; "2" is 2, and what is behind a point is cut off."""
        value = self.values.get(name)
        if value is None or value == "":
            return 0
        try:
            if not isinstance(value, int | float | str) or len(str(value)) > 100:
                raise ValueError
            number = int(value)
        except (ValueError, OverflowError):
            raise Refusal(f"Invalid request: {name} parameter is not a number") from None
        if number > most:
            raise Refusal(f"Invalid request: {name} parameter must be <= {most}")
        return max(0, number)


def missing(name: str) -> Refusal:
    return Refusal(f"Invalid request: missing {name} parameter")


async def read_fields(request: Request) -> Fields:
    """Of equal names the first counts; what stands in the query goes before the form."""
    query = first_values(request.query_params.multi_items())
    if request.method != "POST":
        return Fields(query)
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if _JSON.fullmatch(media_type):
        return Fields({**query, **read_json(await request.body())}, from_json=True)
    if media_type == "application/x-www-form-urlencoded":
        return Fields({**_read_form(await request.body()), **query})
    if media_type == "multipart/form-data":
        return await _read_parts(request, query)
    await request.body()  # whatever it is, it is not read; but it has to be whole before an answer is given
    return Fields(query)


def first_values(items: list[tuple[str, str]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in items:
        values.setdefault(name, value)
    return values


def read_json(body: bytes) -> dict[str, Any]:
    """An object; anything else is 400."""
    try:
        value = json.loads(body.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Refusal("Invalid JSON format") from None
    if not isinstance(value, dict):
        raise Refusal("Invalid JSON format")
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _read_form(body: bytes) -> dict[str, str]:
    """UTF-8, percent-encoded or not: `curl -d q=안녕` sends letters as they are; the framework would misread them."""
    try:
        items = parse_qsl(body.decode(errors="replace"), keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        raise Refusal(f"Invalid form: more than {_FIELDS} fields") from None
    return _with_plain_ends(first_values(items))


def _with_plain_ends(values: Mapping[str, str]) -> dict[str, str]:
    """Browsers and libraries end lines of a form with CR LF, whatever was typed."""
    return {name: value.replace("\r\n", "\n") for name, value in values.items()}


async def _read_parts(request: Request, query: dict[str, str]) -> Fields:
    try:
        form = await request.form(max_files=1, max_fields=_FIELDS, max_part_size=FILE_BYTES)
    except (HTTPException, ValueError, KeyError) as error:
        detail = error.detail if isinstance(error, HTTPException) else "it cannot be read"
        raise Refusal(f"Invalid form: {detail}") from None
    try:
        file = next((value for _, value in form.multi_items() if isinstance(value, UploadFile)), None)
        sent = None if file is None else SentFile(file.filename or "", await file.read())
        texts = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    finally:
        await form.close()
    return Fields({**_with_plain_ends(first_values(texts)), **query}, file=sent)
