"""From requests to hypotheses: the ids of a batch, one search over all runs, phrases as pieces.

No text is lost on the way: whatever a line holds, there is a result for it, the same as for the line alone.
"""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from seq2see import masks, search
from seq2see.data.batch import pad
from seq2see.engines import ChoosingEngine, Engine, SearchingEngine, Shortlist, Words
from seq2see.errors import ConfigError
from seq2see.runs.folder import Run
from seq2see.search import Result, SearchConfig
from seq2see.session.translation import Request
from seq2see.text import Tokenizer
from seq2see.vocabulary import EOS, UNK

BATCH_TOKENS = 4096  # of all source places in a batch, padding included; as many sentences as that
BATCH_ROWS = (256, 1024)  # sentences at most, and paths of all their beams: products of many rows are the faster ones
_BEHIND_PREFIX = 10  # steps behind pieces that a translation begins with and that are as long as any could be
_ROUNDS = 8  # of searching again because a forbidden phrase was said in other pieces

SourceIds = tuple[list[int], ...]
"""A source in the pieces of each run, without the end."""


@dataclass(frozen=True)
class Decoding:
    """Runs that speak as one, and how they are searched."""

    runs: tuple[Run, ...]
    engines: tuple[Engine, ...]  # what computes each of them
    phrase_ids: Callable[[str], list[int]]  # the target pieces of a phrase
    config: SearchConfig
    record: bool = False
    cancelled: Callable[[], bool] | None = None  # asked once a step of the search
    need_scores: bool = True  # or only what is said
    shortlist: Shortlist | None = None  # what each source piece may become; None: anything

    @property
    def target(self) -> Tokenizer:
        return self.runs[0].tokenizers[1]

    def batches(self, lengths: Sequence[int]) -> list[list[int]]:
        """Places of texts of like length, as many as fit into a batch; longest first, so that memory peaks early."""
        order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
        paths = self.config.parallel * self.config.width
        batches: list[list[int]] = []
        room = 0
        for place in order:
            if not room:
                sentences, rows = BATCH_ROWS
                room = max(1, min(sentences, rows // paths, BATCH_TOKENS // max(1, lengths[place])))
                batches.append([])
            batches[-1].append(place)
            room -= 1
        return batches

    def decode(self, requests: Sequence[Request], sources: Sequence[SourceIds]) -> list[Result]:
        """One batch: a result for each request; forbidden phrases are said nowhere, however they are cut.

        sources   the pieces of each request's text
        """
        # What the vocabulary cannot spell cannot be said; its <unk> stands for other words as well and stays free.
        phrases = [
            [pieces for phrase in request.forbidden if UNK not in (pieces := self.phrase_ids(phrase))]
            for request in requests
        ]
        results = self._search(requests, sources, phrases)
        for _ in range(_ROUNDS):
            again = [row for row, request in enumerate(requests) if self._ban_said(request, results[row], phrases[row])]
            if not again:
                return results
            better = self._search(
                [requests[row] for row in again], [sources[row] for row in again], [phrases[row] for row in again]
            )
            for row, result in zip(again, better, strict=True):
                results[row] = result
        for row, request in enumerate(requests):
            if self._ban_said(request, results[row], phrases[row]):
                raise ConfigError(f"line {request.number + 1}: the model says {request.forbidden} in spite of all bans")
        return results

    def _search(
        self, requests: Sequence[Request], sources: Sequence[SourceIds], forbidden: Sequence[list[list[int]]]
    ) -> list[Result]:
        """One search. Where an engine searches by itself, what it leaves is searched step by step."""
        results = self._by_engine(requests, sources)
        left = [row for row, result in enumerate(results) if result is None]
        searched = self._by_steps(
            [requests[row] for row in left], [sources[row] for row in left], [forbidden[row] for row in left]
        )
        for row, result in zip(left, searched, strict=True):
            results[row] = result
        return [result for result in results if result is not None]

    def _by_engine(self, requests: Sequence[Request], sources: Sequence[SourceIds]) -> list[Result | None]:
        """None for each source that no engine has searched."""
        engine = self.engines[0]
        if not isinstance(engine, SearchingEngine):
            return [None] * len(requests)
        asked = {
            "an ensemble": len(self.engines) > 1,
            "a prefix, required or forbidden phrases": any(request.constrained for request in requests),
            "a record of the search": self.record,
        }
        reason = next((what for what, wanted in asked.items() if wanted), None) or engine.declines(self.config)
        if reason is not None:
            engine.say_once(f"CTranslate2 does not do this here: {reason}; torch does")
            return [None] * len(requests)
        if self.cancelled is not None and self.cancelled():
            raise search.Cancelled
        ids = [source for (source,) in sources]
        limits = self._limits(ids, requests, [[] for _ in requests])
        return engine.search(ids, self.config, limits, need_scores=self.need_scores)

    def _by_steps(
        self, requests: Sequence[Request], sources: Sequence[SourceIds], forbidden: Sequence[list[list[int]]]
    ) -> list[Result]:
        """One search; a batch without constraints pays nothing for them."""
        if not requests:
            return []
        encoded = [_padded([ids[member] for ids in sources]) for member in range(len(self.runs))]
        step, memory, state = self._begin(encoded)
        constrained = any(request.constrained for request in requests)
        prefix = [self.prefix_of(request) for request in requests]
        required = [[self.phrase_ids(phrase) for phrase in request.required] for request in requests]
        limits = torch.tensor(self._limits([ids for ids, *_ in sources], requests, required))
        words = None
        if self.shortlist is not None:
            forced = [[*begun, *chain(*phrases)] for begun, phrases in zip(prefix, required, strict=True)]
            words = self.shortlist.words([ids for ids, *_ in sources], forced)
            step, memory = search.among(step), search.Listed(memory, _everywhere(words, self.target.size))
        coverage = search.seen if self.config.coverage else None
        return search.search(
            step,
            memory,
            state,
            self.config,
            limits=limits,
            prefix=prefix if constrained else None,
            required=required if constrained else None,
            forbidden=forbidden if constrained else None,
            seeds=[request.number for request in requests] if self.config.sample else None,
            coverage_of=coverage,
            record=self.record,
            cancelled=self.cancelled,
            make_chooser=self._make_chooser(words),
        )

    def _make_chooser(self, words: Words | None) -> Callable[[Any, Any], search.Chooser] | None:
        """What plain search asks instead of a step, if there is anything faster."""
        engine, beams = self.engines[0], self.config.width > 1
        if len(self.engines) > 1:
            return None
        if isinstance(engine, ChoosingEngine) and words is None:
            return functools.partial(engine.chooser, beams=beams)
        if words is None:
            return None
        if isinstance(engine, ChoosingEngine):
            return lambda memory, state: engine.chooser(memory.memory, state, beams=beams, words=words)
        model = self.runs[0].model
        some = model.vocabulary_of(torch.from_numpy(words.ids))
        return lambda memory, state: search.ListedChooser(
            functools.partial(model.step_among, words=some), memory.memory, state, *words
        )

    def prefix_of(self, request: Request) -> list[int]:
        """The target pieces that its translation begins with."""
        return list(request.prefix_ids) or (self.phrase_ids(request.prefix) if request.prefix else [])

    def _begin(self, encoded: Sequence[tuple[Tensor, Tensor]]) -> tuple[Any, Any, Any]:
        """The step that is searched over, with memory and state: of one model, or of several as one."""
        with torch.no_grad():
            memories = [engine.encode(*source) for engine, source in zip(self.engines, encoded, strict=True)]
            states = [engine.start(memory) for engine, memory in zip(self.engines, memories, strict=True)]
        if len(self.engines) == 1:
            return self._covering(memories[0], states[0], encoded[0][1])
        if self.config.coverage:
            raise ConfigError("the coverage penalty is for one run; an ensemble has no attention of its own")
        return search.ensemble([engine.step for engine in self.engines]), tuple(memories), tuple(states)

    def _covering(self, memory: Any, state: Any, mask: Tensor) -> tuple[Any, Any, Any]:
        engine = self.engines[0]
        if not self.config.coverage:
            return engine.step, memory, state
        seen = (~mask.squeeze(1)).to(torch.float32)
        return search.covering(engine.step), memory, search.Covered(state, seen)

    def _limits(
        self, sources: Sequence[list[int]], requests: Sequence[Request], required: Sequence[list[list[int]]]
    ) -> list[int]:
        """(B,) most steps of each: what training validated with, and room for what has to be said.

        Pieces that a translation began with before take no room, so that it ends where it did; unless there is none.
        """
        limits = []
        for source, request, phrases in zip(sources, requests, required, strict=True):
            forced = [*(self.phrase_ids(request.prefix) if request.prefix else ()), *chain(*phrases)]
            limit, begun = search.length_limit(len(source) + 1) + 2 * len(forced), len(request.prefix_ids)
            limits.append(limit if begun < limit else begun + _BEHIND_PREFIX)
        return limits

    def _ban_said(self, request: Request, result: Result, phrases: list[list[int]]) -> bool:
        """Whether a forbidden phrase was said after all, in other pieces; these are added to `phrases`."""
        banned = False
        for phrase in request.forbidden:
            for hypothesis in result.hypotheses:
                pieces = _pieces_of(phrase, self.target, hypothesis.tokens)
                if pieces and pieces not in phrases:
                    phrases.append(pieces)
                    banned = True
        return banned


def _everywhere(words: Words, size: int) -> Tensor:
    """(B, V) bool: which tokens each sentence may be said with."""
    own = torch.zeros(len(words.own), size, dtype=torch.bool)
    own[:, torch.from_numpy(words.ids)] = torch.from_numpy(words.own)
    return own


def _padded(sources: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    """(B, S) ids with their ends, and their (B, 1, S) mask."""
    ids = pad([[*pieces, EOS] for pieces in sources])
    return ids, masks.padding(ids)


def _pieces_of(phrase: str, tokenizer: Tokenizer, ids: Sequence[int]) -> list[int]:
    """The pieces that say the phrase as whole words; none if they do not say it."""
    reading = tokenizer.read(list(ids))
    match = whole_words(phrase).search(reading.text)
    if match is None:
        return []
    spans = zip(ids, reading.spans, strict=True)
    return [piece for piece, (start, end) in spans if start < match.end() and end > match.start()]


def whole_words(phrase: str) -> re.Pattern[str]:
    """The phrase where it does not begin or end within a word."""
    left = r"(?<!\w)" if phrase[:1].isalnum() else ""
    right = r"(?!\w)" if phrase[-1:].isalnum() else ""
    return re.compile(left + re.escape(phrase) + right)
