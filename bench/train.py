"""Training speed on Multi30k, in target tokens a second, beside joeynmt on the same pieces and the same shapes.

Both run their own training loop on the CPU with one thread: ours is what `seq2see train` calls, theirs what
`joeynmt train` calls, both from data loading to the optimiser's step. Tokens are the real target pieces with the end
of each sentence, padding left out. The two take turns of some seconds, so that a busy machine hurts both alike, and a
matrix product is timed between the turns. Each turn is read on two clocks: the one on the wall, and the process's own,
which stands still while other programs have the core. On an idle machine they agree; turns are as long as the process's
clock says, so that they hold as much work on a busy machine, and goals are judged by it.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"
PIECES, BATCH_TOKENS, SMOOTHING = 8000, 4096, 0.1
WARM_UP, COUNTED = 2, 5  # updates that are not timed; then those whose products are counted
NEVER = 10**9
CLOCKS = ("cpu", "wall")
TRANSFORMER_GOAL, RNN_GOAL, MATMUL_GOAL = 2.5, 1.5, 60.0

# Rows x inner x columns: the usual measure, and the largest products of the Transformer.
MATMULS = {"1024^3": (1024, 1024, 1024), "feed-forward": (4096, 256, 1024), "vocabulary": (524, 256, 8000)}

OURS: dict[str, dict[str, Any]] = {
    "transformer": {"family": "transformer", "size": "small", "tie": "all"},
    "rnnsearch": {"family": "rnnsearch", "size": "small"},
    "luong": {"family": "luong", "size": "small"},
    "luong-unfed": {"family": "luong", "size": "small", "input_feeding": False},
}


def _recurrent(cell: str, encoder: int, dropout: float, **decoder: Any) -> dict[str, Any]:
    """A joeynmt model; `encoder` is the width of each direction."""
    vectors = {"embedding_dim": 256, "dropout": dropout}
    return {
        "encoder": {
            "type": "recurrent",
            "rnn_type": cell,
            "embeddings": vectors,
            "hidden_size": encoder,
            "bidirectional": True,
        },
        "decoder": {
            "type": "recurrent",
            "rnn_type": cell,
            "embeddings": vectors,
            "hidden_size": 256,
            "hidden_dropout": dropout,
            "init_hidden": "bridge",
            **decoder,
        },
    }


def _transformer() -> dict[str, Any]:
    side = {
        "type": "transformer",
        "num_layers": 3,
        "num_heads": 4,
        "embeddings": {"embedding_dim": 256, "scale": True, "dropout": 0.1},
        "hidden_size": 256,
        "ff_size": 1024,
        "dropout": 0.1,
        "layer_norm": "pre",
    }
    return {"tied_embeddings": True, "tied_softmax": True, "encoder": side, "decoder": side}


THEIRS: dict[str, dict[str, Any]] = {
    "transformer": _transformer(),
    "rnnsearch": _recurrent("gru", 256, 0.2, attention="bahdanau", input_feeding=True),
    "luong": _recurrent("lstm", 128, 0.2, attention="luong", input_feeding=True),
    "luong-unfed": _recurrent("lstm", 128, 0.2, attention="luong", input_feeding=False),
}


# ---------------------------------------------------------------------------------------------------------------------
# Inside a worker: a real training loop that stops between turns. Also run by joeynmt's python, so without seq2see.


class Flops(TorchDispatchMode):
    """Sums the floating-point operations of every matrix product, forwards and backwards, padding included."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::").rstrip("_")
        if name in ("mm", "bmm"):
            self._product(args[0], args[1])
        elif name in ("addmm", "baddbmm"):
            self._product(args[1], args[2])
        elif name == "_scaled_dot_product_flash_attention_for_cpu":
            self._attention(args[0], args[1], products=2)
        elif name == "_scaled_dot_product_flash_attention_for_cpu_backward":
            self._attention(args[1], args[2], products=5)
        return func(*args, **(kwargs or {}))

    def _product(self, left: torch.Tensor, right: torch.Tensor) -> None:
        self.total += 2 * left.numel() * right.size(-1)

    def _attention(self, query: torch.Tensor, keys: torch.Tensor, *, products: int) -> None:
        self.total += products * 2 * query.numel() * keys.size(2)


class Turns:
    """Told of every update; warms up, then lets the loop run only while the parent says so."""

    def __init__(self, *, count: bool) -> None:
        self.answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # whatever else a training loop prints is log
        self.flops = Flops() if count else None
        self.seen = self.tokens = self.updates = 0
        self.seconds = 0.0
        self.began: tuple[float, float] = (0.0, 0.0)

    def update(self, tokens: int) -> None:
        """An update of the weights from this many target tokens is over."""
        self.seen += 1
        self.tokens += tokens
        self.updates += 1
        if self.seen < WARM_UP:
            return
        if self.seen == WARM_UP and self.flops is not None:
            self.tokens = 0
            self.flops.__enter__()
        elif self.seen == WARM_UP + (COUNTED if self.flops is not None else 0):
            self._answer({"flops_per_token": self._counted()})
        elif self.seconds and time.process_time() - self.began[1] >= self.seconds:
            wall, cpu = time.perf_counter() - self.began[0], time.process_time() - self.began[1]
            self._answer({"tokens": self.tokens, "updates": self.updates, "wall": wall, "cpu": cpu})

    def _counted(self) -> float | None:
        if self.flops is None:
            return None
        self.flops.__exit__(None, None, None)
        return self.flops.total / self.tokens

    def _answer(self, answer: Mapping[str, Any]) -> None:
        """Says it, and waits for the next turn; the parent gone or done is the end of the process."""
        print(json.dumps(answer), file=self.answers, flush=True)
        line = sys.stdin.readline()
        if not line.strip():
            os._exit(0)
        self.seconds = float(line)
        self.tokens = self.updates = 0
        self.began = (time.perf_counter(), time.process_time())


def our_settings(data: Path, family: str) -> dict[str, Any]:
    """The settings of `seq2see train --set ...`."""
    train = [str(data / f"train.lc.norm.tok.{side}.gz") for side in ("de", "en")]
    valid = [str(data / f"val.lc.norm.tok.{side}.gz") for side in ("de", "en")]
    return {
        "data": {"train": train, "valid": valid, "shared_vocabulary": True},
        "tokenizer": {"scheme": "bpe", "vocabulary": PIECES},
        "model": OURS[family],
        "training": {
            "steps": NEVER,
            "validate_every": NEVER,
            "save_every": NEVER,
            "batch_tokens": BATCH_TOKENS,
            "label_smoothing": SMOOTHING,
            "threads": 1,
            "device": "cpu",
        },
    }


def plain_config(settings: Mapping[str, Any]) -> Any:
    """These settings and the plain defaults for all others: nothing is chosen from the pairs."""
    from seq2see.training.run import new_config

    return new_config(settings).model_copy(update={"given": None})


def our_worker(data: Path, family: str, out: Path) -> None:
    """`seq2see train`, with a reporter that takes turns."""
    from seq2see.training.reporting import SilentReporter
    from seq2see.training.run import train_run

    turns = Turns(count=family == "transformer")

    class Timed(SilentReporter):
        def message(self, text: str) -> None:
            print(text, file=sys.stderr)

        def update(self, update: Any, progress: Any) -> None:
            turns.update(update.positions)

    train_run(plain_config(our_settings(data, family)), out, Timed())


def their_worker(config: Path) -> None:
    """`joeynmt train`, with a trainer that takes turns at the beginning of each batch."""
    from joeynmt import training
    from joeynmt.config import load_config
    from joeynmt.helpers import make_model_dir

    torch.set_num_threads(1)
    turns = Turns(count=False)

    class Timed(training.TrainManager):  # type: ignore[misc, name-defined]
        before = 0

        def _train_step(self, batch: Any) -> Any:
            if self.before:
                turns.update(self.before)
            self.before = int(batch.ntokens)
            return super()._train_step(batch)

    training.TrainManager = Timed
    settings = load_config(config)
    make_model_dir(Path(settings["model_dir"]), overwrite=True)
    training.train(rank=0, world_size=None, cfg=settings, skip_test=True)


# ---------------------------------------------------------------------------------------------------------------------
# The parent


class Worker:
    """A training process that runs only while it is its turn."""

    def __init__(self, python: str, arguments: list[str], log: Path) -> None:
        self.log = log
        environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        with log.open("w") as file:
            self.process = subprocess.Popen(
                [python, str(Path(__file__).resolve()), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                env=environment,
                cwd=log.parent,
            )
        self.facts = self._hear()

    def turn(self, seconds: float) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        return self._hear()

    def _hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            last = "".join(self.log.read_text().splitlines(keepends=True)[-15:])
            raise SystemExit(f"a worker ended early; the last lines of {self.log}:\n{last}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> "Worker":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()


def write_pieces(data: Path, work: Path) -> int:
    """The training and validation pairs as joeynmt reads them, a word `p123` for piece 123; the vocabulary's size."""
    from seq2see.training.prepare import make_tokenizers, sources_of

    config = plain_config(our_settings(data, "transformer"))
    sources = dict(zip(("train", "dev"), sources_of(config.data), strict=True))
    tokenizers = make_tokenizers(config, sources["train"], work, lambda text: None)
    for split, corpora in sources.items():
        pairs = [pair for corpus in corpora for pair in corpus.pairs()]
        for side, tokenizer in zip(("source", "target"), tokenizers, strict=True):
            cut = tokenizer.ids_batch([getattr(pair, side) for pair in pairs])
            lines = [" ".join(f"p{piece}" for piece in ids) + "\n" for ids in cut]
            (work / f"{split}.{side}").write_text("".join(lines))
    size = tokenizers[0].size
    specials = ["<unk>", "<pad>", "<s>", "</s>"]
    (work / "vocabulary.txt").write_text("\n".join([*specials, *(f"p{piece}" for piece in range(4, size))]) + "\n")
    return size


def write_their_config(work: Path, family: str) -> Path:
    """JSON, which is YAML."""
    side = {"level": "word", "lowercase": False, "max_length": 256, "voc_file": str(work / "vocabulary.txt")}
    settings = {
        "name": family,
        "joeynmt_version": "2.3.0",
        "model_dir": str(work / f"joeynmt-{family}"),
        "use_cuda": False,
        "data": {
            "train": str(work / "train"),
            "dev": str(work / "dev"),
            "dataset_type": "plain",
            "src": {"lang": "source", **side},
            "trg": {"lang": "target", **side},
        },
        "testing": {},
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "learning_rate": 0.001,
            "scheduling": "warmupinversesquareroot",
            "learning_rate_warmup": 400,
            "normalization": "tokens",
            "clip_grad_norm": 1.0,
            "label_smoothing": SMOOTHING,
            "batch_type": "token",
            "batch_size": BATCH_TOKENS,
            "epochs": NEVER,
            "logging_freq": 100,
            "validation_freq": NEVER // 100 * 100,
            "overwrite": True,
        },
        "model": {"initializer": "xavier_uniform", **THEIRS[family]},
    }
    path = work / f"joeynmt-{family}.yaml"
    path.write_text(json.dumps(settings, indent=2))
    return path


def matmul_rates(seconds: float = 0.4) -> dict[str, dict[str, float]]:
    """GFLOP/s of float32 products in this process, by shape and clock."""
    rates = {}
    for name, (rows, inner, columns) in MATMULS.items():
        left, right, out = torch.randn(rows, inner), torch.randn(inner, columns), torch.empty(rows, columns)
        torch.mm(left, right, out=out)
        calls, began, cpu = 0, time.perf_counter(), time.process_time()
        while time.process_time() - cpu < seconds:
            torch.mm(left, right, out=out)
            calls += 1
        work = 2e-9 * rows * inner * columns * calls
        rates[name] = {"cpu": work / (time.process_time() - cpu), "wall": work / (time.perf_counter() - began)}
    return rates


def measure(family: str, options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """The turns of one family: a product, ours, theirs, round after round."""
    ours = Worker(
        sys.executable,
        ["--worker", "seq2see", family, str(options.data), str(work / f"run-{family}")],
        work / f"seq2see-{family}.log",
    )
    with ours:
        theirs = None
        if options.joeynmt and family in THEIRS:
            config = write_their_config(work, family)
            theirs = Worker(options.joeynmt, ["--worker", "joeynmt", str(config)], work / f"joeynmt-{family}.log")
        rounds = []
        try:
            for number in range(options.rounds):
                entry = {"matmul": matmul_rates(), "ours": ours.turn(options.seconds), "load": os.getloadavg()[0]}
                if theirs is not None:
                    entry["theirs"] = theirs.turn(options.seconds)
                rounds.append(entry)
                tell(f"{family}, round {number + 1} of {options.rounds}: {speeds(entry)}")
        finally:
            if theirs is not None:
                theirs.__exit__(None, None, None)
    return {"family": family, "rounds": rounds, "flops_per_token": ours.facts["flops_per_token"]}


def speeds(entry: Mapping[str, Any]) -> str:
    parts = [f"{who} {rate(entry[who], 'cpu'):,.0f} tokens/s" for who in ("ours", "theirs") if who in entry]
    return f"{', '.join(parts)} (CPU clock), load {entry['load']:.1f}"


def rate(turn: Mapping[str, Any], clock: str) -> float:
    return float(turn["tokens"] / turn[clock])


def summary(measurement: Mapping[str, Any]) -> dict[str, Any]:
    """Medians over the rounds; a ratio is taken within each round."""
    rounds, flops = measurement["rounds"], measurement["flops_per_token"]
    result: dict[str, Any] = {"family": measurement["family"], "flops_per_token": flops}
    for clock in CLOCKS:
        figures = {"ours": statistics.median(rate(entry["ours"], clock) for entry in rounds)}
        if "theirs" in rounds[0]:
            figures["theirs"] = statistics.median(rate(entry["theirs"], clock) for entry in rounds)
            figures["ratio"] = statistics.median(
                rate(entry["ours"], clock) / rate(entry["theirs"], clock) for entry in rounds
            )
        if flops is not None:
            figures["gflops"] = figures["ours"] * flops / 1e9
            for name in MATMULS:
                figures[f"percent of {name}"] = statistics.median(
                    rate(entry["ours"], clock) * flops / 1e7 / entry["matmul"][name][clock] for entry in rounds
                )
        result[clock] = figures
    return result


def goals(rows: list[dict[str, Any]]) -> Iterator[tuple[str, str, bool]]:
    """The goal, the figure (CPU clock), and whether it is reached."""
    for row in rows:
        figures, name = row["cpu"], row["family"]
        least = TRANSFORMER_GOAL if name == "transformer" else RNN_GOAL
        if "ratio" in figures and name != "luong-unfed":
            yield f"{name}: at least {least}x joeynmt", f"{figures['ratio']:.2f}x", figures["ratio"] >= least
        if "gflops" in figures:
            share = figures["percent of 1024^3"]
            yield f"{name}: at least {MATMUL_GOAL:.0f} % of the matmul rate", f"{share:.0f} %", share >= MATMUL_GOAL


def machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "load": os.getloadavg(),
    }


def show(report: Mapping[str, Any]) -> None:
    facts, matmul = report["machine"], report["matmul"]
    print(
        f"{facts['cores']} cores, {facts['capability']}, torch {facts['torch']}, {facts['threads']} thread, load "
        f"{facts['load'][0]:.1f} before and {report['load_after'][0]:.1f} after; {report['rounds']} rounds of "
        f"{report['seconds']:.0f} s; {report['vocabulary']:,} pieces, batches of {BATCH_TOKENS:,} tokens"
    )
    rates = ", ".join(f"{name} {matmul[name]['cpu']:.0f} ({matmul[name]['wall']:.0f})" for name in matmul)
    print(f"float32 matmul, GFLOP/s on the CPU's clock (on the wall's): {rates}\n")
    print(f"{'target tokens/s':16}{'CPU clock':>30}{'wall clock':>34}")
    print(f"{'':16}{'seq2see':>10}{'joeynmt':>10}{'ratio':>10}    {'seq2see':>10}{'joeynmt':>10}{'ratio':>10}")
    for row in report["rows"]:
        print(f"{row['family']:16}{cells(row['cpu'])}    {cells(row['wall'])}")
    for row in report["rows"]:
        if row["flops_per_token"] is not None:
            shares = ", ".join(f"{row['cpu'][f'percent of {name}']:.0f} % of {name}" for name in MATMULS)
            print(
                f"\n{row['family']}: {row['flops_per_token'] / 1e6:.1f} MFLOP of products a target token, "
                f"{row['cpu']['gflops']:.0f} GFLOP/s: {shares}"
            )
    print()
    for goal in report["goals"]:
        print(f"{'PASS' if goal['passed'] else 'FAIL'}  {goal['goal']}: {goal['found']}")


def cells(figures: Mapping[str, float]) -> str:
    ours, theirs, ratio = figures["ours"], figures.get("theirs"), figures.get("ratio")
    return f"{ours:10,.0f}" + (f"{theirs:10,.0f}{ratio:9.2f}x" if theirs is not None else f"{'-':>10}{'-':>10}")


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def make_joeynmt(folder: Path) -> str:
    """A venv of its own with joeynmt and the torch that runs here; its python."""
    python = folder / "bin" / "python"
    if not python.exists():
        version = torch.__version__.split("+")[0]
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        for package in (f"torch=={version}", "joeynmt==2.3.0", "importlib_metadata"):  # which it does not ask for
            subprocess.run([str(python), "-m", "pip", "install", "-q", package], check=True)
    return str(python)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python bench/train.py --make-joeynmt /tmp/joeynmt --rounds 3 --seconds 40",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--joeynmt", metavar="PYTHON", help="the python of a venv that has joeynmt 2.3.0")
    parser.add_argument("--make-joeynmt", metavar="DIR", type=Path, help="make that venv here, if it is not there yet")
    parser.add_argument("--data", type=Path, default=DATA, help=f"Multi30k (default {DATA})")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each side (default 3)")
    parser.add_argument("--seconds", type=float, default=40.0, help="length of a turn, of CPU time (default 40)")
    parser.add_argument(
        "--families", nargs="+", choices=OURS, default=list(OURS), metavar="FAMILY", help=f"of {', '.join(OURS)}"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in this folder, and leave it")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rounds < 1 or options.seconds <= 0:
        parser.error("--rounds must be at least 1 and --seconds positive")
    return options


def run(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    before = machine()
    size = write_pieces(options.data, work)
    measurements = [measure(family, options, work) for family in options.families]
    rows = [summary(measurement) for measurement in measurements]
    rates = [entry["matmul"] for family in measurements for entry in family["rounds"]]
    return {
        "machine": before,
        "load_after": os.getloadavg(),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "vocabulary": size,
        "matmul": {
            name: {clock: statistics.median(entry[name][clock] for entry in rates) for clock in CLOCKS}
            for name in MATMULS
        },
        "rows": rows,
        "goals": [{"goal": goal, "found": figure, "passed": passed} for goal, figure, passed in goals(rows)],
        "turns": measurements,
    }


def main() -> None:
    options = read_options()
    if options.worker:
        kind, *rest = options.worker
        if kind == "joeynmt":
            their_worker(Path(rest[0]))
        else:
            our_worker(Path(rest[1]), rest[0], Path(rest[2]))
        return
    if not (options.data / "train.lc.norm.tok.de.gz").exists():
        print(f"skipped: {options.data} has no Multi30k (train.lc.norm.tok.de.gz); name another folder by --data")
        return
    if options.make_joeynmt:
        options.joeynmt = make_joeynmt(options.make_joeynmt)
    if not options.joeynmt:
        tell("without joeynmt: --make-joeynmt DIR makes a venv with it, --joeynmt PYTHON names one that is there")
    torch.set_num_threads(1)
    work = options.keep.resolve() if options.keep else Path(tempfile.mkdtemp(prefix="seq2see-train-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        report = run(options, work)
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
