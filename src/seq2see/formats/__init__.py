"""Formats: files -> pairs, and the same files translated in place."""

from seq2see.formats.pair import Pair
from seq2see.formats.pairs import is_one_file, read_pairs

__all__ = ["Pair", "is_one_file", "read_pairs"]
