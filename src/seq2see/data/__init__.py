"""Pairs become ids, ids become batches; the corpora that are built in live here too.

`Batch` is looked up when it is asked for: reading pairs and corpora needs no torch.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seq2see.data.batch import Batch, pad

__all__ = ["Batch", "pad"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'seq2see.data' has no attribute '{name}'")
    from seq2see.data import batch

    return getattr(batch, name)
