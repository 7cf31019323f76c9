"""From a model's looks to a map: every family, kind and row of a batch, with tokens from a real tokenizer."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from map_making import sums_to_one

from seq2see.data import Batch
from seq2see.errors import ConfigError, ShapeError
from seq2see.look import AttentionMap, attention_map, attention_maps
from seq2see.look.map.side import shifted, side_of
from seq2see.models import Look, Model, build
from seq2see.text import Encoding, Tokenizer, TokenizerConfig
from seq2see.vocabulary import EOS, UNK

KOREAN, ENGLISH = "나는 학생입니다 .", "I am a student ."
CELLS = {"embedding": 6, "hidden": 8, "encoder": {"kind": "recurrent", "embedding": 6, "hidden": 4}}
STACK = {"embedding": 6, "channels": (8, 8), "kernels": (3, 3)}
BLOCK = {"width": 8, "heads": 2, "inner": 12, "layers": 3, "encoder_layers": 2}
FAMILIES: dict[str, dict[str, Any]] = {
    "rnnsearch": CELLS,
    "luong": CELLS,
    "convs2s": {"encoder": STACK, "decoder": STACK},
    "transformer": BLOCK,
    "rnn": CELLS,
    "bytenet": {"width": 4, "dilations": (1, 2), "sets": 1},
}
SHAPES = {
    ("rnnsearch", "cross"): (1, 1),
    ("luong", "cross"): (1, 1),
    ("convs2s", "cross"): (2, 1),
    ("transformer", "cross"): (3, 2),
    ("transformer", "encoder"): (2, 2),
    ("transformer", "decoder"): (3, 2),
}


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer.train([KOREAN, ENGLISH] * 4, TokenizerConfig(scheme="char"))


@cache
def model(family: str) -> Model[Any, Any]:
    torch.manual_seed(0)
    size = tokenizer().size
    return build(family, "tiny", source_vocabulary=size, target_vocabulary=size, **FAMILIES[family]).eval()


@torch.no_grad()
def looks_of(family: str, pairs: list[tuple[str, str]]) -> tuple[Look, ...]:
    sources = [[*tokenizer().encode(source).ids, EOS] for source, _ in pairs]
    return model(family).look(Batch.of(sources, [tokenizer().encode(target).ids for _, target in pairs]))


def map_of(family: str, kind: Any, source: str = KOREAN, target: str = ENGLISH) -> AttentionMap:
    looks = looks_of(family, [(source, target)])
    found = attention_map(looks, kind, tokenizer().encode(source), tokenizer().encode(target))
    assert found is not None
    return found


@pytest.mark.parametrize(("family", "kind"), SHAPES)
def test_every_family_and_kind_gives_its_weights(family: str, kind: Any) -> None:
    found = map_of(family, kind)
    looks = [look for look in looks_of(family, [(KOREAN, ENGLISH)]) if look.kind == kind]
    assert found.weights.shape[:2] == SHAPES[family, kind]
    assert found.layers == tuple(str(look.layer) for look in looks)
    for layer, look in enumerate(looks):
        np.testing.assert_array_equal(found.weights[layer], look.weights[0].numpy())
    assert sums_to_one(found)
    assert sums_to_one(found.words())
    assert sums_to_one(found.mean())


@pytest.mark.parametrize("family", FAMILIES)
def test_all_kinds_come_from_one_pass(family: str) -> None:
    looks = looks_of(family, [(KOREAN, ENGLISH)])
    source, target = tokenizer().encode(KOREAN), tokenizer().encode(ENGLISH)
    maps = attention_maps(looks, source, target)
    assert set(maps) == {kind for name, kind in SHAPES if name == family}
    for kind, shown in maps.items():
        single = attention_map(looks, kind, source, target)
        assert single is not None
        assert (shown.kind, shown.source, shown.target) == (kind, single.source, single.target)
        np.testing.assert_array_equal(shown.weights, single.weights)


@pytest.mark.parametrize("family", ["rnn", "bytenet"])
def test_a_family_without_attention_has_no_map(family: str) -> None:
    encoding = tokenizer().encode(KOREAN)
    assert attention_map(looks_of(family, [(KOREAN, KOREAN)]), "cross", encoding, encoding) is None


def test_rows_and_columns_are_named_for_what_they_are() -> None:
    cross, encoder, decoder = (map_of("transformer", kind) for kind in ("cross", "encoder", "decoder"))
    assert cross.source.text == KOREAN
    assert cross.target.text == ENGLISH
    assert cross.source.tokens[-1] == cross.target.tokens[-1] == "</s>"
    assert cross.source.words[:6] == (0, 0, 1, 1, 1, 1)
    assert encoder.source == encoder.target == cross.source
    assert decoder.target == cross.target
    assert decoder.source.tokens == ("<s>", *cross.target.tokens[:-1])
    assert decoder.source == shifted(cross.target)
    assert not np.triu(decoder.weights, 1).any()
    assert cross.words().source.tokens == ("나는", "학생입니다", ".", "</s>")
    assert cross.words().target.tokens == ("I", "am", "a", "student", ".", "</s>")
    for side in (cross.source, cross.target):
        for token, (start, end) in zip(side.tokens[:-1], side.spans[:-1], strict=True):
            assert token.removeprefix("▁") == side.text[start:end].strip()


@pytest.mark.parametrize(("family", "kind"), SHAPES)
def test_a_row_of_a_batch_is_the_map_of_that_pair(family: str, kind: Any) -> None:
    pairs = [(KOREAN, ENGLISH), ("학생", "a"), ("나는 나는", "I am I am I am I am")]
    looks = looks_of(family, pairs)
    for row, (source, target) in enumerate(pairs):
        encodings = tokenizer().encode(source), tokenizer().encode(target)
        found = AttentionMap.from_looks(looks, kind, *encodings, row=row)
        alone = map_of(family, kind, source, target)
        assert found is not None
        assert (found.source, found.target) == (alone.source, alone.target)
        np.testing.assert_allclose(found.weights, alone.weights, atol=1e-5)


def test_an_end_that_is_there_already_is_not_added_twice() -> None:
    plain = tokenizer().encode(KOREAN)
    ended = Encoding(plain.text, [*plain.ids, EOS], [*plain.tokens, "</s>"], [*plain.spans, (len(KOREAN), len(KOREAN))])
    assert side_of(ended) == side_of(plain)


def test_an_unknown_piece_of_a_translation_stands_for_no_text() -> None:
    ids = tokenizer().encode("a").ids
    side = side_of(tokenizer().read([*ids, UNK, *ids]))
    assert side.tokens.count("<unk>") == 1
    assert side.words[side.tokens.index("<unk>")] is None


def test_an_empty_translation_has_one_row() -> None:
    looks = looks_of("luong", [(KOREAN, "")])
    found = attention_map(looks, "cross", tokenizer().encode(KOREAN), tokenizer().read([]))
    assert found is not None
    assert found.target.tokens == ("</s>",)
    assert found.alignment().pairs == ()
    assert "</s>" in str(found)


def test_weights_in_half_precision_become_float32() -> None:
    encoding = tokenizer().encode("a")
    rows = len(encoding.ids) + 1
    look = Look("cross", 0, torch.eye(rows, dtype=torch.bfloat16).expand(1, 2, rows, rows))
    found = attention_map([look], "cross", encoding, encoding)
    assert found is not None
    assert found.weights.dtype == np.float32


def test_looks_of_another_pair_are_refused() -> None:
    looks, encoding = looks_of("luong", [(KOREAN, ENGLISH)]), tokenizer().encode("나는")
    with pytest.raises(ShapeError, match="do not fit"):
        attention_map(looks, "cross", encoding, tokenizer().encode(ENGLISH))
    with pytest.raises(ShapeError, match="row = 1 of a batch of 1"):
        attention_map(looks, "cross", tokenizer().encode(KOREAN), tokenizer().encode(ENGLISH), row=1)
    with pytest.raises(ConfigError, match="did you mean 'cross'"):
        attention_map(looks, "cros", encoding, encoding)  # type: ignore[arg-type]
    uneven = [Look("cross", 0, torch.ones(1, 1, 3, 3)), Look("cross", 1, torch.ones(1, 2, 3, 3))]
    with pytest.raises(ShapeError, match=r"\[1, 2\] heads"):
        attention_map(uneven, "cross", encoding, encoding)


def test_rollout_of_a_transformer_reaches_every_source_token() -> None:
    cross, encoder, decoder = (map_of("transformer", kind) for kind in ("cross", "encoder", "decoder"))
    rolled = cross.rollout(encoder=encoder, decoder=decoder)
    assert rolled.weights.shape[:2] == (1, 1)
    assert sums_to_one(rolled)
    assert sums_to_one(decoder.rollout())
    assert not np.triu(decoder.rollout().weights[0, 0], 1).any()
    assert np.abs(rolled.weights - cross.rollout().weights).max() > 1e-4
