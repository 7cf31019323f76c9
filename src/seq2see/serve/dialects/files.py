"""Files that are sent to be translated in place, and fetched again: in a private folder, for half an hour."""

import asyncio
import secrets
import shutil
import tempfile
import time
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from seq2see.errors import Seq2SeeError
from seq2see.formats.documents.frame import framed
from seq2see.formats.documents.translating import Outcome, translated_bytes
from seq2see.formats.inplace import format_of, open_document
from seq2see.serve.api.requests import SearchOptions, ServedRun, TextJob
from seq2see.serve.dialects.desk import Desk, key_of
from seq2see.serve.http.answering import JsonAnswer
from seq2see.serve.http.guard import FILE_BYTES
from seq2see.serve.http.reading import missing, read_fields
from seq2see.serve.http.refusal import Forbidden, NotFound, Overloaded, Refusal, TooLate

FILE_SUFFIXES = (".txt", ".srt", ".vtt", ".po", ".xlf", ".xliff", ".jsonl")
KEPT_SECONDS = 30 * 60.0
KEPT_FILES = 64
FILE_SECONDS = 10 * 60.0
_AT_ONCE = 2  # files being translated: each keeps a connection open for as long as it takes
_CHUNK = 64  # texts of a file in the queue at once: others get their turn in between
_PATIENCE = 1.0  # seconds until a busy server is asked again

Value = TypeVar("Value")


@dataclass(frozen=True)
class _KeptFile:
    path: Path
    name: str
    until: float


class Files:
    """/translate_file and /download_file. No name that a client gives is ever a path."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._folder: Path | None = None
        self._kept: OrderedDict[str, _KeptFile] = OrderedDict()
        self._busy = 0

    def routes(self) -> list[Route]:
        return [
            Route("/translate_file", self.translate_file, methods=["POST"]),
            Route("/download_file/{name:path}", self.download, methods=["GET"]),
        ]

    def close(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def translate_file(self, request: Request) -> Response:
        if not self.desk.config.files:
            raise Forbidden("Files translation are disabled on this server.")
        fields = await read_fields(request)
        self.desk.admit(request, key_of(fields))
        if fields.file is None:
            raise missing("file")
        source, target = fields.required("source"), fields.required("target")
        name = safe_name(fields.file.name)
        if Path(name).suffix.lower() not in FILE_SUFFIXES:
            raise Refusal("Invalid request: file format not supported")
        languages = self.desk.languages
        run = languages.run(languages.known(source), languages.known(target))
        if self._busy >= _AT_ONCE:
            raise Overloaded(f"Slowdown: {self._busy} files are being translated", 10)
        self._busy += 1
        try:
            key = await self._translated(fields.file.content, name, run)
        finally:
            self._busy -= 1
        scheme = "https" if self._is_secure(request) else "http"
        return JsonAnswer({"translatedFileUrl": f"{scheme}://{request.headers['host']}/download_file/{quote(key)}"})

    def _is_secure(self, request: Request) -> bool:
        return self.desk.config.forwarded and request.headers.get("x-forwarded-proto") == "https"

    async def download(self, request: Request) -> Response:
        self._forget()
        kept = self._kept.get(request.path_params["name"])
        if kept is None or kept.until < time.monotonic():
            raise NotFound("no such file, or not any more")
        return FileResponse(kept.path, media_type="application/octet-stream", filename=kept.name)

    async def _translated(self, content: bytes, name: str, run: ServedRun) -> str:
        """The name under which the translated file can be fetched."""
        folder = self._private_folder()
        token = secrets.token_urlsafe(24)
        sent, made = folder / f"{token}.in{Path(name).suffix.lower()}", folder / f"{token}.out"
        try:
            check_content(content)
            sent.write_bytes(content)
            async with asyncio.timeout(FILE_SECONDS):
                await _Translating(self.desk, run).write(sent, made)
        except TimeoutError:
            raise TooLate(f"not finished within {FILE_SECONDS / 60:.0f} minutes; send a smaller file") from None
        except Seq2SeeError as error:
            if isinstance(error, Refusal):
                raise
            raise Refusal(f"Invalid request: {str(error).replace(str(sent), name)}") from None
        finally:
            sent.unlink(missing_ok=True)
        key = f"{token}.{name}"
        self._kept[key] = _KeptFile(made, name, time.monotonic() + KEPT_SECONDS)
        self._forget()
        return key

    def _private_folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="seq2see-"))  # for this user alone
        return self._folder

    def _forget(self) -> None:
        now = time.monotonic()
        while self._kept and (len(self._kept) > KEPT_FILES or next(iter(self._kept.values())).until < now):
            _, kept = self._kept.popitem(last=False)
            kept.path.unlink(missing_ok=True)


class _Translating:
    """One file: read and written in a thread, its texts translated by the pool."""

    def __init__(self, desk: Desk, run: ServedRun) -> None:
        self.desk, self.run = desk, run
        self.loop = asyncio.get_running_loop()
        self.call: asyncio.Task[Any] | None = None
        self.stopped = False

    async def write(self, sent: Path, made: Path) -> None:
        work = asyncio.create_task(asyncio.to_thread(self._write, sent, made))
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            self.stopped = True  # the thread ends at its next text
            raise

    def _write(self, sent: Path, made: Path) -> None:
        if sent.suffix == ".txt":
            made.write_bytes(self._plain(sent.read_bytes()))
            return
        document = open_document(sent, format_of(sent), target_language=self.run.target)
        for _ in document.segments():  # malformed content is seen before anything is translated
            pass
        with made.open("wb") as file:
            for data in translated_bytes(document, self._translate, Outcome()):
                file.write(data)

    def _plain(self, content: bytes) -> bytes:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise Refusal("Invalid request: the file is not UTF-8") from None
        lines = text.splitlines(keepends=True)
        frames = [framed(line) for line in lines]
        texts = list(dict.fromkeys(words for frame in frames for words in frame.texts))
        translations = dict(zip(texts, self._translate(texts), strict=True))
        filled = (frame.filled([translations[words] for words in frame.texts]) or frame.source for frame in frames)
        return "".join(filled).encode(errors="replace")

    def _translate(self, texts: list[str]) -> list[str]:
        """Called in the thread."""
        translations: list[str] = []
        for start in range(0, len(texts), _CHUNK):
            if self.stopped:
                raise Refusal("nobody waits for this file any more")
            chunk = texts[start : start + _CHUNK]
            answers = self._in_loop(self._patiently([TextJob(text, faithful=True, brief=True) for text in chunk]))
            translations += [str(answer.get("text", "")) for answer in answers]
        return translations

    def _in_loop(self, work: "Coroutine[Any, Any, Value]") -> Value:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def _patiently(self, jobs: list[TextJob]) -> list[dict[str, Any]]:
        """A file that was accepted waits its turn; it is not refused in the middle."""
        while True:
            try:
                return await self.desk.pool.translate(
                    self.run.name, jobs, SearchOptions(), lane="bulk", seconds=FILE_SECONDS
                )
            except Overloaded:
                await asyncio.sleep(_PATIENCE)


def safe_name(name: str) -> str:
    """The last part of what the client calls it, without anything a file system or a header could misunderstand."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(letter if letter.isalnum() or letter in "._- " else "_" for letter in last)
    path = Path(f"file{kept}" if kept.startswith(".") else kept or "file")
    return f"{path.stem[:80]}{path.suffix[:10]}"


def check_content(content: bytes) -> None:
    """Text, whatever its name says: no archive, no program, no picture."""
    if len(content) > FILE_BYTES:
        raise Refusal(f"Invalid request: the file is larger than {FILE_BYTES} bytes")
    if content.startswith((b"PK\x03\x04", b"\x1f\x8b", b"%PDF", b"\x7fELF", b"\x89PNG", b"MZ", b"BZh", b"\xfd7zXZ")):
        raise Refusal("Invalid request: file format not supported")
    if b"\x00" in content[:4096] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refusal("Invalid request: file format not supported")
