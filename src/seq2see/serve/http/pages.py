"""The files of the page: a fixed table of what they are, read once, told apart by a hash.

The table is fixed because Python asks the registry of Windows what .js is, and there it is often text/plain.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from seq2see.serve.http.refusal import NotFound

PAGE = Path(__file__).parents[1] / "page"
VIEW = Path(__file__).parents[2] / "look" / "draw" / "view"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
}


@dataclass(frozen=True)
class PageFile:
    """One file, as it was when the server started."""

    content: bytes
    media_type: str
    tag: str

    @classmethod
    def read(cls, path: Path) -> "PageFile":
        content = path.read_bytes()
        return cls(content, MEDIA_TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')

    def response(self, request: Request) -> Response:
        headers = {"ETag": self.tag, "Cache-Control": "no-cache"}
        if self.tag in [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.media_type, headers=headers)


def read_files(folder: Path) -> dict[str, PageFile]:
    """By name; only these are ever handed out, so no path of a request reaches the disk."""
    return {path.name: PageFile.read(path) for path in sorted(folder.iterdir()) if path.suffix in MEDIA_TYPES}


def page_routes() -> list[Route]:
    folders = {"page": read_files(PAGE), "view": read_files(VIEW)}

    async def index(request: Request) -> Response:
        return _file(folders["page"], "index.html").response(request)

    async def page(request: Request) -> Response:
        return _file(folders["page"], request.path_params["name"]).response(request)

    async def view(request: Request) -> Response:
        return _file(folders["view"], request.path_params["name"]).response(request)

    async def icon(_: Request) -> Response:
        return Response(status_code=204)  # a browser asks for it wherever a page names no icon, as /health does not

    routes = [Route("/", index), Route("/page/{name}", page), Route("/view/{name}", view)]
    return [*routes, Route("/favicon.ico", icon)]


def _file(files: dict[str, PageFile], name: str) -> PageFile:
    if name not in files:
        raise NotFound("no such file")
    return files[name]
