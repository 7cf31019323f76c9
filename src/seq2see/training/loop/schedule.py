"""The learning rate as a function of the step, and of nothing else but what a plateau has seen."""

import math

from seq2see.runs.config import TrainingConfig


def learning_rate(config: TrainingConfig, step: float, total: int, plateaus: int) -> float:
    """For update `step` (from 1) of `total`; `plateaus` is how often validation has stopped improving.

    inverse-sqrt  peak sqrt(warmup / step)               Vaswani 2017, section 5.3
    cosine        half a cosine from the peak to 1 %     Loshchilov & Hutter 2017
    linear        a line from the peak to 1 %            Li 2020, "Budgeted training"; Bergsma 2025
    plateau       the peak, times a factor whenever validation stops improving
    """
    peak, warmup = config.learning_rate, config.warmup
    if step < warmup:
        return peak * step / warmup
    match config.schedule:
        case "inverse-sqrt":
            return peak * math.sqrt(max(warmup, 1) / step)
        case "cosine":
            done = min(1.0, (step - warmup) / max(1, total - warmup))
            return peak * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
        case "linear":
            done = min(1.0, (step - warmup) / max(1, total - warmup))
            return peak * (0.01 + 0.99 * (1 - done))
        case "plateau":
            return peak * config.plateau_factor**plateaus
        case "constant":
            return peak
