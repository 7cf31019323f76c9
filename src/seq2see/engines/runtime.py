"""A model whose `encode` and `step` run in ONNX Runtime: the same trees of torch tensors in and out, without copies.

Graphs may come from anybody. They are looked at before ONNX Runtime gets them, and every engine is held against the
torch model by a probe: two short sources, two steps.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, NoReturn, overload

import torch
from torch import Tensor

from seq2see.engines.choosing import LoopChooser, OnnxChooser, greedy_graph, with_choice
from seq2see.engines.graphs import Graphs, check_graph, grown, leaves
from seq2see.engines.shortlist import Words
from seq2see.errors import ConfigError, RunError
from seq2see.models import Model
from seq2see.vocabulary import BOS, PAD

_PROBE_LENGTHS = (6, 4)  # of the sources
_PRIME = 7919  # spreads the pieces of the probe over the vocabulary


class Probe(NamedTuple):
    """What a model, or its engine, computes from the two sources."""

    memory: Any
    first: Any  # the state after a step
    second: Any
    logits: tuple[Tensor, Tensor]  # (2, V) of both steps

    def numbers(self) -> list[Tensor]:
        every = (*leaves(self.memory), *leaves(self.second), *self.logits)
        return [x for x in every if x.is_floating_point() and x.numel()]


class OnnxEngine:
    """Search drives it as it drives a model. One thread: many texts go to many processes."""

    def __init__(self, model: Model[Any, Any], graphs: Graphs) -> None:
        """RunError if these are not graphs that fit the model; `distance` says whether they compute the same."""
        self.model = model
        self._expected = probe = self._probe(model)
        self.memory = probe.memory
        # How much longer a tensor of the state becomes by a step, dimension by dimension.
        self.growth = [
            [new - old for old, new in zip(before.shape, after.shape, strict=True)]
            for before, after in zip(leaves(probe.first), leaves(probe.second), strict=True)
        ]
        self.words = probe.logits[0].size(-1)
        self.encoder, self.stepper = session(graphs.encode), session(graphs.step)
        self.graphs, self.choosing = graphs, dict[tuple[bool, bool], Any]()
        tokens, memory, state = torch.empty(0, dtype=torch.long), leaves(probe.memory), leaves(probe.first)
        _check_ends("encode", self.encoder, [tokens, torch.empty(0, dtype=torch.bool)], memory)
        _check_ends("step", self.stepper, [tokens, *memory, *state], [probe.logits[0], *state])
        self.sources = [end.name for end in self.encoder.get_inputs()]
        self.names = [end.name for end in self.stepper.get_inputs()]
        self.outputs = [end.name for end in self.stepper.get_outputs()]

    def encode(self, source: Tensor, source_mask: Tensor) -> Any:
        mask = self.model.check_source(source, source_mask)
        inputs = {name: x.contiguous().numpy() for name, x in zip(self.sources, (source, mask), strict=True)}
        return grown(self.memory, [torch.from_numpy(made) for made in self.encoder.run(None, inputs)])

    def start(self, memory: Any) -> Any:
        return self.model.start(memory)

    @overload
    def step(
        self, tokens: Tensor, memory: Any, state: Any, need_weights: Literal[False] = ...
    ) -> tuple[Tensor, Any]: ...

    @overload
    def step(self, tokens: Tensor, memory: Any, state: Any, need_weights: Literal[True]) -> NoReturn: ...

    def step(self, tokens: Tensor, memory: Any, state: Any, need_weights: bool = False) -> tuple[Tensor, Any]:
        if need_weights:
            raise ConfigError(
                "the coverage penalty reads attention at every step; use the engine torch, or coverage = 0"
            )
        before = leaves(state)
        inputs = [x.contiguous() for x in (tokens, *leaves(memory), *before)]
        sizes = [
            [size + more for size, more in zip(x.shape, growth, strict=True)]
            for x, growth in zip(before, self.growth, strict=True)
        ]
        after = [torch.empty(size, dtype=x.dtype) for size, x in zip(sizes, before, strict=True)]
        logits = torch.empty(tokens.size(0), self.words)
        binding = self.stepper.io_binding()
        for name, x in zip(self.names, inputs, strict=True):
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

    def chooser(self, memory: Any, state: Any, *, beams: bool, words: Words | None = None) -> OnnxChooser:
        """For plain search: beams, or greedy, whose rows do not change places; words: of a shortlist."""
        kind = beams, words is not None
        if kind not in self.choosing:  # one of them, seldom more: each has a copy of the weights
            extended = with_choice if beams else greedy_graph
            content, layer = extended(self.graphs.step, self.words if words is not None else 0)
            self.choosing[kind] = session(content, ours=True), layer
        return (OnnxChooser if beams else LoopChooser)(
            self.choosing[kind][0], memory, state, words, self.choosing[kind][1]
        )

    def distance(self) -> float:
        """How far the graphs are from the model, as a share of its numbers, in the tensor of the probe where they are
        farthest. RunError if they do not run."""
        try:
            probe = self._probe(self)
        except Exception as error:  # ONNX Runtime's errors have no common type of their own
            raise RunError(f"ONNX Runtime cannot run them ({_line(error)})") from None
        pairs = zip(probe.numbers(), self._expected.numbers(), strict=True)
        return max(_distance(ours, theirs) for ours, theirs in pairs)

    @torch.no_grad()
    def _probe(self, engine: Any) -> Probe:
        config = self.model.config
        place = torch.arange(sum(_PROBE_LENGTHS) + 2 * len(_PROBE_LENGTHS))
        source = torch.full((len(_PROBE_LENGTHS), max(_PROBE_LENGTHS)), PAD)
        mask = torch.arange(source.size(1)) < torch.tensor(_PROBE_LENGTHS).unsqueeze(1)
        source[mask] = place[: sum(_PROBE_LENGTHS)] * _PRIME % config.source_vocabulary
        tokens = place[-len(_PROBE_LENGTHS) :] * _PRIME % config.target_vocabulary
        memory = engine.encode(source, mask.unsqueeze(1))
        begin, first = engine.step(torch.full_like(tokens, BOS), memory, engine.start(memory))
        then, second = engine.step(tokens, memory, first)
        return Probe(memory, first, second, (begin, then))


def _distance(ours: Tensor, theirs: Tensor) -> float:
    """|ours - theirs| / |theirs|; 0 if both are the same, whatever they hold."""
    if ours.shape != theirs.shape:
        return float("inf")
    if torch.allclose(ours, theirs, rtol=0, atol=0, equal_nan=True):
        return 0.0
    distance = float((ours - theirs).norm() / theirs.norm())
    return distance if distance >= 0 else float("inf")  # not a number: one of them is not finite


def _check_ends(name: str, graph: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
    """As many inputs and outputs of such types as the model has."""
    for kind, ends, tensors in (("inputs", graph.get_inputs(), inputs), ("outputs", graph.get_outputs(), outputs)):
        types, expected = [end.type for end in ends], [_TYPES[x.dtype] for x in tensors]
        if types != expected:
            raise RunError(f"the {kind} of {name}.onnx are not those of the model")


def session(content: bytes, *, ours: bool = False) -> Any:
    """A graph, ready to run; RunError for whatever is none. ours: made here from graphs that were looked at."""
    import numpy as np
    import onnxruntime  # type: ignore[import-untyped]

    if not ours:
        check_graph(content)
    _KINDS.update({torch.float32: np.float32, torch.int64: np.int64, torch.bool: np.bool_})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # its errors are raised as well, and said by us
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no common type of their own
        raise RunError(f"ONNX Runtime cannot load a graph of this run ({_line(error)})") from None


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]


_KINDS: dict[torch.dtype, Any] = {}
_TYPES = {torch.float32: "tensor(float)", torch.int64: "tensor(int64)", torch.bool: "tensor(bool)"}
