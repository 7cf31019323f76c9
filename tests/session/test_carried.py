"""What was computed is carried along: a text is tokenised once, one forced pass gives all maps, the tree is kept."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from folders import SOURCES, make_run

import seq2see
from seq2see.look import Kind
from seq2see.look.map.tree import beam_tree
from seq2see.search import SearchConfig
from seq2see.session import Request, Translator
from seq2see.session.translation import detached
from seq2see.text import Tokenizer, TokenizerConfig

SHORT = SearchConfig(beam=2, nbest=2, max_length=6)
CHARACTERS = TokenizerConfig(scheme="char")


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return seq2see.load(make_run(tmp_path_factory.mktemp("runs") / "run", "transformer", sharp=2.0, max_length=24))


Calls = dict[int, Counter[str]]


@pytest.fixture
def tokenized(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """How often each tokenizer was given each text, by its identity."""
    calls: Calls = {}

    def counted(name: str) -> None:
        original = getattr(Tokenizer, name)

        def method(this: Tokenizer, texts: Sequence[str], **options: Any) -> Any:
            calls.setdefault(id(this), Counter()).update(texts)
            return original(this, texts, **options)

        monkeypatch.setattr(Tokenizer, name, method)

    counted("ids_batch")
    counted("encode_batch")
    return calls


@pytest.fixture
def passes(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The batches of every forced pass."""
    batches: list[Any] = []
    look = translator.model.look

    def counted(batch: Any) -> Any:
        batches.append(batch)
        return look(batch)

    monkeypatch.setattr(translator.model, "look", counted)
    return batches


def test_a_text_is_tokenised_once(translator: Translator, tokenized: Calls) -> None:
    texts = [*SOURCES, f"  {SOURCES[0]} again\t"]
    list(translator.translate_all(texts, SHORT))
    (calls,) = tokenized.values()
    assert calls == Counter(text.strip() for text in texts)


def test_phrases_are_tokenised_once_however_many_texts_need_them(translator: Translator, tokenized: Calls) -> None:
    requests = [Request(text, "I ", ("Seoul",), ("he reads",), number) for number, text in enumerate(SOURCES * 2)]
    list(translator.translate_all(requests, SearchConfig(max_length=30)))
    target = tokenized[id(translator.runs[0].tokenizers[1])]
    assert target == Counter({"I ": 1, "Seoul": 1, "he reads": 1})


def test_parts_of_a_long_text_are_tokenised_once_to_cut_and_once_to_translate(
    translator: Translator, tokenized: Calls
) -> None:
    text = " ".join(SOURCES * 3)
    translation = translator.translate(text, search=SHORT)
    assert len(translation.parts) > 2
    (calls,) = tokenized.values()
    parts = Counter(part.source for part in translation.parts)
    sentences = Counter(re.findall(r"[^.]+\.\s*", text))
    assert calls == Counter([text]) + sentences + parts


def test_members_of_an_ensemble_share_what_they_read_alike(tmp_path: Path, tokenized: Calls) -> None:
    one, two = make_run(tmp_path / "one"), make_run(tmp_path / "two", seed=1)
    alike = seq2see.load([one, two])
    tokenized.clear()
    list(alike.translate_all(SOURCES, SHORT))
    assert sum(map(Counter.total, tokenized.values())) == len(SOURCES)
    by_characters = (Tokenizer.train(SOURCES, CHARACTERS), alike.runs[1].tokenizers[1])
    mixed = Translator([alike.runs[0], replace(alike.runs[1], tokenizers=by_characters)])
    tokenized.clear()
    list(mixed.translate_all(SOURCES, SHORT))
    assert list(tokenized.values()) == [Counter(SOURCES), Counter(SOURCES)]


def test_all_kinds_of_map_come_from_one_pass(translator: Translator, passes: list[Any]) -> None:
    translation = translator.translate(SOURCES[0], search=SHORT)
    assert not passes
    assert set(translation.maps) == set(get_args(Kind))
    assert translation.attention is translation.maps["cross"]
    assert translation.nbest[0].maps is translation.maps
    assert len(passes) == 1
    for kind, whole in translation.maps.items():
        again = translator.look(SOURCES[0], translation.text, kind=kind)
        assert again is not None
        assert again.kind == whole.kind == kind
    forced = translator.forced(SOURCES[1], "I am a student .")
    passes.clear()
    assert set(forced.maps) == set(get_args(Kind))
    assert len(passes) == 1


def test_a_long_text_has_every_kind_too(translator: Translator) -> None:
    translation = translator.translate(" ".join(SOURCES * 2), search=SHORT)
    assert len(translation.parts) > 1
    assert {kind: whole.kind for kind, whole in translation.maps.items()} == {kind: kind for kind in get_args(Kind)}
    first = translation.parts[0].maps["encoder"].weights
    whole = translation.maps["encoder"].weights
    assert np.array_equal(whole[:, :, : first.shape[2], : first.shape[3]], first)


def test_the_beam_tree_hangs_on_the_translation(translator: Translator) -> None:
    translation = translator.translate(SOURCES[0], search=SHORT, record=True)
    assert translation.record is not None
    assert translation.tree == beam_tree(
        translation.record, translator.pieces, [(one.token_ids, one.score) for one in translation.nbest]
    )
    assert translation.tree is translation.tree
    assert translator.translate(SOURCES[0], search=SHORT).tree is None


def test_what_needs_the_model_does_not_leave_its_process(translator: Translator) -> None:
    bare = detached(translator.translate(SOURCES[0], search=SHORT, record=True))
    assert bare.maps == {}
    assert bare.tree is None
    assert len(bare.nbest) == 2


def test_nobody_outside_reaches_into_the_runs_of_a_translator() -> None:
    source = Path(seq2see.__file__).parent
    reached = [
        f"{path.relative_to(source)}:{number}"
        for path in sorted(source.rglob("*.py"))
        if path.relative_to(source).parts[0] != "session"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"(translator|back|changed)\.runs\b", line)
    ]
    assert reached == []
