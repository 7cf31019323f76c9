"""Transformers in CTranslate2, which searches by itself: greedy and beam, many times faster than step by step.

    sources ─▶ CTranslate2's beam ─▶ finished hypotheses ─▶ ranked by our length penalty ─▶ scored piece by piece

It has neither our stop rule nor GNMT's length penalty. So it is asked for more hypotheses than the beam is wide, kept
by a power of the length, and they are ranked here. Its own numbers leave out what may not be said; the scores of a
result are of a second, forced pass, and are those of the torch model. That pass takes as long as the search: where only
the text is wanted, there is none.
"""

import tempfile
from collections.abc import Callable, Sequence
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seq2see.data.batch import Batch
from seq2see.engines.ct2_model import (
    SPECIAL_TOKENS,
    ComputeType,
    check_convertible,
    require_ctranslate2,
    save_model,
    tokens_of,
)
from seq2see.engines.shortlist import Shortlist
from seq2see.errors import RunError
from seq2see.models import Model
from seq2see.runs.folder import Run
from seq2see.search import Hypothesis, Result, SearchConfig, length_penalty
from seq2see.vocabulary import BOS, EOS, PAD, UNK

# Hypotheses that are finished before a search ends, for each place in the beam, where lengths weigh as in an average.
# What our stop rule finds is the best of them for 997 of 1,000 sentences of Multi30k, with one for each place for 962.
PATIENCE = 3
# With GNMT's penalty one more than the beam is wide is enough for 999, if CTranslate2 keeps those that are best by a
# power of the length that grows as fast as that penalty does at 15 pieces: alpha 15 / (5 + 15).
_POWER = 0.75
_TOGETHER = 2  # of a shortlist: batches that are tried, the second of those whose words were not their own
PLACES = (1024, 8192)  # positions that added vectors are written for, at least and at most
_NEAR: dict[ComputeType, float] = {"float32": 1e-3, "int8": 0.3}  # how far from the model, as a share of its numbers
_PROBE = (7, 3)  # lengths of two sources that an engine is held against its model with
_PRIME = 7919


def make_ctranslate2(
    run: Run, compute_type: ComputeType, say: Callable[[str], None], shortlist: Shortlist | None = None
) -> "CTranslate2Engine":
    """The engine of a run, made in memory. ConfigError for a family or setting that CTranslate2 does not know."""
    require_ctranslate2()
    check_convertible(run.model, str(run.path))
    engine = CTranslate2Engine(run, compute_type, places_of(run), say, shortlist)
    distance = engine.distance()
    if not distance <= _NEAR[compute_type]:
        raise RunError(
            f"{run.path}: CTranslate2 computes something else than the model (off by {distance:.2g}); "
            "use --engine torch"
        )
    return engine


def places_of(run: Run) -> int:
    """Positions of the longest text that a run translates in one piece, and of the longest output."""
    return min(max(PLACES[0], 2 * run.config.training.max_length + 16), PLACES[1])


def declined(config: SearchConfig) -> str | None:
    """What of a search is left to torch, in words; None if nothing is."""
    reasons = {
        "sampling": config.sample,
        "diverse beams": config.groups > 1,
        "the coverage penalty": bool(config.coverage),
        "min_length": bool(config.min_length),
        "no_repeat_ngram": bool(config.no_repeat_ngram),
    }
    return next((reason for reason, asked in reasons.items() if asked), None)


class CTranslate2Engine:
    """Plain search is CTranslate2's; every other one runs step by step in torch."""

    def __init__(
        self,
        run: Run,
        compute_type: ComputeType,
        places: int,
        say: Callable[[str], None],
        shortlist: Shortlist | None = None,
    ) -> None:
        import ctranslate2  # type: ignore[import-untyped]

        self.shortlist = shortlist

        self.model: Model[Any, Any] = run.model
        self.places = places
        self.source_tokens, self.target_tokens = map(tokens_of, run.tokenizers)
        self.target_ids = {token: index for index, token in enumerate(self.target_tokens)}
        self._say, self._told = say, set[str]()
        with tempfile.TemporaryDirectory() as folder:
            tokens = self.source_tokens, self.target_tokens
            save_model(run.model, tokens, Path(folder), places=places, compute_type=compute_type)
            if shortlist is not None:
                (Path(folder) / "vmap.txt").write_text(_vocabulary_map(shortlist, *tokens), encoding="utf-8")
            kind = "int8_float32" if compute_type == "int8" else "float32"
            self.translator = ctranslate2.Translator(folder, "cpu", compute_type=kind, intra_threads=1, inter_threads=1)

    # ----- step by step, in torch

    def encode(self, source: Tensor, source_mask: Tensor) -> Any:
        return self.model.encode(source, source_mask)

    def start(self, memory: Any) -> Any:
        return self.model.start(memory)

    def step(self, tokens: Tensor, memory: Any, state: Any, need_weights: Any = False) -> Any:
        return self.model.step(tokens, memory, state, need_weights)

    # ----- whole searches

    def declines(self, config: SearchConfig) -> str | None:
        return declined(config)

    def say_once(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._say(text)

    def search(
        self, sources: Sequence[Sequence[int]], config: SearchConfig, limits: Sequence[int], *, need_scores: bool = True
    ) -> list[Result | None]:
        caps = [limit if config.max_length is None else min(limit, config.max_length) for limit in limits]
        rows = [
            row
            for row, (source, cap) in enumerate(zip(sources, caps, strict=True))
            if 0 < cap <= self.places and 0 < len(source) < self.places
        ]
        results: list[Result | None] = [None] * len(sources)
        if not rows:
            return results
        texts = [[self.source_tokens[index] for index in sources[row]] for row in rows]
        limit = max(caps[row] for row in rows)
        if self.shortlist is None:
            candidates = self._candidates(texts, config, limit)
        else:
            batch = [sources[row] for row in rows]
            candidates = self._listed(batch, texts, config, [caps[row] for row in rows], self.shortlist)
        chosen = [
            self._best(ids, config, caps[row]) for row, ids in zip(rows, candidates, strict=True)
        ]  # for each row its hypotheses, ids with their ends
        scored = self._scored(texts, chosen, config) if need_scores else _unscored(chosen)
        for row, hypotheses in zip(rows, scored, strict=True):
            if hypotheses:
                results[row] = Result(hypotheses)
        return results

    def _candidates(
        self, texts: list[list[str]], config: SearchConfig, limit: int
    ) -> list[list[tuple[list[int], float]]]:
        """For each text its finished hypotheses: ids, EOS included if it was said, and their log-probability."""
        greedy = config.beam == 1
        first_is_best = greedy or (config.nbest == 1 and length_penalty(limit, config) == length_penalty(1, config))
        wanted, power = _asked_for(config)
        if first_is_best:
            wanted, power = 1, 0.0  # it ends with the first, which nothing can overtake
        answers = self.translator.translate_batch(
            texts,
            beam_size=config.beam,
            patience=max(1.0, wanted / config.beam),
            num_hypotheses=wanted,
            length_penalty=power,
            max_decoding_length=limit,
            min_decoding_length=0,
            max_input_length=0,
            suppress_sequences=[[SPECIAL_TOKENS[PAD]], [SPECIAL_TOKENS[BOS]]],
            return_end_token=True,
            return_scores=not greedy,
            use_vmap=self.shortlist is not None,
        )
        results = []
        for answer in answers:
            ids = [[self.target_ids[token] for token in tokens] for tokens in answer.hypotheses]
            scores = answer.scores or [0.0] * len(ids)
            results.append([(tokens, score * len(tokens) ** power) for tokens, score in zip(ids, scores, strict=True)])
        return results

    def _listed(
        self,
        sources: Sequence[Sequence[int]],
        texts: list[list[str]],
        config: SearchConfig,
        limits: Sequence[int],
        shortlist: Shortlist,
    ) -> list[list[tuple[list[int], float]]]:
        """With a shortlist: CTranslate2 gives a batch the words of all its sentences. What greedy search says in these
        is what it says in its own, if it says nothing else; else, and with a beam, a sentence is searched alone."""
        candidates: list[list[tuple[list[int], float]]] = [[] for _ in texts]
        alone = list(range(len(texts)))
        for _ in range(_TOGETHER if config.beam == 1 else 0):
            found = self._candidates([texts[row] for row in alone], config, max(limits)) if alone else []
            for row, entries in zip(alone, found, strict=True):
                candidates[row] = entries
            alone = [row for row in alone if not np.isin(candidates[row][0][0], shortlist.of(sources[row])).all()]
        for row in alone:
            candidates[row] = self._candidates([texts[row]], config, limits[row])[0]
        return candidates

    @staticmethod
    def _best(candidates: list[tuple[list[int], float]], config: SearchConfig, limit: int) -> list[list[int]]:
        """The nbest of them by our penalty that end within the limit, or of those cut there if none has ended; none
        if there are not as many."""
        if config.beam == 1:
            return [candidates[0][0][:limit]]
        ended = [entry for entry in candidates if entry[0] and entry[0][-1] == EOS and len(entry[0]) <= limit]
        if all(len(ids) == limit and ids[-1] != EOS for ids, _ in candidates):
            ended = list(candidates)
        ended.sort(key=lambda entry: -entry[1] / length_penalty(len(entry[0]), config))
        return [ids for ids, _ in ended[: config.nbest]] if len(ended) >= config.nbest else []

    def _scored(
        self, texts: list[list[str]], chosen: list[list[list[int]]], config: SearchConfig
    ) -> list[list[Hypothesis]]:
        """Each with the log-probabilities of its pieces, best first."""
        forced = [(row, ids) for row, hypotheses in enumerate(chosen) for ids in hypotheses]
        scored: list[list[Hypothesis]] = [[] for _ in texts]
        if not forced:
            return scored
        targets = [[self.target_tokens[index] for index in _said(ids)] for _, ids in forced]
        answers = self.translator.score_batch([texts[row] for row, _ in forced], targets, max_input_length=0)
        for (row, ids), answer in zip(forced, answers, strict=True):
            scores = answer.log_probs[: len(ids)]
            total = sum(scores) / length_penalty(len(ids), config)
            scored[row].append(Hypothesis(_said(ids), scores, total, ids[-1] == EOS))
        return [
            sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)
            if all(isfinite(hypothesis.score) for hypothesis in hypotheses)
            else []
            for hypotheses in scored
        ]

    @torch.no_grad()
    def distance(self) -> float:
        """How far its log-probabilities are from torch's, as a share of them, for two made-up pairs; the farther."""
        farthest = 0.0
        for first, length in enumerate(_PROBE):
            places = torch.arange(first, first + length) * _PRIME
            source = (places % (len(self.source_tokens) - UNK) + UNK).tolist()
            target = (places % (len(self.target_tokens) - UNK) + UNK).tolist()
            logits = self.model(Batch.of([[*source, EOS]], [target])).logits[0]  # (T, V)
            spoken = torch.tensor([*target, EOS]).unsqueeze(1)
            expected = torch.log_softmax(logits, dim=-1).gather(1, spoken).squeeze(1)  # (T,)
            tokens = [self.source_tokens[index] for index in source], [self.target_tokens[index] for index in target]
            answer = self.translator.score_batch([tokens[0]], [tokens[1]], max_input_length=0)[0]
            distance = float((torch.tensor(answer.log_probs) - expected).norm() / expected.norm())
            farthest = max(farthest, distance if isfinite(distance) else inf)
        return farthest


def _asked_for(config: SearchConfig) -> tuple[int, float]:
    """How many finished hypotheses, and the power of the length that they are kept by."""
    if config.length_penalty != "gnmt" or not 0 < config.alpha <= 1:
        return config.beam * PATIENCE, 1.0
    more = max(1, config.beam // 5) if config.nbest == 1 else config.beam * (PATIENCE - 1)
    return config.beam + more, config.alpha * _POWER


def _vocabulary_map(shortlist: Shortlist, source: Sequence[str], target: Sequence[str]) -> str:
    """vmap.txt: what each source piece may become; the line of no piece is for every sentence."""
    lines = [("", shortlist.common), *((token, shortlist.of_piece(piece)) for piece, token in enumerate(source))]
    return "".join(f"{token}\t{' '.join(target[index] for index in ids)}\n" for token, ids in lines if len(ids))


def _unscored(chosen: list[list[list[int]]]) -> list[list[Hypothesis]]:
    """In the order in which they are, without numbers."""
    return [[Hypothesis(_said(ids), [], nan, bool(ids) and ids[-1] == EOS) for ids in rows] for rows in chosen]


def _said(ids: list[int]) -> list[int]:
    """Without the end."""
    return ids[:-1] if ids and ids[-1] == EOS else ids
