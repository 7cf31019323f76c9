"""What search needs of a model, whoever computes it. A `seq2see.models.Model` is one itself."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol, get_args, overload, runtime_checkable

from torch import Tensor

from seq2see.engines.shortlist import Words
from seq2see.search import Chooser, Result, SearchConfig

# torch: the model as it is; onnx: the same numbers from ONNX Runtime; int8: the weights in eight bits there;
# ctranslate2: Transformers in CTranslate2, which searches by itself; ctranslate2-int8: weights in eight bits there.
EngineName = Literal["torch", "onnx", "int8", "ctranslate2", "ctranslate2-int8"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
EngineChoice = EngineName | Literal["auto"]  # auto: the fastest in full precision


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


@runtime_checkable
class ChoosingEngine(Protocol):
    """An engine that chooses the candidates of plain search itself. It is an `Engine` as well, for everything else."""

    def chooser(self, memory: Any, state: Any, *, beams: bool, words: Words | None = None) -> Chooser:
        """One batch while it is searched; beams: rows may change places from step to step.

        words   of a shortlist, if there is one
        """


@runtime_checkable
class SearchingEngine(Protocol):
    """An engine with greedy and beam search of its own. It is an `Engine` as well, for everything else."""

    def declines(self, config: SearchConfig) -> str | None:
        """What of this search it does not do, in words; None if it does it all."""

    def say_once(self, text: str) -> None:
        """Tells whoever loaded the engine, the first time."""

    def search(
        self, sources: Sequence[Sequence[int]], config: SearchConfig, limits: Sequence[int], *, need_scores: bool = True
    ) -> list[Result | None]:
        """A result for each source, pieces without their end; None for one that has to be searched by `step`.

        need_scores   the log-probability of each piece; without, a hypothesis has none, and its score is no number
        """
