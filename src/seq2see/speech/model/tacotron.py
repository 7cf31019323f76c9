"""Tacotron (Wang 2017) on the shared attention: letters in, a log-mel spectrogram out, and where each step looked.

    letters (B, S) ─▶ encoder ─▶ memory (B, S, M) + style ─▶ attention GRU ⟲ ─▶ two residual GRUs ─▶ frames ─▶ post-net

Letters: B batch, S letters, T decoder steps, r frames that each step makes (reduction), F = T r frames.
While training no step waits for another if there is an alignment to follow (aligner.py). Else only the attention GRU
has to go step by step: what stands behind it feeds nothing back to it but the frames, which are known then.
"""

from typing import Literal, NamedTuple

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see import masks
from seq2see.attention import Additive, LocationAware, Mechanism, Prepared
from seq2see.errors import ShapeError
from seq2see.models.base import Settings
from seq2see.speech.audio import AudioConfig
from seq2see.speech.corpus.aligner import Aligner
from seq2see.speech.corpus.letters import LettersConfig
from seq2see.speech.model.cbhg import Cbhg, Convolution
from seq2see.speech.model.curriculum import LessonsConfig
from seq2see.speech.model.style import Style, StyleConfig

_LONGEST = 6  # decoder steps for each letter, after which it is cut off: slow speech needs about two
_SPARE = 20
_RESTED = 4  # steps of looking at the end mark after which an utterance is over, whatever the stop output says
_LEVEL = 0.45  # of speech, on average: where frames start before anything is learned


class TacotronConfig(Settings):
    """The sizes of a voice; small enough to learn on one core."""

    family: Literal["tacotron"] = "tacotron"
    alphabet: int = Field(2, ge=2, description="how many letters there are; found in the texts")
    letters: LettersConfig = Field(default_factory=LettersConfig)
    lessons: LessonsConfig = Field(default_factory=LessonsConfig)
    audio: AudioConfig = Field(default_factory=AudioConfig)
    style: StyleConfig | None = Field(default_factory=StyleConfig, description="global style tokens; none: one style")
    embedding: int = Field(128, ge=1, description="width of a letter")
    encoder: int = Field(64, ge=1, description="width inside the encoder; the memory is twice as wide")
    bank: int = Field(6, ge=1, description="widest convolution of the encoder's bank")
    highways: int = Field(2, ge=0, description="highway layers of the encoder")
    attention: Literal["location_aware", "additive"] = Field(
        "location_aware", description="location_aware, or additive as in the paper"
    )
    attention_width: int = Field(128, ge=1, description="hidden units of the score")
    filters: int = Field(16, ge=1, description="of location_aware: features of the earlier weights")
    kernel: int = Field(15, ge=1, description="of location_aware: letters that a feature spans, odd")
    sharpening: float = Field(
        1.0, ge=1, description="how far attention makes up its mind while speaking: its scores are multiplied with it"
    )
    decoder: int = Field(192, ge=1, description="units of each of the decoder's GRUs")
    prenet: int = Field(64, ge=1, description="width of the pre-net that the frame before goes through")
    reduction: int = Field(4, ge=1, description="frames made in one step of the decoder")
    postnet: int = Field(96, ge=1, description="channels of the post-net")
    aligner: int = Field(64, ge=1, description="width of the net that finds the letters in a recording, for training")
    dropout: float = Field(0.5, ge=0, lt=1, description="in the pre-net of the frame before, while training")
    letter_dropout: float = Field(0.1, ge=0, lt=1, description="in the pre-net of the letters, while training")


class DecodedFrames(NamedTuple):
    """What came out, behind the end as well."""

    frames: Tensor  # (B, F, mels) before the post-net
    refined: Tensor  # (B, F, mels) after it
    stop: Tensor  # (B, T) logits: the utterance is over before this step
    weights: Tensor  # (B, T, S)
    style: Tensor | None  # (B, heads, tokens)
    summary: Tensor | None  # (B, mels + 1): mean spectrum and pace, predicted from the style alone


class SynthesizedMel(NamedTuple):
    """One finished utterance."""

    mel: Tensor  # (frames, mels)
    weights: Tensor  # (T, S)
    stopped: bool  # by itself, rather than cut off


class DecoderState(NamedTuple):
    """Where the decoder stands between two steps."""

    query: Tensor  # (B, D) the attention GRU
    context: Tensor  # (B, M) of the step before
    history: Tensor  # of the attention: its earlier weights
    first: Tensor  # (1, B, D) the first residual GRU
    second: Tensor  # (1, B, D)


class PreNet(nn.Module):
    """Two layers with dropout: a bottleneck (section 3.1)."""

    def __init__(self, inputs: int, hidden: int, outputs: int, dropout: float) -> None:
        super().__init__()
        self.wide, self.narrow = nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        wide = F.dropout(F.relu(self.wide(x)), self.dropout, self.training)
        return F.dropout(F.relu(self.narrow(wide)), self.dropout, self.training)


class MelDecoder(nn.Module):
    """From memory to frames, r at a time."""

    def __init__(self, config: TacotronConfig) -> None:
        super().__init__()
        memory, units, mels = 2 * config.encoder, config.decoder, config.audio.mels
        self.reduction, self.mels, self.sharpening = config.reduction, mels, config.sharpening
        self.prenet = PreNet(mels, 2 * config.prenet, config.prenet, config.dropout)
        self.listening = nn.GRU(config.prenet + memory, units, batch_first=True)
        self.attention = _attention(config, units, memory)
        self.joined = nn.Linear(units + memory, units)
        self.first, self.second = (nn.GRU(units, units, batch_first=True) for _ in range(2))
        # The context goes to the frames directly as well, so that letters and style are learned before the GRUs are.
        self.frames = nn.Linear(units + memory, config.reduction * mels)
        self.stop = nn.Linear(units + memory, 1)
        nn.init.constant_(self.frames.bias, _LEVEL)
        nn.init.constant_(self.stop.bias, -2.0)  # hardly any step is the last one

    def start(self, prepared: Prepared) -> DecoderState:
        batch, _, _, memory = prepared.values.shape
        query = prepared.values.new_zeros(batch, self.listening.hidden_size)
        context = prepared.values.new_zeros(batch, memory)
        residual = query.unsqueeze(0)
        return DecoderState(query, context, self.attention.begin(prepared), residual, residual)

    def attend(self, previous: Tensor, prepared: Prepared, state: DecoderState) -> tuple[DecoderState, Tensor]:
        """One step of the part that feeds itself: (B, prenet) -> the new state, weights (B, 1, 1, S)."""
        inputs = torch.cat([previous, state.context], dim=1).unsqueeze(1)  # (B, 1, prenet + M)
        query = self.listening(inputs, state.query.unsqueeze(0))[0]  # (B, 1, D)
        context, weights = self.attention.attend(query, prepared, history=state.history)  # (B, 1, M), (B, 1, 1, S)
        assert weights is not None
        if not self.training and self.sharpening != 1:
            weights = sharpened(weights, self.sharpening)
            context = torch.matmul(weights, prepared.values).squeeze(1)  # (B, 1, M)
        history = self.attention.remember(state.history, weights)
        return state._replace(query=query.squeeze(1), context=context.squeeze(1), history=history), weights

    def decode(self, attended: Tensor, state: DecoderState) -> tuple[Tensor, Tensor, DecoderState]:
        """The part behind attention, any number of steps: query and context (B, T, D + M) -> frames (B, T r, mels),
        stop (B, T), the new state."""
        x = self.joined(attended)  # (B, T, D)
        residual, first = self.first(x, state.first)
        x = x + residual
        residual, second = self.second(x, state.second)
        x = x + residual
        context = attended[..., -state.context.size(1) :]  # (B, T, M)
        outputs = torch.cat([x, context], dim=-1)  # (B, T, D + M)
        frames = self.frames(outputs).unflatten(-1, (self.reduction, self.mels))  # (B, T, r, mels)
        stop = self.stop(outputs).squeeze(-1)  # (B, T)
        return frames.flatten(1, 2), stop, state._replace(first=first, second=second)

    def forced(
        self, previous: Tensor, prepared: Prepared, alignment: Tensor, own: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The same as `forward` along a given alignment (B, T, S), so that no step waits for another.

        The weights are what attention would answer at each step, had it followed the alignment until then. Rows of the
        batch that are `own`, (B,) True, follow these weights instead, in a second pass: the truth with the faults that
        attention makes, as it will meet them when it speaks.
        """
        inputs = self.prenet(previous)  # (B, T, prenet)
        if own is not None and bool(own.any()):
            answered = self._own_alignment(inputs[own], _chosen(prepared, own), alignment[own])
            alignment = alignment.index_put((own,), answered)
        query, context, weights = self._attend_along(inputs, prepared, alignment)
        frames, stop, _ = self.decode(torch.cat([query, context], dim=-1), self.start(prepared))
        return frames, stop, weights

    @torch.no_grad()
    def _own_alignment(self, inputs: Tensor, prepared: Prepared, alignment: Tensor) -> Tensor:
        """(B, T, S): where attention itself would look at each step beside this alignment."""
        return sharpened(self._attend_along(inputs, prepared, alignment)[2], self.sharpening)

    def _attend_along(self, inputs: Tensor, prepared: Prepared, alignment: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(B, T, prenet), (B, T, S) -> queries (B, T, D), contexts (B, T, M), attention's own weights (B, T, S)."""
        batch, steps, letters = alignment.shape
        context = torch.matmul(alignment, prepared.values[:, 0])  # (B, T, M)
        before = F.pad(context[:, :-1], (0, 0, 1, 0))  # (B, T, M) of the step before
        query, _ = self.listening(torch.cat([inputs, before], dim=-1))  # (B, T, D)
        earlier = F.pad(alignment[:, :-1], (0, 0, 1, 0))  # (B, T, S)
        history = torch.stack([earlier, earlier.cumsum(dim=1)], dim=2).view(batch * steps, 1, 2, letters)
        queries = query.reshape(batch * steps, 1, -1)  # (B T, 1, D): every step is a row of its own
        _, weights = self.attention.attend(queries, _repeated(prepared, steps), history=history)
        assert weights is not None
        return query, context, weights.view(batch, steps, letters)

    def forward(self, previous: Tensor, prepared: Prepared) -> tuple[Tensor, Tensor, Tensor]:
        """Known frames (B, T, mels), one before each step -> frames (B, T r, mels), stop (B, T), weights (B, T, S)."""
        state = self.start(prepared)
        attended, rows = [], []
        for inputs in self.prenet(previous).unbind(dim=1):  # (B, prenet)
            state, weights = self.attend(inputs, prepared, state)
            attended += [state.query, state.context]
            rows.append(weights)
        steps = torch.cat(attended, dim=1).unflatten(1, (len(rows), -1))  # (B, T, D + M)
        frames, stop, _ = self.decode(steps, state)
        return frames, stop, torch.cat(rows, dim=2).squeeze(1)

    def step(
        self, previous: Tensor, prepared: Prepared, state: DecoderState
    ) -> tuple[Tensor, Tensor, Tensor, DecoderState]:
        """The frame before (B, mels) -> frames (B, r, mels), stop (B,), weights (B, S), the new state."""
        state, weights = self.attend(self.prenet(previous), prepared, state)
        attended = torch.cat([state.query, state.context], dim=1).unsqueeze(1)  # (B, 1, D + M)
        frames, stop, state = self.decode(attended, state)
        return frames, stop.squeeze(1), weights[:, 0, 0], state


def sharpened(weights: Tensor, sharpening: float) -> Tensor:
    """Weights (..., S) whose scores had been multiplied with this number    Chorowski 2015, section 2.3.

    While it learns, attention may waver between two letters; one that speaks has to make up its mind, or it drifts on.
    """
    raised = weights.pow(sharpening)
    return raised / raised.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)


def _chosen(prepared: Prepared, rows: Tensor) -> Prepared:
    """These rows of the batch alone, (B,) True."""
    mask = None if prepared.mask is None else prepared.mask[rows]
    return Prepared(prepared.keys[rows], prepared.values[rows], mask)


def _repeated(prepared: Prepared, times: int) -> Prepared:
    """Each row of the batch this many times, one after another."""
    mask = None if prepared.mask is None else prepared.mask.repeat_interleave(times, dim=0)
    keys, values = (part.repeat_interleave(times, dim=0) for part in (prepared.keys, prepared.values))
    return Prepared(keys, values, mask)


def _attention(config: TacotronConfig, query_dim: int, key_dim: int) -> Mechanism:
    if config.attention == "additive":
        return Additive(query_dim, key_dim, hidden=config.attention_width, bias=True)
    return LocationAware(
        query_dim,
        key_dim,
        hidden=config.attention_width,
        filters=config.filters,
        kernel=config.kernel,
        cumulative=True,
    )


class PostNet(nn.Module):
    """Three convolutions over time that put right what single steps could not see (Shen 2018, section 2.2)."""

    def __init__(self, mels: int, channels: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Convolution(mels, channels, 5), Convolution(channels, channels, 5)])
        self.last = Convolution(channels, mels, 5, norm=False)

    def forward(self, frames: Tensor, present: Tensor) -> Tensor:
        x = frames
        for layer in self.layers:
            x = torch.tanh(layer(x, present))
        return frames + self.last(x, present)


class Tacotron(nn.Module):
    """A voice."""

    def __init__(self, config: TacotronConfig) -> None:
        super().__init__()
        self.config = config
        memory, mels = 2 * config.encoder, config.audio.mels
        self.embedding = nn.Embedding(config.alphabet, config.embedding, padding_idx=0)
        self.prenet = PreNet(config.embedding, config.embedding, config.encoder, config.letter_dropout)
        self.encoder = Cbhg(config.encoder, config.encoder, bank=config.bank, highways=config.highways)
        self.skip = nn.Linear(config.encoder, memory)
        self.norm = nn.LayerNorm(memory)
        self.style = None if config.style is None else Style(mels, memory, config.style)
        self.decoder = MelDecoder(config)
        self.postnet = PostNet(mels, config.postnet)
        self.aligner = Aligner(config.alphabet, mels, config.aligner)  # for training only

    def encode(self, letters: Tensor) -> Tensor:
        """(B, S) ids, 0 behind the end -> (B, S, M). Each letter also goes past the encoder, to be told apart soon."""
        if letters.dim() != 2 or bool((letters != 0).sum(dim=-1).eq(0).any()) or letters.size(1) == 0:
            raise ShapeError(
                f"letters have shape {tuple(letters.shape)}; expected (B, S), each row with a letter or more"
            )
        x = self.prenet(self.embedding(letters))  # (B, S, encoder)
        return self.norm(self.encoder(x, (letters != 0).sum(dim=1)) + self.skip(x))

    def forward(
        self,
        letters: Tensor,
        mel: Tensor,
        lengths: Tensor,
        crops: Tensor | None = None,
        withheld: Tensor | None = None,
        alignment: Tensor | None = None,
        own: Tensor | None = None,
    ) -> DecodedFrames:
        """Teacher forcing: the true frames are known, and fed where they are not withheld.

        letters     (B, S)
        mel         (B, F, mels) the truth; F a multiple of the reduction
        lengths     (B,) frames that count; behind them the post-net sees nothing
        crops       (B, crop, mels) of a reference, for a voice with style
        withheld    (B, T) True: the frame before this step is not shown to the decoder
        alignment   (B, T, S) where to look, or None: where attention itself looks
        own         (B,) with an alignment: True for looking where attention would look beside it
        """
        # vector (B, M), style (B, heads, tokens)
        vector, style = (None, None) if self.style is None or crops is None else self.style(crops)
        prepared = self._prepared(letters, vector)
        previous = self._previous(mel, withheld)
        if alignment is None:
            frames, stop, weights = self.decoder(previous, prepared)
        else:
            frames, stop, weights = self.decoder.forced(previous, prepared, alignment, own)
        refined = self.postnet(frames, _present(lengths, frames))
        summary = None if self.style is None or vector is None else self.style.gist(vector)
        return DecodedFrames(frames, refined, stop, weights, style, summary)

    @torch.inference_mode()
    def speak(
        self, letters: Tensor, style: Tensor | None = None, *, longest: int | None = None
    ) -> list[SynthesizedMel]:
        """Free running: (B, S), style weights (B, heads, tokens) or None for the mean style -> B utterances.

        Rows do not know of one another; each ends where its stop output says so or where its attention has come to
        rest on the end mark, else after `longest` steps.
        """
        prepared = self._prepared(letters, self._vector(style, len(letters)))
        sizes = (letters != 0).sum(dim=1)
        limits = sizes * _LONGEST + _SPARE
        limits = limits if longest is None else limits.clamp(max=longest)
        frames, stop, weights = self._run(prepared, limits, sizes - 1)
        stopped = stop > 0
        ends = torch.where(stopped.any(dim=1), stopped.to(torch.int8).argmax(dim=1), limits)
        by_itself = ends < limits
        ends = ends.clamp(max=limits).clamp(min=1)
        refined = self.postnet(frames, _present(ends * self.config.reduction, frames))
        return [
            SynthesizedMel(refined[row, : end * self.config.reduction], weights[row, :end, :size], bool(done))
            for row, (end, size, done) in enumerate(zip(ends.tolist(), sizes.tolist(), by_itself.tolist(), strict=True))
        ]

    def _run(self, prepared: Prepared, limits: Tensor, last: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Steps until every row has stopped: frames (B, F, mels), stop (B, T), weights (B, T, S).

        limits (B,) most steps, last (B,) the place of the end mark.
        """
        state = self.decoder.start(prepared)
        previous = prepared.values.new_zeros(len(limits), self.config.audio.mels)  # (B, mels)
        running, rested = torch.ones_like(limits, dtype=torch.bool), torch.zeros_like(limits)
        frames, stops, rows = [], [], []
        for step in range(int(limits.max())):
            made, stop, weights, state = self.decoder.step(previous, prepared, state)
            at_end = weights.gather(1, last.unsqueeze(1)).squeeze(1)  # (B,) weight of the end mark
            rested = (rested + 1) * (at_end > 0.5)
            stop = stop.masked_fill(rested > _RESTED, float("inf"))
            frames.append(made)
            stops.append(stop)
            rows.append(weights)
            previous = made[:, -1]
            running = running & (stop <= 0) & (step + 1 < limits)
            if not running.any():
                break
        return torch.cat(frames, dim=1), torch.stack(stops, dim=1), torch.stack(rows, dim=1)

    def _vector(self, style: Tensor | None, batch: int) -> Tensor | None:
        if self.style is None:
            return None
        weights = self.style.mean.expand(batch, -1, -1) if style is None else style
        return self.style.mix(weights)

    def _prepared(self, letters: Tensor, vector: Tensor | None) -> Prepared:
        memory = self.encode(letters)
        styled = memory if vector is None else memory + vector.unsqueeze(1)
        return self.decoder.attention.prepare(styled, mask=masks.padding(letters))

    def _previous(self, mel: Tensor, withheld: Tensor | None) -> Tensor:
        """(B, F, mels) -> (B, T, mels): the last frame of the step before, silence before the first."""
        lasts = mel[:, self.config.reduction - 1 :: self.config.reduction]
        previous = F.pad(lasts[:, :-1], (0, 0, 1, 0))
        return previous if withheld is None else previous.masked_fill(withheld.unsqueeze(-1), 0.0)


def _present(lengths: Tensor, frames: Tensor) -> Tensor:
    """(B,) lengths -> (B, F, 1): one where a frame counts, else zero."""
    return (torch.arange(frames.size(1), device=frames.device) < lengths[:, None]).unsqueeze(-1).to(frames.dtype)
