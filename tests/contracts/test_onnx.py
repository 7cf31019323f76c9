"""Every family leaves torch: `encode` and `step` as ONNX graphs say what the model says, whatever the sizes."""

import os
from typing import Any

import pytest
import torch
from agreeing import WORDS, compare_all

from seq2see.engines.graphs import export
from seq2see.engines.runtime import OnnxEngine
from seq2see.models import build

try:
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
    import onnxscript  # noqa: F401
except ImportError as missing:
    if os.environ.get("CI") == "true":
        raise
    pytest.skip(f"{missing.name} is not installed: pip install 'seq2see[fast]'", allow_module_level=True)

CELLS = {"embedding": 6, "hidden": 8, "encoder": {"embedding": 6, "hidden": 4}}
STACK = {"embedding": 6, "channels": (8, 10), "kernels": (3, 5)}
BLOCK = {"width": 8, "heads": 2, "inner": 12, "layers": 1}
BYTES = {"width": 4, "dilations": (1, 3), "sets": 1}

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "rnn-tanh": ("rnn", CELLS | {"cell": "tanh", "encoder": CELLS["encoder"] | {"cell": "tanh"}}),
    "rnnsearch": ("rnnsearch", CELLS),
    "rnnsearch-lstm": ("rnnsearch", CELLS | {"cell": "lstm", "encoder": CELLS["encoder"] | {"cell": "lstm"}}),
    "luong": ("luong", CELLS),
    "luong-local-m": ("luong", CELLS | {"attention": {"scope": "local-m", "window": 2}, "input_feeding": False}),
    "luong-local-p": ("luong", CELLS | {"attention": {"scope": "local-p", "window": 2}}),
    "convs2s": ("convs2s", {"encoder": STACK, "decoder": STACK}),
    "bytenet": ("bytenet", BYTES),
    "bytenet-50%": ("bytenet", BYTES | {"percent": 50, "extra": 0}),
    "transformer": ("transformer", BLOCK | {"layers": 2}),
    "transformer-rotary": ("transformer", BLOCK | {"positions": "rotary", "kv_heads": 1}),
}

# The most unusual parts of the families; exporting takes ten seconds and more, the others are for `make test-slow`.
# Of luong and transformer it is held against torch by tests/engines, which export them anyway.
LATER = VARIANTS.keys() - {"convs2s"}


@pytest.mark.parametrize(
    "variant", [pytest.param(name, marks=pytest.mark.slow if name in LATER else []) for name in VARIANTS]
)
def test_onnx_says_what_torch_says(variant: str):
    family, settings = VARIANTS[variant]
    torch.manual_seed(1)
    with torch.no_grad():
        model = build(family, "tiny", source_vocabulary=WORDS, target_vocabulary=WORDS + 1, **settings).eval()
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
        compare_all(model, OnnxEngine(model, export(model)))
