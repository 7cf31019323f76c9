"""One target position, step by step, with the model's own formula and numbers.

    walk = explain(model, source_ids, target_ids, step=3)
    print(walk)                  to read          walk.as_dict()      everything, for JSON
    walk.attention.weights       (source,)        walk.as_numpy()     a script that recomputes it

The numbers are recorded while the model says the target in one pass, as `model.look` does; nothing is computed beside
the model but what a formula shows on the way (the exponentials of a softmax, the gates of a cell).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seq2see.attention import Additive, Attention, Cosine, General, Location, MultiHead
from seq2see.attention.base import Weighing
from seq2see.attention.heads import merge
from seq2see.data.batch import Batch
from seq2see.errors import ConfigError
from seq2see.look.explain.formulas import (
    Array,
    Formula,
    Quantity,
    array,
    normaliser_formula,
    region_formula,
    score_formula,
)
from seq2see.look.explain.states import cell_formulas, without_attention
from seq2see.look.intervene.hooks import Place, attentions, hooked, mechanism_of
from seq2see.look.intervene.whatif import heads_of
from seq2see.models import Model, Output
from seq2see.models.convolutional import ConvDecoder
from seq2see.models.luong import LuongDecoder
from seq2see.models.rnnsearch import RnnSearchDecoder
from seq2see.vocabulary import BOS, EOS, PAD, UNK

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

WalkKind = Literal["cross", "decoder"]
Names = Callable[[int], str]
TOP = 5
_CHANGED = 1e-5  # weights further from their formula than rounding goes were changed by a what-if
_SPECIAL = {PAD: "<pad>", BOS: "<s>", EOS: "</s>", UNK: "<unk>"}


@dataclass(frozen=True)
class Choice:
    """A piece that could come next; rank 1 is the likeliest."""

    token: str
    id: int
    rank: int
    logit: float
    probability: float


@dataclass(frozen=True, eq=False)
class AttentionWalk:
    """One look, from the query to what it takes home. S keys; the vectors of a head are as wide as the head.

    kind, layer, head   which look; layers and heads are counted from 0
    tokens              (S,) what stands under the keys
    query, keys         (D,), (S, D) as the score gets them: keys are projected already
    score               the formula of `scores` (S,), the bias of positions included
    region              the formula of `allowed` (S,): mask and scope; `mask` alone hides padding
    normaliser          the formula that makes weights of scores
    gain                (S,) of local-p: the Gaussian that the weights are multiplied by
    weights, values     (S,), (S, Dv), and their sum context (Dv,)
    output              (D',) of several heads: all contexts side by side through W_O
    changed             whether a what-if has changed the weights after the normaliser
    """

    kind: WalkKind
    layer: int
    head: int
    heads: int
    tokens: tuple[str, ...]
    query_meaning: str
    keys_meaning: str
    values_meaning: str
    query: Array
    keys: Array
    score: Formula
    scores: Array
    mask: NDArray[np.bool_]
    region: Formula
    allowed: NDArray[np.bool_]
    normaliser: Formula
    gain: Array | None
    weights: Array
    values: Array
    context: Array
    output: Array | None
    changed: bool


@dataclass(frozen=True, eq=False)
class Walkthrough:
    """How one piece of the target came to be said.

    step, steps   the position, from 1, and how many there are, the end of the sentence included
    said          the pieces before it; `target` is the piece that is said here
    attention     None for a family without; `instead` then tells what it has
    cells         of a recurrent decoder, lowest layer first; `cells_first`: before the look (Luong), else after it
    features      what the vocabulary layer reads; `choices` the likeliest pieces that it sees in them
    log_sum       log of the sum of exp(logit) over the whole vocabulary: probability = exp(logit - log_sum)
    """

    family: str
    step: int
    steps: int
    source: tuple[str, ...]
    said: tuple[str, ...]
    target: Choice
    attention: AttentionWalk | None
    instead: Formula | None
    cells: tuple[Formula, ...]
    cells_first: bool
    features: Array
    choices: tuple[Choice, ...]
    log_sum: float

    def as_dict(self) -> Mapping[str, Any]:
        """Everything in full, for JSON."""
        from seq2see.look.explain.numbers import plain

        return plain(self)

    def as_numpy(self) -> str:
        """A Python script of its own that recomputes the step from the model's numbers."""
        from seq2see.look.explain.numbers import script

        return script(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from seq2see.look.explain.render import tell

        yield from tell(self)

    def __str__(self) -> str:
        from seq2see.look.explain.render import text

        return text(self)


@torch.no_grad()
def explain(
    model: Model[Any, Any],
    source: Sequence[int],
    target: Sequence[int],
    step: int = 1,
    *,
    kind: WalkKind = "cross",
    layer: int | None = None,
    head: int | None = None,
    source_tokens: Sequence[str] | None = None,
    name: Names | None = None,
) -> Walkthrough:
    """The walk through one target position; `target` comes without its end, which is the last step.

    layer, head     from 0; the last layer that looks at the source and head 0, if not given
    kind            "cross", or "decoder" for the self-attention of a Transformer's decoder
    source_tokens   the source pieces as they are shown;  name: a target id as it is shown
    """
    steps = len(target) + 1
    if not 1 <= step <= steps:
        raise ConfigError(f"step = {step}, but this target has {steps} (1 to {steps}; the last one says </s>)")
    if model.training:
        raise ConfigError("a model in training drops numbers at random; call model.eval() before explaining it")
    shown = name or (lambda index: _SPECIAL.get(index, f"#{index}"))
    batch = Batch.of([source], [target]).to(next(model.parameters()).device)
    place, place_head = _choose(model, kind, layer, head)
    calls: list[Weighing] = []
    output: Output = _recording(model, place, calls)(batch, need_weights=True)
    told = tuple(source_tokens) if source_tokens is not None else tuple(_SPECIAL.get(i, f"#{i}") for i in source)
    if len(told) != len(source):
        raise ConfigError(f"{len(source)} source ids, but {len(told)} source_tokens")
    said = [BOS, *target]
    walk, context = None, None
    if place is not None:
        tokens = told if place[0] == "cross" else tuple(shown(index) for index in said)
        walk, context = _attention(model, place, place_head, tokens, _row(calls, step))
    logits = output.logits[0, step - 1]
    return Walkthrough(
        family=str(model.config.model_dump()["family"]),
        step=step,
        steps=steps,
        source=told,
        said=tuple(shown(index) for index in target[: step - 1]),
        target=_choice(logits, [*target, EOS][step - 1], shown),
        attention=walk,
        instead=None if walk is not None else without_attention(model, batch, step),
        cells=cell_formulas(model, batch, step, context),
        cells_first=isinstance(model.decoder, LuongDecoder),
        features=array(output.features[0, step - 1]),
        choices=tuple(_choice(logits, int(index), shown) for index in logits.topk(min(TOP, len(logits))).indices),
        log_sum=float(logits.logsumexp(dim=-1)),
    )


def _choose(
    model: Model[Any, Any], kind: WalkKind, layer: int | None, head: int | None
) -> tuple[tuple[WalkKind, int] | None, int]:
    """The look that is meant, and its head; None for a model that does not look at the source."""
    if kind not in ("cross", "decoder"):
        raise ConfigError(f"kind = '{kind}': a target position has cross or decoder attention")
    places = {place: attention for place, attention in attentions(model).items() if place[0] == kind}
    if not places:
        if kind != "cross" or layer is not None or head is not None:
            raise ConfigError(f"this model has no {kind} attention, so there is no layer or head of it to choose")
        return None, 0
    layer = len(places) - 1 if layer is None else layer
    if (kind, layer) not in places:
        raise ConfigError(f"layer = {layer}, but layers of {kind} attention are 0 to {len(places) - 1}")
    heads = heads_of(places[kind, layer])
    if head is not None and not 0 <= head < heads:
        what = "there is one head, 0" if heads == 1 else f"heads are 0 to {heads - 1}"
        raise ConfigError(f"head = {head}, but {what}")
    return (kind, layer), head or 0


def _recording(model: Model[Any, Any], place: Place | None, calls: list[Weighing]) -> Model[Any, Any]:
    """The same model, noting every look at this place, with the weights that any what-if has left."""
    if place is None:
        return model

    def record(weighing: Weighing) -> Tensor:
        calls.append(weighing)
        return weighing.weights

    return hooked(model, {place: record})


def _row(calls: Sequence[Weighing], step: int) -> Weighing:
    """The look of one target position, Tq = 1: families make it among others of one call, or in a call of its own."""
    for weighing in calls:
        for row in (weighing.positions[0] == step - 1).nonzero().flatten().tolist():
            return _one(weighing, int(row))
    raise AssertionError("no look was recorded for this position")


def _one(weighing: Weighing, row: int) -> Weighing:
    def cut(x: Tensor | None) -> Tensor | None:
        """(.., Tq or 1, Tk) -> its row."""
        return x if x is None or x.size(-2) == 1 else x[..., row : row + 1, :]

    return weighing._replace(
        query=weighing.query[:, :, row : row + 1],
        prepared=weighing.prepared._replace(mask=cut(weighing.prepared.mask)),
        positions=weighing.positions[:, row : row + 1],
        bias=cut(weighing.bias),
        scores=weighing.scores[:, :, row : row + 1],
        allowed=cut(weighing.allowed),
        gain=cut(weighing.gain),
        weights=weighing.weights[:, :, row : row + 1],
    )


def _attention(
    model: Model[Any, Any], place: tuple[WalkKind, int], head: int, tokens: tuple[str, ...], row: Weighing
) -> tuple[AttentionWalk, Tensor]:
    """The walk, and (1, D) what the look hands to the rest of the model."""
    attention = attentions(model)[place]
    mechanism = mechanism_of(attention)
    contexts = torch.matmul(row.weights, row.prepared.values)  # (1, H, 1, Dv)
    handed = _handed(attention, contexts, row)
    scores = row.scores if row.bias is None else row.scores + row.bias
    raw, used = array(scores[0, head, 0]), array(row.weights[0, head, 0])
    allowed = _flags(row.allowed, row, head)
    gain = None if row.gain is None else array(row.gain[0, head, 0])
    normaliser, expected = normaliser_formula(mechanism.normaliser, raw, allowed)
    expected = expected if gain is None else expected * gain
    walk = AttentionWalk(
        kind=place[0],
        layer=place[1],
        head=head,
        heads=heads_of(attention),
        tokens=tokens,
        query_meaning=_query_meaning(model, place[0], attention),
        keys_meaning=_keys_meaning(attention),
        values_meaning=_values_meaning(model, attention),
        query=array(row.query[0, head, 0]),
        keys=array(row.prepared.keys[0, head]),
        score=_with_bias(score_formula(mechanism, row, head), row, head),
        scores=raw,
        mask=_flags(None if row.prepared.mask is None else row.prepared.mask.unsqueeze(1), row, head),
        region=region_formula(mechanism, row, head),
        allowed=allowed,
        normaliser=normaliser,
        gain=gain,
        weights=used,
        values=array(row.prepared.values[0, head]),
        context=array(contexts[0, head, 0]),
        output=array(handed[0]) if isinstance(attention, MultiHead) else None,
        changed=mechanism.hook is not None and bool(np.abs(expected - used).max() > _CHANGED),
    )
    return walk, handed


def _handed(attention: Attention, contexts: Tensor, row: Weighing) -> Tensor:
    if not isinstance(attention, MultiHead):
        return contexts[:, 0, 0]
    output: Tensor = attention.output_projection(merge(contexts))[:, 0]
    return output if row.weights.any() else torch.zeros_like(output)


def _flags(allowed: Tensor | None, row: Weighing, head: int) -> NDArray[np.bool_]:
    keys = row.weights.size(-1)
    if allowed is None:
        return np.ones(keys, dtype=bool)
    spread = allowed.expand(1, row.weights.size(1), 1, keys)
    return array(spread[0, head, 0])


def _with_bias(formula: Formula, row: Weighing, head: int) -> Formula:
    if row.bias is None:
        return formula
    bias = row.bias.expand(row.scores.shape)[0, head, 0]
    part = Quantity("bias", "what the positions add", array(bias))
    return Formula(
        formula.name,
        f"{formula.text} + bias_j",
        formula.paper,
        (*formula.parts, part),
        (*formula.code, "scores = scores + bias"),
    )


def _query_meaning(model: Model[Any, Any], kind: WalkKind, attention: Attention) -> str:
    match model.decoder:
        case RnnSearchDecoder():
            what = "s_{t-1}, the state before this step"
        case LuongDecoder():
            what = "s_t, the state after reading the last piece"
        case ConvDecoder():
            what = "what the convolution made of what was said"
        case _ if kind == "decoder":
            what = "the layer's input here"
        case _:
            what = "what self-attention made of this position"
    return f"W_Q x: {what}" if isinstance(attention, MultiHead) else what


def _keys_meaning(attention: Attention) -> str:
    h = "W_K h_j" if isinstance(attention, MultiHead) else "h_j"
    match mechanism_of(attention):
        case General():
            return f"W {h}"
        case Additive():
            return f"W2 {h}"
        case Cosine():
            return f"{h} at length 1"
        case Location():
            return f"{h}, which this score does not look at"
        case _:
            return h


def _values_meaning(model: Model[Any, Any], attention: Attention) -> str:
    if isinstance(attention, MultiHead):
        return "W_V h_j of this head"
    return "h_j and the word vector of j" if isinstance(model.decoder, ConvDecoder) else "h_j itself"


def _choice(logits: Tensor, index: int, name: Names) -> Choice:
    logit = logits[index]
    probability = torch.softmax(logits, dim=-1)[index]
    return Choice(name(index), index, 1 + int((logits > logit).sum()), float(logit), float(probability))
