"""The heatmap of an attention map as a picture: SVG, PNG, PDF, drawn by matplotlib (the extra `plot`).

One head: names on both sides, a colour bar, a star on the text that each row looked at most. Several: a grid of small
maps. Everything is set on the figure itself; matplotlib's settings (rcParams) are not touched.
"""

import io
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from seq2see.errors import MissingExtraError
from seq2see.look.draw.picture_format import PictureFormat
from seq2see.look.map.attention_map import AttentionMap
from seq2see.look.map.side import Side

try:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

    from seq2see.look.draw.fonts import drawable, font
except ModuleNotFoundError:
    raise MissingExtraError("A picture of a map", "plot") from None

_CELL = 0.34  # inches for a token
_LARGEST = 20.0  # inches for all tokens of a side, however many they are
_NAMES = 60  # more names than this on a side are thinned out
_SMALL = 1.9  # inches for one map in a grid
_LETTERS, _SMALL_LETTERS = 10.0, 6.0  # points
_LETTER = 0.05  # inches for a column of small letters
_READABLE = 0.11  # inches for a name in a grid; with less there are no names
_IMAGE = 6_000  # cells of a picture up to which each is a shape, sharp at any size; more become images
_COLOURS = "Blues"
_STAR = "#d1495b"
_DPI = 150
_NO_DATE: dict[PictureFormat, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


def render(attention: AttentionMap, form: PictureFormat) -> bytes:
    """The file: the same bytes for the same map."""
    buffer = io.BytesIO()
    picture(attention).savefig(buffer, format=form, dpi=_DPI, metadata=_NO_DATE[form])
    return _numbered(buffer.getvalue()) if form == "svg" else buffer.getvalue()


def picture(attention: AttentionMap) -> Figure:
    """A matplotlib Figure: one map, or a grid of them if there are several layers or heads."""
    figure = _single(attention) if attention.weights.shape[:2] == (1, 1) else _grid(attention)
    figure.suptitle(attention.title, x=0.01, ha="left", fontproperties=font(11), usetex=False, parse_math=False)
    if attention.footnote:
        lines = drawable(attention.footnote, longest=200).replace("; ", ";\n")
        figure.supxlabel(lines, x=0.01, ha="left", fontproperties=font(8), usetex=False, parse_math=False)
    return figure


def _single(attention: AttentionMap) -> Figure:
    down, across = (min(_LARGEST, max(4, n) * _CELL) for n in (len(attention.target), len(attention.source)))
    hidden = attention.hidden
    widths = [across, 0.15] if hidden is None else [across, 0.7, 0.15]
    figure = Figure(figsize=(sum(widths) + 2.0, down + 1.7), layout="constrained")
    axes, *beside = figure.subplots(1, len(widths), width_ratios=widths)
    mesh = _heat(axes, attention.weights[0, 0], attention.weights)
    _name_columns(axes, attention.source, _LETTERS, above=True)
    _name_rows(axes, attention.target, _LETTERS)
    _stars(axes, attention.peaks()[0, 0])
    if hidden is not None:
        _hidden_bars(beside[0], hidden[0, 0])
    _colour_bar(figure, mesh, beside[-1])
    return figure


def _grid(attention: AttentionMap) -> Figure:
    """Names stand at the outer maps, if they can be read there. Margins are reckoned, for matplotlib's own reckoning
    takes many seconds for dozens of maps."""
    layers, heads = attention.weights.shape[:2]
    size = min(_SMALL, _LARGEST / max(layers, heads))
    readable = max(len(attention.source), len(attention.target)) * _READABLE <= size
    left, bottom = (0.2 + readable * _longest(side) * _LETTER for side in (attention.target, attention.source))
    bottom += 0.4 * bool(attention.footnote)
    width, height = left + heads * size + 1.0, bottom + layers * size + 0.7
    figure = Figure(figsize=(width, height))
    inside = {"left": left / width, "right": 1 - 1.0 / width, "bottom": bottom / height, "top": 1 - 0.7 / height}
    every = figure.subplots(layers, heads, squeeze=False, gridspec_kw={**inside, "wspace": 0.06, "hspace": 0.16})
    for (i, j), axes in np.ndenumerate(every):
        mesh = _heat(axes, attention.weights[i, j], attention.weights)
        name = f"layer {attention.layers[i]}, head {attention.heads[j]}"
        axes.set_title(name, fontproperties=font(7), usetex=False, pad=3)
        axes.set(xticks=[], yticks=[])
        if readable and i == layers - 1:
            _name_columns(axes, attention.source, _SMALL_LETTERS, above=False)
        if readable and j == 0:
            _name_rows(axes, attention.target, _SMALL_LETTERS)
    tall = min(layers * size, 6.0) / height
    beside = figure.add_axes((1 - 0.8 / width, inside["top"] - tall, 0.15 / width, tall))
    _colour_bar(figure, mesh, beside)
    return figure


def _heat(axes: Axes, weights: NDArray[np.float32], every: NDArray[np.float32]) -> QuadMesh:
    """One map of `every` in the picture, with colours that mean the same in each; the first row on top."""
    mesh = axes.pcolormesh(weights, cmap=_COLOURS, vmin=0.0, vmax=float(every.max()) or 1.0)
    mesh.set_rasterized(every.size > _IMAGE)
    axes.set(xlim=(0, weights.shape[1]), ylim=(weights.shape[0], 0))
    for spine in axes.spines.values():
        spine.set(linewidth=0.5, color="0.7")
    axes.tick_params(length=0)
    return mesh


def _name_columns(axes: Axes, side: Side, size: float, *, above: bool) -> None:
    places, names = _names(side)
    axes.set_xticks([place + 0.5 for place in places])
    turned = {"rotation": 55, "rotation_mode": "anchor", "ha": "left"} if above else {"rotation": 90}
    axes.set_xticklabels(names, fontproperties=font(size), usetex=False, parse_math=False, **turned)
    axes.tick_params(axis="x", top=False, labeltop=above, labelbottom=not above, pad=3)


def _name_rows(axes: Axes, side: Side, size: float) -> None:
    places, names = _names(side)
    axes.set_yticks([place + 0.5 for place in places])
    axes.set_yticklabels(names, fontproperties=font(size), usetex=False, parse_math=False)


def _names(side: Side) -> tuple[list[int], list[str]]:
    """Every token, or every n-th with its number when they are too many to read."""
    step = -(-len(side) // _NAMES)
    places = list(range(0, len(side), step))
    names = [drawable(side.tokens[place]) for place in places]
    return places, names if step == 1 else [f"{name}  {place}" for place, name in zip(places, names, strict=True)]


def _stars(axes: Axes, peaks: NDArray[np.intp]) -> None:
    rows = np.flatnonzero(peaks >= 0)
    size = 36 if len(peaks) <= _NAMES else 4
    axes.scatter(peaks[rows] + 0.5, rows + 0.5, marker="*", s=size, color=_STAR, linewidths=0)


def _hidden_bars(axes: Axes, hidden: NDArray[np.float32]) -> None:
    bars = axes.barh(np.arange(len(hidden)) + 0.5, hidden, height=0.7, color="0.85")
    if len(hidden) <= _NAMES:
        names = [f"{share:.0%}" for share in hidden]
        axes.bar_label(bars, names, padding=2, fontproperties=font(7), usetex=False)
    axes.set(xlim=(0, 1.6), ylim=(len(hidden), 0), yticks=[], xticks=[])
    axes.set_title("hidden", fontproperties=font(8), usetex=False, pad=4, loc="left")
    for name, spine in axes.spines.items():
        spine.set(visible=name == "left", linewidth=0.5, color="0.7")


def _colour_bar(figure: Figure, mesh: QuadMesh, axes: Axes) -> None:
    bar = figure.colorbar(mesh, cax=axes)
    bar.outline.set_visible(False)
    axes.tick_params(length=0)
    for label in axes.get_yticklabels():
        label.set(fontproperties=font(8), usetex=False)


def _longest(side: Side) -> int:
    """The widest name, in columns."""
    return max(cell_len(drawable(token)) for token in side.tokens)


def _numbered(svg: bytes) -> bytes:
    """Ids in the order in which they come, where matplotlib draws them at random."""
    text = svg.decode()
    ids = dict.fromkeys(re.findall(r'id="([A-Za-z]+[0-9a-f]{10})"', text))
    names = {name: f"i{number}" for number, name in enumerate(ids)}
    return re.sub(r"[A-Za-z]+[0-9a-f]{10}", lambda match: names.get(match[0], match[0]), text).encode()
