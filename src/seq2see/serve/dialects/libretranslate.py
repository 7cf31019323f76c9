"""LibreTranslate's protocol: its routes, answers, statuses and error texts, some of which clients compare.

Different on purpose: what is no text is 400 and not 500; each text of a list is detected by itself; entities and white
space stay as they are; codes are known in any case and with any region.
"""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from seq2see import atomic
from seq2see.serve.api.requests import ServedRun
from seq2see.serve.dialects.desk import Desk, key_of
from seq2see.serve.dialects.files import FILE_SUFFIXES
from seq2see.serve.dialects.languages import Detected, name_of
from seq2see.serve.dialects.spec import make_spec
from seq2see.serve.dialects.texts import TextForm, TranslatedText, translate_texts
from seq2see.serve.http.answering import JsonAnswer
from seq2see.serve.http.reading import Fields, missing, read_fields
from seq2see.serve.http.refusal import Forbidden, Refusal

SUGGESTIONS = "suggestions.jsonl"
_SUGGESTION_BYTES = 64 * 2**20  # of all of them; more is no suggestion


class LibreTranslate:
    """The routes; one method for each."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.config = desk, desk.config
        self.spec = make_spec(desk.config)
        self._writing = asyncio.Lock()

    def routes(self) -> list[Route]:
        return [
            Route("/translate", self.translate, methods=["POST"]),
            Route("/detect", self.detect, methods=["POST"]),
            Route("/suggest", self.suggest, methods=["POST"]),
            Route("/languages", self.languages, methods=["GET"]),
            Route("/frontend/settings", self.settings, methods=["GET"]),
            Route("/spec", self.show_spec, methods=["GET"]),
        ]

    async def translate(self, request: Request) -> Response:
        self.desk.pool.check_room()
        fields = await read_fields(request)
        texts, single = _texts(fields)
        self.desk.admit(request, key_of(fields), max(1, len(texts)))
        if not texts:
            raise missing("q")
        source, target = fields.required("source"), fields.required("target")
        alternatives = fields.number("alternatives", self.config.alternatives)
        self.desk.check_size(texts)
        if self._is_weblate_test(texts, source, target):
            return JsonAnswer({"translatedText": "Test" if single else ["Test"]})
        detected = await asyncio.to_thread(self._detected, texts, target) if source.lower() == "auto" else []
        languages = self.desk.languages
        sources = [guess.language for guess in detected] or [languages.known(source)] * len(texts)
        known, form, model = languages.known(target), _form(fields), fields.text("model")
        runs = [languages.run(code, known, model) for code in sources]
        translated = await self._translate(runs, texts, form, alternatives)
        return JsonAnswer(_answer(translated, detected, single=single, alternatives=alternatives))

    def _is_weblate_test(self, texts: list[str], source: str, target: str) -> bool:
        return self.config.weblate and texts == ["test"] and (source, target) == ("en", "de")

    def _detected(self, texts: Sequence[str], target: str) -> list[Detected]:
        """One for each text."""
        known = self.desk.languages.known(target)
        return [self._best_source(text, known) for text in texts]

    def _best_source(self, text: str, target: str) -> Detected:
        """What the text is in; where nothing tells, the first language that can be translated at all."""
        guesses = self.desk.languages.detect(text, target)
        sources = [start for start, end in self.desk.languages.pairs if end == target]
        return guesses[0] if guesses else Detected(sources[0] if sources else "en", 0.0)

    async def _translate(
        self, runs: Sequence[ServedRun], texts: Sequence[str], form: TextForm, alternatives: int
    ) -> list[TranslatedText]:
        """Texts of one run together, so that they share batches."""
        places: dict[str, list[int]] = {}
        for place, run in enumerate(runs):
            places.setdefault(run.name, []).append(place)
        by_place: dict[int, TranslatedText] = {}
        for group in places.values():
            own = [texts[place] for place in group]
            run = runs[group[0]]
            made = await translate_texts(self.desk.pool, run, own, form=form, alternatives=alternatives)
            by_place.update(zip(group, made, strict=True))
        return [by_place[place] for place in range(len(texts))]

    async def detect(self, request: Request) -> Response:
        fields = await read_fields(request)
        texts, _ = _texts(fields)
        self.desk.admit(request, key_of(fields), max(1, len(texts)))
        if not texts:
            raise missing("q")
        self.desk.check_size(texts)
        guesses = await asyncio.to_thread(self.desk.detect, " ".join(texts))
        return JsonAnswer([guess.as_dict() for guess in guesses])

    async def suggest(self, request: Request) -> Response:
        if not self.config.suggestions:
            raise Forbidden("Suggestions are disabled on this server.")
        fields = await read_fields(request)
        self.desk.admit(request, key_of(fields))
        text, better = fields.required("q"), fields.required("s")
        source, target = fields.required("source"), fields.required("target")
        self.desk.check_size([text, better])
        languages = self.desk.languages
        run = languages.run(languages.known(source), languages.known(target))
        pair = {"source": text, "target": better}
        line = json.dumps(pair, ensure_ascii=False).encode(errors="replace") + b"\n"
        async with self._writing:
            await asyncio.to_thread(_append, run, line)
        return JsonAnswer({"success": True})

    async def languages(self, _: Request) -> Response:
        return JsonAnswer(self.desk.languages.as_list())

    async def settings(self, _: Request) -> Response:
        sides = next(iter(self.desk.languages.pairs), ("en", "en"))
        keys = self.config.keys.required
        return JsonAnswer(
            {
                "apiKeys": keys,
                "charLimit": self.config.characters,
                "filesTranslation": self.config.files,
                "frontendTimeout": 500,
                "keyRequired": keys,
                "language": {
                    side: {"code": code, "name": name_of(code)}
                    for side, code in zip(("source", "target"), sides, strict=True)
                },
                "suggestions": self.config.suggestions,
                "supportedFilesFormat": list(FILE_SUFFIXES) if self.config.files else [],
            }
        )

    async def show_spec(self, _: Request) -> Response:
        return JsonAnswer(self.spec)


def _texts(fields: Fields) -> tuple[list[str], bool]:
    """The texts, and whether it was one text and no list: a list of one is answered by a list."""
    q = fields.values.get("q")
    if q is None or q in ("", []):
        return [], True
    if isinstance(q, str):
        return [q], True
    if not isinstance(q, list) or not all(isinstance(text, str) for text in q):
        raise Refusal("Invalid request: q parameter is not a text or a list of texts")
    return q, False


def _form(fields: Fields) -> TextForm:
    match fields.text("format") or "text":
        case "text":
            return "text"
        case "html":
            return "html"
        case other:
            raise Refusal(f"{other[:40]} format is not supported")


def _answer(
    translated: Sequence[TranslatedText], detected: Sequence[Detected], *, single: bool, alternatives: int
) -> dict[str, Any]:
    answer: dict[str, Any] = {"translatedText": _one_or_all([made.text for made in translated], single)}
    if detected:
        answer["detectedLanguage"] = _one_or_all([guess.as_dict() for guess in detected], single)
    if alternatives:
        answer["alternatives"] = _one_or_all([list(made.alternatives) for made in translated], single)
    return answer


def _one_or_all(values: list[Any], single: bool) -> Any:
    return values[0] if single else values


def _append(run: ServedRun, line: bytes) -> None:
    """Beside the files of the run, as pairs that `train` reads; each line whole, whoever else writes."""
    path = run.path / SUGGESTIONS
    try:
        if path.exists() and path.stat().st_size > _SUGGESTION_BYTES:
            raise Forbidden("There are too many suggestions already.")
        with path.open("ab") as file:
            file.write(line)
            file.flush()
    except OSError as error:
        raise atomic.cannot_write(path, error) from None
