"""Text: files -> pairs -> one spelling -> ids."""

from seq2see.text.files import is_one_file, read_pairs
from seq2see.text.normalise import NormalForm, normalise
from seq2see.text.pair import Pair
from seq2see.text.tokenizer import Encoding, Tokenizer, TokenizerConfig, train_pair

__all__ = [
    "Encoding",
    "NormalForm",
    "Pair",
    "Tokenizer",
    "TokenizerConfig",
    "is_one_file",
    "normalise",
    "read_pairs",
    "train_pair",
]
