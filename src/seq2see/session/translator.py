"""The one front door: a run (or several as one), text in, Translation out. Everything else is built on this class."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple, TypeVar, overload

import torch

from seq2see.data.batch import Batch
from seq2see.data.store import encode_sources
from seq2see.engines import Engine
from seq2see.errors import ConfigError, NumericError, RunError, ShapeError
from seq2see.evaluate import sentence_chrf
from seq2see.look import AttentionMap, Kind, attention_map, joined, load_best
from seq2see.look.intervene.posterior import posterior_looks
from seq2see.look.intervene.whatif import Edit, what_if
from seq2see.look.map.alignment import ALIGNMENT
from seq2see.runs.folder import Run
from seq2see.search import Hypothesis, Result, SearchConfig, minimum_bayes_risk
from seq2see.session.constraints import make_glossary
from seq2see.session.cutting import TextPart, cut
from seq2see.session.decoding import Decoding, whole_words
from seq2see.session.terms import NO_ATTENTION, NO_SOURCE, NOT_LOOKED_AT, DecodedText, UnknownTerm, fill
from seq2see.session.translation import Request, Translation
from seq2see.text import Encoding, Tokenizer, normalise
from seq2see.vocabulary import EOS, UNK

DEFAULT = SearchConfig(beam=5, length_penalty="gnmt")
WINDOW = 2048  # texts that are sorted by length together
_SURROGATE = re.compile("[\ud800-\udfff]")
Value = TypeVar("Value")


class Scored(NamedTuple):
    """What a model thinks of a translation that it is given."""

    score: float  # the sum
    token_scores: list[float]  # log-probabilities of its pieces and of its end


@dataclass(frozen=True)
class _Task:
    """A part of a request, on its way through a batch."""

    place: int  # of the request in its window
    part: TextPart
    request: Request  # as it is searched
    unknown: tuple[str, ...] = ()  # required terms that the target vocabulary lacks


class Translator:
    """Made by `seq2see.load` or `seq2see.train`. Several runs speak as one ensemble; maps are of the first."""

    def __init__(self, runs: Sequence[Run], engines: Sequence[Engine] = ()) -> None:
        """engines: what computes the steps of each run while searching; the torch models themselves, if none."""
        if not runs:
            raise ConfigError("a translator needs at least one run")
        self.runs = tuple(runs)
        self.engines: tuple[Engine, ...] = tuple(engines) or tuple(run.model for run in runs)
        _check_ensemble(self.runs)

    @property
    def family(self) -> str:
        return str(self.runs[0].config.model["family"])

    @overload
    def translate(  # type: ignore[overload-overlap]  # a str is a sequence of str, and the first that fits counts
        self,
        text: str,
        *,
        beam: int | None = ...,
        nbest: int | None = ...,
        search: SearchConfig | None = ...,
        prefix: str = ...,
        required: Sequence[str] | Mapping[str, str] = ...,
        forbidden: Sequence[str] = ...,
        record: bool = ...,
    ) -> Translation: ...

    @overload
    def translate(
        self,
        text: Sequence[str],
        *,
        beam: int | None = ...,
        nbest: int | None = ...,
        search: SearchConfig | None = ...,
        prefix: str = ...,
        required: Sequence[str] | Mapping[str, str] = ...,
        forbidden: Sequence[str] = ...,
        record: bool = ...,
    ) -> list[Translation]: ...

    def translate(
        self,
        text: str | Sequence[str],
        *,
        beam: int | None = None,
        nbest: int | None = None,
        search: SearchConfig | None = None,
        prefix: str = "",
        required: Sequence[str] | Mapping[str, str] = (),
        forbidden: Sequence[str] = (),
        record: bool = False,
    ) -> Translation | list[Translation]:
        """A string in, a Translation out; a list in, a list out.

        beam, nbest   hypotheses kept, and given back
        search        everything else of a search (sampling, penalties, lengths, ...): see `SearchConfig`
        prefix        the translation begins with it;  required, forbidden: phrases it says somewhere, or nowhere
                      required={"막걸리": "makgeolli"}: the second where the text holds the first, as in a glossary;
                      see `Translation.unknown_terms` for phrases that the vocabulary lacks
        record        keep every candidate of the search as well
        """
        config = chosen(search, beam, nbest)
        texts = [text] if isinstance(text, str) else list(text)
        glossary = make_glossary(required, forbidden, prefix)
        requests = [glossary.request(one, number) for number, one in enumerate(texts)]
        found = list(self.translate_all(requests, config, record=record))
        return found[0] if isinstance(text, str) else found

    def translate_all(
        self,
        texts: Iterable[str | Request],
        search: SearchConfig | None = None,
        *,
        record: bool = False,
        agree: bool = False,
        window: int = WINDOW,
    ) -> Iterator[Translation]:
        """One Translation for each text, in order; memory holds one window of them, however many there are.

        agree   of samples: the one that the others agree with most comes first (minimum Bayes risk by chrF)
        """
        decoding = Decoding(self.runs, self.engines, search or DEFAULT, record)
        numbered = (
            one if isinstance(one, Request) else Request(one, number=number) for number, one in enumerate(texts)
        )
        while requests := list(islice(numbered, window)):
            yield from in_order(self._window(requests, decoding, agree=agree))

    def translate_unordered(
        self, requests: Sequence[Request], search: SearchConfig | None = None, *, agree: bool = False
    ) -> Iterator[tuple[int, Translation]]:
        """(place among the requests, translation) as each batch is finished: the same ones as of `translate_all`."""
        yield from self._window(requests, Decoding(self.runs, self.engines, search or DEFAULT), agree=agree)

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[Scored]:
        """What the first run thinks of these translations: forced, not searched."""
        if len(sources) != len(targets):
            raise ShapeError(f"{len(sources)} sources but {len(targets)} targets")
        spoken = [self._target.ids_batch([self.clean(target)])[0] for target in targets]
        return [self.score_ids(self.clean(one), ids) for one, ids in zip(sources, spoken, strict=True)]

    def look(self, source: str, target: str | None = None, *, kind: Kind = "cross") -> AttentionMap | None:
        """What the model looks at while it says `target` (what it would say by itself, if none is given)."""
        if target is None:
            return self.look_at(self.translate(source), kind)
        return self._look(self.clean(source), self._target.encode(self.clean(target)), kind)

    def forced(self, source: str, target: str) -> Translation:
        """`target` as if the first run had said it: its scores, and the map of saying it."""
        text = self.clean(source).strip()
        written = self._target.encode(self.clean(target))
        ids = written.ids
        scored = self.score_ids(text, ids)
        made = Translation(
            text,
            written.text,  # as it was given: words that the vocabulary lacks spell nothing
            scored.score,
            tuple(self._target.pieces(ids)),
            tuple(scored.token_scores),
            token_ids=tuple(ids),
            written=written,
            look=lambda: self._look(text, written, "cross"),
        )
        return replace(made, nbest=(made,))

    def look_at(self, translation: Translation, kind: Kind = "cross") -> AttentionMap | None:
        """The map of any translation this translator made, of any kind of attention."""
        if kind == "cross" or not translation.token_ids:
            return translation.attention
        return self._look(translation.source, self._said(translation), kind)

    def posterior(self, translation: Translation) -> AttentionMap | None:
        """Where it must have looked, once it is known what was said: see look.intervene.posterior."""
        if translation.parts:
            maps = [self.posterior(part) for part in translation.parts if part.token_ids]
            return joined([one for one in maps if one is not None])
        return self._look(translation.source, self._said(translation), "cross", posterior=True)

    def what_if(self, edits: Sequence[Edit]) -> "Translator":
        """The same translator with its first run's attention changed: heads switched off, rows forced or scaled."""
        first = replace(self.runs[0], model=what_if(self.runs[0].model, edits))
        return Translator([first, *self.runs[1:]])

    # ----- below: how it is done

    @property
    def _target(self) -> Tokenizer:
        return self.runs[0].tokenizers[1]

    def clean(self, text: str) -> str:
        """In the spelling the run was trained on; half a surrogate pair is no character and becomes U+FFFD."""
        text = text if text.isascii() else _SURROGATE.sub("\ufffd", text)
        return normalise(text, self.runs[0].config.data.form)

    def _window(
        self, requests: Sequence[Request], decoding: Decoding, *, agree: bool
    ) -> Iterator[tuple[int, Translation]]:
        """Requests -> parts -> batches of like length -> parts -> requests again, as soon as all of one are there."""
        tasks = [task for place, request in enumerate(requests) for task in self._tasks(place, request)]
        parts: list[dict[int, Translation]] = [{} for _ in requests]  # number of the task -> what became of it
        lacking = Counter(task.place for task in tasks)
        for number, part in self._translated(tasks, decoding):
            task = tasks[number]
            place = task.place
            parts[place][number] = self._asked_again(task, part, decoding) if part.unknown_terms else part
            lacking[place] -= 1
            if not lacking[place]:
                done = [parts[place][number] for number in sorted(parts[place])]
                parts[place].clear()
                whole = done[0] if len(done) == 1 else _joined(requests[place].text, done)
                yield place, consensus(whole) if agree else whole

    def _translated(self, tasks: Sequence[_Task], decoding: Decoding) -> Iterator[tuple[int, Translation]]:
        """(number of the task, its translation) as each batch is finished."""
        lengths = self._measure([task.part.text for task in tasks])
        for number, task in enumerate(tasks):
            if not task.part.text:
                yield number, self._translation(task, None)
        spoken = [number for number, task in enumerate(tasks) if task.part.text]
        for batch in decoding.batches([lengths[number] for number in spoken]):
            numbers = [spoken[row] for row in batch]
            results = decoding.decode([tasks[number].request for number in numbers])
            for number, result in zip(numbers, results, strict=True):
                yield number, self._translation(tasks[number], result)

    def _asked_again(self, task: _Task, made: Translation, decoding: Decoding) -> Translation:
        """Where nothing was said for an unknown term: with an `<unk>` for it, if that gives the term a place."""
        unsaid = _missing(made, NOT_LOOKED_AT)
        if not unsaid:
            return made
        request = replace(task.request, required=(*task.request.required, *unsaid))
        try:
            ((_, other),) = self._translated([replace(task, request=request)], decoding)
        except ConfigError:  # no room for more: the first translation stands
            return made
        return other if len(_missing(other)) < len(_missing(made)) else made

    def _tasks(self, place: int, request: Request) -> list[_Task]:
        """The parts of a text. A prefix belongs to the first of them, a required phrase to the one that holds what it
        translates, or to the longest; those that the vocabulary lacks are not searched for."""
        parts = cut(self.clean(request.text), self._longest, self._measure)
        if not request.constrained:
            return [_Task(place, part, replace(request, text=part.text)) for part in parts]
        request = self._cleaned(request)
        owners = {phrase: _owner(parts, _origin(request, phrase)) for phrase in request.required}
        tasks = []
        for number, part in enumerate(parts):
            wanted = [phrase for phrase in request.required if owners[phrase] == number]
            unknown = tuple(phrase for phrase in wanted if UNK in self._pieces(phrase))
            known = tuple(phrase for phrase in wanted if phrase not in unknown)
            prefix = "" if number else request.prefix
            tasks.append(_Task(place, part, replace(request, text=part.text, prefix=prefix, required=known), unknown))
        return tasks

    def _cleaned(self, request: Request) -> Request:
        """What has to be said, in the spelling of the run; what cannot be met is refused."""
        request = replace(
            request,
            prefix=self.clean(request.prefix),
            required=tuple(map(self.clean, request.required)),
            forbidden=tuple(map(self.clean, request.forbidden)),
            origins={self.clean(phrase): pattern for phrase, pattern in request.origins.items()},
        )
        for phrase in (request.prefix, *request.required):
            clash = next((banned for banned in request.forbidden if whole_words(banned).search(phrase)), None)
            if clash is not None and UNK in self._pieces(phrase):  # the search refuses the others
                raise ConfigError(f"line {request.number + 1}: '{phrase}' has to be said, but '{clash}' must not")
        return request

    def _pieces(self, phrase: str) -> list[int]:
        return self._target.ids_batch([phrase])[0]

    @property
    def _longest(self) -> int:
        """Source pieces that are translated at once: as many as training has shown, without the end."""
        return max(1, min(run.config.training.max_length for run in self.runs) - 1)

    def _measure(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self.runs[0].tokenizers[0].ids_batch(texts)]

    def _translation(self, task: _Task, result: Result | None) -> Translation:
        if result is None:  # white space alone: it means the same in every language
            return Translation(task.request.text, task.part.before + task.part.after, 0.0)
        every = [self._one(task, hypothesis) for hypothesis in result.hypotheses]
        record = None if result.record is None else tuple(result.record)
        return replace(every[0], nbest=tuple(every), record=record)

    def _one(self, task: _Task, hypothesis: Hypothesis) -> Translation:
        source, ids = task.request.text, list(hypothesis.tokens)
        text, unknown = self._with_terms(task, ids)
        shift = len(task.part.before)
        return Translation(
            source,
            task.part.before + text + task.part.after,
            hypothesis.score,
            tuple(self._target.pieces(ids)),
            tuple(hypothesis.token_scores),
            hypothesis.ended,
            tuple(term.moved(shift) for term in unknown),
            token_ids=tuple(ids),
            look=lambda: self._look(source, self._read_target(ids), "cross"),
        )

    def _with_terms(self, task: _Task, ids: list[int]) -> tuple[str, list[UnknownTerm]]:
        """What ids spell, with prefix and terms that the vocabulary lacks put in where their place is known."""
        request = task.request
        prefix = self._pieces(request.prefix) if request.prefix else []
        if not task.unknown and UNK not in prefix:
            return self._target.decode(ids), []
        reading = self._read_target(ids)
        whole = self._look(request.text, reading, "cross") if task.unknown else None
        best = None if whole is None else whole.best(load_best(self.runs[0].path / ALIGNMENT))
        decoded = DecodedText(reading, best, self._target.config.whole_words)
        taken = set(range(len(prefix))).union(*(decoded.rows_of(phrase) for phrase in request.required))
        places = [decoded.prefix_place(request.prefix, len(prefix))] if UNK in prefix else []
        reasons = {}
        for term in task.unknown:
            origin = _origin(request, term)
            reasons[term] = NO_ATTENTION if best is None else NOT_LOOKED_AT if origin is not None else NO_SOURCE
            for match in origin.finditer(request.text) if origin is not None else ():
                place = decoded.term_place(term, self._pieces(term), match.span(), taken)
                if place is not None:
                    places.append(place)
                    taken.update(place.rows)
        text, spans = fill(reading.text, places)
        literals = [request.prefix.strip()] if UNK in prefix else []
        return text, [
            UnknownTerm(term, spans.get(term), "" if term in spans else reasons[term])
            for term in (*literals, *task.unknown)
        ]

    @torch.no_grad()
    def _look(self, source: str, said: Encoding, kind: Kind, *, posterior: bool = False) -> AttentionMap | None:
        run = self.runs[0]
        batch = Batch.of(encode_sources(run.tokenizers[0], [source]), [said.ids])
        looks = posterior_looks(run.model, batch) if posterior else run.model.look(batch)
        return attention_map(looks, kind, self._read_source(source), said)

    def _read_source(self, source: str) -> Encoding:
        return self.runs[0].tokenizers[0].encode(source)

    def _said(self, translation: Translation) -> Encoding:
        return translation.written or self._read_target(translation.token_ids)

    def _read_target(self, ids: Sequence[int]) -> Encoding:
        return self._target.read(list(ids))

    @torch.no_grad()
    def score_ids(self, source: str, ids: Sequence[int]) -> Scored:
        """`score` for pieces as they were said, which need not be those that their text would be cut into."""
        run = self.runs[0]
        batch = Batch.of(encode_sources(run.tokenizers[0], [source]), [ids])
        said = torch.log_softmax(run.model(batch).logits[0], dim=-1)
        scores = said.gather(1, torch.tensor([*ids, EOS]).unsqueeze(1)).squeeze(1).tolist()
        if not all(math.isfinite(score) for score in scores):
            raise NumericError(f"{run.path}: the model gives no finite number for this pair")
        return Scored(sum(scores), scores)


def in_order(finished: Iterable[tuple[int, Value]]) -> Iterator[Value]:
    """What comes with its place, in any order, by its place; what is early waits."""
    early: dict[int, Value] = {}
    following = 0
    for place, value in finished:
        early[place] = value
        while following in early:
            yield early.pop(following)
            following += 1


def chosen(search: SearchConfig | None, beam: int | None, nbest: int | None) -> SearchConfig:
    """The search that is meant by a call."""
    if search is not None and (beam is not None or nbest is not None):
        raise ConfigError("beam and nbest belong into `search` when it is given")
    if search is not None or (beam is None and nbest is None):
        return search or DEFAULT
    width = beam if beam is not None else max(DEFAULT.beam, nbest or 1)
    return SearchConfig.model_validate(DEFAULT.model_dump() | {"beam": width, "nbest": nbest or 1})


def consensus(translation: Translation) -> Translation:
    """The same with its n-best list in the order of agreement by chrF; the score is the expected chrF."""
    if len(translation.nbest) < 2:
        return translation
    texts = [one.text for one in translation.nbest]
    ranked = minimum_bayes_risk(texts, sentence_chrf)
    every = tuple(replace(translation.nbest[one.place], score=one.utility) for one in ranked)
    return replace(every[0], nbest=every)


def _origin(request: Request, phrase: str) -> re.Pattern[str] | None:
    """What a required phrase translates: as the request says, or the phrase itself where the source holds it too."""
    return request.origins.get(phrase) or (re.compile(re.escape(phrase)) if phrase in request.text else None)


def _owner(parts: Sequence[TextPart], origin: re.Pattern[str] | None) -> int:
    """The part in which a phrase has to be said."""
    holding = (number for number, part in enumerate(parts) if origin is not None and origin.search(part.text))
    return next(holding, max(range(len(parts)), key=lambda number: len(parts[number].text)))


def _missing(translation: Translation, reason: str | None = None) -> list[str]:
    """Unknown terms that the translation does not hold; only those of a reason, if it is given."""
    terms = (term for term in translation.unknown_terms if term.span is None)
    return [term.text for term in terms if reason is None or term.reason == reason]


def _joined(source: str, parts: Sequence[Translation]) -> Translation:
    """The translations of a long text's parts as one. Of the n-best only the best of each part is meaningful."""
    text = "".join(part.text for part in parts)
    tokens = tuple(token for part in parts for token in part.tokens)
    scores = tuple(score for part in parts for score in part.token_scores)
    total, ended = sum(part.score for part in parts), all(part.ended for part in parts)
    ends = accumulate(len(part.text) for part in parts)
    unknown = tuple(
        term.moved(end - len(part.text)) for part, end in zip(parts, ends, strict=True) for term in part.unknown_terms
    )

    def look() -> AttentionMap | None:
        maps = [part.attention for part in parts if part.token_ids]
        return joined([one for one in maps if one is not None])

    whole = Translation(source, text, total, tokens, scores, ended, unknown, parts=tuple(parts), look=look)
    return replace(whole, nbest=(whole,))


def _check_ensemble(runs: Sequence[Run]) -> None:
    """Members say the same pieces; how each reads the source is its own matter."""
    first = runs[0].tokenizers[1]
    for run in runs[1:]:
        if not run.tokenizers[1].same_as(first):
            raise RunError(
                f"{run.path}: cannot join {runs[0].path} in an ensemble: they do not share a target vocabulary; train "
                "them on the same pairs with the same tokenizer settings"
            )


def run_paths(path: str | Path | Sequence[str | Path]) -> list[Path]:
    """One folder or several."""
    return [Path(path)] if isinstance(path, str | Path) else [Path(one) for one in path]
