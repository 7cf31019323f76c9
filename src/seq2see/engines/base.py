"""What search needs of a model, whoever computes it. A `seq2see.models.Model` is one itself."""

from typing import Any, Literal, Protocol, get_args, overload

from torch import Tensor

# torch: the model as it is; onnx: the same numbers from ONNX Runtime; int8: the weights in eight bits there.
EngineName = Literal["torch", "onnx", "int8"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


class Engine(Protocol):
    """Memory and State are the family's own trees of tensors, batch first."""

    def encode(self, source: Tensor, source_mask: Tensor) -> Any:
        """(B, S), (B, 1, S) -> Memory."""

    def start(self, memory: Any) -> Any:
        """Memory -> State."""

    @overload
    def step(self, tokens: Tensor, memory: Any, state: Any, need_weights: Literal[False] = ...) -> tuple[Tensor, Any]:
        """(B,) -> logits (B, V), State."""

    @overload
    def step(self, tokens: Tensor, memory: Any, state: Any, need_weights: Literal[True]) -> tuple[Tensor, Any, Tensor]:
        """The same, and (B, S) where it looked."""
