"""Answers about one sentence: its maps, its beam, one step in numbers, other words, other runs. In a model process."""

import time
from collections.abc import Sequence
from typing import Any

from seq2see.errors import ConfigError
from seq2see.look import AttentionMap
from seq2see.look.intervene.whatif import parse_edits
from seq2see.look.map.packing import pack
from seq2see.look.map.side import side_of
from seq2see.serve.api.requests import (
    AlternativesRequest,
    BeamRequest,
    ExplainRequest,
    ForcedRequest,
    LookRequest,
    WhatIf,
)
from seq2see.serve.api.translated import translated
from seq2see.session import Request, Translation, Translator
from seq2see.session.aligning import occlude
from seq2see.session.alternatives import alternatives
from seq2see.session.translation import Maps
from seq2see.session.translator import chosen

MOST_WEIGHTS = 1_000_000  # of one answer; above it there is one layer in it


def look(translator: Translator, request: LookRequest) -> dict[str, Any]:
    """{map, kinds, layers, head, occlusion?, before?, after?}: `map` as a page unpacks it, null for no attention."""
    shown = _forced(translator, request)
    answer: dict[str, Any] = {}
    if request.edits.any:
        config = chosen(None, request.beam, None)
        translator = translator.by_torch  # both of them
        before = translated(translator, translator.translate(shown.source, search=config))
        translator = what_if(translator, shown.source, request.edits)
        shown = translator.translate(shown.source, search=config)
        answer = {"before": before, "after": translated(translator, shown)}
    if request.occlusion:
        losses = occlude(translator, shown.source, shown.token_ids)
        answer["occlusion"] = {**losses._asdict(), "totals": losses.totals()}
    return {**_map(_maps(translator, shown, posterior=request.posterior), request, translator), **answer}


def _maps(translator: Translator, shown: Translation, *, posterior: bool) -> Maps:
    weighed = translator.posterior(shown) if posterior else None
    return shown.maps if weighed is None else {**shown.maps, "cross": weighed}


def _map(maps: Maps, request: LookRequest, translator: Translator) -> dict[str, Any]:
    whole, best = maps.get(request.kind), translator.alignment_head
    fields = {"kinds": list(maps), "head": None if best is None else best._asdict()}
    if whole is None:
        if maps:
            raise ConfigError(f"{translator.family} has no {request.kind} attention; it has {', '.join(maps)}")
        return {"map": None, "layers": [], **fields}
    return {"map": pack(_fitting(whole, request.layer)), "layers": list(whole.layers), **fields}


def _fitting(whole: AttentionMap, layer: int | None) -> AttentionMap:
    """One layer if it is asked for, or if all of them are too much for one answer."""
    if layer is None and whole.weights.size > MOST_WEIGHTS and len(whole.layers) > 1:
        layer = len(whole.layers) - 1
    return whole if layer is None else whole.layer(layer)


def what_if(translator: Translator, source: str, edits: WhatIf) -> Translator:
    side = side_of(translator.read_source(source))
    return translator.what_if(parse_edits(side, ablate=edits.ablate, force=edits.force, scale=edits.scale))


def beam(translator: Translator, request: BeamRequest) -> dict[str, Any]:
    """{tree, translation}: every candidate with its token, and the hypotheses that came of them."""
    config = chosen(None, request.beam, request.nbest or request.beam)
    asked = Request(request.text, prefix_ids=request.prefix_ids)
    (made,) = translator.translate_all([asked], config, record=True)
    if made.tree is None:
        raise ConfigError(_too_long() if made.parts else "the text is empty: there is nothing to search")
    return {"tree": made.tree.as_dict(), "translation": translated(translator, made)}


def explain(translator: Translator, request: ExplainRequest) -> dict[str, Any]:
    """The walkthrough of a step, and `numpy`: the same as a script."""
    shown = _forced(translator, request)
    walk = translator.explain(shown, request.step, kind=request.kind, layer=request.layer, head=request.head)
    texts = {"source_text": shown.source, "target_text": shown.text}
    return {**texts, **walk.as_dict(), "numpy": walk.as_numpy()}


def other_words(translator: Translator, request: AlternativesRequest) -> dict[str, Any]:
    _check(translator, request.source, request.target_ids)
    words = alternatives(translator, request.source, request.target_ids, request.word)
    return {"alternatives": [alternative._asdict() for alternative in words]}


def side_by_side(name: str, translator: Translator, text: str, beam: int | None) -> dict[str, Any]:
    """{run, translation, map}: one run of a comparison, its map in words, of the head to read."""
    began = time.perf_counter()
    made = translator.translate(text, search=chosen(None, beam, None))
    took = round(1000 * (time.perf_counter() - began), 1)
    whole = made.attention if made.token_ids or made.parts else None
    picture = None if whole is None else pack(whole.best(translator.alignment_head).words())
    return {"run": name, "translation": translated(translator, made) | {"ms": took}, "map": picture}


def _forced(translator: Translator, request: ForcedRequest) -> Translation:
    _check(translator, request.source, request.target_ids)
    return translator.forced_ids(request.source, request.target_ids)


def _check(translator: Translator, source: str, target_ids: Sequence[int]) -> None:
    """What the run would not have translated at once, it is not asked to look at either: maps grow with both sides."""
    text = translator.clean(source).strip()
    if not text:
        raise ConfigError("the source is empty: there is nothing to look at")
    longest = translator.max_length
    if len(text) > 100 * longest or len(translator.read_source(text).ids) > longest:
        raise ConfigError(_too_long())
    if len(target_ids) > 4 * longest:
        raise ConfigError(f"target_ids holds {len(target_ids)} pieces; this run says at most {4 * longest} at once")
    size = translator.target_size
    if any(piece >= size for piece in target_ids):
        raise ConfigError(f"target_ids holds {max(target_ids)}, but the target vocabulary has {size} pieces")


def _too_long() -> str:
    return "the text is too long for the run to translate at once: send one of the `parts` of its translation"
