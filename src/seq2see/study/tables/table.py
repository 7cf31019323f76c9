"""The tables of a study: plain rows of text, for table.md and report.html alike, from results.json alone."""

from collections.abc import Iterator, Sequence

from seq2see.evaluate.length import Bucket
from seq2see.report.numbers import UNDEFINED, difference_text, interval_text, p_text, score_text
from seq2see.report.page import ReportTable
from seq2see.study.results import StudyResults
from seq2see.study.tables.statistics import PLAN, ConditionResult, ConditionScore, conditions_in, set_names
from seq2see.visible import visible

CLOCK_COLUMNS = ("CPU minutes", "peak MB", "pieces/s")
"""What a clock says, or the system: these differ from time to time, all other columns do not."""


def write_markdown(results: StudyResults) -> str:
    """table.md."""
    conditions = conditions_in(results)
    lines = [f"# {_cell(str(results.study.get('title', '')))}", ""]
    if question := str(results.study.get("question", "")):
        lines += [_cell(question), ""]
    lines += [state_text(results), ""]
    for table in tables_of(conditions):
        lines += [f"## {_cell(table.title)}", "", *markdown_lines(table), ""]
        lines += [line for note in table.notes for line in (_cell(note), "")]
    return "\n".join(lines).rstrip() + "\n"


def state_text(results: StudyResults) -> str:
    done, total = len(results.shown()), len(results.study.get("cells", []))
    left = "" if done == total else f"; {total - done} are not trained yet"
    return f"{done} of {total} cells, each with a budget of {results.study.get('budget', '')}{left}."


def tables_of(conditions: Sequence[ConditionResult]) -> list[ReportTable]:
    """For each set the scores and then quality by length."""
    names = set_names(conditions)
    return [table for name in names for table in (_scores(conditions, name), *length_tables(conditions, name))]


# ----- scores


def _scores(conditions: Sequence[ConditionResult], name: str) -> ReportTable:
    shown = [condition for condition in conditions if name in condition.sets]
    has_gold = any(condition.aer is not None for condition in shown)
    columns = ["cell", "seeds", "parameters", "updates"]
    for place, scored in enumerate(shown[0].sets[name].scores):
        label = scored.score.label + ("" if scored.score.higher_is_better else " (lower is better)")
        columns += [label, "95 % interval", *(["seeds from to"] if place == 0 else []), "to baseline", "p"]
    columns += [*(["AER"] if has_gold else []), *CLOCK_COLUMNS]
    rows = [_row(condition, name, has_gold=has_gold) for condition in shown]
    sets = {(condition.sets[name].pairs, condition.sets[name].sentences) for condition in shown}
    described = "; ".join(f"{sentences:,} sentences of {visible(pairs)}" for pairs, sentences in sorted(sets))
    return ReportTable(f"Scores: {name}", tuple(columns), tuple(map(tuple, rows)), (described, _notes(shown, name)))


def _row(condition: ConditionResult, name: str, *, has_gold: bool) -> list[str]:
    row = [condition.name, str(condition.seeds), f"{condition.parameters:,}", f"{condition.updates:,.0f}"]
    for place, scored in enumerate(condition.sets[name].scores):
        row += [score_text(scored.score.value), interval_text(scored.score.interval)]
        row += [_seed_range(scored)] if place == 0 else []
        row += _against(condition, scored)
    row += [score_text(condition.aer)] if has_gold else []
    memory, decoding = condition.clock("memory"), condition.clock("decoding")
    return [*row, figure(condition.clock("minutes"), 1), figure(memory), figure(decoding)]


def _against(condition: ConditionResult, scored: ConditionScore) -> list[str]:
    if scored.paired is None:
        return ["baseline" if condition.baseline == condition.name else UNDEFINED, UNDEFINED]
    return [difference_text(scored.paired.difference), p_text(_larger(scored))]


def _larger(scored: ConditionScore) -> float | None:
    """Of both tests the one that is less sure."""
    assert scored.paired is not None
    values = (scored.paired.p_bootstrap, scored.paired.p_randomisation)
    known = [value for value in values if value is not None]
    return max(known) if known else None


def _seed_range(scored: ConditionScore) -> str:
    known = [value for value in scored.by_seed if value is not None]
    return f"{score_text(min(known))} to {score_text(max(known))}" if len(known) > 1 else UNDEFINED


def figure(value: float | None, digits: int = 0) -> str:
    return UNDEFINED if value is None else f"{value:,.{digits}f}"


def _notes(shown: Sequence[ConditionResult], name: str) -> str:
    signatures = dict.fromkeys(scored.score.signature for condition in shown for scored in condition.sets[name].scores)
    return (
        "Scores are of all seeds together; the interval is of the bootstrap over sentences, `seeds from to` the lowest "
        "and the highest single seed. p is the larger of paired bootstrap and approximate randomisation "
        f"({PLAN.resamples:,} resamples, {PLAN.trials:,} trials), not corrected for the number of rows. "
        f"Signatures: {'; '.join(signatures)}."
    )


# ----- quality by length


def length_tables(conditions: Sequence[ConditionResult], name: str) -> Iterator[ReportTable]:
    """A row for each condition, a column for each bucket; conditions on other sentences have a table of their own."""
    shown = [condition for condition in conditions if name in condition.sets]
    for digest in dict.fromkeys(condition.sets[name].digest for condition in shown):
        same = [condition for condition in shown if condition.sets[name].digest == digest]
        first = same[0].sets[name].by_length
        heads = [f"{_bucket(row.bucket)} (n={row.sentences:,})" for row in first.rows]
        rows = [
            (condition.name, *(score_text(row.score) for row in condition.sets[name].by_length.rows))
            for condition in same
        ]
        yield ReportTable(f"{first.title}: {name}", ("cell", *heads), tuple(rows))


def _bucket(bucket: Bucket) -> str:
    return bucket.label


# ----- Markdown


def markdown_lines(table: ReportTable) -> Iterator[str]:
    yield _line(table.columns)
    yield _line(["---" if place < table.left else "---:" for place in range(len(table.columns))])
    yield from map(_line, table.rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """A name may hold anything that TOML allows."""
    return visible(text, 2_000).replace("|", "\\|")
