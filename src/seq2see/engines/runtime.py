"""A model whose `encode` and `step` run in ONNX Runtime: the same trees of torch tensors in and out, without copies."""

from typing import Any

import torch
from torch import Tensor

from seq2see.engines.graphs import Graphs, example_step, grown, leaves
from seq2see.errors import ConfigError, RunError
from seq2see.models import Model


class OnnxEngine:
    """Search drives it as it drives a model. One thread: many texts go to many processes."""

    def __init__(self, model: Model[Any, Any], graphs: Graphs) -> None:
        self.model = model
        with torch.no_grad():
            _, self.memory, state = example_step(model, 1, 1, 1)
            _, _, after = example_step(model, 1, 1, 2)
        # How much longer a tensor of the state becomes by a step, dimension by dimension.
        self.growth = [
            [new - old for old, new in zip(one.shape, other.shape, strict=True)]
            for one, other in zip(leaves(state), leaves(after), strict=True)
        ]
        self.words = model.decoder.last_layer().weight.size(0)
        self.encoder, self.stepper = session(graphs.encode), session(graphs.step)
        self.names = [given.name for given in self.stepper.get_inputs()]
        self.outputs = [made.name for made in self.stepper.get_outputs()]

    def encode(self, source: Tensor, source_mask: Tensor) -> Any:
        mask = source_mask if source_mask.dim() == 3 else source_mask.unsqueeze(1)
        names = [given.name for given in self.encoder.get_inputs()]
        fed = {name: x.contiguous().numpy() for name, x in zip(names, (source, mask), strict=True)}
        return grown(self.memory, [torch.from_numpy(made) for made in self.encoder.run(None, fed)])

    def start(self, memory: Any) -> Any:
        return self.model.start(memory)

    def step(self, tokens: Tensor, memory: Any, state: Any) -> tuple[Tensor, Any]:
        before = leaves(state)
        given = [x.contiguous() for x in (tokens, *leaves(memory), *before)]
        sizes = [
            [size + more for size, more in zip(x.shape, growth, strict=True)]
            for x, growth in zip(before, self.growth, strict=True)
        ]
        after = [torch.empty(size, dtype=x.dtype) for size, x in zip(sizes, before, strict=True)]
        logits = torch.empty(tokens.size(0), self.words)
        binding = self.stepper.io_binding()
        for name, x in zip(self.names, given, strict=True):
            if x.numel():
                binding.bind_input(name, "cpu", 0, _KINDS[x.dtype], tuple(x.shape), x.data_ptr())
            else:  # an empty tensor has no address
                binding.bind_cpu_input(name, x.numpy())
        for name, x in zip(self.outputs, (logits, *after), strict=True):
            if x.numel():
                binding.bind_output(name, "cpu", 0, _KINDS[x.dtype], tuple(x.shape), x.data_ptr())
            else:
                binding.bind_output(name, "cpu")
        self.stepper.run_with_iobinding(binding)
        return logits, grown(state, after)

    def attending_step(self, tokens: Tensor, memory: Any, state: Any) -> tuple[Tensor, Any, Tensor]:
        raise ConfigError("the coverage penalty reads attention at every step; use the engine torch, or coverage = 0")


def session(content: bytes) -> Any:
    import numpy as np
    import onnxruntime  # type: ignore[import-untyped]

    _KINDS.update({torch.float32: np.float32, torch.int64: np.int64, torch.bool: np.bool_})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no common type of their own
        raise RunError(f"ONNX Runtime cannot load the graph of this run: {str(error).splitlines()[0]}") from None


_KINDS: dict[torch.dtype, Any] = {}
