"""A voice as a Task of the one training loop: batches, loss, validation.

An epoch is a draw of at most `_EPOCH` utterances from those that are shown by then, the shortest first (curriculum.py);
it follows from (seed, epoch) and from how many updates there will be.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from seq2see.speech import audio
from seq2see.speech.corpus import aligner
from seq2see.speech.corpus.recordings import Recordings
from seq2see.speech.evaluate.measures import matched
from seq2see.speech.model import curriculum
from seq2see.speech.model.style import spread
from seq2see.speech.model.tacotron import DecodedFrames, SynthesizedMel, Tacotron
from seq2see.training.loop.task import Loss, Validation

_EPOCH = 4096
_SILENCE = 2  # steps behind the end in which the voice learns that it is over
_SPOKEN_AT_ONCE = 24
_ALIGNER = 0.1  # weight of the aligner's own loss; nothing else learns from it

Rows = NDArray[np.int64]


class SpeechBatch(NamedTuple):
    """One batch."""

    rows: Rows  # (B,) which utterances
    letters: Tensor  # (B, S)
    mel: Tensor  # (B, F, mels), silence behind the end
    lengths: Tensor  # (B,) frames that were recorded
    steps: Tensor  # (B,) decoder steps that count, silence included
    paces: Tensor  # (B,) how slowly each is said


@dataclass(frozen=True)
class HeldOut:
    """What a validation says: texts that were not trained on, each with a reference of another text for its style."""

    recordings: Recordings
    references: Recordings
    sentences: Sequence[tuple[str, Sequence[int]]]  # the fixed ones that are kept as sound, with their letters


class VoiceTask:
    """Implements training.loop.task.Task for Tacotron."""

    def __init__(
        self,
        model: Tacotron,
        recordings: Recordings,
        held_out: HeldOut,
        *,
        seed: int,
        samples: Path,
        device: torch.device,
    ) -> None:
        self.model = model
        self.recordings = recordings
        self.held_out = held_out
        self.seed = seed
        self.samples = samples
        self.device = device
        self.total = 1  # updates there will be; known only after the first were timed
        self.lessons = model.config.lessons
        self._paces = torch.from_numpy(recordings.paces()).float()
        self._by_length: Rows = np.argsort(recordings.lengths, kind="stable")
        self._starts = [0]
        self.step = 0

    # ----- batches

    def plan(self, total: int) -> None:
        """How many updates there will be: the curriculum and the withheld frames go by it."""
        self.total = total
        self._starts = [0]

    def batches(self, epoch: int, first: int) -> Iterator[SpeechBatch]:
        for rows in self.order(epoch)[first:]:
            yield self.batch(rows)

    def count(self, epoch: int) -> int:
        return len(self.order(epoch))

    def order(self, epoch: int) -> list[Rows]:
        """The batches of an epoch: utterances of like length together, the batches shuffled."""
        while len(self._starts) <= epoch:
            self._starts.append(self._starts[-1] + len(self._order(len(self._starts) - 1)))
        return self._order(epoch)

    def _order(self, epoch: int) -> list[Rows]:
        return self._draw(curriculum.shown(self.lessons, self._starts[epoch] / self.total), epoch)

    def everything(self) -> list[Rows]:
        """Batches of all lengths, as at the end of training: what an update costs is measured on them."""
        return self._draw(1.0, 0)

    def _draw(self, share: float, epoch: int) -> list[Rows]:
        allowed = self._by_length[: max(1, round(share * len(self._by_length)))]
        random = np.random.default_rng((self.seed, epoch))
        drawn = random.permutation(allowed)[:_EPOCH]
        sorted_rows = drawn[np.argsort(self.recordings.lengths[drawn], kind="stable")]
        cuts = self._cuts(sorted_rows)
        batches = np.split(sorted_rows, cuts)
        return [batches[place] for place in random.permutation(len(batches))]

    def _cuts(self, rows: Rows) -> list[int]:
        cuts, start = [], 0
        for place, length in enumerate(self.recordings.lengths[rows].tolist()):
            many = place + 1 - start
            if many > 1 and (many > self.lessons.batch or many * length > self.lessons.frames):
                cuts.append(place)
                start = place
        return cuts

    def batch(self, rows: Rows) -> SpeechBatch:
        r = self.model.config.reduction
        mels = [self.recordings.mel(int(row)) for row in rows]
        lengths = torch.tensor([len(mel) for mel in mels])
        steps = (lengths + r - 1) // r + _SILENCE
        padded = torch.zeros(len(mels), int(steps.max()) * r, self.model.config.audio.mels)
        for place, mel in enumerate(mels):
            padded[place, : len(mel)] = mel
        letters = padded_ids([self.recordings.ids[int(row)] for row in rows])
        return SpeechBatch(rows, letters, padded, lengths, steps, self._paces[torch.from_numpy(rows)])

    def positions(self, item: SpeechBatch) -> int:
        return int(item.steps.sum()) * self.model.config.reduction

    def pairs(self, item: SpeechBatch) -> Sequence[int]:
        return [int(row) for row in item.rows]

    # ----- loss

    def loss(self, item: SpeechBatch, step: int) -> Loss:
        self.step = step
        done = step / self.total
        crops = None if self.model.style is None else self._crops(item)
        withheld = curriculum.withhold(self.lessons, done, len(item.rows), item.mel.size(1) // self._r)
        aligned = self._align(item) if self.lessons.aligned else None
        alignment = None if aligned is None else self._shares(aligned, item)
        own = torch.rand(len(item.rows)) < self.lessons.alone
        on = self.device
        frames = item.steps * self._r
        spoken: DecodedFrames = self.model(
            item.letters.to(on),
            item.mel.to(on),
            frames.to(on),
            None if crops is None else crops.to(on),
            withheld.to(on),
            alignment,
            own.to(on),
        )
        parts = self._parts(item, spoken, step)
        if aligned is not None and alignment is not None:
            missed = aligner.missed(spoken.weights, alignment, item.steps.to(on))
            parts |= {"aligned": self.lessons.aligned * missed, "aligner": _ALIGNER * aligned.error}
        if self.model.style is not None and spoken.style is not None and step > 0:  # 0: only being timed
            self.model.style.follow(spoken.style)
        total = torch.stack(list(parts.values())).sum() * self.positions(item)
        return Loss(total, {name: float(value.detach()) for name, value in parts.items()})

    def _align(self, item: SpeechBatch) -> aligner.AlignerOutput:
        """Where the letters of a batch are said."""
        on = self.device
        aligned: aligner.AlignerOutput = self.model.aligner(item.letters.to(on), item.mel.to(on), item.lengths.to(on))
        return aligned

    def _shares(self, aligned: aligner.AlignerOutput, item: SpeechBatch) -> Tensor:
        """(B, T, S): the same as shares of each step's frames."""
        return aligner.shares(aligned.letters, item.letters.size(1), self._r).to(self.device)

    @property
    def _r(self) -> int:
        return self.model.config.reduction

    def _crops(self, item: SpeechBatch) -> Tensor:
        """(B, crop, mels): a stretch of each recording, anew in every update."""
        assert self.model.style is not None
        crop = self.model.style.config.crop
        starts = (torch.rand(len(item.rows)) * (item.lengths - crop + 1).clamp(min=1)).long()
        wide = F.pad(item.mel, (0, 0, 0, max(0, crop - item.mel.size(1))))
        return torch.stack([mel[start : start + crop] for mel, start in zip(wide, starts.tolist(), strict=True)])

    def _parts(self, item: SpeechBatch, spoken: DecodedFrames, step: int) -> dict[str, Tensor]:
        """The parts of the loss, each a mean."""
        mel, steps = item.mel.to(self.device), item.steps.to(self.device)
        within = torch.arange(spoken.stop.size(1), device=self.device) < steps[:, None]  # (B, T)
        counted = within.repeat_interleave(self._r, dim=1).unsqueeze(-1).to(mel.dtype)
        scale = counted.sum() * mel.size(-1)
        parts = {
            "frames": _distance(spoken.frames, mel, counted) / scale,
            "refined": _distance(spoken.refined, mel, counted) / scale,
            "stop": self.lessons.stop * _stop_loss(spoken.stop, steps, within),
        }
        weight = curriculum.guidance(self.lessons, step)
        if weight:
            sizes = (item.letters != 0).sum(dim=1)
            off = curriculum.off_diagonal(spoken.weights, item.steps, sizes, self.lessons.guided_width)
            parts["diagonal"] = weight * off
        if spoken.style is not None and self.lessons.tokens:
            parts["tokens"] = -self.lessons.tokens * spread(spoken.style)
        if spoken.summary is not None and self.lessons.gist:
            parts["gist"] = self.lessons.gist * _summary_loss(spoken.summary, item)
        return parts

    # ----- validation

    def validate(self) -> Validation:
        """Free running on texts that were not trained on; the fixed sentences are written as sound."""
        self.model.eval()
        utterances = self._speak_held_out()
        scores = _scores(utterances, [self.held_out.recordings.mel(place) for place in range(len(utterances))])
        return Validation(scores, self._keep_samples())

    def _speak_held_out(self) -> list[SynthesizedMel]:
        recordings = self.held_out.recordings
        utterances: list[SynthesizedMel] = []
        for first in range(0, len(recordings), _SPOKEN_AT_ONCE):
            places = range(first, min(first + _SPOKEN_AT_ONCE, len(recordings)))
            letters = padded_ids([recordings.ids[place] for place in places]).to(self.device)
            utterances += self.model.speak(letters, self._styles(places))
        return utterances

    @torch.inference_mode()
    def _styles(self, places: Sequence[int]) -> Tensor | None:
        style = self.model.style
        if style is None:
            return None
        return torch.stack([style.weigh(self.held_out.references.mel(place).to(self.device)) for place in places])

    def _keep_samples(self) -> list[tuple[str, str, str]]:
        """The fixed sentences in the mean style, RUN/samples/step-00000500-1.wav."""
        self.samples.mkdir(parents=True, exist_ok=True)
        config = self.model.config.audio
        kept = []
        letters = padded_ids([ids for _, ids in self.held_out.sentences]).to(self.device)
        for number, (utterance, (text, _)) in enumerate(
            zip(self.model.speak(letters), self.held_out.sentences, strict=True), start=1
        ):
            path = self.samples / f"step-{self.step:08d}-{number}.wav"
            samples = audio.griffin_lim(utterance.mel.cpu(), config)
            audio.write(path, samples, config.rate)
            kept.append((text, f"{len(samples) / config.rate:.2f} s", str(path)))
        return kept


def padded_ids(ids: Sequence[Sequence[int]]) -> Tensor:
    """(B, S), zeros behind the end."""
    longest = max(len(row) for row in ids)
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in ids])


def _distance(made: Tensor, mel: Tensor, counted: Tensor) -> Tensor:
    """Absolute and squared: the first keeps spectra sharp, the second punishes what is far off."""
    difference = (made - mel) * counted
    return difference.abs().sum() + difference.square().sum()


def _stop_loss(stop: Tensor, steps: Tensor, within: Tensor) -> Tensor:
    over = torch.arange(stop.size(1), device=stop.device) >= (steps - _SILENCE)[:, None]
    return F.binary_cross_entropy_with_logits(stop[within], over[within].to(stop.dtype))


def _summary_loss(summary: Tensor, item: SpeechBatch) -> Tensor:
    """(B, mels + 1), mean spectrum and pace, against those of the recordings; no label is needed."""
    spectrum = item.mel.sum(dim=1) / item.lengths[:, None]
    spectrum, paces = spectrum.to(summary.device), item.paces.to(summary.device)
    return (summary[:, :-1] - spectrum).abs().mean() + (summary[:, -1] - paces).abs().mean()


def _scores(utterances: Sequence[SynthesizedMel], truth: Sequence[Tensor]) -> dict[str, float]:
    """Means over utterances; `loss` sums up what can go wrong, for choosing the best weights."""
    distances = [_warped(utterance.mel.cpu(), mel) for utterance, mel in zip(utterances, truth, strict=True)]
    ratios = [len(utterance.mel) / len(mel) for utterance, mel in zip(utterances, truth, strict=True)]
    duration = float(np.mean([abs(np.log(ratio)) for ratio in ratios]))
    stopped = float(np.mean([utterance.stopped for utterance in utterances]))
    distance = float(np.mean(distances))
    return {
        "loss": distance + 0.05 * duration + 0.1 * (1 - stopped),
        "mel": distance,
        "duration": duration,
        "stopped": stopped,
        "focus": float(np.mean([float(utterance.weights.amax(dim=1).mean()) for utterance in utterances])),
        "forward": float(np.mean([_forward(utterance.weights) for utterance in utterances])),
    }


def _forward(weights: Tensor) -> float:
    """(T, S) -> share of steps whose centre of attention does not go back by more than one letter."""
    centres = (weights * torch.arange(weights.size(1), device=weights.device)).sum(dim=1)
    return float((centres.diff() > -1).float().mean()) if len(centres) > 1 else 1.0


def _warped(made: Tensor, truth: Tensor) -> float:
    """Root mean square difference of two spectrograms along the best path through both."""
    return matched(made.double().numpy(), truth.double().numpy())[0] / float(np.sqrt(truth.size(1)))
