"""The lesson *when*: its figures are those of `seq2see align` and of the walkthrough."""

import math

import pytest

from learning import Taught
from seq2see.evaluate.alignment import Gold, diagonal, score_alignments
from seq2see.learn.blocks import LessonTable, MapView
from seq2see.learn.lessons import when
from seq2see.learn.lessons.when import FIGURES, VARIANTS, WINDOW, centres, measured, model_settings, unseen
from seq2see.session.loading import load


def test_unseen_sentences_are_of_the_test_split_and_the_diagonal_is_measured(taught: Taught) -> None:
    sentences, straight = unseen(taught.workshop)
    assert sentences == when.chosen()
    assert len({example.source for example in sentences}) == when.SENTENCES
    examples = when.short_pairs("test", when.sizes(quick=True)[1])
    lines = [diagonal(len(example.source.split()), len(example.target.split())) for example in examples]
    gold = [Gold(frozenset(example.alignment or ())) for example in examples]
    assert straight == pytest.approx(score_alignments(lines, gold).aer)


def test_every_variant_is_what_its_name_says() -> None:
    models = {variant: model_settings(variant, quick=False)["model"] for variant in VARIANTS}
    assert [model["family"] for model in models.values()] == ["rnnsearch", *["luong"] * 4]
    assert [model.get("input_feeding") for model in models.values()] == [None, False, True, False, False]
    scopes = [model["attention"].get("scope") for model in models.values()]
    assert scopes == [None, None, None, "local-m", "local-p"]


def test_the_table_is_what_was_measured_and_measured_by_hand(taught: Taught) -> None:
    table = next(block for block in taught.page("when").sections[1].blocks if isinstance(block, LessonTable))
    examples = when.short_pairs("test", when.sizes(quick=True)[1])
    for row, variant in zip(table.rows, VARIANTS, strict=True):
        run, figures = measured(variant, taught.workshop)
        assert list(row[2:]) == [figures[name] for name in FIGURES]
        if variant not in ("bahdanau", "local_p"):
            continue
        translator = load(run)
        links = [translator.look(example.source, example.target).words().alignment() for example in examples]
        gold = [Gold(frozenset(example.alignment or ())) for example in examples]
        assert figures["aer"] == pytest.approx(score_alignments(links, gold).aer)
        said = [translator.translate(example.source).text for example in examples]
        exact = sum(text == example.target for text, example in zip(said, examples, strict=True))
        assert figures["exact"] == pytest.approx(exact / len(examples))


def test_the_maps_are_of_one_sentence_in_five_models(taught: Taught) -> None:
    blocks = taught.page("when").sections[2].blocks
    maps = [block.example.maps[0] for block in blocks if isinstance(block, MapView)]
    assert len(maps) == len(VARIANTS)
    assert {seen.source.text for seen in maps} == {unseen(taught.workshop)[0][0].source}
    for seen in maps[:3]:
        assert seen.weights.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    local = maps[VARIANTS.index("local_m")].weights[0, 0]
    for step, row in enumerate(local):
        assert not row[[place for place in range(len(row)) if abs(place - step) > WINDOW]].any()


def test_predicted_centres_lie_within_the_source(taught: Taught) -> None:
    example = unseen(taught.workshop)[0][0]
    run, _ = measured("local_p", taught.workshop)
    predicted = centres(run, example.source, example.target)
    assert len(predicted) == len(example.target.split())
    assert all(0 < place < len(example.source.split()) + 1 for place in predicted)
    table = next(block for block in taught.page("when").sections[3].blocks if isinstance(block, LessonTable))
    for row in table.rows:
        step = int(str(row[0]).split()[0])
        assert row[2] == step
        assert math.isclose(row[4], predicted[step])
        assert row[3].en == ("yes" if abs(row[1] - step) <= WINDOW else "no")
        assert row[5].en == ("yes" if abs(row[1] - predicted[step]) <= WINDOW else "no")
