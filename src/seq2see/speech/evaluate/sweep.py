"""Style tokens by hand: what happens to pitch and pace when the weight of one token grows.

A token's weight is set in every head, or in one; the others share the rest as they do in a given style.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from seq2see.atomic import check_output, write_file
from seq2see.errors import ConfigError, MissingExtraError
from seq2see.look import AttentionMap
from seq2see.look.draw.picture_format import picture_format
from seq2see.speech.evaluate.measures import cents, f0, middle_pitch
from seq2see.speech.synthesis import Voice

WEIGHTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_STEADY_CENTS, _STEADY_SHARE = 10.0, 0.01  # changes the wrong way that nobody hears


class Point(NamedTuple):
    """What the texts sound like with one weight."""

    weight: float
    pitch: float | None  # Hz, the median over the texts that are voiced; None for a whisper
    seconds: float  # of all texts together


@dataclass(frozen=True)
class Sweep:
    """One token, from nothing to everything."""

    token: int
    head: int | None  # None: all of them
    points: tuple[Point, ...]

    @property
    def name(self) -> str:
        return f"token {self.token}" if self.head is None else f"token {self.token}, head {self.head}"

    @property
    def intervals(self) -> list[float]:
        """Cents from the first weight on; as far as it is voiced throughout, else nothing."""
        pitches = [point.pitch for point in self.points]
        voiced = [pitch for pitch in pitches if pitch is not None]
        return [cents(pitch, voiced[0]) for pitch in voiced] if len(voiced) == len(pitches) else []

    @property
    def paces(self) -> list[float]:
        """Speed from the first weight on: 1.2 is a fifth faster."""
        return [self.points[0].seconds / point.seconds for point in self.points]

    @property
    def pitch_change(self) -> float:
        """Cents from the first weight to the last if it goes one way all along, else 0."""
        cents = self.intervals
        return cents[-1] if cents and steady(cents, _STEADY_CENTS) else 0.0

    @property
    def pace_change(self) -> float:
        """Share of the speed, such as 0.2 or -0.15, if it goes one way all along, else 0."""
        return self.paces[-1] - 1 if steady(self.paces, _STEADY_SHARE) else 0.0


def steady(values: Sequence[float], slack: float) -> bool:
    """Whether they rise or fall all along, but for what nobody hears."""
    changes = np.diff(values)
    return bool((changes >= -slack).all() or (changes <= slack).all())


def sweep(
    voice: Voice,
    texts: Sequence[str],
    *,
    style: AttentionMap | None = None,
    by_head: bool = False,
    weights: Sequence[float] = WEIGHTS,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> list[Sweep]:
    """Every token (of every head) over all weights; the others as in `style`, or in the mean of all styles.

    That mean lies between voices and a whisper, if the corpus has both, and may have no pitch.
    """
    if voice.model.style is None:
        raise ConfigError(f"{voice.path}: this voice was trained without style tokens")
    if not texts:
        raise ConfigError("a sweep needs a text to say")
    heads, many = voice.model.style.mean.shape
    chosen = [(head, token) for head in (range(heads) if by_head else [None]) for token in range(many)]
    sweeps = []
    for place, (head, token) in enumerate(chosen):
        points = tuple(_point(voice, texts, style, head, token, weight) for weight in weights)
        sweeps.append(Sweep(token, head, points))
        advance(place + 1, len(chosen))
    return sweeps


def _point(
    voice: Voice, texts: Sequence[str], style: AttentionMap | None, head: int | None, token: int, weight: float
) -> Point:
    name = token if head is None else (head, token)
    spoken = list(voice.speak_all(texts, style=style, tokens={name: weight}))
    pitches = [middle_pitch(f0(speech.samples, speech.rate)) for speech in spoken]
    voiced = [pitch for pitch in pitches if pitch is not None]
    pitch = float(np.median(voiced)) if 2 * len(voiced) > len(spoken) else None
    return Point(weight, pitch, sum(speech.seconds for speech in spoken))


def table(sweeps: Sequence[Sweep]) -> list[list[str]]:
    """A header, then a row for each token: where pitch and pace start and end, and whether they go one way."""
    rows = [["token", "head", "pitch from (Hz)", "to", "cents", "one way", "pace to", "one way"]]
    for token_sweep in sweeps:
        first, last = token_sweep.points[0].pitch, token_sweep.points[-1].pitch
        rows.append(
            [
                str(token_sweep.token),
                "all" if token_sweep.head is None else str(token_sweep.head),
                "-" if first is None else f"{first:.0f}",
                "-" if last is None else f"{last:.0f}",
                f"{token_sweep.intervals[-1]:+.0f}" if token_sweep.intervals else "-",
                "yes" if token_sweep.pitch_change else "no",
                f"{token_sweep.paces[-1]:.2f}",
                "yes" if token_sweep.pace_change else "no",
            ]
        )
    return rows


def save_picture(sweeps: Sequence[Sweep], path: Path) -> None:
    """Pitch and pace over the weight, every token thin, the strongest one of each thick."""
    form = picture_format(path)
    check_output(path)
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtraError("A picture of a sweep", "plot") from None
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    highest = max(sweeps, key=lambda token_sweep: abs(token_sweep.pitch_change))
    fastest = max(sweeps, key=lambda token_sweep: abs(token_sweep.pace_change))
    for token_sweep in sweeps:
        places = [point.weight for point in token_sweep.points]
        drawn = (
            (left, token_sweep.intervals, token_sweep is highest),
            (right, [100 * (pace - 1) for pace in token_sweep.paces], token_sweep is fastest),
        )
        for axes, values, chosen in drawn:
            if values:
                axes.plot(
                    places,
                    values,
                    color="#b03060" if chosen else "#9aa7b4",
                    linewidth=2.2 if chosen else 0.8,
                    marker="o" if chosen else None,
                    zorder=3 if chosen else 2,
                    label=token_sweep.name if chosen else None,
                )
    for axes, title in ((left, "pitch, cents"), (right, "pace, per cent")):
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_xlabel("weight of one token", fontsize=9)
        axes.axhline(0, color="#d5dae0", linewidth=0.8, zorder=1)
        axes.spines[["top", "right"]].set_visible(False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False, fontsize=9)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, dpi=130)
    write_file(path, buffer.getvalue())
