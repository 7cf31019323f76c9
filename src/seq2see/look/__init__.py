"""What did it look at: one object for a map of attention, its measures, word alignment, files and drawings."""

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
    "head_errors",
    "joined",
    "load_best",
    "save_best",
]
