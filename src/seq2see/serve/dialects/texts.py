"""Texts in, translations out, the way every dialect wants it: line by line, white space and placeholders kept.

A line is a row of a batch, whoever asked for it. What stands around the words (line breaks, spaces, tags around a
whole line) is taken off before and put back behind, by the same code that translates documents in place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from seq2see.formats.documents.frame import Frame, framed
from seq2see.serve.api.requests import SearchOptions, ServedRun, TextJob
from seq2see.serve.dialects.markup import HtmlText
from seq2see.serve.workers.pool import DEADLINE, Pool
from seq2see.serve.workers.queue import Lane

TextForm = Literal["text", "html"]
_NBEST = 5  # of the beam that is searched anyway: the best one is the same as without alternatives


@dataclass(frozen=True)
class TranslatedText:
    """A translation, and others that the search considered: different ones, best first."""

    text: str
    alternatives: tuple[str, ...] = ()


async def translate_texts(
    pool: Pool,
    run: ServedRun,
    texts: Sequence[str],
    *,
    form: TextForm = "text",
    alternatives: int = 0,
    lane: Lane | None = None,
    seconds: float = DEADLINE,
) -> list[TranslatedText]:
    """One for each text, in order."""
    if form == "html":
        pages = [HtmlText.read(text) for text in texts]
        units = [unit.text for page in pages for unit in page.units]
        translated = iter(await _translate_plain(pool, run, units, alternatives, lane, seconds))
        return [_written(page, [next(translated) for _ in page.units], alternatives) for page in pages]
    return await _translate_plain(pool, run, texts, alternatives, lane, seconds)


async def _translate_plain(
    pool: Pool, run: ServedRun, texts: Sequence[str], alternatives: int, lane: Lane | None, seconds: float
) -> list[TranslatedText]:
    frames = [framed(text) for text in texts]
    lines = list(dict.fromkeys(line for frame in frames for line in frame.texts))
    search = SearchOptions(nbest=max(_NBEST, alternatives + 1)) if alternatives else SearchOptions()
    jobs = [TextJob(line, faithful=True, brief=True) for line in lines]
    answers = await pool.translate(run.name, jobs, search, lane=lane, seconds=seconds) if jobs else []
    translations: dict[str, list[str]] = {}
    for line, answer in zip(lines, answers, strict=True):
        translations[line] = [answer["text"], *(other["text"] for other in answer.get("nbest", ())[1:])]
    return [_filled(frame, translations, alternatives) for frame in frames]


def _filled(frame: Frame, said: dict[str, list[str]], alternatives: int) -> TranslatedText:
    """The n-th alternative of a text is made of the n-th of each line, or of its last."""

    def whole(rank: int) -> str:
        lines = [said[line] for line in frame.texts]
        return frame.filled([line[min(rank, len(line) - 1)] for line in lines])

    best = whole(0)
    others = dict.fromkeys(whole(rank) for rank in range(1, max(map(len, said.values()), default=1)))
    return TranslatedText(best, tuple(other for other in others if other != best)[:alternatives])


def _written(page: HtmlText, units: Sequence[TranslatedText], alternatives: int) -> TranslatedText:
    best = page.written([unit.text for unit in units])
    ranks = range(max((len(unit.alternatives) for unit in units), default=0))
    others = dict.fromkeys(
        page.written([(unit.text, *unit.alternatives)[min(rank + 1, len(unit.alternatives))] for unit in units])
        for rank in ranks
    )
    return TranslatedText(best, tuple(other for other in others if other != best)[:alternatives])
