"""Evaluations and comparisons as tables for the terminal, 80 columns and more."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from seq2see.evaluate.compare import ComparedSentence, Comparison, Contrast, Which
from seq2see.evaluate.evaluation import Evaluation, LengthTable
from seq2see.evaluate.length import LengthScore
from seq2see.evaluate.resampling import Interval
from seq2see.report.chart import MARKS, LengthChart
from seq2see.visible import shortened, visible

_NONE = "–"
_NAME_CELLS = 20  # of a system at the head of a column


def show_evaluation(found: Evaluation, *, lengths: bool) -> RenderableType:
    """Scores, then quality by length if asked for, then notes and signatures."""
    parts: list[RenderableType] = [
        Text(f"{visible(found.system)} on {visible(found.test)}: {found.sentences:,} sentences", style="bold"),
        _scores(found),
    ]
    if lengths:
        parts += [
            LengthChart([found.by_length], [found.system]),
            show_lengths([found.by_length], [found.system]),
        ]
    signatures = [(score.label, score.signature) for score in found.scores]
    return Group(*parts, *_footer(found.notes, signatures, found.command))


def show_comparison(found: Comparison, *, examples: int) -> RenderableType:
    """Both systems, the difference and how sure it is; by length; sentences where one of them wins."""
    names = [f"A {found.a}", f"B {found.b}"]
    tables = [found.by_length.a, found.by_length.b]
    parts: list[RenderableType] = [
        Text(f"{visible(found.test)}: {len(found.sentences):,} sentences", style="bold"),
        Text("\n".join(visible(name) for name in names)),
        _contrasts(found),
        *(Text(verdict(contrast)) for contrast in found.contrasts),
        Text(),
        LengthChart(tables, names),
        _lengths_of_two(found),
    ]
    if examples:
        parts += _wins(found, examples)
    signatures = [(contrast.a.label, contrast.signature) for contrast in found.contrasts]
    return Group(*parts, *_footer(found.notes, signatures, found.command))


def show_lengths(tables: Sequence[LengthTable], names: Sequence[str]) -> Table:
    """A row for each bucket, a column for each system."""
    first = tables[0]
    table = _table(first.unit, "sentences")
    for place, name in enumerate(names):
        table.add_column(f"{MARKS[place % len(MARKS)]} {shortened(name, _NAME_CELLS)}", justify="right")
    for rows in zip(*(one.rows for one in tables), strict=True):
        table.add_row(rows[0].bucket.label, f"{rows[0].sentences:,}", *(_plus_minus(row) for row in rows))
    return table


def verdict(contrast: Contrast) -> str:
    """What the numbers of one metric come to, in a sentence."""
    label, between = contrast.a.label, contrast.paired
    if between.difference is None:
        return f"{label}: not defined for this test set"
    if contrast.winner is None:
        return f"{label}: no difference that this test set can show"
    points = f"{abs(between.difference):.1f} points {'above' if between.difference > 0 else 'below'} A"
    chance = max(between.p_bootstrap or 0.0, between.p_randomisation or 0.0)
    return f"{label}: {contrast.winner.upper()} is better (B is {points}, p {_p(chance)})"


def _table(*heads: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _scores(found: Evaluation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for head in ("metric", "score", "95 % interval", ""):
        table.add_column(head, justify="left" if head in ("metric", "") else "right")
    for score in found.scores:
        better = "" if score.higher_is_better else "lower is better"
        table.add_row(score.label, _number(score.value), _range(score.interval), better)
    return table


def _contrasts(found: Comparison) -> Table:
    table = _table("metric", "A", "B", "B - A", "95 % interval", "p bootstrap", "p randomised")
    for contrast in found.contrasts:
        a, b, between = contrast.a, contrast.b, contrast.paired
        table.add_row(
            a.label,
            _number(a.value),
            _number(b.value),
            _signed(between.difference),
            _range(between.interval, signed=True),
            _p(between.p_bootstrap),
            _p(between.p_randomisation),
        )
    return table


def _lengths_of_two(found: Comparison) -> Table:
    """The p-value is the one that also holds for a handful of sentences, as the last buckets often have."""
    both = found.by_length
    table = _table(both.a.unit, "sentences", f"{MARKS[0]} A", f"{MARKS[1]} B", "B - A", "p randomised")
    for a, b, between in zip(both.a.rows, both.b.rows, both.paired, strict=True):
        table.add_row(
            a.bucket.label,
            f"{a.sentences:,}",
            _plus_minus(a),
            _plus_minus(b),
            f"{_signed(between.difference)}{_around(between.interval)}",
            _p(between.p_randomisation),
        )
    return table


def _wins(found: Comparison, examples: int) -> Iterator[RenderableType]:
    tally = found.tally
    yield Text(f"by chrF, A is ahead in {tally['a']:,} sentences, B in {tally['b']:,}, equal in {tally['equal']:,}")
    sides: tuple[Which, Which] = ("a", "b")
    for which in sides:
        best = found.wins(which, examples)
        if best:
            yield Text(f"\nwhere {which.upper()} wins most", style="bold")
            yield from map(_sentence, best)


def _sentence(sentence: ComparedSentence) -> Table:
    """The texts of one pair below each other; a long one goes on below itself."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    table.add_row("pair", Text(visible(sentence.place)))
    table.add_row("source", Text(visible(sentence.source)))
    table.add_row("reference", Text(visible(sentence.reference)))
    table.add_row(f"A {sentence.chrf_a:5.1f}", Text(visible(sentence.a)))
    table.add_row(f"B {sentence.chrf_b:5.1f}", Text(visible(sentence.b)))
    table.add_row()
    return table


def _footer(notes: Sequence[str], signatures: Sequence[tuple[str, str]], command: str) -> Iterator[RenderableType]:
    """What is needed to get the same numbers again. To be copied, so these lines are never broken or cut."""
    for note in notes:
        yield Text(f"note: {visible(note)}")
    lines = [*signatures, ("command", command)] if command else signatures
    for label, told in lines:
        yield Text(f"{label:<7} {visible(told, 2_000)}", style="dim", no_wrap=True, overflow="ignore")


def _plus_minus(row: LengthScore) -> str:
    return f"{_number(row.score)}{_around(row.interval)}"


def _around(interval: Interval | None) -> str:
    return "" if interval is None else f" ±{interval.half:4.1f}"


def _number(value: float | None) -> str:
    return _NONE if value is None else f"{value:.1f}"


def _signed(value: float | None) -> str:
    return _NONE if value is None else f"{value:+.1f}"


def _range(interval: Interval | None, *, signed: bool = False) -> str:
    if interval is None:
        return _NONE
    write = _signed if signed else _number
    return f"{write(interval.low)} to {write(interval.high)}"


def _p(value: float | None) -> str:
    if value is None:
        return _NONE
    return "<0.001" if value < 0.001 else f"{value:.3f}"
