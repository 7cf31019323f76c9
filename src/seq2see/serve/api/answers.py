"""What model processes answer: every answer is what `as_dict`, `pack` and `plain` give, as plain data for JSON."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import nn

from seq2see.engines import EngineChoice
from seq2see.errors import ConfigError, nearest
from seq2see.search import SearchConfig
from seq2see.serve.api import maps
from seq2see.serve.api.requests import (
    AlternativesRequest,
    ApiRequest,
    BeamRequest,
    CompareRequest,
    ExplainRequest,
    LookRequest,
    SearchOptions,
    ServedRun,
    SpeakJob,
    StyleRequest,
    TextJob,
)
from seq2see.serve.api.translated import brief, translated
from seq2see.session import DEFAULT, Request, Translator, load, load_voice
from seq2see.session.constraints import make_glossary
from seq2see.session.documents import with_placeholders
from seq2see.session.translator import chosen

if TYPE_CHECKING:
    from seq2see.speech.synthesis import Voice

Loaded = TypeVar("Loaded")
Cancel = Callable[[], bool]
"""Asked once a step of a search: whether nobody waits for the answer any more."""


class Models:
    """The runs of a server, loaded; in a process of its own, with one thread."""

    def __init__(self, runs: Sequence[ServedRun], engine: EngineChoice = "auto") -> None:
        """engine   as of `seq2see.load`; auto takes graphs that are there and makes none: a server starts at once."""
        torch.set_num_threads(1)
        self.runs = {run.name: run for run in runs}
        self.translators: dict[str, Translator] = {}
        self.voices: dict[str, Voice] = {}
        for run in runs:
            if run.kind == "voice":
                self.voices[run.name] = load_voice(run.path)
            else:
                self.translators[run.name] = load(run.path, engine=engine)
                self.translators[run.name].engines.of(DEFAULT)  # made now, not when somebody waits

    def translate(
        self, run: str, jobs: Sequence[TextJob], options: SearchOptions, cancelled: Cancel | None = None
    ) -> list[dict[str, Any]]:
        """One answer for each text, the same as for the text alone. An error is of one of them: ask one by one."""
        translator, config = self.translator(run), search_config(options)
        began = time.perf_counter()
        requests = [session_request(job) for job in jobs]
        need_scores = options.nbest is not None or not all(job.brief for job in jobs)
        translations = list(translator.translate_all(requests, config, cancelled=cancelled, need_scores=need_scores))
        rows = [row for row, job in enumerate(jobs) if job.faithful]
        kept = with_placeholders(
            translator, [requests[row] for row in rows], [translations[row] for row in rows], config, cancelled
        )
        for row, translation in zip(rows, kept, strict=True):
            translations[row] = translation
        took = round(1000 * (time.perf_counter() - began), 1)
        return [
            brief(translation) if job.brief else translated(translator, translation) | {"ms": took}
            for job, translation in zip(jobs, translations, strict=True)
        ]

    def answer(self, request: ApiRequest) -> dict[str, Any]:
        """One question of our API that is no translation."""
        match request:
            case LookRequest():
                return maps.look(self.translator(request.run), request)
            case BeamRequest():
                return maps.beam(self.translator(request.run), request)
            case ExplainRequest():
                return maps.explain(self.translator(request.run), request)
            case AlternativesRequest():
                return maps.other_words(self.translator(request.run), request)
            case CompareRequest():
                translators = {name: self.translator(name) for name in request.runs}
                rows = [maps.side_by_side(*run, request.text, request.beam) for run in translators.items()]
                return {"text": request.text, "runs": rows}
            case SpeakJob():
                from seq2see.serve.api import voices

                return voices.speak(self.voice(request.run), request)
            case StyleRequest():
                from seq2see.serve.api import voices

                return voices.style_of(self.voice(request.run), request)

    def describe(self) -> list[dict[str, Any]]:
        """What `GET runs` lists."""
        return [self._describe(run) for run in self.runs.values()]

    def _describe(self, run: ServedRun) -> dict[str, Any]:
        if run.kind == "voice":
            voice = self.voices[run.name]
            mean = voice.weights()
            tokens = 0 if mean is None else mean.size(1)  # as many sliders has a page
            return _described(run, voice.model) | {"tokens": tokens, "style": None if mean is None else mean.tolist()}
        translator = self.translators[run.name]
        best = translator.alignment_head
        crossing = [attention for attention in translator.model.attentions() if attention.kind == "cross"]
        return _described(run, translator.model) | {
            "family": translator.family,
            "layers": len(crossing),
            "heads": max((attention.module.heads for attention in crossing), default=0),
            "max_length": translator.max_length,
            "engine": translator.engine_of(),
            "head": None if best is None else best._asdict(),
        }

    def translator(self, name: str) -> Translator:
        if name in self.voices:
            raise ConfigError(f"run '{name}' is a voice: it speaks, it does not translate")
        return _named(name, self.translators)

    def voice(self, name: str) -> "Voice":
        if name in self.translators:
            raise ConfigError(f"run '{name}' is no voice: it translates")
        return _named(name, self.voices)


def search_config(options: SearchOptions) -> SearchConfig:
    """What `Translator.translate` searches with when it is given the same."""
    if not options.sample:
        return chosen(None, options.beam, options.nbest)
    sampling = {"temperature": options.temperature, "top_k": options.top_k, "top_p": options.top_p}
    return SearchConfig(
        sample=True,
        nbest=options.nbest or 1,
        seed=options.seed,
        **{name: value for name, value in sampling.items() if value is not None},
    )


def session_request(job: TextJob) -> Request:
    in_pairs = any(source for source, _ in job.required)
    required = dict(job.required) if in_pairs else [phrase for _, phrase in job.required]
    request = make_glossary(required, job.forbidden, job.prefix).request(job.text, job.number)
    return replace(request, prefix_ids=job.prefix_ids)


def _described(run: ServedRun, model: nn.Module) -> dict[str, Any]:
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return {"name": run.name, "kind": run.kind, "source": run.source, "target": run.target, "parameters": parameters}


def _named(name: str, known: Mapping[str, Loaded]) -> Loaded:
    if name not in known:
        raise ConfigError(f"run '{name}' is not served{nearest(name, known)}")
    return known[name]
