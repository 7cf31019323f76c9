"""Marian models as `transformers` saves them: their settings, and which weight of theirs is which of ours."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from seq2see.models.transformer import TransformerConfig

CONFIG_FILE, WEIGHTS_FILE, PICKLED_FILE = "config.json", "model.safetensors", "pytorch_model.bin"
SPM_FILES = ("source.spm", "target.spm")
VOCABULARY_FILES = ("vocab.json", "target_vocab.json")
TOKENIZER_FILE, GENERATION_FILE = "tokenizer_config.json", "generation_config.json"
ACTIVATIONS: dict[str, Literal["relu", "gelu", "silu"]] = {
    "swish": "silu",
    "silu": "silu",
    "relu": "relu",
    "gelu": "gelu",
}
_ATTENTION = {
    "q_proj": "query_projection",
    "k_proj": "key_projection",
    "v_proj": "value_projection",
    "out_proj": "output_projection",
}
_BLOCK = {
    "self_attn_layer_norm": "attention_residual.norm",
    "fc1": "feed_forward.widen",
    "fc2": "feed_forward.narrow",
    "final_layer_norm": "feed_forward_residual.norm",
} | {f"self_attn.{theirs}": f"attention.{ours}" for theirs, ours in _ATTENTION.items()}
_DECODER_BLOCK = (
    _BLOCK
    | {"encoder_attn_layer_norm": "cross_residual.norm"}
    | {f"encoder_attn.{theirs}": f"cross.{ours}" for theirs, ours in _ATTENTION.items()}
)
_LARGEST = 2**24  # of any size


class MarianSettings(BaseModel):
    """config.json, as far as it matters. What is older and not for Marian has to be off."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    model_type: Literal["marian"]
    vocab_size: int = Field(ge=1, le=_LARGEST)
    decoder_vocab_size: int | None = Field(None, ge=1, le=_LARGEST)
    d_model: int = Field(1024, ge=1, le=_LARGEST)
    encoder_layers: int = Field(12, ge=1, le=_LARGEST)
    decoder_layers: int = Field(12, ge=1, le=_LARGEST)
    encoder_attention_heads: int = Field(16, ge=1, le=_LARGEST)
    decoder_attention_heads: int = Field(16, ge=1, le=_LARGEST)
    encoder_ffn_dim: int = Field(4096, ge=1, le=_LARGEST)
    decoder_ffn_dim: int = Field(4096, ge=1, le=_LARGEST)
    max_position_embeddings: int = Field(1024, ge=2, le=_LARGEST)
    activation_function: str = "gelu"
    dropout: float = Field(0.1, ge=0, lt=1, strict=False)
    scale_embedding: bool = False
    share_encoder_decoder_embeddings: bool = True
    tie_word_embeddings: bool = True
    pad_token_id: int = Field(ge=0)
    eos_token_id: int = Field(ge=0)
    decoder_start_token_id: int = Field(ge=0)
    normalize_before: bool = False
    normalize_embedding: bool = False
    add_final_layer_norm: bool = False
    num_beams: int | None = None

    @property
    def target_size(self) -> int:
        return self.vocab_size if self.share_encoder_decoder_embeddings else self.decoder_vocab_size or self.vocab_size


def obstacle(settings: MarianSettings) -> str | None:
    """The setting that our Transformer has no counterpart for, with its value."""
    pairs = (("attention_heads", "encoder_attention_heads"), ("ffn_dim", "encoder_ffn_dim"))
    for name, first in pairs:
        other = first.replace("encoder", "decoder")
        if getattr(settings, first) != getattr(settings, other):
            return f"{first} = {getattr(settings, first)} beside {other} = {getattr(settings, other)} ({name} differ)"
    if settings.activation_function not in ACTIVATIONS:
        return f"activation_function = {settings.activation_function[:40]!r}"
    on = ("normalize_before", "normalize_embedding", "add_final_layer_norm")
    for name in on:
        if getattr(settings, name):
            return f"{name} = true"
    if settings.d_model % settings.encoder_attention_heads:
        return f"encoder_attention_heads = {settings.encoder_attention_heads}, which does not divide d_model"
    if settings.d_model % 2:
        return f"d_model = {settings.d_model}, which is odd"
    return None


def block_names(encoder_layers: int, decoder_layers: int) -> Iterator[tuple[str, str]]:
    """(their name, ours) of every weight that is neither a word vector nor the last layer."""
    sides = (("encoder", encoder_layers, _BLOCK), ("decoder", decoder_layers, _DECODER_BLOCK))
    for side, layers, names in sides:
        for layer in range(layers):
            for theirs, ours in names.items():
                for kind in ("weight", "bias"):
                    yield f"model.{side}.layers.{layer}.{theirs}.{kind}", f"{side}.blocks.{layer}.{ours}.{kind}"


def model_settings(settings: MarianSettings, sizes: tuple[int, int], *, output_bias: bool) -> dict[str, Any]:
    """The same model as our configuration has it; sizes are those of our vocabularies."""
    tied = settings.tie_word_embeddings
    shared = settings.share_encoder_decoder_embeddings
    return {
        "family": "transformer",
        "source_vocabulary": sizes[0],
        "target_vocabulary": sizes[1],
        "width": settings.d_model,
        "heads": settings.encoder_attention_heads,
        "inner": settings.encoder_ffn_dim,
        "layers": settings.decoder_layers,
        "encoder_layers": None if settings.encoder_layers == settings.decoder_layers else settings.encoder_layers,
        "norm_first": False,
        "activation": ACTIVATIONS[settings.activation_function],
        "positions": "sinusoidal",
        "scale_embedding": settings.scale_embedding,
        "dropout": settings.dropout,
        "tie": "none" if not tied else "all" if shared else "target",
        "output_bias": output_bias,
    }


def unlike_marian(config: TransformerConfig) -> str | None:
    """The setting of a Transformer of ours that Marian does not have, with its value."""
    wanted: dict[str, tuple[object, ...]] = {
        "norm_first": (False,),
        "norm": ("layer",),
        "activation": ("relu", "gelu", "silu"),
        "positions": ("sinusoidal",),
        "kv_heads": (None, config.heads),
        "qk_norm": (False,),
        "encoder": (None,),
    }
    for name, values in wanted.items():
        value = getattr(config, name)
        if value not in values:
            shown = value.kind if name == "encoder" else str(value).lower() if isinstance(value, bool) else value
            return f"model.{name} = {shown}"
    return f"model.width = {config.width}, which is odd" if config.width % 2 else None
