"""A Transformer of ours as a CTranslate2 model: which settings it knows, and where each weight goes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from seq2see.attention import MultiHead
from seq2see.attention.positions import AddedPositions, RelativeBuckets
from seq2see.errors import ConfigError, MissingExtraError
from seq2see.models import Model
from seq2see.models.selfattention import EncoderBlock, FeedForward, PlacedEmbedding, TransformerEncoder
from seq2see.models.transformer import DecoderBlock, TransformerConfig, TransformerDecoder
from seq2see.text import Tokenizer
from seq2see.vocabulary import BOS, EOS, PAD, UNK

ComputeType = Literal["float32", "int8"]
COMPUTE_TYPES: tuple[ComputeType, ...] = get_args(ComputeType)
SPECIAL_TOKENS = {PAD: "<pad>", BOS: "<s>", EOS: "</s>", UNK: "<unk>"}
_LAYER_EPSILON, _RMS_EPSILON = 1e-5, 1e-6


def require_ctranslate2() -> None:
    try:
        import ctranslate2  # type: ignore[import-untyped]  # noqa: F401
    except ImportError:
        raise MissingExtraError("CTranslate2", "fast") from None


def obstacle(model: Model[Any, Any]) -> str | None:
    """The setting that keeps a model from being one of CTranslate2's, with its value; None if there is none."""
    config = model.config
    if not isinstance(config, TransformerConfig):
        return f"model.family = {model.family} (train --model transformer makes one that it knows)"
    if not isinstance(model.encoder, TransformerEncoder):
        return f"model.encoder.kind = {config.encoder.kind if config.encoder is not None else 'other'}"
    if config.encoder is not None:
        return "model.encoder = transformer with settings of its own"
    if config.positions == "alibi":
        return "model.positions = alibi"
    if config.qk_norm:
        return "model.qk_norm = true"  # it has a norm of that name, which computes something else
    return None


def check_convertible(model: Model[Any, Any], name: str) -> None:
    """ConfigError, naming the setting, for a model that is none of CTranslate2's."""
    setting = obstacle(model)
    if setting is not None:
        raise ConfigError(f"{name}: cannot go to CTranslate2, which does not know {setting}")


def tokens_of(tokenizer: Tokenizer) -> list[str]:
    """Each piece as the vocabulary files of others have it: a space is `▁`, as SentencePiece writes it.

    One that would be written like another, such as the sign `▁` itself, has its id behind it.
    """
    tokens: dict[str, None] = {}
    for index, name in enumerate(tokenizer.written_pieces):
        token = SPECIAL_TOKENS.get(index) or name
        while token in tokens:
            token = f"{token}#{index}"
        tokens[token] = None
    return list(tokens)


def save_model(
    model: Model[Any, Any],
    vocabularies: tuple[Sequence[str], Sequence[str]],
    folder: Path,
    *,
    places: int,
    compute_type: ComputeType = "float32",
) -> None:
    """Writes model.bin, config.json and the vocabularies into a folder that exists.

    places   positions that added vectors are written for; texts with more pieces cannot be read
    """
    check_convertible(model, str(folder))
    spec = _specification(model, places)
    for tokens, register in zip(
        vocabularies, (spec.register_source_vocabulary, spec.register_target_vocabulary), strict=True
    ):
        register(list(tokens))
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = (SPECIAL_TOKENS[x] for x in (BOS, EOS, UNK))
    spec.config.decoder_start_token = SPECIAL_TOKENS[BOS]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = _LAYER_EPSILON if model.config.model_dump()["norm"] == "layer" else _RMS_EPSILON
    spec.validate()
    spec.optimize(quantization="int8_float32" if compute_type == "int8" else None)
    spec.save(str(folder))


@torch.no_grad()
def _specification(model: Model[Any, Any], places: int) -> Any:
    from ctranslate2 import specs

    config, encoder, decoder = model.config, model.encoder, model.decoder
    assert isinstance(config, TransformerConfig)
    assert isinstance(encoder, TransformerEncoder)
    assert isinstance(decoder, TransformerDecoder)
    gated = config.activation == "swiglu"
    rotary = config.width // config.heads if config.positions == "rotary" else None
    shared = {
        "pre_norm": config.norm_first,
        "activation": _activation(config.activation),
        "ffn_glu": gated,
        "rms_norm": config.norm == "rms",
        "relative_attention_bias": config.positions == "relative",
        "num_heads_kv": config.kv_heads,
        "head_dim": config.width // config.heads if config.kv_heads is not None else None,
        "rotary_dim": rotary,
        "rotary_interleave": False,
    }
    spec = specs.TransformerSpec(
        specs.TransformerEncoderSpec(len(encoder.blocks), config.heads, **shared),
        specs.TransformerDecoderSpec(len(decoder.blocks), config.heads, **shared),
    )
    _fill_embedding(spec.encoder, spec.encoder.embeddings[0], encoder.embedding, config, places)
    _fill_embedding(spec.decoder, spec.decoder.embeddings, decoder.embedding, config, places)
    for layer, block in zip(spec.encoder.layer, encoder.blocks, strict=True):
        assert isinstance(block, EncoderBlock)
        _fill_block(layer, block)
    for layer, block in zip(spec.decoder.layer, decoder.blocks, strict=True):
        assert isinstance(block, DecoderBlock)
        _fill_block(layer, block)
        _fill_attention(layer.attention, block.cross, block.cross_residual.norm, fused=False)
    if config.norm_first:
        _fill_norm(spec.encoder.layer_norm, encoder.norm)
        _fill_norm(spec.decoder.layer_norm, decoder.norm)
    last = decoder.last_layer()
    spec.decoder.projection.weight = _array(last.weight)
    if last.bias is not None:
        spec.decoder.projection.bias = _array(last.bias)
    return spec


def _activation(name: str) -> Any:
    from ctranslate2.specs import Activation  # type: ignore[import-untyped]

    known = {"relu": Activation.RELU, "gelu": Activation.GELU, "silu": Activation.SWISH, "swiglu": Activation.SWISH}
    return known[name]


def _fill_embedding(side: Any, spec: Any, embedding: PlacedEmbedding, config: TransformerConfig, places: int) -> None:
    spec.weight = _array(embedding.words.weight)
    side.scale_embeddings = embedding.scale
    if config.positions in ("sinusoidal", "learned", "none"):
        side.position_encodings.encodings = _array(_table(embedding.places, places, config.width))


def _table(positions: AddedPositions, places: int, width: int) -> Tensor:
    """(places, width) what is added at each position: zeros where nothing is."""
    table: Tensor = positions(torch.zeros(1, places, width), torch.arange(places).unsqueeze(0))[0]
    return table


def _fill_block(layer: Any, block: EncoderBlock | DecoderBlock) -> None:
    """What layers of both sides have."""
    _fill_attention(layer.self_attention, block.attention, block.attention_residual.norm, fused=True)
    _fill_norm(layer.ffn.layer_norm, block.feed_forward_residual.norm)
    _fill_feed_forward(layer.ffn, block.feed_forward)


def _fill_attention(spec: Any, attention: MultiHead, norm: nn.Module, *, fused: bool) -> None:
    """Projections as one product: of queries, keys and values in self-attention, of keys and values in the other."""
    _fill_norm(spec.layer_norm, norm)
    parts = [attention.query_projection, attention.key_projection, attention.value_projection]
    groups = [parts] if fused else [parts[:1], parts[1:]]
    for linear, group in zip(spec.linear, [*groups, [attention.output_projection]], strict=True):
        linear.weight = _array(torch.cat([part.weight for part in group]))
        linear.bias = _array(torch.cat([part.bias for part in group]))
    if isinstance(attention.score_bias, RelativeBuckets):
        import numpy as np

        spec.relative_attention_bias = _array(attention.score_bias.table.weight)
        spec.relative_attention_max_distance = np.int32(attention.score_bias.furthest)


def _fill_feed_forward(spec: Any, feed_forward: FeedForward) -> None:
    weight: Tensor = feed_forward.widen.weight
    bias: Tensor = feed_forward.widen.bias
    if feed_forward.activation == "swiglu":
        (gate, weight), (gate_bias, bias) = weight.chunk(2), bias.chunk(2)
        spec.linear_0_noact.weight, spec.linear_0_noact.bias = _array(weight), _array(bias)
        weight, bias = gate, gate_bias
    spec.linear_0.weight, spec.linear_0.bias = _array(weight), _array(bias)
    spec.linear_1.weight, spec.linear_1.bias = _array(feed_forward.narrow.weight), _array(feed_forward.narrow.bias)


def _fill_norm(spec: Any, norm: nn.Module) -> None:
    spec.gamma = _array(norm.weight)
    if isinstance(norm, nn.LayerNorm):
        spec.beta = _array(norm.bias)


def _array(tensor: Any) -> Any:
    """A copy: quantising writes into the arrays."""
    return tensor.detach().numpy().copy()
