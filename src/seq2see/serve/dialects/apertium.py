"""Apertium APy's protocol, for OmegaT and Weblate: GET /apertium/translate?langpair=ko|en&q=..."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from seq2see.serve.dialects.desk import Desk
from seq2see.serve.dialects.texts import translate_texts
from seq2see.serve.http.answering import JsonAnswer
from seq2see.serve.http.reading import Fields, read_fields
from seq2see.serve.http.refusal import Refusal


class Apertium:
    """Under /apertium: `GET /translate` has to stay 405 for LibreTranslate's clients."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def routes(self) -> list[Route]:
        return [
            Route("/apertium/translate", self.translate, methods=["GET", "POST"]),
            Route("/apertium/listPairs", self.list_pairs, methods=["GET", "POST"]),
        ]

    async def list_pairs(self, _: Request) -> Response:
        pairs = [{"sourceLanguage": source, "targetLanguage": target} for source, target in self.desk.languages.pairs]
        return JsonAnswer(_wrapped(pairs))

    async def translate(self, request: Request) -> Response:
        try:
            return JsonAnswer(_wrapped({"translatedText": await self._translated(request)}))
        except Refusal as refusal:
            return JsonAnswer(_error(refusal), refusal.status, refusal.headers)

    async def _translated(self, request: Request) -> str:
        fields = await read_fields(request)
        self.desk.admit(request, fields.text("key"))
        source, target = _pair(fields)
        text = fields.values.get("q")
        if not isinstance(text, str):
            raise Refusal("Missing argument q")
        self.desk.check_size([text])
        languages = self.desk.languages
        run = languages.run(languages.known(source), languages.known(target))
        form = "html" if fields.text("format") == "html" else "text"
        made = await translate_texts(self.desk.pool, run, [text], form="html" if form == "html" else "text")
        return made[0].text


def _pair(fields: Fields) -> tuple[str, str]:
    source, bar, target = (fields.text("langpair") or "").partition("|")
    if not bar or not source or not target:
        raise Refusal("That pair is invalid, use e.g. eng|spa")
    return source, target


def _error(refusal: Refusal) -> dict[str, Any]:
    """As APy says it now; with what OmegaT reads and older servers said."""
    code, text = refusal.status, str(refusal)
    now = {"status": "error", "code": code, "message": text, "explanation": text}
    return {**now, "responseData": {"translatedText": None}, "responseDetails": text, "responseStatus": code}


def _wrapped(data: Any) -> dict[str, Any]:
    return {"responseData": data, "responseDetails": None, "responseStatus": 200}
