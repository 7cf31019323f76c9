"""What the tests of search share: small models of each family, a cheap step function, and slow twins of the search."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import Tensor

from seq2see.data import Batch
from seq2see.models import Model, build
from seq2see.search import Hypothesis, Result, SearchConfig, search
from seq2see.vocabulary import BOS, EOS, PAD, UNK

SOURCE_WORDS = 13
RECURRENT = {"kind": "recurrent", "embedding": 6, "hidden": 4}
SMALL: dict[str, dict[str, Any]] = {
    "rnn": {"embedding": 6, "hidden": 8, "encoder": RECURRENT},
    "rnnsearch": {"embedding": 6, "hidden": 8, "readout": 6, "encoder": RECURRENT},
    "luong": {"embedding": 6, "hidden": 8, "encoder": RECURRENT},
    "convs2s": {
        "encoder": {"embedding": 8, "channels": (8,), "kernels": (3,)},
        "decoder": {"embedding": 6, "channels": (8, 8), "kernels": (3, 1)},
    },
    "bytenet": {"width": 4, "dilations": (1, 2), "sets": 1},
    "transformer": {"width": 8, "heads": 2, "inner": 12, "layers": 1},
}


@cache
def model_of(family: str, words: int = 9, seed: int = 0, dtype: torch.dtype = torch.float64) -> Model[Any, Any]:
    """Random weights, every parameter stirred, so that what is said depends on everything said before."""
    torch.manual_seed(seed)
    model = build(family, "tiny", source_vocabulary=SOURCE_WORDS, target_vocabulary=words, **SMALL[family])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.6)
    return model.to(dtype).eval()


def sources(count: int, longest: int = 6, seed: int = 0) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (count,), generator=generator).tolist()
    return [torch.randint(UNK, SOURCE_WORDS, (length,), generator=generator).tolist() for length in lengths]


@torch.no_grad()
def run(
    model: Model[Any, Any], given: Sequence[Sequence[int]], config: SearchConfig, limit: int | Tensor = 8, **more: Any
) -> list[Result]:
    batch = Batch.of(given, [[] for _ in given])
    memory = model.encode(batch.source, batch.source_mask)
    limits = limit if isinstance(limit, Tensor) else torch.full((len(given),), limit)
    return search(model.step, memory, model.start(memory), config, limits=limits, **more)


@torch.no_grad()
def forced(model: Model[Any, Any], source: Sequence[int], targets: Sequence[Sequence[int]]) -> Tensor:
    """(N, T + 1, V) log-probabilities by teacher forcing, over the whole vocabulary."""
    return torch.log_softmax(model(Batch.of([source] * len(targets), targets)).logits, dim=-1)


def token_scores(log_probs: Tensor, tokens: Sequence[int], ended: bool) -> list[float]:
    """(T, V) -> of each token, and of the end if it was said."""
    return [float(log_probs[place, token]) for place, token in enumerate([*tokens, EOS] if ended else tokens)]


def normalised(total: float, length: int, config: SearchConfig) -> float:
    """The length penalties once more, written out."""
    divisor = {"none": 1.0, "gnmt": ((5 + length) / 6) ** config.alpha, "average": length}[config.length_penalty]
    return total / divisor


def brute_force(
    models: Sequence[Model[Any, Any]],
    source: Sequence[int],
    words: int,
    limit: int,
    config: SearchConfig,
    allowed: Callable[[list[int], bool], bool] = lambda tokens, ended: True,
) -> list[Hypothesis]:
    """Every sentence within the limit, scored by teacher forcing and sorted; what was cut off behind what ended."""
    vocabulary = range(UNK, words)
    found = []
    for length in range(limit + 1):
        ended = length < limit
        targets = [list(tokens) for tokens in product(vocabulary, repeat=length)]
        opinions = torch.stack([forced(model, source, targets).exp() for model in models])
        for tokens, log_probs in zip(targets, opinions.mean(dim=0).log(), strict=True):
            if allowed(tokens, ended):
                scores = token_scores(log_probs, tokens, ended)
                found.append(Hypothesis(tokens, scores, normalised(sum(scores), len(scores), config), ended))
    return sorted(found, key=lambda one: (not one.ended, -one.score))


@torch.no_grad()
def greedy_twin(model: Model[Any, Any], source: Sequence[int], limit: int) -> list[int]:
    """One sentence, from scratch by teacher forcing at each step."""
    said: list[int] = []
    while len(said) < limit:
        scores = forced(model, source, [said])[0, -1]
        scores[[PAD, BOS]] = float("-inf")
        token = int(scores.argmax())
        if token == EOS:
            break
        said.append(token)
    return said


class Cheap(NamedTuple):
    """A step function without a model: logits from a number that mixes the sentence with everything said so far."""

    words: int
    sharpness: float = 3.0
    ending: float = 0.0  # added to the logit of EOS

    def step(self, tokens: Tensor, memory: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        state = (state * 7.31 + tokens.unsqueeze(1) * 0.618 + memory).remainder(1.0)
        waves = torch.arange(1, self.words + 1, dtype=torch.float64) * 5.17
        logits = self.sharpness * torch.sin(waves * (state + 0.5) * 9)
        logits[:, EOS] += self.ending
        return logits, state

    def run(self, keys: Sequence[float], config: SearchConfig, limit: int | Tensor = 8, **more: Any) -> list[Result]:
        memory = torch.tensor(keys, dtype=torch.float64).unsqueeze(1)
        limits = limit if isinstance(limit, Tensor) else torch.full((len(keys),), limit)
        return search(self.step, memory, torch.zeros_like(memory), config, limits=limits, **more)


def general() -> dict[str, Any]:
    """What makes the search take its general loop, and changes nothing else: only that one can keep a record."""
    return {"record": True}


def keys(count: int, seed: int = 0) -> list[float]:
    return torch.rand(count, generator=torch.Generator().manual_seed(seed)).tolist()


def said(results: Sequence[Result]) -> list[list[list[int]]]:
    return [[hypothesis.tokens for hypothesis in result.hypotheses] for result in results]


def holds(tokens: Sequence[int], phrase: Sequence[int]) -> bool:
    """Whether the phrase stands in the sentence, by way of text."""
    return f" {' '.join(map(str, phrase))} " in f" {' '.join(map(str, tokens))} "
