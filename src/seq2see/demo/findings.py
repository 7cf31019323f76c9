"""What came of it: quality by length for both, a long sentence, what attention looked at, and report.html."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from seq2see.corpora import Example
from seq2see.demo.corpus import crossings
from seq2see.demo.plan import CORPUS, EDGES, FAMILIES, LONG, Family, Plan
from seq2see.evaluate import Comparison, EvaluationSettings, PairedTests, compare_outputs, references_of
from seq2see.evaluate.compare import ComparedSentence, LengthContrast, Which
from seq2see.evaluate.evaluation import worst_by_length
from seq2see.evaluate.length import LengthScore
from seq2see.look.draw.page import PageExample as Shown
from seq2see.look.draw.page import write_page
from seq2see.models import parameters
from seq2see.report.chart import LengthChart
from seq2see.report.page import ResultsReport, environment, is_number, read_metrics, read_training, report
from seq2see.report.tables import show_lengths
from seq2see.runs.evaluations import keep_evaluation
from seq2see.session import Translation, Translator, load

_READABLE = range(5, 9)  # source words of the sentence whose map is drawn
_SYSTEMS: dict[Family, Which] = {"rnn": "a", "rnnsearch": "b"}
_DESCRIPTIONS: dict[Family, str] = {
    "rnn": "one vector has to hold the whole sentence (Sutskever 2014, Cho 2014)",
    "rnnsearch": "looks back at the source before every word (Bahdanau 2014)",
}


@dataclass(frozen=True)
class Trained:
    """How large a model is, and how long it learned."""

    parameters: int
    updates: int
    seconds: float


@dataclass(frozen=True)
class Findings:
    """Everything that is shown; `a` of the comparisons is without attention, `b` with it."""

    trained: dict[Family, Trained]
    comparison: Comparison  # by EDGES
    halves: LengthContrast  # below LONG words, and from there on
    drawn: Translation

    @property
    def long(self) -> tuple[LengthScore, LengthScore, PairedTests]:
        """Without, with, and what lies between, for references of LONG words and more."""
        return self.halves.a.rows[-1], self.halves.b.rows[-1], self.halves.paired[-1]

    @property
    def typical(self) -> ComparedSentence:
        """The long sentence in the middle of all, by what attention changes in chrF: neither the best nor the worst."""
        long = [sentence for sentence in self.comparison.sentences if len(sentence.reference.split()) >= LONG]
        return sorted(long, key=lambda sentence: sentence.gain)[len(long) // 2]


def find(plan: Plan, test: Sequence[Example]) -> Findings:
    """Both models on sentences they have not seen."""
    torch.set_num_threads(1)
    translators = {family: load(plan.run(family), engine="torch") for family in FAMILIES}
    translations = {family: _translate(translators[family], test) for family in FAMILIES}
    references = references_of([(example.source, example.target) for example in test], plan.test.name)
    outputs = {family: [translation.text for translation in translations[family]] for family in FAMILIES}

    def compared(edges: tuple[int, ...]) -> Comparison:
        settings = EvaluationSettings(metrics=("bleu",), side="reference", edges=edges)
        return compare_outputs(outputs["rnn"], outputs["rnnsearch"], references, settings, systems=("rnn", "rnnsearch"))

    trained = {family: _trained(plan.run(family), translators[family]) for family in FAMILIES}
    comparison = compared(EDGES)
    for family, which in _SYSTEMS.items():  # for `seq2see serve`, which shows them side by side
        evaluation = comparison.evaluation(which)
        worst = worst_by_length(outputs[family], references, evaluation.by_length)
        keep_evaluation(plan.run(family), evaluation.as_dict() | {"worst": worst})
    return Findings(
        trained, comparison, compared((LONG - 1,)).by_length, choose_sentence(test, translations["rnnsearch"])
    )


def _translate(translator: Translator, test: Sequence[Example]) -> list[Translation]:
    return list(translator.translate_all((example.source for example in test), window=len(test)))


def _trained(run: Path, translator: Translator) -> Trained:
    """Summed up from what training wrote down, so that it is there for a run of yesterday as well."""
    seconds = [float(entry["seconds"]) for entry in read_metrics(run) if is_number(entry.get("seconds"))]
    return Trained(parameters(translator.model), len(seconds), sum(seconds))


def choose_sentence(test: Sequence[Example], translations: Sequence[Translation]) -> Translation:
    """Of the sentences short enough to read in a map the one whose words change places most; rather a right one."""
    places = [place for place, example in enumerate(test) if len(example.source.split()) in _READABLE] or range(
        len(test)
    )
    right = [place for place in places if translations[place].text == test[place].target]
    return translations[max(right or places, key=lambda place: crossings(test[place]))]


# ----- for the eye


def show(findings: Findings, plan: Plan) -> RenderableType:
    """All of it, for a terminal."""
    lengths = findings.comparison.by_length
    tables = [lengths.a, lengths.b]
    return Group(
        Text("\nWith and without attention: equal size, the same pairs, about the same time", style="bold"),
        _models(findings),
        LengthChart(tables, FAMILIES),
        show_lengths(tables, FAMILIES),
        Text(headline(findings), style="bold"),
        Text("\nA typical long sentence: in half of the others attention gains more chrF, in half less", style="bold"),
        _sentence(findings.typical),
        *_map(findings.drawn),
        Text("\nTry next", style="bold"),
        *_next(findings, plan),
    )


def headline(findings: Findings) -> str:
    without, with_, between = findings.long
    sure = "" if between.interval is None else f" (95 %: {between.interval.low:.1f} to {between.interval.high:.1f})"
    return (
        f"{LONG} words and more ({without.sentences:,} sentences): BLEU {_number(without.score)} without attention, "
        f"{_number(with_.score)} with it: {_number(between.difference)} points between them{sure}"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _models(findings: Findings) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for family, trained in findings.trained.items():
        table.add_row(family, Text(_DESCRIPTIONS[family]))
        figures = f"{trained.parameters:,} parameters, {trained.updates:,} updates in {trained.seconds:,.0f} s"
        table.add_row("", Text(figures, style="dim"))
    table.add_row()
    return table


def _sentence(sentence: ComparedSentence) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    texts = (sentence.source, sentence.reference, sentence.a, sentence.b)
    for name, text in zip(("source", "reference", *FAMILIES), texts, strict=True):
        table.add_row(name, Text(text))
    return table


def _map(drawn: Translation) -> Iterator[RenderableType]:
    attention = drawn.attention
    assert attention is not None, "rnnsearch has attention"
    yield Text("\nWhat rnnsearch looked at, in an unseen sentence whose words change places", style="bold")
    yield attention.words()


def _next(findings: Findings, plan: Plan) -> Iterator[Text]:
    without, with_ = (shlex.quote(str(plan.run(family))) for family in FAMILIES)
    test, sentence = shlex.quote(str(plan.test)), shlex.quote(findings.drawn.source)
    for command in (
        f"seq2see look {with_} {sentence} --out map.html",
        f"echo {sentence} | seq2see translate {with_}",
        f"seq2see compare {without} {with_} {test} --length-of reference --edges {','.join(map(str, EDGES))}",
        f"seq2see train builtin:{CORPUS} --model transformer --size tiny --out runs/transformer",
        "seq2see train your-own-pairs.tsv --time-limit 30m --out runs/mine",
        f"seq2see serve {with_} {without}",  # a page with both of them, side by side
    ):
        yield Text(f"    {command}", no_wrap=True, overflow="ignore")


def write_report(findings: Findings, plan: Plan, command: str) -> None:
    """report.html: the same, with curves of training, and maps to point at."""
    drawn = findings.drawn
    assert drawn.attention is not None, "rnnsearch has attention"
    shown = Shown((drawn.attention,), title=drawn.source, texts=(("rnnsearch", drawn.text),))
    results = ResultsReport(
        "With and without attention",
        lead=headline(findings),
        comparison=findings.comparison,
        trainings=tuple(read_training(plan.run(family)) for family in FAMILIES),
        examples=(shown,),
        environment=environment(command, plan.seed),
    )
    write_page(plan.report, report(results), "--out")
