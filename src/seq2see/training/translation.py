"""The text-to-text task: batches of pairs in, cross-entropy out, validation by loss and by what is really said."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seq2see import search
from seq2see.data.batch import Batch
from seq2see.data.loading import Loaded, Loader, make_batch, source_batch
from seq2see.data.store import Store, rows
from seq2see.errors import DataError, NumericError
from seq2see.evaluate import METRICS, score
from seq2see.look import attention_map
from seq2see.look.map.packing import fit, pack
from seq2see.models import Model, Output
from seq2see.runs.config import TrainingConfig
from seq2see.text import Tokenizer
from seq2see.training.loop.clock import clock_of
from seq2see.training.loop.task import Loss, Validation
from seq2see.training.loss import alignment_loss, cross_entropy
from seq2see.training.validation_maps import LARGEST
from seq2see.vocabulary import EOS, UNK

SAMPLES = 3  # sentences shown at each validation
_LONGEST_PICTURE = 60  # pieces on a side of the one whose attention is kept
_DECODE_ROWS = 64
_PROBED_STEPS = 16  # of a search that is timed
_SAMPLE_STEPS = 300  # of a search whose result is only shown


class TranslationTask:
    """Training on pairs; implements loop.Task."""

    def __init__(
        self,
        model: Model[Any, Any],
        loader: Loader,
        valid: Store,
        config: TrainingConfig,
        device: torch.device,
        valid_pairs: int,
    ) -> None:
        self._model = model
        self.loader = loader
        self.valid = valid
        self.config = config
        self.device = device
        self.valid_pairs = min(valid_pairs, len(valid))

    @property
    def model(self) -> Model[Any, Any]:
        return self._model

    def batches(self, epoch: int, first: int) -> Iterator[Loaded]:
        return self.loader.load(epoch, first)

    def count(self, epoch: int) -> int:
        return self.loader.order.count(epoch)

    def positions(self, item: Loaded) -> int:
        return int(item.batch.target_mask.sum()) if item.counts else 0

    def pairs(self, item: Loaded) -> Sequence[int]:
        return [int(pair) for pair in item.pairs]

    def loss(self, item: Loaded, step: int) -> Loss:
        batch = item.batch if self.device.type == "cpu" else item.batch.to(self.device)
        if self.config.scheduled_sampling:
            batch = self._with_own_guesses(batch)
        if self.config.word_dropout:
            batch = without_words(batch, self.config.word_dropout)
        guided = self.config.guided_alignment > 0 and item.links is not None
        output = self.model(batch, need_weights=guided)
        total = cross_entropy(output, batch.target_out, batch.target_mask, self.config.label_smoothing)
        if not guided or item.links is None:
            return Loss(total, {})
        aligned = alignment_loss(output.looks, item.links.to(self.device))
        return Loss(total + self.config.guided_alignment * aligned, {"alignment": float(aligned.detach())})

    def _with_own_guesses(self, batch: Batch) -> Batch:
        """Scheduled sampling in two passes (Bengio 2015; parallel as in Duckworth 2019): some of the words that the
        decoder reads are what the model itself would have said there."""
        with torch.no_grad():
            guesses = self.model(batch).logits.argmax(dim=-1)
        guessed = torch.cat([batch.target_in[:, :1], guesses[:, :-1]], dim=1)  # (B, T)
        own = _some_words(batch, self.config.scheduled_sampling)
        return replace(batch, target_in=torch.where(own, guessed, batch.target_in))

    @torch.no_grad()
    def validate(self) -> Validation:
        self.model.eval()
        scores = {"loss": self._valid_loss()}
        metric = self.config.stop_metric
        places = range(self.valid_pairs) if metric != "loss" else self._sample_places
        sources, references = self._texts(places)
        longest = None if metric != "loss" else _SAMPLE_STEPS
        outputs = translate(self.model, self.loader.tokenizers, sources, self.device, longest)
        for name in METRICS:
            if metric != "loss" and (name == metric or name == "exact"):
                scores[name] = score(name, outputs, references)
        by_place = dict(zip(places, zip(sources, references, outputs, strict=True), strict=True))
        samples = [by_place[place] for place in self._sample_places]
        return Validation(scores, samples, self._picture(samples))

    @torch.no_grad()
    def validation_seconds(self) -> float:
        """About how long a validation takes once the model says as much as the references do.

        Measured by one batch and a few steps of its search: a fresh model does not know where to end, and whole
        searches over long lines would take longer than a short time limit.
        """
        self.model.eval()
        lengths = np.sort(self.valid.target.lengths(np.arange(self.valid_pairs)))
        batches = [lengths[start : start + _DECODE_ROWS] for start in range(0, len(lengths), _DECODE_ROWS)]
        places = range(min(_DECODE_ROWS, self.valid_pairs))
        sources, _ = self._texts(places)
        clock = clock_of(self.config)
        began = clock()
        self._loss_of(places)
        source, mask = source_batch(self.loader.tokenizers[0], sources)
        source, mask = source.to(self.device), mask.to(self.device)
        memory = self.model.encode(source, mask)
        state = self.model.start(memory)
        encoded = clock()
        limits = search.length_limits(mask).clamp(max=_PROBED_STEPS)
        hypotheses = search.greedy(self.model.step, memory, state, limits)
        step = (clock() - encoded) / max(1, *(len(hypothesis.token_scores) for hypothesis in hypotheses))
        return len(batches) * (encoded - began) + step * sum(int(batch[-1]) + 1 for batch in batches)

    @cached_property
    def _sample_places(self) -> list[int]:
        sources, _ = self._texts(range(self.valid_pairs))
        return spread_places(sources, SAMPLES)

    def _picture(self, samples: Sequence[tuple[str, str, str]]) -> Mapping[str, Any] | None:
        """The cross-attention of saying the reference of one of them: its rows stay the same while it learns to look.

        Of the sentences that are not too long to be read at a glance, the longest; None for a family without attention.
        """
        source, target = self.loader.tokenizers
        pairs = [(source.encode(text), target.encode(reference)) for text, reference, _ in samples]
        pairs = [(read, said) for read, said in pairs if 0 < max(len(read.ids), len(said.ids)) <= _LONGEST_PICTURE]
        if not pairs:
            return None
        read, said = max(pairs, key=lambda pair: len(pair[1].ids))
        try:
            looks = self.model.look(Batch.of([[*read.ids, EOS]], [said.ids]).to(self.device))
            whole = attention_map(looks, "cross", read, said)
            if whole is None:
                return None
            (fitting,), _ = fit([whole], LARGEST)
        except (NumericError, DataError):  # weights can be finite and what comes of them not
            return None
        return {"source": read.text, "target": said.text, "map": pack(fitting)}

    def _valid_loss(self) -> float:
        starts = range(0, self.valid_pairs, _DECODE_ROWS)
        sums = [self._loss_of(range(start, min(start + _DECODE_ROWS, self.valid_pairs))) for start in starts]
        return sum(total for total, _ in sums) / sum(positions for _, positions in sums)

    def _loss_of(self, places: Sequence[int]) -> tuple[float, int]:
        """Of these validation pairs, summed, and over how many positions."""
        batch = make_batch(rows(self.valid.source, places), rows(self.valid.target, places)).to(self.device)
        output: Output = self.model(batch)
        total = cross_entropy(output, batch.target_out, batch.target_mask, 0.0)
        return float(total), int(batch.target_mask.sum())

    def _texts(self, places: Sequence[int]) -> tuple[list[str], list[str]]:
        """Validation pairs as text; ids decode exactly."""
        source, target = self.loader.tokenizers
        return (
            [source.decode(ids.tolist()) for ids in rows(self.valid.source, places)],
            [target.decode(ids.tolist()) for ids in rows(self.valid.target, places)],
        )


def spread_places(texts: Sequence[str], count: int) -> list[int]:
    """Places of different texts, from short ones to long ones; of few texts all, in their order."""
    first: dict[str, int] = {}
    for place, text in enumerate(texts):
        first.setdefault(text, place)
    places = list(first.values())
    if len(places) <= count:
        return places
    places.sort(key=lambda place: (len(texts[place]), place))
    return [places[(2 * number + 1) * len(places) // (2 * count)] for number in range(count)]


def without_words(batch: Batch, share: float) -> Batch:
    """Some of the words that the decoder reads are unknown to it (Bowman 2016); what it has to say stays the same.

    Who knows everything said so far can guess much of the rest without looking.
    """
    return replace(batch, target_in=batch.target_in.masked_fill(_some_words(batch, share), UNK))


def _some_words(batch: Batch, share: float) -> Tensor:
    """(B, T) True at this share of the words that the decoder reads, drawn anew; never at the begin mark."""
    drawn = (torch.rand(batch.target_in.shape, device=batch.target_in.device) < share) & batch.target_mask
    drawn[:, 0] = False
    return drawn


def translate(
    model: Model[Any, Any],
    tokenizers: tuple[Tokenizer, Tokenizer],
    texts: Sequence[str],
    device: torch.device,
    longest: int | None = None,
) -> list[str]:
    """Greedy, in batches of like length, in the order given; of each at most `longest` pieces."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    outputs = [""] * len(texts)
    for start in range(0, len(order), _DECODE_ROWS):
        places = order[start : start + _DECODE_ROWS]
        source, mask = source_batch(tokenizers[0], [texts[place] for place in places])
        source, mask = source.to(device), mask.to(device)
        memory = model.encode(source, mask)
        limits = search.length_limits(mask)
        if longest is not None:
            limits = limits.clamp(max=longest)
        hypotheses = search.greedy(model.step, memory, model.start(memory), limits)
        for place, hypothesis in zip(places, hypotheses, strict=True):
            outputs[place] = tokenizers[1].decode(hypothesis.tokens)
    return outputs
