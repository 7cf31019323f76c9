"""AttentionMap: what a model looked at, in every layer and head, token by token. Every drawing draws this object."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import ConfigError, DataError, ShapeError, nearest
from seq2see.look.map import measures, rollout
from seq2see.look.map.alignment import Alignment, Best, Method, align, best_head
from seq2see.look.map.side import EncodedText, Side, joined_sides, shifted, side_of
from seq2see.visible import visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from seq2see.models.base import Look

Kind = Literal["cross", "encoder", "decoder"]
Level = Literal["piece", "word"]

MEAN = "mean"
_EMPTY = 1e-6  # a row with less than this left is not scaled up: what is left is rounding
_SINK = 0.2  # of a final mark that words look at: from this share on, on average, it is a sink


@dataclass(frozen=True, eq=False, repr=False)
class AttentionMap:
    """Rows are what was being said, columns what was looked at.

    source          the columns. Encoder self-attention: the source as well; decoder: `<s>` and the target, one behind
    target          the rows
    kind            "cross", "encoder" or "decoder"
    weights         (layers, heads, target, source), float32: the model's own. A row and its `hidden` sum to one; to
                    zero where a local window has left the source, and to less than one for local-p, whose Gaussian is
                    not normalised (Luong 2015)
    level           "piece" or "word"
    hidden          (layers, heads, target): the weight of each row on columns that `without_sinks` took away
    layers          what each layer is called, heads likewise: its number in the model, or "mean"
    hidden_tokens   what stood on those columns
    rescaled        whether `rescale` made rows sum to what they were before columns were hidden
    """

    source: Side
    target: Side
    kind: Kind
    weights: NDArray[np.float32]
    level: Level = "piece"
    hidden: NDArray[np.float32] | None = None
    layers: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    hidden_tokens: tuple[str, ...] = ()
    rescaled: bool = False

    def __post_init__(self) -> None:
        _check_name("kind", self.kind, get_args(Kind))
        _check_name("level", self.level, get_args(Level))
        weights = _own(self.weights)
        if weights.ndim != 4 or 0 in weights.shape or weights.shape[2:] != (len(self.target), len(self.source)):
            raise ShapeError(
                f"weights have shape {weights.shape}; expected (layers, heads, {len(self.target)}, {len(self.source)}) "
                "from the tokens of target and source"
            )
        if not np.isfinite(weights).all() or weights.min() < 0:
            raise DataError("weights of attention must be finite and not negative")
        hidden = None if self.hidden is None else _own(self.hidden)
        if hidden is not None and hidden.shape != weights.shape[:3]:
            raise ShapeError(f"hidden has shape {hidden.shape}; expected {weights.shape[:3]}")
        if hidden is not None and (not np.isfinite(hidden).all() or hidden.min() < 0):
            raise DataError("hidden weights of attention must be finite and not negative")
        layers = self.layers or tuple(map(str, range(weights.shape[0])))
        heads = self.heads or tuple(map(str, range(weights.shape[1])))
        if (len(layers), len(heads)) != weights.shape[:2]:
            raise ShapeError(f"{len(layers)} names of layers, {len(heads)} of heads, for weights of {weights.shape}")
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "hidden", hidden)
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "heads", heads)

    @staticmethod
    def from_looks(
        looks: "Sequence[Look]", kind: Kind, source: EncodedText, target: EncodedText, *, row: int = 0
    ) -> "AttentionMap | None":
        """See `attention_map`."""
        return attention_map(looks, kind, source, target, row=row)

    # ----- which layers, heads and columns

    def layer(self, number: int) -> "AttentionMap":
        """One layer, all its heads."""
        place = _place("layer", number, len(self.layers))
        return self._picked(layers=slice(place, place + 1))

    def head(self, number: int) -> "AttentionMap":
        """One head, in every layer."""
        place = _place("head", number, len(self.heads))
        return self._picked(heads=slice(place, place + 1))

    def mean(self) -> "AttentionMap":
        """The mean over all layers and heads that are here."""
        if self.weights.shape[:2] == (1, 1):
            return self
        if self.rescaled:
            return self.unscaled().mean().rescale()
        weights = self.weights.mean(axis=(0, 1), keepdims=True, dtype=np.float64).astype(np.float32)
        hidden = None if self.hidden is None else self.hidden.mean(axis=(0, 1), keepdims=True)
        layers = self.layers if len(self.layers) == 1 else (MEAN,)
        heads = self.heads if len(self.heads) == 1 else (MEAN,)
        return replace(self, weights=weights, hidden=hidden, layers=layers, heads=heads)

    def best(self, chosen: Best | None = None) -> "AttentionMap":
        """The head that `best_head` chose for the model; with none given, the one whose rows and columns agree most."""
        layer, head, _ = chosen or best_head([self])
        return self.layer(layer).head(head)

    def rollout(self, encoder: "AttentionMap | None" = None, decoder: "AttentionMap | None" = None) -> "AttentionMap":
        """Attention rollout: weights followed down through all layers to the input tokens (look/map/rollout.py).

        A cross map takes the model's maps of self-attention as well; one that is not given counts as looking only at
        itself.
        """
        maps = [attention for attention in (self, encoder, decoder) if attention is not None]
        if any(attention.level == "word" or attention.hidden is not None for attention in maps):
            raise ConfigError("rollout needs pieces and all columns: call it before words() and without_sinks()")
        if self.kind != "cross":
            rolled = rollout.roll_self(self.weights)
        else:
            parts = (("encoder", encoder), ("decoder", decoder))
            wrong = [
                f"{name} = a map of kind '{attention.kind}'"
                for name, attention in parts
                if attention is not None and attention.kind != name
            ]
            if wrong:
                raise ConfigError(f"{wrong[0]}; give the map of the same pair with that kind")
            below = None if encoder is None else encoder.weights
            own = None if decoder is None else decoder.weights
            rolled = rollout.roll_cross(self.weights, below, own)
        weights = rolled[None, None].astype(np.float32)
        return replace(self, weights=weights, layers=("rollout",), heads=(MEAN,))

    def without_sinks(self, *, punctuation: bool = False) -> "AttentionMap":
        """Columns that stand for no text (`</s>`, `<s>`) taken away; the other weights stay what they are.

        Heads that have nothing to say rest on such columns. `hidden` keeps the weight of each row that lay on them,
        and drawings name it below (`footnote`); `rescale` makes the rows sum to one again. With `punctuation` the
        final mark of the sentence goes too, but only where it is a sink: where words look at it far more than at a
        word. A map of nothing but special tokens stays as it is.
        """
        if self.rescaled:
            return self.unscaled().without_sinks(punctuation=punctuation).rescale()
        sinks = self.source.special
        if punctuation and (mark := self._final_mark()) is not None:
            sinks[mark] = True
        if sinks.all() or not sinks.any():
            return self
        hidden = self.weights[..., sinks].sum(axis=-1, dtype=np.float64)
        if self.hidden is not None:
            hidden = hidden + self.hidden
        dropped = [self.source.tokens[place] for place in np.flatnonzero(sinks)]
        return replace(
            self,
            source=self.source.pick([int(place) for place in np.flatnonzero(~sinks)]),
            weights=self.weights[..., ~sinks],
            hidden=hidden.astype(np.float32),
            hidden_tokens=tuple(dict.fromkeys((*self.hidden_tokens, *dropped))),
        )

    def rescale(self) -> "AttentionMap":
        """Rows scaled up to what they summed to before columns were hidden; one that lay there as a whole is empty.

        No longer the model's own numbers: drawings and files say so.
        """
        if self.hidden is None or self.rescaled:
            return self
        visible = self.weights.sum(axis=-1, dtype=np.float64)
        factors = np.zeros_like(visible)
        np.divide(visible + self.hidden, visible, out=factors, where=visible > _EMPTY)
        return replace(self, weights=(self.weights * factors[..., None]).astype(np.float32), rescaled=True)

    def unscaled(self) -> "AttentionMap":
        """The map before `rescale`; a row that lay on hidden columns as a whole stays empty."""
        if not self.rescaled or self.hidden is None:
            return self
        whole = self.weights.sum(axis=-1, dtype=np.float64)
        factors = np.zeros_like(whole)
        np.divide(np.maximum(0.0, whole - self.hidden), whole, out=factors, where=whole > 0)
        return replace(self, weights=(self.weights * factors[..., None]).astype(np.float32), rescaled=False)

    def peaks(self) -> NDArray[np.intp]:
        """(layers, heads, target): the column that gets the star in every drawing; -1 for none.

        It is the text that a row looked at most. Special tokens are no text, whether they are shown or not, so the
        star does not move when they are hidden; an alignment by "argmax" pairs the same words.
        """
        text = np.where(self.source.special, np.float32(0), self.weights)
        return np.where(text.max(axis=-1) > 0, text.argmax(axis=-1), -1)

    @property
    def footnote(self) -> str:
        """What a drawing has to say of its numbers: `</s> hidden: 35 % of the attention lies there`, or nothing."""
        if self.hidden is None:
            return ""
        names = " ".join(visible(token, 20) for token in self.hidden_tokens[:3]) or "special tokens"
        note = f"{names} hidden: {100 * float(self.hidden.mean()):.0f} % of the attention lies there"
        return f"{note}; rows rescaled to sum to one without it" if self.rescaled else note

    # ----- pieces to words to pairs of words

    def words(self) -> "AttentionMap":
        """Pieces merged: the sum over the columns of a word, the mean over its rows; special tokens stay apart."""
        if self.level == "word":
            return self
        if self.rescaled:
            return self.unscaled().words().rescale()
        source, columns = self.source.grouped()
        target, rows = self.target.grouped()
        sizes = np.array([len(group) for group in rows])
        weights = _sum_groups(self.weights.astype(np.float64), columns, axis=3)
        weights = _sum_groups(weights, rows, axis=2) / sizes[:, None]
        hidden = None
        if self.hidden is not None:
            hidden = (_sum_groups(self.hidden.astype(np.float64), rows, axis=2) / sizes).astype(np.float32)
        return replace(
            self, source=source, target=target, weights=weights.astype(np.float32), level="word", hidden=hidden
        )

    def word_weights(self) -> NDArray[np.float32]:
        """(layers, heads, target words, source words): every word of both texts, special tokens left out."""
        merged = self.words()
        layers, heads = self.weights.shape[:2]
        target, source = len(self.target.word_texts), len(self.source.word_texts)
        rows, of_rows = _words(merged.target)
        columns, of_columns = _words(merged.source)
        picked = np.zeros((layers, heads, target, len(columns)), dtype=np.float32)
        picked[:, :, of_rows] = merged.weights[:, :, rows][..., columns]
        spread = np.zeros((layers, heads, target, source), dtype=np.float32)
        spread[..., of_columns] = picked
        return spread

    def alignment(
        self, method: Method = "argmax", *, threshold: float = 0.25, reverse: "AttentionMap | None" = None
    ) -> Alignment:
        """Word pairs, from the mean of the layers and heads that are here; look/map/alignment.py has the methods.

        threshold   of "threshold" and "balanced": the share of a row, without special tokens, that makes a pair
        reverse     for "symmetric" and "balanced": the map of the same pair from a model of the other direction
        """
        if self.kind != "cross":
            raise ConfigError(f"an alignment needs a map of kind 'cross', not '{self.kind}'")
        weights = self.mean().word_weights()[0, 0]
        back = None if reverse is None else reverse.mean().word_weights()[0, 0]
        if back is not None and back.shape != weights.T.shape:
            raise ShapeError(
                f"the map of the other direction has {back.shape[1]} source and {back.shape[0]} target words, this one "
                f"{weights.shape[1]} and {weights.shape[0]}; give the map of the same pair"
            )
        pairs = align(weights, method, threshold, back)
        return Alignment(tuple(sorted(pairs)), self.source.word_texts, self.target.word_texts)

    # ----- measures

    def entropy(self) -> NDArray[np.float64]:
        """(layers, heads, target), in nats."""
        return measures.entropy(self.weights)

    def coverage(self) -> NDArray[np.float64]:
        """(layers, heads, source): how much each source token was looked at in all."""
        return measures.coverage(self.weights)

    def monotonicity(self) -> NDArray[np.float64]:
        """(layers, heads): 1 reads forward, -1 backward; special tokens left out."""
        return measures.monotonicity(self.weights[:, :, ~self.target.special][..., ~self.source.special])

    def sink_share(self) -> NDArray[np.float64]:
        """(layers, heads, target): the share on special tokens, hidden ones included."""
        own = self.unscaled()
        return measures.sink_share(own.weights, own.source.special, own.hidden)

    def summary(self) -> list[measures.Summary]:
        """A line for each head: mean entropy, monotonicity, mean share on sinks, how much of the text was looked at."""
        entropy, order, sinks = self.entropy().mean(axis=2), self.monotonicity(), self.sink_share().mean(axis=2)
        covered = measures.evenness(self.coverage()[..., ~self.source.special])
        numbers = np.stack([entropy, order, sinks, covered], axis=-1)  # (layers, heads, 4)
        return [
            measures.Summary(layer, head, *(float(number) for number in numbers[i, j]))
            for i, layer in enumerate(self.layers)
            for j, head in enumerate(self.heads)
        ]

    # ----- drawings and files

    @cached_property
    def title(self) -> str:
        """`cross-attention, layer 2, head 0, 7 x 9 words`."""
        layers = f"layer {self.layers[0]}" if len(self.layers) == 1 else f"{len(self.layers)} layers"
        heads = f"head {self.heads[0]}" if len(self.heads) == 1 else f"{len(self.heads)} heads"
        named = {"layer rollout": "rollout over all layers", f"layer {MEAN}": "mean of layers"}
        layers = named.get(layers, layers)
        heads = "mean of heads" if heads == f"head {MEAN}" else heads
        kind = {"cross": "cross-attention", "encoder": "encoder self-attention", "decoder": "decoder self-attention"}
        return f"{kind[self.kind]}, {layers}, {heads}, {len(self.target)} x {len(self.source)} {self.level}s"

    def save(self, path: str | Path) -> None:
        """Writes the kind of file that the name asks for: json tsv npz (read by `load`), txt svg png pdf html."""
        from seq2see.look.map.files import save

        save(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> "AttentionMap":
        """Reads what `save` wrote as json, tsv or npz."""
        from seq2see.look.map.files import load

        return load(Path(path))

    def __repr__(self) -> str:
        return f"<AttentionMap: {self.title}>"

    def __str__(self) -> str:
        from seq2see.look.draw.terminal import plain

        return plain(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from seq2see.look.draw.terminal import draw

        yield from draw(self, console, options)

    def _repr_html_(self) -> str:
        from seq2see.look.draw.page import embedded

        return embedded(self)

    # ----- below: how it is done

    def _picked(self, layers: slice = slice(None), heads: slice = slice(None)) -> "AttentionMap":
        hidden = None if self.hidden is None else self.hidden[layers, heads]
        return replace(
            self,
            weights=self.weights[layers, heads],
            hidden=hidden,
            layers=self.layers[layers],
            heads=self.heads[heads],
        )

    def _final_mark(self) -> int | None:
        """The column of the final mark, if it is a sink for the rows that say words."""
        places = np.flatnonzero(~self.source.special)
        if len(places) < 2 or not _is_mark(_text(self.source, int(places[-1]))):
            return None
        words = [row for row in np.flatnonzero(~self.target.special) if not _is_mark(_text(self.target, int(row)))]
        if not words:
            return None
        share = float(self.weights[:, :, words, places[-1]].mean())
        return int(places[-1]) if share >= max(_SINK, 2 / len(places)) else None


def attention_map(
    looks: "Sequence[Look]", kind: Kind, source: EncodedText, target: EncodedText, *, row: int = 0
) -> AttentionMap | None:
    """The map of one pair from `model.look(batch)`; None if the model has no attention of this kind.

    source and target come with or without their end. `row` is the place of the pair in the batch; what stands behind
    its tokens there is padding.
    """
    _check_name("kind", kind, get_args(Kind))
    layers = sorted((look for look in looks if look.kind == kind), key=lambda look: look.layer)
    if not layers:
        return None
    source_side, target_side = side_of(source), side_of(target)
    rows = source_side if kind == "encoder" else target_side
    columns = shifted(target_side) if kind == "decoder" else source_side
    weights = [_matrix(look, row, len(rows), len(columns)) for look in layers]  # (H, T, S) of each layer
    if len({layer.shape[0] for layer in weights}) > 1:
        raise ShapeError(f"layers with {[layer.shape[0] for layer in weights]} heads do not fit into one map")
    return AttentionMap(columns, rows, kind, np.stack(weights), layers=tuple(str(look.layer) for look in layers))


def attention_maps(
    looks: "Sequence[Look]", source: EncodedText, target: EncodedText, *, row: int = 0
) -> dict[Kind, AttentionMap]:
    """Every kind of map that one forced pass `model.look(batch)` gives of a pair: cross, encoder, decoder.

    A kind that the model does not have is not in the dictionary. Arguments as for `attention_map`.
    """
    kinds: tuple[Kind, ...] = get_args(Kind)
    maps = {kind: attention_map(looks, kind, source, target, row=row) for kind in kinds}
    return {kind: shown for kind, shown in maps.items() if shown is not None}


def joined(maps: Sequence[AttentionMap]) -> AttentionMap | None:
    """The maps of a long text's parts as one, each in its own block; None for none."""
    if not maps:
        return None
    first = maps[0]
    alike = {(part.kind, part.level, part.layers, part.heads, part.hidden is None, part.rescaled) for part in maps}
    if len(alike) > 1:
        raise ShapeError("maps of different kinds, levels, layers or heads cannot be joined")
    source, target = joined_sides([part.source for part in maps]), joined_sides([part.target for part in maps])
    weights = np.zeros((*first.weights.shape[:2], len(target), len(source)), dtype=np.float32)
    row = column = 0
    for part in maps:
        weights[:, :, row : row + len(part.target), column : column + len(part.source)] = part.weights
        row, column = row + len(part.target), column + len(part.source)
    hidden = [part.hidden for part in maps if part.hidden is not None]
    return replace(
        first,
        source=source,
        target=target,
        weights=weights,
        hidden=np.concatenate(hidden, axis=2) if hidden else None,
        hidden_tokens=tuple(dict.fromkeys(token for part in maps for token in part.hidden_tokens)),
    )


def _matrix(look: "Look", row: int, target: int, source: int) -> NDArray[np.float32]:
    """(H, T, S) of one pair."""
    batch, _, rows, columns = look.weights.shape
    if not 0 <= row < batch:
        raise ShapeError(f"row = {row} of a batch of {batch}")
    # In a batch of one nothing is padded, so a text that does not fit is another text.
    if rows < target or columns < source or (batch == 1 and (rows, columns) != (target, source)):
        raise ShapeError(
            f"{look.kind} weights of {rows} x {columns} do not fit {target} x {source} tokens, the ends included"
        )
    weights: NDArray[np.float32] = look.weights[row, :, :target, :source].detach().float().cpu().numpy()
    return weights


def _own(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """As float32 that nobody can change from outside."""
    try:
        own = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError):
        raise ShapeError("weights are no array of numbers; expected (layers, heads, target, source)") from None
    if own.flags.writeable:
        own = own.copy() if own is values or own.base is not None else own
        own.flags.writeable = False
    return own


def _check_name(field: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"{field} = '{value}' is unknown{nearest(str(value), allowed)}")


def _place(name: str, number: int, count: int) -> int:
    if not -count <= number < count:
        raise ConfigError(f"{name} = {number}, but this map has {count} ({name}s 0 to {count - 1})")
    return number % count


def _sum_groups(values: NDArray[np.float64], groups: list[list[int]], axis: int) -> NDArray[np.float64]:
    order = [place for group in groups for place in group]
    starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
    summed: NDArray[np.float64] = np.add.reduceat(values.take(order, axis=axis), starts, axis=axis)
    return summed


def _words(side: Side) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of a side's words, and which words of the text they are; white space alone is none."""
    known = len(side.word_texts)
    numbered = [(place, word) for place, word in enumerate(side.words) if word is not None and word < known]
    pairs = np.array(numbered, dtype=np.intp).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _text(side: Side, place: int) -> str:
    start, end = side.spans[place]
    return side.text[start:end].strip()


def _is_mark(text: str) -> bool:
    return bool(text) and all(unicodedata.category(character)[0] == "P" for character in text)
