"""Every attention mechanism behind one interface, usable on its own.

context, weights = Additive(query_dim=512, key_dim=1024)(query, keys, values, mask)
"""

from seq2see.attention.base import Attention, Mechanism, Prepared
from seq2see.attention.multihead import MultiHead
from seq2see.attention.normalise import Normaliser, entmax15, normalise, softmax, sparsemax
from seq2see.attention.positions import PositionName
from seq2see.attention.scopes import ScopeName
from seq2see.attention.scores import (
    OF_ONE_WIDTH,
    Additive,
    Cosine,
    Dot,
    General,
    Location,
    LocationAware,
    ScaledDot,
    ScoreName,
    mechanism,
)

__all__ = [
    "OF_ONE_WIDTH",
    "Additive",
    "Attention",
    "Cosine",
    "Dot",
    "General",
    "Location",
    "LocationAware",
    "Mechanism",
    "MultiHead",
    "Normaliser",
    "PositionName",
    "Prepared",
    "ScaledDot",
    "ScopeName",
    "ScoreName",
    "entmax15",
    "mechanism",
    "normalise",
    "softmax",
    "sparsemax",
]
