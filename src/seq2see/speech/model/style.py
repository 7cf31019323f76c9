"""Global style tokens (Wang 2018): a recording asks a bank of learned tokens what it sounds like.

query = the reference encoder's summary of a recording, keys = values = the tokens. The weights of the heads are the
style: they can be read off a recording, averaged, or set by hand.
"""

from itertools import pairwise

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.attention import MultiHead, Prepared
from seq2see.attention.heads import merge
from seq2see.models.base import Settings


class StyleConfig(Settings):
    """The bank of tokens and who asks it."""

    tokens: int = Field(10, ge=2, description="how many styles there are to mix")
    heads: int = Field(4, ge=1, description="independent mixtures of them")
    width: int = Field(128, ge=1, description="of a token, and of all heads together")
    channels: tuple[int, ...] = Field((16, 16, 32, 32, 64, 64), description="of the reference encoder's convolutions")
    summary: int = Field(64, ge=1, description="units of the reference encoder's GRU")
    crop: int = Field(
        80, ge=16, le=100_000, description="frames of a recording seen at once: too few to carry its words"
    )
    sharpness: float = Field(2.0, gt=0, description="what the scores are multiplied with")

    @model_validator(mode="after")
    def heads_divide(self) -> "StyleConfig":
        if self.width % self.heads:
            raise ValueError(f"heads = {self.heads} does not divide width = {self.width}")
        return self


_LAGS = (1, 2, 4, 8)  # frames: the faster the speech, the more it changes within a few


class ReferenceEncoder(nn.Module):
    """(B, crop, mels) -> (B, summary): convolutions of stride 2 in time and frequency, then a GRU (section 3.1.1).

    Fresh convolutions answer almost the same to every recording, and what does not differ cannot be told apart by
    tokens. So plain statistics of each band (mean, spread, change within 1, 2, 4 and 8 frames) go past them, and bands
    are centred as the training recordings have them.
    """

    def __init__(self, mels: int, config: StyleConfig) -> None:
        super().__init__()
        channels = (1, *config.channels)
        self.convolutions = nn.ModuleList(_convolution(inputs, outputs) for inputs, outputs in pairwise(channels))
        # Groups of a few channels over the whole crop, which has always the same length.
        self.norms = nn.ModuleList(nn.GroupNorm(max(1, outputs // 8), outputs) for outputs in config.channels)
        bands = mels
        for _ in config.channels:
            bands = (bands + 1) // 2
        self.gru = nn.GRU(channels[-1] * bands, config.summary, batch_first=True)
        self.statistics = nn.Linear((2 + len(_LAGS)) * mels, config.summary)
        nn.init.xavier_uniform_(self.statistics.weight)
        self.norm = nn.LayerNorm(config.summary)
        self.centre: Tensor
        self.scale: Tensor
        self.register_buffer("centre", torch.full((mels,), 0.5))
        self.register_buffer("scale", torch.full((mels,), 0.2))

    @torch.no_grad()
    def adapt(self, frames: Tensor) -> None:
        """(N, mels) of the training recordings: what is usual in each band."""
        self.centre.copy_(frames.mean(dim=0))
        self.scale.copy_(frames.std(dim=0).clamp(min=1e-2))

    def forward(self, crops: Tensor) -> Tensor:
        usual = (crops - self.centre) / self.scale
        x = usual.unsqueeze(1)
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            x = F.relu(norm(convolution(x)))
        _, last = self.gru(x.permute(0, 2, 1, 3).flatten(2))  # (B, frames, channels x bands)
        changes = [(usual[:, lag:] - usual[:, :-lag]).abs().mean(dim=1) - 1 for lag in _LAGS]
        plain = torch.cat([usual.mean(dim=1), usual.std(dim=1) - 1, *changes], dim=1)
        return self.norm(last[0] + self.statistics(plain))


def _convolution(inputs: int, outputs: int) -> nn.Conv2d:
    made = nn.Conv2d(inputs, outputs, 3, stride=2, padding=1)
    nn.init.kaiming_normal_(made.weight, nonlinearity="relu")
    return made


class Style(nn.Module):
    """A recording, or weights, to a vector that is added to everything the decoder listens to."""

    def __init__(self, mels: int, outputs: int, config: StyleConfig) -> None:
        super().__init__()
        self.config = config
        self.reference = ReferenceEncoder(mels, config)
        self.tokens = nn.Parameter(torch.empty(config.tokens, config.width))
        nn.init.normal_(self.tokens, std=0.5)
        # Without biases a query twice as long gives scores twice as large, and nothing else.
        self.attention = MultiHead(config.summary, config.width, heads=config.heads, width=config.width, bias=False)
        self.output = nn.Linear(config.summary, outputs)
        # What a style has to know at least: the mean spectrum of its utterance, and how slowly it was said. Nobody
        # reads it but the loss. Without it pitch and pace are found only after the decoder has learned to need them.
        self.gist = nn.Linear(outputs, mels + 1)
        self.mean: Tensor
        self.register_buffer("mean", torch.full((config.heads, config.tokens), 1 / config.tokens))

    def forward(self, crops: Tensor) -> tuple[Tensor, Tensor]:
        """(B, crop, mels) -> vector (B, outputs), weights (B, heads, tokens)."""
        query = self.config.sharpness * self.reference(crops).unsqueeze(1)
        context, weights = self.attention.attend(query, self._prepared(len(crops)))
        assert weights is not None
        return torch.tanh(self.output(context.squeeze(1))), weights.squeeze(2)

    def weigh(self, mel: Tensor) -> Tensor:
        """(frames, mels) of a recording of any length -> (heads, tokens): the mean over overlapping crops."""
        return self(self.crops(mel))[1].mean(dim=0)

    def mix(self, weights: Tensor) -> Tensor:
        """(B, heads, tokens) -> (B, outputs): the style that these weights mean, wherever they come from."""
        values = self._prepared(len(weights)).values  # (B, heads, tokens, width / heads)
        context = self.attention.output_projection(merge(torch.matmul(weights.unsqueeze(2), values)))
        return torch.tanh(self.output(context.squeeze(1)))

    def crops(self, mel: Tensor) -> Tensor:
        """(frames, mels) -> (N, crop, mels), a quarter apart; silence behind what is too short."""
        crop, apart = self.config.crop, self.config.crop // 4
        if len(mel) <= crop:
            return F.pad(mel, (0, 0, 0, crop - len(mel))).unsqueeze(0)
        starts = torch.arange(0, len(mel) - crop + apart, apart).clamp(max=len(mel) - crop).unique()
        return torch.stack([mel[start : start + crop] for start in starts.tolist()])

    @torch.no_grad()
    def follow(self, weights: Tensor, share: float = 0.01) -> None:
        """Moves the mean style, which speaks when nobody chooses one, towards these (B, heads, tokens)."""
        self.mean.lerp_(weights.detach().mean(dim=0), share)

    def _prepared(self, batch: int) -> Prepared:
        return self.attention.prepare(torch.tanh(self.tokens).expand(batch, -1, -1))


def spread(weights: Tensor) -> Tensor:
    """(B, heads, tokens) -> a number in 0..1, to be large: all tokens used over a batch, few in each utterance.

    The entropy of the mean minus the mean of the entropies, in units of the largest possible: what the weights tell
    about which utterance it is.
    """
    tiny = torch.finfo(weights.dtype).tiny
    mean = weights.mean(dim=0)
    over_batch = -(mean * (mean + tiny).log()).sum(dim=-1)
    within = -(weights * (weights + tiny).log()).sum(dim=-1).mean(dim=0)
    return (over_batch - within).mean() / torch.log(torch.tensor(float(weights.size(-1))))
