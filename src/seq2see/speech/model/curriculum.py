"""What a voice is shown, and when: short utterances first, true frames late, where to look.

Everything here is a function of how far training is, so that a resumed run goes on as if nothing had happened.
"""

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor


class LessonsConfig(BaseModel):
    """How a voice is taught, beside what `training` says for every model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    batch: int = Field(32, ge=1, description="utterances in a batch, at most")
    frames: int = Field(4000, ge=100, description="frames in a batch, padding included, at most")
    longest: int = Field(1000, ge=10, description="utterances of more frames are left out")
    short: float = Field(
        0.5, gt=0, le=1, description="share of the utterances, the shortest, that training begins with"
    )
    grow: tuple[float, float] = Field((0.05, 0.15), description="between these shares of training the others join")
    withheld: float = Field(0.6, ge=0, le=1, description="share of training without any true frame before a step")
    withheld_utterances: float = Field(0.5, ge=0, le=1, description="after that: share of utterances without")
    withheld_frames: float = Field(0.1, ge=0, le=1, description="after that: share of single frames withheld")
    guided: float = Field(
        0.0, ge=0, description="weight of the hint that attention lies on the diagonal; for a voice without aligner"
    )
    guided_fade: tuple[int, int] = Field((400, 1200), description="between these updates it fades out")
    guided_width: float = Field(0.2, gt=0, description="how far from the diagonal costs nothing yet")
    aligned: float = Field(0.1, ge=0, description="weight of looking where the aligner hears the letters")
    alone: float = Field(
        0.5, ge=0, le=1, description="of aligned: share of utterances that look where attention itself would look"
    )
    stop: float = Field(0.3, ge=0, description="weight of knowing when to stop")
    tokens: float = Field(0.01, ge=0, description="reward for telling utterances apart by their style tokens")
    gist: float = Field(0.5, ge=0, description="weight of telling mean spectrum and pace from the style alone")
    valid: int = Field(48, ge=1, description="utterances that a validation says, at most")


def shown(config: LessonsConfig, done: float) -> float:
    """The share of the utterances, the shortest first, that are shown when this share of training is done."""
    start, end = config.grow
    grown = 1.0 if done >= end else max(0.0, (done - start) / max(end - start, 1e-9))
    return config.short + (1 - config.short) * grown


def withhold(config: LessonsConfig, done: float, batch: int, steps: int) -> Tensor:
    """(B, T) True where the decoder does not see the frame before; draws from torch's generator."""
    if done < config.withheld:
        return torch.ones(batch, steps, dtype=torch.bool)
    return (torch.rand(batch, 1) < config.withheld_utterances) | (torch.rand(batch, steps) < config.withheld_frames)


def guidance(config: LessonsConfig, step: int) -> float:
    """The weight of the diagonal's hint at this update."""
    start, end = config.guided_fade
    return config.guided * min(1.0, max(0.0, (end - step) / max(1, end - start)))


def off_diagonal(weights: Tensor, steps: Tensor, letters: Tensor, width: float) -> Tensor:
    """(B, T, S), lengths (B,), (B,) -> mean over true steps of how far from the diagonal they look, 0..1.

    1 - exp(-(t / T - s / S)^2 / 2 width^2)    Tachibana 2018, section 4.1.
    """
    t = torch.arange(weights.size(1))[None, :, None] / steps[:, None, None]
    s = torch.arange(weights.size(2))[None, None, :] / letters[:, None, None]
    cost = 1 - torch.exp(-((t - s) ** 2) / (2 * width**2))
    inside = (torch.arange(weights.size(1))[None] < steps[:, None]).to(weights.dtype)
    return ((weights * cost.to(weights)).sum(dim=-1) * inside.to(weights)).sum() / inside.sum()
