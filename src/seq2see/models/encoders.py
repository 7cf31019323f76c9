"""Which encoder: the choice that every attentive decoder offers."""

from typing import Annotated

from pydantic import Field

from seq2see.models.base import Encoder
from seq2see.models.convolutional import ConvEncoder, ConvEncoderConfig
from seq2see.models.recurrent.encoder import RecurrentEncoder, RecurrentEncoderConfig
from seq2see.models.selfattention import TransformerEncoder, TransformerEncoderConfig

EncoderConfig = Annotated[
    RecurrentEncoderConfig | ConvEncoderConfig | TransformerEncoderConfig, Field(discriminator="kind")
]


def make_encoder(
    config: RecurrentEncoderConfig | ConvEncoderConfig | TransformerEncoderConfig, vocabulary: int
) -> Encoder:
    match config:
        case RecurrentEncoderConfig():
            return RecurrentEncoder(config, vocabulary)
        case ConvEncoderConfig():
            return ConvEncoder(config, vocabulary)
        case TransformerEncoderConfig():
            return TransformerEncoder(config, vocabulary)
