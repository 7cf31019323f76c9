"""Lessons of `seq2see learn`, computed in a process of their own: nobody who translates waits for one that trains."""

from collections.abc import Sequence
from typing import Any

from seq2see.learn import CATALOGUE, Language
from seq2see.learn.wording import say
from seq2see.serve.api.requests import LessonRequest, SearchOptions, TextJob
from seq2see.serve.workers.cache import AnswerCache, answer_key
from seq2see.serve.workers.pool import Pool
from seq2see.serve.workers.worker import Cancelled

LESSON_SECONDS = 600.0  # of one that trains, the first time and on a slow machine
_CACHE_BYTES = 16 * 2**20


class LessonHost:
    """A ModelHost that has no models: what a lesson needs it trains, once."""

    def describe(self) -> list[dict[str, Any]]:
        return []

    def answer(self, request: LessonRequest) -> dict[str, Any]:
        from seq2see.learn.catalogue import load_lesson
        from seq2see.learn.lesson import command_line
        from seq2see.learn.render.page import lesson_data
        from seq2see.learn.workshop import Workshop
        from seq2see.runs.config import parse_changes

        lesson = load_lesson(request.name)
        page = lesson.page(Workshop(), parse_changes(list(request.changes)))
        return lesson_data(
            lesson, page, request.language, command_line(request.name, request.language, request.changes)
        )

    def translate(
        self, run: str, requests: Sequence[TextJob], search: SearchOptions, cancelled: Cancelled | None = None
    ) -> list[dict[str, Any]]:
        raise NotImplementedError("no run is served here")


class Lessons:
    """The list needs no process; the first lesson starts it. What was computed is kept."""

    def __init__(self) -> None:
        self.pool = Pool(LessonHost, 1, AnswerCache(_CACHE_BYTES))
        self._started = False

    def listed(self, language: Language) -> list[dict[str, Any]]:
        return [
            {
                "name": entry.name,
                "title": say(entry.title, language),
                "summary": say(entry.summary, language),
                "trains": entry.trains,
            }
            for entry in CATALOGUE
        ]

    async def page(self, request: LessonRequest) -> dict[str, Any]:
        key = answer_key(request)
        known: dict[str, Any] | None = self.pool.cache.get(key)
        if known is not None:
            return known
        if not self._started:
            self._started = True
            self.pool.start()
        await self.pool.started()
        answer = await self.pool.answer(request, seconds=LESSON_SECONDS)
        self.pool.cache.put(key, answer)
        return answer

    async def close(self) -> None:
        if self._started:
            await self.pool.close()
