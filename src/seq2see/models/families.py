"""From a name and a size to a model: presets, single settings changed, complaints in our own words."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from seq2see.errors import ConfigError, nearest
from seq2see.models.base import Model, ModelConfig
from seq2see.models.bytenet import ByteNetConfig, make_bytenet
from seq2see.models.convolutional import ConvEncoderConfig, ConvS2SConfig, make_convs2s
from seq2see.models.luong import LuongConfig, make_luong
from seq2see.models.names import Size, known_size, unknown_family
from seq2see.models.recurrent.encoder import RecurrentEncoderConfig
from seq2see.models.rnn import RnnConfig, make_rnn
from seq2see.models.rnnsearch import RnnSearchConfig, make_rnnsearch
from seq2see.models.selfattention import TransformerEncoderConfig
from seq2see.models.transformer import TransformerConfig, make_transformer
from seq2see.settings import setting_error

ENCODERS = ("recurrent", "convolutional", "transformer")

AnyConfig = Annotated[
    RnnConfig | RnnSearchConfig | LuongConfig | ConvS2SConfig | ByteNetConfig | TransformerConfig,
    Field(discriminator="family"),
]
_adapter: TypeAdapter[AnyConfig] = TypeAdapter(AnyConfig)
_SMALLEST = 4  # the special pieces: any vocabulary will do to read a family's defaults


def build(
    family: str, size: str = "small", *, source_vocabulary: int, target_vocabulary: int, **settings: Any
) -> Model[Any, Any]:
    """A fresh model. `settings` are fields of the family's configuration, nested ones as dictionaries.

    `encoder="transformer"` (or convolutional, recurrent) is short for that encoder at the same size.
    """
    config = configure(
        family, size, source_vocabulary=source_vocabulary, target_vocabulary=target_vocabulary, settings=settings
    )
    return from_config(config)


def configure(
    family: str,
    size: str = "small",
    *,
    source_vocabulary: int,
    target_vocabulary: int,
    settings: Mapping[str, Any],
) -> ModelConfig:
    """The configuration of a family at a size, with single settings changed."""
    wanted = known_size(size)
    config_class = config_type(family)
    defaults = config_class(source_vocabulary=_SMALLEST, target_vocabulary=_SMALLEST).model_dump()
    preset = _merge(defaults, config_class.SIZES[wanted])
    chosen = dict(settings)
    encoder = chosen.get("encoder")
    if isinstance(encoder, str):
        chosen["encoder"] = encoder = {"kind": encoder}
    elif isinstance(encoder, BaseModel):
        chosen["encoder"] = encoder = encoder.model_dump()
    kind = encoder.get("kind") if isinstance(encoder, dict) else None
    if kind is not None and kind != (preset.get("encoder") or {}).get("kind"):
        preset["encoder"] = _encoder_preset(kind, wanted)
    preset = config_class.suit(preset, chosen)
    vocabularies = {"source_vocabulary": source_vocabulary, "target_vocabulary": target_vocabulary}
    return load_config(_merge(preset, chosen) | {"family": family} | vocabularies)


def load_config(saved: Mapping[str, Any]) -> ModelConfig:
    """A configuration from plain data."""
    try:
        return _adapter.validate_python(dict(saved))
    except ValidationError as error:
        raise setting_error(error, config_type(str(saved.get("family"))), "model") from None


def from_config(config: ModelConfig) -> Model[Any, Any]:
    """The type of the configuration chooses the class."""
    match config:
        case RnnConfig():
            return make_rnn(config)
        case RnnSearchConfig():
            return make_rnnsearch(config)
        case LuongConfig():
            return make_luong(config)
        case ConvS2SConfig():
            return make_convs2s(config)
        case ByteNetConfig():
            return make_bytenet(config)
        case TransformerConfig():
            return make_transformer(config)
    raise ConfigError(f"{type(config).__name__} belongs to no family")


def config_type(family: str) -> type[ModelConfig]:
    match family:
        case "rnn":
            return RnnConfig
        case "rnnsearch":
            return RnnSearchConfig
        case "luong":
            return LuongConfig
        case "convs2s":
            return ConvS2SConfig
        case "bytenet":
            return ByteNetConfig
        case "transformer":
            return TransformerConfig
    raise unknown_family(family)


def _encoder_preset(kind: str, size: Size) -> dict[str, Any]:
    """An encoder of another family, as large as that family has it at this size."""
    match kind:
        case "recurrent":
            preset = RnnSearchConfig.SIZES[size]["encoder"] | {"summary": "final"}
            return RecurrentEncoderConfig().model_dump() | preset
        case "convolutional":
            return ConvEncoderConfig().model_dump() | ConvS2SConfig.SIZES[size]["encoder"]
        case "transformer":
            return TransformerEncoderConfig().model_dump() | TransformerConfig.SIZES[size]
    raise ConfigError(f"model.encoder.kind = '{kind}' is unknown{nearest(str(kind), ENCODERS)}")


def _merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes`; a dictionary changes single fields of a dictionary."""
    merged = dict(base)
    for name, value in changes.items():
        value = value.model_dump() if isinstance(value, BaseModel) else value
        inside = merged.get(name)
        merged[name] = _merge(inside, value) if isinstance(inside, dict) and isinstance(value, dict) else value
    return merged
