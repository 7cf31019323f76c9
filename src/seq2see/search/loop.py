"""The one loop of every search: step, rules, candidates, choice.

Letters: B sentences of the batch, N of them still searched, G groups, W width of a group, R = N G W rows, V vocabulary.

Sentences hold groups, groups hold paths. Sentence i of those still searched has the rows from i x places on, group
after group. Memory is expanded once and shrinks when sentences leave; the state is reordered as beams are chosen.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from random import Random
from typing import TypeVar

import torch
from torch import Tensor

from seq2see.errors import ConfigError, ShapeError
from seq2see.models import reorder
from seq2see.search.beams import BeamGroup
from seq2see.search.candidates import drawn, likeliest
from seq2see.search.choosing import CancellableChooser, Chooser, MakeChooser, StepChooser
from seq2see.search.config import SearchConfig
from seq2see.search.hypothesis import Considered, Hypothesis, Path, Result
from seq2see.search.plain import beam_search, greedy_search
from seq2see.search.rules import Ban, make_rules
from seq2see.search.scoring import coverage_penalty, ranking
from seq2see.search.steps import Step, cancellable
from seq2see.vocabulary import BOS, EOS, PAD

M = TypeVar("M")
S = TypeVar("S")
T = TypeVar("T")
Length = TypeVar("Length", int, Tensor)
Phrases = Sequence[Sequence[int]]


@dataclass(frozen=True)
class SentenceSearch:
    groups: list[BeamGroup]

    @property
    def going(self) -> bool:
        return any(group.paths for group in self.groups)

    def rows(self, width: int) -> list[Path]:
        """The path of each of its rows. A place that is empty repeats one that is not; nobody reads what it says."""
        anyone = next(group.paths[0] for group in self.groups if group.paths)
        return [path for group in self.groups for path in [*group.paths, *[anyone] * (width - len(group.paths))]]

    def hypotheses(self) -> list[Hypothesis]:
        return [hypothesis for group in self.groups for hypothesis in group.ended]

    def records(self) -> list[list[Considered]]:
        return [group.record for group in self.groups if group.record is not None]


def greedy(step: Step[M, S], memory: M, state: S, limits: Tensor) -> list[Hypothesis]:
    """The likeliest token each time. limits (B,): most steps of each sentence, its end included."""
    return [result.hypotheses[0] for result in search(step, memory, state, SearchConfig(), limits=limits)]


def length_limits(mask: Tensor) -> Tensor:
    """Source mask (B, 1, S) -> limits (B,)."""
    return length_limit(mask.squeeze(1).sum(dim=-1))


def length_limit(pieces: Length) -> Length:
    """No output is longer than twice its source, the end included, and ten pieces more."""
    return pieces * 2 + 10


@torch.no_grad()
def search(
    step: Step[M, S],
    memory: M,
    state: S,
    config: SearchConfig,
    *,
    limits: Tensor,
    prefix: Phrases | None = None,
    required: Sequence[Phrases] | None = None,
    forbidden: Sequence[Phrases] | None = None,
    seeds: Sequence[int] | None = None,
    coverage_of: Callable[[M, S], Tensor] | None = None,
    record: bool = False,
    on_token: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    make_chooser: MakeChooser[M, S] | None = None,
) -> list[Result]:
    """Greedy search, beam search, diverse beam search or sampling, as `config` says.

    One result for each sentence of the batch, the same as for the sentence alone. Step, memory and state are those of
    a model or engine: step((R,) tokens, memory, state) -> (R, V) logits, state.

    limits       (B,) most steps of each sentence, its end included; config.max_length may lower them
    prefix       the tokens that each sentence begins with
    required     the phrases that each sentence says somewhere
    forbidden    the phrases that it does not say anywhere
    seeds        of sampling: a number for each sentence, such as its line; if not given, all are drawn with the same
                 chances, which is right for each sentence but not for a corpus that is made by sampling
    coverage_of  for the coverage penalty: (memory, state) -> (R, S) attention so far, at least 1 on padding
    record       give back every candidate as well, what became of it and why
    on_token     called with sentence and token as soon as it is certain: for greedy, or one sample
    cancelled    asked before each step: whether nobody wants the result any more; then `Cancelled` is raised
    make_chooser what plain greedy and beam search ask instead of `step`: an engine's own choice of candidates
    """
    _check(config, coverage_of is not None, on_token is not None)
    caps = [limit if config.max_length is None else min(limit, config.max_length) for limit in limits.tolist()]
    if config.plain and not (prefix or required or forbidden or record) and min(caps, default=0) > 0:
        chooser: Chooser = (
            StepChooser(step, memory, state, limits.device) if make_chooser is None else make_chooser(memory, state)
        )
        chooser = chooser if cancelled is None else CancellableChooser(chooser, cancelled)
        if config.width == 1:
            hypotheses = greedy_search(chooser, config, caps, on_token)
        else:
            hypotheses = beam_search(chooser, config, caps)
        return [_result(number, ranked, config) for number, ranked in enumerate(hypotheses)]
    step = step if cancelled is None else cancellable(step, cancelled)
    sentences = _sentences(config, caps, prefix, required, forbidden, seeds, record=record)
    places, device = config.parallel * config.width, limits.device  # G W places for each sentence
    if places > 1:
        rows = torch.arange(len(sentences), device=device).repeat_interleave(places)  # (R,)
        memory, state = reorder(memory, rows), reorder(state, rows)
    tokens = torch.full((len(sentences) * places,), BOS, dtype=torch.long, device=device)  # (R,)
    going = list(range(len(sentences)))  # (N,) the sentences that are still searched
    while going:
        logits, state = step(tokens, memory, state)  # (R, V)
        covered = [0.0] * len(tokens)  # (R,)
        if coverage_of is not None and config.coverage:
            covered = coverage_penalty(coverage_of(memory, state))
        log_probs = torch.log_softmax(logits, dim=-1)  # (R, V)
        spoken = _advance([sentences[number] for number in going], log_probs, config, covered)
        if on_token is not None:
            for number, counts in zip(going, spoken, strict=True):
                for token in counts.keys() - {EOS}:
                    on_token(number, token)
        staying = [place for place, number in enumerate(going) if sentences[number].going]
        paths = [
            path for place in staying for path in sentences[going[place]].rows(config.width)
        ]  # (R,) of the next step
        if len(staying) < len(going):
            blocks = [place * places + beam for place in staying for beam in range(places)]
            memory = reorder(memory, torch.tensor(blocks, dtype=torch.long, device=device))
        rows = torch.tensor([path.row for path in paths], dtype=torch.long, device=device)
        if not torch.equal(rows, torch.arange(len(tokens), device=device)):
            state = reorder(state, rows)
        tokens = torch.tensor([path.tokens[-1] for path in paths], dtype=torch.long, device=device)
        going = [going[place] for place in staying]
    return [
        _result(number, sentence.hypotheses(), config, sentence.records()) for number, sentence in enumerate(sentences)
    ]


def _advance(
    sentences: list[SentenceSearch], log_probs: Tensor, config: SearchConfig, covered: list[float]
) -> list[Counter[int]]:
    """(R, V): one token more for every path; gives back the tokens that each sentence took, counted.

    Groups go in turn, as each of them avoids what the ones before it said.
    """
    log_probs[:, [PAD, BOS]] = -inf
    recorded = any(group.record is not None for sentence in sentences for group in sentence.groups)
    unruled = log_probs.clone() if recorded else log_probs
    bans = _apply_rules(sentences, log_probs, config)
    width, by_group = config.width, log_probs.view(len(sentences), config.parallel, config.width, -1)  # (N, G, W, V)
    spoken: list[Counter[int]] = [Counter() for _ in sentences]
    for number in range(config.parallel):
        groups = [sentence.groups[number] for sentence in sentences]
        if config.sample:
            proposed = drawn(by_group[:, number, 0], config, [group.chance for group in groups])
        else:
            proposed = likeliest(by_group[:, number], _totals(groups, by_group), spoken, config.diversity)
        for place, (group, candidates) in enumerate(zip(groups, proposed, strict=True)):
            if not group.paths:
                continue
            first = (place * config.parallel + number) * width  # row of the group's first path
            group.note_blocked(bans.get(first, {}), unruled[first : first + width], width)
            if group.rules.required and width > 1:
                candidates = group.with_required(candidates, by_group[place, number])
            elif not config.sample:
                candidates = candidates[: 2 * width]  # at most one end from each beam, so as many others are left
            spoken[place] += group.advance(candidates, first, config, covered[first : first + width])
    return spoken


def _apply_rules(sentences: list[SentenceSearch], log_probs: Tensor, config: SearchConfig) -> dict[int, dict[int, Ban]]:
    """(R, V), in place. The bans of each group that has rules: by its first row, then by beam."""
    bans: dict[int, dict[int, Ban]] = {}
    groups = [group for sentence in sentences for group in sentence.groups]
    for number, group in enumerate(groups):
        if not group.rules.any:
            continue
        group.rules.check_vocabulary(log_probs.size(-1))
        first = number * config.width
        bans[first] = {beam: group.rules.ban(path.tokens) for beam, path in enumerate(group.paths)}
        for beam, ban in bans[first].items():
            row = log_probs[first + beam]  # (V,)
            if ban.only is not None:
                only = torch.tensor(sorted(ban.only), dtype=torch.long, device=row.device)
                row.copy_(torch.full_like(row, -inf).index_copy(0, only, row[only]))
            row[list(ban.tokens)] = -inf
    return bans


def _totals(groups: list[BeamGroup], like: Tensor) -> Tensor:
    """(N, W) float64: the log-probability of each path; empty places have none at all."""
    width = like.size(2)
    totals = [[*(path.total for path in group.paths), *[-inf] * (width - len(group.paths))] for group in groups]
    return torch.tensor(totals, dtype=torch.float64, device=like.device)


def _sentences(
    config: SearchConfig,
    limits: list[int],
    prefix: Phrases | None,
    required: Sequence[Phrases] | None,
    forbidden: Sequence[Phrases] | None,
    seeds: Sequence[int] | None,
    *,
    record: bool,
) -> list[SentenceSearch]:
    batch = len(limits)
    prefixes: Sequence[Sequence[int]] = _each("prefix", prefix, batch, ())
    wanted: Sequence[Phrases] = _each("required", required, batch, ())
    unwanted: Sequence[Phrases] = _each("forbidden", forbidden, batch, ())
    seed_of: Sequence[int] = _each("seeds", seeds, batch, 0)
    sentences = []
    for sentence in range(batch):
        phrases = prefixes[sentence], wanted[sentence], unwanted[sentence]
        rules = make_rules(sentence, limits[sentence], config.min_length, config.no_repeat_ngram, *phrases)
        groups = [
            # Seeded by text: the same numbers on every machine, and nothing of the rest of the batch in them.
            BeamGroup(
                rules,
                chance=Random(f"{config.seed} {seed_of[sentence]} {number}").random,
                place=number * config.width,
                record=[] if record else None,
            )
            for number in range(config.parallel)
        ]
        sentences.append(SentenceSearch(groups))
    return sentences


def _each(name: str, entries: Sequence[T] | None, batch: int, default: T) -> Sequence[T]:
    if entries is None:
        return [default] * batch
    if len(entries) != batch:
        raise ShapeError(f"{name} has {len(entries)} entries for {batch} sentences")
    return entries


def _check(config: SearchConfig, knows_coverage: bool, streams: bool) -> None:
    if config.coverage and not knows_coverage:
        raise ConfigError(
            f"coverage = {config.coverage} needs the attention of every step, which this model's step does not give "
            "(coverage_of); set coverage = 0"
        )
    if streams and config.parallel * config.width > 1:
        raise ConfigError(
            "tokens can be told as they are said by greedy search or one sample only: a beam may still drop them; "
            "set beam = 1 and nbest = 1"
        )


def _result(
    sentence: int, hypotheses: list[Hypothesis], config: SearchConfig, records: Sequence[list[Considered]] = ()
) -> Result:
    """Best first and each once, whatever group it is from; but samples all, as drawn."""
    if not hypotheses:
        raise ConfigError(
            f"sentence {sentence}: nothing can be said: its rules contradict each other or leave no word, or the model "
            "gives no finite number"
        )
    if not config.sample:
        unique: dict[tuple[int, ...], Hypothesis] = {}
        for hypothesis in sorted(hypotheses, key=ranking):
            unique.setdefault(tuple(hypothesis.tokens), hypothesis)
        hypotheses = list(unique.values())[: config.nbest]
    merged = sorted((candidate for record in records for candidate in record), key=lambda candidate: candidate.step)
    return Result(hypotheses, merged if records else None)
