"""Our own API, under /api/v1: JSON in, JSON out, every error {"error": text}.

Bodies are read by `requests.read` and not by FastAPI, which would answer 422, take NaN, and fail on nested brackets;
the schemas of the OpenAPI document (`schemas`) are of the same types.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from seq2see.errors import nearest
from seq2see.learn import outline
from seq2see.serve.api import schemas
from seq2see.serve.api.lessons import Lessons
from seq2see.serve.api.recordings import sounds, styles
from seq2see.serve.api.requests import (
    WAV_BYTES,
    AlternativesRequest,
    BeamRequest,
    CompareRequest,
    ExplainRequest,
    LessonRequest,
    LookRequest,
    ServedRun,
    SpeakJob,
    SpeakRequest,
    StyleRequest,
    TextJob,
    TranslateRequest,
    read,
)
from seq2see.serve.api.run_metrics import (
    MOST_POINTS,
    RunStates,
    metrics_answer,
    stored_evaluations,
    stored_maps,
    watched_runs,
)
from seq2see.serve.http.answering import JsonAnswer
from seq2see.serve.http.refusal import NotFound, Refusal
from seq2see.serve.workers.pool import Pool
from seq2see.serve.workers.queue import INTERACTIVE_TEXTS, Lane

Body = TypeVar("Body", bound=BaseModel)
Offset = Annotated[int, Query(ge=0, lt=2**63)]
Points = Annotated[int, Query(ge=1, le=MOST_POINTS)]
_BAD_REQUEST = 400
_AT_ONCE = 16  # texts of a stream in the queue: the rest waits here, so that others get their turn


class Api:
    """The routes; one method for each."""

    def __init__(self, pool: Pool, runs: Sequence[ServedRun], watch: Sequence[Path], lessons: Lessons) -> None:
        self.pool, self.watch, self.lessons = pool, tuple(watch), lessons
        self.runs = {run.name: run for run in runs}
        self.states, self.sounds, self.styles = RunStates(), sounds(), styles()

    # ----- runs and how they were trained

    async def list_runs(self) -> Response:
        """Every run: those that are served first, then those below the watched folders."""
        return JsonAnswer(await asyncio.to_thread(self._list_runs, list(self.pool.descriptions)))

    def _list_runs(self, descriptions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        listed = [self._with_state(entry, self.runs[entry["name"]].path, served=True) for entry in descriptions]
        watched = self._watched().items()
        return listed + [self._with_state({"name": name}, path, served=False) for name, path in watched]

    def _watched(self) -> dict[str, Path]:
        return watched_runs(self.watch, {run.name: run.path for run in self.runs.values()})

    def _with_state(self, entry: dict[str, Any], path: Path, *, served: bool) -> dict[str, Any]:
        state = self.states.state(path)
        return {**(state._asdict() if state is not None else {}), **entry, "served": served}

    async def metrics(
        self, name: str, after: Offset = 0, inode: Offset | None = None, points: Points = 1000
    ) -> Response:
        """Learning curves from byte `after` on: send `next` and `inode` of the answer before to get what is new."""
        path = await self._folder(name)
        return JsonAnswer(await asyncio.to_thread(metrics_answer, path, after, inode, points))

    async def maps(self, name: str) -> Response:
        """What the run looked at in one fixed sentence, at each validation."""
        return JsonAnswer(await asyncio.to_thread(stored_maps, await self._folder(name)))

    async def evaluations(self, name: str) -> Response:
        """What `seq2see evaluate` found, test set by test set."""
        return JsonAnswer(await asyncio.to_thread(stored_evaluations, await self._folder(name)))

    # ----- translations

    async def translate(self, request: Request) -> Response:
        """A text or a list of texts."""
        asked = await read_body(request, TranslateRequest)
        answers = await self.pool.translate(self._served(asked.run), asked.jobs, asked.search)
        return JsonAnswer(answers[0] if isinstance(asked.text, str) else answers)

    async def stream(self, request: Request) -> Response:
        """The same, each text as soon as it is there: a JSON object a line with its `place`, then {"done":true}."""
        asked = await read_body(request, TranslateRequest)
        answers = self._stream(self._served(asked.run), asked)
        first = await anext(answers)  # what is refused altogether gets a status of its own
        if isinstance(first, Refusal):
            await answers.aclose()
            raise first
        return StreamingResponse(_lines(first, answers), media_type="application/x-ndjson")

    async def _stream(self, run: str, asked: TranslateRequest) -> AsyncGenerator[dict[str, Any] | Refusal, None]:
        """In any order; a text that cannot be met is an error at its place, an overloaded server a refusal."""
        free = asyncio.Semaphore(_AT_ONCE)
        lane: Lane = "interactive" if len(asked.jobs) <= INTERACTIVE_TEXTS else "bulk"

        async def one(place: int, job: TextJob) -> dict[str, Any] | Refusal:
            try:
                async with free:
                    (answer,) = await self.pool.translate(run, [job], asked.search, lane=lane)
                return {"place": place, **answer}
            except Refusal as refusal:
                return {"place": place, "error": str(refusal)} if refusal.status == _BAD_REQUEST else refusal

        tasks = [asyncio.create_task(one(place, job)) for place, job in enumerate(asked.jobs)]
        try:
            for finished in asyncio.as_completed(tasks):
                yield await finished
            yield {"done": True}
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # ----- what is one question for one model process

    async def look(self, request: Request) -> Response:
        """What a run looks at while it says a translation; occlusion, posterior, what-if."""
        return await self._ask(await read_body(request, LookRequest))

    async def beam(self, request: Request) -> Response:
        """Every candidate of a beam search, and what became of it."""
        return await self._ask(await read_body(request, BeamRequest))

    async def explain(self, request: Request) -> Response:
        """One step of a translation in numbers, and as a NumPy script."""
        return await self._ask(await read_body(request, ExplainRequest))

    async def alternatives(self, request: Request) -> Response:
        """What else could stand in the place of a word, with `ids` to go on from."""
        return await self._ask(await read_body(request, AlternativesRequest))

    async def compare(self, request: Request) -> Response:
        """One text, up to four runs."""
        asked = await read_body(request, CompareRequest)
        for name in asked.runs:
            self._served(name)
        return JsonAnswer(await self.pool.answer(asked))

    async def _ask(self, asked: LookRequest | BeamRequest | ExplainRequest | AlternativesRequest) -> Response:
        self._served(asked.run)
        return JsonAnswer(await self.pool.answer(asked))

    # ----- lessons

    async def list_lessons(self, language: Annotated[Literal["en", "ko"], Query()] = "en") -> Response:
        """The lessons of `seq2see learn`, in the order in which they build on each other."""
        return JsonAnswer(self.lessons.listed(language))

    async def lesson(self, request: Request) -> Response:
        """One of them, computed now: texts, numbers, charts and maps. What it trains is kept."""
        asked = await read_body(request, LessonRequest)
        outline(asked.name)  # before a process is started for it
        return JsonAnswer(await self.lessons.page(asked))

    # ----- voices

    async def speak(self, request: Request) -> Response:
        """A text as sound, with where the voice looked and in which style."""
        asked = await read_body(request, SpeakRequest)
        style = None if asked.style is None else self.styles.get(asked.style)
        if asked.style is not None and style is None:
            raise Refusal("style: no such recording is remembered (any more); send it again")
        spoken = await self.pool.answer(SpeakJob(self._served(asked.run), asked.text, dict(asked.tokens), style))
        wav = spoken.pop("wav")
        return JsonAnswer({"audio": f"/api/v1/audio/{self.sounds.keep(wav, len(wav))}.wav", **spoken})

    async def style(self, request: Request, run: str) -> Response:
        """The style of a recording, a WAV file as the body: its weights, and an `id` for `POST speak`."""
        wav = await request.body()
        if len(wav) > WAV_BYTES:
            raise Refusal(f"the recording is larger than {WAV_BYTES:,} bytes")
        if not (wav.startswith(b"RIFF") and wav[8:12] == b"WAVE"):
            raise Refusal("the body has to be a WAV file")
        heard = await self.pool.answer(StyleRequest(self._served(run), wav))
        return JsonAnswer({"id": self.styles.keep(tuple(map(tuple, heard["weights"]))), **heard})

    async def audio(self, name: str) -> Response:
        """A sound that `POST speak` made; the newest ones are kept."""
        wav = self.sounds.get(name)
        if wav is None:
            raise NotFound("there is no such recording (any more)")
        return Response(wav, media_type="audio/wav", headers={"Cache-Control": "private, max-age=3600"})

    # ----- names

    def _served(self, name: str) -> str:
        if name not in self.runs:
            raise Refusal(f"run '{name}' is not served{nearest(name, self.runs)}")
        return name

    async def _folder(self, name: str) -> Path:
        """Of any run that is listed. A name is looked up, never made into a path."""
        if name in self.runs:
            return self.runs[name].path
        paths = await asyncio.to_thread(self._watched)
        if name not in paths:
            raise NotFound(f"there is no run '{name}'")
        return paths[name]


def api_router(
    pool: Pool, runs: Sequence[ServedRun], watch: Sequence[Path] = (), lessons: Lessons | None = None
) -> APIRouter:
    """To be mounted under /api/v1."""
    api = Api(pool, runs, watch, lessons or Lessons())
    router = APIRouter(tags=["seq2see"], responses=schemas.ERRORS)
    router.add_api_route("/runs", api.list_runs, methods=["GET"], responses=schemas.answer(schemas.RUNS))
    router.add_api_route(
        "/runs/{name:path}/metrics", api.metrics, methods=["GET"], responses=schemas.answer(schemas.METRICS)
    )
    router.add_api_route("/runs/{name:path}/maps", api.maps, methods=["GET"], responses=schemas.answer(schemas.MAPS))
    router.add_api_route(
        "/runs/{name:path}/evaluations", api.evaluations, methods=["GET"], responses=schemas.answer(schemas.EVALUATIONS)
    )
    router.add_api_route("/lessons", api.list_lessons, methods=["GET"], responses=schemas.answer(schemas.LESSONS))
    router.add_api_route("/audio/{name}.wav", api.audio, methods=["GET"], responses=schemas.WAV)
    for path, route, kind, example in (
        ("/translate", api.translate, TranslateRequest, schemas.TRANSLATION),
        ("/look", api.look, LookRequest, schemas.LOOK),
        ("/beam", api.beam, BeamRequest, schemas.BEAM),
        ("/explain", api.explain, ExplainRequest, schemas.EXPLAIN),
        ("/alternatives", api.alternatives, AlternativesRequest, schemas.ALTERNATIVES),
        ("/compare", api.compare, CompareRequest, schemas.COMPARE),
        ("/lesson", api.lesson, LessonRequest, schemas.LESSON),
        ("/speak", api.speak, SpeakRequest, schemas.SPEAK),
    ):
        router.add_api_route(
            path, route, methods=["POST"], openapi_extra=schemas.body(kind), responses=schemas.answer(example)
        )
    lines = schemas.answer({"place": 0, **schemas.TRANSLATION}, "application/x-ndjson")
    router.add_api_route(
        "/translate/stream", api.stream, methods=["POST"], openapi_extra=schemas.body(TranslateRequest), responses=lines
    )
    router.add_api_route(
        "/style", api.style, methods=["POST"], openapi_extra=schemas.WAV_BODY, responses=schemas.answer(schemas.STYLE)
    )
    return router


async def read_body(request: Request, kind: type[Body]) -> Body:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise Refusal("the body has to be JSON, with Content-Type: application/json")
    return read(await request.body(), kind)


async def _lines(
    first: dict[str, Any], rest: AsyncGenerator[dict[str, Any] | Refusal, None]
) -> AsyncGenerator[bytes, None]:
    """An object a line; where the server gives up, the last one says why."""
    try:
        yield _line(first)
        async for answer in rest:
            yield _line({"error": str(answer)} if isinstance(answer, Refusal) else answer)
            if isinstance(answer, Refusal):
                return
    finally:
        await rest.aclose()


def _line(content: dict[str, Any]) -> bytes:
    return bytes(JsonAnswer(content).body) + b"\n"
