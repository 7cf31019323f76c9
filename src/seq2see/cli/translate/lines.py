"""`seq2see translate` for plain text: a line in, a line out."""

import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from seq2see.cli.shell.messages import say
from seq2see.cli.shell.progress import LineProgress
from seq2see.cli.translate.job import Job, deserve_a_look, open_output, warn_of_terms
from seq2see.formats.documents.remarks import Remark
from seq2see.formats.reading.unpacking import open_bytes
from seq2see.processes import cores
from seq2see.session import Request, Translation, Translator
from seq2see.session.bulk import translate_unordered
from seq2see.session.constraints import read_constraints
from seq2see.session.files.lines import Lines, as_line, from_descriptor
from seq2see.session.files.output import OrderedOutput
from seq2see.session.terms import TermTally

_LARGE = 200_000  # bytes of input that are worth starting further processes for, each of which takes seconds


def translate_lines(job: Job, translator: Translator) -> None:
    terms = TermTally()
    with ExitStack() as stack:
        lines = _input(job, stack)
        output = stack.enter_context(open_output(job, "lines"))
        progress = stack.enter_context(LineProgress(job.file, lines, output.made))
        finished = stack.enter_context(closing(_translations(job, translator, _requests(job, lines, output))))
        for request, translation in finished:
            remarks = [
                Remark(request.number + 1, "", problem, request.text, translation.text)
                for problem in translation.problems()
            ]
            output.put(request.number, as_line(translation, job.search, agree=job.agree, as_json=job.as_json), remarks)
            terms.add(request.number + 1, translation.unknown_terms)
            progress.advance()
    if lines.broken:
        some = ", ".join(map(str, lines.repaired)) + ("" if lines.broken <= len(lines.repaired) else ", ...")
        say(
            f"{lines.broken} line{'s are' if lines.broken > 1 else ' is'} not valid UTF-8 (line {some}); what could "
            "not be read became U+FFFD"
        )
    piped = job.file is None and job.out is None and job.report is None
    if (look := deserve_a_look(output.tally, job.report)) and not piped:
        say(look)
    warn_of_terms(terms)


def _translations(
    job: Job, translator: Translator, windows: Iterator[list[Request]]
) -> Generator[tuple[Request, Translation]]:
    """Each as soon as it is finished."""
    workers = job.workers if job.workers is not None else cores() if _is_large(job.file) else 1
    if workers == 1:
        for window in windows:
            finished = translator.translate_unordered(window, job.search, agree=job.agree, need_scores=job.as_json)
            for place, translation in finished:
                yield window[place], translation
        return
    translator.engines.of(job.search)  # what is made is made once, and said by one process
    under_way: dict[int, Request] = {}
    requests = _remembered((request for window in windows for request in window), under_way)
    for place, translation in translate_unordered(
        job.runs,
        requests,
        job.search,
        workers=workers,
        engine=translator.engine_of(job.search),
        shortlist=job.shortlist,
        agree=job.agree,
        need_scores=job.as_json,
    ):
        yield under_way.pop(place), translation


def _remembered(requests: Iterator[Request], under_way: dict[int, Request]) -> Iterator[Request]:
    for place, request in enumerate(requests):
        under_way[place] = request
        yield request


def _requests(job: Job, lines: Lines, output: OrderedOutput) -> Iterator[list[Request]]:
    """Those that are still to be made, in windows; none before the input has proven to be the right one."""
    constraints = read_constraints(job.constraints, job.prefix, job.encoding)
    number = 0
    waiting: list[Request] = []
    for window in lines.windows():
        for text in window:
            request = constraints.request(text, number)
            if output.wants(number, text.encode(errors="surrogatepass")):
                waiting.append(request)
            number += 1
        if output.proven:
            yield waiting
            waiting = []


def _is_large(file: Path | None) -> bool:
    return file is not None and file.stat().st_size >= (_LARGE if file.suffix != ".gz" else _LARGE // 3)


def _input(job: Job, stack: ExitStack) -> Lines:
    if job.file is None:
        return from_descriptor(sys.stdin.fileno(), job.encoding)
    stream = stack.enter_context(open_bytes(job.file))
    return Lines(lambda: stream.read(1 << 16), encoding=job.encoding, path=job.file)
