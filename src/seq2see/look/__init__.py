"""What did it look at: maps of attention with measures, rollout, word alignment, heatmaps and files.

Beside the maps: `explain` (one step with its numbers) and `intervene` (what-if, posterior, saliency by occlusion).
"""

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
from seq2see.look.map.others import from_transformers
from seq2see.look.map.side import Side

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
