"""From a name and a size to a model, and complaints that say which setting is wrong and what is near."""

import json
from typing import Any

import pytest
import torch
from pydantic import ValidationError

from seq2see.errors import ConfigError, Seq2SeeError, ShapeError
from seq2see.models import FAMILIES, SIZES, Model, build, configure, from_config, load_config, parameters
from seq2see.models.convolutional import ConvEncoderConfig
from seq2see.models.recurrent.encoder import RecurrentEncoderConfig
from seq2see.models.selfattention import TransformerEncoderConfig
from seq2see.models.transformer import TransformerConfig

VOCABULARIES = {"source_vocabulary": 20, "target_vocabulary": 24}
ATTENTIVE = ("rnn", "rnnsearch", "luong", "transformer")
KINDS = {
    "recurrent": RecurrentEncoderConfig,
    "convolutional": ConvEncoderConfig,
    "transformer": TransformerEncoderConfig,
}


def tiny(family: str, **settings: Any) -> Model[Any, Any]:
    return build(family, "tiny", **VOCABULARIES, **settings)


def complaint(family: str, size: str = "tiny", vocabularies: dict[str, int] | None = None, **settings: Any) -> str:
    with pytest.raises(Seq2SeeError) as raised:
        build(family, size, **(vocabularies or VOCABULARIES), **settings)
    return str(raised.value)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_size_of_every_family_is_built(family: str):
    counts = []
    for size in SIZES:
        with torch.device("meta"):
            model = build(family, size, **VOCABULARIES)
        assert model.config.family == family
        assert model.config == configure(family, size, **VOCABULARIES, settings={})
        assert {parameter.device.type for parameter in model.parameters()} == {"meta"}
        counts.append(parameters(model))
    tiny, small, base, paper = counts
    assert tiny < small < base
    assert paper >= 0.9 * base  # pre-norm has two norms more than the paper's Transformer


@pytest.mark.parametrize("family", ATTENTIVE)
@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_is_chosen_by_its_name_alone(family: str, kind: str):
    model = tiny(family, encoder=kind)
    assert type(model.config.encoder) is KINDS[kind]
    assert model.config.encoder == tiny(family, encoder={"kind": kind}).config.encoder


def test_an_encoder_of_another_family_is_as_large_as_there():
    assert tiny("luong", encoder="transformer").config.encoder.width == tiny("transformer").config.width
    assert tiny("luong", encoder="convolutional").config.encoder == tiny("convs2s").config.encoder
    changed = tiny("luong", encoder={"kind": "transformer", "layers": 1}).config.encoder
    assert (changed.layers, changed.width) == (1, tiny("transformer").config.width)


def test_an_encoder_may_be_given_ready_made():
    ready = TransformerEncoderConfig(width=8, heads=2, inner=16, layers=1)
    assert tiny("luong", encoder=ready).config.encoder == ready
    assert tiny("transformer", encoder=ready).config.encoder == ready


def test_settings_change_single_fields():
    preset = tiny("luong").config
    changed = tiny("luong", hidden=10, attention={"score": "additive"}, encoder={"layers": 2}).config
    assert changed.hidden == 10
    assert changed.attention == preset.attention.model_copy(update={"score": "additive"})
    assert changed.encoder == preset.encoder.model_copy(update={"layers": 2})
    assert changed.embedding == preset.embedding


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("size", SIZES)
def test_a_saved_configuration_comes_back_equal(family: str, size: str):
    config = configure(family, size, **VOCABULARIES, settings={})
    saved = json.loads(json.dumps(config.model_dump(mode="json")))
    assert load_config(saved) == config
    assert type(load_config(saved)) is type(config)


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("luong", {"attention": {"score": "cosine", "sharpness": None}, "encoder": "convolutional"}),
        ("transformer", {"encoder": "recurrent", "kv_heads": 2, "positions": "rotary"}),
        ("bytenet", {"dilations": [1, 3]}),
        ("convs2s", {"decoder": {"channels": (8, 8, 8), "kernels": (3, 3, 1)}}),
    ],
)
def test_a_changed_configuration_comes_back_equal(family: str, settings: dict[str, Any]):
    config = configure(family, "tiny", **VOCABULARIES, settings=settings)
    assert load_config(json.loads(config.model_dump_json())) == config


@pytest.mark.parametrize("family", FAMILIES)
def test_a_configuration_is_frozen(family: str):
    config = configure(family, "tiny", **VOCABULARIES, settings={})
    with pytest.raises(ValidationError, match="frozen"):
        config.source_vocabulary = 5
    inner = getattr(config, "attention", None) or getattr(config, "encoder", None)
    if inner is not None:
        with pytest.raises(ValidationError, match="frozen"):
            inner.hidden = 5


def test_the_type_of_a_configuration_chooses_the_model():
    for family in FAMILIES:
        config = configure(family, "tiny", **VOCABULARIES, settings={})
        assert from_config(config).config is config


@pytest.mark.parametrize(
    ("family", "size", "settings", "expected"),
    [
        ("transfomer", "tiny", {}, "model 'transfomer' is unknown; did you mean 'transformer'?"),
        ("xyz", "tiny", {}, "model 'xyz' is unknown; known: bytenet, convs2s, luong, rnn, rnnsearch, transformer"),
        ("rnn", "tinny", {}, "size = 'tinny' is unknown; did you mean 'tiny'?"),
        ("transformer", "tiny", {"head": 4}, "model.head is unknown; did you mean 'heads'?"),
        ("luong", "tiny", {"attention": {"scor": "dot"}}, "model.attention.scor is unknown; did you mean 'score'?"),
        ("luong", "tiny", {"encoder": {"hiden": 4}}, "model.encoder.hiden is unknown; did you mean 'hidden'?"),
        (
            "luong",
            "tiny",
            {"encoder": {"kind": "transformer", "head": 4}},
            "model.encoder.head is unknown; did you mean 'heads'?",
        ),
        (
            "convs2s",
            "tiny",
            {"decoder": {"chanels": (8,)}},
            "model.decoder.chanels is unknown; did you mean 'channels'?",
        ),
        (
            "luong",
            "tiny",
            {"encoder": "recurent"},
            "model.encoder.kind = 'recurent' is unknown; did you mean 'recurrent'?",
        ),
        (
            "transformer",
            "tiny",
            {"encoder": {"layers": 3}},
            "model.encoder.kind is missing; known: recurrent, convolutional, transformer",
        ),
    ],
)
def test_an_unknown_name_is_told_the_nearest(family: str, size: str, settings: dict[str, Any], expected: str):
    assert complaint(family, size, **settings) == expected


def test_a_name_that_is_like_none_is_told_them_all():
    said = complaint("bytenet", encoder="recurrent")
    assert said.startswith("model.encoder is unknown; known: ")
    assert "dilations, dropout, extra" in said


@pytest.mark.parametrize(
    ("family", "settings", "expected"),
    [
        ("luong", {"attention": {"score": "dott"}}, "model.attention.score = 'dott': input should be 'dot', "),
        (
            "luong",
            {"attention": {"window": 0}},
            "model.attention.window = 0: input should be greater than or equal to 1",
        ),
        ("luong", {"attention": {"scope": "causal"}}, "model.attention.scope = 'causal': input should be 'global', "),
        (
            "luong",
            {"attention": {"normaliser": "max"}},
            "model.attention.normaliser = 'max': input should be 'softmax'",
        ),
        ("luong", {"attention": "dot"}, "model.attention = 'dot': input should be a valid dictionary"),
        (
            "luong",
            {"attention": {"score": "location_aware", "cumulative": True, "heads": 2}},
            "model.attention: cumulative is for one head, but heads = 2",
        ),
        ("luong", {"hidden": 2.5}, "model.hidden = 2.5: input should be a valid integer"),
        ("luong", {"dropout": 1}, "model.dropout = 1: input should be less than 1"),
        (
            "luong",
            {"encoder": {"cell": "gruu"}},
            "model.encoder.cell = 'gruu': input should be 'tanh', 'gru' or 'lstm'",
        ),
        ("luong", {"encoder": 5}, "model.encoder = 5: input should be a valid dictionary"),
        ("convs2s", {"encoder": "recurrent"}, "model.encoder.kind = 'recurrent': input should be 'convolutional'"),
        ("convs2s", {"encoder": {"kernels": (3, 4)}}, "model.encoder: kernels holds 4; a kernel is odd and positive"),
        ("convs2s", {"decoder": {"kernels": (3,)}}, "model.decoder: channels has 2 layers but kernels has 1"),
        ("convs2s", {"decoder": {"channels": (8, 0)}}, "model.decoder.channels.1 = 0: input should be greater than 0"),
        ("bytenet", {"dilations": ()}, "model.dilations = (): tuple should have at least 1 item"),
        ("bytenet", {"dilations": (1, 0)}, "model.dilations.1 = 0: input should be greater than 0"),
        ("transformer", {"heads": 7}, "model: heads = 7 does not divide width = 128"),
        ("transformer", {"kv_heads": 3}, "model: kv_heads = 3 does not divide heads = 4"),
        (
            "transformer",
            {"width": 12, "positions": "rotary"},
            "model: positions = rotary needs an even width per head, but width / heads = 3",
        ),
        (
            "luong",
            {"encoder": {"kind": "transformer", "heads": 3}},
            "model.encoder: heads = 3 does not divide width = 128",
        ),
        ("luong", {"attention": {"heads": 3}}, "heads = 3 does not divide width = 128"),
        ("transformer", {"tie": "al"}, "model.tie = 'al': input should be 'none', 'target' or 'all'"),
        (
            "transformer",
            {"tie": "all"},
            "model: tie = all needs one vocabulary, but source_vocabulary = 20 and target_vocabulary = 24",
        ),
        (
            "transformer",
            {"tie": "all", "encoder": "recurrent"},
            "model: tie = all needs the Transformer's own encoder, not encoder.kind = recurrent",
        ),
    ],
)
def test_a_wrong_value_says_which_setting(family: str, settings: dict[str, Any], expected: str):
    said = complaint(family, **settings)
    assert said.startswith(expected)
    assert "\n" not in said


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "cosine"])
def test_a_product_of_different_widths_names_both(score: str):
    with pytest.raises(ShapeError, match="query_dim = 128 and key_dim = 20"):
        tiny("luong", attention={"score": score}, encoder={"hidden": 10})


def test_a_vocabulary_holds_at_least_the_special_pieces():
    said = complaint("rnn", vocabularies={"source_vocabulary": 3, "target_vocabulary": 20})
    assert said == "model.source_vocabulary = 3: input should be greater than or equal to 4"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"family": "lung"}, "model 'lung' is unknown; did you mean 'luong'?"),
        ({"hiden": 3}, "model.hiden is unknown; did you mean 'hidden'?"),
        ({"encoder": {"kind": "recurent"}}, "model.encoder.kind = 'recurent' is unknown; did you mean 'recurrent'?"),
        ({"encoder": {"kind": "recurrent", "cel": "gru"}}, "model.encoder.cel is unknown; did you mean 'cell'?"),
    ],
)
def test_a_damaged_saved_configuration_is_refused(change: dict[str, Any], expected: str):
    saved = configure("luong", "tiny", **VOCABULARIES, settings={}).model_dump(mode="json")
    with pytest.raises(ConfigError) as raised:
        load_config(saved | change)
    assert str(raised.value) == expected


def test_a_saved_configuration_without_its_vocabulary_is_refused():
    saved = configure("luong", "tiny", **VOCABULARIES, settings={}).model_dump(mode="json")
    del saved["target_vocabulary"]
    with pytest.raises(ConfigError, match=r"^model\.target_vocabulary is missing$"):
        load_config(saved)


def test_the_transformers_own_encoder_shares_its_settings():
    config = tiny("transformer", kv_heads=2, positions="alibi", encoder_layers=5).config
    assert isinstance(config, TransformerConfig)
    own = config.own_encoder()
    assert (own.width, own.kv_heads, own.positions, own.layers) == (config.width, 2, "alibi", 5)
    assert tiny("transformer").config.own_encoder().layers == tiny("transformer").config.layers


def test_a_configuration_saved_before_scores_were_scaled_gives_the_same_numbers() -> None:
    """New models divide `general` by sqrt(d); a saved configuration that does not know of it does not."""
    torch.manual_seed(0)
    words = {"source_vocabulary": 20, "target_vocabulary": 20}
    new = configure("luong", "tiny", **words, settings={})
    saved = new.model_dump(mode="json")
    assert saved["attention"].pop("scaled") is True
    fresh, old = from_config(new).eval(), from_config(load_config(saved)).eval()
    old.load_state_dict(fresh.state_dict())  # the same parameters
    query, keys = torch.randn(1, 2, 128), torch.randn(1, 3, 128)
    scores = {}
    for name, model in (("new", fresh), ("old", old)):
        general = model.decoder.attention
        scores[name] = general.score(query[None], general.prepare(keys).keys)
    bilinear = fresh.decoder.attention.bilinear.weight[0]
    torch.testing.assert_close(scores["old"][0], query @ (keys @ bilinear.T).transpose(1, 2))
    torch.testing.assert_close(scores["new"], scores["old"] / 128**0.5)
    assert configure("luong", "paper", **words, settings={}).attention.scaled is False


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "cosine"])
def test_rnnsearch_multiplies_query_and_key_of_one_width(score: str):
    encoder = tiny("rnnsearch", attention={"score": score}).config.encoder
    assert encoder.hidden == 64  # each way; the decoder's state has 128
    assert tiny("rnnsearch", hidden=96, attention={"score": score}).config.encoder.hidden == 48
    assert tiny("rnnsearch", attention={"score": "general"}).config.encoder.hidden == 128
    assert "make them equal" in complaint("rnnsearch", attention={"score": score}, encoder={"hidden": 100})
    tiny("rnnsearch", attention={"score": score}, encoder="transformer")  # 128 wide, as it is
