"""Shortlists: what a source piece may become, made from training pairs, kept in the run folder, kept to by a search."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))

from folders import SOURCES, TARGETS, make_run
from safetensors.numpy import load_file, save_file

import seq2see
from seq2see import atomic
from seq2see.engines import make_shortlist
from seq2see.engines.aligned import model_1
from seq2see.engines.shortlist import FILE, FOLDER, MANIFEST, Shortlist
from seq2see.errors import RunError
from seq2see.runs.folder import WEIGHTS, load_run
from seq2see.search import SearchConfig

FAMILIES = ("rnnsearch", "rnn", "transformer")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    lines = (f"{source}\t{target}\n" for source, target in zip(SOURCES, TARGETS, strict=True))
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory, pairs) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {family: make_run(folder / family, family, sharp=1.5, train=(str(pairs),)) for family in FAMILIES}


@pytest.fixture
def run(made, tmp_path) -> Path:
    shutil.copytree(made["rnnsearch"], tmp_path / "run", ignore=shutil.ignore_patterns(FOLDER))
    return tmp_path / "run"


def small(run: Path) -> Shortlist:
    """Of which a random model says something else than it would without."""
    source, target = (tokenizer.size for tokenizer in load_run(run).tokenizers)
    return Shortlist(np.arange(source + 1), np.arange(source) % 40 + 20, np.array([30, 31]), target)


def test_the_words_of_a_sentence_are_its_own_and_the_common_ones():
    shortlist = Shortlist(np.array([0, 0, 2, 3]), np.array([7, 9, 5]), np.array([4]), 10)
    assert shortlist.of([1]).tolist() == [2, 3, 4, 7, 9]  # the end and the unknown word as well
    assert shortlist.of([2, 1, 2], also=[1, 0, 8]).tolist() == [2, 3, 4, 5, 7, 8, 9]  # never PAD or BOS
    words = shortlist.words([[0], [2]], [[], [8]])
    assert words.ids.tolist() == [2, 3, 4, 5, 8]
    assert words.own.tolist() == [[True, True, True, False, False], [True] * 5]


def test_model_1_finds_which_piece_says_which():
    rng = np.random.default_rng(0)
    sentences = [rng.integers(4, 24, 6).tolist() for _ in range(300)]
    pairs = [(source, [piece + 30 for piece in rng.permutation(source)]) for source in sentences]
    sources, targets, weights = model_1(pairs, 60)
    for piece in range(4, 24):
        own = sources == piece
        assert targets[own][weights[own].argmax()] == piece + 30


@pytest.mark.parametrize("family", FAMILIES)
def test_what_was_said_in_training_can_be_said(made, family):
    shortlist, (source, target) = make_shortlist(load_run(made[family])), load_run(made[family]).tokenizers
    for german, english in zip(SOURCES, TARGETS, strict=True):
        assert set(target.encode(english).ids) <= set(shortlist.of(source.encode(german).ids).tolist())


def test_it_is_made_once_and_again_when_it_no_longer_fits(run):
    told: list[str] = []
    first = make_shortlist(load_run(run), told.append)
    assert len(told) == 1
    assert "making the shortlist" in told[0]
    again = make_shortlist(load_run(run), told.append)
    assert len(told) == 1
    for name in ("starts", "targets", "common"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    manifest = atomic.read_json(run / FOLDER / MANIFEST)
    manifest["makers"][WEIGHTS] = "0" * 64
    atomic.write_json(run / FOLDER / MANIFEST, manifest)
    make_shortlist(load_run(run), told.append)
    assert len(told) == 2


@pytest.mark.parametrize("harm", ["cut short", "a piece too many", "no such piece", "falling", "no numbers"])
def test_a_file_that_is_none_is_not_believed(run, harm):
    expected = make_shortlist(load_run(run))
    file = run / FOLDER / FILE
    tensors = load_file(file)
    match harm:
        case "cut short":
            file.write_bytes(file.read_bytes()[:-4])
        case "a piece too many":
            save_file({**tensors, "starts": np.append(tensors["starts"], tensors["starts"][-1])}, file)
        case "no such piece":
            save_file({**tensors, "common": np.array([10**6], np.int32)}, file)
        case "falling":
            starts = tensors["starts"].copy()
            starts[1] = starts[-1] + 5
            save_file({**tensors, "starts": starts}, file)
        case "no numbers":
            file.write_bytes(b"{}")
    manifest = atomic.read_json(run / FOLDER / MANIFEST)
    atomic.write_json(run / FOLDER / MANIFEST, {**manifest, "sha256": atomic.digest(file)})
    told: list[str] = []
    again = make_shortlist(load_run(run), told.append)
    assert len(told) == 1
    np.testing.assert_array_equal(again.targets, expected.targets)


def test_a_folder_that_cannot_be_written_to_is_no_hindrance(run):
    (run / FOLDER).write_text("a file where the folder would be")
    told: list[str] = []
    assert len(make_shortlist(load_run(run), told.append).common) > 2
    assert "could not be kept" in told[1]


def test_a_run_without_training_pairs_is_refused_in_a_line(tmp_path):
    run = make_run(tmp_path / "run")
    with pytest.raises(RunError, match="has no training pairs to make a shortlist from"):
        seq2see.load(run, engine="torch", shortlist=True)


@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
@pytest.mark.parametrize("config", [SearchConfig(), SearchConfig(beam=3, length_penalty="gnmt")])
def test_a_sentence_is_said_with_its_own_words_whatever_stands_beside_it(made, engine, config):
    if engine == "ctranslate2":
        pytest.importorskip("ctranslate2")
    from seq2see.engines import Engines
    from seq2see.session import Translator

    run, shortlist = load_run(made["transformer"]), small(made["transformer"])
    translator = Translator([run], Engines([run], engine, shortlist=shortlist))
    texts = [*SOURCES, *(source.rsplit(" ", 2)[0] for source in SOURCES)]
    together = list(translator.translate_all(texts, config))
    for text, translation in zip(texts, together, strict=True):
        (alone,) = translator.translate_all([text], config)
        assert alone.token_ids == translation.token_ids
        assert set(alone.token_ids) <= set(shortlist.of(translator.read_source(text).ids).tolist())
    without = Translator([run]).translate_all(texts, config)
    assert any(one.token_ids != other.token_ids for one, other in zip(together, without, strict=True))


def test_what_has_to_be_said_and_what_is_drawn_keep_to_it_too(made):
    run, shortlist = load_run(made["rnnsearch"]), small(made["rnnsearch"])
    translator = seq2see.Translator([run])
    translator.engines.shortlist = shortlist
    own = set(shortlist.of(translator.read_source(SOURCES[0]).ids).tolist())
    required = translator.translate(SOURCES[0], required=["Seoul"])
    assert "Seoul" in required.text
    seoul = set(run.tokenizers[1].ids_batch(["Seoul"])[0])
    assert not seoul <= own
    assert set(required.token_ids) <= own | seoul
    drawn = translator.translate(SOURCES[0], search=SearchConfig(sample=True, nbest=5))
    assert {token for sample in drawn.nbest for token in sample.token_ids} <= own
