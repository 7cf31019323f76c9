"""The application: who is asked what. Everything here runs in the HTTP process, which has no torch."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from seq2see import __version__
from seq2see.errors import Seq2SeeError
from seq2see.serve.api.lessons import Lessons
from seq2see.serve.api.routes import api_router
from seq2see.serve.configuration import ServerConfig
from seq2see.serve.dialects.apertium import Apertium
from seq2see.serve.dialects.desk import Desk
from seq2see.serve.dialects.files import Files
from seq2see.serve.dialects.libretranslate import LibreTranslate
from seq2see.serve.dialects.opuscat import OpusCat
from seq2see.serve.http.answering import JsonAnswer, error_answer, refusal_answer
from seq2see.serve.http.guard import API, Admission, Body, Disconnects, Headers, Hosts, Origins, Preflight
from seq2see.serve.http.pages import page_routes
from seq2see.serve.http.prometheus import PrometheusMetrics, Requests
from seq2see.serve.http.refusal import Refusal
from seq2see.serve.workers.pool import Pool


def make_app(config: ServerConfig, pool: Pool) -> ASGIApp:
    """The routes, behind everything that each request passes first."""
    metrics, desk = PrometheusMetrics(config, pool), Desk(config, pool)
    routes = make_routes(desk, metrics)
    templates = {route.endpoint: route.path for route in routes.routes if isinstance(route, Route)}
    metrics.requests = Requests(routes, templates)

    def admit(request: Request) -> None:
        desk.admit(request, None, int(request.method == "POST"))

    app: ASGIApp = Admission(Body(Disconnects(metrics.requests)), admit)
    app = Origins(app, json_only=lambda path: path != f"{API}/style")
    app = Hosts(Preflight(app), config.allowed_hosts)
    return Headers(app, config.cors)


def make_routes(desk: Desk, metrics: PrometheusMetrics) -> FastAPI:
    config, pool, files, lessons = desk.config, desk.pool, Files(desk), Lessons()
    # The first that fits answers, and trying them costs time: what other programs ask all day comes first.
    dialects = [*LibreTranslate(desk).routes(), *Apertium(desk).routes(), *OpusCat(desk).routes(), *files.routes()]

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        pool.start()
        preparing = asyncio.create_task(asyncio.to_thread(desk.languages.prepare))
        try:
            yield
            await preparing
        finally:
            await asyncio.gather(pool.close(), lessons.close())
            files.close()

    app = FastAPI(
        title="seq2see",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own page loads scripts from elsewhere
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        redirect_slashes=False,  # it would build an address from what the client calls us
        default_response_class=JsonAnswer,
        routes=[*_health_routes(pool), *dialects, *page_routes(), Route("/metrics", metrics.show)],
        telemetry={"auto_configure": False, "tracing": False, "metrics": False, "logs": False},
    )
    app.include_router(api_router(pool, config.runs, config.watch, lessons), prefix=API)
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(Seq2SeeError, _mistaken)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _broken)
    return app


def _health_routes(pool: Pool) -> list[Route]:
    async def health(_: Request) -> Response:
        return JsonAnswer({"status": "ok"})

    async def ready(_: Request) -> Response:
        return JsonAnswer({"ready": pool.ready, "workers": pool.workers}, 200 if pool.ready else 503)

    return [Route("/health", health), Route("/ready", ready)]


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return refusal_answer(error)


async def _mistaken(_: Request, error: Exception) -> Response:
    return error_answer(400, str(error))


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_answer(error.status_code, str(error.detail), error.headers)


async def _invalid(_: Request, error: Exception) -> Response:
    """FastAPI's 422 with a list is 400 with one line here, without what was sent."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"][1:]))
    return error_answer(400, f"{where}: {first['msg']}" if where else str(first["msg"]))


async def _broken(_: Request, error: Exception) -> Response:
    """The traceback goes to the log; whoever asked is told nothing of what is inside."""
    return error_answer(500, "something went wrong in the server; its log says more")
