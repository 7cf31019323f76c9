"""How a trained model runs fast: torch is the reference; ONNX Runtime and CTranslate2 are held against it."""

import os

# ONNX Runtime reports its use to its maker unless it is told otherwise before it is imported. Nothing here phones home.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from seq2see.engines.auto import Engines
from seq2see.engines.base import ENGINES, ChoosingEngine, Engine, EngineChoice, EngineName, SearchingEngine
from seq2see.engines.cache import make_engine
from seq2see.engines.shortlist import Shortlist, Words, make_shortlist

__all__ = [
    "ENGINES",
    "ChoosingEngine",
    "Engine",
    "EngineChoice",
    "EngineName",
    "Engines",
    "SearchingEngine",
    "Shortlist",
    "Words",
    "make_engine",
    "make_shortlist",
]
