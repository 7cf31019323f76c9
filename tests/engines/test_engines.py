"""Engines in a run folder: made once, made again when they must be, and the translator says the same with them."""

import os
import shutil
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "contracts"))
sys.path.insert(0, str(Path(__file__).parents[1] / "session"))

from agreeing import sources as contract_sources
from folders import SOURCES, make_run

import seq2see
from seq2see import atomic
from seq2see.engines import auto, cache, choosing, make_engine
from seq2see.engines.cache import FOLDER, MANIFEST
from seq2see.engines.graphs import Graphs
from seq2see.engines.shortlist import Words
from seq2see.errors import ConfigError, RunError
from seq2see.runs.folder import WEIGHTS, load_run
from seq2see.search import Listed, ListedChooser, SearchConfig, among, search

try:
    import ctranslate2  # type: ignore[import-untyped]  # noqa: F401
    import onnx
    import onnxruntime  # noqa: F401
    import onnxscript  # noqa: F401
except ImportError as missing:
    if os.environ.get("CI") == "true":
        raise
    pytest.skip(f"{missing.name} is not installed: pip install 'seq2see[fast]'", allow_module_level=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A Transformer with one matrix for three uses and positions that turn, with both engines."""
    unusual = {"tie": "target", "positions": "rotary", "kv_heads": 1}
    run = make_run(tmp_path_factory.mktemp("runs") / "run", "transformer", sharp=1.2, layers=1, **unusual)
    for name in ("onnx", "int8"):
        make_engine(load_run(run), name)
    return run


@pytest.fixture
def run(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


def test_an_engine_is_made_once(run):
    told: list[str] = []
    for name in ("onnx", "int8"):
        make_engine(load_run(run), name, told.append)
    assert told == []


def test_a_transformer_says_what_torch_says(run):
    from agreeing import compare_all

    compare_all(load_run(run).model, make_engine(load_run(run), "onnx"))


@pytest.mark.parametrize("harm", ["weights", "graph", "cut short", "no digest"])
def test_an_engine_that_no_longer_fits_is_made_again(run, harm, monkeypatch):
    folder = run / FOLDER / "onnx"
    # Exporting takes seconds, and gives what was there.
    whole = Graphs((folder / "encode.onnx").read_bytes(), (folder / "step.onnx").read_bytes())
    monkeypatch.setattr(cache, "export", lambda model: whole)
    if harm == "weights":  # a graph of other weights, whole, and by its own account made from them
        graph, manifest = onnx.load(folder / "step.onnx"), atomic.read_json(folder / MANIFEST)
        graph.producer_name = "another"
        (folder / "step.onnx").write_bytes(graph.SerializeToString())
        manifest["files"]["step.onnx"] = atomic.digest(folder / "step.onnx")
        assert manifest["makers"][WEIGHTS] == atomic.digest(run / WEIGHTS)
        manifest["makers"][WEIGHTS] = "0" * 64
        atomic.write_json(folder / MANIFEST, manifest)
    elif harm == "graph":
        (folder / "step.onnx").write_bytes((folder / "step.onnx").read_bytes()[:-1] + b"x")
    elif harm == "cut short":
        (folder / MANIFEST).write_text("{")
    else:
        (folder / MANIFEST).unlink()
    before = (folder / "step.onnx").read_bytes()
    told: list[str] = []
    engine = make_engine(load_run(run), "onnx", told.append)
    assert len(told) == 1
    assert "making the engine onnx" in told[0]
    assert (folder / "step.onnx").read_bytes() != before or harm in ("cut short", "no digest")
    tokens, model = torch.tensor([1, 1]), load_run(run).model
    source, mask = torch.tensor([[5, 6, 2], [7, 8, 2]]), torch.ones(2, 1, 3, dtype=torch.bool)
    with torch.no_grad():
        memory, outside = model.encode(source, mask), engine.encode(source, mask)
        expected, _ = model.step(tokens, memory, model.start(memory))
        got, _ = engine.step(tokens, outside, engine.start(outside))
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-4)


def test_a_folder_that_cannot_be_written_to_is_no_hindrance(run):
    shutil.rmtree(run / FOLDER / "int8")
    (run / FOLDER / "int8").write_text("a file where the folder would be")
    told: list[str] = []
    make_engine(load_run(run), "int8", told.append)
    assert "could not be kept" in told[1]


def test_eight_bits_are_used_and_stay_near(run):
    graph = onnx.load(run / FOLDER / "int8" / "step.onnx").graph
    # Queries, keys and values; out; the look at the source in and out; feed-forward, twice; the vocabulary.
    assert sum(node.op_type == "MatMulIntegerToFloat" for node in graph.node) == 7
    model = load_run(run).model
    engine = make_engine(load_run(run), "int8")
    source, mask = torch.tensor([[5, 6, 9, 2]]), torch.ones(1, 1, 4, dtype=torch.bool)
    with torch.no_grad():
        memory, outside = model.encode(source, mask), engine.encode(source, mask)
        expected, _ = model.step(torch.tensor([1]), memory, model.start(memory))
        got, _ = engine.step(torch.tensor([1]), outside, engine.start(outside))
    assert not torch.equal(got, expected)
    assert float((got - expected).norm() / expected.norm()) < 0.05


@pytest.mark.parametrize("name", ["torch", "onnx", "int8"])
@pytest.mark.parametrize("config", [SearchConfig(), SearchConfig(beam=4, length_penalty="gnmt", nbest=3)])
def test_a_shortlist_is_chosen_from_as_the_general_loop_does_among_all_tokens(run, name, config):
    engine, model = make_engine(load_run(run), name), load_run(run).model
    source, mask = contract_sources(9, 7)
    memory = engine.encode(source, mask)
    size, limits = model.config.target_vocabulary, torch.arange(9) % 6 + 3
    random = np.random.default_rng(1)
    lists = [np.unique([2, 3, *random.integers(2, size, 20)]) for _ in range(9)]
    ids = np.unique(np.concatenate(lists))
    words = Words(ids, np.stack([np.isin(ids, own) for own in lists]))
    everywhere = torch.zeros(9, size, dtype=torch.bool)
    everywhere[:, ids] = torch.from_numpy(words.own)

    def chooser(memory, state):
        if name != "torch":
            return engine.chooser(memory, state, beams=config.width > 1, words=words)
        step = partial(model.step_among, words=model.vocabulary_of(torch.from_numpy(ids)))
        return ListedChooser(step, memory, state, *words)

    fast = search(engine.step, memory, engine.start(memory), config, limits=limits, make_chooser=chooser)
    listed = Listed(memory, everywhere)
    slow = search(among(engine.step), listed, engine.start(memory), config, limits=limits, record=True)
    for number, (ours, theirs) in enumerate(zip(fast, slow, strict=True)):
        assert [x.tokens for x in ours.hypotheses] == [x.tokens for x in theirs.hypotheses]
        assert {token for x in ours.hypotheses for token in x.tokens} <= set(lists[number].tolist())
        for one, other in zip(ours.hypotheses, theirs.hypotheses, strict=True):
            assert one.token_scores == pytest.approx(other.token_scores, abs=1e-5)


@pytest.mark.parametrize("name", ["onnx", "int8"])
@pytest.mark.parametrize("config", [SearchConfig(), SearchConfig(beam=4, length_penalty="gnmt", nbest=3)])
def test_the_choice_in_the_graph_is_that_of_the_general_loop(run, name, config):
    engine = make_engine(load_run(run), name)
    source, mask = contract_sources(9, 7)
    memory = engine.encode(source, mask)
    limits = torch.arange(9) % 6 + 3
    arguments = (engine.step, memory, engine.start(memory), config)
    chosen = search(*arguments, limits=limits, make_chooser=partial(engine.chooser, beams=config.width > 1))
    general = search(*arguments, limits=limits, record=True)
    for fast, slow in zip(chosen, general, strict=True):
        assert [x.tokens for x in fast.hypotheses] == [x.tokens for x in slow.hypotheses]
        for ours, theirs in zip(fast.hypotheses, slow.hypotheses, strict=True):
            assert ours.token_scores == pytest.approx(theirs.token_scores, abs=1e-5)


def test_what_is_never_said_is_not_chosen():
    """PAD and BOS are left out wherever they stand among the likeliest."""
    values = np.log(np.array([[0.5, 0.2, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1]], np.float32))
    ids = np.array([[0, 7, 1, 9], [5, 6, 1, 0], [0, 1, 2, 3]])
    log_probs, tokens = choosing._allowed(values, ids, 2)
    assert tokens.tolist() == [[7, 9], [5, 6], [2, 3]]
    assert np.exp(log_probs) == pytest.approx(np.array([[0.2, 0.1], [0.4, 0.3], [0.2, 0.1]]))


def test_a_sentence_in_eight_bits_does_not_depend_on_its_neighbours(run):
    """Each row has a scale of its own, so one with numbers a thousand times larger changes nothing."""
    engine = make_engine(load_run(run), "int8")
    source, mask = contract_sources(6, 6)
    with torch.no_grad():
        together = engine.encode(source, mask)
        logits, _ = engine.step(torch.full((6,), 1), together, engine.start(together))
        for row in range(6):
            alone = engine.encode(source[row : row + 1], mask[row : row + 1])
            own, _ = engine.step(torch.tensor([1]), alone, engine.start(alone))
            torch.testing.assert_close(own[0], logits[row], rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", ["torch", "onnx", "int8"])
def test_no_batch_changes_a_translation(run, name):
    """bench/invariance.py does so with a thousand sentences."""
    translator, config = seq2see.load(run, engine=name), SearchConfig(beam=3, length_penalty="gnmt", max_length=12)
    texts = [*SOURCES, *(f"{first} {second}" for first in SOURCES for second in SOURCES[:2])]
    alone = [translator.translate(text, search=config).token_ids for text in texts]
    for size, step in ((2, 5), (5, 7), (12, 11)):
        order = [place * step % len(texts) for place in range(len(texts))]  # every place once
        parts = [order[first : first + size] for first in range(0, len(order), size)]
        for part in parts:
            together = translator.translate([texts[place] for place in part], search=config)
            assert [translation.token_ids for translation in together] == [alone[place] for place in part]


@pytest.mark.parametrize("config", [SearchConfig(), SearchConfig(beam=4, length_penalty="gnmt", nbest=3)])
def test_a_translator_says_the_same_with_onnx(run, config):
    ours, outside = seq2see.load(run, engine="torch"), seq2see.load(run, engine="onnx")
    for one, other in zip(
        ours.translate(SOURCES, search=config), outside.translate(SOURCES, search=config), strict=True
    ):
        assert [x.tokens for x in one.nbest] == [x.tokens for x in other.nbest]
        assert [x.score for x in one.nbest] == pytest.approx([x.score for x in other.nbest], abs=1e-3)
        assert other.attention is not None


def test_what_an_engine_cannot_do_is_said(run):
    with pytest.raises(ConfigError, match="engine torch"):
        seq2see.load(run, engine="onnx").translate(SOURCES[0], search=SearchConfig(beam=2, coverage=0.2))
    with pytest.raises(ConfigError, match="did you mean 'int8'"):
        seq2see.load(run, engine="int9")


def test_auto_chooses_what_is_there_and_says_so_once(run, monkeypatch):
    told: list[str] = []
    translator = seq2see.load(run, say=told.append)
    assert told == []  # nothing is made before the first search
    assert translator.engine_of() == "ctranslate2"
    with_ctranslate2 = [translation.text for translation in translator.translate(SOURCES)]
    assert with_ctranslate2 == [translation.text for translation in translator.by_torch.translate(SOURCES)]
    assert told == ["engine ctranslate2: the fastest here in full precision (--engine names another)"]
    monkeypatch.setattr(auto, "find_spec", lambda name: None if name == "ctranslate2" else True)
    seq2see.load(run, say=told.append).translate(SOURCES[0])
    shutil.rmtree(run / FOLDER / "onnx")  # int8 is never chosen
    assert seq2see.load(run, say=told.append).engine_of() == "torch"
    assert auto.fastest([load_run(run)], make_graphs=True) == "onnx"
    assert auto.fastest([load_run(run)] * 2, make_graphs=True) == "torch"
    monkeypatch.setattr(auto, "find_spec", lambda name: None)
    assert auto.fastest([load_run(run)], make_graphs=True) == "torch"
    assert len(told) == 2
    assert "engine onnx" in told[1]


def test_auto_leaves_to_torch_what_only_torch_does(run, monkeypatch):
    told: list[str] = []
    translator = seq2see.load(run, say=told.append)
    translator.translate(SOURCES[0], search=SearchConfig(sample=True))
    assert translator.translate(SOURCES[0], record=True).record is not None
    assert told == [f"engine torch: ctranslate2 does not do {what}" for what in ("sampling", "a record of the search")]
    monkeypatch.setattr(auto, "obstacle", lambda model: "this one")
    translator = seq2see.load(run, say=told.append)
    assert translator.engine_of(SearchConfig(beam=2, coverage=0.2)) == "torch"
    assert translator.engine_of(SearchConfig(sample=True)) == "onnx"


def test_an_engine_that_fails_leaves_the_search_to_torch(run, monkeypatch):
    def fail(*arguments):
        raise RunError("it computes something else")

    monkeypatch.setattr(auto, "make_engine", fail)
    told: list[str] = []
    translator = seq2see.load(run, say=told.append)
    translator.translate(SOURCES)
    assert translator.engine_of() == "torch"
    assert told[1:] == ["engine torch: it computes something else"]


def test_the_command_line_takes_an_engine(run, capfd, monkeypatch):
    from seq2see.cli import main

    source = run.parent / "in.txt"
    source.write_text("".join(f"{line}\n" for line in SOURCES))
    said = []
    for engine in (["--engine", "torch"], ["--engine", "onnx"], []):
        monkeypatch.setattr(sys, "argv", ["seq2see", "translate", str(run), str(source), *engine])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code in (0, None)
        said.append(capfd.readouterr())
    assert said[0].out == said[1].out == said[2].out
    assert "engine ctranslate2: the fastest" in said[2].err
    monkeypatch.setattr(sys, "argv", ["seq2see", "translate", str(run), str(source), "--engine", "tpu"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "expected one of auto, torch, onnx, int8" in capfd.readouterr().err
