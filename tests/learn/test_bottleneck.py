"""The lesson *bottleneck*: from the demo's runs if they are there, else from its own; scores as sacreBLEU has them."""

from pathlib import Path

import pytest
import sacrebleu

from learning import Taught
from seq2see.demo.plan import FAMILIES, Plan
from seq2see.errors import ConfigError
from seq2see.learn.blocks import LessonTable
from seq2see.learn.lessons import bottleneck
from seq2see.learn.lessons.bottleneck import by_length, demo_plan, translated
from seq2see.session import load


@pytest.fixture(scope="module")
def plan(taught: Taught) -> Plan:
    return demo_plan(Path("no/such/demo"), taught.workshop)


def test_a_finished_demo_is_taken_as_it_is(plan: Plan, taught: Taught, tmp_path: Path) -> None:
    assert plan.out.parent == taught.workshop.folder
    assert demo_plan(plan.out, taught.workshop).out == plan.out
    for family in FAMILIES:
        (tmp_path / family).mkdir()
    assert demo_plan(tmp_path, taught.workshop).out == plan.out  # folders without a finished run are no demo


def test_figures_are_those_of_the_models(plan: Plan, taught: Taught) -> None:
    outputs = translated(plan)
    for family in FAMILIES:
        translator = load(plan.run(family))
        source, _ = outputs["test"][0]
        assert outputs[family][0] == translator.translate(source).text
    assert outputs["width"] == load(plan.run("rnn")).model.encoder.summary_dim
    edges = tuple(map(int, bottleneck.BottleneckSettings().edges))
    measured = by_length(outputs, edges, "bleu")
    table = next(block for block in taught.page("bottleneck").sections[1].blocks if isinstance(block, LessonTable))
    assert [row[0] for row in table.rows] == measured["buckets"] == ["1-8", "9-16", "17-24", "25-32", "33+"]
    last = [place for place, (_, target) in enumerate(outputs["test"]) if len(target.split()) > edges[-1]]
    references = [outputs["test"][place][1] for place in last]
    for column, family in enumerate(FAMILIES, start=2):
        hypotheses = [outputs[family][place] for place in last]
        score = sacrebleu.corpus_bleu(hypotheses, [references]).score
        assert table.rows[-1][column] == pytest.approx(score, abs=1e-6)
        assert f"{score:.1f}" in taught.page("bottleneck").answer.en


def test_one_vector_by_hand(taught: Taught) -> None:
    table = next(block for block in taught.page("bottleneck").sections[0].blocks if isinstance(block, LessonTable))
    for words, width, each, states, states_each in table.rows:
        assert each == pytest.approx(width / words)
        assert states == width * words
        assert states_each == width


@pytest.mark.parametrize("edges", ["8,4", "0,5", "2.5,8", "x"])
def test_edges_that_do_not_rise(edges: str, taught: Taught) -> None:
    with pytest.raises(ConfigError, match="edges"):
        taught.page("bottleneck", {"edges": edges})
