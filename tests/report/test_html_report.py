"""The report: whatever there is becomes a section, its figures are those of the comparison, and texts stay texts."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from seq2see.errors import RunError
from seq2see.evaluate import (
    Comparison,
    Evaluation,
    EvaluationSettings,
    Resampling,
    compare_outputs,
    evaluate_outputs,
    references_of,
)
from seq2see.look import AttentionMap, Side
from seq2see.look.draw.page import PageExample
from seq2see.look.map.tree import BeamTree, Node
from seq2see.report.page import ResultsReport, Training, environment, read_training, report, thinned

sys.path.insert(0, str(Path(__file__).parents[1] / "look"))
from browsing import FOREIGN, SCRIPTS, Watched, chromium, opened, written

PLAN = Resampling(resamples=100, trials=100)
WORDS = [
    "the",
    "a",
    "book",
    "man",
    "river",
    "house",
    "sees",
    "goes",
    "eats",
    "reads",
    "and",
    "then",
    "which",
    "library",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """A system that fails with length, and one that does not."""
    chance = np.random.default_rng(0)
    pairs, outputs = [], ([], [])
    for _ in range(120):
        said = [str(word) for word in chance.choice(WORDS, int(chance.integers(4, 28)))]
        pairs.append((" ".join(said), " ".join(said)))
        for one, noise in zip(outputs, (0.03 * len(said), 0.1), strict=True):
            one.append(" ".join("x" if chance.random() < noise else word for word in said))
    return compare_outputs(
        *outputs,
        references_of(pairs, "pairs"),
        EvaluationSettings(("bleu", "chrf"), plan=PLAN),
        systems=("runs/rnn", "runs/with"),
    )


def evaluation(system: str = "runs/one") -> Evaluation:
    texts = [" ".join(WORDS[: 4 + number % 9]) for number in range(40)]
    test = references_of([(text, text) for text in texts], "test")
    return evaluate_outputs(texts, test, EvaluationSettings(("bleu", "exact"), plan=PLAN), system=system)


def example(text: str = "나는 학생") -> PageExample:
    side = Side(text, (text, "</s>"), ((0, len(text)), (len(text), len(text))), (0, None))
    attention = AttentionMap(side, side, "cross", np.full((1, 1, 2, 2), 0.5, dtype=np.float32))
    tree = BeamTree((Node(0, None, 2, "</s>", -0.1, -0.1, "ended", None, 1),), (-0.1,))
    return PageExample((attention,), texts=(("reference", text),), tree=tree)


def sections(watched: Watched) -> list[str]:
    return watched.page.locator("h2").all_inner_texts()


def test_an_empty_report_opens(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, report(ResultsReport("Nothing yet")))) as watched:
        assert watched.page.title() == "Nothing yet"
        assert sections(watched) == []
        assert watched.page.locator("nav").count() == 0


def test_a_full_report_has_every_section(browser: Browser, tmp_path: Path, comparison: Comparison) -> None:
    curves = {"loss": ((10.0, 2.0), (20.0, 1.0)), "bleu": ((10.0, 5.0), (20.0, 30.0))}
    training = Training("runs/with", tuple((float(n), 8 / n) for n in range(1, 30)), curves)
    whole = ResultsReport(
        "With and without",
        "Two models of equal size.",
        replace(comparison, command="seq2see compare a b pairs"),
        trainings=(training, replace(training, name="runs/rnn")),
        examples=(example(),),
        sentences=2,
        environment=environment("seq2see demo --seed 7", 7),
    )
    with opened(browser, written(tmp_path, report(whole))) as watched:
        assert sections(watched) == [
            "Scores",
            "Quality by length",
            "Training",
            "What it looked at",
            "Sentences they differ in",
            "How it was made",
        ]
        assert watched.page.locator("nav a").all_inner_texts() == sections(watched)
        assert watched.page.locator(".lead").inner_text() == "Two models of equal size."
        assert watched.page.locator(".of-training h3").all_inner_texts() == ["Loss", "Validation bleu"]
        assert watched.page.locator(".of-training .keys").first.locator("bdi").all_inner_texts() == [
            "runs/with, training",
            "runs/with, validation",
            "runs/rnn, training",
            "runs/rnn, validation",
        ]
        made = watched.page.locator(".of-environment").inner_text()
        for told in ("seq2see demo --seed 7", "seq2see compare a b pairs", "tok:13a", "100 resamples", "numpy"):
            assert told in made
        watched.page.get_by_text("Beam", exact=True).click()
        assert watched.page.locator(".candidate").count() == 1
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_scores_and_significance_are_those_of_the_comparison(
    browser: Browser, tmp_path: Path, comparison: Comparison
) -> None:
    with opened(browser, written(tmp_path, report(ResultsReport("t", comparison=comparison)))) as watched:
        rows = watched.page.locator(".of-scores tbody tr").all()
        assert len(rows) == len(comparison.contrasts)
        for row, contrast in zip(rows, comparison.contrasts, strict=True):
            shown = row.locator("td").all_inner_texts()
            assert shown[0] == contrast.a.label
            values = (contrast.a.value, contrast.b.value, contrast.paired.difference)
            assert [float(text) for text in shown[1:4]] == [pytest.approx(value, abs=0.0501) for value in values]
            low, high = (float(text) for text in shown[4].split(" to "))
            assert contrast.paired.interval is not None
            assert (low, high) == pytest.approx(contrast.paired.interval, abs=0.0501)
        assert "BLEU: B is better" in watched.page.locator(".of-scores").inner_text()
        best = comparison.wins("b", 1)[0]
        assert best.b in watched.page.locator(".of-sentences").inner_text()


def test_pointing_at_the_chart_tells_score_and_interval(
    browser: Browser, tmp_path: Path, comparison: Comparison
) -> None:
    file = written(tmp_path, report(ResultsReport("t", comparison=comparison)))
    for viewport in ({"width": 1200, "height": 900}, {"width": 360, "height": 740}):
        with opened(browser, file, viewport=viewport) as watched:
            chart = watched.page.locator(".of-lengths svg[role=img]")
            chart.scroll_into_view_if_needed()
            box = chart.bounding_box()
            assert box is not None
            tip = watched.page.locator(".of-lengths .tip")
            assert not tip.is_visible()
            seen = set()
            for x in range(60, int(box["width"]) - 20, 12):
                watched.page.mouse.move(box["x"] + x, box["y"] + 120)
                seen.add(tip.inner_text())
            both = comparison.by_length
            assert len(seen) == len(both.buckets)
            for a, b in zip(both.a.rows, both.b.rows, strict=True):
                assert a.interval is not None
                told = next(text for text in seen if text.startswith(f"{a.bucket.label} (n={a.sentences})"))
                assert f"A runs/rnn: {a.score:.1f} ({a.interval.low:.1f} to {a.interval.high:.1f})" in told
                assert f"B runs/with: {b.score:.1f} (" in told
            chart.focus()
            watched.page.keyboard.press("Home")
            watched.page.keyboard.press("ArrowRight")
            spoken = watched.page.locator(".of-lengths [aria-live]").text_content() or ""
            assert spoken.startswith(both.buckets[1].label)
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_bands_and_marks_stand_where_the_scores_are(browser: Browser, tmp_path: Path, comparison: Comparison) -> None:
    """Read back from the drawing: heights are proportional to scores, and each band holds its line."""
    with opened(browser, written(tmp_path, report(ResultsReport("t", comparison=comparison)))) as watched:
        watched.page.locator(".of-lengths .marks circle").first.wait_for(state="attached")
        heights = watched.page.evaluate(
            "[...document.querySelectorAll('.plot .marks circle')].map((c) => +c.getAttribute('cy'))"
        )
        scores = [row.score for row in comparison.by_length.a.rows]
        slope, offset = np.polyfit(scores, heights, 1)
        assert slope < 0
        assert np.abs(np.polyval([slope, offset], scores) - heights).max() < 0.01
        band = watched.page.evaluate("document.querySelector('.plot .band.c0 path').getAttribute('d')")
        ends = [float(point.split()[1]) for point in band.strip("MZ").split("L")]
        rows = comparison.by_length.a.rows
        wanted = [row.interval.high for row in rows if row.interval] + [
            r.interval.low for r in rows[::-1] if r.interval
        ]
        assert ends == [pytest.approx(slope * value + offset, abs=0.01) for value in wanted]


def test_one_system_alone_has_scores_and_its_curve(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, written(tmp_path, report(ResultsReport("t", evaluations=(evaluation(),))))) as watched:
        assert sections(watched) == ["Scores", "Quality by length", "How it was made"]
        assert watched.page.locator(".of-lengths .keys bdi").all_inner_texts() == ["runs/one"]
        assert watched.page.locator(".of-scores tbody tr").first.locator("td").all_inner_texts()[:3] == [
            "runs/one",
            "BLEU",
            "100.0",
        ]


def test_names_and_sentences_that_look_like_code_stay_texts(
    browser: Browser, tmp_path: Path, comparison: Comparison
) -> None:
    assert len(SCRIPTS) >= 50
    everything = " ".join(SCRIPTS)
    sentence = replace(comparison.sentences[0], source=everything, a=everything, b="x", chrf_a=100.0, chrf_b=0.0)
    sentences = tuple(replace(sentence, reference=text, place=text) for text in SCRIPTS)
    bad = replace(comparison, a=everything, b=everything, test=everything, sentences=sentences, notes=tuple(SCRIPTS))
    points = ((1.0, 1.0), (2.0, 2.0))
    trainings = tuple(Training(text, points, {text: points}) for text in SCRIPTS)
    given = ResultsReport(
        everything,
        everything,
        bad,
        trainings=trainings,
        examples=(example(everything),),
        sentences=99,
        environment=tuple(zip(SCRIPTS, SCRIPTS, strict=True)),
    )
    with opened(browser, written(tmp_path, report(given))) as watched:
        assert len(sections(watched)) == 6
        chart = watched.page.locator(".of-training svg[role=img]").first
        chart.hover()
        watched.page.locator(".of-lengths svg[role=img]").hover()
        count = "(chosen) => document.querySelectorAll(chosen).length"
        assert [watched.page.evaluate(count, chosen) for chosen in (FOREIGN, "script", "meta, style, title")] == [
            0,
            2,
            7,
        ]
        assert SCRIPTS[0] in watched.page.locator(".of-environment dd").all_inner_texts()


# ----- training


def test_training_is_read_from_metrics_and_broken_lines_are_left_out(tmp_path: Path) -> None:
    lines = [
        json.dumps({"step": 1, "loss": 8.0, "norm": 1.0}),
        json.dumps({"step": 2, "loss": float("nan")}),
        json.dumps({"step": 2, "validation": {"loss": 7.5, "bleu": 3.0, "odd": None}}),
        "null",
        '{"step": "x", "loss": 1}',
        '{"step": 3, "loss": 6.0, "validation": 4}',
        '{"step": 4, "lo',
    ]
    (tmp_path / "metrics.jsonl").write_bytes("\n".join(lines).encode() + b"\xff")
    found = read_training(tmp_path, "mine")
    assert found == Training("mine", ((1, 8.0), (3, 6.0)), {"loss": ((2, 7.5),), "bleu": ((2, 3.0),)}, {2: 0.0})
    assert read_training(tmp_path).name == tmp_path.name
    with pytest.raises(RunError, match=r"no training to report on \(it has no metrics.jsonl\)"):
        read_training(tmp_path / "elsewhere")


def test_long_curves_are_thinned_to_means() -> None:
    points = [(float(step), float(step % 2)) for step in range(1, 10_001)]
    found = thinned(points, 100)
    assert len(found) == 100
    assert found[-1][0] == 10_000
    assert all(value == 0.5 for _, value in found)
    assert thinned(points[:50]) == points[:50]


def test_a_run_that_only_began_is_reported_too(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 8.0}\n')
    given = ResultsReport("t", trainings=(read_training(tmp_path), Training("none", (), {})))
    with opened(browser, written(tmp_path, report(given))) as watched:
        assert sections(watched) == ["Training"]
        watched.page.locator(".of-training svg[role=img]").hover()
        assert "8.000" in watched.page.locator(".of-training .tip").inner_text()


def test_the_environment_names_command_seed_and_versions() -> None:
    found = dict(environment(["seq2see", "compare", "a b", "c"], 3))
    assert found["command"] == "seq2see compare 'a b' c"
    assert found["seed"] == "3"
    assert found["versions"].startswith("Python 3.")
    assert f"numpy {np.__version__}" in found["versions"]
    assert "seed" not in dict(environment("x"))
