"""The parts of the demo by themselves: its folder, its sentences, what it says of two models."""

import io
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from seq2see.corpora import Example
from seq2see.demo.corpus import crossings, write_pairs, write_test
from seq2see.demo.findings import choose_sentence
from seq2see.demo.plan import EDGES, FAMILIES, LONG, Plan, claim
from seq2see.demo.progress import DemoReporter
from seq2see.errors import RunError
from seq2see.models import configure, from_config, parameters
from seq2see.report.page import is_number, read_metrics
from seq2see.session import Translation
from seq2see.training.process import News
from seq2see.training.run import new_config


def lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_folder_is_claimed_once_and_taken_up_by_the_same_demo(tmp_path: Path) -> None:
    plan = Plan(tmp_path / "demo", seed=3)
    claim(plan)
    claim(plan)
    for other in (Plan(plan.out, seed=4), Plan(plan.out, seconds=9.0, seed=3), Plan(plan.out, seed=3, pairs=200)):
        with pytest.raises(RunError, match="other options"):
            claim(other)


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(RunError, match="holds no demo"):
        claim(Plan(tmp_path))
    with pytest.raises(RunError, match="holds no demo"):
        claim(Plan(tmp_path / "thesis.txt"))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_mark_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    for content in ("{", "[" * 100_000, '{"seed": ' + "9" * 5000 + "}", "\udcff"):
        (tmp_path / "demo.json").write_text(content, errors="surrogateescape")
        with pytest.raises(RunError, match=r"demo\.json: cannot be read"):
            claim(Plan(tmp_path))


def test_test_sentences_are_unseen_and_spread_over_all_lengths(tmp_path: Path) -> None:
    plan = Plan(tmp_path, pairs=2000, each=30)
    write_pairs(plan)
    test = write_test(plan)
    trained, tested = lines(plan.training_pairs), lines(plan.test)
    assert len(trained) == 2000
    assert tested == [[one.source, one.target] for one in test]
    assert not {source for source, _ in trained} & {source for source, _ in tested}
    assert not {target for _, target in trained} & {target for _, target in tested}
    words = [len(target.split()) for _, target in tested]
    bounds = [0, *EDGES, 1000]
    counts = [sum(low < count <= high for count in words) for low, high in pairwise(bounds)]
    assert counts == [30] * (len(EDGES) + 1)


def test_a_long_sentence_begins_a_bucket() -> None:
    assert LONG - 1 in EDGES


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (((0, 0), (1, 1), (2, 2)), 0),
        (((0, 2), (1, 1), (2, 0)), 3),
        (((0, 0), (1, 2), (2, 1)), 1),
        # two words that are translated by the same two are one unit, and pass one other
        (((0, 1), (0, 2), (1, 1), (1, 2), (2, 0)), 1),
        # an article goes with its noun
        (((0, 2), (0, 3), (1, 0), (1, 1)), 1),
        ((), 0),
    ],
)
def test_crossings_are_counted_between_units(links: tuple[tuple[int, int], ...], expected: int) -> None:
    assert crossings(Example("", "", links)) == expected


STRAIGHT, TURNED = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4)), ((0, 4), (1, 3), (2, 2), (3, 1), (4, 0))


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (("right", "right", "right"), 1),  # of right ones the one that is turned most
        (("right", "wrong", "right"), 0),  # rather right than turned; a long one cannot be read
        (("wrong", "wrong", "right"), 1),
    ],
)
def test_the_sentence_of_the_map(outputs: tuple[str, str, str], expected: int) -> None:
    test = [
        Example("a b c d e", "right", STRAIGHT),
        Example("f g h i j", "right", TURNED),
        Example(" ".join("k" * 30), "right", (*TURNED, (29, 0))),
    ]
    said = [Translation(one.source, output, 0.0) for one, output in zip(test, outputs, strict=True)]
    assert choose_sentence(test, said) is said[expected]


def test_both_models_are_of_one_size_and_differ_in_attention(tmp_path: Path) -> None:
    sizes, trainings = [], []
    for family in FAMILIES:
        config = new_config(Plan(tmp_path).settings(family))
        model = {name: value for name, value in config.model.items() if name not in ("family", "size")}
        settings = configure(family, "tiny", source_vocabulary=3000, target_vocabulary=900, settings=model)
        sizes.append(parameters(from_config(settings)))
        trainings.append(config.training.model_dump(exclude={"steps", "validate_every"}))
        assert settings.model_dump()["encoder"]["bidirectional"]
        assert settings.model_dump().get("attention", {}).get("score") == (
            "additive" if family == "rnnsearch" else None
        )
    assert abs(sizes[0] / sizes[1] - 1) < 0.02
    assert trainings[0] == trainings[1]


def test_seconds_replace_the_number_of_updates(tmp_path: Path) -> None:
    told = new_config(Plan(tmp_path, seconds=7.5, seed=9).settings("rnn")).training
    assert (told.steps, told.time_limit, told.seed) == (None, 7.5, 9)
    untold = new_config(Plan(tmp_path).settings("rnn")).training
    assert untold.steps is not None
    assert untold.time_limit is None


def test_the_last_update_is_printed_also_when_the_clock_ended_training_early() -> None:
    printed = io.StringIO()
    with DemoReporter(Console(file=printed, width=80)) as reporter:
        reporter.hear("rnn", News(step=3, total=50, loss=2.5, speed=100.0))
        reporter.hear("rnnsearch", News(step=2, total=40, loss=2.25, speed=90.0))
    assert printed.getvalue() == "rnn 3/50 loss 2.500 100 tokens/s   rnnsearch 2/40 loss 2.250 90 tokens/s\n"


def test_damaged_metrics_are_passed_over(tmp_path: Path) -> None:
    lines = ['{"step": 1, "seconds": 0.5}', "[" * 100_000, '{"seconds": "x"}', "null", '{"seconds": 1e999}', '{"sec']
    (tmp_path / "metrics.jsonl").write_text("\n".join(lines))
    assert [entry for entry in read_metrics(tmp_path) if is_number(entry.get("seconds"))] == [
        {"step": 1, "seconds": 0.5}
    ]
