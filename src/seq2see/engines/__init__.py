"""How a trained model runs fast: torch is the reference, ONNX Runtime the engine that is held against it."""

from seq2see.engines.base import ENGINES, Engine, EngineName
from seq2see.engines.cache import make_engine

__all__ = ["ENGINES", "Engine", "EngineName", "make_engine"]
