"""The one front door: a run (or several as one), text in, Translation out. Everything else is built on this class."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import torch

from seq2see.data.batch import Batch
from seq2see.engines import EngineName, Engines
from seq2see.errors import ConfigError, NumericError, RunError, ShapeError
from seq2see.look import AttentionMap, Best, Kind, attention_maps, load_best
from seq2see.look.intervene.posterior import posterior_looks
from seq2see.look.intervene.whatif import Edit, what_if
from seq2see.look.map.alignment import ALIGNMENT
from seq2see.models import Model
from seq2see.runs.folder import Run
from seq2see.search import Hypothesis, Result, SearchConfig
from seq2see.session.constraints import make_glossary
from seq2see.session.decoding import Decoding
from seq2see.session.tasks import DecodingTask, make_tasks, origin_of
from seq2see.session.terms import NO_ATTENTION, NO_SOURCE, NOT_LOOKED_AT, DecodedText, UnknownTerm, fill
from seq2see.session.translation import Maps, Request, Translation, consensus, join, join_maps
from seq2see.text import Encoding, Tokenizer, normalise
from seq2see.text.pieces import SPECIALS
from seq2see.vocabulary import EOS, UNK

if TYPE_CHECKING:
    from seq2see.look.explain.walkthrough import WalkKind, Walkthrough

DEFAULT = SearchConfig(beam=5, length_penalty="gnmt")
WINDOW = 2048  # texts that are sorted by length together
_FORCED = 32  # translations whose maps are read together
_PHRASES = 1 << 16  # of glossaries, whose pieces are kept
_SURROGATE = re.compile("[\ud800-\udfff]")
Value = TypeVar("Value")


class Scored(NamedTuple):
    """What a model thinks of a translation that it is given."""

    score: float  # the sum
    token_scores: list[float]  # log-probabilities of its pieces and of its end


class Translator:
    """Made by `seq2see.load` or `seq2see.train`. Several runs speak as one ensemble; maps are of the first."""

    def __init__(self, runs: Sequence[Run], engines: Engines | None = None) -> None:
        """engines: what computes while searching; the torch models themselves, if not given."""
        if not runs:
            raise ConfigError("a translator needs at least one run")
        self.runs = tuple(runs)
        self.engines = engines or Engines(runs)
        _check_ensemble(self.runs)
        self._phrase_ids = lru_cache(_PHRASES)(lambda phrase: self._target.ids_batch([phrase])[0])

    # ----- of the first run, which is all there is unless it is an ensemble

    @property
    def path(self) -> Path:
        return self.runs[0].path

    @property
    def model(self) -> Model[Any, Any]:
        return self.runs[0].model

    @property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """Of source and target."""
        return self.runs[0].tokenizers

    @property
    def family(self) -> str:
        return str(self.runs[0].config.model["family"])

    @property
    def target_language(self) -> str | None:
        return self.runs[0].config.data.target_language

    @property
    def max_length(self) -> int:
        """Pieces that a text may have on each side, as in training; longer ones are cut."""
        return self.runs[0].config.training.max_length

    @property
    def target_size(self) -> int:
        """Pieces in the target vocabulary."""
        return self._target.size

    def engine_of(self, search: SearchConfig | None = None) -> EngineName:
        """What computes such a search. What `auto` chooses is made when the first one begins."""
        return self.engines.name_of(search or DEFAULT)

    @property
    def by_torch(self) -> "Translator":
        """The same without its engines: what-if changes torch's modules."""
        return Translator(self.runs)

    @property
    def alignment_head(self) -> Best | None:
        """The head that alignments are read from, if one has been chosen and remembered in the run folder."""
        return load_best(self.path / ALIGNMENT)

    def clean(self, text: str) -> str:
        """In the spelling the run was trained on; half a surrogate pair is no character and becomes U+FFFD."""
        text = text if text.isascii() else _SURROGATE.sub("\ufffd", text)
        return normalise(text, self.runs[0].config.data.form)

    def read_source(self, text: str) -> Encoding:
        """The pieces of a source text, and where they lie in it."""
        return self._source.encode(text)

    def read_target(self, ids: Sequence[int]) -> Encoding:
        """The text that target pieces spell, and where each lies in it."""
        return self._target.read(ids)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Target ids as strings for the eye."""
        return self._target.pieces(ids)

    # ----- translations

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
        maps: bool = ...,
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
        maps: bool = ...,
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
        maps: bool = False,
    ) -> Translation | list[Translation]:
        """A string in, a Translation out; a list in, a list out.

        beam, nbest   hypotheses kept, and given back
        search        everything else of a search (sampling, penalties, lengths, ...): see `SearchConfig`
        prefix        the translation begins with it;  required, forbidden: phrases it says somewhere, or nowhere
                      required={"막걸리": "makgeolli"}: the second where the text holds the first, as in a glossary;
                      see `Translation.unknown_terms` for phrases that the vocabulary lacks
        record        keep every candidate of the search as well
        maps          read the attention of every best translation at once, batch by batch; else when it is touched
        """
        config = chosen(search, beam, nbest)
        texts = [text] if isinstance(text, str) else list(text)
        glossary = make_glossary(required, forbidden, prefix)
        requests = [glossary.request(source, number) for number, source in enumerate(texts)]
        translations = list(self.translate_all(requests, config, record=record, maps=maps))
        return translations[0] if isinstance(text, str) else translations

    def translate_all(
        self,
        texts: Iterable[str | Request],
        search: SearchConfig | None = None,
        *,
        record: bool = False,
        agree: bool = False,
        maps: bool = False,
        window: int = WINDOW,
        cancelled: Callable[[], bool] | None = None,
        need_scores: bool = True,
    ) -> Iterator[Translation]:
        """One Translation for each text, in order; memory holds one window of them, however many there are.

        agree         of samples: the one that the others agree with most comes first (minimum Bayes risk by chrF)
        maps          read the attention of every best translation at once, batch by batch; else when it is touched
        cancelled     asked once a step of the search; `search.Cancelled` is raised when it says so
        need_scores   as of `translate_unordered`
        """
        decoding = self._decoding(search, record=record, cancelled=cancelled, need_scores=need_scores)
        numbered = (
            text if isinstance(text, Request) else Request(text, number=number) for number, text in enumerate(texts)
        )
        while requests := list(islice(numbered, window)):
            yield from in_order(self._window(requests, decoding, agree=agree, maps=maps))

    def translate_unordered(
        self,
        requests: Sequence[Request],
        search: SearchConfig | None = None,
        *,
        agree: bool = False,
        need_scores: bool = True,
    ) -> Iterator[tuple[int, Translation]]:
        """(place among the requests, translation) as each batch is finished: the same ones as of `translate_all`.

        need_scores   whether anybody reads `score` and `token_scores`, for which CTranslate2 needs as long again
        """
        yield from self._window(requests, self._decoding(search, need_scores=need_scores), agree=agree)

    # ----- what a model thinks of a translation, and what it looks at

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[Scored]:
        """What the first run thinks of these translations: forced, not searched."""
        if len(sources) != len(targets):
            raise ShapeError(f"{len(sources)} sources but {len(targets)} targets")
        ids = self._target.ids_batch([self.clean(target) for target in targets])
        return [self.score_ids(self.clean(source), target) for source, target in zip(sources, ids, strict=True)]

    def score_ids(self, source: str, ids: Sequence[int]) -> Scored:
        """`score` for pieces as they were said, which need not be those that their text would be cut into."""
        return self._score(self._source.ids_batch([source])[0], ids)

    def look(self, source: str, target: str | None = None, *, kind: Kind = "cross") -> AttentionMap | None:
        """What the model looks at while it says `target` (what it would say by itself, if none is given)."""
        if target is None:
            return self.translate(source).maps.get(kind)
        return self._maps(self.read_source(self.clean(source)), self._target.encode(self.clean(target))).get(kind)

    def forced(self, source: str, target: str) -> Translation:
        """`target` as if the first run had said it: its scores, and the maps of saying it."""
        # As it was given: words that the vocabulary lacks spell nothing.
        return self._forced(source, self._target.encode(self.clean(target)))

    def forced_ids(self, source: str, ids: Sequence[int]) -> Translation:
        """`forced` for pieces as they were said, such as those of an earlier translation."""
        return self._forced(source, self._target.read(ids))

    def _forced(self, source: str, written: Encoding) -> Translation:
        read = self.read_source(self.clean(source).strip())
        scored = self._score(read.ids, written.ids)
        made = Translation(
            read.text,
            written.text,
            scored.score,
            tuple(self.pieces(written.ids)),
            tuple(scored.token_scores),
            token_ids=tuple(written.ids),
            written=written,
            compute_maps=lambda: self._maps(read, written),
        )
        return replace(made, nbest=(made,))

    def posterior(self, translation: Translation) -> AttentionMap | None:
        """Where it must have looked, once it is known what was said: see look.intervene.posterior."""
        return self._posterior(translation).get("cross")

    def _posterior(self, translation: Translation) -> Maps:
        if translation.parts:
            return join_maps([self._posterior(part) for part in translation.parts if part.token_ids])
        target = translation.written or self._target.read(translation.token_ids)
        return self._maps(self.read_source(translation.source), target, posterior=True)

    def explain(
        self,
        translation: Translation,
        step: int = 1,
        *,
        kind: "WalkKind" = "cross",
        layer: int | None = None,
        head: int | None = None,
    ) -> "Walkthrough":
        """One target position of a translation with all its numbers: see look.explain.walkthrough."""
        from seq2see.look.explain.walkthrough import explain

        source = self.read_source(translation.source)
        return explain(
            self.model,
            [*source.ids, EOS],
            list(translation.token_ids),
            step,
            kind=kind,
            layer=layer,
            head=head,
            source_tokens=[*source.tokens, SPECIALS[EOS].strip()],
            name=lambda index: self.pieces([index])[0],
        )

    def what_if(self, edits: Sequence[Edit]) -> "Translator":
        """The same translator with its first run's attention changed: heads switched off, rows forced or scaled."""
        first = replace(self.runs[0], model=what_if(self.runs[0].model, edits))
        return Translator([first, *self.runs[1:]])

    # ----- below: how it is done

    @property
    def _source(self) -> Tokenizer:
        return self.runs[0].tokenizers[0]

    @property
    def _target(self) -> Tokenizer:
        return self.runs[0].tokenizers[1]

    def _decoding(
        self,
        search: SearchConfig | None,
        *,
        record: bool = False,
        cancelled: Callable[[], bool] | None = None,
        need_scores: bool = True,
    ) -> Decoding:
        config = search or DEFAULT
        engines = self.engines.of(config, record=record)
        return Decoding(
            self.runs,
            engines,
            self._phrase_ids,
            config,
            record,
            cancelled,
            need_scores,
            self.engines.shortlist,
        )

    def _window(
        self, requests: Sequence[Request], decoding: Decoding, *, agree: bool, maps: bool = False
    ) -> Iterator[tuple[int, Translation]]:
        """Requests -> parts -> batches of like length -> parts -> requests again, as soon as all of one are there."""
        tasks = make_tasks(requests, self.runs, self.clean, self._phrase_ids)
        parts: list[dict[int, Translation]] = [{} for _ in requests]  # number of the task -> what became of it
        lacking = Counter(task.place for task in tasks)
        for number, part in self._translated(tasks, decoding, maps=maps):
            task = tasks[number]
            place = task.place
            parts[place][number] = self._asked_again(task, part, decoding) if part.unknown_terms else part
            lacking[place] -= 1
            if not lacking[place]:
                done = [parts[place][number] for number in sorted(parts[place])]
                parts[place].clear()
                whole = done[0] if len(done) == 1 else join(requests[place].text, done)
                yield place, consensus(whole) if agree else whole

    def _translated(
        self, tasks: Sequence[DecodingTask], decoding: Decoding, *, maps: bool = False
    ) -> Iterator[tuple[int, Translation]]:
        """(number of the task, its translation) as each batch is finished."""
        for number, task in enumerate(tasks):
            if not task.part.text:
                yield number, self._translation(task, None)
        spoken = [number for number, task in enumerate(tasks) if task.part.text]
        for batch in decoding.batches([len(tasks[number].source[0]) for number in spoken]):
            numbers = [spoken[row] for row in batch]
            results = decoding.decode(
                [tasks[number].request for number in numbers], [tasks[number].source for number in numbers]
            )
            made = [self._translation(tasks[number], result) for number, result in zip(numbers, results, strict=True)]
            yield from zip(numbers, self._with_maps(made) if maps else made, strict=True)

    @torch.no_grad()
    def _with_maps(self, translations: Sequence[Translation]) -> Iterator[Translation]:
        """The same, each with its maps, from forced passes over several at once."""
        for first in range(0, len(translations), _FORCED):
            some = translations[first : first + _FORCED]
            pairs = [(self.read_source(made.source), self._target.read(made.token_ids)) for made in some]
            batch = Batch.of([[*source.ids, EOS] for source, _ in pairs], [target.ids for _, target in pairs])
            looks = self.model.look(batch)
            for row, (made, (source, target)) in enumerate(zip(some, pairs, strict=True)):
                whole = attention_maps(looks, source, target, row=row)
                best = replace(made.nbest[0], compute_maps=partial(_given, whole))
                yield replace(made, compute_maps=best.compute_maps, nbest=(best, *made.nbest[1:]))

    def _asked_again(self, task: DecodingTask, made: Translation, decoding: Decoding) -> Translation:
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

    def _translation(self, task: DecodingTask, result: Result | None) -> Translation:
        if result is None:  # white space alone: it means the same in every language
            return Translation(task.request.text, task.part.before + task.part.after, 0.0)
        nbest = [self._of_hypothesis(task, hypothesis) for hypothesis in result.hypotheses]
        record = None if result.record is None else tuple(result.record)
        return replace(nbest[0], nbest=tuple(nbest), record=record)

    def _of_hypothesis(self, task: DecodingTask, hypothesis: Hypothesis) -> Translation:
        source, ids = task.request.text, list(hypothesis.tokens)

        @cache
        def maps() -> Maps:
            return self._maps(self.read_source(source), self._target.read(ids))

        text, unknown = self._with_terms(task, ids, maps)
        shift = len(task.part.before)
        return Translation(
            source,
            task.part.before + text + task.part.after,
            hypothesis.score,
            tuple(self.pieces(ids)),
            tuple(hypothesis.token_scores),
            hypothesis.ended,
            tuple(term.moved(shift) for term in unknown),
            token_ids=tuple(ids),
            compute_maps=maps,
            spell=self.pieces,
        )

    def _with_terms(
        self, task: DecodingTask, ids: list[int], maps: Callable[[], Maps]
    ) -> tuple[str, list[UnknownTerm]]:
        """What ids spell, with prefix and terms that the vocabulary lacks put in where their place is known."""
        request = task.request
        prefix = self._phrase_ids(request.prefix) if request.prefix else list(request.prefix_ids)
        unspelled = bool(request.prefix) and UNK in prefix
        if not task.unknown and not unspelled:
            return self._target.decode(ids), []
        reading = self._target.read(ids)
        whole = maps().get("cross") if task.unknown else None
        best = None if whole is None else whole.best(self.alignment_head)
        decoded = DecodedText(reading, best, self._target.config.whole_words)
        taken = set(range(len(prefix))).union(*(decoded.rows_of(phrase) for phrase in request.required))
        places = [decoded.prefix_place(request.prefix, len(prefix))] if unspelled else []
        reasons = {}
        for term in task.unknown:
            origin = origin_of(request, term)
            reasons[term] = NO_ATTENTION if best is None else NOT_LOOKED_AT if origin is not None else NO_SOURCE
            for match in origin.finditer(request.text) if origin is not None else ():
                place = decoded.term_place(term, self._phrase_ids(term), match.span(), taken)
                if place is not None:
                    places.append(place)
                    taken.update(place.rows)
        text, spans = fill(reading.text, places)
        literals = [request.prefix.strip()] if unspelled else []
        return text, [
            UnknownTerm(term, spans.get(term), "" if term in spans else reasons[term])
            for term in (*literals, *task.unknown)
        ]

    @torch.no_grad()
    def _maps(self, source: Encoding, target: Encoding, *, posterior: bool = False) -> Maps:
        """Every kind of attention from one forced pass over (source, target)."""
        batch = Batch.of([[*source.ids, EOS]], [target.ids])
        looks = posterior_looks(self.model, batch) if posterior else self.model.look(batch)
        return attention_maps(looks, source, target)

    @torch.no_grad()
    def _score(self, source_ids: Sequence[int], ids: Sequence[int]) -> Scored:
        batch = Batch.of([[*source_ids, EOS]], [ids])
        log_probs = torch.log_softmax(self.model(batch).logits[0], dim=-1)  # (T, V)
        scores = log_probs.gather(1, torch.tensor([*ids, EOS]).unsqueeze(1)).squeeze(1).tolist()
        if not all(math.isfinite(score) for score in scores):
            raise NumericError(f"{self.path}: the model gives no finite number for this pair")
        return Scored(sum(scores), scores)


def _given(maps: Maps) -> Maps:
    return maps


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


def _missing(translation: Translation, reason: str | None = None) -> list[str]:
    """Unknown terms that the translation does not hold; only those of a reason, if it is given."""
    terms = (term for term in translation.unknown_terms if term.span is None)
    return [term.text for term in terms if reason is None or term.reason == reason]


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
    return [Path(path)] if isinstance(path, str | Path) else [Path(folder) for folder in path]
