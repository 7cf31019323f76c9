"""What every request passes before it is routed, and every answer on its way out. Pure ASGI, outermost first:

    Headers       the policy of the page, and a log of nothing: no address, key or text is kept
    Hosts         a page of somebody else that was made to point here (DNS rebinding) is told apart by its Host
    Preflight     200, as the original does it
    Origins       our own API is for our own page; other programs have their dialects
    Admission     our own API wants a key where keys are needed
    Body          at most so many bytes, within so many seconds
    Disconnects   whoever hangs up takes the work along

Behind Starlette's BaseHTTPMiddleware a route never learns that the client has gone, so none is used.
"""

import asyncio
import re
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seq2see.serve.http.answering import error_answer, refusal_answer
from seq2see.serve.http.refusal import Refusal, TooLarge, TooSlow

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "microphone=(self)",
}
API = "/api/v1"
BODY_BYTES = 2**20
FILE_BYTES = 8 * 2**20
LARGE_BODIES = {"/translate_file": FILE_BYTES, f"{API}/style": 4 * 2**20}
BODY_SECONDS = 10.0
_HOST = re.compile(r"(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?", re.ASCII)
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\]", re.ASCII)


def header(scope: Scope, name: bytes) -> str | None:
    """The first of that name, as Latin-1, which every byte is."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), None)


class Headers:
    """The outermost: also of what is refused further in."""

    def __init__(self, app: ASGIApp, cors: Collection[str] = ()) -> None:
        self.app, self.cors = app, frozenset(cors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        extra = {name.lower().encode(): value.encode() for name, value in HEADERS.items()} | self._cors(scope)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                headers = [*message["headers"], *(pair for pair in extra.items() if pair[0] not in names)]
                message = {**message, "headers": headers}
            await send(message)

        await self.app(scope, receive, sending)

    def _cors(self, scope: Scope) -> dict[bytes, bytes]:
        """For the dialects alone, without credentials, and only for those who were named."""
        origin = header(scope, b"origin")
        if not self.cors or origin is None or scope["path"].startswith(API):
            return {}
        if "*" not in self.cors and origin not in self.cors:
            return {b"vary": b"Origin"}
        return {
            b"access-control-allow-origin": b"*" if "*" in self.cors else origin.encode("latin-1"),
            b"access-control-allow-methods": b"GET, POST, OPTIONS",
            b"access-control-allow-headers": b"Authorization, Content-Type",
            b"access-control-max-age": b"86400",
            b"cross-origin-resource-policy": b"cross-origin",
            b"vary": b"Origin",
        }


class Hosts:
    """403 for a Host that is not ours, before anything is routed."""

    def __init__(self, app: ASGIApp, allowed: Collection[str]) -> None:
        self.app = app
        self.allowed = frozenset(name.lower() for name in allowed)
        # Who listens at every address is called by any of them; a foreign page can only come by a name.
        self.any_address = bool(self.allowed & {"0.0.0.0", "[::]"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self.knows(header(scope, b"host")):
            answer = error_answer(403, "this server does not know that host name; start it with --allow-host NAME")
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def knows(self, host: str | None) -> bool:
        match = _HOST.fullmatch(host or "")
        if match is None:
            return False
        name = match[1].lower()
        return (
            name in self.allowed or "*" in self.allowed or (self.any_address and _ADDRESS.fullmatch(name) is not None)
        )


class Preflight:
    """200 for every OPTIONS: what a page of another origin asks before it asks. The headers are the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "OPTIONS":
            await Response(headers={"Allow": "GET, POST, OPTIONS"})(scope, receive, send)
            return
        await self.app(scope, receive, send)


class Origins:
    """Our API: not for pages of others, and not for forms, which a browser sends without asking."""

    def __init__(self, app: ASGIApp, json_only: Callable[[str], bool]) -> None:
        self.app, self.json_only = app, json_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(API):
            problem = self._problem(scope)
            if problem is not None:
                await error_answer(*problem)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        if header(scope, b"sec-fetch-site") in ("cross-site", "same-site"):
            return 403, "this API is for its own page; other pages use /translate"
        origin = header(scope, b"origin")
        if origin is not None and urlsplit(origin).netloc.lower() != (header(scope, b"host") or "").lower():
            return 403, "this API is for its own page; other pages use /translate"
        if scope["method"] == "POST" and self.json_only(scope["path"]):
            media_type = (header(scope, b"content-type") or "").split(";")[0].strip().lower()
            if media_type != "application/json":
                return 415, "the body has to be application/json"
        return None


class Admission:
    """Our API wants a key where keys are needed. The dialects see to it themselves: their keys may be in the body."""

    def __init__(self, app: ASGIApp, admit: Callable[[Request], None]) -> None:
        self.app, self.admit = app, admit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(API):
            try:
                self.admit(Request(scope))
            except Refusal as refusal:
                await refusal_answer(refusal)(scope, receive, send)
                return
        await self.app(scope, receive, send)


class Body:
    """At most so many bytes, within so many seconds; JSON for both refusals."""

    def __init__(self, app: ASGIApp, seconds: float = BODY_SECONDS) -> None:
        self.app, self.seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = LARGE_BODIES.get(scope["path"], BODY_BYTES)
        declared = header(scope, b"content-length") or "0"
        if header(scope, b"content-encoding") not in (None, "", "identity"):
            await error_answer(415, "compressed bodies are not read")(scope, receive, send)
            return
        if declared.isdigit() and int(declared) > limit:
            await refusal_answer(_too_large(limit))(scope, receive, send)
            return
        await self.app(scope, self._limited(receive, limit), send)

    def _limited(self, receive: Receive, limit: int) -> Receive:
        """Raises what the routes answer as any other refusal."""
        until, read, whole = asyncio.get_running_loop().time() + self.seconds, 0, False

        async def receiving() -> Message:
            nonlocal read, whole
            try:
                async with asyncio.timeout_at(None if whole else until):
                    message = await receive()
            except TimeoutError:
                raise TooSlow(f"the body did not come within {self.seconds:.0f} s") from None
            if message["type"] == "http.request":
                read += len(message.get("body", b""))
                whole = not message.get("more_body", False)  # from here on only the end of the connection is waited for
                if read > limit:
                    raise _too_large(limit)
            return message

        return receiving


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"the body is larger than {limit} bytes")


class Disconnects:
    """The end of the connection cancels the work: its texts leave the queue."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        gone = asyncio.Event()
        watcher: asyncio.Task[None] | None = None

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()
            work.cancel()

        async def receiving() -> Message:
            nonlocal watcher
            if watcher is not None:
                await gone.wait()
                return {"type": "http.disconnect"}
            message = await receive()
            if message["type"] == "http.disconnect":  # before its body is there: nobody waits for an answer
                gone.set()
                work.cancel()
                await asyncio.sleep(0)
            elif not message.get("more_body", False):
                watcher = asyncio.create_task(watch())
            return message

        work = asyncio.ensure_future(self.app(scope, receiving, send))
        try:
            await work
        except asyncio.CancelledError:
            if not gone.is_set():  # the server itself is being stopped
                work.cancel()
                raise
        finally:
            if watcher is not None:
                watcher.cancel()
