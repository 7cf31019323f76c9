"""One picture of an utterance: its spectrogram, where it looked, and its style (matplotlib, the extra `plot`)."""

import io
from pathlib import Path

import numpy as np

from seq2see.atomic import write_file
from seq2see.errors import MissingExtraError
from seq2see.look import AttentionMap
from seq2see.look.draw.picture_format import picture_format
from seq2see.speech.speech import Speech

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from seq2see.look.draw.fonts import drawable, font
except ModuleNotFoundError:
    raise MissingExtraError("A picture of speech", "plot") from None

_TITLE = 100
_NAMES = 80  # more letters than this are thinned out


def save(speech: Speech, path: Path) -> None:
    """Written whole or not at all; the suffix is the format."""
    form = picture_format(path)
    buffer = io.BytesIO()
    picture(speech).savefig(buffer, format=form, dpi=130)
    write_file(path, buffer.getvalue())


def picture(speech: Speech) -> Figure:
    """Sound above, letters below, on one axis of time; the tokens beside."""
    tokens = speech.style is not None
    figure = Figure(figsize=(12 if tokens else 9, 7), layout="constrained")
    grid = figure.add_gridspec(2, 2 if tokens else 1, width_ratios=[3, 1] if tokens else [1])
    _sound(figure.add_subplot(grid[0, 0]), speech)
    _letters(figure.add_subplot(grid[1, 0]), speech)
    if speech.style is not None:
        _tokens(figure.add_subplot(grid[:, 1]), speech.style)
    title = "".join(
        drawable(letter) for letter in speech.text[:_TITLE]
    )  # drawable keeps names short, a title may be long
    figure.suptitle(title, x=0.01, ha="left", fontproperties=font(11), usetex=False, parse_math=False)
    return figure


def _sound(axes: Axes, speech: Speech) -> None:
    seconds = speech.seconds
    axes.imshow(speech.mel.T, origin="lower", aspect="auto", extent=(0, seconds, 0, speech.mel.shape[1]), cmap="magma")
    axes.set_ylabel("mel band", fontproperties=font(9))
    axes.set_title("spectrogram", fontproperties=font(9), loc="left")


def _letters(axes: Axes, speech: Speech) -> None:
    weights = speech.alignment.weights[0, 0]
    letters = len(speech.alignment.source)
    axes.imshow(
        weights.T, origin="lower", aspect="auto", extent=(0, speech.seconds, 0, letters), cmap="Blues", vmin=0, vmax=1
    )
    step = -(-letters // _NAMES)
    places = range(0, letters, step)
    axes.set_yticks([place + 0.5 for place in places])
    names = [drawable(speech.alignment.source.tokens[place]) for place in places]
    axes.set_yticklabels(names, fontproperties=font(7), usetex=False, parse_math=False)
    axes.set_xlabel("seconds", fontproperties=font(9))
    axes.set_title("which letter each step looked at", fontproperties=font(9), loc="left")


def _tokens(axes: Axes, style: AttentionMap) -> None:
    """(heads, tokens) with the numbers that the command line shows too."""
    weights = style.weights[0, :, 0]
    axes.imshow(weights.T, aspect="auto", cmap="Greens", vmin=0, vmax=1)
    for (head, token), weight in np.ndenumerate(weights):
        axes.text(
            head,
            token,
            f"{weight:.2f}",
            ha="center",
            va="center",
            color="white" if weight > 0.6 else "black",
            fontsize=8,
        )
    axes.set_xticks(range(weights.shape[0]), [f"head {head}" for head in style.heads], fontproperties=font(8))
    axes.set_yticks(range(weights.shape[1]), list(style.source.tokens), fontproperties=font(8))
    axes.set_title("style tokens", fontproperties=font(9), loc="left")
