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
from seq2see.report.numbers import (
    COMPARISON_COLUMNS,
    comparison_row,
    difference_text,
    interval_text,
    p_text,
    score_text,
)
from seq2see.visible import shortened, visible

_NAME_CELLS = 20  # of a system at the head of a column


def show_evaluation(evaluation: Evaluation, *, lengths: bool) -> RenderableType:
    """Scores, then quality by length if asked for, then notes and signatures."""
    parts: list[RenderableType] = [
        Text(
            f"{visible(evaluation.system)} on {visible(evaluation.test)}: {evaluation.sentences:,} sentences",
            style="bold",
        ),
        _scores(evaluation),
    ]
    if lengths:
        parts += [
            LengthChart([evaluation.by_length], [evaluation.system]),
            show_lengths([evaluation.by_length], [evaluation.system]),
        ]
    signatures = [(score.label, score.signature) for score in evaluation.scores]
    return Group(*parts, *_footer(evaluation.notes, signatures, evaluation.command))


def show_comparison(comparison: Comparison, *, examples: int) -> RenderableType:
    """Both systems, the difference and how sure it is; by length; sentences where one of them wins."""
    names = [f"A {comparison.a}", f"B {comparison.b}"]
    tables = [comparison.by_length.a, comparison.by_length.b]
    parts: list[RenderableType] = [
        Text(f"{visible(comparison.test)}: {len(comparison.sentences):,} sentences", style="bold"),
        Text("\n".join(visible(name) for name in names)),
        _contrasts(comparison),
        *(Text(verdict(contrast)) for contrast in comparison.contrasts),
        Text(),
        LengthChart(tables, names),
        _lengths_of_two(comparison),
    ]
    if examples:
        parts += _wins(comparison, examples)
    signatures = [(contrast.a.label, contrast.signature) for contrast in comparison.contrasts]
    return Group(*parts, *_footer(comparison.notes, signatures, comparison.command))


def show_lengths(tables: Sequence[LengthTable], names: Sequence[str]) -> Table:
    """A row for each bucket, a column for each system."""
    first = tables[0]
    table = _table(first.unit, "sentences")
    for place, name in enumerate(names):
        table.add_column(f"{MARKS[place % len(MARKS)]} {shortened(name, _NAME_CELLS)}", justify="right")
    for rows in zip(*(lengths.rows for lengths in tables), strict=True):
        table.add_row(rows[0].bucket.label, f"{rows[0].sentences:,}", *(_plus_minus(row) for row in rows))
    return table


def verdict(contrast: Contrast) -> str:
    """Which system is better by one metric, in a sentence."""
    label, tests = contrast.a.label, contrast.paired
    if tests.difference is None:
        return f"{label}: not defined for this test set"
    if contrast.winner is None:
        return f"{label}: no difference that this test set can show"
    points = f"{abs(tests.difference):.1f} points {'above' if tests.difference > 0 else 'below'} A"
    p = max(tests.p_bootstrap or 0.0, tests.p_randomisation or 0.0)
    return f"{label}: {contrast.winner.upper()} is better (B is {points}, p {p_text(p)})"


def _table(*heads: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _scores(evaluation: Evaluation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for head in ("metric", "score", "95 % interval", ""):
        table.add_column(head, justify="left" if head in ("metric", "") else "right")
    for score in evaluation.scores:
        better = "" if score.higher_is_better else "lower is better"
        table.add_row(score.label, score_text(score.value), interval_text(score.interval), better)
    return table


def _contrasts(comparison: Comparison) -> Table:
    table = _table(*COMPARISON_COLUMNS)
    for contrast in comparison.contrasts:
        table.add_row(*comparison_row(contrast))
    return table


def _lengths_of_two(comparison: Comparison) -> Table:
    """The p-value is the one that also holds for a handful of sentences, as the last buckets often have."""
    both = comparison.by_length
    table = _table(both.a.unit, "sentences", f"{MARKS[0]} A", f"{MARKS[1]} B", "B - A", "p randomised")
    for a, b, tests in zip(both.a.rows, both.b.rows, both.paired, strict=True):
        table.add_row(
            a.bucket.label,
            f"{a.sentences:,}",
            _plus_minus(a),
            _plus_minus(b),
            f"{difference_text(tests.difference)}{_around(tests.interval)}",
            p_text(tests.p_randomisation),
        )
    return table


def _wins(comparison: Comparison, examples: int) -> Iterator[RenderableType]:
    tally = comparison.tally
    yield Text(f"by chrF, A is ahead in {tally['a']:,} sentences, B in {tally['b']:,}, equal in {tally['equal']:,}")
    sides: tuple[Which, Which] = ("a", "b")
    for which in sides:
        best = comparison.wins(which, examples)
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
    for label, text in lines:
        yield Text(f"{label:<7} {visible(text, 2_000)}", style="dim", no_wrap=True, overflow="ignore")


def _plus_minus(row: LengthScore) -> str:
    return f"{score_text(row.score)}{_around(row.interval)}"


def _around(interval: Interval | None) -> str:
    return "" if interval is None else f" ±{interval.half:4.1f}"
