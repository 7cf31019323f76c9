"""/metrics: what the server has done, as Prometheus reads it. No address, key, text or raw path is in it."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seq2see.errors import MissingExtraError
from seq2see.serve.configuration import ServerConfig
from seq2see.serve.dialects.desk import bearer
from seq2see.serve.http.refusal import NotFound, Refusal
from seq2see.serve.workers.pool import Pool


class Unauthorized(Refusal):
    """A token is wanted, and another one was given."""

    status = 401


class Requests:
    """Counts answers by route and status, around the routes."""

    def __init__(self, app: ASGIApp, routes: Mapping[Any, str]) -> None:
        """routes: endpoint -> the template of its path."""
        self.app, self.routes = app, routes
        self.counts: Counter[tuple[str, int]] = Counter()
        self.seconds: Counter[str] = Counter()

    def route_of(self, scope: Scope) -> str:
        """The template and not the path, which anybody could make up."""
        path = getattr(scope.get("route"), "path", None) or self.routes.get(scope.get("endpoint"))
        return path or "other"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 499  # the client went away before an answer began

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            route = self.route_of(scope)
            self.counts[route, status] += 1
            self.seconds[route] += time.perf_counter() - start  # type: ignore[assignment]


class PrometheusMetrics:
    """GET /metrics."""

    def __init__(self, config: ServerConfig, pool: Pool) -> None:
        self.config, self.pool = config, pool
        self.requests: Requests | None = None
        if config.metrics:
            try:
                import prometheus_client  # noqa: F401
            except ModuleNotFoundError:
                raise MissingExtraError("--metrics", "metrics") from None

    async def show(self, request: Request) -> Response:
        if not self.config.metrics:
            raise NotFound("metrics are switched off")
        wanted = self.config.metrics_token
        if wanted is not None and not _same(bearer(request), wanted):
            raise Unauthorized("the token is missing or wrong")
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        figures = self.pool.figures
        answered = CounterMetricFamily("seq2see_requests", "Answers by route and status.", labels=["route", "status"])
        spent = CounterMetricFamily("seq2see_request_seconds", "Seconds until answers were whole.", labels=["route"])
        if self.requests is not None:
            for (route, status), count in self.requests.counts.items():
                answered.add_metric([route, str(status)], count)
            for route, seconds in self.requests.seconds.items():
                spent.add_metric([route], seconds)
        yield answered
        yield spent
        for name, text, value in (
            ("batches", "Batches that model processes have finished.", figures.batches),
            ("batch_rows", "Texts and questions in them.", figures.rows),
            ("characters", "Source characters translated.", figures.characters),
            ("model_seconds", "Seconds that model processes were at work.", figures.seconds),
            ("waited_seconds", "Seconds that jobs waited in the queue.", figures.waited),
            ("worker_restarts", "Model processes that were replaced.", figures.restarts),
            ("cached", "Texts that were answered before.", figures.cached),
            ("overloaded", "Requests refused because the wait would be too long.", figures.refused),
            ("late", "Requests that waited past their deadline.", figures.late),
            ("cancelled", "Requests whose client went away.", figures.cancelled),
        ):
            yield CounterMetricFamily(f"seq2see_{name}", text, value=value)
        for name, text, value in (
            ("queue_depth", "Jobs that wait.", len(self.pool.line)),
            ("calls", "Requests in the pool.", self.pool.calls),
            ("rate", "Characters a second of one model process.", self.pool.rate),
            ("cache_bytes", "Memory of the answers kept.", self.pool.cache.size),
            ("resident_bytes", "Memory of the HTTP process.", resident_bytes(os.getpid())),
        ):
            yield GaugeMetricFamily(f"seq2see_{name}", text, value=value)
        memory = GaugeMetricFamily("seq2see_worker_resident_bytes", "Memory of model processes.", labels=["worker"])
        for number, slot in enumerate(self.pool.slots):
            if slot.process is not None and slot.process.pid is not None:
                memory.add_metric([str(number)], resident_bytes(slot.process.pid))
        yield memory


def _same(given: str | None, wanted: str) -> bool:
    import hmac

    return hmac.compare_digest((given or "").encode(), wanted.encode())


def resident_bytes(process: int) -> int:
    """0 where the system does not say."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
