"""A walkthrough to read: in the order of computing, short slices of long vectors, a full table of the softmax."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from seq2see.attention.formula import Array, Formula, Quantity
from seq2see.look.explain.walkthrough import AttentionWalk, Choice, Walkthrough

FIRST = 4  # numbers of a vector that are shown
_PIECE = 18  # cells of a piece
_BAR = 20
_ROWS = 40  # keys that are shown one by one


def text(walk: Walkthrough, width: int = 100) -> str:
    """Without colour, for a file or a test."""
    console = Console(file=StringIO(), width=width, color_system=None, force_terminal=False, emoji=False, markup=False)
    console.print(walk)
    out = console.file
    assert isinstance(out, StringIO)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def tell(walk: Walkthrough) -> Iterator[RenderableType]:
    """The walk, section after section."""
    yield _title(walk)
    before, after = ([(_headed(formula), _parts(formula)) for formula in part] for part in (walk.before, walk.after))
    sections = [*before, *([] if walk.attention is None else _look(walk.attention)), *after]
    if walk.log_sum is not None:
        sections.append(("What to say", _choices(walk, walk.log_sum)))
    for number, (name, content) in enumerate(sections, start=1):
        yield Text()
        yield Text(f"{number}  {name}", style="bold")
        for block in content:
            yield Padding(block, (0, 0, 0, 3), expand=False)


def _title(walk: Walkthrough) -> Text:
    if walk.target is None:
        title = Text(f"{walk.family}, source piece {walk.step} of {walk.steps}: ", style="bold")
        return title.append("how it reads ", style="not bold").append(walk.source[walk.step - 1])
    title = Text(f"{walk.family}, step {walk.step} of {walk.steps}: ", style="bold")
    title.append(f"after {' '.join(walk.said)} it says " if walk.said else "at first it says ", style="not bold")
    return title.append(walk.target.token)


def _look(walk: AttentionWalk) -> list[tuple[str, list[RenderableType]]]:
    which = f"{walk.kind} attention, layer {walk.layer}"
    which += f", head {walk.head} of {walk.heads}" if walk.heads > 1 else ""
    query: list[RenderableType] = [_rows([Quantity("query", walk.query_meaning, walk.query)])]
    query += [] if walk.query_formula is None else [Text(_headed(walk.query_formula)), *_parts(walk.query_formula)]
    free = f"{int(walk.allowed.sum())} of {len(walk.allowed)} keys may be looked at"
    return [
        (f"The query ({which})", query),
        (f"The keys: {walk.keys_meaning}", [_vectors(walk.tokens, walk.keys)]),
        (_named("The scores", walk.score), _parts(walk.score)),
        (_named("The mask", walk.region), [*_parts(walk.region), Text(free)]),
        (_named("The weights", walk.normaliser), [Text(walk.normaliser.text, style="italic"), *_weights(walk)]),
        ("What it takes home", _taken(walk)),
    ]


def _headed(formula: Formula) -> str:
    """`Layer norm (Ba 2016)`."""
    paper = f" ({formula.paper})" if formula.paper else ""
    return f"{formula.name[0].upper()}{formula.name[1:]}{paper}"


def _named(what: str, formula: Formula) -> str:
    return f"{what}: {formula.name}" + (f" ({formula.paper})" if formula.paper else "")


def _taken(walk: AttentionWalk) -> list[RenderableType]:
    parts = [Quantity("context", f"sum of weight_j v_j; v_j is {walk.values_meaning}", walk.context)]
    if walk.output is not None:
        parts.append(Quantity("output", "the contexts of all heads side by side, through W_O", walk.output))
    return [_rows(parts)]


def _weights(walk: AttentionWalk) -> list[RenderableType]:
    """The full table of the softmax, and the sums under it."""
    named = {part.symbol: part.value for part in walk.normaliser.parts}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    columns = ["score", "- largest", "exp"] if "exps" in named else ["score", "- largest"]
    columns += ["Gaussian"] if walk.gain is not None else []
    table.add_column("piece", no_wrap=True)
    for column in [*columns, "weight", ""]:
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column()  # where it is narrow the bars give way, not the numbers
    starred = _starred(walk)
    for place in _picked(walk.weights):
        numbers = [number(walk.scores[place])]
        if not walk.allowed[place]:
            numbers += ["hidden", *[""] * (len(columns) - 2)]
        else:
            numbers += [number(named[name][place]) for name in ("shifted", "exps") if name in named]
            numbers += [number(walk.gain[place])] if walk.gain is not None else []
        star = "*" if place == starred else ""
        weight = number(walk.weights[place])
        _add(table, shown(walk.tokens[place]), *numbers, weight, star, bar=Bar(float(walk.weights[place])))
    notes = [f"{part.symbol} = {number(part.value)}" for part in walk.normaliser.parts if part.value.ndim == 0]
    left = len(walk.tokens) - _ROWS
    notes += [f"{left} pieces with the smallest weights are not shown"] if left > 0 else []
    notes += ["a what-if has changed the weights: they are not what the formula gives"] if walk.changed else []
    return [table, Text("; ".join(notes))]


def _starred(walk: AttentionWalk) -> int | None:
    """The text that is looked at most, as in the drawings of a map: `</s>` and `<s>` are no text."""
    text = walk.weights.copy()
    text[0 if walk.kind == "decoder" else -1] = 0
    return int(text.argmax()) if text.max() > 0 else None


def _picked(weights: Array) -> list[int]:
    """All keys of a sentence; of a long one those with the largest weights, in their order."""
    order = np.argsort(-weights, kind="stable")[:_ROWS]
    return sorted(int(place) for place in order)


def _parts(formula: Formula) -> list[RenderableType]:
    return [Text(formula.text, style="italic"), _rows(formula.parts)]


def _rows(parts: Iterable[Quantity]) -> RenderableType:
    """A line for each part: its name, its first numbers, its shape, what it is."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column()
    for part in parts:
        shape = " x ".join(map(str, part.value.shape))
        _add(table, part.symbol, _slice(part.value), shape, part.meaning)
    return table if table.row_count else Group()


def _vectors(tokens: tuple[str, ...], vectors: Array) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for place in range(min(len(tokens), _ROWS)):
        _add(table, shown(tokens[place]), _slice(vectors[place]))
    if len(tokens) > _ROWS:
        _add(table, "…", f"and {len(tokens) - _ROWS} more")
    return table


def _slice(values: Array) -> str:
    if values.ndim == 0:
        return number(values)
    if values.ndim > 1:
        return _slice(values.reshape(-1))
    more = " …" if len(values) > FIRST else ""
    return "[" + " ".join(f"{number(value):>7}" for value in values[:FIRST]) + more + "]"


def _choices(walk: Walkthrough, log_sum: float) -> list[RenderableType]:
    parts = (
        Quantity("features", "what the vocabulary layer reads", walk.features),
        Quantity("log_sum", "log of the sum of exp(logit) over the vocabulary", np.array(log_sum)),
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for column in ("rank", "piece", "logit", "log p", "probability", ""):
        table.add_column(column, justify="right" if column not in ("piece", "") else "left", no_wrap=True)
    table.add_column()
    target = walk.target
    rows = [*walk.choices]
    if target is not None and all(choice.id != target.id for choice in rows):
        rows.append(target)
    for choice in rows:
        is_target = target is not None and choice.id == target.id
        _add(table, *_choice(choice, is_target=is_target), bar=Bar(choice.probability))
    return [Text("logits = W features + b;  log p = logit - log_sum", style="italic"), _rows(parts), table]


def _choice(choice: Choice, *, is_target: bool) -> tuple[str, ...]:
    mark = "said" if is_target else ""
    numbers = number(choice.logit), number(choice.log_probability), number(choice.probability)
    return str(choice.rank), shown(choice.token), *numbers, mark


def _add(table: Table, *cells: str, bar: "Bar | None" = None) -> None:
    """A row of plain text: a piece such as [bold] is no markup."""
    table.add_row(*map(Text, cells), *([] if bar is None else [bar]))


def number(value: Any) -> str:
    """Four decimals; whole numbers as they are; large ones in powers of ten."""
    plain = value.item() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(plain, int):
        return str(plain)
    return f"{plain:.4f}" if abs(plain) < 1e4 else f"{plain:.4e}"


@dataclass(frozen=True)
class Bar:
    """A weight from 0 to 1 in eighths of a cell; 1 is as long as the column is wide."""

    weight: float

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, _BAR)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        eighths = round(max(0.0, min(1.0, self.weight)) * min(_BAR, options.max_width) * 8)
        yield Text("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip())


def shown(token: str) -> str:
    """A piece that keeps to its cells."""
    return token if cell_len(token) <= _PIECE else set_cell_size(token, _PIECE - 1).rstrip() + "…"
