"""Requests -> tasks: texts cut into parts and tokenised, phrases in the spelling of the run, each part with its own."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from seq2see.errors import ConfigError
from seq2see.runs.folder import Run
from seq2see.session.cutting import TextPart, cut
from seq2see.session.decoding import SourceIds, whole_words
from seq2see.session.translation import Request
from seq2see.vocabulary import UNK

Clean = Callable[[str], str]
PhraseIds = Callable[[str], list[int]]


@dataclass(frozen=True)
class DecodingTask:
    """A part of a request, on its way through a batch."""

    place: int  # of the request in its window
    part: TextPart
    source: SourceIds  # the text of the part in the pieces of each run
    request: Request  # as it is searched
    unknown: tuple[str, ...] = ()  # required terms that the target vocabulary lacks


def make_tasks(
    requests: Sequence[Request], runs: Sequence[Run], clean: Clean, phrase_ids: PhraseIds
) -> list[DecodingTask]:
    """The parts of all texts, each tokenised once for each source vocabulary.

    clean        a text in the spelling of the first run
    phrase_ids   the target pieces of a phrase
    """
    longest = max(1, min(run.config.training.max_length for run in runs) - 1)  # as training has shown, without the end
    cuts = cut([clean(request.text) for request in requests], longest, runs[0].tokenizers[0].ids_batch)
    sources = iter(_source_ids([part for parts in cuts for part in parts], runs))
    return [
        task
        for place, (request, parts) in enumerate(zip(requests, cuts, strict=True))
        for task in _tasks_of(
            place,
            _cleaned(request, clean, phrase_ids) if request.constrained else request,
            parts,
            list(islice(sources, len(parts))),
            phrase_ids,
        )
    ]


def _source_ids(parts: Sequence[TextPart], runs: Sequence[Run]) -> list[SourceIds]:
    """The pieces of each part for each run; runs that share a source vocabulary share them."""
    columns = [[part.ids for part in parts]]
    for run in runs[1:]:
        same = run.tokenizers[0].same_as(runs[0].tokenizers[0])
        columns.append(columns[0] if same else run.tokenizers[0].ids_batch([part.text for part in parts]))
    return list(zip(*columns, strict=True))


def _tasks_of(
    place: int, request: Request, parts: Sequence[TextPart], sources: Sequence[SourceIds], phrase_ids: PhraseIds
) -> Iterator[DecodingTask]:
    """A prefix belongs to the first part, a required phrase to the one that holds what it translates, or to the
    longest; those that the vocabulary lacks are not searched for."""
    owners = {phrase: _owner(parts, origin_of(request, phrase)) for phrase in request.required}
    for number, (part, source) in enumerate(zip(parts, sources, strict=True)):
        wanted = [phrase for phrase in request.required if owners[phrase] == number]
        unknown = tuple(phrase for phrase in wanted if UNK in phrase_ids(phrase))
        known = tuple(phrase for phrase in wanted if phrase not in unknown)
        own = replace(request, text=part.text, required=known)
        yield DecodingTask(place, part, source, replace(own, prefix="", prefix_ids=()) if number else own, unknown)


def _cleaned(request: Request, clean: Clean, phrase_ids: PhraseIds) -> Request:
    """What has to be said, in the spelling of the run; what cannot be met is refused."""
    request = replace(
        request,
        prefix=clean(request.prefix),
        required=tuple(map(clean, request.required)),
        forbidden=tuple(map(clean, request.forbidden)),
        origins={clean(phrase): pattern for phrase, pattern in request.origins.items()},
    )
    for phrase in (request.prefix, *request.required):
        clash = next((banned for banned in request.forbidden if whole_words(banned).search(phrase)), None)
        if clash is not None and UNK in phrase_ids(phrase):  # the search refuses the others
            raise ConfigError(f"line {request.number + 1}: '{phrase}' has to be said, but '{clash}' must not")
    return request


def origin_of(request: Request, phrase: str) -> re.Pattern[str] | None:
    """What a required phrase translates: as the request says, or the phrase itself where the source holds it too."""
    return request.origins.get(phrase) or (re.compile(re.escape(phrase)) if phrase in request.text else None)


def _owner(parts: Sequence[TextPart], origin: re.Pattern[str] | None) -> int:
    """The part in which a phrase has to be said."""
    holding = (number for number, part in enumerate(parts) if origin is not None and origin.search(part.text))
    return next(holding, max(range(len(parts)), key=lambda number: len(parts[number].text)))
