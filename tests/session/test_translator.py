"""The front door: text in, translation out."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from folders import FAMILIES, SOURCES, make_run

import seq2see
from seq2see.errors import ConfigError, RunError, ShapeError
from seq2see.search import SearchConfig
from seq2see.session import Request, Translator
from seq2see.session.tasks import make_tasks

TEXTS = [*SOURCES, "", "  ", "학생", "나는 " * 30, "ᛗ☃ emoji 🙂", "tab\there", "a\u2028b", "\x00\x07\x1b[31m"]


@pytest.fixture(scope="module", params=FAMILIES)
def translator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return seq2see.load(make_run(tmp_path_factory.mktemp("runs") / request.param, request.param, sharp=2.0))


def test_a_string_in_a_translation_out(translator: Translator) -> None:
    found = translator.translate(SOURCES[0], beam=4, nbest=3)
    assert found.source == SOURCES[0]
    assert found.nbest[0].text == found.text
    assert len(found.nbest) == 3
    assert [one.score for one in found.nbest] == sorted((one.score for one in found.nbest), reverse=True)
    assert len(found.tokens) == len(found.token_ids) == len(found.token_scores) - found.ended


def test_a_list_in_a_list_out_the_same_as_alone(translator: Translator) -> None:
    search = SearchConfig(beam=3, max_length=16)  # random models hardly ever end a sentence
    together = translator.translate(TEXTS, search=search)
    alone = [translator.translate(text, search=search) for text in TEXTS]
    assert [one.text for one in together] == [one.text for one in alone]
    assert [one.score for one in together] == pytest.approx([one.score for one in alone], rel=1e-3)
    assert translator.translate([]) == []


def test_white_space_stays_as_it_is(translator: Translator) -> None:
    plain = translator.translate(SOURCES[0]).text
    assert [one.text for one in translator.translate(["", "  ", "\t"])] == ["", "  ", "\t"]
    assert translator.translate(f"  {SOURCES[0]} \t").text == f"  {plain} \t"


def test_the_score_is_the_forced_score(translator: Translator) -> None:
    found = translator.translate(SOURCES[1], search=SearchConfig(beam=4, nbest=4))
    for one in found.nbest:
        if one.ended and one.token_ids == tuple(translator.runs[0].tokenizers[1].ids_batch([one.text])[0]):
            forced = translator.score([SOURCES[1]], [one.text])[0]
            assert one.score == pytest.approx(forced.score, abs=1e-4)
            assert list(one.token_scores) == pytest.approx(forced.token_scores, abs=1e-4)


def test_a_prefix_and_phrases_are_kept(translator: Translator) -> None:
    search = SearchConfig(beam=3, max_length=16)
    found = translator.translate(SOURCES, search=search, prefix="we", required=["Seoul"], forbidden=["a", "the"])
    for one in found:
        assert one.text.startswith("we")
        assert "Seoul" in one.text
        assert not {"a", "the"} & set(one.text.split())


def test_a_long_text_is_translated_in_parts(tmp_path: Path) -> None:
    translator = seq2see.load(make_run(tmp_path / "run", "transformer", max_length=16))
    text = " ".join(SOURCES * 5)
    found = translator.translate(text)
    assert len(found.parts) > 4
    assert "".join(part.text for part in found.parts) == found.text
    assert found.source == text
    parts = translator.translate([part.source for part in found.parts])
    assert [one.text for one in parts] == [part.text.strip() for part in found.parts]


@pytest.mark.parametrize(("letters", "parts"), [(14, 1), (15, 2)])
def test_no_part_is_longer_than_what_training_has_shown(letters: int, parts: int, tmp_path: Path) -> None:
    """max_length counts the end of the sentence as well; a piece marks the beginning of the word."""
    run = seq2see.load(make_run(tmp_path / "run", "rnn", max_length=16)).runs[0]
    tasks = make_tasks([Request("a" * letters)], [run], lambda text: text, lambda phrase: [])
    assert sum(len(task.source[0]) - 1 for task in tasks) == letters
    assert len(tasks) == parts


def test_a_million_characters(tmp_path: Path) -> None:
    """Cut and translated in parts: bounded memory, one result."""
    translator = seq2see.load(make_run(tmp_path / "run", "rnn", max_length=256))
    found = translator.translate("가 " * 20_000, search=SearchConfig(max_length=4))
    assert len(found.parts) > 50


def test_decomposed_hangul_is_the_same_text(translator: Translator) -> None:
    from unicodedata import normalize

    assert translator.translate(normalize("NFD", SOURCES[0])).text == translator.translate(SOURCES[0]).text


def test_half_a_surrogate_pair_loses_nothing(translator: Translator) -> None:
    assert translator.translate("나\ud800는").text == translator.translate("나\ufffd는").text
    translator.translate("나\ud800는").text.encode()


def test_sampling_repeats_and_differs_by_line(translator: Translator) -> None:
    config = SearchConfig(sample=True, seed=3)
    first, second = (translator.translate([SOURCES[0]] * 6, search=config) for _ in range(2))
    assert [one.text for one in first] == [one.text for one in second]
    assert len({one.text for one in first}) > 1
    assert first[4].text == next(translator.translate_all([Request(SOURCES[0], number=4)], config)).text


def test_agreement_orders_the_samples(translator: Translator) -> None:
    config = SearchConfig(sample=True, nbest=6, temperature=0.7)
    found = next(translator.translate_all([SOURCES[0]], config, agree=True))
    assert len(found.nbest) == 6
    assert [one.score for one in found.nbest] == sorted((one.score for one in found.nbest), reverse=True)


def test_streaming_holds_one_window(translator: Translator) -> None:
    """The input is asked for as the output is taken."""
    asked = 0

    def texts() -> object:
        nonlocal asked
        for text in SOURCES * 5:
            asked += 1
            yield text

    found = translator.translate_all(texts(), SearchConfig(max_length=8), window=4)  # type: ignore[arg-type]
    next(found)
    assert asked == 4
    assert sum(1 for _ in found) == 19


def test_an_ensemble_of_two_families(tmp_path: Path) -> None:
    one, two = make_run(tmp_path / "a", "luong", sharp=2.0), make_run(tmp_path / "b", "transformer", seed=1)
    together, alone = seq2see.load([one, two]), seq2see.load(one)
    found = together.translate(SOURCES)
    assert [x.text for x in seq2see.load([one, one]).translate(SOURCES)] == [x.text for x in alone.translate(SOURCES)]
    assert [x.text for x in found] != [x.text for x in alone.translate(SOURCES)]
    with pytest.raises(ConfigError, match="coverage penalty is for one run"):
        together.translate("학생", search=SearchConfig(coverage=0.2))


def test_an_ensemble_needs_one_vocabulary(tmp_path: Path) -> None:
    one, two = make_run(tmp_path / "a"), make_run(tmp_path / "b")
    from seq2see.runs import folder
    from seq2see.text import Tokenizer, TokenizerConfig

    Tokenizer.train(["other words"], TokenizerConfig(vocabulary=300)).save(two / folder.TOKENIZERS[1])
    run = folder.load_run(one)
    other = folder.Run(two, run.config, folder.load_tokenizers(two), run.model)
    with pytest.raises(RunError, match="do not share a target vocabulary"):
        Translator([run, other])


def test_wrong_calls_are_told(translator: Translator) -> None:
    with pytest.raises(ConfigError, match="belong into `search`"):
        translator.translate("x", beam=2, search=SearchConfig())
    with pytest.raises(ShapeError, match="2 sources but 1 targets"):
        translator.score(["a", "b"], ["c"])


def test_training_from_a_list_of_pairs(tmp_path: Path) -> None:
    pairs = [
        (f"{source} {number}", f"{target} {number}")
        for number in range(20)
        for source, target in zip(SOURCES, ["a b", "c d", "e f", "g h"], strict=True)
    ]
    out = tmp_path / "run"
    made = seq2see.train(
        pairs, out=out, model="luong", size="tiny", quiet=True, settings={"training": {"steps": 2, "threads": 1}}
    )
    assert isinstance(made.translate(SOURCES[0]).text, str)
    assert (out / "pairs.jsonl").exists()
    again = seq2see.load(out)
    assert again.translate(SOURCES[0]).text == made.translate(SOURCES[0]).text
    assert math.isfinite(again.score([SOURCES[0]], ["a b"])[0].score)
    with pytest.raises(RunError, match="already holds a run"):
        seq2see.train(pairs, out=out, quiet=True)


def test_a_list_that_cannot_be_trained_leaves_nothing(tmp_path: Path) -> None:
    from seq2see.errors import DataError

    for pairs in ([("a", 3)], [("a", "\ud800")], [("a", "b", "c")]):
        with pytest.raises(DataError, match="pair 0"):
            seq2see.train(pairs, out=tmp_path / "run", quiet=True)  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


def test_maps_that_are_read_in_batches_are_those_of_each_alone(translator: Translator) -> None:
    search = SearchConfig(beam=3, max_length=16, nbest=2)
    together, alone = translator.translate(TEXTS, search=search, maps=True), translator.translate(TEXTS, search=search)
    for one, other in zip(together, alone, strict=True):
        assert set(one.maps) == set(other.maps)
        for kind, whole in one.maps.items():
            assert whole.source.tokens == other.maps[kind].source.tokens
            assert whole.target.tokens == other.maps[kind].target.tokens
            np.testing.assert_allclose(whole.weights, other.maps[kind].weights, rtol=0, atol=2e-3)


def test_maps_are_not_computed_before_they_are_touched(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(type(translator.runs[0].model), "look", lambda self, batch: asked.append(batch) or ())
    found = translator.translate(SOURCES[0], nbest=2)
    assert not asked
    _ = found.attention
    assert len(asked) == 1
    assert torch.equal(asked[0].target_out[0, :-1], torch.tensor(found.token_ids))
