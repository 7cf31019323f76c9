"""The lesson *bottleneck*: one vector for a whole sentence, and what length does to it, with and without attention.

The two models are those of `seq2see demo`: its own, if it was run here, or the same trained for less than two minutes.
"""

from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field, field_validator

from seq2see import atomic
from seq2see.demo import DemoReporter, Plan, run
from seq2see.demo.corpus import write_pairs, write_test
from seq2see.demo.findings import choose_sentence
from seq2see.demo.parallel import untrained
from seq2see.demo.plan import EDGES, FAMILIES, Family, claim
from seq2see.evaluate import EvaluationSettings, compare_outputs, references_of
from seq2see.learn.blocks import Curves, Equation, LessonTable, MapView, Section, Series, TableColumn
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings, Vector
from seq2see.learn.papers import BAHDANAU_2014, CHO_2014_PROPERTIES, SUTSKEVER_2014, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import bottleneck as words
from seq2see.learn.workshop import LessonReporter, Workshop
from seq2see.look.draw.page import PageExample
from seq2see.models.rnn import RnnDecoder
from seq2see.models.rnnsearch import RnnSearchDecoder
from seq2see.runs import folder
from seq2see.runs.commit import MANIFEST
from seq2see.session import load
from seq2see.training.run import new_config, train_run

LENGTHS = (5, 10, 20, 40)  # words, for the arithmetic of one vector


class BottleneckSettings(LessonSettings):
    runs: str = Field("runs/demo", description="the folder of a finished demo; without one, models are trained")
    edges: Vector = Field(tuple(map(float, EDGES)), description="the last length of each bucket")
    metric: Literal["bleu", "chrf"] = Field("bleu", description="what quality is: bleu or chrf")

    @field_validator("edges")
    @classmethod
    def rising(cls, edges: tuple[float, ...]) -> tuple[float, ...]:
        if any(edge < 1 or edge != int(edge) for edge in edges) or list(edges) != sorted(set(edges)):
            raise ValueError("edges are whole numbers that rise, such as edges=8,16,24")
        return edges


# ----- two models, and what they say


def demo_plan(runs: Path, workshop: Workshop) -> Plan:
    """The demo that was run here, if it is finished; else one in the cache folder, trained now or long ago."""
    if all(folder.is_finished(runs / family) for family in FAMILIES):
        return Plan(runs)
    out = workshop.place("bottleneck", {})
    plan = Plan(out, pairs=400, each=4) if workshop.quick else Plan(out)
    if not untrained(plan):
        return plan
    if workshop.quick:
        _train_a_little(plan, workshop)
    else:
        plan.out.parent.mkdir(parents=True, exist_ok=True)
        with DemoReporter(workshop.display.console) as reporter:
            run(plan, reporter, "seq2see learn bottleneck")
    return plan


def _train_a_little(plan: Plan, workshop: Workshop) -> None:
    """A few updates of each, one after the other."""
    claim(plan)
    write_pairs(plan)
    for family in untrained(plan):
        settings = plan.settings(family)
        settings["training"] = settings["training"] | {"steps": 10}
        if plan.run(family).exists():
            atomic.remove_folder(plan.run(family))
        ended = train_run(new_config(settings), plan.run(family), LessonReporter(workshop.display, family))
        if ended.interrupted:
            raise KeyboardInterrupt


def translated(plan: Plan) -> dict[str, Any]:
    """Both models on sentences of every length that neither has seen."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    test = write_test(plan)
    result: dict[str, Any] = {"test": [(example.source, example.target) for example in test]}
    for family in FAMILIES:
        translator = load(plan.run(family), engine="torch")
        outputs = list(translator.translate_all((example.source for example in test), window=len(test)))
        result[family] = [output.text for output in outputs]
        if family == "rnnsearch":
            drawn = choose_sentence(test, outputs)
            result["drawn"] = (drawn.source, drawn.text)
        else:
            result["width"] = translator.model.encoder.summary_dim
    torch.set_num_threads(threads)
    return result


def by_length(outputs: dict[str, Any], edges: tuple[int, ...], metric: Literal["bleu", "chrf"]) -> dict[str, Any]:
    """Quality of both in each bucket of lengths, and the difference with its 95 % interval in the last one."""
    references = references_of([(source, target) for source, target in outputs["test"]], "test.tsv")
    settings = EvaluationSettings(metrics=(metric,), side="reference", edges=edges)
    compared = compare_outputs(outputs["rnn"], outputs["rnnsearch"], references, settings, systems=("rnn", "rnnsearch"))
    table = compared.by_length
    interval = table.paired[-1].interval
    long = [sentence for sentence in compared.sentences if len(sentence.reference.split()) >= table.buckets[-1].low]
    typical = sorted(long, key=lambda sentence: sentence.gain)[len(long) // 2]
    return {
        "label": table.a.label,
        "buckets": [row.bucket.label for row in table.a.rows],
        "sentences": [row.sentences for row in table.a.rows],
        "rnn": [row.score or 0.0 for row in table.a.rows],
        "rnnsearch": [row.score or 0.0 for row in table.b.rows],
        "interval": None if interval is None else [interval.low, interval.high],
        "typical": {"source": typical.source, "reference": typical.reference, "rnn": typical.a, "rnnsearch": typical.b},
    }


# ----- the page


def teach(settings: BottleneckSettings, workshop: Workshop) -> LessonPage:
    plan = demo_plan(Path(settings.runs), workshop)
    key = {"runs": [atomic.digest(plan.run(family) / MANIFEST) for family in FAMILIES]}
    outputs = workshop.measured("bottleneck-outputs", key, lambda: translated(plan))
    edges = tuple(map(int, settings.edges))
    how = {"edges": edges, "metric": settings.metric}
    measured = workshop.measured("bottleneck-lengths", key | how, lambda: by_length(outputs, edges, settings.metric))
    first, last = measured["buckets"][0], measured["buckets"][-1]
    falls = {
        f"{family}_{end}": measured[family][place] for family in FAMILIES for end, place in (("short", 0), ("long", -1))
    }
    figures = {"label": measured["label"], "first": first, "last": last} | falls
    run_path = plan.run("rnnsearch")
    return LessonPage(
        words.QUESTION,
        (
            _one_vector(int(outputs["width"])),
            _quality(measured, figures, plan),
            _sentence(measured["typical"]),
            _instead(run_path, *outputs["drawn"]),
        ),
        words.ANSWER.fill(figures | {"width": int(outputs["width"])}),
        attempts=(
            Attempt(words.TRY_EDGES, ("edges=12,24",)),
            Attempt(words.TRY_METRIC, ("metric=chrf",)),
        ),
        origins=(
            Origin(SUTSKEVER_2014, "section 2", words.ORIGIN_SUTSKEVER),
            Origin(CHO_2014_PROPERTIES, "section 4.1", words.ORIGIN_CHO),
            Origin(BAHDANAU_2014, "sections 3.1 and 5.1, figure 2", words.ORIGIN_BAHDANAU),
        ),
        following=("dot", "memory"),
        commands=("seq2see demo",),
    )


def _one_vector(width: int) -> Section:
    columns = (
        TableColumn(words.COLUMN_WORDS, "d"),
        TableColumn(words.COLUMN_VECTOR, "d"),
        TableColumn(words.COLUMN_EACH, ".1f"),
        TableColumn(words.COLUMN_STATES, "d"),
        TableColumn(words.COLUMN_STATES_EACH, ".1f"),
    )
    rows = tuple((length, width, width / length, width * length, float(width)) for length in LENGTHS)
    return Section(
        words.VECTOR_TITLE,
        (
            words.VECTOR.fill({"width": width}),
            LessonTable(columns, rows),
            quote("c = [h_T; h_1]: one vector, the same for every word", RnnDecoder.memorise, "return RnnMemory"),
            quote(
                "h_1, ..., h_T: as many as there are words",
                RnnSearchDecoder.memorise,
                "prepared = ",
                "return SearchMemory",
            ),
            Equation("rnn:        p(y_t | y_1 ... y_t-1, x) = g(y_t-1, s_t, c)"),
            Equation("rnnsearch:  p(y_t | y_1 ... y_t-1, x) = g(y_t-1, s_t, c_t)"),
        ),
        code=f"width = {width}\nfor length in LENGTHS:\n    print(length, width / length)",
    )


def _quality(measured: dict[str, Any], figures: dict[str, Any], plan: Plan) -> Section:
    columns = (
        TableColumn(words.COLUMN_BUCKET),
        TableColumn(words.COLUMN_SENTENCES, "d"),
        TableColumn("rnn", ".1f"),
        TableColumn("rnnsearch", ".1f"),
    )
    names = ("buckets", "sentences", *FAMILIES)
    rows = tuple(zip(*(measured[name] for name in names), strict=True))
    series = tuple(
        Series(words.FAMILY_NAMES[family], tuple((float(place), score) for place, score in enumerate(measured[family])))
        for family in FAMILIES
    )
    interval = measured["interval"]
    gap = measured["rnnsearch"][-1] - measured["rnn"][-1]
    sure = [] if interval is None else [words.SURE.fill({"gap": gap, "low": interval[0], "high": interval[1]})]
    chart = Curves(
        words.CHART.fill({"label": measured["label"]}),
        words.COLUMN_BUCKET,
        series,
        digits=1,
        ticks=tuple(measured["buckets"]),
        low=0.0,
    )
    return Section(
        words.QUALITY_TITLE,
        (
            words.QUALITY.fill({"sentences": sum(measured["sentences"])}),
            LessonTable(columns, rows),
            chart,
            words.QUALITY_READ.fill(figures),
            *sure,
        ),
        code=f'outputs = translated(Plan(Path("{plan.out}"), each={plan.each}))\n'
        f'print(by_length(outputs, {tuple(EDGES)}, "bleu"))',
    )


def _sentence(typical: dict[str, str]) -> Section:
    reference = set(typical["reference"].split())
    kept: dict[Family, int] = {family: len(reference & set(typical[family].split())) for family in FAMILIES}
    return Section(
        words.SENTENCE_TITLE,
        (
            words.SENTENCE,
            words.SOURCE.fill({"text": typical["source"]}),
            words.REFERENCE.fill({"text": typical["reference"]}),
            words.WITHOUT.fill({"text": typical["rnn"] or "–"}),
            words.WITH.fill({"text": typical["rnnsearch"] or "–"}),
            words.KEPT.fill({"all": len(reference), "rnn": kept["rnn"], "rnnsearch": kept["rnnsearch"]}),
        ),
    )


def _instead(run_path: Path, source: str, target: str) -> Section:
    attention = load(run_path).look(source, target)
    assert attention is not None, "rnnsearch has attention"
    return Section(
        words.INSTEAD_TITLE,
        (
            words.INSTEAD,
            MapView(PageExample((attention,), title=source, texts=(("rnnsearch", target),))),
            quote("c_t = sum_j weight_tj h_j", RnnSearchDecoder._advance, "query = ", "context = context"),
        ),
        code=f"attention = load({str(run_path)!r}).look({source!r}, {target!r})\nprint(attention.words())",
    )


LESSON = Lesson("bottleneck", words.TITLE, BottleneckSettings, teach)
