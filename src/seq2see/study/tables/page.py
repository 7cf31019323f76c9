"""report.html of a study, from results.json alone: its tables, quality by length and learning curves as charts."""

from collections.abc import Sequence

from seq2see.evaluate.evaluation import Evaluation
from seq2see.report.page import ResultsReport, report
from seq2see.study.results import StudyResults
from seq2see.study.tables.statistics import ConditionResult, conditions_in, ranked, set_names, training_of
from seq2see.study.tables.table import state_text, tables_of

_DRAWN = 8  # conditions in a chart; all of them are in the tables


def write_report(results: StudyResults, environment: tuple[tuple[str, str], ...] = ()) -> str:
    conditions = conditions_in(results)
    names = set_names(conditions)
    name = names[-1] if names else ""
    drawn = _drawn(conditions, name)
    chosen = "" if len(drawn) == len(conditions) else f" Charts show the baseline and the best, {len(drawn)} in all."
    tables = tables_of(conditions)
    return report(
        ResultsReport(
            str(results.study.get("title", "study")),
            lead=f"{results.study.get('question', '')} {state_text(results)}{chosen}".strip(),
            scores=tables[0] if tables else None,
            tables=tuple(tables[1:]),
            evaluations=tuple(_evaluation(condition, name) for condition in drawn),
            trainings=tuple(training_of(entry) for condition in drawn for entry in condition.entries),
            by_minutes=True,
            environment=environment,
        )
    )


def _drawn(conditions: Sequence[ConditionResult], name: str) -> list[ConditionResult]:
    """The best on a set, and among them the baselines."""
    best = ranked(conditions, name)
    baselines = {condition.baseline for condition in conditions}
    first = [condition for condition in best if condition.name in baselines]
    others = [condition for condition in best if condition not in first]
    return (first + others)[:_DRAWN]


def _evaluation(condition: ConditionResult, name: str) -> Evaluation:
    scored = condition.sets[name]
    scores = tuple(metric.score for metric in scored.scores)
    return Evaluation(condition.name, scored.pairs, scored.sentences, scores, scored.by_length, ())
