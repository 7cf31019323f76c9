"""One position, step by step, from the word that enters to the probabilities, with the model's own numbers.

    walk = explain(model, source_ids, target_ids, step=3)
    print(walk)                  to read          walk.as_dict()      everything, for JSON
    walk.attention.weights       (source,)        walk.as_numpy()     a script that recomputes it

The numbers of the look are recorded while the model says the target in one pass, as `model.look` does. What stands
before and after it the model's own parts describe (`Decoder.describe_step`, `Encoder.describe_position`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seq2see.attention.base import Weighing
from seq2see.attention.formula import Array, Formula, Quantity, array
from seq2see.data.batch import Batch
from seq2see.errors import ConfigError
from seq2see.look.explain.formulas import normaliser_formula
from seq2see.models import AttentionLayer, Model, StepDescription
from seq2see.models.base import Place
from seq2see.vocabulary import BOS, EOS, PAD, UNK

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

WalkKind = Literal["cross", "decoder", "encoder"]
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
    log_probability: float
    probability: float


@dataclass(frozen=True, eq=False)
class AttentionWalk:
    """One call of attention, from the query to the context. S keys; the vectors of a head are as wide as the head.

    kind, layer, head   which look; layers and heads are counted from 0
    tokens              (S,) what stands under the keys
    query, keys         (D,), (S, D) as the score gets them: keys are projected already
    query_formula       how the query comes from W_Q x, where QK-norm or rotary positions change it; else None
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
    query_formula: Formula | None
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
    """How one piece of the target came to be said; of kind "encoder", how one piece of the source was read.

    step, steps     the position, from 1, and how many there are, the end of the sentence included
    said            the pieces before it; `target` is the piece that is said here
    before, after   what is computed before and after the look, in its order; all of it in `before` without a look
    attention       the look; None for a family without
    features        what the vocabulary layer reads; `choices` the likeliest pieces that it sees in them
    log_sum         log of the sum of exp(logit) over the whole vocabulary: log probability = logit - log_sum

    Of kind "encoder" the walk ends with the key of this piece, `features`: `target` and `log_sum` are None, `said` and
    `choices` empty.
    """

    family: str
    kind: WalkKind
    step: int
    steps: int
    source: tuple[str, ...]
    said: tuple[str, ...]
    target: Choice | None
    before: tuple[Formula, ...]
    attention: AttentionWalk | None
    after: tuple[Formula, ...]
    features: Array
    choices: tuple[Choice, ...]
    log_sum: float | None

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

    step            of kind "encoder": the source piece, from 1
    layer, head     from 0; the last layer with this kind of attention and head 0, if not given
    kind            "cross"; "decoder" for the self-attention of a Transformer's decoder; "encoder" for how a piece of
                    the source is read, by self-attention, gates or convolutions
    source_tokens   the source pieces as they are shown;  name: a target id as it is shown
    """
    attention = _choose(model, kind, layer, head)
    steps = len(source) if kind == "encoder" else len(target) + 1
    if not 1 <= step <= steps:
        what, last = ("source", "the last one is </s>") if kind == "encoder" else ("target", "the last one says </s>")
        raise ConfigError(f"step = {step}, but this {what} has {steps} (1 to {steps}; {last})")
    if model.training:
        raise ConfigError("a model in training drops numbers at random; call model.eval() before explaining it")
    shown = name or (lambda index: _SPECIAL.get(index, f"#{index}"))
    batch = Batch.of([source], [target]).to(next(model.parameters()).device)
    calls: list[Weighing] = []
    output = _recording(model, attention, calls)(batch, need_weights=True)
    names = tuple(source_tokens) if source_tokens is not None else tuple(_SPECIAL.get(i, f"#{i}") for i in source)
    if len(names) != len(source):
        raise ConfigError(f"{len(source)} source ids, but {len(names)} source_tokens")
    walk = None
    if attention is not None:
        tokens = tuple(shown(index) for index in [BOS, *target]) if kind == "decoder" else names
        walk = _walk(attention, kind, head or 0, tokens, _row(calls, step))
    if kind == "encoder":
        return _reading(model, batch, step, names, walk)
    described = _describe(model, batch, step, None if attention is None else attention.place)
    logits = output.logits[0, step - 1]  # (V,)
    return Walkthrough(
        family=model.family,
        kind=kind,
        step=step,
        steps=steps,
        source=names,
        said=tuple(shown(index) for index in target[: step - 1]),
        target=_choice(logits, [*target, EOS][step - 1], shown),
        before=described.before,
        attention=walk,
        after=described.after,
        features=array(output.features[0, step - 1]),
        choices=tuple(_choice(logits, int(index), shown) for index in logits.topk(min(TOP, len(logits))).indices),
        log_sum=float(logits.logsumexp(dim=-1)),
    )


def _describe(model: Model[Any, Any], batch: Batch, step: int, place: Place | None) -> StepDescription:
    """What the decoder says of its own step, from the state that the steps before it lead to."""
    memory = model.encode(batch.source, batch.source_mask)
    state = model.start(memory)
    for tokens in batch.target_in[:, : step - 1].unbind(dim=1):
        _, state = model.step(tokens, memory, state)
    return model.decoder.describe_step(batch.target_in[:, step - 1], memory, state, place)


def _reading(
    model: Model[Any, Any], batch: Batch, step: int, names: tuple[str, ...], walk: AttentionWalk | None
) -> Walkthrough:
    """How the encoder reads one piece of the source: it ends with the key of the piece."""
    mask = model.check_source(batch.source, batch.source_mask)
    layer = None if walk is None else walk.layer
    described = model.encoder.describe_position(batch.source, mask, step - 1, layer)
    encoded, _ = model.encoder(batch.source, mask)
    return Walkthrough(
        family=model.family,
        kind="encoder",
        step=step,
        steps=len(names),
        source=names,
        said=(),
        target=None,
        before=described.before,
        attention=walk,
        after=described.after,
        features=array(encoded.keys[0, step - 1]),
        choices=(),
        log_sum=None,
    )


def _choose(model: Model[Any, Any], kind: WalkKind, layer: int | None, head: int | None) -> AttentionLayer | None:
    """The attention that is meant; None for a model that does not look at the source, or at itself in its encoder."""
    if kind not in get_args(WalkKind):
        raise ConfigError(f"kind = '{kind}': expected cross, decoder or encoder")
    layers = {attention.layer: attention for attention in model.attentions() if attention.kind == kind}
    if not layers:
        if kind == "decoder" or layer is not None or head is not None:
            raise ConfigError(f"this model has no {kind} attention, so there is no layer or head of it to choose")
        return None
    layer = len(layers) - 1 if layer is None else layer
    if layer not in layers:
        raise ConfigError(f"layer = {layer}, but layers of {kind} attention are 0 to {len(layers) - 1}")
    heads = layers[layer].module.heads
    if head is not None and not 0 <= head < heads:
        what = "there is one head, 0" if heads == 1 else f"heads are 0 to {heads - 1}"
        raise ConfigError(f"head = {head}, but {what}")
    return layers[layer]


def _recording(model: Model[Any, Any], attention: AttentionLayer | None, calls: list[Weighing]) -> Model[Any, Any]:
    """The same model, recording every call of this attention, with the weights that any what-if has left."""
    if attention is None:
        return model

    def record(weighing: Weighing) -> Tensor:
        calls.append(weighing)
        return weighing.weights

    return model.with_hooks({attention.place: record})


def _row(calls: Sequence[Weighing], step: int) -> Weighing:
    """The row of one target position, Tq = 1: families attend all positions in one call, or each in its own."""
    for weighing in calls:
        for row in (weighing.positions[0] == step - 1).nonzero().flatten().tolist():
            return _cut(weighing, int(row))
    raise AssertionError("no call of attention was recorded for this position")


def _cut(weighing: Weighing, row: int) -> Weighing:
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
        raw_query=cut(weighing.raw_query),
    )


def _walk(
    attention: AttentionLayer, kind: WalkKind, head: int, tokens: tuple[str, ...], row: Weighing
) -> AttentionWalk:
    """The walk through one row of attention."""
    module, mechanism = attention.module, attention.module.scorer
    meanings = module.meanings(attention.query, attention.values)
    contexts = torch.matmul(row.weights, row.prepared.values)  # (1, H, 1, Dv)
    joined = module.join_heads(contexts, row.weights)  # (1, 1, D), or None for a single head
    scores = row.scores if row.bias is None else row.scores + row.bias
    raw, used = array(scores[0, head, 0]), array(row.weights[0, head, 0])
    allowed = _flags(row.allowed, row, head)
    gain = None if row.gain is None else array(row.gain[0, head, 0])
    normaliser, expected = normaliser_formula(mechanism.normaliser, raw, allowed)
    expected = expected if gain is None else expected * gain
    return AttentionWalk(
        kind=kind,
        layer=attention.layer,
        head=head,
        heads=module.heads,
        tokens=tokens,
        query_meaning=meanings.query,
        keys_meaning=meanings.keys,
        values_meaning=meanings.values,
        query=array(row.query[0, head, 0]),
        query_formula=module.describe_query(row, head),
        keys=array(row.prepared.keys[0, head]),
        score=_with_bias(mechanism.describe_score(row, head), row, head),
        scores=raw,
        mask=_flags(None if row.prepared.mask is None else row.prepared.mask.unsqueeze(1), row, head),
        region=mechanism.describe_region(row, head),
        allowed=allowed,
        normaliser=normaliser,
        gain=gain,
        weights=used,
        values=array(row.prepared.values[0, head]),
        context=array(contexts[0, head, 0]),
        output=None if joined is None else array(joined[0, 0]),
        changed=mechanism.hook is not None and bool(np.abs(expected - used).max() > _CHANGED),
    )


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


def _choice(logits: Tensor, index: int, name: Names) -> Choice:
    logit, log_probability = logits[index], torch.log_softmax(logits, dim=-1)[index]
    rank = 1 + int((logits > logit).sum())
    return Choice(name(index), index, rank, float(logit), float(log_probability), float(log_probability.exp()))
