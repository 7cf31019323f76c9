"""Text: one spelling, text -> ids and back."""

from seq2see.text.normalise import NormalForm, normalise
from seq2see.text.pieces import PairTokenizerConfig
from seq2see.text.tokenizer import Encoding, Tokenizer, TokenizerConfig, train_pair

__all__ = [
    "Encoding",
    "NormalForm",
    "PairTokenizerConfig",
    "Tokenizer",
    "TokenizerConfig",
    "normalise",
    "train_pair",
]
