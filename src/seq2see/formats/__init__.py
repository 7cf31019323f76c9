"""Formats: files -> pairs, and the same files translated in place. One file for each format does both."""

from seq2see.formats.inplace import Format, format_of, open_document
from seq2see.formats.pair import Pair
from seq2see.formats.pairs import is_one_file, read_pairs

__all__ = ["Format", "Pair", "format_of", "is_one_file", "open_document", "read_pairs"]
