"""A walkthrough for machines: as plain data for JSON, and as a NumPy script that a student can paste and run.

In the script text of the user stands only inside string literals, and numbers have every digit of the model's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from seq2see.attention.formula import Array, Formula, Quantity
from seq2see.look.explain.walkthrough import AttentionWalk, Walkthrough

_WIDTH = 110


def plain(walk: Walkthrough) -> Mapping[str, Any]:
    """Everything a walkthrough holds, as dictionaries, lists and numbers; minus infinity becomes null."""
    return {
        "family": walk.family,
        "kind": walk.kind,
        "step": walk.step,
        "steps": walk.steps,
        "source": list(walk.source),
        "said": list(walk.said),
        "target": None if walk.target is None else asdict(walk.target),
        "before": [_plain_formula(formula) for formula in walk.before],
        "attention": None if walk.attention is None else _plain_attention(walk.attention),
        "after": [_plain_formula(formula) for formula in walk.after],
        "features": _listed(walk.features),
        "choices": [asdict(choice) for choice in walk.choices],
        "log_sum": walk.log_sum,
    }


def _plain_attention(walk: AttentionWalk) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in vars(walk).items():
        match value:
            case Formula():
                fields[name] = _plain_formula(value)
            case np.ndarray():
                fields[name] = _listed(value)
            case tuple():
                fields[name] = list(value)
            case _:
                fields[name] = value
    return fields


def _plain_formula(formula: Formula) -> dict[str, Any]:
    return {
        "name": formula.name,
        "text": formula.text,
        "paper": formula.paper,
        "parts": {part.symbol: {"meaning": part.meaning, "value": _listed(part.value)} for part in formula.parts},
        "code": list(formula.code),
    }


def _listed(values: Array) -> Any:
    """Nested lists; a float32 is written with the digits that a float32 has."""
    if values.ndim:
        return [_listed(value) for value in values]
    if values.dtype.kind != "f":
        return values.item()
    return float(str(values[()])) if np.isfinite(values) else None


# ----- the script


def script(walk: Walkthrough) -> str:
    """Self-contained Python: literal arrays, the formulas, what they give, and how far that is from the model."""
    lines = [
        f'"""Step {walk.step} of {walk.steps}, recomputed: a {walk.family} model\'s own numbers, in NumPy.',
        "",
        "Written by `seq2see explain --numpy`. Arrays are the model's; the formulas below them are all there is to it.",
        '"""',
        "",
        "import numpy as np",
        "",
        f"said = {list(walk.said)!r}  # before this step",
    ]
    looks = [] if walk.attention is None else _attention(walk.attention)
    before, after = (
        [line for formula in formulas for line in _block(formula)] for formulas in (walk.before, walk.after)
    )
    lines += [*before, *looks, *after]
    lines += [] if walk.log_sum is None else _choices(walk, walk.log_sum)
    return "\n".join([*lines, ""])


def _attention(walk: AttentionWalk) -> list[str]:
    named = {"query": walk.query, "keys": walk.keys, "values": walk.values, "mask": walk.mask}
    lines = [
        "",
        f"# ----- the look: {walk.kind} attention, layer {walk.layer}, head {walk.head} of {walk.heads}",
        f"tokens = {_wrapped(map(repr, walk.tokens))}",
        *(f"{name} = {_literal(value)}" for name, value in named.items()),
        "places = np.arange(len(keys))",
    ]
    if walk.query_formula is not None:
        lines += [*_block(walk.query_formula), "query = turned"]
    for formula in (walk.score, walk.region, walk.normaliser):
        lines += _block(formula)
    if walk.gain is not None:
        lines.append("weights = weights * gain")
    if walk.changed:
        lines += ["# a what-if has put these in their place", f"weights = {_literal(walk.weights)}"]
    return [
        *lines,
        "context = weights @ values",
        "",
        "for token, score, weight in zip(tokens, scores, weights):",
        '    print(f"{token:>16}  score {score:10.4f}  weight {weight:7.4f}")',
        'print("context:", np.round(context[:8], 4), "..." if len(context) > 8 else "")',
        f"model_weights = {_literal(walk.weights)}",
        f"model_context = {_literal(walk.context)}",
        "difference = max(np.abs(weights - model_weights).max(), np.abs(context - model_context).max())",
        'print(f"largest difference from the model: {difference:.1e}")',
    ]


def _block(formula: Formula) -> list[str]:
    """A formula as a comment, its given parts as literals, its code."""
    paper = f"  ({formula.paper})" if formula.paper else ""
    lines = ["", f"# {formula.name}: {formula.text}{paper}"]
    lines += [f"{part.symbol} = {_literal(part.value)}  # {part.meaning}" for part in _inputs(formula)]
    return [*lines, *formula.code]


def _inputs(formula: Formula) -> list[Quantity]:
    return [part for part in formula.parts if part.given]


def _choices(walk: Walkthrough, log_sum: float) -> list[str]:
    return [
        "",
        "# the likeliest pieces: log probability = logit - log of the sum of exp(logit) over the vocabulary",
        f"pieces = {[choice.token for choice in walk.choices]!r}",
        f"logits = np.array({[choice.logit for choice in walk.choices]!r})",
        f"log_sum = {log_sum!r}",
        "log_probabilities = logits - log_sum",
        "probabilities = np.exp(log_probabilities)",
        "for piece, probability in zip(pieces, probabilities):",
        '    print(f"{piece:>16}  {probability:7.4f}")',
    ]


def _literal(values: Array) -> str:
    """A NumPy array that reads back to the same numbers."""
    if values.ndim == 0:
        return _number(values[()])
    if values.dtype.kind == "b":
        return f"np.array({values.tolist()!r})"
    return f"np.array({_nested(values)})"


def _nested(values: Array) -> str:
    if values.ndim > 1:
        return "[\n" + "".join(f"{_nested(value)},\n" for value in values) + "]"
    return _wrapped(_number(value) for value in values)


def _number(value: Any) -> str:
    """The shortest decimal that is this number in its own precision."""
    return str(value.item()) if value.dtype.kind != "f" else str(value)


def _wrapped(words: Iterable[str]) -> str:
    """A list over as many lines as it needs; no word is broken."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > _WIDTH:
            lines.append("")
        lines[-1] += f"{word}, "
    joined = "\n".join(line.rstrip(" ") for line in lines).removesuffix(",")
    return f"[{joined}]"
