"""Our own API, under /api/v1: JSON in, JSON out, every error {"error": text}.

Bodies are read by `requests.read` and not by FastAPI, which would answer 422, take NaN, and fail on nested brackets;
the schemas of the OpenAPI document are of the same types.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from seq2see.errors import Seq2SeeError, nearest
from seq2see.serve.metrics import folder_state, watched_runs
from seq2see.serve.pool import Pool
from seq2see.serve.refusal import NotFound, Refusal
from seq2see.serve.requests import ServedRun, TranslateRequest, read

Body = TypeVar("Body", bound=BaseModel)


class Api:
    """The routes; one method for each."""

    def __init__(self, pool: Pool, runs: Sequence[ServedRun], watch: Sequence[Path]) -> None:
        self.pool, self.watch = pool, tuple(watch)
        self.runs = {run.name: run for run in runs}

    async def list_runs(self) -> Response:
        """Every run: those that are served first, then those below the watched folders."""
        served = [description | {"served": True} for description in self.pool.descriptions]
        return json_response(await asyncio.to_thread(self._with_states, served))

    def _with_states(self, served: list[dict[str, Any]]) -> list[dict[str, Any]]:
        listed = [_with_state(entry, self.runs[entry["name"]].path) for entry in served]
        paths = {run.path.resolve() for run in self.runs.values()}
        for name, path in watched_runs(self.watch).items():
            if name not in self.runs and path.resolve() not in paths:
                listed.append(_with_state({"name": name, "served": False}, path))
        return listed

    async def translate(self, request: Request) -> Response:
        asked = await read_body(request, TranslateRequest)
        answers = await self.pool.translate(self.served(asked.run).name, asked.jobs, asked.search)
        return json_response(answers[0] if isinstance(asked.text, str) else answers)

    def served(self, name: str) -> ServedRun:
        if name not in self.runs:
            raise Refusal(f"run '{name}' is not served{nearest(name, self.runs)}")
        return self.runs[name]

    def folder(self, name: str) -> Path:
        """Of any run that is listed. A name is looked up, never made into a path."""
        if name in self.runs:
            return self.runs[name].path
        paths = watched_runs(self.watch)
        if name not in paths:
            raise NotFound(f"there is no run '{name}'")
        return paths[name]


def api_router(pool: Pool, runs: Sequence[ServedRun], watch: Sequence[Path] = ()) -> APIRouter:
    """To be mounted under /api/v1."""
    api = Api(pool, runs, watch)
    router = APIRouter(tags=["seq2see"])
    router.add_api_route("/runs", api.list_runs, methods=["GET"])
    router.add_api_route("/translate", api.translate, methods=["POST"], openapi_extra=_body(TranslateRequest))
    return router


async def read_body(request: Request, kind: type[Body]) -> Body:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/json":
        raise Refusal("the body has to be JSON, with Content-Type: application/json")
    try:
        return read(await request.body(), kind)
    except Seq2SeeError as error:
        raise Refusal(str(error)) from None


def json_response(content: Any) -> Response:
    return Response(
        json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")), media_type="application/json"
    )


def _body(kind: type[BaseModel]) -> dict[str, Any]:
    """The body of a route, for the OpenAPI document."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": kind.model_json_schema()}}}}


def _with_state(entry: Mapping[str, Any], path: Path) -> dict[str, Any]:
    state = folder_state(path)
    return dict(entry) if state is None else {**state._asdict(), **entry}
