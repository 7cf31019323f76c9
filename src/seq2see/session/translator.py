"""The one front door: a run (or several as one), text in, Translation out. Everything else is built on this class."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple, overload

import torch

from seq2see.data.batch import Batch
from seq2see.data.store import encode_sources
from seq2see.engines import Engine
from seq2see.errors import ConfigError, RunError, ShapeError
from seq2see.evaluate import sentence_chrf
from seq2see.look import AttentionMap, Kind, attention_map, joined
from seq2see.look.posterior import posterior_looks
from seq2see.look.whatif import Edit, what_if
from seq2see.search import Hypothesis, Result, SearchConfig, minimum_bayes_risk
from seq2see.session.cutting import Part, cut
from seq2see.session.decoding import Decoding
from seq2see.session.translation import Request, Translation
from seq2see.text import Encoding, Tokenizer, normalise
from seq2see.training.folder import Run
from seq2see.vocabulary import EOS

DEFAULT = SearchConfig(beam=5, length_penalty="gnmt")
WINDOW = 2048  # texts that are sorted by length together
_SURROGATE = re.compile("[\ud800-\udfff]")


class Scored(NamedTuple):
    """What a model thinks of a translation that it is given."""

    score: float  # the sum
    token_scores: list[float]  # log-probabilities of its pieces and of its end


@dataclass(frozen=True)
class _Task:
    """A part of a request, on its way through a batch."""

    place: int  # of the request in its window
    part: Part
    request: Request


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
        required: Sequence[str] = ...,
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
        required: Sequence[str] = ...,
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
        required: Sequence[str] = (),
        forbidden: Sequence[str] = (),
        record: bool = False,
    ) -> Translation | list[Translation]:
        """A string in, a Translation out; a list in, a list out.

        beam, nbest   hypotheses kept, and given back
        search        everything else of a search (sampling, penalties, lengths, ...): see `SearchConfig`
        prefix        the translation begins with it;  required, forbidden: phrases it says somewhere, or nowhere
        record        keep every candidate of the search as well
        """
        config = chosen(search, beam, nbest)
        texts = [text] if isinstance(text, str) else list(text)
        requests = [Request(one, prefix, tuple(required), tuple(forbidden), number) for number, one in enumerate(texts)]
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
            found = self._window(requests, decoding)
            yield from map(consensus, found) if agree else found

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
            self._target.decode(ids),
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
        """Where it must have looked, once it is known what was said: the cross attention by look.posterior."""
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

    def _window(self, requests: Sequence[Request], decoding: Decoding) -> Iterator[Translation]:
        """Requests -> parts -> batches of like length -> parts -> requests again."""
        tasks = [task for place, request in enumerate(requests) for task in self._tasks(place, request)]
        lengths = self._measure([task.part.text for task in tasks])
        results: list[Result | None] = [None] * len(tasks)
        spoken = [place for place, task in enumerate(tasks) if task.part.text]
        for batch in decoding.batches([lengths[place] for place in spoken]):
            places = [spoken[row] for row in batch]
            found = decoding.decode([tasks[place].request for place in places])
            for place, result in zip(places, found, strict=True):
                results[place] = result
        done: list[list[Translation]] = [[] for _ in requests]
        for task, told in zip(tasks, results, strict=True):
            done[task.place].append(self._translation(task, told))
        for request, parts in zip(requests, done, strict=True):
            yield parts[0] if len(parts) == 1 else _joined(request.text, parts)

    def _tasks(self, place: int, request: Request) -> list[_Task]:
        """The parts of a text; a prefix belongs to the first of them, required phrases to the one that is longest."""
        parts = cut(self.clean(request.text), self._longest, self._measure)
        if len(parts) == 1:
            return [_Task(place, parts[0], _with(request, parts[0].text, prefix=True, required=True))]
        longest = max(range(len(parts)), key=lambda number: len(parts[number].text))
        return [
            _Task(place, part, _with(request, part.text, prefix=number == 0, required=number == longest))
            for number, part in enumerate(parts)
        ]

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
        return Translation(
            source,
            task.part.before + self._target.decode(ids) + task.part.after,
            hypothesis.score,
            tuple(self._target.pieces(ids)),
            tuple(hypothesis.token_scores),
            hypothesis.ended,
            token_ids=tuple(ids),
            look=lambda: self._look(source, self._read_target(ids), "cross"),
        )

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
        return Scored(sum(scores), scores)


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


def _with(request: Request, text: str, *, prefix: bool, required: bool) -> Request:
    return replace(
        request, text=text, prefix=request.prefix if prefix else "", required=request.required if required else ()
    )


def _joined(source: str, parts: Sequence[Translation]) -> Translation:
    """The translations of a long text's parts as one. Of the n-best only the best of each part is meaningful."""
    text = "".join(part.text for part in parts)
    tokens = tuple(token for part in parts for token in part.tokens)
    scores = tuple(score for part in parts for score in part.token_scores)
    total, ended = sum(part.score for part in parts), all(part.ended for part in parts)

    def look() -> AttentionMap | None:
        maps = [part.attention for part in parts if part.token_ids]
        return joined([one for one in maps if one is not None])

    whole = Translation(source, text, total, tokens, scores, ended, parts=tuple(parts), look=look)
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
