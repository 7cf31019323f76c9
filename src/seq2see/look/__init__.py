"""What did it look at: maps of attention with measures, rollout, word alignment, heatmaps and files.

Beside the maps: `explain` (one step with its numbers) and `intervene` (what-if, posterior, saliency by occlusion).
"""

from typing import TYPE_CHECKING, Any

from seq2see.look.map.alignment import (
    Alignment,
    Best,
    Chosen,
    Method,
    best_head,
    choose_head,
    head_errors,
    load_best,
    save_best,
)
from seq2see.look.map.attention_map import AttentionMap, Kind, Level, attention_map, attention_maps, joined
from seq2see.look.map.side import Side

if TYPE_CHECKING:
    from seq2see.look.map.others import from_transformers
else:

    def __getattr__(name: str) -> Any:
        """PEP 562: only models of other people need torch here."""
        if name != "from_transformers":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from seq2see.look.map.others import from_transformers

        return from_transformers


__all__ = [
    "Alignment",
    "AttentionMap",
    "Best",
    "Chosen",
    "Kind",
    "Level",
    "Method",
    "Side",
    "attention_map",
    "attention_maps",
    "best_head",
    "choose_head",
    "from_transformers",
    "head_errors",
    "joined",
    "load_best",
    "save_best",
]
