"""Pairs become ids, ids become batches; the corpora that are built in live here too."""

from seq2see.data.batch import Batch, pad

__all__ = ["Batch", "pad"]
