"""What if it had looked elsewhere: heads switched off, rows of attention forced or changed, in any family.

    changed = what_if(model, [Ablate("cross", 3, 1), Force("cross", None, None, 2, (0.0, 1.0, 0.0))])

The changed model has the parameters of the first one, speaks step by step and in one pass, and its `look` shows the
changed weights. Layers and heads are counted from 0, as `model.look` and maps count them; steps from 1, as people do.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import torch
from torch import Tensor

from seq2see.attention.base import Hook, Weighing
from seq2see.errors import ConfigError, ShapeError, nearest
from seq2see.look.map.side import END, Side
from seq2see.models import AttentionLayer, Model
from seq2see.models.base import Kind, Place

_SUM = 1e-4  # how far forced weights may be from summing to one
_PLACE = re.compile(r"(?P<kind>[a-z]+)(:(?P<layer>\d+)(\.(?P<head>\d+))?)?")
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Ablate:
    """A head switched off: its weights become zero, so that it takes nothing home and adds nothing to the output.

    Several heads share the bias of their output projection: it goes with the last of them, as for a query that may
    look at nothing. None is every layer, or every head.
    """

    kind: Kind = "cross"
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True)
class Force:
    """One row of attention is what is given here, whatever the model thinks, its scope and windows included.

    step      the target position, from 1 (encoder: the source position)
    weights   one for each source piece, the end included (decoder: for `<s>` and each piece before this step);
              they sum to one
    """

    kind: Kind
    layer: int | None
    head: int | None
    step: int
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_step(self.step)
        weights = tuple(float(weight) for weight in self.weights)
        if not weights or not all(math.isfinite(weight) and weight >= 0 for weight in weights):
            raise ConfigError("forced weights must be finite numbers, none of them below 0, at least one of them")
        if abs(sum(weights) - 1) > _SUM:
            raise ConfigError(f"forced weights sum to {sum(weights):.4f}; they must sum to 1")
        object.__setattr__(self, "weights", weights)


@dataclass(frozen=True)
class Scale:
    """The weight on one place is multiplied, and the row brought back to the sum it had.

    place    the source piece that is looked at, from 0, as the columns of a map are counted
    factor   0: not at all; a row that lay there as a whole becomes empty
    step     the target position, from 1; None: every one
    """

    kind: Kind
    layer: int | None
    head: int | None
    place: int
    factor: float
    step: int | None = None

    def __post_init__(self) -> None:
        if self.step is not None:
            _check_step(self.step)
        if self.place < 0:
            raise ConfigError(f"place = {self.place}; places are counted from 0")
        if not math.isfinite(self.factor) or self.factor < 0:
            raise ConfigError(f"factor = {self.factor}; a weight is multiplied by 0 or more")


Edit = Ablate | Force | Scale


def what_if(model: Model[Any, Any], edits: Iterable[Edit]) -> Model[Any, Any]:
    """The model as it would be with these edits, one after the other. Parameters are shared; the given model stays."""
    attentions = model.attentions()
    edits_by_place: dict[Place, list[Edit]] = {}
    for edit in edits:
        for place in _places(edit, attentions):
            edits_by_place.setdefault(place, []).append(edit)
    return model.with_hooks({place: _editor(edits_here) for place, edits_here in edits_by_place.items()})


def _places(edit: Edit, attentions: Sequence[AttentionLayer]) -> list[Place]:
    """The attentions that an edit means; an error in one line if the model has no such thing."""
    if not attentions:
        raise ConfigError(f"{_named(edit)}: this model has no attention to change")
    kinds = dict.fromkeys(attention.kind for attention in attentions)
    if edit.kind not in kinds:
        raise ConfigError(f"{_named(edit)}: this model has no attention of that kind; it has {', '.join(kinds)}")
    layers = [attention for attention in attentions if attention.kind == edit.kind]
    meant = [attention for attention in layers if edit.layer in (None, attention.layer)]
    if not meant:
        raise ConfigError(f"{_named(edit)}: layers of {edit.kind} attention are 0 to {len(layers) - 1}")
    for attention in meant:
        heads = attention.module.heads
        if edit.head is not None and not 0 <= edit.head < heads:
            what = "there is one head, 0" if heads == 1 else f"heads are 0 to {heads - 1}"
            raise ConfigError(f"{_named(edit)}: {what}")
    return [attention.place for attention in meant]


def _named(edit: Edit) -> str:
    """As the command line writes it: cross:3.1."""
    layer = "" if edit.layer is None else f":{edit.layer}"
    return f"{edit.kind}{layer}{'' if edit.head is None else f'.{edit.head}'}"


def _editor(edits: Sequence[Edit]) -> Hook:
    def edited(weighing: Weighing) -> Tensor:
        for edit in edits:
            weighing = weighing._replace(weights=_apply(edit, weighing))
        return weighing.weights

    return edited


def _apply(edit: Edit, weighing: Weighing) -> Tensor:
    weights = weighing.weights
    match edit:
        case Ablate():
            return torch.where(_heads(edit, weights), 0.0, weights)
        case Force():
            rows = _rows(edit.step, weighing.positions)
            if not rows.any():
                return weights
            return torch.where(rows & _heads(edit, weights), _forced_row(edit, weighing), weights)
        case Scale():
            rows = _rows(edit.step, weighing.positions)
            return torch.where(rows & _heads(edit, weights), _scaled(edit, weighing), weights)


def _heads(edit: Edit, weights: Tensor) -> Tensor:
    """(1, H, 1, 1): the heads that are meant."""
    numbers = torch.arange(weights.size(1), device=weights.device)
    meant = torch.ones_like(numbers, dtype=torch.bool) if edit.head is None else numbers == edit.head
    return meant[None, :, None, None]


def _rows(step: int | None, positions: Tensor) -> Tensor:
    """(1 or B, Tq) positions -> (1 or B, 1, Tq, 1): the queries that are meant."""
    meant = torch.ones_like(positions, dtype=torch.bool) if step is None else positions == step - 1
    return meant[:, None, :, None]


def _forced_row(edit: Force, weighing: Weighing) -> Tensor:
    """(Tk,) with zeros behind the given weights, where only padding or what is not yet said can stand."""
    length, columns = _length(edit, weighing), weighing.weights.size(-1)
    if len(edit.weights) != length or length > columns:
        what = "<s> and what was said before" if edit.kind == "decoder" else "the source, its end included,"
        raise ShapeError(
            f"{_named(edit)} at step {edit.step}: {len(edit.weights)} weights are given, but {what} has {length} pieces"
        )
    row = weighing.weights.new_zeros(columns)
    row[:length] = torch.tensor(edit.weights, dtype=row.dtype)
    return row


def _scaled(edit: Scale, weighing: Weighing) -> Tensor:
    weights = weighing.weights
    if edit.kind != "decoder" and edit.place >= (length := _length(edit, weighing)):
        raise ShapeError(f"{_named(edit)}: place {edit.place}, but the source has {length} pieces (0 to {length - 1})")
    factors = torch.ones_like(weights[0, 0, 0])
    factors[edit.place : edit.place + 1] = edit.factor
    scaled = weights * factors
    left = scaled.sum(dim=-1, keepdim=True)
    return torch.where(left > 0, scaled * (weights.sum(dim=-1, keepdim=True) / left), 0.0)


def _length(edit: Force | Scale, weighing: Weighing) -> int:
    """How many keys a row is over. Beams of one sentence share it; a batch of several must not differ."""
    if edit.kind == "decoder":
        return int(edit.step or 0)
    mask = weighing.prepared.mask
    if mask is None:
        return weighing.weights.size(-1)
    lengths = sorted(set(mask.sum(dim=-1).flatten().tolist()))
    if len(lengths) > 1:
        raise ShapeError(
            f"{_named(edit)}: sources of {lengths[0]} to {lengths[-1]} pieces cannot share one row of attention; "
            "change one sentence at a time"
        )
    return int(lengths[0])


def _check_step(step: int) -> None:
    if step < 1:
        raise ConfigError(f"step = {step}; steps are counted from 1")


# ----- as the command line writes it


def parse_ablation(text: str) -> Ablate:
    """`cross:3.1` is head 1 of layer 3, `cross:3` all of layer 3, `cross` every head; both counted from 0."""
    return Ablate(*_place("ablate", text))


def parse_force(text: str, source: Side) -> Force:
    """`STEP:WORD=SHARE,...[@cross:LAYER.HEAD]`: at that step look at these words of the source, and nowhere else.

    Shares are scaled to sum to one; the pieces of a word share evenly. A word that occurs twice is named by its number,
    `#2` for the second word of the sentence; the end is `</s>`. Without a place it is every layer and head.
    """
    words, (kind, layer, head) = _split(text, "force")
    step, named = _step(words, "force", text)
    if step is None:
        raise ConfigError(f"force '{text}': name the step; expected such as 3:student=1.0")
    row = [0.0] * len(source)
    for places, share in _amounts(named, source, f"force '{text}'"):
        for place in places:
            row[place] += share / len(places)
    total = sum(row)
    if total <= 0:
        raise ConfigError(f"force '{text}': the shares sum to 0; at least one must be above it")
    return Force(kind, layer, head, step, tuple(share / total for share in row))


def parse_scale(text: str, source: Side) -> list[Scale]:
    """`[STEP:]WORD=FACTOR,...[@cross:LAYER.HEAD]`: look that many times as much at these words; at every step, if none
    is named."""
    words, (kind, layer, head) = _split(text, "scale")
    step, named = _step(words, "scale", text)
    amounts = _amounts(named, source, f"scale '{text}'")
    return [Scale(kind, layer, head, place, factor, step) for places, factor in amounts for place in places]


def parse_edits(
    source: Side, *, ablate: Sequence[str] = (), force: Sequence[str] = (), scale: Sequence[str] = ()
) -> list[Edit]:
    """All edits of a command line, for a source sentence: ablations first, then scales, then forced rows."""
    scales = [edit for text in scale for edit in parse_scale(text, source)]
    return [*map(parse_ablation, ablate), *scales, *(parse_force(text, source) for text in force)]


def _place(what: str, text: str) -> tuple[Kind, int | None, int | None]:
    match = _PLACE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"{what} '{text}': expected KIND:LAYER.HEAD such as cross:3.1, both counted from 0")
    kind = match["kind"]
    for known in KINDS:
        if kind == known:
            layer, head = (None if match[name] is None else int(match[name]) for name in ("layer", "head"))
            return known, layer, head
    raise ConfigError(f"{what} '{text}': kind '{kind}' is unknown{nearest(kind, KINDS)}")


def _split(text: str, what: str) -> tuple[str, tuple[Kind, int | None, int | None]]:
    """The words, and where they are meant: behind the last @, if a place stands there."""
    words, at, place = text.rpartition("@")
    if not at or not place.startswith(KINDS):
        return text, ("cross", None, None)
    kind, layer, head = _place(what, place)
    if kind != "cross":
        raise ConfigError(f"{what} '{text}': words of the source are looked at by cross attention only")
    return words, (kind, layer, head)


def _step(words: str, what: str, text: str) -> tuple[int | None, str]:
    match = re.fullmatch(r"\s*(-?\d+)\s*:(.*)", words, re.DOTALL)
    if match is None:
        return None, words
    step = int(match[1])
    if step < 1:
        raise ConfigError(f"{what} '{text}': step {step}; steps are counted from 1")
    return step, match[2]


def _amounts(named: str, source: Side, where: str) -> list[tuple[list[int], float]]:
    """`word=0.7,other=0.3` -> the pieces of each word, and its number."""
    return [_amount(part, source, where) for part in named.split(",")]


def _amount(part: str, source: Side, where: str) -> tuple[list[int], float]:
    word, equals, number = part.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not equals or not math.isfinite(value) or value < 0:
        raise ConfigError(f"{where}: '{part}' is not WORD=NUMBER with a number of 0 or more")
    return _pieces_of(word.strip(), source, where), value


def _pieces_of(word: str, source: Side, where: str) -> list[int]:
    if word == END:
        return [place for place, token in enumerate(source.tokens) if token == END and source.words[place] is None]
    words = source.word_texts
    numbered = re.fullmatch(r"#(\d+)", word)
    matches = [int(numbered[1]) - 1] if numbered else [place for place, text in enumerate(words) if text == word]
    if numbered and not 0 <= matches[0] < len(words):
        raise ConfigError(f"{where}: {word}, but the source has {len(words)} words (#1 to #{len(words)})")
    if not matches:
        raise ConfigError(f"{where}: the source has no word '{word}'{nearest(word, {*words, END})}")
    if len(matches) > 1:
        numbers = " or ".join(f"#{place + 1}" for place in matches)
        raise ConfigError(f"{where}: '{word}' occurs {len(matches)} times; name it by its number, {numbers}")
    pieces = [place for place, owner in enumerate(source.words) if owner == matches[0]]
    if not pieces:
        raise ConfigError(f"{where}: '{word}' has no piece of its own in the model's vocabulary")
    return pieces
