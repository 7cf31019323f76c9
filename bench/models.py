"""What a training step and a decoding step of every family cost, beside their matrix products alone.

The products (mm, addmm, mv, bmm, convolutions; those inside fused attention and fused recurrent layers too) are
recorded from the real pass and then timed by themselves on random numbers of the same shapes and strides. The ratio
is what everything else costs: 1.0 would be a model made of nothing but products. All rows take turns within one run
and the best of the repeats counts. With one thread the clock is that of the thread itself, which stands still while
other programs have the core; with more threads it is the one on the wall.
"""

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from seq2see.attention import Additive, scores
from seq2see.data import Batch
from seq2see.models import Model, build
from seq2see.vocabulary import PAD

aten = torch.ops.aten

VOCABULARY, ROWS, LENGTH, PREFIX = 8000, 32, 20, 10
SPECIAL = 4

MODELS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("rnn", "rnn", {}),
    ("rnnsearch", "rnnsearch", {}),
    ("luong", "luong", {}),
    ("luong, no input feeding", "luong", {"input_feeding": False}),
    ("luong additive", "luong", {"attention": {"score": "additive"}}),
    ("luong additive, no feeding", "luong", {"attention": {"score": "additive"}, "input_feeding": False}),
    ("convs2s", "convs2s", {}),
    ("bytenet", "bytenet", {}),
    ("transformer", "transformer", {}),
)

PRODUCTS = {
    aten.mm.default,
    aten.addmm.default,
    aten.mv.default,
    aten.addmv.default,
    aten.bmm.default,
    aten.baddbmm.default,
    aten.linear.default,
    aten.convolution.default,
    aten.convolution_backward.default,
    aten._convolution.default,
    aten.mkldnn_convolution.default,
}
# Attention in one kernel: the products inside it, forwards and backwards, counted as bmm.
FUSED_ATTENTION = "aten::_scaled_dot_product_flash_attention_for_cpu"
FUSED_ATTENTION_BACKWARD = "aten::_scaled_dot_product_flash_attention_for_cpu_backward"
# A recurrent layer in one kernel.
FUSED_RECURRENT = "aten::mkldnn_rnn_layer"
FUSED_RECURRENT_BACKWARD = "aten::mkldnn_rnn_layer_backward"

Product = Callable[[], object]


class Recorder(TorchDispatchMode):
    """Every product of a pass as a call that can be made again, how many operations ran, and the largest tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.products: list[Product] = []
        self.operations = 0
        self.largest = 0  # numbers in the largest storage that an operation returned
        self._twins: dict[tuple[Any, ...], Tensor] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name
        result = func(*args, **kwargs)
        self.operations += 1
        for output in result if isinstance(result, tuple | list) else (result,):
            if isinstance(output, Tensor):
                self.largest = max(self.largest, output.untyped_storage().nbytes() // output.element_size())
        if func in PRODUCTS:
            self._again(func, [self._twin(arg) for arg in args], {key: self._twin(arg) for key, arg in kwargs.items()})
        elif name == FUSED_ATTENTION:
            self._attention(*args[:3], backward=False)
        elif name == FUSED_ATTENTION_BACKWARD:
            self._attention(*args[1:4], backward=True)
        elif name == FUSED_RECURRENT:
            self._recurrent(args[0], args[1], args[2], backward=False)
        elif name == FUSED_RECURRENT_BACKWARD:
            self._recurrent(args[0], args[1], args[2], backward=True)
        return result

    def _again(self, func: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
        self.products.append(lambda: func(*args, **kwargs))

    def _twin(self, arg: Any) -> Any:
        """A random tensor of the same form; the same one whenever the pass reads the same memory."""
        if not isinstance(arg, Tensor):
            return arg
        key = (arg.data_ptr(), arg.shape, arg.stride())
        if key not in self._twins:
            reach = 1 + sum((size - 1) * stride for size, stride in zip(arg.shape, arg.stride(), strict=True))
            self._twins[key] = torch.randn(reach).as_strided(arg.shape, arg.stride())
        return self._twins[key]

    def _attention(self, query: Tensor, keys: Tensor, values: Tensor, *, backward: bool) -> None:
        """(B, H, T, d) each. Forwards q k^T and w v; backwards w again and the gradients of w, q, k and v."""
        q, k, v = (torch.randn(x.shape).flatten(0, 1) for x in (query, keys, values))
        w = torch.randn(q.size(0), q.size(1), k.size(1))
        out = torch.randn(q.size(0), q.size(1), v.size(2))
        pairs = [(q, k.mT), (w, v)]
        if backward:
            pairs = [(q, k.mT), (out, v.mT), (w, k), (w.mT, q), (w.mT, out)]
        for left, right in pairs:
            self._again(aten.bmm.default, [left, right], {})

    def _recurrent(self, x: Tensor, w_ih: Tensor, w_hh: Tensor, *, backward: bool) -> None:
        """(T, B, inputs): one product for all inputs, one for each step; backwards twice as many."""
        steps, rows, inputs = x.shape
        into, state = torch.randn(steps * rows, inputs), torch.randn(rows, w_hh.size(1))
        all_gates, gates = torch.randn(steps * rows, w_ih.size(0)), torch.randn(rows, w_ih.size(0))
        states = torch.randn(steps * rows, w_hh.size(1))
        weight_x, weight_h = torch.randn(w_ih.shape), torch.randn(w_hh.shape)
        if not backward:
            self._again(aten.mm.default, [into, weight_x.T], {})
            for _ in range(steps):
                self._again(aten.mm.default, [state, weight_h.T], {})
            return
        self._again(aten.mm.default, [all_gates, weight_x], {})
        self._again(aten.mm.default, [all_gates.T, into], {})
        self._again(aten.mm.default, [all_gates.T, states], {})
        for _ in range(steps):
            self._again(aten.mm.default, [gates, weight_h], {})


@dataclass
class Row:
    """One thing that is timed, and its products."""

    name: str
    kind: str  # train or step
    run: Callable[[], object]
    after: Callable[[], object]  # not timed
    recorder: Recorder = field(default_factory=Recorder)
    seconds: float = math.inf
    products: float = math.inf

    def record(self) -> None:
        for _ in range(2):
            self.run()
            self.after()
        with self.recorder:
            self.run()
        self.after()

    def repeat(self) -> None:
        self.seconds = min(self.seconds, seconds_of(self.run))
        self.after()
        self.products = min(self.products, seconds_of(self._products))

    @torch.no_grad()
    def _products(self) -> None:
        for product in self.recorder.products:
            product()

    def figures(self) -> dict[str, Any]:
        return {
            "model": self.name,
            "milliseconds": self.seconds * 1e3,
            "products_milliseconds": self.products * 1e3,
            "ratio": self.seconds / self.products,
            "operations": self.recorder.operations,
            "products": len(self.recorder.products),
        }


def seconds_of(run: Callable[[], object]) -> float:
    clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter
    began = clock()
    run()
    return clock() - began


def random_batch(rows: int, length: int) -> Batch:
    """Sources and targets (with EOS) of exactly this length."""
    source = torch.randint(SPECIAL, VOCABULARY, (rows, length)).tolist()
    target = torch.randint(SPECIAL, VOCABULARY, (rows, length - 1)).tolist()
    return Batch.of(source, target)


def training(name: str, model: Model[Any, Any], batch: Batch) -> Row:
    def run() -> None:
        model.train()
        logits = model(batch).logits
        F.cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=PAD).backward()

    return Row(name, "train", run, lambda: model.zero_grad(set_to_none=True))


def decoding(name: str, model: Model[Any, Any], batch: Batch) -> Row:
    """One step behind a prefix; the state is never changed in place, so that it can be taken again and again."""
    model.eval()
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        state = model.start(memory)
        for position in range(PREFIX):
            _, state = model.step(batch.target_in[:, position], memory, state)
    tokens = batch.target_in[:, PREFIX]

    @torch.no_grad()
    def run() -> None:
        model.eval()
        model.step(tokens, memory, state)

    return Row(name, "step", run, lambda: None)


def loss_alone() -> float:
    """Seconds of cross-entropy, forwards and backwards, that every training row contains."""
    logits = torch.randn(ROWS * LENGTH, VOCABULARY, requires_grad=True)
    targets = torch.randint(VOCABULARY, (ROWS * LENGTH,))

    def run() -> None:
        logits.grad = None
        F.cross_entropy(logits, targets).backward()

    return min(seconds_of(run) for _ in range(10))


def measure(repeats: int) -> tuple[list[Row], float]:
    torch.manual_seed(0)
    batch = random_batch(ROWS, LENGTH)
    rows = []
    for name, family, settings in MODELS:
        model = build(family, "small", source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY, **settings)
        rows += [training(name, model, batch), decoding(name, model, batch)]
    for row in rows:
        row.record()
    for _ in range(repeats):
        for row in rows:
            for _ in range(1 if row.kind == "train" else 5):
                row.repeat()
    return rows, loss_alone()


def additive_sizes() -> list[dict[str, Any]]:
    """The largest tensor of an additive attention, forwards and backwards, against its budget."""

    def largest(rows: int, length: int) -> int:
        attention = Additive(query_dim=256, key_dim=256)
        query, keys = torch.randn(rows, length, 256), torch.randn(rows, length, 256)
        with Recorder() as recorder:
            attention(query.requires_grad_(), keys.requires_grad_(), need_weights=False)[0].sum().backward()
        return recorder.largest

    sizes = []
    for rows, length in ((ROWS, LENGTH), (ROWS, 60), (64, 100)):
        whole = rows * length * length * 256
        sizes.append(
            {
                "rows": rows,
                "length": length,
                "uncut": whole,
                "largest": largest(rows, length),
                "budget": scores.ADDITIVE_BUDGET,
            }
        )
    return sizes


def facts() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "capability": torch.backends.cpu.get_cpu_capability(),
    }


def show(report: dict[str, Any]) -> None:
    machine, shape = report["machine"], report["shape"]
    print(
        f"{machine['cores']} cores ({machine['usable_cores']} usable, load {machine['load']:.1f}), "
        f"{machine['capability']}, torch {machine['torch']}, {machine['threads']} thread(s)"
    )
    print(
        f"size small, vocabulary {shape['vocabulary']:,}, B = {shape['rows']}, S = T = {shape['length']}, "
        f"float32, best of {report['repeats']}"
    )
    titles = {
        "train": "training step: forward, loss and backward, no optimiser",
        "step": f"decoding step: step() after a prefix of {shape['prefix']}",
    }
    for kind, title in titles.items():
        print(f"\n{title}\n{'':28}{'ms':>9}{'products':>10}{'ratio':>7}{'operations':>12}{'products':>10}")
        for row in report[kind]:
            print(
                f"{row['model']:28}{row['milliseconds']:9.2f}{row['products_milliseconds']:10.2f}"
                f"{row['ratio']:7.2f}{row['operations']:12,}{row['products']:10,}"
            )
        if kind == "train":
            print(f"of which cross-entropy       {report['loss_milliseconds']:8.2f}")
    print("\nadditive attention: numbers in its largest tensor, forward and backward\n"
          f"{'':28}{'uncut':>14}{'largest':>14}{'budget':>14}")  # fmt: skip
    for row in report["additive"]:
        name = f"B = {row['rows']}, S = T = {row['length']}"
        verdict = "" if row["largest"] <= row["budget"] else "   OVER"
        print(f"{name:28}{row['uncut']:14,}{row['largest']:14,}{row['budget']:14,}{verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python bench/models.py --threads 1 --repeats 10",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of torch (default 1)")
    parser.add_argument("--repeats", type=int, default=10, help="rounds over all rows; the best counts (default 10)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the tables")
    options = parser.parse_args()
    if options.threads < 1 or options.repeats < 1:
        parser.error("--threads and --repeats must be at least 1")
    torch.set_num_threads(options.threads)
    machine = facts()
    rows, loss = measure(options.repeats)
    report = {
        "machine": machine,
        "shape": {"size": "small", "vocabulary": VOCABULARY, "rows": ROWS, "length": LENGTH, "prefix": PREFIX},
        "repeats": options.repeats,
        "train": [row.figures() for row in rows if row.kind == "train"],
        "step": [row.figures() for row in rows if row.kind == "step"],
        "loss_milliseconds": loss * 1e3,
        "additive": additive_sizes(),
    }
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
